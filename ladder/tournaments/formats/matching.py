"""Minimum-cost perfect matching in a general graph: who plays whom, all told.

The primal-dual method of Edmonds ("Paths, trees, and flowers", 1965; the dual
adjustments as in Galil, "Efficient algorithms for finding maximum matching in
graphs", ACM Computing Surveys 18, 1986): trees of tight edges grow from all free
vertices at once, an odd cycle is shrunk into a blossom, and when nothing is tight
any more the duals move until something is. Costs are whole numbers of any size, so
several wishes can be stacked in one number and nothing is ever rounded.

`cheapest` solves over a few promising edges first and lets the duals say which of
the others could have helped ("pricing"); where none could, the answer is the best
over all edges. A Swiss round of 500 entrants needs about 2 % of its edges.
"""

from collections import deque
from collections.abc import Sequence

Table = Sequence[Sequence[int]]
Link = tuple[int, int]

FREE, OUTER, INNER = 0, 1, 2


class NoMatching(Exception):
    """The graph has no perfect matching."""


def cheapest(table: Table, promising: Sequence[Sequence[int]]) -> list[int]:
    """Return the mate of each vertex, at the smallest total cost.

    ``table[u][v]`` is the cost of every pair, the same both ways. ``promising[v]``
    are the vertices worth trying with ``v`` first: they decide how fast the answer
    comes, never what it costs. Raises NoMatching for an odd number of vertices.
    """
    n = len(table)
    if n % 2:
        raise NoMatching(f"{n} vertices cannot all have a mate")
    edges = {(min(u, v), max(u, v)) for u in range(n) for v in promising[u]}
    edges |= {(u, u + 1) for u in range(0, n, 2)}  # so that there is a matching
    while True:
        solver = _Solver(table, edges)
        mates = solver.solve()
        missed = solver.missed(table)
        if not missed:
            return mates
        edges |= missed


