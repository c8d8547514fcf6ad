"""A scale for the interval bars of a leaderboard: round ticks, and positions in %."""

import math
from dataclasses import dataclass

MAX_TICKS = 6
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True)
class ScaleTick:
    """A tick at `x` percent of the width."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A range that begins and ends at a tick."""

    low: float
    high: float
    ticks: list[ScaleTick]

    def percent(self, value: float) -> float:
        """Return where a value is drawn, in percent of the width."""
        return round(100 * (value - self.low) / (self.high - self.low), 1)


def scale(low: float, high: float) -> Scale:
    """Return a scale of at most `MAX_TICKS` round steps that contains a range."""
    for step in STEPS:
        first = math.floor(low / step)
        last = max(math.ceil(high / step), first + 1)
        if last - first < MAX_TICKS:
            break
    ends = Scale(first * step, last * step, [])
    ticks = [
        ScaleTick(ends.percent(k * step), str(k * step)) for k in range(first, last + 1)
    ]
    return Scale(ends.low, ends.high, ticks)
