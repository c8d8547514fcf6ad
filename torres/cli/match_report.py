"""The reports of `torres match` and `torres play`, as text or as JSON.

There is a row for each bot, and `torres play` has a line for each game, too.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, stdev

import click
from rich.table import Table
from rich.text import Text

from torres.cli.local_results import LocalForfeit, LocalResult
from torres.cli.terminal import plain_table
from torres.common.json_object import JsonObject
from torres.rating.betting import confidence_sequence
from torres.rating.blocks import beaten_share

MIB = 1 << 20
SHOWN_FORFEITS = 5
COST_HEADS = ("ms mean/p99/max", "MiB", "forfeits")
MIN_DEALS = 3  # for the deviation of the points


@dataclass(frozen=True, slots=True)
class DecisionCost:
    """The cost of the decisions of a bot: charged ms, and peak memory in bytes."""

    decisions: int = 0
    mean_ms: float = 0.0
    p99_ms: float = 0.0
    max_ms: float = 0.0
    peak_memory: int | None = None


@dataclass(frozen=True, slots=True)
class BotSummary:
    """The results of one bot in a match.

    ``score`` is the mean share of opponents beaten, and ``points`` the mean number of
    points, each with the ends of its 95 % interval. ``points_low`` and ``points_high``
    are None if there are too few deals.
    """

    name: str
    games: int
    wins: int
    score: float
    score_low: float
    score_high: float
    points: float
    points_low: float | None
    points_high: float | None
    cost: DecisionCost
    forfeits: Counter[str]
    details: tuple[str, ...]

    def document(self) -> JsonObject:
        """Return the summary as `--json` prints it."""
        return {
            "bot": self.name,
            "games": self.games,
            "wins": self.wins,
            "win_rate": self.wins / self.games if self.games else None,
            "score": self.score,
            "score_interval": [self.score_low, self.score_high],
            "points": self.points,
            "points_interval": [self.points_low, self.points_high],
            "decisions": self.cost.decisions,
            "ms_mean": round(self.cost.mean_ms, 2),
            "ms_p99": self.cost.p99_ms,
            "ms_max": self.cost.max_ms,
            "memory_peak": self.cost.peak_memory,
            "forfeits": dict(self.forfeits),
        }


def summaries(names: Sequence[str], results: Sequence[LocalResult]) -> list[BotSummary]:
    """Return a summary of each bot, in the order of the names."""
    return [_summary(bot, name, results) for bot, name in enumerate(names)]


def _summary(bot: int, name: str, results: Sequence[LocalResult]) -> BotSummary:
    """Return the summary of the bot with this index.

    The intervals count deals, because the games of a deal are not independent.
    """
    seats = seats_of(bot, results)
    scores = [beaten_share(result.ranks, seat) for result, seat in seats]
    points = [float(result.scores[seat]) for result, seat in seats]
    deals = [result.seed for result, _ in seats]
    deal_scores = _means(deals, scores)
    low, high = confidence_sequence(Counter(deal_scores))
    points_low, points_high = _points_interval(_means(deals, points))
    forfeits = forfeits_of(bot, results)
    return BotSummary(
        name=name,
        games=len(seats),
        wins=sum(result.ranks[seat] == 1 for result, seat in seats),
        score=mean(scores) if scores else 0.5,
        score_low=low,
        score_high=high,
        points=mean(points) if points else 0.0,
        points_low=points_low,
        points_high=points_high,
        cost=cost_of(bot, results),
        forfeits=Counter(forfeit.reason for _, forfeit in forfeits),
        details=tuple(forfeit_text(name, game, f) for game, f in forfeits),
    )


def seats_of(bot: int, results: Iterable[LocalResult]) -> list[tuple[LocalResult, int]]:
    """Return each game with each seat that the bot has there."""
    return [
        (result, seat)
        for result in results
        for seat, seated in enumerate(result.bots)
        if seated == bot
    ]


def forfeits_of(
    bot: int, results: Iterable[LocalResult]
) -> list[tuple[int, LocalForfeit]]:
    """Return the forfeits of a bot, each with the number of its game."""
    return [
        (result.game, forfeit)
        for result, seat in seats_of(bot, results)
        for forfeit in result.forfeits
        if forfeit.seat == seat
    ]


def forfeit_text(name: str, game: int, forfeit: LocalForfeit) -> str:
    """Return one line that says when and why a bot forfeited."""
    return (
        f"game {game}: {name} forfeits before move {forfeit.before_move}:"
        f" {forfeit.reason}: {forfeit.detail}"
    )


def json_line(result: LocalResult) -> str:
    """Return a game as one line of JSON (docs/contract.md, section 9)."""
    keys = ("seed", "scores", "ranks", "forfeits", "reason")
    outcome = result.outcome()
    return json.dumps({key: outcome[key] for key in keys})


def game_lines(result: LocalResult, names: Sequence[str]) -> list[str]:
    """Return the lines of a game: the scores, then one line for each forfeit.

    ``names`` are by seat.
    """
    seats = "   ".join(
        f"{'*' if rank == 1 else ' '}{name} {score}"
        for name, score, rank in zip(names, result.scores, result.ranks, strict=True)
    )
    lines = [f"game {result.game:>3}  {seats}   (seed {result.seed})"]
    lines += [
        f"          {names[f.seat]} (seat {f.seat}) forfeits before move "
        f"{f.before_move}: {f.reason}: {f.detail}"
        for f in result.forfeits
    ]
    return lines


def _means(deals: Iterable[str], values: Iterable[float]) -> list[float]:
    """Return the mean value of each deal."""
    by_deal: dict[str, list[float]] = {}
    for deal, value in zip(deals, values, strict=True):
        by_deal.setdefault(deal, []).append(value)
    return [mean(found) for found in by_deal.values()]


def _points_interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Return the 95 % interval of the mean of all deals, by Student's t."""
    if len(values) < MIN_DEALS:
        return None, None
    margin = _student_975(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return mean(values) - margin, mean(values) + margin


def _student_975(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t, from 2 degrees of freedom on.

    Expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5); its error is below
    3.5 %, and below 0.1 % from 6 degrees on.
    """
    z = NormalDist().inv_cdf(0.975)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


def cost_of(bot: int, results: Iterable[LocalResult]) -> DecisionCost:
    """Return what the decisions of a bot cost in all games."""
    seats = seats_of(bot, results)
    times = sorted(ms for result, seat in seats for ms in result.ms[seat])
    peaks = [peak for result, seat in seats if (peak := result.memory[seat])]
    peak_memory = max(peaks, default=None)
    if not times:
        return DecisionCost(peak_memory=peak_memory)
    p99 = times[math.ceil(0.99 * len(times)) - 1]
    return DecisionCost(len(times), mean(times), p99, times[-1], peak_memory)


def cost_text(cost: DecisionCost) -> str:
    """Return the mean, the 99th percentile and the longest of the decisions, in ms."""
    return f"{cost.mean_ms:.1f}/{cost.p99_ms:.0f}/{cost.max_ms:.0f}"


def memory_text(cost: DecisionCost) -> str:
    """Return the peak memory in MiB."""
    return "–" if cost.peak_memory is None else f"{cost.peak_memory / MIB:.0f}"


def forfeit_counts(forfeits: Counter[str]) -> str:
    """Return the number of forfeits by reason."""
    counts = [f"{n} × {reason}" for reason, n in sorted(forfeits.items())]
    return ", ".join(counts) or "–"


def print_forfeits(details: Sequence[str]) -> None:
    """Print the first forfeits, and how many there are besides."""
    for detail in details[:SHOWN_FORFEITS]:
        click.echo(detail)
    if len(details) > SHOWN_FORFEITS:
        click.echo(f"… and {len(details) - SHOWN_FORFEITS} other forfeits")


def summary_line(rows: Sequence[BotSummary], played: int, games: int) -> str:
    """Return the last line of `--json`."""
    bots = [row.document() for row in rows]
    return json.dumps({"summary": {"played": played, "games": games, "bots": bots}})


def match_table(rows: Sequence[BotSummary]) -> Table:
    """Return the table of a match, the best score first."""
    heads = ("bot", "won", "score (95 %)", "points", *COST_HEADS)
    table = plain_table(*heads, texts=("bot", "forfeits"))
    for row in sorted(rows, key=lambda row: -row.score):
        margin = None if row.points_high is None else row.points_high - row.points
        table.add_row(
            Text(row.name),
            f"{row.wins}/{row.games}",
            f"{row.score:.1%} ({row.score_low:.0%}–{row.score_high:.0%})",
            f"{row.points:.1f}" + ("" if margin is None else f" ± {margin:.1f}"),
            cost_text(row.cost),
            memory_text(row.cost),
            forfeit_counts(row.forfeits),
        )
    return table
