"""Minimum-cost perfect matching in a general graph, used to pair a Swiss round.

Sources: J. Edmonds, "Paths, trees, and flowers", Canadian Journal of Mathematics 17
(1965); the dual adjustments follow Z. Galil, "Efficient algorithms for finding maximum
matching in graphs", ACM Computing Surveys 18 (1986).

The primal-dual method keeps a value (the *dual*) for each vertex and each blossom. The
bound of an edge is the sum of its ends' duals minus the duals of the blossoms that
contain both ends. An edge that costs exactly its bound is *tight*. A perfect matching
of tight edges is a cheapest one if no edge costs less than its bound.

1. Start with duals at which no edge costs less than its bound, and match along tight
   edges greedily.
2. Start a stage: every vertex without a mate is the root of a tree. Its nodes are
   *outer* at even distance from the root and *inner* at odd distance.
3. Grow the trees along tight edges from outer nodes: a matched node becomes inner, and
   its mate outer.
4. If a tight edge joins two outer nodes of the same tree, the path between them is an
   odd cycle. Shrink it into one outer node, a *blossom*, and go on with 3.
5. If a tight edge joins outer nodes of two trees, there is an augmenting path between
   the roots. Flip it, which gives both roots a mate, and go back to 2.
6. If no tight edge is left, move the duals: those of outer vertices up, those of inner
   vertices down, as far as possible until a new edge becomes tight or an inner blossom
   has to be opened again. Go on with 3.

Each stage gives two more vertices a mate, so at most n/2 stages are needed.

`cheapest_matching` first solves the problem on a few promising edges. The duals then
show which of the other edges could lower the cost (*pricing*); these are added, and the
problem is solved again until there are none. The result is a cheapest matching over all
edges. A Swiss round of 500 entrants needs about 2 % of its edges.

Why not a library: a Swiss round stacks several criteria in one cost, so costs need
exact integers of any size, and pricing needs the duals. Pairing 500 entrants takes
about 0.2 s.
"""

from collections import deque
from collections.abc import Sequence

Costs = Sequence[Sequence[int]]
"""``costs[u][v]`` is the cost of the edge between u and v; the matrix is symmetric."""
Edge = tuple[int, int]

FREE, OUTER, INNER = 0, 1, 2
"""Labels of nodes; a free node is in no tree."""


class NoMatching(Exception):
    """The graph has no perfect matching."""


def cheapest_matching(costs: Costs, promising: Sequence[Sequence[int]]) -> list[int]:
    """Return the mate of each vertex in a perfect matching of minimum total cost.

    ``promising[v]`` are the vertices to try with v first. They decide how fast the
    solution is found, but not what it costs. Raises NoMatching if the number of
    vertices is odd.
    """
    n = len(costs)
    if n % 2:
        raise NoMatching(f"{n} vertices cannot all have a mate")
    edges = {(min(u, v), max(u, v)) for u in range(n) for v in promising[u]}
    edges |= {(u, u + 1) for u in range(0, n, 2)}  # guarantee that a matching exists
    while True:
        solver = _MatchingSolver(costs, edges)
        mates = solver.solve()
        profitable = solver.profitable_edges(costs)
        if not profitable:
            return mates
        edges |= profitable