class _Solver:
    """One run over a fixed set of edges.

    Nodes 0 .. n-1 are the vertices, later ones are blossoms. A blossom's children
    stand in the order of its cycle, the one with its base first; ``links[b][i]`` is
    the edge from child i to the next. Costs are taken four times, which keeps every
    dual a whole number: those of all outer vertices have the same parity.
    """

    def __init__(self, table: Table, edges: set[Link]) -> None:
        self.n = n = len(table)
        self.near: list[list[Link]] = [[] for _ in range(n)]
        for u, v in sorted(edges):
            self.near[u].append((v, 4 * table[u][v]))
            self.near[v].append((u, 4 * table[u][v]))
        self.dual = [min(c for _, c in near) // 4 * 2 for near in self.near]
        self.mate = [-1] * n
        self.top = list(range(n))
        self.base = list(range(n))
        self.parent = [-1] * n
        self.children: dict[int, list[int]] = {}
        self.links: dict[int, list[Link]] = {}
        self.z: dict[int, int] = {}
        self.label = [FREE] * n
        self.entry: dict[int, Link] = {}
        self.queue: deque[int] = deque()

    def solve(self) -> list[int]:
        self._match_greedily()
        while -1 in self.mate:
            self._stage()
        return self.mate

    def missed(self, table: Table) -> set[Link]:
        """Return the edges left out whose reduced cost is negative."""
        found: set[Link] = set()
        roots = [node for node, up in enumerate(self.parent) if up == -1]
        alive = [node for node in roots if node < self.n or node in self.children]
        waiting = [(alive, 0)]
        while waiting:
            kids, shared = waiting.pop()
            seen: list[int] = []
            for kid in kids:
                vertices = self._vertices(kid)
                for u in vertices:
                    row, mine = table[u], self.dual[u] - shared
                    for v in seen:
                        if 4 * row[v] < mine + self.dual[v]:
                            found.add((u, v) if u < v else (v, u))
                seen += vertices
                if kid >= self.n:
                    waiting.append((self.children[kid], shared + self.z[kid]))
        return found

    def _match_greedily(self) -> None:
        for v in range(self.n):
            if self.mate[v] != -1:
                continue
            for u, cost in self.near[v]:
                if self.mate[u] == -1 and cost == self.dual[u] + self.dual[v]:
                    self.mate[u], self.mate[v] = v, u
                    break

    # One stage: grow trees from every free vertex until two of them meet.

    def _stage(self) -> None:
        self.label = [FREE] * len(self.parent)
        self.entry.clear()
        for v in range(self.n):
            if self.mate[v] == -1:
                self.label[self.top[v]] = OUTER
        while True:
            self.queue = deque(
                v for v in range(self.n) if self.label[self.top[v]] == OUTER
            )
            if self._grow():
                return
            self._adjust()

    def _grow(self) -> bool:
        """Use every tight edge; True as soon as the matching has grown."""
        top, label, dual = self.top, self.label, self.dual
        while self.queue:
            v = self.queue.popleft()
            for u, cost in self.near[v]:
                other = top[u]
                if cost != dual[u] + dual[v] or other == top[v]:
                    continue
                if label[other] == FREE:
                    self._take(v, u)
                elif label[other] == OUTER and self._meet(v, u):
                    return True
        return False

    def _take(self, v: int, u: int) -> None:
        """Take the node of ``u``, and that node's mate, into the tree at ``v``."""
        inner = self.top[u]
        self.label[inner] = INNER
        self.entry[inner] = (v, u)
        outer = self.top[self.mate[self.base[inner]]]
        self.label[outer] = OUTER
        self.queue.extend(self._vertices(outer))

    def _meet(self, v: int, u: int) -> bool:
        """Two outer nodes touch: one tree makes a blossom, two make a path."""
        left, right = self._to_root(self.top[v]), self._to_root(self.top[u])
        if left[-1] != right[-1]:
            self._augment(v, u)
            return True
        while len(left) > 1 and len(right) > 1 and left[-2] == right[-2]:
            left.pop()
            right.pop()
        self._shrink(left, (v, u), right)
        return False

    def _to_root(self, node: int) -> list[int]:
        path = [node]
        while (up := self._above(path[-1])) is not None:
            path.append(self.top[up[1]])
        return path

    def _above(self, node: int) -> Link | None:
        """Return the tree edge from ``node`` to the node above it."""
        if self.label[node] == INNER:
            above, own = self.entry[node]
            return own, above
        own = self.base[node]
        return None if self.mate[own] == -1 else (own, self.mate[own])

    def _shrink(self, left: list[int], link: Link, right: list[int]) -> None:
        """Make one outer node of the cycle: both paths end at their common node."""
        b = len(self.parent)
        ups = [self._above(node) for node in left[:-1]]
        downs = [self._above(node) for node in right[:-1]]
        self.children[b] = kids = left[::-1] + right[:-1]
        self.links[b] = (
            [(up[1], up[0]) for up in reversed(ups) if up]
            + [link]
            + [down for down in downs if down]
        )
        self.parent.append(-1)
        self.base.append(self.base[left[-1]])
        self.label.append(OUTER)
        self.z[b] = 0
        for kid in kids:
            self.parent[kid] = b
            if self.label[kid] == INNER:
                self.queue.extend(self._vertices(kid))
        for vertex in self._vertices(b):
            self.top[vertex] = b

    def _vertices(self, node: int) -> list[int]:
        if node < self.n:
            return [node]
        return [v for kid in self.children[node] for v in self._vertices(kid)]

    def _augment(self, v: int, u: int) -> None:
        """Turn the path between two roots over, so that both get a mate."""
        for start, end in ((v, u), (u, v)):
            inside, mate = start, end
            while True:
                outer = self.top[inside]
                before = self.mate[self.base[outer]]
                self._rebase(outer, inside)
                self.mate[inside] = mate
                if before == -1:
                    break
                inner = self.top[before]
                mate, inside_inner = self.entry[inner]
                self._rebase(inner, inside_inner)
                self.mate[inside_inner] = mate
                inside, mate = mate, inside_inner

    def _rebase(self, node: int, v: int) -> None:
        """Rematch inside ``node`` so that ``v`` is the one without a mate there."""
        if node < self.n:
            return
        kid = v
        while self.parent[kid] != node:
            kid = self.parent[kid]
        self._rebase(kid, v)
        kids, links = self.children[node], self.links[node]
        i, k = kids.index(kid), len(kids)
        for j in range(0, i, 2) if i % 2 == 0 else range(i + 1, k, 2):
            x, y = links[j]
            self._rebase(kids[j], x)
            self._rebase(kids[(j + 1) % k], y)
            self.mate[x], self.mate[y] = y, x
        self.children[node] = kids[i:] + kids[:i]
        self.links[node] = links[i:] + links[:i]
        self.base[node] = v

    # Nothing is tight any more: move the duals.

    def _adjust(self) -> None:
        step = self._step()
        label, top = self.label, self.top
        for v in range(self.n):
            kind = label[top[v]]
            if kind == OUTER:
                self.dual[v] += step
            elif kind == INNER:
                self.dual[v] -= step
        for b in self._blossoms(OUTER):
            self.z[b] += 2 * step
        for b in self._blossoms(INNER):
            self.z[b] -= 2 * step
            if not self.z[b]:
                self._expand(b)

    def _blossoms(self, kind: int) -> list[int]:
        """Return the outermost blossoms with that label."""
        return [
            b for b in self.children if self.parent[b] == -1 and self.label[b] == kind
        ]

    def _step(self) -> int:
        """Return how far the duals can move before something becomes tight."""
        top, label, dual = self.top, self.label, self.dual
        steps = [self.z[b] // 2 for b in self._blossoms(INNER)]
        for v in range(self.n):
            here, mine = top[v], dual[v]
            if label[here] != OUTER:
                continue
            near = self.near[v]
            free = [c - dual[u] for u, c in near if label[top[u]] == FREE]
            outer = [
                c - dual[u]
                for u, c in near
                if label[top[u]] == OUTER and top[u] != here
            ]
            if free:
                steps.append(min(free) - mine)
            if outer:
                steps.append((min(outer) - mine) // 2)
        if not steps:
            raise NoMatching("some vertices cannot be reached")
        return min(steps)

    def _expand(self, b: int) -> None:
        """Open an inner blossom; the way through it stays in the tree."""
        kids, links = self.children.pop(b), self.links.pop(b)
        for kid in kids:
            self.parent[kid] = -1
            self.label[kid] = FREE
            for vertex in self._vertices(kid):
                self.top[vertex] = kid
        entry = self.entry.pop(b)
        k, i = len(kids), kids.index(self.top[entry[1]])
        back = -1 if i % 2 == 0 else 1
        while True:
            self.label[kids[i % k]] = INNER
            self.entry[kids[i % k]] = entry
            if i % k == 0:
                return
            outer = i + back
            self.label[kids[outer]] = OUTER
            i = outer + back
            entry = links[outer] if back == 1 else links[i][::-1]
