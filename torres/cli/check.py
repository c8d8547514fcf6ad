"""`torres check`: the validation of an upload at home, with causes and cures."""

import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import click

from engine.editions import DEFAULT
from torres.checking.checkup import play_at_home, play_stages, repeats
from torres.checking.files import inspect_files
from torres.checking.findings import Finding, fault
from torres.checking.forms import (
    TABLE_SIZES,
    GameForm,
    all_but_one_quick,
    covering_forms,
    every_form,
)
from torres.checking.games import CheckedGame, GameSettings
from torres.checking.judgement import NOT_REPEATABLE, has_faults, judge
from torres.checking.staging import snapshot, stage, written_files
from torres.cli.completion import BOT, HOUSE, RULESET, house_bot
from torres.common.json_object import JsonObject
from torres.common.processors import processors
from torres.common.quoting import printable
from torres.runner.compiler import BuildFailed, home_cache, prepared
from torres.runner.languages import BY_NAME, EntryNotFound, missing
from torres.runner.protocol import Limits
from torres.runner.sandbox import LEVELS, Program, Sandbox, open_sandbox, probe
from torres.upload.checks import BadArchive, NoEntry

SEED = "check"
MAX_JOBS = 16
DEFAULT_JOBS = min(processors(), MAX_JOBS)
BEST = "best"
_PASSED, _FAILED = 0, 1  # the exit codes
_MIB = 1 << 20
_LOG_LINES = 20  # of a compiler


@dataclass(slots=True)
class CheckResult:
    """The result of a check, as it is printed."""

    bot: str
    language: str = ""
    level: str = ""
    findings: list[Finding] = field(default_factory=list)
    games: list[CheckedGame] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not has_faults(self.findings)

    def document(self) -> JsonObject:
        """Return the result as `--json` prints it."""
        return {
            "bot": self.bot,
            "language": self.language,
            "sandbox": self.level,
            "passed": self.passed,
            "findings": [asdict(finding) for finding in self.findings],
            "games": [_game_document(game) for game in self.games],
        }


def _game_document(game: CheckedGame) -> JsonObject:
    memory = max(game.seen.memory, default=None)
    return {
        "ruleset": game.form.ruleset,
        "seats": game.form.seats,
        "seat": game.seat,
        "passed": game.passed,
        "answers": game.seen.answers,
        "start_ms": round(game.seen.start_ms, 1),
        "slowest_ms": round(game.seen.slowest_ms, 1),
        "move_ms": game.form.game_limits.move_ms,
        "memory_mb": None if memory is None else round(memory / _MIB, 1),
    }


@click.command()
@click.argument("bot", type=BOT)
@click.option(
    "--ruleset",
    "rulesets",
    multiple=True,
    type=RULESET,
    help="Only this ruleset. Can be repeated.",
)
@click.option(
    "--seats",
    "sizes",
    multiple=True,
    type=click.IntRange(TABLE_SIZES[0], TABLE_SIZES[-1]),
    help="Only this number of seats. Can be repeated.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Play every ruleset with every number of seats: 30 games instead of 12.",
)
@click.option(
    "--sandbox",
    "level",
    default=BEST,
    show_default=True,
    type=click.Choice([BEST, *LEVELS]),
    help="How to isolate the bot; `best` is what this machine can do.",
)
@click.option(
    "--jobs",
    default=DEFAULT_JOBS,
    show_default="the number of processors",
    type=click.IntRange(1, MAX_JOBS),
    help="The number of games to play at the same time.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(  # noqa: PLR0913 - one parameter for each option
    *,
    bot: str,
    rulesets: tuple[str, ...],
    sizes: tuple[int, ...],
    every: bool,
    level: str,
    jobs: int,
    as_json: bool,
) -> None:
    """Look for mistakes of a bot that would lose games on a ladder.

    The command reads the bot's files, builds it, and lets it play games with 2, 3 and 4
    seats and in every ruleset, as the server does with an upload. One game has the
    clock of a ladder, and the others a part of it. Each mistake is explained: its
    cause, its cure, and the evidence. The bot is copied first, so that it sees only the
    files of its upload.

    The exit code is 0 if the bot has no faults; warnings do not count. It is 1 if the
    bot has faults.

    \b
    Examples:
      torres check bot.py
      torres check my-bot/ --all
      torres check bot.zip
      torres check my-bot/ --seats 4 --ruleset devir-2017 --json
    """
    forms = all_but_one_quick(_forms(rulesets, sizes, every=every))
    for form in forms:
        _ = form.rules  # an unknown ruleset is a bad argument
    result = checked(bot, forms, level=level, jobs=jobs, quiet=as_json)
    if as_json:
        click.echo(json.dumps(result.document()))
    else:
        print_findings(result)
    sys.exit(_PASSED if result.passed else _FAILED)


def checked(
    bot: str,
    forms: Sequence[GameForm],
    *,
    level: str = BEST,
    jobs: int = DEFAULT_JOBS,
    quiet: bool = False,
) -> CheckResult:
    """Check a bot, and return what was found. Raises UsageError if a tool is missing.

    Each game is announced on stderr, unless ``quiet`` is true.
    """
    if level == BEST:
        level = probe().level
    result = CheckResult(bot, level=level)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="torres-"))
        sandbox = stack.enter_context(closing(open_sandbox(level)))  # type: ignore[arg-type]
        checker = Checker(result, sandbox, jobs, quiet=quiet)
        checker.run(_path_of(bot), Path(folder) / "bot", forms)
    return result


