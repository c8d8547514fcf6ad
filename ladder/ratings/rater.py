"""Decide what is appended to the ledger of a season: games, voids, joins, versions.

Entries are numbered when they are folded, and games are folded in the order in which
they are found to be finished. Several raters may run at the same time: the ledger's
writer lets only one of them append (see `ledger_writer.append`), and the others stop.
"""

from collections.abc import Sequence
from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.common import tracing
from ladder.games import blame, match_traces, services as games
from ladder.games.models import OPEN, Attempt, Game, GameStatus, Seat
from ladder.ratings import corrections, memberships
from ladder.ratings.ledger_writer import LedgerBatch, LedgerConflict, append
from ladder.ratings.models import Entry, Membership, Pairing, Rating, Season
from torres.common.json_object import JsonObject
from torres.rating import ledger
from torres.rating.ledger import EntryKind

BATCH_GAMES = 50
LATELY = timedelta(minutes=20)
"""Unrated games of closed pairings are looked for so often that this finds all."""
BENCH_AFTER = 4
"""A bot that forfeits is benched if it forfeited this many of its latest games with the
present version (`ledger.LATEST_GAMES`)."""
BENCH_AFTER_IN_A_DAY = 4
BENCH_SHARE_OF_A_DAY = 0.03
"""A bot is also benched at this many forfeits in a day, if they are this share of its
games of that day: a bot that forfeits only lost games spoils them for its opponents."""

SEAT_INPUTS = {
    "submission__bot": "bot",
    "submission": "submission",
    "rank": "rank",
    "fault": "fault",
}
"""The columns of a seat, and their names in the inputs of an entry."""

log = structlog.get_logger()


def fold(season: int, limit: int = BATCH_GAMES, *, voids: bool = True) -> int:
    """Bring the ledger up to date with the games; return the number of new entries.

    1. With `voids`, take out the voided games that the ledger still counts, if that is
       quick. If not, they wait for a job (`jobs`).
    2. Fold up to `limit` finished games, in the order in which they finished.
    3. Close the pairings that are complete, and bench bots that forfeit too often, or
       in whose seats attempts fail too often.

    Idempotent: callers may run it at any time, and repeat it until it returns 0. It
    takes the games that are finished and never waits for one that still runs. If
    another rater appends at the same time, this one stops; steps that were already
    committed stay.
    """
    try:
        taken_out = 0
        if voids:
            taken_out = corrections.fold_voids(season, corrections.INLINE_ENTRIES)
        row = Season.objects.select_related("ladder").get(pk=season)
        return taken_out + _fold_games(row, limit)
    except LedgerConflict:
        return 0


def _fold_games(season: Season, limit: int) -> int:
    # A worker that was taken over can leave out the ranks of a game. Such a game waits
    # for an operator, who voids it, and no other game waits for it.
    without_rank = Exists(Seat.objects.filter(game=OuterRef("pk"), rank=None))
    rows = unrated(season.pk).filter(~without_rank).order_by("finished_at", "pk")
    failures = dict(rows.values_list("pk", "failures")[:limit])
    finished = list(failures)
    if not finished:
        _close_pairings(season.pk)
        return 0
    seats_of: dict[int, list[JsonObject]] = {game: [] for game in finished}
    slugs = {}
    # Whole rows of submissions and bots cost as much as all ratings of the batch.
    seats = Seat.objects.filter(game__in=finished).order_by("game", "number")
    for game, slug, *columns in seats.values_list("game", "bot__slug", *SEAT_INPUTS):
        inputs = dict(zip(SEAT_INPUTS.values(), columns, strict=True))
        seats_of[game].append(inputs)
        slugs[inputs["bot"]] = slug
    bots = set(slugs)

    def add_games(batch: LedgerBatch) -> None:
        batch.slugs = slugs
        for game in finished:
            batch.add(EntryKind.GAME, {"seats": seats_of[game]}, game_id=game)

    began_ns = tracing.now_ns()
    appended = append(season, add_games, bots)
    match_traces.record_ratings(season.ladder.slug, finished, began_ns)
    _close_pairings(season.pk)
    _bench_forfeiting(season, bots)
    _bench_failing(season, [game for game in finished if failures[game]])
    return appended


def unrated(season: int) -> QuerySet[Game]:
    """Return the finished games of open pairings that are not in the ledger yet."""
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=EntryKind.GAME)
    return Game.objects.filter(
        ~Exists(rated),
        status=GameStatus.FINISHED,
        match__pairing__season=season,
        match__pairing__open=True,
    )


