"""Blocks off the board: the supply, the stacks, left-over blocks (rules 24-28).

A seat's stacks are stored as their sizes, descending. Left-over blocks go on the other
stacks. An *outcome* is one way to distribute them: the resulting sizes, descending.
Outcomes are numbered in the ASCII order of their strings ("3,3,2").
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

from engine.moves import MAX_STACKS, NO_LIMIT
from engine.rulesets import MAX_SEATS

_SIZES = 64  # more than any stack has: two seats share at most 84 blocks
_NONE = -1
_EVERY = -2  # a value of `target`: list all outcomes

if not cython.compiled:  # pragma: no branch - C has arrays
    _ASCII = [0] * _SIZES


def _fill_tables() -> None:
    """Sort the sizes by their strings: 0, 1, 10, 11 and so on."""
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
        self.automatic = False  # are left-over blocks distributed without a decision?
        # The working data of a walk through the outcomes of one seat.
        self.base = 0  # index of the seat's first stack in `sizes`
        self.parts = 0  # number of its stacks
        self.count = 0  # outcomes met so far
        self.target = _NONE  # number of the outcome to stop at, or _EVERY
        self.listed: list[list[int]] = []
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.sizes = [0] * (MAX_SEATS * MAX_STACKS)  # by seat, descending
            self.stacks = [0] * MAX_SEATS  # their number by seat
            self.carried = [0] * MAX_SEATS
            self.result = [0] * MAX_STACKS  # the sizes of an outcome, descending

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
        for seat in range(MAX_SEATS):  # pragma: no cover - compiled code
            self.carried[seat] = other.carried[seat]
            self.stacks[seat] = other.stacks[seat]
            for i in range(seat * MAX_STACKS, seat * MAX_STACKS + other.stacks[seat]):
                self.sizes[i] = other.sizes[i]

    def deal(self, seat: int, size: int) -> None:
        """Give a seat one stack of a size."""
        i = seat * MAX_STACKS + self.stacks[seat]
        while i > seat * MAX_STACKS and self.sizes[i - 1] < size:
            self.sizes[i] = self.sizes[i - 1]
            i -= 1
        self.sizes[i] = size
        self.stacks[seat] += 1
        self.supply -= size

    def has(self, seat: int, size: int) -> bool:
        """True if a seat has another stack of that size."""
        return self._last(seat, size) >= 0

    def _last(self, seat: int, size: int) -> int:
        """Return the index of the last stack of a size, or -1."""
        i = seat * MAX_STACKS + self.stacks[seat] - 1
        while i >= seat * MAX_STACKS and self.sizes[i] < size:
            i -= 1
        if i >= seat * MAX_STACKS and self.sizes[i] == size:
            return i
        return _NONE

    def by_digits(self, rank: int) -> int:
        """Return the size with a 0-based rank in the ASCII order of sizes."""
        return _ASCII[rank]

    def take(self, seat: int, size: int) -> None:
        """Make a stack the current one."""
        i = self._last(seat, size)
        self.current = size
        self.stacks[seat] -= 1
        while i < seat * MAX_STACKS + self.stacks[seat]:
            self.sizes[i] = self.sizes[i + 1]
            i += 1

    def shrink(self, seat: int, size: int) -> None:
        """Take a block from another stack of a size."""
        self.sizes[self._last(seat, size)] -= 1

    def begin(self, seat: int, largest: bool) -> None:  # noqa: FBT001 - a switch
        """Begin a seat's turn: take its stack if there is no choice (rule 25)."""
        first = seat * MAX_STACKS
        self.current = _NONE
        if largest or self.sizes[first] == self.sizes[first + self.stacks[seat] - 1]:
            self.take(seat, self.sizes[first])

    def _select(self, seat: int) -> None:
        """Select the stacks of a seat for the methods below."""
        self.base = seat * MAX_STACKS
        self.parts = self.stacks[seat]

    def room(self) -> int:
        """Return the number of blocks that fit on the selected stacks."""
        if self.limit == NO_LIMIT:
            return NO_LIMIT if self.parts else 0
        fit = 0
        for part in range(self.parts):
            fit += self._cap(part) - self.sizes[self.base + part]
        return fit

    def _cap(self, part: int) -> int:
        return max(self.limit, self.sizes[self.base + part])

    def outcomes(self, seat: int, blocks: int) -> int:
        """Return the number of outcomes for blocks on a seat's other stacks."""
        if self.automatic or blocks == 0 or self.stacks[seat] < 2:
            return 1
        self._select(seat)
        if blocks >= self.room():
            return 1
        self.target = _NONE
        self.count = 0
        self._spread(0, blocks, _SIZES - 1)
        return self.count

    def outcome(self, seat: int, blocks: int, number: int) -> None:
        """Write the outcome with a number into `result`."""
        self._select(seat)
        for part in range(self.parts):
            self.result[part] = self.sizes[self.base + part]
        blocks = min(blocks, self.room())
        if self.automatic:
            self._fill(blocks)
        elif blocks > 0:
            self.target = number
            self.count = 0
            self._spread(0, blocks, _SIZES - 1)

    def _fill(self, blocks: int) -> None:
        """Fill the stacks from the largest down; their order stays descending."""
        for part in range(self.parts):
            more = min(blocks, self._cap(part) - self.sizes[self.base + part])
            self.result[part] = self.sizes[self.base + part] + more
            blocks -= more

    def _spread(self, part: int, blocks: int, ceiling: int) -> bool:
        """Walk through the outcomes in order; return True to stop at the target.

        Stacks before `part` are set in `result`; `blocks` are still to distribute, and
        no new size may exceed `ceiling`. Old and new sizes are both descending, and no
        new size is below the old one at its index, so that each outcome comes once.
        """
        if part == self.parts:
            if self.target == _EVERY:
                self.listed.append([self.result[i] for i in range(self.parts)])
            self.count += 1
            return self.count - 1 == self.target
        low = self.sizes[self.base + part]
        high = min(ceiling, self._cap(part), low + blocks)
        plain = high < 10  # one digit each: ASCII order is numerical order
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
        """Return how many blocks fit on the stacks after `part` up to a size."""
        fit = 0
        for other in range(part + 1, self.parts):
            fit += min(ceiling, self._cap(other)) - self.sizes[self.base + other]
        return fit

    def settle(self, seat: int, blocks: int, number: int) -> None:
        """Distribute blocks by an outcome; the rest returns to the supply (rule 27)."""
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
        self._select(seat)
        return [self.sizes[self.base + part] for part in range(self.parts)]

    def every_outcome(self, seat: int, blocks: int) -> list[list[int]]:
        """Return the sizes of each outcome, descending, by number."""
        if self.outcomes(seat, blocks) == 1:
            self.outcome(seat, blocks, 0)
            return [[self.result[part] for part in range(self.parts)]]
        self.listed = []
        self.target = _EVERY
        self._spread(0, blocks, _SIZES - 1)
        return self.listed
