"""The options that `match`, `compare` and `ladder` share: rules, limits, workers."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import Path

import click

from torres.cli.bot_files import bot_digest, with_unique_names
from torres.cli.completion import RULESET
from torres.cli.game_pool import PoolSettings
from torres.cli.local_rules import LocalRules, with_limits
from torres.cli.play import (
    LocalBot,
    PathArgument,
    find_bot,
    parse_switch,
    switch_option,
)
from torres.common.json_object import JsonObject
from torres.common.processors import processors
from torres.runner.compiler import home_cache, prepared
from torres.runner.sandbox import LEVELS, Level, open_sandbox, probe

MAX_JOBS = 64
DEFAULT_SEED = "torres"
"""A fixed seed: the same command plays the same deals, today and tomorrow."""


@dataclass(frozen=True, slots=True)
class ArenaOptions:
    """The values of the shared options."""

    rules: LocalRules
    level: Level
    jobs: int
    seed: str
    state: Path | None
    fresh: bool
    as_json: bool

    def identity(self, bots: Sequence[LocalBot]) -> JsonObject:
        """Return everything on which the results of a match depend."""
        return {
            "bots": [{"name": bot.name, "digest": bot_digest(bot)} for bot in bots],
            "ruleset": self.rules.ruleset,
            "switches": self.rules.switches,
            "limits": asdict(self.rules.limits),
            "sandbox": self.level,
            "seed": self.seed,
        }

    def pool(
        self, bots: Sequence[LocalBot], replays: Path | None, logs: Path | None = None
    ) -> PoolSettings:
        """Return the settings of a pool of these bots, which are built if necessary."""
        built = built_bots(bots, self.level)
        return PoolSettings(built, self.rules, self.level, replays, logs)


def arena_options(
    command: Callable[..., int], *, state: bool = True
) -> Callable[..., int]:
    """Add the shared options to a command, which gets them as ``options``.

    Without ``state``, the command has a folder of its own for the results.
    """

    @wraps(command)
    def with_options(  # noqa: PLR0913 - one parameter for each option
        *,
        ruleset: str | None,
        switches: tuple[str, ...],
        limits: str | None,
        ladder_url: str | None,
        level: Level | None,
        jobs: int | None,
        seed: str,
        fresh: bool,
        as_json: bool,
        state: Path | None = None,
        **others: object,
    ) -> int:
        rules = _read_ladder(ladder_url) if ladder_url else LocalRules()
        rules = replace(
            rules,
            ruleset=ruleset or rules.ruleset,
            switches=rules.switches | dict(parse_switch(text) for text in switches),
            limits=with_limits(rules.limits, limits or ""),
        )
        if level is None:
            level = probe().level if ladder_url else "none"
        jobs = jobs or min(MAX_JOBS, processors())
        options = ArenaOptions(rules, level, jobs, seed, state, fresh, as_json)
        return command(options=options, **others)

    for option in reversed(_OPTIONS):
        if state or option is not _STATE:
            with_options = option(with_options)
    return with_options


_STATE = click.option(
    "--state",
    type=PathArgument,
    metavar="DIR",
    help="The folder of the results. By default one in ~/.local/state.",
)
_OPTIONS = (
    click.option(
        "--jobs",
        type=click.IntRange(1, MAX_JOBS),
        help="The number of games at the same time. By default one for each processor.",
    ),
    click.option(
        "--ruleset",
        type=RULESET,
        help="The edition of the game (yucata); `torres rulesets` lists them.",
    ),
    switch_option,
    click.option(
        "--limits",
        metavar="NAME=VALUE,…",
        help="Change limits of the bots, for example move_ms=500,bank_ms=0.",
    ),
    click.option(
        "--ladder",
        "ladder_url",
        metavar="URL",
        help="Take rules and limits from a ladder of a server, and the strongest"
        " sandbox of this machine.",
    ),
    click.option(
        "--sandbox",
        "level",
        type=click.Choice(LEVELS),
        help="How to isolate the bots (none); `torres doctor` tests the levels.",
    ),
    click.option(
        "--seed",
        default=DEFAULT_SEED,
        show_default=True,
        help="The seed from which the deals follow. Another seed gives other deals.",
    ),
    _STATE,
    click.option("--fresh", is_flag=True, help="Delete earlier results, begin anew."),
    click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs."),
)


def _read_ladder(url: str) -> LocalRules:
    """Return the rules of a ladder. The HTTP client is slow to import, so do it now."""
    rules: LocalRules = import_module("torres.cli.ladder_rules").read_ladder(url)
    return rules


def find_bots(arguments: Sequence[str]) -> list[LocalBot]:
    """Return the bots that arguments name, with a name of its own for each."""
    return with_unique_names([find_bot(argument) for argument in arguments])


def built_bots(bots: Sequence[LocalBot], level: Level) -> tuple[LocalBot, ...]:
    """Compile the bots that need it, in a sandbox of this level."""
    if not any(bot.program.compile for bot in bots):
        return tuple(bots)
    with closing(open_sandbox(level)) as sandbox:
        return tuple(
            replace(bot, program=prepared(bot.program, sandbox, home_cache()))
            for bot in bots
        )


def changed_bots(bots: Sequence[LocalBot], identity: JsonObject) -> list[str]:
    """Return the names of the bots whose files changed since the match began."""
    return [
        bot.name
        for bot, stored in zip(bots, identity["bots"], strict=True)
        if bot_digest(bot) != stored["digest"]
    ]
