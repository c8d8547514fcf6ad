"""Show matches and games to people, and keep secrets.

The decks follow from a match's seed. Therefore neither the seed nor a replay is
public before the last game with these decks has ended. A match under embargo is hidden
with all its games. Every view of games reads them through this module.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import structlog
from django.db.models import OuterRef, Prefetch, QuerySet

from engine.documents import MoveEntry
from ladder.accounts.roles import Person
from ladder.bots.models import Bot
from ladder.bots.selectors import owns
from ladder.games import replays, search
from ladder.games.models import (
    OPEN,
    AnswerBatch,
    Game,
    GameStatus,
    Match,
    Seat,
    SeatLog,
)
from ladder.games.shared_deals import needed_by, undecided, with_decks_of
from torres.common.errors import LadderError

log = structlog.get_logger()
PLAYED = (GameStatus.FINISHED, GameStatus.VOIDED)


_ALONE = ~needed_by(Game.objects.exclude(pk=OuterRef("pk")))
"""True for a game if no other one has its decks."""


# The documented way to the columns of a table.
_SEAT_COLUMNS = tuple(field.name for field in Seat._meta.concrete_fields)  # noqa: SLF001
_SHOWN_OF_A_BOT = (
    "submission__number",
    "submission__bot__slug",
    "submission__bot__name",
    "submission__bot__owner",  # its id, which tells who may read the logs
)


class NotOver(LadderError, code="not-over", http_status=409):
    """A game with these decks has not ended."""


class NoReplay(LadderError, code="no-replay", http_status=404):
    """The game has no replay."""


class NotYours(LadderError, code="not-yours", http_status=403):
    """Only the owner of a bot reads its logs."""


def _with_seats() -> Prefetch[str]:
    """Read seats with what is shown of their submissions and bots.

    A page shows up to 200 games with 4 seats, so all columns of the three tables would
    cost several times as much as these.
    """
    seats = Seat.objects.select_related("submission__bot").order_by("number")
    return Prefetch("seats", seats.only(*_SEAT_COLUMNS, *_SHOWN_OF_A_BOT))


def games() -> QuerySet[Game]:
    """List the visible games with their seats, newest first."""
    return (
        Game.objects.filter(match__embargo=False)
        .defer("replay")
        .select_related("match")
        .prefetch_related(_with_seats())
        .order_by("-id")
    )


def game_keys() -> QuerySet[Game]:
    """List the visible games, newest first, with nothing but their ids.

    A filter may join their seats and then has to make them distinct. With no other
    columns than those of the order this needs no sort. `with_seats` reads the rest of
    those that are shown.
    """
    return Game.objects.filter(match__embargo=False).only("id").order_by("-id")


class GameState(NamedTuple):
    """The columns of a game that change while it is played."""

    status: str
    fence: int


def states_of(numbers: Iterable[int]) -> dict[int, GameState]:
    """Return the states of the visible ones among these games."""
    found = Game.objects.filter(pk__in=list(numbers), match__embargo=False)
    rows = found.values_list("pk", "status", "fence")
    return {number: GameState(status, fence) for number, status, fence in rows}


def with_seats(keys: Iterable[Game]) -> list[Game]:
    """Return the games of these keys with their seats, in the same order."""
    numbers = [key.pk for key in keys]
    found = games().in_bulk(numbers)
    return [found[number] for number in numbers if number in found]


def matches() -> QuerySet[Match]:
    """List the visible matches with their games, newest first.

    The annotation `open` is true if a game with the decks of the match has not ended.
    """
    its_games = Game.objects.defer("replay").prefetch_related(_with_seats())
    return (
        Match.objects.filter(embargo=False)
        .annotate(open=undecided("pk"))
        .prefetch_related(Prefetch("games", its_games.order_by("index", "id")))
        .order_by("-id")
    )


def keys_of(bot: Bot) -> QuerySet[Game]:
    """List the visible games of a bot, newest first, with nothing but their ids."""
    return search.with_bot(game_keys(), bot)


def replay(game: Game) -> bytes:
    """Return the replay as JSON text. Raises NotOver and NoReplay."""
    if game.status in OPEN:
        raise NotOver(f"The game is {game.status}. Ask again when it is finished.")
    if game.status not in PLAYED:
        raise NoReplay(f"The game is {game.status}; it has no replay.")
    if with_decks_of(game.match).filter(status__in=OPEN).exists():
        raise NotOver(
            "Another game has the same decks and has not ended yet. Ask again later."
        )
    stored = Game.objects.values_list("replay", flat=True).get(pk=game.pk)
    if stored is None:
        raise NoReplay("The replay of this game was deleted.")
    try:
        return replays.unpack(bytes(stored))
    except replays.UnknownDictionary as error:
        raise NoReplay(str(error)) from error
    except Exception as error:  # one damaged row must not stop pages, lists and cards
        log.exception("cannot read replay", game=game.pk)
        raise NoReplay(
            "The stored replay of this game is damaged. Tell the operator of this"
            " service, who can restore it from a backup."
        ) from error


def running_games() -> QuerySet[Game]:
    """List the visible games that run now, newest first.

    The annotation `watchable` is true if `moves_so_far` shows their moves.
    """
    return games().filter(status=GameStatus.RUNNING).annotate(watchable=_ALONE)


def watchable_games() -> QuerySet[Game]:
    """List the running games of which `moves_so_far` shows the moves, newest first."""
    return games().filter(_ALONE, status=GameStatus.RUNNING)


def public_replays(
    numbers: Iterable[int], *, skip_damaged: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the replay, as JSON text, of those games that have one.

    Left out are games whose decks another game still needs, and deleted replays. With
    `skip_damaged` a replay that cannot be read is logged and left out; otherwise the
    error of its decoder is raised.
    """
    public = Game.objects.filter(
        ~undecided(),
        pk__in=list(numbers),
        match__embargo=False,
        status__in=PLAYED,
        replay__isnull=False,
    )
    for number, stored in public.values_list("pk", "replay"):
        try:
            text = replays.unpack(bytes(stored or b""))
        except Exception:  # one damaged row must not stop an export
            if not skip_damaged:
                raise
            log.exception("cannot read replay", game=number)
            continue
        yield number, text


