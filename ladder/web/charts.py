"""Compute the coordinates of a rating chart. The template writes the SVG."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# The size and the margins of the chart, in units of the SVG.
WIDTH = 640
HEIGHT = 200
LEFT = 36
RIGHT = 8
BOTTOM = 20
TOP = 8
MAX_TICKS = 7
TICK_STEPS = (1, 2, 5, 10, 20, 50, 100)


class ChartedPoint(Protocol):
    """A bot's rating after one entry of a ledger, with the kind of the entry."""

    @property
    def kind(self) -> str: ...
    @property
    def mu(self) -> float: ...
    @property
    def sigma(self) -> float: ...
    @property
    def rating(self) -> float: ...


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled horizontal line."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line where a new version of the bot started."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. `line`, `mean` and `band` are lists of points in the format of SVG.

    `line` is the rating (μ - 3σ), `mean` is μ, and `band` surrounds μ ± 3σ. `first` and
    `last` are ratings, `count` is the number of points.
    """

    line: str
    mean: str
    band: str
    ticks: list[Tick]
    marks: list[Mark]
    first: float
    last: float
    count: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


def chart(points: Sequence[ChartedPoint]) -> Chart | None:
    """Return the chart of a history; None if the history is empty."""
    if not points:
        return None
    low = min(p.rating for p in points)
    high = max(p.mu + 3 * p.sigma for p in points)

    def x(index: int) -> float:
        span = max(len(points) - 1, 1)
        return round(LEFT + index * (WIDTH - LEFT - RIGHT) / span, 1)

    def y(value: float) -> float:
        share = (value - low) / ((high - low) or 1.0)
        return float(round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1))

    upper = [(x(k), y(p.mu + 3 * p.sigma)) for k, p in enumerate(points)]
    lower = [(x(k), y(p.rating)) for k, p in enumerate(points)]
    return Chart(
        line=_path(lower),
        mean=_path([(x(k), y(p.mu)) for k, p in enumerate(points)]),
        band=_path(upper + lower[::-1]),
        ticks=[Tick(y(v), f"{v:.0f}") for v in _steps(low, high)],
        marks=[
            Mark(x(k), "new version")
            for k, p in enumerate(points)
            if p.kind == "new_version"
        ],
        first=points[0].rating,
        last=points[-1].rating,
        count=len(points),
    )


def _path(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _steps(low: float, high: float) -> list[float]:
    """Return at most MAX_TICKS round values inside a range."""
    for step in TICK_STEPS:
        first = math.ceil(low / step) * step
        count = int((high - first) // step) + 1
        if count <= MAX_TICKS:
            return [float(first + k * step) for k in range(count)]
    return [low, high]