def _close_pairings(season: int) -> None:
    """Close the pairings that have no game left to play or to fold.

    A void adds a game to a pairing and opens it, perhaps in a transaction that has not
    ended yet. So the rows are locked first, and a second statement, which sees all that
    was committed meanwhile, decides.
    """
    complete = list(_complete_pairings(season).values_list("pk", flat=True))
    if not complete:
        return
    with transaction.atomic():
        rows = Pairing.objects.filter(pk__in=complete).order_by("pk")
        locked = list(rows.select_for_update().values_list("pk", flat=True))
        _complete_pairings(season).filter(pk__in=locked).update(open=False)


def _complete_pairings(season: int) -> QuerySet[Pairing]:
    """Return the open pairings without a game to play or to fold.

    A dead game keeps its pairing open, because an operator may let it be played again.
    """
    waiting = Game.objects.filter(
        match=OuterRef("match"), status__in=[*OPEN, GameStatus.DEAD]
    )
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=EntryKind.GAME)
    unfolded = Game.objects.filter(
        ~Exists(rated), match=OuterRef("match"), status=GameStatus.FINISHED
    )
    return Pairing.objects.filter(
        ~Exists(waiting), ~Exists(unfolded), season=season, open=True
    )


def open_closed_pairings(season: int) -> int:
    """Open the closed pairings that have a game to play, or to rate.

    Nothing in the service closes such a pairing. If a row was changed by hand or by an
    error, its games would never be rated. Return how many were opened.
    """
    # Few games are open or finished lately, and lead to the pairings by an index.
    closed = Game.objects.filter(
        match__pairing__season=season, match__pairing__open=False
    )
    rated = Entry.objects.filter(game=OuterRef("pk"), kind=EntryKind.GAME)
    unrated_lately = closed.filter(
        ~Exists(rated), status=GameStatus.FINISHED, finished_at__gt=Now() - LATELY
    )
    matches = set(closed.filter(status__in=OPEN).values_list("match", flat=True))
    matches.update(unrated_lately.values_list("match", flat=True))
    if not matches:
        return 0
    log.error("closed pairings have games to play or to rate; opened", matches=matches)
    return Pairing.objects.filter(match__in=matches).update(open=True)


def welcome(season: int, *, ready_within: timedelta | None = None) -> int:
    """Let bots join the season, or continue in it with another submission.

    1. If the ladder is the default one, let the bots join it that are on no ladder.
    2. Find the members of the ladder whose newest ready submission is not the one that
       is rated. Bots that left, or were removed, are not looked at.
    3. Append a `join` entry for each new bot and a `new_version` entry for each other
       one. A new version keeps μ and widens σ; identical code changes neither.
    4. Cancel the scheduled games of the submissions that were replaced.
    5. End the bench of the bots with a new version. A bot that was benched keeps its
       bench when another season starts, if its code is the same.

    Steps 3 to 5 are one transaction, so that no replaced submission plays on.

    With `ready_within`, only the submissions that became ready in this time before now
    are looked at, and those of the bots that joined in it. That is quick, but misses a
    withdrawn bot that comes back.

    Nothing happens in a season that is not open: nobody joins a frozen season or
    finals. Return the number of new entries.
    """
    row = Season.objects.select_related("ladder").get(pk=season)
    if row.status != Season.Status.OPEN:
        return 0
    if row.ladder.default:
        memberships.enroll_newcomers(row.ladder, ready_within)
    arrivals = _arrivals(row, ready_within)
    if not arrivals:
        return 0
    try:
        return _append_arrivals(row, arrivals)
    except LedgerConflict:
        return 0


@transaction.atomic
def _append_arrivals(season: Season, arrivals: dict[int, Submission]) -> int:
    """Do the steps 3 to 5 of `welcome`; return the number of entries."""
    replaced: dict[int, int] = {}

    def add_arrivals(batch: LedgerBatch) -> None:
        for bot, submission in sorted(arrivals.items()):
            old = batch.state.bots.get(bot)
            inputs = {
                "bot": bot,
                "submission": submission.pk,
                "digest": submission.digest,
            }
            kind = EntryKind.NEW_VERSION if old else EntryKind.JOIN
            batch.add(kind, inputs, bot_id=bot)
            if old:
                replaced[bot] = old.submission

    appended = append(season, add_arrivals, arrivals)
    ladder = {"torres.ladder": season.ladder.slug}
    for arrival in arrivals.values():
        if arrival.traceparent:
            tracing.record("join", ladder, parent=arrival.traceparent)
    for submission in replaced.values():
        games.cancel_games_of(submission, "another version plays now")
    memberships.end_benches(season.ladder, arrivals, "it has a new version")
    return appended


