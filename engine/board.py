"""The board: blocks, castles, pieces, and where each may go (rules 7-13 and 32-52).

A set of spaces is an integer with one bit for each space, bit `8 * column + row`.
Castles never merge and are never divided (rule 11), so the board stores their sets and
does not search for them. A method with the name of an action returns the set of targets
that the rule allows. The board knows neither what an action costs nor whose turn it is.

The module runs uncompiled, or compiled with the types of board.pxd. `cython.compiled`
marks the places where C needs another form than Python. The module is long because all
of a compiled class has to be in one module.
"""

try:
    import cython
except ImportError:  # pragma: no cover - depends on what is installed
    from engine.cython_fallback import cython

_ONE = 1
_ALL = 0xFFFFFFFFFFFFFFFF
_NOT_ROW_8 = 0x7F7F7F7F7F7F7F7F
_NOT_ROW_1 = 0xFEFEFEFEFEFEFEFE
_COLUMN_A = 0xFF
_ROW_1 = 0x0101010101010101
_BORDER = 0xFF818181818181FF
_LONG_DIAGONALS = 0x8142241818244281
_PAIRS = 0x5555555555555555
_FOURS = 0x3333333333333333
_BYTES = 0x0F0F0F0F0F0F0F0F
_DE_BRUIJN = 0x03F79D71B4CB0A89
_MAX_CASTLES = 32
_PLANES = 68  # an area is at most 64, and a tower is no higher than its area
_MIN_CASTLES = 6  # rule 52, MOVE_BLOCK
_NONE = -1

_MAX_CACHED_SETS = 1 << 16
_spaces_of: dict[int, list[int]] = {}  # plain source only: the spaces of a set

if not cython.compiled:  # pragma: no branch - C has arrays
    _BIT = [0] * 64
    _NEAR = [0] * 64
    _SLANT = [0] * 64
    _INDEX = [0] * 64


def lowest(spaces: int) -> int:
    """Return the first space of a set that is not empty."""
    if cython.compiled:  # pragma: no cover - the same in one multiplication
        return _INDEX[((spaces & -spaces) * _DE_BRUIJN & _ALL) >> 58]
    return (spaces & -spaces).bit_length() - 1


def near(spaces: int) -> int:
    """Return the orthogonal neighbours of a set of spaces (rules 1, 13)."""
    return (
        ((spaces << 8) & _ALL)
        | (spaces >> 8)
        | ((spaces & _NOT_ROW_8) << 1)
        | ((spaces & _NOT_ROW_1) >> 1)
    )


def flood(seed: int, inside: int) -> int:
    """Return the part of `inside` that is connected with the spaces of `seed`."""
    reached = seed & inside
    grown = (reached | near(reached)) & inside
    while grown != reached:
        reached = grown
        grown = (reached | near(reached)) & inside
    return reached


def _list_spaces(spaces: int) -> list[int]:
    """Return the spaces of a set in order, and cache them for the next moves."""
    if len(_spaces_of) >= _MAX_CACHED_SETS:  # pragma: no cover - takes many positions
        _spaces_of.clear()
    numbers = []
    rest = spaces
    while rest:
        numbers.append((rest & -rest).bit_length() - 1)
        rest &= rest - 1
    _spaces_of[spaces] = numbers
    return numbers


def _fill_tables() -> None:
    for space in range(64):
        _BIT[space] = _ONE << space
        _INDEX[(_BIT[space] * _DE_BRUIJN & _ALL) >> 58] = space
        _NEAR[space] = near(_BIT[space])
        sides = (_BIT[space] & _NOT_ROW_8) << 1 | (_BIT[space] & _NOT_ROW_1) >> 1
        _SLANT[space] = (sides << 8) & _ALL | sides >> 8


_fill_tables()


class MoveList:
    """Moves as numbers (moves.py) in the order in which they were added."""

    def __init__(self) -> None:
        self.count = 0
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.moves: list[int] = []

    def add(self, move: int) -> None:
        """Add one move."""
        if cython.compiled:  # pragma: no cover - compiled code
            self.moves[self.count] = move
        else:
            self.moves.append(move)
        self.count += 1

    def add_spaces(self, move: int, spaces: int, shift: int) -> None:
        """Add a move for each space of a set; the space goes into it at bit `shift`."""
        if cython.compiled:  # pragma: no cover - compiled code
            while spaces:
                self.moves[self.count] = move | lowest(spaces) << shift
                self.count += 1
                spaces &= spaces - 1
        else:
            numbers = _spaces_of.get(spaces)
            if numbers is None:
                numbers = _list_spaces(spaces)
            self.moves += [move | number << shift for number in numbers]
            self.count = len(self.moves)

    def at(self, index: int) -> int:
        """Return the move with an index below `count`."""
        return self.moves[index]

    def listed(self) -> list[int]:
        """Return the moves as a list."""
        if cython.compiled:  # pragma: no cover - compiled code
            return [self.moves[i] for i in range(self.count)]
        else:  # noqa: RET505 - so that Cython translates one branch only
            return self.moves


