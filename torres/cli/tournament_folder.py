"""A tournament in a folder: what `torres tournament` reads, plays and resumes.

The replays in the folder are the whole state. After each round of games the file, the
replays and the plan (`torres.formats.plan`) determine which games come
next, so a run that was killed resumes with the game that was running. The seed of each
game follows from the tournament's seed and the game's place in the schedule.
"""

import json
import secrets
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import click

from engine.referee import ServiceFault
from engine.rulesets import MIN_SEATS, resolve
from torres.cli.bot_files import bot_digest, with_unique_names
from torres.cli.local_results import LocalGame
from torres.cli.play import GameFiles, GameRunner, LocalBot, find_bot
from torres.common.documents import DocumentReader
from torres.common.errors import LadderError
from torres.common.json_object import JsonObject
from torres.common.quoting import quoted
from torres.common.whole_file import write_whole
from torres.formats.config import BadConfig, Config, max_entrants, read_config
from torres.formats.plan import plan_fixtures
from torres.formats.standings import Standings
from torres.formats.values import (
    FixtureKey,
    FixtureRecord,
    FixtureResult,
    GameResult,
    SeededEntrant,
    effective_result,
    match_result,
)
from torres.rating.description import rules_problems
from torres.runner.compiler import home_cache, prepared
from torres.runner.limits import read_limits
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox

OWN_KEYS = ("name", "bots", "entrants", "ruleset", "switches", "seed", "limits")
"""The keys of the file that are not part of the format (`Config`)."""
SERVICE_KEYS = (
    *("slug", "seeding", "must_check_in", "entries_per_owner", "held_back"),
    *("opens_at", "closes_at", "starts_at"),
)
"""Keys that only a service knows; `ladder.tournaments.document` reads them."""
IDENTITY_FILE = "tournament.json"
MIN_ENTRANTS = 2


@dataclass(frozen=True, slots=True)
class LocalTournament:
    """A tournament as its file describes it. The bots are in the order of the seeds."""

    name: str
    config: Config
    bots: tuple[LocalBot, ...]
    ruleset: str
    switches: JsonObject
    limits: Limits
    seed: str | None

    def identity(self, seed: str) -> JsonObject:
        """Return everything that must stay the same when the tournament resumes."""
        return {
            "seed": seed,
            "ruleset": self.ruleset,
            "switches": self.switches,
            "limits": asdict(self.limits),
            "config": json.loads(json.dumps(asdict(self.config), default=str)),
            "bots": [
                {"name": bot.name, "digest": bot_digest(bot)} for bot in self.bots
            ],
        }


def load(file: Path) -> LocalTournament:
    """Read the file of a tournament. Raises BadParameter with what is wrong."""
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.BadParameter(f"{file}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{file}: {error}") from error
    format_keys = {k: value for k, value in document.items() if k not in OWN_KEYS}
    try:
        _refuse_service_keys(document)
        config = read_config(format_keys)
        ruleset = _text(document, "ruleset", "yucata")
        switches = _table(document, "switches")
        sizes = range(MIN_SEATS, config.seats + 1)
        if problems := rules_problems(ruleset, switches, sizes):
            raise BadConfig(problems[0])
        limits = read_limits(_table(document, "limits"), partial=True)
        bots = _bots(document, file.parent, max_entrants(config))
        name = _name(document, file.stem)
        seed = _text(document, "seed", "")
    except LadderError as error:
        raise click.BadParameter(f"{file}: {error}") from error
    return LocalTournament(name, config, bots, ruleset, switches, limits, seed or None)


def _refuse_service_keys(document: JsonObject) -> None:
    for key in SERVICE_KEYS:
        if key in document:
            raise BadConfig(
                f"{key}: {quoted(document[key])}; only a service knows this key, and"
                " here the tournament begins at once. Remove it"
            )


def _name(document: JsonObject, default: str) -> str:
    reader = DocumentReader(document, is_new=False)
    reader.read_name()
    if reader.mistakes:
        raise BadConfig(reader.mistakes[0])
    return str(reader.fields.get("name", default))


def _text(document: JsonObject, name: str, default: str) -> str:
    value = document.get(name, default)
    if not isinstance(value, str | int):
        raise BadConfig(f"{name}: {value!r}; it must be a text")
    return str(value)


def _table(document: JsonObject, name: str) -> JsonObject:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise BadConfig(f"{name}: {value!r}; it must be a table: [{name}]")
    return value


