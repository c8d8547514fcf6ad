"""Compute the coordinates of a rating chart. The template writes the SVG."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

# The size and the margins of the chart, in units of the SVG.
WIDTH = 640
HEIGHT = 200
LEFT = 36
RIGHT = 8
BOTTOM = 20
TOP = 16
LABEL_WIDTH = 28
MAX_TICKS = 7
TICK_STEPS = (1, 2, 5, 10, 20, 50, 100)


class ChartedPoint(Protocol):
    """A bot's rating after one entry of a ledger.

    `submission` is the number of the upload with which the bot joined or continued.
    """

    @property
    def submission(self) -> int | None: ...
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
    """A vertical line where an upload began to play.

    Its `label` is empty if it would overlap the one to its left.
    """

    x: float
    number: int
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
        marks=_marks(
            (x(k), p.submission)
            for k, p in enumerate(points)
            if p.submission is not None
        ),
        first=points[0].rating,
        last=points[-1].rating,
        count=len(points),
    )


def _marks(starts: Iterable[tuple[float, int]]) -> list[Mark]:
    marks = []
    free = 0.0  # no label reaches beyond this
    for x, number in starts:
        has_room = x >= free
        marks.append(Mark(x, number, f"#{number}" if has_room else ""))
        if has_room:
            free = x + LABEL_WIDTH
    return marks


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
