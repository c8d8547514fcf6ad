"""The castles of a frame: connected blocks, and which seat leads in each of them.

`viewer/static/viewer/castles.js` computes the same for the browser.
"""

from collections.abc import Sequence
from typing import NamedTuple

SIZE = 8


class CastlePoints(NamedTuple):
    """Connected spaces with blocks. `points` has the points of each seat in it now."""

    spaces: list[int]
    points: dict[int, int]

    @property
    def leader(self) -> int | None:
        """The seat with the most points, or None if there are several or none."""
        ordered = sorted(self.points, key=lambda seat: -self.points[seat])
        if not ordered:
            return None
        tied = len(ordered) > 1 and self.points[ordered[1]] == self.points[ordered[0]]
        return None if tied else ordered[0]


def castles(
    heights: Sequence[int], knights: Sequence[Sequence[str]]
) -> list[CastlePoints]:
    """Return the castles of a position, in the order of their lowest spaces.

    `heights` has 64 numbers, a1 first. A seat gets the area of a castle times the level
    of its highest knight there (rule 55).
    """
    found: list[CastlePoints] = []
    seen: set[int] = set()
    for start, height in enumerate(heights):
        if not height or start in seen:
            continue
        spaces = [start]
        seen.add(start)
        for index in spaces:  # it grows meanwhile
            for beside in _neighbours(index):
                if heights[beside] and beside not in seen:
                    seen.add(beside)
                    spaces.append(beside)
        found.append(CastlePoints(spaces, _points(spaces, heights, knights)))
    return found


def _neighbours(index: int) -> list[int]:
    column = index % SIZE
    beside = [index - SIZE, index + SIZE]
    if column > 0:
        beside.append(index - 1)
    if column < SIZE - 1:
        beside.append(index + 1)
    return [each for each in beside if 0 <= each < SIZE * SIZE]


def _points(
    spaces: list[int], heights: Sequence[int], knights: Sequence[Sequence[str]]
) -> dict[int, int]:
    points = {}
    for seat, places in enumerate(knights):
        inside = [index for space in places if (index := number(space)) in spaces]
        if inside:
            points[seat] = len(spaces) * max(heights[index] for index in inside)
    return points


def number(space: str) -> int:
    """Return the number of a space: a1 is 0, b1 is 1, a2 is 8."""
    return "abcdefgh".index(space[0]) + SIZE * (int(space[1]) - 1)