class _MatchingSolver:
    """One run over a fixed set of edges.

    Nodes 0 to n-1 are the vertices, later ones are blossoms. A blossom's children are
    in the order of its cycle, beginning with the child that contains the base, the only
    vertex that is matched outside. ``links[b][i]`` is the edge from child i to child
    i + 1, and ``top[v]`` is the outermost node that contains v.

    All costs are multiplied by four. That keeps every dual an integer, because the
    duals of all outer vertices then have the same parity.
    """

    def __init__(self, costs: Costs, edges: set[Edge]) -> None:
        self.n = n = len(costs)
        # For each vertex its neighbours, each with the cost of the edge times four.
        self.near: list[list[tuple[int, int]]] = [[] for _ in range(n)]
        for u, v in sorted(edges):
            self.near[u].append((v, 4 * costs[u][v]))
            self.near[v].append((u, 4 * costs[u][v]))
        self.dual = [min(c for _, c in near) // 4 * 2 for near in self.near]
        self.mate = [-1] * n
        self.top = list(range(n))
        self.base = list(range(n))
        self.parent = [-1] * n
        self.children: dict[int, list[int]] = {}
        self.links: dict[int, list[Edge]] = {}
        self.blossom_dual: dict[int, int] = {}
        self.label = [FREE] * n
        self.entry: dict[int, Edge] = {}  # for an inner node the edge (outer, inner)
        self.queue: deque[int] = deque()

    def solve(self) -> list[int]:
        self._match_greedily()
        while -1 in self.mate:
            self._run_stage()
        return self.mate

    def profitable_edges(self, costs: Costs) -> set[Edge]:
        """Return all edges that cost less than their bound (see the module).

        ``shared`` sums the duals of the blossoms around the nodes on the way down.
        """
        edges: set[Edge] = set()
        roots = [node for node, up in enumerate(self.parent) if up == -1]
        alive = [node for node in roots if node < self.n or node in self.children]
        stack = [(alive, 0)]
        while stack:
            nodes, shared = stack.pop()
            seen: list[int] = []
            for node in nodes:
                vertices = self._vertices(node)
                for u in vertices:
                    row = costs[u]
                    dual = self.dual[u] - shared
                    for v in seen:
                        if 4 * row[v] < dual + self.dual[v]:
                            edges.add((u, v) if u < v else (v, u))
                seen += vertices
                if node >= self.n:
                    inside = shared + self.blossom_dual[node]
                    stack.append((self.children[node], inside))
        return edges

    def _match_greedily(self) -> None:
        for v in range(self.n):
            if self.mate[v] != -1:
                continue
            for u, cost in self.near[v]:
                if self.mate[u] == -1 and cost == self.dual[u] + self.dual[v]:
                    self.mate[u] = v
                    self.mate[v] = u
                    break

    # Steps 2 to 5: grow trees from every vertex without a mate until two trees meet.

    def _run_stage(self) -> None:
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
            self._adjust_duals()

    def _grow(self) -> bool:
        """Use every tight edge; True as soon as the matching has grown."""
        top = self.top  # local names, because this loop takes most of the time
        label = self.label
        dual = self.dual
        while self.queue:
            v = self.queue.popleft()
            for u, cost in self.near[v]:
                other = top[u]
                if cost != dual[u] + dual[v] or other == top[v]:
                    continue
                if label[other] == FREE:
                    self._extend_tree(v, u)
                elif label[other] == OUTER and self._join(v, u):
                    return True
        return False

    def _extend_tree(self, v: int, u: int) -> None:
        """Add the node of ``u`` and the node of its mate to the tree of ``v``."""
        inner = self.top[u]
        self.label[inner] = INNER
        self.entry[inner] = (v, u)
        outer = self.top[self.mate[self.base[inner]]]
        self.label[outer] = OUTER
        self.queue.extend(self._vertices(outer))

    def _join(self, v: int, u: int) -> bool:
        """Join two outer nodes; True if they were in two trees, so that it augmented.

        In one tree the edge between ``v`` and ``u`` closes a cycle, which shrinks.
        """
        left = self._path_to_root(self.top[v])
        right = self._path_to_root(self.top[u])
        if left[-1] != right[-1]:
            self._augment(v, u)
            return True
        while len(left) > 1 and len(right) > 1 and left[-2] == right[-2]:
            left.pop()
            right.pop()
        self._shrink(left, (v, u), right)
        return False

    def _path_to_root(self, node: int) -> list[int]:
        path = [node]
        edge = self._edge_up(node)
        while edge is not None:
            node = self.top[edge[1]]
            path.append(node)
            edge = self._edge_up(node)
        return path

    def _edge_up(self, node: int) -> Edge | None:
        """Return the tree edge from ``node`` to its parent in the tree."""
        if self.label[node] == INNER:
            outer, own = self.entry[node]
            return own, outer
        own = self.base[node]
        return None if self.mate[own] == -1 else (own, self.mate[own])

    def _shrink(self, left: list[int], link: Edge, right: list[int]) -> None:
        """Shrink the cycle of two paths into an outer node.

        Both paths end with their common node; ``link`` joins their first nodes.
        """
        b = len(self.parent)
        up_left = [self._edge_up(node) for node in left[:-1]]
        up_right = [self._edge_up(node) for node in right[:-1]]
        self.children[b] = children = left[::-1] + right[:-1]
        self.links[b] = (
            [(up[1], up[0]) for up in reversed(up_left) if up]
            + [link]
            + [up for up in up_right if up]
        )
        self.parent.append(-1)
        self.base.append(self.base[left[-1]])
        self.label.append(OUTER)
        self.blossom_dual[b] = 0
        for child in children:
            self.parent[child] = b
            if self.label[child] == INNER:
                self.queue.extend(self._vertices(child))
        for vertex in self._vertices(b):
            self.top[vertex] = b

    def _vertices(self, node: int) -> list[int]:
        if node < self.n:
            return [node]
        return [v for child in self.children[node] for v in self._vertices(child)]

    def _augment(self, v: int, u: int) -> None:
        """Flip the path between two roots through the edge v-u: both get a mate."""
        for start, end in ((v, u), (u, v)):
            inside = start
            mate = end
            while True:
                outer = self.top[inside]
                old_mate = self.mate[self.base[outer]]
                self._move_base(outer, inside)
                self.mate[inside] = mate
                if old_mate == -1:
                    break
                inner = self.top[old_mate]
                mate, inside_inner = self.entry[inner]
                self._move_base(inner, inside_inner)
                self.mate[inside_inner] = mate
                inside = mate
                mate = inside_inner

    def _move_base(self, node: int, v: int) -> None:
        """Rematch inside ``node`` so that ``v`` is the vertex without a mate there."""
        if node < self.n:
            return
        child = v
        while self.parent[child] != node:
            child = self.parent[child]
        self._move_base(child, v)
        children = self.children[node]
        links = self.links[node]
        i = children.index(child)
        k = len(children)
        # Between the old and the new base, on the side where their number is even, the
        # children get new mates along the cycle. All others keep theirs.
        for j in range(0, i, 2) if i % 2 == 0 else range(i + 1, k, 2):
            x, y = links[j]
            self._move_base(children[j], x)
            self._move_base(children[(j + 1) % k], y)
            self.mate[x] = y
            self.mate[y] = x
        self.children[node] = children[i:] + children[:i]
        self.links[node] = links[i:] + links[:i]
        self.base[node] = v

    # Step 6: no tight edge is left, so move the duals.

    def _adjust_duals(self) -> None:
        step = self._dual_step()
        label = self.label
        top = self.top
        for v in range(self.n):
            kind = label[top[v]]
            if kind == OUTER:
                self.dual[v] += step
            elif kind == INNER:
                self.dual[v] -= step
        for b in self._top_blossoms(OUTER):
            self.blossom_dual[b] += 2 * step
        for b in self._top_blossoms(INNER):
            self.blossom_dual[b] -= 2 * step
            if not self.blossom_dual[b]:
                self._expand(b)

    def _top_blossoms(self, label: int) -> list[int]:
        """Return the blossoms with that label that are in no other blossom."""
        return [
            b for b in self.children if self.parent[b] == -1 and self.label[b] == label
        ]

    def _dual_step(self) -> int:
        """Return how far the duals can move.

        The limit is the first edge from an outer to a free or another outer node that
        becomes tight, or the first inner blossom whose dual becomes zero.
        """
        top = self.top
        label = self.label
        dual = self.dual
        steps = [self.blossom_dual[b] // 2 for b in self._top_blossoms(INNER)]
        for v in range(self.n):
            node = top[v]
            if label[node] != OUTER:
                continue
            near = self.near[v]
            free = [c - dual[u] for u, c in near if label[top[u]] == FREE]
            outer = [
                c - dual[u]
                for u, c in near
                if label[top[u]] == OUTER and top[u] != node
            ]
            if free:
                steps.append(min(free) - dual[v])
            if outer:
                steps.append((min(outer) - dual[v]) // 2)
        if not steps:
            raise NoMatching("some vertices cannot be reached")
        return min(steps)

    def _expand(self, b: int) -> None:
        """Open an inner blossom; the path through it stays in the tree."""
        children = self.children.pop(b)
        links = self.links.pop(b)
        for child in children:
            self.parent[child] = -1
            self.label[child] = FREE
            for vertex in self._vertices(child):
                self.top[vertex] = child
        entry = self.entry.pop(b)
        k = len(children)
        i = children.index(self.top[entry[1]])
        # Walk to the base, child 0, on the side with an even number of steps.
        direction = -1 if i % 2 == 0 else 1
        while True:
            self.label[children[i % k]] = INNER
            self.entry[children[i % k]] = entry
            if i % k == 0:
                return
            outer = i + direction
            self.label[children[outer]] = OUTER
            i = outer + direction
            entry = links[outer] if direction == 1 else links[i][::-1]