def _bots(document: JsonObject, home: Path, most: int) -> tuple[LocalBot, ...]:
    """Return the entrants in the order of their seeds.

    First those that ``entrants`` lists, in that order. Then the other files and folders
    in the folder ``bots``, by name. Relative paths start at ``home``. ``most`` is the
    largest number of entrants of the format.
    """
    listed = document.get("entrants", [])
    if not isinstance(listed, list) or not all(isinstance(e, str) for e in listed):
        raise BadConfig(
            f"entrants: {quoted(listed)}; it must be a list of files, folders and"
            " house:NAME"
        )
    _check_count(len(listed), 0, most)
    bots = [_entrant(entry, home) for entry in listed]
    if "bots" in document:
        folder = home / _text(document, "bots", "")
        if not folder.is_dir():
            raise BadConfig(f"bots: there is no folder {folder}")
        known = {(bot.program.folder, bot.program.entry) for bot in bots}
        bots += [
            bot
            for bot in _bots_in(folder)
            if (bot.program.folder, bot.program.entry) not in known
        ]
    _check_count(len(bots), MIN_ENTRANTS, most)
    return tuple(with_unique_names(bots))


def _check_count(count: int, least: int, most: int) -> None:
    """Refuse too few or too many entrants, before many files are read."""
    if count < least:
        raise BadConfig(
            f"entrants: {count}; a tournament needs at least {least}: list more in"
            " entrants, or put more into the folder bots"
        )
    if count > most:
        raise BadConfig(
            f"entrants: {count} bots; this format allows at most {most}. A Swiss allows"
            " more"
        )


def _entrant(entry: str, home: Path) -> LocalBot:
    """Return a bot that the file lists. Raises BadConfig."""
    try:
        return find_bot(entry if entry.startswith("house:") else str(home / entry))
    except (LadderError, ValueError) as error:
        raise BadConfig(f"entrants: {quoted(entry)}: {error}") from error
    except click.BadParameter as error:
        raise BadConfig(f"entrants: {error.message}") from error


def _bots_in(folder: Path) -> list[LocalBot]:
    """Return all bots in a folder. Names that start with a dot or _ are not bots."""
    paths = sorted(p for p in folder.iterdir() if not p.name.startswith((".", "_")))
    return [find_bot(str(path)) for path in paths]


@dataclass(frozen=True, slots=True)
class GameJob:
    """One game to play. ``game`` counts from 0; ``seats`` are the entrants' keys."""

    fixture: FixtureKey
    game: int
    seats: tuple[int, ...]

    @property
    def match_name(self) -> str:
        key = self.fixture
        pool = f"-pool-{key.pool}" if key.pool else ""
        return f"round-{key.round}{pool}-table-{key.table + 1}{self._leg}"

    @property
    def round_name(self) -> str:
        """The matches that may share a deal have the same name."""
        return f"round-{self.fixture.round}{self._leg}"

    @property
    def _leg(self) -> str:
        return f"-leg-{self.fixture.leg + 1}" if self.fixture.leg else ""

    @property
    def name(self) -> str:
        return f"{self.match_name}-game-{self.game + 1}"


