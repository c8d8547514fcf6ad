"""The report of `torres compare`, as text or as JSON."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from torres.cli.match_report import (
    COST_HEADS,
    cost_of,
    cost_text,
    forfeit_counts,
    forfeit_text,
    forfeits_of,
    memory_text,
    print_forfeits,
)
from torres.cli.results_folder import ResultsFolder
from torres.cli.terminal import plain_table
from torres.common.json_object import JsonObject
from torres.rating.blocks import GAMES
from torres.rating.sprt import SequentialTest
from torres.rating.version_report import (
    expected_games_left,
    odds_text,
    verdict_sentence,
    version_figures,
)
from torres.rating.version_test import VersionTest, VersionVerdict

SHOWN_BLOCKS = 3
HISTOGRAM_WIDTH = 30


def plan_text(test: SequentialTest, *, same: bool) -> str:
    """Return what the test decides, and how many games it is expected to need."""
    decision = (
        f"The test decides between an effect of at most {test.nelo0:g} nElo and one of"
        f" at least {test.nelo1:g} nElo. It is wrong in {test.alpha:.1%} of all tests"
        " there."
    )
    length = (
        f"Expected games: {test.expected_games(test.nelo0):.0f} if the effect is"
        f" {test.nelo0:g} nElo, {test.worst_expected_games:.0f} at worst (in between),"
        f" {test.expected_games(test.nelo1):.0f} if it is {test.nelo1:g} nElo."
    )
    lines = [decision, length]
    if same:
        lines.append("Both versions have the same files.")
    return "\n".join(lines)


def print_report(
    test: VersionTest,
    scored: Mapping[int, float],
    folder: ResultsFolder,
    names: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Print the state or the result of a comparison."""
    worst = sorted(scored, key=lambda block: (scored[block], block))[:SHOWN_BLOCKS]
    hurting = [block for block in worst if scored[block] < 0.5]
    if as_json:
        click.echo(json.dumps(_document(test, scored, hurting, folder)))
        return
    new, old, *_ = names
    sentence = verdict_sentence(test, new, old)
    console = Console()
    console.print(Text(sentence, style="bold"))
    console.print(_facts(test))
    console.print(_histogram(test))
    for block in hurting:
        files = " ".join(str(path) for path in _replays(folder, block))
        click.echo(f"hurt by block {block + 1} (score {scored[block]:.2f}): {files}")
    _print_costs(console, folder, names)


def _facts(test: VersionTest) -> Table:
    bounds = test.test
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("blocks", f"{test.blocks} ({GAMES * test.blocks} games)")
    table.add_row(
        "LLR",
        f"{test.llr:+.2f}, bounds {bounds.lower:.2f} and {bounds.upper:.2f}",
    )
    if test.blocks:
        effect = test.effect()
        nelo = f"; {effect.nelo:+.0f} nElo" if test.blocks >= bounds.min_blocks else ""
        table.add_row(
            "effect",
            f"{effect.score:.1%} of a block, 95 % interval {effect.low:.1%} –"
            f" {effect.high:.1%}{nelo}",
        )
        evidence = test.evidence()
        table.add_row(
            "evidence",
            f"e-value {odds_text(evidence.better)} for better,"
            f" {odds_text(evidence.worse)} for worse; interval at all times"
            f" {evidence.low:.1%} – {evidence.high:.1%}",
        )
    if test.verdict == VersionVerdict.UNDECIDED:
        table.add_row("expected", f"about {expected_games_left(test):.0f} more games")
    return table


def _histogram(test: VersionTest) -> Table:
    """Return how many blocks had each score."""
    table = plain_table("block score", "blocks", "", texts=("",))
    most = max(test.scores.values(), default=1)
    for score, blocks in sorted(test.scores.items()):
        bar = "█" * max(1, round(HISTOGRAM_WIDTH * blocks / most))
        table.add_row(f"{score:.3f}".rstrip("0").rstrip("."), str(blocks), bar)
    return table


def _print_costs(console: Console, folder: ResultsFolder, names: Sequence[str]) -> None:
    results = [result for result in folder.results.values() if not result.dead]
    table = plain_table("bot", *COST_HEADS, texts=("bot", "forfeits"))
    details: list[str] = []
    for bot, name in enumerate(names):
        cost = cost_of(bot, results)
        forfeits = forfeits_of(bot, results)
        counts = Counter(forfeit.reason for _, forfeit in forfeits)
        details += [forfeit_text(name, game, forfeit) for game, forfeit in forfeits]
        table.add_row(
            Text(name), cost_text(cost), memory_text(cost), forfeit_counts(counts)
        )
    console.print(table)
    print_forfeits(details)


def _replays(folder: ResultsFolder, block: int) -> list[Path]:
    return [folder.replays / f"game-{GAMES * block + k + 1}.json" for k in range(GAMES)]


def _document(
    test: VersionTest,
    scored: Mapping[int, float],
    hurting: Sequence[int],
    folder: ResultsFolder,
) -> JsonObject:
    document = version_figures(test)
    document["scores"] = [scored[block] for block in sorted(scored)]
    document["hurt_by"] = [
        {
            "block": block + 1,
            "score": scored[block],
            "replays": [str(path) for path in _replays(folder, block)],
        }
        for block in hurting
    ]
    return document
