"""Audit a service from outside: its log, its games, its ratings, its leaderboards."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.games import check_replay
from torres.auditing.logged import LoggedGame, Story
from torres.auditing.mirror import (
    Fetch,
    Progress,
    compare_with_witness,
    copy_log,
    trusted_key,
)
from torres.auditing.ratings import RatingsAudit, SeasonKey
from torres.auditing.story import StoryReader
from torres.tlog.checkpoints import TreeHead
from torres.tlog.notes import VerifierKey

RECENT_S = 900.0
"""What changed this short time ago may be shown in either way."""


class Service(Protocol):
    """The part of a service that the audit reads besides its log."""

    def games(self) -> Iterable[Mapping[str, Any]]:
        """Yield all games that the service shows as finished or voided."""

    def replays(self) -> Iterable[tuple[int, Mapping[str, Any]]]:
        """Yield the public replays with the numbers of their games."""

    def leaderboards(self) -> Iterable[tuple[SeasonKey, list[dict[str, Any]]]]:
        """Yield the rows of all present leaderboards."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The knowledge of the person who audits.

    `key` is the key of the log, and `witness_key` that of a witness. `witnesses` has
    the texts of checkpoints that were seen elsewhere, and `cosigned` the sizes of trees
    that witnesses say they have cosigned.
    """

    key: str | None = None
    witness_key: str | None = None
    witnesses: Sequence[str] = ()
    cosigned: Collection[int] = ()


@dataclass(slots=True)
class AuditReport:
    """The result of an audit. It is good if there are no findings.

    `dealt` and `witnessed` count matches, as the story does.
    """

    head: TreeHead
    key: VerifierKey
    games: int = 0
    replays: int = 0
    entries: int = 0
    bots: int = 0
    sealed: int = 0
    dealt: int = 0
    witnessed: int = 0
    findings: list[AuditFinding] = field(default_factory=list)


def audit(
    folder: Path, fetch: Fetch, service: Service, progress: Progress, trust: Trust
) -> AuditReport:
    """Audit a service and return the report; the copy of the log stays in `folder`.

    1. Read what the service shows. Then copy the log, which is newer. Compare it with
       the last audit and with what others have seen.
    2. Read the leaves: secrets, plans, games, voids and times have to fit together.
    3. Compare the games and replays with the log.
    4. Compute all ratings again, and compare them with the log and the leaderboards.

    Raises AuditFailed, OSError, and BadKey.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key = trusted_key(folder, fetch, trust.key)
    shown = {game["id"]: game for game in service.games()}
    leaderboards = list(service.leaderboards())
    copy, findings = copy_log(folder, fetch, key, progress)
    seen_by = VerifierKey.parse(trust.witness_key) if trust.witness_key else None
    for text in trust.witnesses:
        findings += compare_with_witness(copy, text, seen_by)
    copy.seen.update(trust.cosigned)
    story = StoryReader(copy, datetime.now(UTC)).read()
    report = AuditReport(copy.head, key, len(story.games), sealed=story.sealed)
    report.findings = [*findings, *story.findings, *compare_games(story, shown)]
    for number, replay in service.replays():
        if number in story.games:
            report.replays += 1
            report.findings += check_replay(story, number, replay)
            progress("replays", report.replays, report.games)
    ratings = RatingsAudit(story)
    report.findings += ratings.check()
    report.findings += compare_leaderboards(ratings, shown, leaderboards)
    report.entries = len(story.ratings)
    report.dealt, report.witnessed = story.dealt, story.witnessed
    report.bots = sum(len(season.state.bots) for season in ratings.seasons.values())
    return report


def compare_games(
    story: Story, shown: Mapping[int, Mapping[str, Any]]
) -> Iterator[AuditFinding]:
    """Yield the games that the service shows otherwise than the log, or not at all."""
    for number, game in shown.items():
        if number in story.games:
            yield from _compare_game(story.games[number], number, game)
        elif not story.sealed and not _is_recent(game["finished_at"], story.end):
            text = f"the service shows game {number}, which the log does not have"
            yield AuditFinding(Check.GAMES, text)
    for number, logged in story.games.items():
        if number not in shown and (story.end - logged.time).total_seconds() > RECENT_S:
            text = f"the service does not show game {number}, which has a result"
            yield AuditFinding(Check.GAMES, text, logged.leaf)


def _compare_game(
    logged: LoggedGame, number: int, game: Mapping[str, Any]
) -> Iterator[AuditFinding]:
    seats = sorted(game["seats"], key=lambda seat: seat["seat"])
    ranks = [seat["rank"] for seat in seats]
    scores = [seat["score"] for seat in seats]
    if (ranks, scores) != (logged.data["ranks"], logged.data["scores"]):
        text = f"the service shows another result of game {number} than the log"
        yield AuditFinding(Check.GAMES, text, logged.leaf)
    planned = logged.plan.data["games"][logged.data["index"]]
    if [seat["submission"] for seat in seats] != planned:
        text = f"the service shows other seats of game {number} than the log"
        yield AuditFinding(Check.GAMES, text, logged.leaf)
    if game["status"] == "voided" and not logged.voided:
        text = f"game {number} is voided, and the log does not have that"
        yield AuditFinding(Check.GAMES, text, logged.leaf)


def _is_recent(moment: str, now: datetime) -> bool:
    age = now - datetime.fromisoformat(moment)
    return age.total_seconds() < RECENT_S


def compare_leaderboards(
    ratings: RatingsAudit,
    shown: Mapping[int, Mapping[str, Any]],
    leaderboards: Iterable[tuple[SeasonKey, list[dict[str, Any]]]],
) -> Iterator[AuditFinding]:
    """Yield the rows of leaderboards that do not follow from the log."""
    bots = _bots_by_name(ratings, shown)
    for key, rows in leaderboards:
        season = ratings.seasons.get(key)
        if season is None or season.is_broken:
            continue
        for row in rows:
            bot = bots.get(row["bot"])
            if bot is None or bot not in season.state.bots:
                continue
            if not season.may_show(bot, [row["mu"], row["sigma"]]):
                text = f"{key[0]} shows another rating of {row['bot']} than the log"
                yield AuditFinding(Check.LEADERBOARDS, text)


def _bots_by_name(
    ratings: RatingsAudit, shown: Mapping[int, Mapping[str, Any]]
) -> dict[str, int]:
    """Return the numbers of bots by their names, from the games that they played."""
    bots = {}
    for game in shown.values():
        for seat in game["seats"]:
            bot = ratings.bot_of(seat["submission"])
            if bot is not None:
                bots[seat["bot"]] = bot
    return bots
