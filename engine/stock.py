"""Blocks off the board: the supply, the stacks, what is left over (rules 24-28).

A seat's stacks are kept as their sizes, descending. Left-over blocks go on the
other stacks; the ways in which they can are its *outcomes*, numbered in the ASCII order
of their sizes ("3,3,2"), descending.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from engine.moves import MAX_STACKS, NO_LIMIT
from engine.rulesets import MAX_SEATS

_SIZES = 64  # sizes are below 42: two seats share 84 blocks, less one for each extra
_NONE = -1
_EVERY = -2

if not cython.compiled:  # pragma: no branch - C has arrays
    _ASCII = [0] * _SIZES


def _fill_tables() -> None:
    """Order the sizes by their digits: 0, 1, 10, 11 and so on."""
    ranked = sorted(range(_SIZES), key=str)
    for rank in range(_SIZES):
        _ASCII[rank] = ranked[rank]


_fill_tables()


class Stock:
    """The supply, the stacks by seat, the current stack, and the carried blocks."""

    def __init__(self) -> None:
        self.supply = 0
        self.current = _NONE  # blocks left on the current stack, or -1
        self.limit = NO_LIMIT
        self.automatic = False  # do left-over blocks go on by themselves?
        self.base = 0  # of the stacks looked at, and how many they are
        self.parts = 0
        self.seen = 0
        self.wanted = _NONE
        self.found: list[list[int]] = []
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.sizes = [0] * (MAX_SEATS * MAX_STACKS)  # by seat, descending
            self.stacks = [0] * MAX_SEATS  # how many
            self.carried = [0] * MAX_SEATS
            self.result = [0] * MAX_STACKS  # the outcome asked for, descending

    def assign(self, other: "Stock") -> None:
        """Become a copy of another stock."""
        self.supply = other.supply
        self.current = other.current
        self.limit = other.limit
        self.automatic = other.automatic
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.sizes[:] = other.sizes
            self.stacks[:] = other.stacks
            self.carried[:] = other.carried
            return
        for seat in range(MAX_SEATS):  # pragma: no cover - the compiled twin
            self.carried[seat] = other.carried[seat]
            self.stacks[seat] = other.stacks[seat]
            for i in range(seat * MAX_STACKS, seat * MAX_STACKS + other.stacks[seat]):
                self.sizes[i] = other.sizes[i]

    def deal(self, seat: int, size: int) -> None:
        """Give a seat one stack of a size."""
        place = seat * MAX_STACKS + self.stacks[seat]
        while place > seat * MAX_STACKS and self.sizes[place - 1] < size:
            self.sizes[place] = self.sizes[place - 1]
            place -= 1
        self.sizes[place] = size
        self.stacks[seat] += 1
        self.supply -= size

    def has(self, seat: int, size: int) -> bool:
        """Whether a seat has another stack of that size."""
        return self._last(seat, size) >= 0

    def _last(self, seat: int, size: int) -> int:
        """Return the place of the last stack of a size, or -1."""
        place = seat * MAX_STACKS + self.stacks[seat] - 1
        while place >= seat * MAX_STACKS and self.sizes[place] < size:
            place -= 1
        if place >= seat * MAX_STACKS and self.sizes[place] == size:
            return place
        return _NONE

    def by_digits(self, rank: int) -> int:
        """Return the size at a place in the ASCII order of sizes."""
        return _ASCII[rank]

    def take(self, seat: int, size: int) -> None:
        """Make a stack the current one."""
        place = self._last(seat, size)
        self.current = size
        self.stacks[seat] -= 1
        while place < seat * MAX_STACKS + self.stacks[seat]:
            self.sizes[place] = self.sizes[place + 1]
            place += 1

    def shrink(self, seat: int, size: int) -> None:
        """Take a block from another stack of that size."""
        self.sizes[self._last(seat, size)] -= 1

    def begin(self, seat: int, largest: bool) -> None:  # noqa: FBT001 - a switch
        """Take the turn's stack where there is nothing to choose."""
        first = seat * MAX_STACKS
        self.current = _NONE
        if largest or self.sizes[first] == self.sizes[first + self.stacks[seat] - 1]:
            self.take(seat, self.sizes[first])

    def _look(self, seat: int) -> None:
        """Turn to a seat's stacks, whose outcomes are asked for."""
        self.base = seat * MAX_STACKS
        self.parts = self.stacks[seat]

    def room(self) -> int:
        """How many blocks fit on the stacks looked at."""
        if self.limit == NO_LIMIT:
            return NO_LIMIT if self.parts else 0
        fit = 0
        for part in range(self.parts):
            fit += self._cap(part) - self.sizes[self.base + part]
        return fit

    def _cap(self, part: int) -> int:
        return max(self.limit, self.sizes[self.base + part])

    def outcomes(self, seat: int, blocks: int) -> int:
        """Count the ways in which blocks can go on a seat's other stacks."""
        if self.automatic or blocks == 0 or self.stacks[seat] < 2:
            return 1
        self._look(seat)
        if blocks >= self.room():
            return 1
        self.wanted = _NONE
        self.seen = 0
        self._spread(0, blocks, _SIZES - 1)
        return self.seen

    def outcome(self, seat: int, blocks: int, number: int) -> None:
        """Write the sizes of one outcome into `result`, descending."""
        self._look(seat)
        for part in range(self.parts):
            self.result[part] = self.sizes[self.base + part]
        blocks = min(blocks, self.room())
        if self.automatic:
            self._fill(blocks)
        elif blocks > 0:
            self.wanted = number
            self.seen = 0
            self._spread(0, blocks, _SIZES - 1)

    def _fill(self, blocks: int) -> None:
        """Fill from the largest down, as far as there is room; that keeps the order."""
        for part in range(self.parts):
            more = min(blocks, self._cap(part) - self.sizes[self.base + part])
            self.result[part] = self.sizes[self.base + part] + more
            blocks -= more

    def _spread(self, part: int, blocks: int, ceiling: int) -> bool:
        """Walk the outcomes in order; stop with True at the wanted one.

        The new sizes, descending, are those that are nowhere smaller than the old
        sizes, descending: so each outcome comes once.
        """
        if part == self.parts:
            if self.wanted == _EVERY:
                self.found.append([self.result[i] for i in range(self.parts)])
            self.seen += 1
            return self.seen - 1 == self.wanted
        low = self.sizes[self.base + part]
        high = min(ceiling, self._cap(part), low + blocks)
        plain = high < 10
        for rank in range(low, high + 1) if plain else range(_SIZES):
            size = rank if plain else _ASCII[rank]
            if not low <= size <= high:
                continue
            more = size - low
            if blocks - more > self._room_below(part, size):
                continue
            self.result[part] = size
            if self._spread(part + 1, blocks - more, size):
                return True
        return False

    def _room_below(self, part: int, ceiling: int) -> int:
        """How many blocks fit on the smaller stacks if none exceeds a size."""
        fit = 0
        for other in range(part + 1, self.parts):
            fit += min(ceiling, self._cap(other)) - self.sizes[self.base + other]
        return fit

    def settle(self, seat: int, blocks: int, number: int) -> None:
        """Put blocks on a seat's other stacks; what does not fit is supply again."""
        self.outcome(seat, blocks, number)
        before = 0
        after = 0
        for part in range(self.parts):
            before += self.sizes[self.base + part]
            after += self.result[part]
            self.sizes[self.base + part] = self.result[part]
        self.supply += blocks - (after - before)

    def others(self, seat: int) -> list[int]:
        """Return the sizes of a seat's other stacks, descending."""
        self._look(seat)
        return [self.sizes[self.base + part] for part in range(self.parts)]

    def every_outcome(self, seat: int, blocks: int) -> list[list[int]]:
        """Return the sizes of each outcome, descending, by number."""
        if self.outcomes(seat, blocks) == 1:
            self.outcome(seat, blocks, 0)
            return [[self.result[part] for part in range(self.parts)]]
        self.found = []
        self.wanted = _EVERY
        self._spread(0, blocks, _SIZES - 1)
        return self.found