def _arrivals(season: Season, ready_within: timedelta | None) -> dict[int, Submission]:
    """Return, by bot, the ready submissions that should play but do not play yet.

    Most are newer uploads; after a rollback it is an older one. With `ready_within`,
    only those are looked at that became ready, or whose bot joined, in this time before
    now.
    """
    members = Membership.objects.filter(
        ladder=season.ladder_id, status__in=memberships.ON_THE_LADDER
    )
    playing = Rating.objects.filter(season=season, submission=OuterRef("pk"))
    ready = Submission.objects.filter(status=Submission.Status.READY)
    newer = ready.filter(bot=OuterRef("bot"), number__gt=OuterRef("number"))
    if ready_within is not None:
        joined = members.filter(changed_at__gt=Now() - ready_within)
        # As a list, so that the database uses the indexes of both conditions.
        bots = list(joined.values_list("bot", flat=True))
        ready = ready.filter(Q(ready_at__gt=Now() - ready_within) | Q(bot__in=bots))
    arrivals = ready.filter(
        ~Exists(playing),
        ~Exists(newer),
        Exists(members.filter(bot=OuterRef("bot"))),
        bot__status__in=[Bot.Status.ACTIVE, Bot.Status.BENCHED],
    )
    columns = ("pk", "bot", "number", "digest", "traceparent")
    return {row.bot_id: row for row in arrivals.only(*columns)}


def _bench_failing(season: Season, games: Sequence[int]) -> None:
    """Bench the bots in whose seats attempts at these games failed, if too many did."""
    if not games:
        return
    failed = Attempt.objects.filter(
        game__in=games, outcome=Attempt.Outcome.FAILED, bot__isnull=False
    )
    ratings = Rating.objects.filter(
        season=season, bot__in=list(failed.values_list("bot", flat=True))
    )
    for rating in ratings.select_related("bot"):
        why = blame.failures_reason(rating.bot)
        if why and memberships.bench(season, rating, why):
            log.critical(
                "bot benched for failed attempts",
                season=season.pk,
                bot=rating.bot.slug,
                why=why,
            )


def _bench_forfeiting(season: Season, bots: set[int]) -> None:
    """Bench the bots that just forfeited and do so too often; house bots are exempt.

    They are benched on this ladder only. A bot whose owner let it join again is judged
    again at its next forfeit.
    """
    forfeited = Rating.objects.filter(
        season=season, bot__in=bots, latest__gt=0, bot__house=False
    )
    for rating in forfeited.select_related("bot"):
        why = bench_reason(rating.latest)
        if not why and rating.latest & 1:
            why = _day_reason_of(season, rating)
        if why and memberships.bench(season, rating, why):
            log.warning("bot benched", season=season.pk, bot=rating.bot.slug, why=why)


def _day_reason_of(season: Season, rating: Rating) -> str:
    """Return why a bot is benched after the games of a day; "" if it is not.

    All versions count: otherwise a bot that forfeits now and then starts anew with each
    upload. But a version whose own share is low is a repaired one.
    """
    bot, ladder = rating.bot, season.ladder.slug
    share = BENCH_SHARE_OF_A_DAY
    version = blame.forfeits_in_a_day(bot, ladder, share, rating.submission_id)
    if version.forfeits < share * version.games:
        return ""
    return day_reason(*blame.forfeits_in_a_day(bot, ladder, share))


def day_reason(forfeits: int, games: int) -> str:
    """Return why a bot is benched after the games of a day; "" if it is not."""
    if forfeits < BENCH_AFTER_IN_A_DAY or forfeits < BENCH_SHARE_OF_A_DAY * games:
        return ""
    return (
        f"This bot forfeited {forfeits} of its {games} games of the last day by its own"
        " fault; all versions count. Look at the logs of these games, then upload a new"
        " version."
    )


def bench_reason(latest: int) -> str:
    """Return why a bot is benched, for its owner; "" if it is not.

    `latest` is that of `ledger.BotState`.
    """
    forfeits = latest.bit_count()
    if forfeits < BENCH_AFTER or not latest & 1:
        return ""
    in_a_row = (1 << BENCH_AFTER) - 1
    if latest & in_a_row == in_a_row:
        which = f"Each of its latest {BENCH_AFTER} games"
    else:
        which = f"{forfeits} of its latest {ledger.LATEST_GAMES} games"
    return (
        f"{which} with this version ended with a forfeit by its own fault. Look at the"
        " logs of these games, then upload a new version."
    )
