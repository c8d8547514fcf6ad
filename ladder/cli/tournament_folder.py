"""A tournament in a folder: what `torres tournament` reads, plays and goes on from.

The replays in the folder are the whole memory. Each time the file, the replays and
the plan (`ladder.tournaments.formats.plan`) say what is played next, so a run that was
killed goes on with the game it was in. Every game's seed follows from the
tournament's and from where the game stands.
"""

import hashlib
import json
import secrets
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click

from engine.errors import EngineError
from engine.referee import ServiceFault
from engine.rulesets import resolve
from ladder.cli.play import GameFiles, GameRunner, LocalBot as Bot, entrant
from ladder.common.errors import LadderError
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import Sandbox
from ladder.tournaments.formats.config import BadConfig, Config, read
from ladder.tournaments.formats.plan import plan
from ladder.tournaments.formats.standings import Standings
from ladder.tournaments.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    SeededEntrant,
    judge,
    settled,
)

OWN = ("name", "bots", "entrants", "ruleset", "switches", "seed", "limits")
"""What the file says beside the words of the format."""
CARD = "tournament.json"
FEWEST = 2


@dataclass(frozen=True, slots=True)
class LocalTournament:
    """A tournament as its file describes it; the k-th bot has seed k + 1."""

    name: str
    config: Config
    bots: tuple[Bot, ...]
    ruleset: str
    switches: dict[str, Any]
    limits: Limits
    seed: str | None

    def card(self, seed: str) -> dict[str, Any]:
        """Return what must stay the same while a folder is gone on with."""
        return {
            "seed": seed,
            "ruleset": self.ruleset,
            "switches": self.switches,
            "limits": asdict(self.limits),
            "config": json.loads(json.dumps(asdict(self.config), default=str)),
            "bots": [{"name": bot.name, "digest": _digest(bot)} for bot in self.bots],
        }


def load(file: Path) -> LocalTournament:
    """Read a tournament's file. Raises ClickException with one sentence why not."""
    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.BadParameter(f"{file}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{file}: {error}") from error
    words = {name: value for name, value in given.items() if name not in OWN}
    try:
        config = read(words)
        resolve(
            _text(given, "ruleset", "yucata"), config.seats, _table(given, "switches")
        )
        limits = Limits(**_limits(_table(given, "limits")))
        bots = _bots(given, file.parent)
    except (BadConfig, EngineError, LadderError) as refusal:
        raise click.BadParameter(f"{file}: {refusal}") from refusal
    return LocalTournament(
        name=_text(given, "name", file.stem),
        config=config,
        bots=bots,
        ruleset=_text(given, "ruleset", "yucata"),
        switches=_table(given, "switches"),
        limits=limits,
        seed=_text(given, "seed", "") or None,
    )


def _text(given: dict[str, Any], name: str, default: str) -> str:
    value = given.get(name, default)
    if not isinstance(value, str | int):
        raise BadConfig(f"{name}: {value!r}; a text")
    return str(value)


def _table(given: dict[str, Any], name: str) -> dict[str, Any]:
    value = given.get(name, {})
    if not isinstance(value, dict):
        raise BadConfig(f"{name}: {value!r}; a table")
    return value


def _limits(given: dict[str, Any]) -> dict[str, int]:
    known = asdict(Limits())
    for name, value in given.items():
        if name not in known:
            raise BadConfig(f"limits: unknown: {name}; known are {', '.join(known)}")
        if type(value) is not int or value < 1:
            raise BadConfig(f"limits: {name}: {value!r}; a whole number from 1")
    return given


def _bots(given: dict[str, Any], home: Path) -> tuple[Bot, ...]:
    """Return the entrants in the order of their seeds.

    ``entrants`` lists them; ``bots`` is a folder, of which everything is an entrant
    that is not listed yet, by name.
    """
    listed = given.get("entrants", [])
    if not isinstance(listed, list) or not all(isinstance(e, str) for e in listed):
        raise BadConfig("entrants: a list of files, folders and house:NAME")
    found = [entrant(e if e.startswith("house:") else str(home / e)) for e in listed]
    if "bots" in given:
        folder = home / _text(given, "bots", "")
        if not folder.is_dir():
            raise BadConfig(f"bots: there is no folder {folder}")
        there = sorted(p for p in folder.iterdir() if not p.name.startswith((".", "_")))
        rest = [entrant(str(path)) for path in there]
        known = {(bot.box.folder, bot.box.entry) for bot in found}
        found += [b for b in rest if (b.box.folder, b.box.entry) not in known]
    if len(found) < FEWEST:
        raise BadConfig("two entrants at least: name a folder in bots, or entrants")
    return tuple(_named_apart(found))


def _named_apart(bots: Sequence[Bot]) -> list[Bot]:
    """Put numbers to bots of the same name, so that a table tells them apart."""
    names = [bot.name for bot in bots]
    return [
        replace(bot, name=f"{bot.name} ({names[: k + 1].count(bot.name)})")
        if names.count(bot.name) > 1
        else bot
        for k, bot in enumerate(bots)
    ]