class TournamentFolder:
    """The replays of one tournament, and the fixtures that follow from them."""

    def __init__(self, path: Path, tournament: LocalTournament) -> None:
        self.path = path
        self.tournament = tournament
        self.seed = ""
        self.fixtures: list[FixtureRecord] = []
        self.entrants = [
            SeededEntrant(key, key) for key in range(1, len(tournament.bots) + 1)
        ]
        self.over = False
        self.built_bots: Sequence[LocalBot] = tournament.bots

    def build(self, sandbox: Sandbox) -> None:
        """Compile the bots that need it, as `torres play` does. Raises BuildFailed."""
        cache = home_cache()
        self.built_bots = [
            replace(bot, program=prepared(bot.program, sandbox, cache))
            for bot in self.tournament.bots
        ]

    def open(self) -> None:
        """Create the folder, or check that it belongs to this tournament.

        Raises BadParameter.
        """
        file = self.path / IDENTITY_FILE
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            stored = json.loads(file.read_text()) if file.exists() else None
        except (OSError, ValueError) as error:
            raise click.BadParameter(f"{file}: {error}") from error
        if stored is not None and (type(stored) is not dict or "seed" not in stored):
            raise click.BadParameter(
                f"{file} was not written by this command. Name another folder with"
                " --replays"
            )
        seed = stored["seed"] if stored else secrets.token_hex(16)
        self.seed = str(self.tournament.seed or seed)
        identity = self.tournament.identity(self.seed)
        if stored is None:
            _write(file, identity)
        elif stored != identity:
            changed = [k for k in identity if identity[k] != stored.get(k)]
            raise click.BadParameter(
                f"{self.path} holds a tournament with different {', '.join(changed)};"
                " choose another folder with --replays, or undo the change"
            )

    def next_jobs(self) -> list[GameJob]:
        """Read the new replays, and return the games that can be played now.

        No job is left if the tournament is over.
        """
        while True:
            self.fixtures = [self._with_result(fixture) for fixture in self.fixtures]
            plan = plan_fixtures(self.tournament.config, self.entrants, self.fixtures)
            self.over = plan.over
            if not plan.next_fixtures:
                break
            self.fixtures += plan.next_fixtures
        return [
            job
            for fixture in self.fixtures
            if fixture.result is None
            for job in self.jobs(fixture)
            if self.read_game(job) is None
        ]

    def jobs(self, fixture: FixtureRecord) -> list[GameJob]:
        """Return the games of a match: one for each rotation if it is a duplicate."""
        seats = fixture.entrants
        games = len(seats) if self.tournament.config.duplicate else 1
        return [GameJob(fixture.key, k, seats[k:] + seats[:k]) for k in range(games)]

    def _with_result(self, fixture: FixtureRecord) -> FixtureRecord:
        if fixture.result is not None:
            return fixture
        result = effective_result(fixture, frozenset(), self.tournament.config.points)
        return fixture._replace(result=result or self._match_result(fixture))

    def _match_result(self, fixture: FixtureRecord) -> FixtureResult | None:
        """Return the result of a match; None if a game of it is not played yet."""
        games = []
        for job in self.jobs(fixture):
            document = self.read_game(job)
            if document is None:
                return None
            if "result" in document:
                games.append(_game_result(fixture, job, document))
        points = self.tournament.config.points
        return match_result(len(fixture.entrants), games, points)

    def read_game(self, job: GameJob) -> JsonObject | None:
        """Return the replay of a game; None if the game is not played yet.

        A dead game has an object with the key `dead` in place of a replay.
        """
        try:
            document = json.loads((self.path / f"{job.name}.json").read_text())
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else None

    def standings(self) -> Standings:
        return Standings(self.tournament.config, self.entrants, self.fixtures)

    def name(self, key: int) -> str:
        return self.tournament.bots[key - 1].name


def _game_result(
    fixture: FixtureRecord, job: GameJob, replay: JsonObject
) -> GameResult:
    """Return a replay's result in the order of the fixture's entrants."""
    seats = [job.seats.index(key) for key in fixture.entrants]
    result = replay["result"]
    forfeited = {forfeit["seat"] for forfeit in replay["forfeits"]}
    return GameResult(
        tuple(result["ranks"][seat] for seat in seats),
        tuple(result["scores"][seat] for seat in seats),
        frozenset(k for k, seat in enumerate(seats) if seat in forfeited),
    )


def _write(path: Path, document: JsonObject) -> None:
    write_whole(path, json.dumps(document) + "\n")


def play(
    folder: TournamentFolder,
    jobs: Sequence[GameJob],
    sandbox: Sandbox,
    *,
    at_once: int,
    done: Callable[[], None],
) -> None:
    """Play games, ``at_once`` at the same time; call ``done`` after each one.

    A game that this machine cannot play is dead: the tournament goes on without it.
    """

    def play_job(job: GameJob) -> None:
        _play(folder, job, sandbox)

    with ThreadPoolExecutor(at_once) as pool:
        try:
            for _ in pool.map(play_job, jobs):
                done()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _play(folder: TournamentFolder, job: GameJob, sandbox: Sandbox) -> None:
    tournament = folder.tournament
    path = folder.path / f"{job.name}.json"
    draft = path.with_suffix(".part")
    runner = GameRunner(
        resolve(tournament.ruleset, len(job.seats), tournament.switches),
        sandbox,
        GameFiles(draft, None, None, None),
        tournament.limits,
    )
    # All games of a match have the same decks, so they share their seed.
    is_shared = tournament.config.shared_deals
    seed = f"{folder.seed}/{job.round_name if is_shared else job.match_name}"
    try:
        seats = tuple(key - 1 for key in job.seats)
        bots = [folder.built_bots[index] for index in seats]
        runner.play(LocalGame(job.game + 1, seed, seats), bots)
        draft.replace(path)
    except ServiceFault as fault:
        _write(path, {"dead": str(fault)})