@dataclass(frozen=True, slots=True)
class MovesSoFar:
    """The moves of a game until now, as in its replay.

    `attempt` is the fence of the attempt, or None while the game waits for a worker.
    """

    attempt: int | None
    moves: list[MoveEntry]


def moves_so_far(game: Game, after: int = 0) -> MovesSoFar:
    """Return the moves of a running, waiting or ended game, without the first `after`.

    Moves reveal cards of the decks. If other games have the same decks, nothing is
    shown until all of them have ended. Raises NotOver and NoReplay.
    """
    if game.status not in OPEN:
        return MovesSoFar(game.fence, json.loads(replay(game))["moves"][after:])
    if with_decks_of(game.match).exclude(pk=game.pk).exists():
        raise NotOver(
            "Another game has the same decks. Ask again when all games with these decks"
            " have ended."
        )
    if game.status != GameStatus.RUNNING:
        return MovesSoFar(None, [])
    batches = AnswerBatch.objects.filter(
        attempt__game=game, attempt__fence=game.fence, end__gt=after
    ).order_by("first")
    moves: list[MoveEntry] = []
    end = after
    for batch in batches:
        if batch.first > end:  # a crash of PostgreSQL took the answers before these
            break
        moves += [_move(*answer) for answer in batch.answers[end - batch.first :]]
        end = batch.end
    return MovesSoFar(game.fence, moves)


def _move(seat: int, actions: list[str], ms: float, auto: bool) -> MoveEntry:  # noqa: FBT001
    """Return a move as in a replay, which has tenths of a millisecond."""
    if auto:
        return {"seat": seat, "actions": actions, "auto": True}
    return {"seat": seat, "actions": actions, "ms": round(ms, 1)}


def own_seats(game: Game, person: Person) -> list[Seat]:
    """List the seats of a game whose bots a person owns."""
    return [seat for seat in game.seats.all() if owns(person, seat.submission.bot)]


@dataclass(frozen=True, slots=True)
class SeatLogEntry:
    """The output of one seat in one attempt; `attempt` is the attempt's fence."""

    seat: int
    bot: str
    attempt: int
    outcome: str
    forfeit: str | None
    detail: str
    stderr: str
    notes: list[dict[str, object]]
    verdict: dict[str, object]


def logs(game: Game, person: Person) -> list[SeatLogEntry]:
    """Return what the person's own seats left behind, attempt by attempt.

    A seat that left nothing has one empty entry at the end. Raises NotYours.
    """
    mine = {seat.number: seat for seat in own_seats(game, person)}
    if not mine:
        raise NotYours("None of your bots plays in this game.")
    rows = (
        SeatLog.objects.filter(attempt__game=game, number__in=mine)
        .select_related("attempt")
        .order_by("attempt__fence", "number")
    )
    entries = [
        _entry(mine[row.number], row.attempt.fence, row.attempt.outcome, row)
        for row in rows
    ]
    with_log = {entry.seat for entry in entries}
    for number, seat in mine.items():
        if number not in with_log:
            entries.append(_entry(seat, game.fence, game.status, SeatLog()))
    return entries


def _entry(seat: Seat, attempt: int, outcome: str, log: SeatLog) -> SeatLogEntry:
    return SeatLogEntry(
        seat=seat.number,
        bot=seat.submission.bot.slug,
        attempt=attempt,
        outcome=outcome,
        forfeit=seat.fault or None,
        detail=seat.fault_detail,
        stderr=log.stderr,
        notes=log.notes,
        verdict=log.verdict,
    )
