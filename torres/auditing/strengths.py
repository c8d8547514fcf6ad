"""Fit the strengths of a season again from the log, and compare with a leaderboard."""

from collections.abc import Iterator

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.public_view import PublicView, ReadLeaderboard
from torres.auditing.ratings import AuditedSeason, RatingsAudit
from torres.common.answers import JointAnswer
from torres.rating.joint_claims import interval_95_errors
from torres.rating.ledger import EntryKind, LedgerState
from torres.rating.season_fit import FittedBot, anchors, fit_season, read_season
from torres.rating.shared_votes import Voter

TOLERANCE = 0.01
"""Two machines may differ by this many points in a strength,"""
RANK_TOLERANCE = 1
"""and by this many ranks in a possible rank, which compares strengths with a limit."""


def compare_strengths(
    view: PublicView, ratings: RatingsAudit
) -> Iterator[AuditFinding]:
    """Yield the strengths of leaderboards that do not follow from the games.

    The votes that copies share are not in the log, so the rank with them is not
    compared.
    """
    for board in view.boards:
        season = ratings.seasons.get(board.season)
        if season is None or season.is_broken or not board.joint_seq:
            continue
        where = f"{board.season[0]} season {board.season[1]}"
        state = season.at.get(board.joint_seq)
        if state is None:
            text = f"{where} shows strengths after an entry that the log does not have"
            yield AuditFinding(Check.STRENGTHS, text)
            continue
        for text in _differences(board, _fit(board, season, state, view, ratings)):
            yield AuditFinding(Check.STRENGTHS, f"{where} {text}")


def _differences(board: ReadLeaderboard, fitted: list[FittedBot]) -> Iterator[str]:
    expected = {each.bot: each for each in fitted}
    for row in board.rows:
        shown, own = row.get("joint"), expected.get(row["id"])
        if shown is None and own is None:
            continue
        if shown is None:
            yield f"does not show the strength of {row['bot']}"
        elif own is None or not _is_same(shown, own):
            yield f"shows another strength of {row['bot']} than follows from the games"


def _is_same(shown: JointAnswer, own: FittedBot) -> bool:
    half = interval_95_errors(own.games) * own.error
    interval = (own.value, own.value - half, own.value + half)
    return (
        shown["games"] == own.games
        and all(
            abs(number - value) <= TOLERANCE
            for number, value in zip(
                (shown["value"], shown["low"], shown["high"]), interval, strict=True
            )
        )
        and abs(shown["best"] - own.best) <= RANK_TOLERANCE
        and abs(shown["worst"] - own.worst) <= RANK_TOLERANCE
    )


def _fit(
    board: ReadLeaderboard,
    season: AuditedSeason,
    state: LedgerState,
    view: PublicView,
    ratings: RatingsAudit,
) -> list[FittedBot]:
    """Fit the strengths of a season after the entry of its leaderboard."""
    read = read_season(_results(board.joint_seq or 0, season, ratings))
    if not read.submissions:
        return []
    bots = [ratings.bot_of(submission) or 0 for submission in read.submissions]
    house = {number for number, bot in view.bots.items() if bot["house"]}
    played = sorted(zip(read.submissions, bots, strict=True))
    zero = anchors(read, ((bot, pk) for pk, bot in played if bot in house))
    playing = {bot: each.submission for bot, each in state.bots.items()}
    # A voice of its own for each bot: then all votes count in full.
    voters = [Voter(bot, bot) for bot in bots]
    return fit_season(read, state.parameters, voters, list(zero), playing)


def _results(
    until: int, season: AuditedSeason, ratings: RatingsAudit
) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    """Yield the games that the entries up to `until` rate and do not void."""
    lines = season.lines[:until]
    voided = {line.game for line in lines if line.kind == EntryKind.VOID}
    for line in lines:
        if line.kind != EntryKind.GAME or line.game is None or line.game in voided:
            continue
        logged = ratings.story.games[line.game]
        plan = logged.plan.data
        seats = plan["games"][logged.data["index"]]
        deal = plan.get("deal_of", plan["match"])
        ranks = [seat["rank"] for seat in line.inputs["seats"]]
        yield line.game, deal, list(zip(seats, ranks, strict=True))
