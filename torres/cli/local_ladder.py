"""A rated ladder over a folder of bots, with the matchmaker and ratings of the server.

`.torres-ladder/` in the folder holds everything: `ledger.ndjson`, whose first line has
the rules and whose other lines are ledger entries (`torres.rating.ledger`),
`versions/`, a copy of each version's files, and `replays/` of the latest games. The
ratings are the fold of the entries, so a ladder that was stopped continues. Games are
played from the copies: a bot that is changed during a game does not change that game.
"""

import json
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from random import Random
from typing import NamedTuple, NotRequired, TypedDict, cast

import click

from engine.errors import EngineError
from engine.referee import ServiceFault
from engine.rulesets import MIN_SEATS
from torres.cli.arena_options import built_bots
from torres.cli.bot_files import bot_digest, bot_files, with_unique_names
from torres.cli.game_pool import GamePool
from torres.cli.local_results import LocalGame, LocalResult
from torres.cli.local_rules import LocalRules
from torres.cli.play import LocalBot, find_bot
from torres.common.errors import LadderError
from torres.common.json_object import JsonObject
from torres.common.locks import locked
from torres.common.typed import BadDocument, checked, parse
from torres.rating.ledger import EntryKind, LedgerLine, LedgerState, step
from torres.rating.pairing import Matchmaker, PairingTerms
from torres.rating.pool import BotProfile
from torres.rating.trueskill import Parameters, Skill
from torres.runner.languages import locate
from torres.runner.sandbox import Level

STATE_FOLDER = ".torres-ladder"
LEDGER_FILE = "ledger.ndjson"
DEFAULT_TABLES = {"2": 0.4, "3": 0.2, "4": 0.4}
"""The share of matches by number of seats, as on the server's first ladder."""
MAX_DEAD_GAMES = 10
"""The ladder stops when this machine could not play this many games in a row."""


MAX_REPLAYS = 500
"""The replays of this many latest games are kept, and shown on the pages."""


class LocalLadderStopped(LadderError, code="local-ladder-stopped"):
    """The ladder cannot go on; the message says why."""


