"""Play one claimed practice game from its start, or from where another host left it.

All other games use the same referee. `play` never raises: a fault of the service ends
the game as failed, and if even that cannot be written, the lease ends.
"""

from contextlib import ExitStack

import structlog
from django.db import Error, IntegrityError, connection

from engine import referee
from engine.documents import ForfeitEntry
from engine.faults import Fault
from engine.referee import Move
from ladder.extras.practice import claims, position, seats, selectors
from ladder.extras.practice.claims import ClaimLost, PracticeClaim
from ladder.extras.practice.endings import close, is_own
from ladder.extras.practice.models import (
    PracticeGame,
    PracticeMove,
    PracticeOpponent,
    PracticeStatus,
)
from ladder.extras.practice.seats import (
    BotDiffers,
    PersonLeft,
    PersonPlayer,
    PracticeBot,
)
from ladder.games.shares import MAX_DECISIONS_OF_A_SEAT, deadline_s
from ladder.games.worker.lease_keeper import LeaseKeeper, SeatPlayer
from ladder.games.worker.play import OpenPlayer

HOST_STOPS = "the host stops"
TOO_SLOW = "You did not answer in time, so the game has ended."
BOT_DIFFERS = (
    "The service was interrupted, and a bot did not repeat its moves when the game was"
    " to go on. Nothing of it counts. Play again."
)
FAILED = (
    "The service failed to play this game. Nothing of it counts. Try again, or choose"
    " other bots."
)

log = structlog.get_logger()


def play(claim: PracticeClaim, keeper: LeaseKeeper, open_player: OpenPlayer) -> None:
    """Play a game that this host has claimed, and end it.

    1. Read the rows, and the moves of an earlier host.
    2. Let the referee play. Each move is stored before the next question.
    3. Store the end. Without the claim nothing is written.
    """
    run = None
    try:
        run = PracticeRun(claim, keeper)
        run.play(open_player)
    except Exception as failure:  # noqa: BLE001 -- the one boundary
        _end_early(claim, keeper, run, failure)
    finally:
        keeper.close()
        connection.close()


def game_deadline_s(game: PracticeGame) -> float:
    """Return after how many seconds a game is stopped whatever happens."""
    person_s = game.bank_s + MAX_DECISIONS_OF_A_SEAT * claims.move_seconds()
    return float(person_s + deadline_s(game.limits, game.seats))


class PracticeRun:
    """One game under one claim."""

    def __init__(self, claim: PracticeClaim, keeper: LeaseKeeper) -> None:
        self._claim = claim
        self._keeper = keeper
        self.game = PracticeGame.objects.defer("replay").get(pk=claim.pk)
        self._moves = selectors.moves(self.game.pk)
        self._sitting: dict[int, PracticeOpponent] = {
            opponent.number: opponent for opponent in selectors.sitting(self.game)
        }
        self._forfeited = {forfeit["seat"] for forfeit in self.game.forfeits}
        self._recorded = len(self._moves)
        self._made = 0
        self.players: list[SeatPlayer] = []
        self.difference = False

    def play(self, open_player: OpenPlayer) -> None:
        """Let the referee play, and store the result."""
        history = seats.histories(self.game.seats, self._moves, self.game.forfeits)
        with ExitStack() as opened:
            for number in range(self.game.seats):
                player = self._player(number, history[number], open_player)
                opened.callback(player.kill)
                self.players.append(player)
            self._keeper.guard(self.players)
            opened.pop_all()
        referee.play(
            position.start(self.game),
            self.players,
            seed=self.game.seed,
            limits=self.game.limits,
            watch=self._watch,
        )
        self.end(PracticeStatus.FINISHED)

    def end(self, status: PracticeStatus, note: str = "") -> None:
        outputs = {
            number: player.output() for number, player in enumerate(self.players)
        }
        fence = self._claim.fence
        close(self.game.pk, status, note, fence=fence, outputs=outputs)

    def _player(
        self, number: int, history: seats.SeatHistory, open_player: OpenPlayer
    ) -> SeatPlayer:
        if number == self.game.person_seat:
            bank_s = self.game.bank_s
            return PersonPlayer(self._claim, history, bank_s, self._keeper.stopped)
        submission = self._sitting[number].submission
        if submission is None:
            raise ClaimLost("an upload of this game was deleted")
        bot = open_player(submission, self.game.limits, strict_clock=False)

        def store(reason: Fault, detail: str) -> None:
            self._store_forfeit(number, reason, detail)

        return PracticeBot(bot, history, store)

    def _watch(self, move: Move) -> None:
        """Store a move, or compare it with the one of an earlier host."""
        self._made = move.index + 1
        if self._keeper.stopped.is_set():
            raise ClaimLost
        if move.index < self._recorded:
            if self._moves[move.index].actions != move.actions:
                raise BotDiffers
            return
        answer = move.answer
        note = answer.note if answer and self._is_own(move.seat) else None
        row = PracticeMove(
            index=move.index,
            seat=move.seat,
            actions=move.actions,
            ms=answer.ms if answer else None,
            note=note or "",
        )
        claims.record(self._claim, row)

    def _store_forfeit(self, seat: int, reason: Fault, detail: str) -> None:
        if seat in self._forfeited:
            return
        self._forfeited.add(seat)
        entry = ForfeitEntry(seat=seat, before_move=self._made, reason=reason.value)
        kept = detail if self._is_own(seat) else ""
        claims.record_forfeit(self._claim, entry, kept)

    def _is_own(self, seat: int) -> bool:
        opponent = self._sitting.get(seat)
        return opponent is not None and is_own(self.game, opponent)


def _end_early(
    claim: PracticeClaim,
    keeper: LeaseKeeper,
    run: PracticeRun | None,
    failure: Exception,
) -> None:
    """End a game that could not be played to its end, or leave it to another host."""
    cause = _cause(failure)
    connection.close()
    try:
        if keeper.stop_reason == HOST_STOPS:
            claim.give_up()
        elif keeper.stopped.is_set() or isinstance(cause, ClaimLost | IntegrityError):
            log.info("practice game left", game=claim.pk, reason=keeper.stop_reason)
        elif isinstance(cause, Error):
            # The lease ends, and a host goes on with the game.
            log.warning("practice game interrupted", game=claim.pk, error=str(cause))
        elif isinstance(cause, PersonLeft):
            _write(claim, run, PracticeStatus.ABANDONED, TOO_SLOW)
        elif isinstance(cause, BotDiffers):
            _write(claim, run, PracticeStatus.FAILED, BOT_DIFFERS)
        else:
            log.error("practice game failed", game=claim.pk, exc_info=failure)
            _write(claim, run, PracticeStatus.FAILED, FAILED)
    except Error as error:
        log.warning("cannot end practice game", game=claim.pk, error=str(error))


def _write(
    claim: PracticeClaim, run: PracticeRun | None, status: PracticeStatus, note: str
) -> None:
    if run is not None:
        run.end(status, note)
    else:
        close(claim.pk, status, note, fence=claim.fence)


def _cause(failure: Exception) -> BaseException:
    """Return the first error: the referee wraps what a player raises."""
    cause: BaseException = failure
    while cause.__cause__ is not None and not isinstance(cause, Error):
        cause = cause.__cause__
    return cause