def _forms(
    rulesets: Sequence[str], sizes: Sequence[int], *, every: bool
) -> list[GameForm]:
    """Return the games to play; the default ruleset comes first."""
    limits = Limits()
    if not rulesets and not sizes:
        return every_form(limits) if every else covering_forms(limits)
    if not rulesets and not every:
        return [form for form in covering_forms(limits) if form.seats in sizes]
    names = rulesets or [form.ruleset for form in every_form(limits, sizes=[2])]
    return every_form(limits, dict.fromkeys(names), sizes or TABLE_SIZES)


def _path_of(bot: str) -> Path:
    return house_bot(bot.removeprefix(HOUSE)) if bot.startswith(HOUSE) else Path(bot)


class Checker:
    """One run of `torres check`: it fills a result, step by step."""

    def __init__(
        self, result: CheckResult, sandbox: Sandbox, jobs: int, *, quiet: bool
    ) -> None:
        self._result = result
        self._sandbox = sandbox
        self._jobs = jobs
        self._quiet = quiet

    def run(self, path: Path, folder: Path, forms: Sequence[GameForm]) -> None:
        """Check the bot at a path, in a copy in ``folder``. The steps end at a fault.

        1. Copy the files, and find the entry.
        2. Read the files.
        3. Build the bot, if its language needs that.
        4. Play the games, and the first one with the whole clock twice.
        5. Look for files that the bot has written.
        """
        result = self._result
        try:
            program = stage(path, folder)
        except (EntryNotFound, NoEntry) as why:
            result.findings.append(_no_entry(why))
            return
        except BadArchive as why:
            result.findings.append(_bad_archive(why))
            return
        result.language = program.language
        self._say(f"{program.entry} is a bot in {program.language}.")
        result.findings += inspect_files(program)
        if not result.passed:
            return
        built = self._built(program)
        if built is None:
            return
        before = snapshot(built.folder)
        self._play(built, forms)
        written = written_files(before, built.folder)
        if written is not None:
            result.findings.append(written)

    def _built(self, program: Program) -> Program | None:
        """Return the program ready to run; None if it does not compile."""
        packages = missing(BY_NAME[program.language])
        if packages and self._sandbox.level != "none":
            raise click.UsageError(
                f"this machine cannot build or run {program.language}; run apt-get"
                f" install {' '.join(packages)}"
            )
        try:
            return prepared(program, self._sandbox, home_cache())
        except BuildFailed as failure:
            self._result.findings.append(_no_build(failure))
            return None

    def _play(self, program: Program, forms: Sequence[GameForm]) -> None:
        settings = GameSettings(program, self._sandbox)
        play = partial(play_at_home, settings, SEED)
        games = self._result.games
        with ThreadPoolExecutor(self._jobs) as pool:
            for game in play_stages(forms, play, pool.map):
                games.append(game)
                self._say(_game_line(game))
        if games[0].seen.answers:
            self._say(_start_line(games))
        self._result.findings += judge(games)
        whole = [game for game in games if game.passed and not game.form.is_quick]
        if whole and not repeats(settings, SEED, whole[0]):
            self._result.findings.append(NOT_REPEATABLE)

    def _say(self, line: str) -> None:
        if not self._quiet:
            click.echo(line, err=True)


def _bad_archive(why: BadArchive) -> Finding:
    return fault(
        why.code,
        "A ladder refuses the archive.",
        "Correct what the evidence names, or name the folder and let `torres submit`"
        " pack it.",
        str(why),
    )


def _no_entry(why: EntryNotFound | NoEntry) -> Finding:
    return fault(
        "no-entry",
        "There is no main file that a ladder recognizes.",
        "Name the main file bot.py, bot.js, bot.cpp, …, or name it in a bot.toml.",
        str(why),
    )


def _no_build(failure: BuildFailed) -> Finding:
    lines = failure.log.splitlines()[:_LOG_LINES]
    return fault(
        "does-not-compile",
        "The compiler refuses it.",
        "Correct the first error that the compiler names.",
        "\n".join([str(failure), *lines]),
    )


def _game_line(game: CheckedGame) -> str:
    seen = game.seen
    state = "ok" if game.passed else f"FORFEIT: {game.forfeit and game.forfeit.reason}"
    return (
        f"  {game.form.name:<34} seat {game.seat}  {seen.answers:>3} answers,"
        f" slowest {seen.slowest_ms:>6.1f} of {game.form.game_limits.move_ms:>5,} ms"
        f"  {state}"
    )


def _start_line(games: Sequence[CheckedGame]) -> str:
    """Return what the slowest start cost: the time on its clock, and the memory."""
    slowest = max(games, key=lambda game: game.seen.start_ms).seen
    if not slowest.memory:
        return f"Its start costs {slowest.start_ms:.0f} ms."
    memory = slowest.memory[0] / _MIB
    return f"Its start costs {slowest.start_ms:.0f} ms and {memory:.0f} MiB of memory."


def print_findings(result: CheckResult) -> None:
    """Print the findings with causes and cures, and how many there are."""
    for finding in result.findings:
        where = f" ({finding.where})" if finding.where else ""
        click.echo(f"\n{finding.severity.upper()} {finding.code}{where}")
        click.echo(f"  {finding.cause}")
        click.echo(f"  {finding.cure}")
        for line in finding.evidence.splitlines():
            click.echo(f"    {printable(line)}")
    faults = sum(finding.severity == "fault" for finding in result.findings)
    warnings = len(result.findings) - faults
    click.echo(
        f"\n{_counted(len(result.games), 'game')}, {_counted(faults, 'fault')},"
        f" {_counted(warnings, 'warning')}"
        f" (sandbox: {result.level}, default ruleset: {DEFAULT})"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
