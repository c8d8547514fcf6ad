"""Fill a season: matches, games, seats, attempts, the ledger and the ratings.

The ratings are really folded, entry by entry, like the rater does it. So
`rebuild_ratings --check` and `audit` hold for the result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from django.db.models.functions import Now

from ladder.games.models import Attempt, Game, Match, Seat, Worker
from ladder.ratings import checkpoints, summaries
from ladder.ratings.ledger_reader import lines
from ladder.ratings.ledger_writer import rating_columns
from ladder.ratings.models import (
    Checkpoint,
    Entry,
    Membership,
    Pairing,
    Rating,
    Season,
)
from tests.fill.bots import FilledBot, Upload
from tests.fill.rows import RowWriter, first_free_id
from tests.fill.specimens import Specimen, play_specimens
from tests.fill.summaries import SummaryWriter
from tests.fill.world import NEW_VERSION_SHARE, TABLE_SIZES, PlannedGame, World
from torres.rating import ledger
from torres.rating.ledger import EntryKind, LedgerLine, LedgerState

CHUNK_GAMES = 1000
FAILURES_OF_A_DEAD_GAME = 3
GAME_TIME = timedelta(seconds=20)
DEAD_NOTE = "lease over: worker lost"
CANCEL_NOTE = "another version plays now"


@dataclass(frozen=True, slots=True)
class Clock:
    """Spreads the games evenly over the time of the season."""

    started: datetime
    step: timedelta

    def at(self, number: int) -> datetime:
        return self.started + number * self.step


class SeasonWriter:
    """Writes the games of a season and its ledger."""

    def __init__(
        self, season: Season, bots: Sequence[FilledBot], clock: Clock, rng: Random
    ) -> None:
        self._season = season
        self._ladder = season.ladder
        self._bots = bots
        self._clock = clock
        self._rng = rng
        self._playing: list[Upload] = [
            self._first_upload(bot, k) for k, bot in enumerate(bots)
        ]
        self._state = LedgerState()
        self._seq = season.head
        for line in lines(season.pk, until=season.head):
            ledger.apply(self._state, line)
        while summaries.catch_up(season.pk):
            pass
        self._specimens = {
            size: play_specimens(self._ladder.ruleset, size, self._ladder.limits, rng)
            for size in TABLE_SIZES
        }
        self._worker = Worker.objects.create(name="fill#1", host="fill", gone_at=Now())
        self._match_id = first_free_id(Match)
        self._game_id = first_free_id(Game)
        self._open_writers()

    def _open_writers(self) -> None:
        self._matches = RowWriter(
            Match,
            *("id", "kind", "ruleset", "switches", "seats", "limits", "seed"),
            *("ladder", "why", "created_at"),
        )
        self._games = RowWriter(
            Game,
            *("id", "match_id", "status", "fence", "failures", "created_at"),
            *("started_at", "finished_at", "reason", "note", "engine", "replay"),
        )
        self._seats = RowWriter(
            Seat,
            *("game_id", "number", "submission_id", "bot_id", "score", "rank", "tied"),
        )
        self._attempts = RowWriter(
            Attempt,
            *("game_id", "fence", "worker_id", "started_at", "ended_at"),
            *("outcome", "reason"),
        )
        self._pairings = RowWriter(
            Pairing, "season_id", "match_id", "open", "created_at"
        )
        self._entries = RowWriter(
            Entry,
            *("season_id", "seq", "kind", "game_id", "bot_id", "inputs", "changes"),
            "created_at",
        )
        self._summaries = SummaryWriter(self._season.pk, self._state)
        self._states: dict[int, LedgerState] = {}
        """The states that become checkpoints, by the number of their last entry."""

    def write(self, world: World, games: int, progress: Callable[[int], None]) -> None:
        """Let all bots join, then write all games, and at last the ratings.

        `progress` is called with the number of games that are written.
        """
        self._write_memberships()
        for bot, upload in zip(self._bots, self._playing, strict=True):
            if bot.bot in self._state.bots:
                continue  # it joined before the command began
            self._add_bot_entry(EntryKind.JOIN, bot, upload, self._clock.started)
        versions = self._new_versions(games)
        for number, planned in enumerate(world.games()):
            for k in versions.get(number, ()):
                self._playing[k] = self._bots[k].uploads[-1]
                at = self._clock.at(number)
                kind = EntryKind.NEW_VERSION
                self._add_bot_entry(kind, self._bots[k], self._playing[k], at)
            self._add_game(planned, self._clock.at(number))
            if (number + 1) % CHUNK_GAMES == 0:
                self._flush()
                progress(number + 1)
        self._flush()
        self._summaries.write_counts()
        self._write_ratings()
        progress(games)

    def _write_memberships(self) -> None:
        started = self._clock.started
        members = RowWriter(
            Membership, "ladder_id", "bot_id", "joined_at", "changed_at"
        )
        present = set(self._ladder.memberships.values_list("bot", flat=True))
        for bot in self._bots:
            if bot.bot not in present:
                members.add(self._ladder.pk, bot.bot, started, started)
        members.flush()

    def _first_upload(self, bot: FilledBot, k: int) -> Upload:
        """Return the upload with which a bot joins: some continue with a newer one."""
        return bot.uploads[0 if self._is_updated(k) else -1]

    def _is_updated(self, k: int) -> bool:
        return k % round(1 / NEW_VERSION_SHARE) == 0 and len(self._bots[k].uploads) > 1

    def _new_versions(self, games: int) -> dict[int, list[int]]:
        """Return the indices of bots that get a new version, by number of the game."""
        versions: dict[int, list[int]] = {}
        for k in range(len(self._bots)):
            if self._is_updated(k):
                versions.setdefault(self._rng.randrange(max(1, games)), []).append(k)
        return versions

    def _add_game(self, planned: PlannedGame, at: datetime) -> None:
        specimen = self._rng.choice(self._specimens[len(planned.order)])
        seating = specimen.seating(planned.order)
        self._add_match(specimen, len(seating), at)
        finished = planned.status == "finished"
        ended = at + GAME_TIME if finished else None
        failures = FAILURES_OF_A_DEAD_GAME if planned.status == "dead" else 0
        note = {"dead": DEAD_NOTE, "cancelled": CANCEL_NOTE}.get(planned.status, "")
        self._games.add(
            *(self._game_id, self._match_id, planned.status),
            *(failures + finished, failures, at, at if finished else None, ended),
            *(specimen.reason, note, specimen.engine, specimen.replay)
            if finished
            else ("", note, "", None),
        )
        for number, k in enumerate(seating):
            score = specimen.scores[number] if finished else None
            rank = specimen.ranks[number] if finished else None
            tied = finished and specimen.tied[number]
            submission, bot = self._playing[k].submission, self._bots[k].bot
            self._seats.add(self._game_id, number, submission, bot, score, rank, tied)
        self._add_attempts(planned.status, at)
        if finished:
            self._add_game_entry(specimen, seating, at + GAME_TIME)
        self._match_id += 1
        self._game_id += 1

    def _add_match(self, specimen: Specimen, seats: int, at: datetime) -> None:
        ladder = self._ladder
        why = {"rule": "fill", "reasons": ["made up by manage.py fill"]}
        self._matches.add(
            *(self._match_id, Match.Kind.LADDER, ladder.ruleset, ladder.switches),
            *(seats, ladder.limits, specimen.seed, ladder.slug, why, at),
        )
        self._pairings.add(self._season.pk, self._match_id, False, at)

    def _add_attempts(self, status: str, at: datetime) -> None:
        worker = self._worker.pk
        ended = at + GAME_TIME
        if status == "finished":
            self._attempts.add(self._game_id, 1, worker, at, ended, "finished", "")
        elif status == "dead":
            for fence in range(1, FAILURES_OF_A_DEAD_GAME + 1):
                game = self._game_id
                self._attempts.add(game, fence, worker, at, ended, "failed", DEAD_NOTE)

    def _add_game_entry(
        self, specimen: Specimen, seating: Sequence[int], at: datetime
    ) -> None:
        inputs = {
            "seats": [
                {
                    "bot": self._bots[k].bot,
                    "submission": self._playing[k].submission,
                    "rank": specimen.ranks[number],
                    "fault": "",
                }
                for number, k in enumerate(seating)
            ]
        }
        self._add_entry(EntryKind.GAME, inputs, at, game=self._game_id)

    def _add_bot_entry(
        self, kind: EntryKind, bot: FilledBot, upload: Upload, at: datetime
    ) -> None:
        inputs = {
            "bot": bot.bot,
            "submission": upload.submission,
            "digest": upload.digest,
        }
        self._add_entry(kind, inputs, at, bot=bot.bot)

    def _add_entry(
        self,
        kind: EntryKind,
        inputs: dict[str, Any],
        at: datetime,
        *,
        game: int | None = None,
        bot: int | None = None,
    ) -> None:
        """Fold an entry, and collect its row."""
        self._seq += 1
        line = LedgerLine(self._seq, kind, inputs, game)
        changes = ledger.step(self._state, line)
        season = self._season.pk
        self._entries.add(season, self._seq, kind.value, game, bot, inputs, changes, at)
        self._summaries.add(
            summaries.EntryRow(self._seq, kind, game, bot, inputs, changes)
        )
        if self._seq % checkpoints.CHECKPOINT_EVERY == 0:
            self._keep_state()

    def _keep_state(self) -> None:
        """Note a state for a checkpoint, and forget those that raters thin out.

        A copy shares the states of the bots, so it is cheap; the JSON is not.
        """
        self._states[self._seq] = self._state.copy()
        for seq in list(self._states):
            if not checkpoints.is_kept(seq, self._seq):
                del self._states[seq]

    def _flush(self) -> None:
        for writer in (
            self._matches,
            self._games,
            self._seats,
            self._attempts,
            self._pairings,
            self._entries,
            self._summaries,
        ):
            writer.flush()

    def _write_ratings(self) -> None:
        for seq, state in self._states.items():
            Checkpoint.objects.create(season=self._season, seq=seq, state=state.dump())
        Rating.objects.filter(season=self._season).delete()
        bots = sorted(self._state.bots.items())
        columns = rating_columns(bots[0][1])
        ratings = RowWriter(Rating, "season_id", "bot_id", *columns)
        for bot, bot_state in bots:
            values = rating_columns(bot_state).values()
            ratings.add(self._season.pk, bot, *values)
        ratings.flush()
        Season.objects.filter(pk=self._season.pk).update(
            head=self._seq, parameters=self._state.dump()["parameters"]
        )