def _digest(bot: Bot) -> str:
    """Return a digest of the entry's bytes: another bot is another tournament."""
    return hashlib.sha256((bot.box.folder / bot.box.entry).read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class GameJob:
    """One game to be played: its file's name and who sits where."""

    place: FixtureKey
    game: int
    seats: tuple[int, ...]

    @property
    def name(self) -> str:
        p = self.place
        pool = f"-pool-{p.pool}" if p.pool else ""
        leg = f"-leg-{p.leg + 1}" if p.leg else ""
        return f"round-{p.round}{pool}-table-{p.table + 1}{leg}-game-{self.game + 1}"


class TournamentFolder:
    """The replays of one tournament, and what they say."""

    def __init__(self, path: Path, cup: LocalTournament) -> None:
        self.path, self.cup = path, cup
        self.fixtures: list[FixtureRecord] = []
        self.field = [SeededEntrant(k, k) for k in range(1, len(cup.bots) + 1)]
        self.over = False

    def open(self) -> None:
        """Make the folder, or check that it is this tournament's."""
        card = self.path / CARD
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            kept = json.loads(card.read_text()) if card.exists() else None
        except (OSError, ValueError) as error:
            raise click.BadParameter(f"{card}: {error}") from error
        seed = kept["seed"] if kept else self.cup.seed or secrets.token_hex(16)
        self.seed = str(self.cup.seed or seed)
        if kept is None:
            _write(card, self.cup.card(self.seed))
        elif kept != (mine := self.cup.card(self.seed)):
            changed = [name for name in mine if mine[name] != kept.get(name)]
            raise click.BadParameter(
                f"{self.path} holds a tournament with other {', '.join(changed)};"
                " take another folder with --replays, or bring them back"
            )

    def next_jobs(self) -> list[GameJob]:
        """Take in what was played, and return the games that can be played now."""
        while True:
            self.fixtures = [self._decided(fixture) for fixture in self.fixtures]
            step = plan(self.cup.config, self.field, self.fixtures)
            self.over = step.over
            if not step.due:
                break
            self.fixtures += step.due
        waiting = [f for f in self.fixtures if f.outcome is None]
        return [
            job for f in waiting for job in self.jobs(f) if self.result(job) is None
        ]

    def jobs(self, fixture: FixtureRecord) -> list[GameJob]:
        """Return the games of a match: one for each rotation of a duplicate."""
        seats = fixture.entrants
        games = len(seats) if self.cup.config.duplicate else 1
        return [GameJob(fixture.place, k, seats[k:] + seats[:k]) for k in range(games)]

    def _decided(self, fixture: FixtureRecord) -> FixtureRecord:
        if fixture.outcome is not None:
            return fixture
        outcome = settled(fixture, frozenset(), self.cup.config.points)
        return replace(fixture, outcome=outcome or self._judged(fixture))

    def _judged(self, fixture: FixtureRecord) -> FixtureResult | None:
        games = []
        for job in self.jobs(fixture):
            document = self.result(job)
            if document is None:
                return None
            if "result" in document:
                games.append(_in_order(fixture, job, document))
        return judge(len(fixture.entrants), games, self.cup.config.points)

    def result(self, job: GameJob) -> dict[str, Any] | None:
        """Return a game's replay, or why it is dead; None if it is to be played."""
        try:
            found = json.loads((self.path / f"{job.name}.json").read_text())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def standings(self) -> Standings:
        return Standings(self.cup.config, self.field, self.fixtures)

    def name(self, key: int) -> str:
        return self.cup.bots[key - 1].name


def _in_order(
    fixture: FixtureRecord, job: GameJob, document: dict[str, Any]
) -> GameResult:
    """Turn a replay's result from the order of seats to that of the entrants."""
    at = [job.seats.index(key) for key in fixture.entrants]
    result = document["result"]
    out = {forfeit["seat"] for forfeit in document["forfeits"]}
    return GameResult(
        tuple(result["ranks"][seat] for seat in at),
        tuple(result["scores"][seat] for seat in at),
        frozenset(k for k, seat in enumerate(at) if seat in out),
    )


def _write(path: Path, document: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(document) + "\n", encoding="utf-8")
    part.replace(path)


def play(
    folder: TournamentFolder,
    jobs: Sequence[GameJob],
    sandbox: Sandbox,
    *,
    at_once: int,
    done: Callable[[], None],
) -> None:
    """Play games, several at once; a game that we cannot play is dead, not waited for.

    ``done`` hears of each game when its file is there.
    """

    def one(job: GameJob) -> None:
        _play(folder, job, sandbox)

    with ThreadPoolExecutor(at_once) as pool:
        try:
            for _ in pool.map(one, jobs):
                done()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _play(folder: TournamentFolder, job: GameJob, sandbox: Sandbox) -> None:
    cup, path = folder.cup, folder.path / f"{job.name}.json"
    part = path.with_suffix(".part")
    hall = GameRunner(
        resolve(cup.ruleset, len(job.seats), cup.switches),
        sandbox,
        GameFiles(part, None, None, None),
        cup.limits,
    )
    # All games of a match have the same decks, so they share their seed.
    seed = f"{folder.seed}/{job.name.rpartition('-game-')[0]}"
    try:
        hall.play(job.game + 1, seed, [cup.bots[key - 1] for key in job.seats])
        part.replace(path)
    except ServiceFault as fault:
        _write(path, {"dead": str(fault)})
