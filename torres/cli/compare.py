"""`torres compare`: a test of whether a new version of a bot is better.

The command plays blocks until a sequential test is sure, and then stops by itself.
`torres.rating` has the statistics; this module plays the blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import click
from rich.progress import Progress, TaskID

from engine.rulesets import MAX_SEATS, MIN_SEATS, resolve
from torres.cli.arena_options import ArenaOptions, arena_options
from torres.cli.bot_files import with_unique_names
from torres.cli.compare_report import plan_text, print_report
from torres.cli.completion import BOT
from torres.cli.game_pool import GamePool, PoolSettings
from torres.cli.local_results import LocalGame, LocalResult
from torres.cli.match import announce, warn_of_changes
from torres.cli.play import LocalBot, find_bot
from torres.cli.results_folder import ResultsFolder, default_folder
from torres.cli.terminal import progress_bar
from torres.rating.blocks import (
    GAMES,
    NEW,
    OLD,
    BlockGame,
    against_field,
    block_score,
    head_to_head,
)
from torres.rating.sprt import SequentialTest, SprtDecision
from torres.rating.version_test import VersionTest, VersionVerdict

DEAD_GAMES = 1
NOT_BETTER = 3
INTERRUPTED = 130
VERSIONS = 2
MAX_ERROR = 0.5


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """The games of all blocks. The bots are the new version, the old one, the field."""

    seats: int
    field: int
    seed: str

    def design(self, block: int) -> tuple[BlockGame, BlockGame]:
        """Return who sits where in a block, counted from 0."""
        if self.field:
            return against_field(block, self.seats, self.field)
        return head_to_head(block, self.seats)

    def games(self, block: int) -> list[LocalGame]:
        """Return the games of a block. Both have the same seed."""
        indices: dict[str | int, int] = {NEW: 0, OLD: 1}
        indices |= {k: VERSIONS + k for k in range(self.field)}
        return [
            LocalGame(
                GAMES * block + k + 1,
                f"{self.seed}/{block + 1}",
                tuple(indices[seat] for seat in game.seats),
            )
            for k, game in enumerate(self.design(block))
        ]

    def score(self, block: int, results: Sequence[LocalResult]) -> float | None:
        """Return the score of a block; None if this machine could not play it."""
        if any(result.dead for result in results):
            return None
        ranks = [result.ranks for result in results]
        return block_score(self.design(block), ranks, field=bool(self.field))


class LocalComparison:
    """The blocks that were played here, in their order, and the test on them."""

    def __init__(
        self, plan: BlockPlan, test: SequentialTest, folder: ResultsFolder
    ) -> None:
        self.plan = plan
        self.folder = folder
        self.test = VersionTest(test)
        self.scored: dict[int, float] = {}
        """The scores by block. A block that could not be played has none."""
        self.seen = 0
        """The number of blocks from the first one on that are complete."""

    def update(self, most: int, least: int) -> None:
        """Feed the test with the blocks that are complete, until it is over."""
        while not self.is_over(most, least):
            results = [
                self.folder.results.get(game.number)
                for game in self.plan.games(self.seen)
            ]
            complete = [result for result in results if result is not None]
            if len(complete) < GAMES:
                return
            score = self.plan.score(self.seen, complete)
            if score is not None:
                self.scored[self.seen] = score
                self.test.add(score)
            self.seen += 1

    def is_over(self, most: int, least: int) -> bool:
        """True if no more blocks are needed.

        The test has stopped and there are ``least`` blocks, or there are ``most``.
        """
        if most and self.seen >= most:
            return True
        return self.test.decision != SprtDecision.CONTINUE and self.seen >= least

    def missing_games(self, most: int, least: int) -> Iterator[LocalGame]:
        """Yield the games that are not played yet, block by block, until it is over."""
        block = self.seen
        while not self.is_over(most, least) and not (most and block >= most):
            for game in self.plan.games(block):
                if game.number not in self.folder.results:
                    yield game
            block += 1


def _bounds(
    context: click.Context, parameter: click.Parameter, text: str
) -> tuple[float, float]:
    """Read two numbers, the smaller one first."""
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not -1_000 <= low < high <= 1_000:
        raise click.BadParameter(
            f"{text!r}; write two numbers of nElo, the smaller one first, such as 0,50"
        )
    return low, high


@click.command(name="compare")
@click.argument("old", type=BOT, metavar="OLD")
@click.argument("new", type=BOT, metavar="NEW")
@click.option(
    "--against",
    metavar="BOT,…",
    help="Let both versions play against these bots instead of each other.",
)
@click.option(
    "--seats",
    type=click.IntRange(MIN_SEATS, MAX_SEATS),
    help="The number of seats. By default 2; with --against one for each bot.",
)
@click.option(
    "--bounds",
    default="0,50",
    show_default=True,
    metavar="LOW,HIGH",
    callback=_bounds,
    help="The effects between which the test decides, in normalised Elo.",
)
@click.option(
    "--error",
    default=0.05,
    show_default=True,
    type=click.FloatRange(0.0001, MAX_ERROR, max_open=True),
    help="The probability of a wrong answer at each bound.",
)
@click.option(
    "--blocks",
    default=0,
    type=click.IntRange(0),
    help="Play at least this number of blocks, also after the test has stopped.",
)
@click.option(
    "--max-blocks",
    default=0,
    type=click.IntRange(0),
    help="Stop after this number of blocks even if the test is undecided.",
)
@click.option("--gate", is_flag=True, help="Exit with 3 unless NEW is better.")
@arena_options
def compare(  # noqa: PLR0913 - one parameter for each option
    *,
    old: str,
    new: str,
    against: str | None,
    seats: int | None,
    bounds: tuple[float, float],
    error: float,
    blocks: int,
    max_blocks: int,
    gate: bool,
    options: ArenaOptions,
) -> int:
    """Find out whether NEW is better than OLD, and stop when that is clear.

    A block is the same deal played twice with exchanged versions (with --against: twice
    from the same seat against the same bots). Its score is 0.5 if the versions are
    equal. A sequential test (GSPRT) on the scores decides between "at most LOW" and "at
    least HIGH". It is wrong with the probability --error at each bound, and it needs
    the fewest games if the difference is large.

    The e-value is evidence that you may look at as often as you like, also after the
    test has stopped: --blocks goes on. The same command continues an interrupted test,
    and shows the result of an ended one.

    Exit codes: 0 the test ended (with --gate: NEW is better), 1 this machine could not
    play some games, 2 a bad argument, 3 NEW is not better and --gate was given, 130
    interrupted.

    \b
    Examples:
      torres compare v7.py v8.py
      torres compare v7.py v8.py --seats 4 --bounds 0,30
      torres compare v7.py v8.py --against house:climber,house:greedy
      torres compare v7.py v8.py --gate --max-blocks 500 && cp v8.py best.py
    """
    field = [word for word in (against or "").split(",") if word]
    seats = seats or (min(MAX_SEATS, len(field) + 1) if field else MIN_SEATS)
    if field and len(field) < seats - 1:
        raise click.BadParameter(
            f"{seats} seats need {seats - 1} bots, and there are {len(field)}",
            param_hint="--against",
        )
    resolve(options.rules.ruleset, seats, options.rules.switches)
    bots = _named_bots(new, old, field)
    test = SequentialTest(*bounds, alpha=error, beta=error, games_per_block=GAMES)
    identity = options.identity(bots) | {
        "seats": seats,
        "bounds": list(bounds),
        "error": error,
    }
    folder = ResultsFolder(
        options.state or default_folder("comparisons", identity), identity
    )
    settings = options.pool(bots, folder.replays)
    comparison = LocalComparison(
        BlockPlan(seats, len(field), options.seed), test, folder
    )
    announce(options, folder.path)
    if not options.as_json:
        same = identity["bots"][0]["digest"] == identity["bots"][1]["digest"]
        click.echo(plan_text(test, same=same), err=True)
    with folder.opened(fresh=options.fresh):
        folder.replays.mkdir(exist_ok=True)
        interrupted = _play(comparison, settings, options.jobs, max_blocks, blocks)
    if not interrupted:
        warn_of_changes(bots, identity)
    names = [bot.name for bot in bots]
    print_report(
        comparison.test, comparison.scored, folder, names, as_json=options.as_json
    )
    return _exit_code(comparison, interrupted=interrupted, gate=gate)


def _named_bots(new: str, old: str, field: Sequence[str]) -> list[LocalBot]:
    """Return the bots with a name of its own for each, such as "bot (new)"."""
    versions = [find_bot(new), find_bot(old)]
    if versions[0].name == versions[1].name:
        versions = [
            replace(bot, name=f"{bot.name} ({label})")
            for bot, label in zip(versions, (NEW, OLD), strict=True)
        ]
    return with_unique_names([*versions, *(find_bot(word) for word in field)])


def _play(
    comparison: LocalComparison,
    settings: PoolSettings,
    jobs: int,
    most: int,
    least: int,
) -> bool:
    """Play blocks until the test is over. Return True if the user interrupted that."""
    comparison.update(most, least)
    if comparison.is_over(most, least):
        return False
    try:
        with (
            progress_bar(counts=False) as progress,
            GamePool(settings, jobs) as pool,
        ):
            task = progress.add_task("blocks", total=None)
            _show(progress, task, comparison)
            for result in pool.play_all(comparison.missing_games(most, least)):
                comparison.folder.add(result)
                comparison.update(most, least)
                _show(progress, task, comparison)
                if comparison.is_over(most, least):
                    break
    except KeyboardInterrupt:
        return True
    return False


def _show(progress: Progress, task: TaskID, comparison: LocalComparison) -> None:
    test = comparison.test
    bounds = test.test
    position = (test.llr - bounds.lower) / (bounds.upper - bounds.lower)
    progress.update(
        task,
        description=f"{test.blocks} blocks  LLR {test.llr:+.2f}"
        f" [{bounds.lower:.2f}, {bounds.upper:.2f}]"
        f"  e-value {test.evidence().better:.3g}",
        total=100,
        completed=round(100 * min(1.0, max(0.0, position))),
    )


def _exit_code(comparison: LocalComparison, *, interrupted: bool, gate: bool) -> int:
    if interrupted:
        click.echo(
            f"torres: interrupted after {comparison.test.blocks} blocks; the same"
            " command continues",
            err=True,
        )
        return INTERRUPTED
    unplayed = comparison.seen - len(comparison.scored)
    if unplayed:
        click.echo(
            f"torres: {unplayed} blocks were left out, because this machine could not"
            " play them. The same command tries them again.",
            err=True,
        )
        return DEAD_GAMES
    if gate and comparison.test.verdict != VersionVerdict.BETTER:
        return NOT_BETTER
    return 0