@dataclass(slots=True)
class LadderBot:
    """A bot of the ladder. ``version`` counts its uploads, that is, its changes."""

    number: int
    name: str
    digest: str = ""
    version: int = 0
    program: LocalBot | None = None
    """The copy that plays; None while the bot is not in the folder."""
    index: int = -1
    """The index of the copy in the pool of games."""


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One line of the leaderboard."""

    rank: int
    name: str
    rating: float
    mu: float
    sigma: float
    games: int
    forfeits: int
    version: int


class SkillPoint(NamedTuple):
    """A bot's skill after one entry of the ledger.

    `submission` is the version that began to play with this entry, or None.
    """

    submission: int | None
    mu: float
    sigma: float

    @property
    def rating(self) -> float:
        return Skill(self.mu, self.sigma).shown_rating


@dataclass(frozen=True, slots=True)
class PlayedRow:
    """A game that was played. ``seats`` has (rank, name, version, score, fault)."""

    number: int
    seats: tuple[tuple[int, str, int, int, str], ...]

    @property
    def names(self) -> set[str]:
        return {seat[1] for seat in self.seats}


class StoredSeat(TypedDict):
    """A seat of a rated game; `submission` is the version that played."""

    bot: int
    rank: int
    submission: int
    fault: str


class LineInputs(TypedDict, total=False):
    """The inputs of an entry; each kind of entry has some of them."""

    bot: int
    digest: str
    submission: int
    seats: list[StoredSeat]
    parameters: dict[str, float]


class StoredLine(TypedDict):
    """An entry of the ledger: a bot joins with its name, a game has its scores."""

    kind: EntryKind
    inputs: LineInputs
    name: NotRequired[str]
    number: NotRequired[int]
    scores: NotRequired[list[int]]


class LocalLadder:
    """The state of a local ladder: bots, ledger, matchmaker and open games.

    ``extra`` are bots that are not in the folder, such as house bots. ``say`` gets a
    line of text about each bot that joins, changes, leaves, or cannot play.
    """

    def __init__(
        self,
        folder: Path,
        rules: LocalRules,
        level: Level,
        seed: str,
        extra: Sequence[LocalBot],
        say: Callable[[str], None],
    ) -> None:
        self.folder = folder
        self.rules = rules
        self.level = level
        self.seed = seed
        self.extra = extra
        self.say = say
        self.state = LedgerState()
        self.bots: dict[str, LadderBot] = {}
        self.games = 0
        self.history: dict[int, list[SkillPoint]] = {}
        """The skill of each bot after each entry that changed it."""
        self.latest: deque[PlayedRow] = deque(maxlen=MAX_REPLAYS)
        terms = PairingTerms(rules.tables or DEFAULT_TABLES)
        rng = Random(seed)  # noqa: S311 - the choice of opponents is no secret
        self._matchmaker = Matchmaker(terms, rng)
        self._seqs = count(1)
        self._last_number = 0
        self._by_number: dict[int, LadderBot] = {}
        self._open: dict[int, tuple[tuple[LadderBot, int], ...]] = {}
        """The bots of each open game by seat, with the versions that play it."""
        self._refused: dict[str, str] = {}
        self._waits = False
        self._dead_in_a_row = 0

    @property
    def home(self) -> Path:
        return self.folder / STATE_FOLDER

    @property
    def replays(self) -> Path:
        return self.home / "replays"

    def replay_of(self, game: int) -> Path:
        """Return the file of a game's replay, which may be deleted already."""
        return self.replays / f"game-{game}.json"

    # --- the ledger

    @contextmanager
    def opened(self, *, fresh: bool) -> Iterator[None]:
        """Read the ledger and hold the folder. ``fresh`` begins a new ledger.

        Raises BadParameter if the ledger has other rules, and ClickException if another
        command plays this ladder.
        """
        with locked(self.home / "lock") as ours:
            if not ours:
                raise click.ClickException(
                    f"another command plays the ladder in {self.folder}; stop it first"
                )
            file = self.home / LEDGER_FILE
            if fresh:
                file.unlink(missing_ok=True)
                shutil.rmtree(self.replays, ignore_errors=True)
            self.replays.mkdir(exist_ok=True)
            if file.exists():
                self._read(file)
            with file.open("a", encoding="utf-8") as self._file:
                if not self._file.tell():
                    self._write(self._identity())
                    start = LineInputs(parameters=asdict(Parameters()))
                    self._append(EntryKind.SEASON_START, start)
                yield

    def _identity(self) -> dict[str, object]:
        rules = self.rules
        return {
            "ruleset": rules.ruleset,
            "switches": rules.switches,
            "limits": asdict(rules.limits),
            "tables": rules.tables or DEFAULT_TABLES,
        }

    def _read(self, file: Path) -> None:
        """Fold the stored entries, up to a line that was cut off by a crash."""
        whole = 0
        with file.open("rb") as lines:
            for number, line in enumerate(lines):
                if not line.endswith(b"\n"):
                    break
                try:
                    document = parse(line)
                    if number == 0:
                        self._check_identity(checked(JsonObject, document))
                    else:
                        self._fold(checked(StoredLine, document))
                except BadDocument:
                    break
                whole += len(line)
        os.truncate(file, whole)

    def _check_identity(self, stored: Mapping[str, object]) -> None:
        ours = json.loads(json.dumps(self._identity()))
        changed = [key for key in ours if ours[key] != stored.get(key)]
        if changed:
            raise click.BadParameter(
                f"{self.folder} has a ladder with different {', '.join(changed)}; use"
                " the same options, or delete its ledger with --fresh"
            )

    def _write(self, document: Mapping[str, object]) -> None:
        self._file.write(json.dumps(document) + "\n")
        self._file.flush()

    def _append(self, kind: EntryKind, inputs: LineInputs, **facts: object) -> None:
        """Append an entry to the ledger and fold it."""
        document = cast(StoredLine, {"kind": kind, "inputs": inputs, **facts})
        self._fold(document)
        self._write(document)

    def _fold(self, document: StoredLine) -> None:
        """Apply one entry to the ratings, the pages, and the matchmaker's memory."""
        kind = EntryKind(document["kind"])
        inputs = document["inputs"]
        seq = next(self._seqs)
        for change in step(self.state, LedgerLine(seq, kind, inputs)):
            if change["after"]:
                points = self.history.setdefault(change["bot"], [])
                version = inputs.get("submission")
                points.append(SkillPoint(version, *change["after"]))
        match kind:
            case EntryKind.JOIN:
                bot = LadderBot(inputs["bot"], document["name"])
                self.bots[bot.name] = self._by_number[bot.number] = bot
                self._set_version(bot, inputs)
            case EntryKind.NEW_VERSION:
                self._set_version(self._by_number[inputs["bot"]], inputs)
            case EntryKind.GAME:
                self.games += 1
                self.latest.append(self._played_row(document))
                if document["number"] not in self._open:  # it was played before
                    self._last_number = max(self._last_number, document["number"])
                    self._matchmaker.remember([s["bot"] for s in inputs["seats"]])
            case _:
                pass

    def _played_row(self, document: StoredLine) -> PlayedRow:
        seats = tuple(
            (
                seat["rank"],
                self._by_number[seat["bot"]].name,
                seat["submission"],
                score,
                seat["fault"],
            )
            for seat, score in zip(
                document["inputs"]["seats"], document["scores"], strict=True
            )
        )
        return PlayedRow(document["number"], seats)

    def _set_version(self, bot: LadderBot, inputs: LineInputs) -> None:
        bot.digest = inputs["digest"]
        bot.version = inputs["submission"]

    # --- the bots in the folder

    def scan(self, pool: GamePool) -> None:
        """Let new files join, changed files play as new versions, and others leave."""
        found = {bot.name: bot for bot in self._present_bots()}
        for name, local in found.items():
            try:
                self._enter(pool, name, local)
            except (LadderError, EngineError, ServiceFault, OSError) as error:
                self._refuse(name, str(error))
        for bot in self.bots.values():
            if bot.program is not None and bot.name not in found:
                bot.program = None
                self._matchmaker.pool.remove(bot.number)
                self.say(f"{bot.name} left")

    def _present_bots(self) -> list[LocalBot]:
        paths = sorted(
            path
            for path in self.folder.iterdir()
            if not path.name.startswith((".", "_"))
        )
        bots = list(self.extra)
        for path in paths:
            try:
                bots.append(find_bot(str(path)))
            except (LadderError, click.ClickException, OSError) as error:
                self._refuse(path.name, str(error))
        return with_unique_names(bots)

    def _refuse(self, name: str, why: str) -> None:
        """Say once why a file does not play."""
        if self._refused.get(name) != why:
            self._refused[name] = why
            self.say(f"{name} does not play: {why}")

    def _enter(self, pool: GamePool, name: str, local: LocalBot) -> None:
        """Let the present version of a bot play."""
        digest = bot_digest(local)
        bot = self.bots.get(name)
        if bot is not None and bot.program is not None and bot.digest == digest:
            return
        copy = self._copy(local, name, digest)
        (built,) = built_bots([copy], self.level)
        if bot is None:
            number = len(self.bots) + 1
            inputs = LineInputs(bot=number, submission=1, digest=digest)
            self._append(EntryKind.JOIN, inputs, name=name)
            bot = self.bots[name]
            self.say(f"{name} joins")
        elif bot.digest != digest:
            version = bot.version + 1
            inputs = LineInputs(bot=bot.number, submission=version, digest=digest)
            self._append(EntryKind.NEW_VERSION, inputs)
            self.say(f"{name} plays as version {version}")
        bot.program = built
        bot.index = pool.add_bot(built)
        self._matchmaker.update(self._profile(bot))

    def _copy(self, local: LocalBot, name: str, digest: str) -> LocalBot:
        """Return the bot in a copy of its files, which is made if it is missing."""
        target = self.home / "versions" / f"{name}-{digest[:16]}"
        if not target.is_dir():
            draft = target.with_suffix(".part")
            shutil.rmtree(draft, ignore_errors=True)
            for path in bot_files(local):
                file = draft / path
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(local.program.folder / path, file)
            if bot_digest(_in_folder(local, draft)) != digest:
                raise OSError(f"{name} was changed while it was copied")
            draft.rename(target)
        if local.is_file:
            copied = locate(target / local.program.entry)
            return replace(local, name=name, program=copied)
        return replace(local, name=name, program=locate(target))

    def _profile(self, bot: LadderBot) -> BotProfile:
        state = self.state.bots[bot.number]
        return BotProfile(
            bot=bot.number,
            name=bot.name,
            submission=state.submission,
            owner=bot.number,
            mu=state.skill.mu,
            sigma=state.skill.sigma,
            games=state.games,
            fresh=state.fresh,
            latest=state.latest,
        )

    # --- games

    def start_games(self, pool: GamePool, most: int) -> None:
        """Give each idle worker a game, up to ``most`` games of the ladder in all."""
        while pool.idle and (not most or self.games + len(self._open) < most):
            seating = self._matchmaker.next_seating()
            if seating is None:
                self._say_if_lonely()
                return
            self._last_number += 1
            number = self._last_number
            bots = tuple(self._by_number[profile.bot] for profile in seating.seats)
            self._open[number] = tuple((bot, bot.version) for bot in bots)
            indices = tuple(bot.index for bot in bots)
            pool.start(LocalGame(number, f"{self.seed}/{number}", indices))

    def _say_if_lonely(self) -> None:
        present = sum(bot.program is not None for bot in self.bots.values())
        if present < MIN_SEATS and not self._waits:
            self.say(f"{self.folder} has {present} bots; games begin when it has two")
        self._waits = present < MIN_SEATS

    def finish(self, result: LocalResult) -> None:
        """Rate a game. Raises LocalLadderStopped if this machine fails again and again.

        The versions that sat there are rated, even if a newer one joined meanwhile.
        """
        versions = self._open[result.game]
        for bot, _ in versions:
            self._matchmaker.game_ended(bot.number)
        if result.dead:
            del self._open[result.game]
            self._dead_in_a_row += 1
            self.say(f"game {result.game} was not played: {result.dead}")
            if self._dead_in_a_row >= MAX_DEAD_GAMES:
                raise LocalLadderStopped(
                    f"this machine could not play {MAX_DEAD_GAMES} games in a row; the"
                    f" last one: {result.dead}"
                )
            return
        self._dead_in_a_row = 0
        faults = {forfeit.seat: forfeit.reason for forfeit in result.forfeits}
        seats: list[StoredSeat] = [
            {
                "bot": bot.number,
                "submission": version,
                "rank": rank,
                "fault": faults.get(seat, ""),
            }
            for seat, ((bot, version), rank) in enumerate(
                zip(versions, result.ranks, strict=True)
            )
        ]
        facts = {"number": result.game, "seed": result.seed}
        scores = list(result.scores)
        self._append(EntryKind.GAME, {"seats": seats}, **facts, scores=scores)
        del self._open[result.game]
        self.replay_of(result.game - MAX_REPLAYS).unlink(missing_ok=True)
        for bot, _ in versions:
            if bot.program is not None:
                self._matchmaker.update(self._profile(bot))

    def leaderboard(self) -> list[LadderRow]:
        """Return the bots that are in the folder, the best shown rating first."""
        present = [bot for bot in self.bots.values() if bot.program is not None]
        states = self.state.bots
        present.sort(key=lambda bot: -states[bot.number].skill.shown_rating)
        return [
            LadderRow(
                rank,
                bot.name,
                states[bot.number].skill.shown_rating,
                states[bot.number].skill.mu,
                states[bot.number].skill.sigma,
                states[bot.number].games,
                states[bot.number].forfeits,
                bot.version,
            )
            for rank, bot in enumerate(present, 1)
        ]


def _in_folder(bot: LocalBot, folder: Path) -> LocalBot:
    """Return the bot with its files in another folder."""
    return replace(bot, program=replace(bot.program, folder=folder))
