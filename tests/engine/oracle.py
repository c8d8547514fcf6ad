"""A second, slow and plain implementation of Torres, written from the documents alone.

It shares no code with the engine and uses no bit sets and no incremental data, only
dictionaries and loops. If the two disagree, one of them misread a document. The module
is long so that a reader can compare it with docs/rules.md from top to bottom.
"""

from collections import Counter
from itertools import combinations, product

SPACES = [f"{c}{r}" for c in "abcdefgh" for r in "12345678"]
START = ["a4", "c3", "c6", "d8", "e1", "f3", "f6", "h5"]
CARDS = "up2 ap6 ap7 extra_block under_knight move_block diagonal jump regroup door_up"


def offset(space, dx, dy):
    c, r = chr(ord(space[0]) + dx), chr(ord(space[1]) + dy)
    return c + r if c in "abcdefgh" and r in "12345678" else None


def near(space):
    found = [offset(space, *d) for d in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return [s for s in found if s]


def slant(space):
    found = [offset(space, *d) for d in product((1, -1), (1, -1))]
    return [s for s in found if s]


def castle_of(h, space):
    """Return the castle of a space as a set; it is empty for bare ground."""
    if not h[space]:
        return set()
    seen, todo = {space}, [space]
    while todo:
        for n in near(todo.pop()):
            if h[n] and n not in seen:
                seen.add(n)
                todo.append(n)
    return seen


def castles(h):
    left, found = {s for s in SPACES if h[s]}, []
    while left:
        found.append(castle_of(h, min(left)))
        left -= found[-1]
    return found


def outcomes(stacks, blocks, limit, *, auto):
    """Return all ways to put blocks on stacks: (sorted sizes, blocks returned)."""
    if not stacks:
        return {((), blocks)}
    room = [10**6 if limit is None else max(0, limit - s) for s in stacks]
    put = min(blocks, sum(room))
    if auto:
        new = sorted(stacks, reverse=True)
        rest = put
        for i, size in enumerate(new):
            more = rest if limit is None else min(rest, max(0, limit - size))
            new[i] += more
            rest -= more
        return {(tuple(sorted(new, reverse=True)), blocks - put)}
    found = set()

    def spread(i, rest, so_far):
        if i == len(stacks):
            if rest == 0:
                found.add((tuple(sorted(so_far, reverse=True)), blocks - put))
            return
        for k in range(min(rest, room[i]) + 1):
            spread(i + 1, rest - k, [*so_far, stacks[i] + k])

    spread(0, put, [])
    return found


class Oracle:
    def __init__(self, switches, seats, setup):
        self.s, self.n = switches, seats
        self.h = dict.fromkeys(SPACES, 0)
        self.knights = [set() for _ in range(seats)]
        self.king = None
        self.reserve = [6] * seats
        self.stacks = [[] for _ in range(seats)]
        self.carried = [0] * seats
        self.supply = 92
        self.scores = [0] * seats
        full = switches["card_access"] == "full_hand"
        self.decks = [list(d) for d in setup.decks]
        self.hands = [CARDS.split() if full else [] for _ in range(seats)]
        self.discards = [[] for _ in range(seats)]
        self.master = setup.master
        self.forfeited = []
        self.order = [(setup.first + i) % seats for i in range(seats)]
        self.phase = self.round = 0
        self.scoring = []
        self.over = False
        self.clear_turn()
        if switches["start_blocks"] == "marked":
            for space in START:
                self.h[space] = 1
            self.supply -= 8
            self.todo = []
        else:
            self.todo = [("found", self.order[i % seats]) for i in range(8)]
        self.todo += [("enter", seat) for seat in self.order]
        self.todo.append(("king", self.order[-1]))

    def clear_turn(self):
        self.ap = self.bought = self.placed = 0
        self.played, self.current, self.drawn = False, None, None
        self.fresh = []

    # the present decision

    @property
    def decision(self):
        return None if self.over else self.todo[0][0]

    @property
    def seat(self):
        return None if self.over else self.todo[0][1]

    def pieces(self):
        return set().union(*self.knights) | ({self.king} if self.king else set())

    def empty(self, space):
        return space not in self.pieces()

    def automatic(self):
        """Return the next action of the prescribed answer of a forfeited seat."""
        legal = self.legal()
        for first in ("king stay", "end", "stack"):
            for action in legal:
                if action.split(",")[0].startswith(first):
                    return action
        return legal[0]

    # legal actions

    def legal(self):
        if self.over:
            return []
        kind, seat = self.todo[0]
        found = {
            "found": self.l_found, "enter": self.l_enter, "king": self.l_king,
            "first": self.l_first, "stock": self.l_stock, "turn": self.l_turn,
            "keep": self.l_keep,
        }[kind](seat)  # fmt: skip
        assert len(found) == len(set(found)), found
        return sorted(found)

    def l_found(self, seat):
        blocks = [s for s in SPACES if self.h[s]]

        def far(a, b):
            return abs(ord(a[0]) - ord(b[0])) + abs(int(a[1]) - int(b[1])) >= 3

        return [f"found {s}" for s in SPACES if all(far(s, b) for b in blocks)]

    def l_enter(self, seat):
        return [f"enter {s}" for s in SPACES if self.h[s] and self.empty(s)]

    def l_king(self, seat):
        there = [f"king {s}" for s in SPACES if self.h[s] and self.empty(s)]
        return there if self.phase == 0 else [*there, "king stay"]

    def l_first(self, seat):
        return [f"first {i}" for i in range(self.n)]

    def l_stock(self, seat):
        return ["stock " + ",".join(map(str, o)) for o, _ in self.stock_outcomes(seat)]

    def stock_outcomes(self, seat):
        auto = self.s["leftover_distribution"] == "auto"
        return outcomes(
            self.stacks[seat], self.carried[seat], self.s["stack_limit"], auto=auto
        )

    def l_keep(self, seat):
        deck = self.deck(seat)
        ends = ["top", "bottom"] if deck else ["top"]
        return [f"keep {c} {e}" for c in set(self.drawn) for e in ends]

    def deck(self, seat):
        return self.decks[0 if self.s["card_access"] == "shared_deck" else seat]

    def can_build(self, space, h=None, area_of=None):
        """True if rule 44 allows a block on an empty space."""
        h = h or self.h
        if h[space]:
            return h[space] + 1 <= len(castle_of(h, space))
        around = {frozenset(castle_of(h, n)) for n in near(space) if h[n]}
        return len(around) == 1

    def doors(self, start):
        h, level = self.h, self.h[start]
        rooms = {(n, level + 1) for n in near(start) if h[n] >= level + 1}
        todo = list(rooms)
        while todo:
            c, k = todo.pop()
            steps = [(n, k) for n in near(c) if h[n] >= k]
            if k > 1:
                steps.append((c, k - 1))
            for room in steps:
                if room not in rooms:
                    rooms.add(room)
                    todo.append(room)
        return {
            m for c, k in rooms for m in near(c)
            if m != start and self.empty(m) and h[m] <= k - 1
        }  # fmt: skip

    def l_turn(self, seat):
        h, own = self.h, self.knights[seat]
        legal = []
        if self.current is None:
            legal += {f"stack {n}" for n in self.stacks[seat]}
        if self.ap >= 2 and self.reserve[seat]:
            legal += {
                f"add {t}" for k in own for t in near(k)
                if self.empty(t) and h[t] <= h[k]
            }  # fmt: skip
        if self.ap >= 1:
            for k in own:
                steps = {t for t in near(k) if self.empty(t) and h[t] <= h[k] + 1}
                legal += [f"move {k} {t}" for t in steps | self.doors(k)]
            most = self.s["max_blocks_per_turn"]
            if self.current and (most is None or self.placed < most):
                legal += [
                    f"block {t}" for t in SPACES if self.empty(t) and self.can_build(t)
                ]
            legal.append("score")
            if (
                self.s["card_access"] != "full_hand"
                and self.bought < self.s["max_buys"]
                and self.deck(seat)
            ):
                legal.append("buy")
        if not self.played:
            for card in set(self.hands[seat]):
                if self.hands[seat].count(card) > self.fresh.count(card):
                    legal += self.l_card(seat, card)
        if self.current is not None:
            legal += self.end_texts(seat)
        return legal

    def end_outcomes(self, seat):
        auto = self.s["leftover_distribution"] == "auto"
        return outcomes(
            self.stacks[seat], self.current, self.s["stack_limit"], auto=auto
        )

    def end_texts(self, seat):
        ways = self.end_outcomes(seat)
        if len(ways) == 1:
            return ["end"]
        return ["end " + ",".join(map(str, sizes)) for sizes, _ in ways]

    def l_card(self, seat, card):
        h, own = self.h, self.knights[seat]
        name = f"play {card}"
        if card in {"ap6", "ap7"}:
            return [name]
        if card == "up2":
            return [
                f"{name} {k} {t}" for k in own for t in near(k)
                if self.empty(t) and h[t] == h[k] + 2
            ]  # fmt: skip
        if card == "diagonal":
            return [
                f"{name} {k} {t}" for k in own for t in slant(k)
                if self.empty(t) and h[t] <= h[k] + 1
            ]  # fmt: skip
        if card == "jump":
            knights = set().union(*self.knights)
            found = []
            for k in own:
                for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    over, land = offset(k, dx, dy), offset(k, 2 * dx, 2 * dy)
                    if over in knights and land and self.empty(land):
                        if h[land] <= h[k] + 1:
                            found.append(f"{name} {k} {land}")
            return found
        if card == "regroup":
            return [
                f"{name} {k} {t}" for k in own for t in SPACES
                if self.empty(t) and any(
                    o != k and h[t] <= h[o] for o in near(t) if o in own
                )
            ]  # fmt: skip
        if card == "door_up":
            found = []
            for k in own:
                entered = [n for n in near(k) if h[n] >= h[k] + 1]
                inside = set().union(*(castle_of(h, n) for n in entered))
                out = {
                    m for c in inside for m in near(c)
                    if m != k and self.empty(m) and h[c] >= h[m] + 1
                }  # fmt: skip
                found += [f"{name} {k} {m}" for m in out]
            return found
        if card == "extra_block":
            if not self.supply:
                return []
            return [
                f"{name} {t}" for t in SPACES if self.empty(t) and self.can_build(t)
            ]
        if card == "under_knight":
            sources = {str(n) for n in self.stacks[seat] if n}
            if self.current:
                sources.add("current")
            return [f"{name} {k} {s}" for k in own if self.raisable(k) for s in sources]
        return [
            f"{name} {a} {b}" for a in SPACES for b in SPACES
            if h[a] == 1 and self.empty(a) and h[b] == 0 and self.empty(b)
            and self.shiftable(a, b)
        ]  # fmt: skip

    def raisable(self, k):
        if self.h[k]:
            return self.h[k] + 1 <= len(castle_of(self.h, k))
        return len({frozenset(castle_of(self.h, n)) for n in near(k) if self.h[n]}) <= 1

    def shiftable(self, a, b):
        """True if MOVE_BLOCK is legal, judged on the final board."""
        before = castles(self.h)
        rest = next(c for c in before if a in c) - {a}
        h = dict(self.h)
        h[a], h[b] = 0, 1
        after = castles(h)
        if len(after) < 6:
            return False
        if any(max(h[s] for s in c) > len(c) for c in after):
            return False
        if rest and not any(rest <= c for c in after):
            return False
        groups = [c for c in before if a not in c] + ([rest] if rest else [])
        return all(sum(g <= c for g in groups) <= 1 for c in after)

    # playing

    def play(self, action):
        assert action in self.legal(), action
        kind, seat = self.todo[0]
        words = action.split(" ")
        getattr(self, f"p_{words[0]}")(seat, *words[1:])
        if kind not in {"turn", "keep"}:
            self.todo.pop(0)
        if not self.todo and not self.over:
            self.next()

    def p_found(self, seat, space):
        self.h[space] = 1
        self.supply -= 1

    def p_enter(self, seat, space):
        self.knights[seat].add(space)
        self.reserve[seat] -= 1

    def p_king(self, seat, space):
        if space != "stay":
            self.king = space
        if self.phase == 0:
            self.deal()
        elif self.s["order"] != "fixed" or self.s["next_start"] == "lowest":
            self.new_order(seat)
            self.deal()
        else:
            self.todo.append(("first", seat))

    def p_first(self, seat, chosen):
        self.new_order(int(chosen))
        self.deal()

    def new_order(self, starter):
        """Set the order of the next round; `starter` matters for fixed order only."""
        if self.s["order"] == "fixed":
            if starter is not None:
                self.order = [(starter + i) % self.n for i in range(self.n)]
            return
        if not any(self.scores):
            return
        if self.s["order"] == "leader":
            lead = self.scores.index(max(self.scores))
            self.order = [(lead + i) % self.n for i in range(self.n)]
            return
        clock = [(self.order[0] + i) % self.n for i in range(self.n)]
        self.order = sorted(clock, key=lambda seat: -self.scores[seat])

    def deal(self):
        self.phase, self.round = self.phase + 1, 1
        sizes = self.s["stacks"][self.phase - 1]
        for seat in range(self.n):
            self.stacks[seat] = sorted(sizes, reverse=True)
            self.supply -= sum(sizes)
        for i in range(self.n):  # clockwise, also if the order is descending
            seat = (self.order[0] + i) % self.n
            ways = self.stock_outcomes(seat)
            if len(ways) > 1:
                self.todo.append(("stock", seat))
            else:
                self.take_stock(seat, *next(iter(ways)))

    def take_stock(self, seat, sizes, back):
        self.stacks[seat] = list(sizes)
        self.supply += back
        self.carried[seat] = 0

    def p_stock(self, seat, text):
        sizes = tuple(map(int, text.split(",")))
        self.take_stock(
            seat, *next(o for o in self.stock_outcomes(seat) if o[0] == sizes)
        )

    def next(self):
        """Find the next decision if the list is empty."""
        self.turns = getattr(self, "turns", [])
        if not self.turns:
            self.turns = list(self.order)
        seat = self.turns.pop(0)
        self.todo = [("turn", seat)]
        self.clear_turn()
        self.ap = 5
        sizes = set(self.stacks[seat])
        if self.s["stack_choice"] == "largest" or len(sizes) == 1:
            self.current = max(sizes)
            self.stacks[seat].remove(self.current)

    def p_stack(self, seat, size):
        self.current = int(size)
        self.stacks[seat].remove(self.current)

    def p_add(self, seat, space):
        self.ap -= 2
        self.p_enter(seat, space)

    def p_move(self, seat, a, b):
        self.ap -= 1
        self.shift(seat, a, b)

    def shift(self, seat, a, b):
        self.knights[seat].remove(a)
        self.knights[seat].add(b)

    def p_block(self, seat, space):
        self.ap -= 1
        self.placed += 1
        self.current -= 1
        self.h[space] += 1

    def p_score(self, seat):
        self.ap -= 1
        self.advance(seat, 1)

    def advance(self, seat, points):
        if points:
            self.scores[seat] += points
            others = self.scores[:seat] + self.scores[seat + 1 :]
            while self.scores[seat] in others:
                self.scores[seat] += 1

    def p_buy(self, seat):
        self.ap -= 1
        self.bought += 1
        deck = self.deck(seat)
        if self.s["buy_draw"] == 1:
            self.hands[seat].append(deck[0])
            self.fresh.append(deck.pop(0))
            return
        self.drawn = deck[:3]
        del deck[:3]
        self.todo = [("keep", seat)]

    def p_keep(self, seat, card, end):
        self.hands[seat].append(card)
        self.fresh.append(card)
        self.drawn.remove(card)
        deck = self.deck(seat)
        deck[:] = self.drawn + deck if end == "top" else deck + self.drawn
        self.drawn = None
        self.todo = [("turn", seat)]

    def p_play(self, seat, card, *args):
        self.played = True
        self.hands[seat].remove(card)
        self.discards[seat].append(card)
        if card in {"ap6", "ap7"}:
            self.ap += int(card[2]) - 5
        elif card == "extra_block":
            self.supply -= 1
            self.h[args[0]] += 1
        elif card == "under_knight":
            self.h[args[0]] += 1
            if args[1] == "current":
                self.current -= 1
            else:
                i = self.stacks[seat].index(int(args[1]))
                self.stacks[seat][i] -= 1
        elif card == "move_block":
            self.h[args[0]] -= 1
            self.h[args[1]] += 1
        else:
            self.shift(seat, *args)

    def p_end(self, seat, text=None):
        ways = self.end_outcomes(seat)
        if text is not None:
            sizes = tuple(map(int, text.split(",")))
            ways = [o for o in ways if o[0] == sizes]
        sizes, back = next(iter(ways))
        if not self.stacks[seat] and self.s["leftover_at_phase_end"] == "keep":
            self.carried[seat], back = back, 0
        self.stacks[seat] = list(sizes)
        self.supply += back
        self.clear_turn()
        self.todo = []
        if not self.turns:
            self.end_round()

    def end_round(self):
        if self.round < len(self.s["stacks"][self.phase - 1]):
            self.new_order(None)
            self.round += 1
            return
        self.score_phase()
        if self.phase == len(self.s["stacks"]):
            self.over = True
            return
        low = min(self.scores)
        mover = [seat for seat in self.order if self.scores[seat] == low][-1]
        self.todo = [("king", mover)]

    # scoring

    def score_phase(self):
        clock = [(self.order[0] + i) % self.n for i in range(self.n)]
        record = {"phase": self.phase, "castles": [], "king": [], "master": []}
        for name, points in (
            ("castles", self.castle_points),
            ("king", self.king_points),
            ("master", self.master_points),
        ):
            record[name] = [points(seat) for seat in range(self.n)]
            for seat in clock:
                self.advance(seat, record[name][seat])
        record["scores"] = list(self.scores)
        self.scoring.append(record)

    def castle_points(self, seat):
        total = 0
        for castle in castles(self.h):
            levels = [self.h[k] for k in self.knights[seat] if k in castle]
            total += len(castle) * max(levels, default=0)
        return total

    def king_points(self, seat):
        home = castle_of(self.h, self.king)
        levels = [self.h[k] for k in self.knights[seat] if k in home]
        return 5 * self.phase if self.phase in levels else 0

    def master_points(self, seat):
        if self.master is None:
            return 0
        return getattr(self, f"m_{self.master}")(seat)

    def most(self, seat, spaces):
        each = (2, 5, 10)[self.phase - 1]
        counts = [len(own & spaces) for own in self.knights]
        mine = counts.pop(seat)
        bonus = each if mine > max(counts) else 0
        return each * mine + bonus

    def m_border(self, seat):
        return self.most(seat, {s for s in SPACES if s[0] in "ah" or s[1] in "18"})

    def m_diagonals(self, seat):
        places = {s for s in SPACES if ord(s[0]) - 96 in {int(s[1]), 9 - int(s[1])}}
        return self.most(seat, places)

    def m_castles(self, seat):
        count = sum(bool(c & self.knights[seat]) for c in castles(self.h))
        return (5, 15, 30)[self.phase - 1] if count == self.phase + 3 else 0

    def all_of(self, seat):
        """Return the knights that must fulfil a card, or None if it does not count."""
        if self.phase < 3 or (self.s["master_all_six"] and self.reserve[seat]):
            return None
        return self.knights[seat]

    def m_adjacent(self, seat):
        own = self.all_of(seat)
        if own is None:
            return 0
        seen, todo = set(), [min(own)]
        while todo:
            k = todo.pop()
            if k not in seen:
                seen.add(k)
                todo += [n for n in near(k) if n in own]
        return 40 if seen == own else 0

    def m_all_levels(self, seat):
        own = self.all_of(seat)
        ok = own is not None and max(Counter(self.h[k] for k in own).values()) == 1
        return 40 if ok else 0

    def m_row(self, seat):
        own = self.all_of(seat)
        if own is None:
            return 0
        for axis in (0, 1):
            line = {k[axis] for k in own}
            along = sorted(ord(k[1 - axis]) for k in own)
            packed = along[-1] - along[0] == len(along) - 1
            if len(line) == 1 and (packed or not self.s["row_contiguous"]):
                return 50
        return 0

    def m_square(self, seat):
        if self.phase < 3:
            return 0
        points = [(ord(k[0]) - 97, int(k[1])) for k in self.knights[seat]]
        for four in combinations(points, 4):
            for a, b in combinations(four, 2):
                dx, dy = b[0] - a[0], b[1] - a[1]
                if (dx and dy) and not self.s["tilted_squares"]:
                    continue
                for s in (1, -1):
                    c = (b[0] - s * dy, b[1] + s * dx)
                    d = (a[0] - s * dy, a[1] + s * dx)
                    if {a, b, c, d} == set(four):
                        return 50
        return 0

    def m_one_level(self, seat):
        own = self.all_of(seat)
        return 50 if own is not None and len({self.h[k] for k in own}) == 1 else 0

    # the state as `torres trace` prints it

    def state(self):
        turn = self.decision in {"turn", "keep"}
        return {
            "phase": self.phase, "round": self.round, "order": self.order,
            "first": self.order[0], "seat": self.seat, "ap": self.ap if turn else 0,
            "bought": self.bought, "placed": self.placed, "played": self.played,
            "heights": [[self.h[c + r] for c in "abcdefgh"] for r in "12345678"],
            "knights": [sorted(own) for own in self.knights], "king": self.king,
            "reserve": self.reserve,
            "stacks": [sorted(s, reverse=True) for s in self.stacks],
            "current": self.current, "carried": self.carried, "supply": self.supply,
            "scores": self.scores, "drawn": self.drawn,
            "fresh": sorted(self.fresh),
            "hands": [sorted(hand) for hand in self.hands], "decks": self.decks,
            "discards": self.discards, "master": self.master,
            "forfeited": self.forfeited,
        }  # fmt: skip