SHARED = MoveList()
"""The only list of the compiled kernel: its C array is too large for one a position."""


class Board:
    """Blocks, castles, knights and the king on 64 spaces."""

    def __init__(self) -> None:
        self.castles = 0  # their number
        self.pieces = 0
        self.king = _NONE
        self.sites_valid = False  # are `sites` and `seams` up to date?
        self.paths_valid = 0  # the spaces whose `paths` are up to date
        self.sites = 0
        self.seams = 0
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.height = [0] * 64
            self.at_least = [0] * _PLANES  # [k]: spaces with at least k blocks
            self.castle = [0] * _MAX_CASTLES
            self.skirt = [0] * _MAX_CASTLES  # the spaces next to each castle
            self.knights = [0] * 4  # by seat
            self.paths = [0] * 64
        self.at_least[0] = _ALL

    def assign(self, other: "Board") -> None:
        """Become a copy of another board."""
        self.castles = other.castles
        self.pieces = other.pieces
        self.king = other.king
        self.sites_valid = other.sites_valid
        self.paths_valid = 0  # finding a few again is cheaper than copying all
        self.sites = other.sites
        self.seams = other.seams
        if not cython.compiled:  # pragma: no branch - C has arrays
            self.height[:] = other.height
            self.at_least[:] = other.at_least
            self.castle[:] = other.castle
            self.skirt[:] = other.skirt
            self.knights[:] = other.knights
            return
        for i in range(64):  # pragma: no cover - compiled code
            self.height[i] = other.height[i]
        level = 1  # pragma: no cover
        while other.at_least[level] | self.at_least[level]:  # pragma: no cover
            self.at_least[level] = other.at_least[level]
            level += 1
        for i in range(other.castles):  # pragma: no cover
            self.castle[i] = other.castle[i]
            self.skirt[i] = other.skirt[i]
        for i in range(4):  # pragma: no cover
            self.knights[i] = other.knights[i]

    # Blocks

    def place(self, space: int) -> None:
        """Put a block on a space, under the piece if there is one.

        On bare board it extends the adjacent castle or founds one (rules 8, 44, 52).
        """
        level = self.height[space] + 1
        self.height[space] = level
        self.at_least[level] |= _BIT[space]
        if level == 1:
            number = self._castle_near(space)
            if number < 0:
                number = self.castles
                self.castle[number] = 0
                self.castles += 1
            self.castle[number] |= _BIT[space]
            self.skirt[number] = near(self.castle[number])
        self.sites_valid = False
        self.paths_valid = 0

    def move_block(self, source: int, target: int) -> None:
        """Take a block of level 1 and put it on bare board (rule 52)."""
        number = self.castle_at(source)
        self.height[source] = 0
        self.at_least[1] &= ~_BIT[source]
        self.castle[number] &= ~_BIT[source]
        self.skirt[number] = near(self.castle[number])
        if not self.castle[number]:
            self.castles -= 1
            self.castle[number] = self.castle[self.castles]
            self.skirt[number] = self.skirt[self.castles]
        self.place(target)

    def castle_at(self, space: int) -> int:
        """Return the number of the castle to which a space belongs, or -1."""
        bit = _BIT[space]
        for number in range(self.castles):
            if self.castle[number] & bit:
                return number
        return _NONE

    def _castle_near(self, space: int) -> int:
        around = _NEAR[space]
        for number in range(self.castles):
            if self.castle[number] & around:
                return number
        return _NONE

    def top(self, castle: int) -> int:
        """Return the height of a castle (rule 10). `castle` is its set of spaces."""
        level = 1
        while castle & self.at_least[level + 1]:
            level += 1
        return level

    def area(self, castle: int) -> int:
        """Return the number of spaces of a set (rule 9)."""
        if not cython.compiled:  # pragma: no branch - C has arrays
            return castle.bit_count()
        # Counted in each two bits, in each four, in each byte, and in all bytes.
        castle -= (castle >> 1) & _PAIRS  # pragma: no cover - compiled code
        castle = (castle & _FOURS) + ((castle >> 2) & _FOURS)  # pragma: no cover
        castle = (castle + (castle >> 4)) & _BYTES  # pragma: no cover
        return ((castle * _ROW_1) & _ALL) >> 56  # pragma: no cover

    def _find_sites(self) -> None:
        """Compute where castles may grow, ignoring pieces (rules 10, 11, 44-46).

        `sites` becomes the set of the towers that are lower than their castle's area
        and of the bare spaces next to exactly one castle; `seams` becomes the set of
        the bare spaces next to two or more castles.
        """
        once = 0
        twice = 0
        low = 0
        for number in range(self.castles):
            castle = self.castle[number]
            twice |= once & self.skirt[number]
            once |= self.skirt[number]
            low |= castle & ~self.at_least[self.area(castle)]
        bare = ~self.at_least[1]
        self.seams = twice & bare
        self.sites = low | (once & ~twice & bare)
        self.sites_valid = True

    def changed(self, before: "Board") -> int:
        """Return the spaces on which features of a knight may differ from `before`.

        These are the neighbours of the pieces and blocks that differ, and the castles
        whose blocks differ.
        """
        blocks = 0
        level = 1
        while self.at_least[level] | before.at_least[level]:
            blocks |= self.at_least[level] ^ before.at_least[level]
            level += 1
        spaces = near(blocks | (self.pieces ^ before.pieces))
        if blocks:
            spaces |= self._whole(blocks) | before._whole(blocks)  # noqa: SLF001
        return spaces

    def around(self, spaces: int) -> int:
        """Return the orthogonal neighbours of a set of spaces (rules 1, 13)."""
        return near(spaces)

    def lowest(self, spaces: int) -> int:
        """Return the first space of a set that is not empty."""
        return lowest(spaces)

    def block(self) -> int:
        """Return the spaces on which a block may be placed (rules 12, 44-46)."""
        if not self.sites_valid:
            self._find_sites()
        return self.sites & ~self.pieces

    def under_knight(self, seat: int) -> int:
        """Return the seat's knights under which a block may be put (rule 52)."""
        if not self.sites_valid:
            self._find_sites()
        bare = ~self.at_least[1]
        return self.knights[seat] & (self.sites | (bare & ~self.seams))

    def found(self) -> int:
        """Return the spaces for a start block: at least 3 steps from all (rule 66)."""
        crowded = self.at_least[1]
        crowded |= near(crowded)
        crowded |= near(crowded)
        return _ALL & ~(crowded | self.pieces)

    def roofs(self) -> int:
        """Return the spaces for a first knight or the king (rules 12, 17, 18, 60).

        They have a block and no piece.
        """
        return self.at_least[1] & ~self.pieces

    def loose(self) -> int:
        """Return the spaces of height 1 without a piece, for MOVE_BLOCK (rule 52)."""
        return self.at_least[1] & ~self.at_least[2] & ~self.pieces

    def move_block_from(self, source: int) -> int:
        """Return the targets for the block of a `loose` space (rules 10, 11, 52, D-19).

        Each target is judged on the final board.
        """
        number = self.castle_at(source)
        castle = self.castle[number]
        once = 0  # next to another castle
        twice = 0  # next to two others or more
        for other in range(self.castles):
            if other != number:
                twice |= once & self.skirt[other]
                once |= self.skirt[other]
        free = _ALL & ~self.at_least[1] & ~self.pieces
        rest = castle & ~_BIT[source]
        if not rest:
            targets = free & ~once
            if self.castles > _MIN_CASTLES:
                targets |= free & ~twice
            return targets
        part = flood(rest & -rest, rest)
        joining = near(part)
        divided = part != rest
        rest_of_parts = rest & ~part
        while rest_of_parts:
            part = flood(rest_of_parts & -rest_of_parts, rest_of_parts)
            joining &= near(part)
            rest_of_parts &= ~part
        targets = free & joining & ~once
        if not divided and self.top(castle) <= self.area(rest):
            targets |= free & ~joining & ~twice
        return targets

    # Knights

    def lift(self, seat: int, space: int) -> None:
        """Take a knight of a seat off the board."""
        self.knights[seat] &= ~_BIT[space]
        self.pieces &= ~_BIT[space]

    def drop(self, seat: int, space: int) -> None:
        """Put a knight of a seat on the board."""
        self.knights[seat] |= _BIT[space]
        self.pieces |= _BIT[space]

    def crown(self, space: int) -> None:
        """Put the king on a space; take it off its old space (rule 4)."""
        if self.king >= 0:
            self.pieces &= ~_BIT[self.king]
        self.king = space
        self.pieces |= _BIT[space]

    def beside(self, space: int) -> int:
        """Return the spaces for a knight next to the one on `space` (rules 32, 33)."""
        return _NEAR[space] & ~self.at_least[self.height[space] + 1] & ~self.pieces

    def add(self, seat: int) -> int:
        """Return the spaces on which a seat may add a knight (rules 32, 33)."""
        return self.regroup(seat, _NONE)

    def regroup(self, seat: int, space: int) -> int:
        """Return the targets of REGROUP for the knight on `space` (rule 52).

        They are the spaces on which a knight may be added next to another own knight.
        """
        targets = 0
        knights = self.knights[seat]
        while knights:
            other = lowest(knights)
            knights &= knights - 1
            if other != space:
                targets |= self.beside(other)
        return targets

    def step(self, space: int) -> int:
        """Return the spaces one step away, ignoring pieces (rule 35)."""
        return _NEAR[space] & ~self.at_least[self.height[space] + 2]

    def doors(self, space: int) -> int:
        """Return the spaces that doors lead to, ignoring pieces (rules 13, 38-43).

        1. Enter the rooms beside the space, on the layer above the knight's level.
        2. On each layer, from the top down, reach all connected rooms. Each room has
           exits to the adjacent spaces that are lower than its layer.
        3. On the ground layer all rooms of a castle are connected.
        """
        layer = self.height[space] + 1
        rooms = _NEAR[space] & self.at_least[layer]
        exits = 0
        if rooms:
            while layer > 1:
                rooms = flood(rooms, self.at_least[layer])
                exits |= near(rooms) & ~self.at_least[layer]
                layer -= 1
            exits |= near(self._whole(rooms)) & ~self.at_least[1]
        return exits & ~_BIT[space]

    def _whole(self, rooms: int) -> int:
        """Return all spaces of the castles to which some rooms belong."""
        castles = 0
        for number in range(self.castles):
            if self.castle[number] & rooms:
                castles |= self.castle[number]
        return castles

    def walk(self, space: int) -> int:
        """Return the targets of a move for one action point (rules 12, 35-43).

        A move is a step, or leads through the doors of one castle.
        """
        if not self.paths_valid & _BIT[space]:
            self.paths[space] = self.step(space) | self.doors(space)
            self.paths_valid |= _BIT[space]
        return self.paths[space] & ~self.pieces

    def up2(self, space: int) -> int:
        """Return the adjacent spaces exactly two levels higher (rule 52)."""
        level = self.height[space] + 2
        higher = self.at_least[level] & ~self.at_least[level + 1]
        return _NEAR[space] & higher & ~self.pieces

    def diagonal(self, space: int) -> int:
        """Return the diagonal spaces at most one level higher (rule 52)."""
        return _SLANT[space] & ~self.at_least[self.height[space] + 2] & ~self.pieces

    def jump(self, space: int) -> int:
        """Return the spaces straight behind one adjacent knight (rule 52)."""
        over = _NEAR[space] & self.pieces
        if self.king >= 0:
            over &= ~_BIT[self.king]
        behind = 0
        while over:
            knight = lowest(over)
            over &= over - 1
            # The other neighbours of that knight are `space` and two diagonal spaces.
            behind |= _NEAR[knight] & ~_SLANT[space] & ~_BIT[space]
        return behind & ~self.at_least[self.height[space] + 2] & ~self.pieces

    def door_up(self, space: int) -> int:
        """Return the targets of DOOR_UP: the knight may climb inside (rule 52)."""
        rooms = _NEAR[space] & self.at_least[self.height[space] + 1]
        castles = self._whole(rooms)
        exits = 0
        level = 1
        towers = castles
        while towers:
            exits |= near(towers) & ~self.at_least[level]
            level += 1
            towers = castles & self.at_least[level]
        return exits & ~self.pieces & ~_BIT[space]

    # Sets of spaces for scoring

    def border(self) -> int:
        """Return the 28 spaces of the border (rule 72, M1)."""
        return _BORDER

    def long_diagonals(self) -> int:
        """Return the 16 spaces of the main diagonals (rule 72, M2)."""
        return _LONG_DIAGONALS

    def line_of(self, spaces: int, across: int) -> int:
        """Return the column of the first space of a set, or its row if `across`."""
        first = lowest(spaces)
        return _ROW_1 << (first & 7) if across else _COLUMN_A << (first & 56)

    def connected(self, spaces: int) -> bool:
        """True if a set is orthogonally connected."""
        return flood(spaces & -spaces, spaces) == spaces

    def highest(self, spaces: int) -> int:
        """Return the highest level of a set of spaces (rule 7)."""
        level = 0
        while spaces & self.at_least[level + 1]:
            level += 1
        return level

    def exactly(self, level: int) -> int:
        """Return the spaces of exactly that height."""
        return self.at_least[level] & ~self.at_least[level + 1]
