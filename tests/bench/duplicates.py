"""Measure what duplicates save: the variance of a game, plain and in blocks.

`python -m tests.bench duplicates` plays blocks between strong bots: each deal once for
each rotation of the seats, as a match with `duplicate` does. It prints a table for
docs/tournaments.md. It plays on all processors (`--processes`), in this process and
without a clock, so equal seeds give equal games on every machine. With `--results FILE`
each deal is stored, and the same command continues after Ctrl-C. `--strength` plays the
weakest of these bots against house bots instead.

The bots search like the house bot `master`: guess the hidden cards, and play the best
whole turn of a beam. Their beams have fixed widths instead of a time, and differ.

Let x(d, r) be the score of a bot in rotation r of deal d, of D deals with R rotations
each, and m(d) its mean over the rotations. For each bot:

- *Plain*: the variance of one game with a random deal and a random seat, between deals
  and within them: mean(x²) - mean(x)² + S²/D. Here S² is the sample variance of m, and
  S²/D removes the bias from squaring a mean that was estimated.
- *In blocks*: R S². A mean of n games in blocks has n / R independent values m, so its
  variance is S² R / n. That of n plain games is the plain variance divided by n.
- *Seats alone*: the mean over the places in the order of play of the variance of x at
  this place, over deals. It is the variance of a game if each place is played equally
  often, but each on a deal of its own. So it is the part that a balance of seats would
  save without a shared deal; the rest is the covariance of the games of one deal.

The place counts from the seat that starts, because the deal decides which one that is.
The figures of a table are sums over its bots. Standard errors are those of a bootstrap
over deals, because the games of a deal are not independent.
"""

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol

import numpy as np

from engine import TorresGame, derive, resolve
from engine.analysis import PROMISE
from engine.moves import BUY, END, KEEPING, KING_DUE, TURN
from engine.notation import text
from engine.search import determinize
from engine.setup import derive_seed
from engine.strategy import RoundSearches, best_by_random_games, in_order
from tests.bench.analysis import CLOCK, house_bot
from torres.rating.blocks import beaten_share

RULESET = "yucata"
WIDTHS = {2: (48, 24), 4: (32, 24, 16, 12)}
"""The beams of the bots of a table, by its number of seats."""
DEALS = {2: 500, 4: 500}
SEED = "duplicates"
RESAMPLES = 2_000
HOUSE_BOTS = ("greedy", "searcher", "planner")
STRENGTH_DEALS = 20
EACH = 20  # deals from one line of the progress to the next

Numbers = np.ndarray[Any, Any]
Job = tuple[tuple[str, ...], str, int]
"""The names of the bots, the seed, and the number of the deal."""


class Block(NamedTuple):
    """All games of one deal, with rotated seats.

    `order` has the numbers of the bots by seat in the first game, and `first` is the
    seat that starts. `scores` and `shares` are by game and by seat.
    """

    bots: list[str]
    seed: str
    deal: int
    order: list[int]
    first: int
    scores: list[list[int]]
    shares: list[list[float]]
    cpu_s: float


class BeamBot:
    """A bot that plays the best whole turn of a beam, with the weights of `master`."""

    def __init__(self, seats: int, width: int) -> None:
        self._searches = RoundSearches(resolve(RULESET, seats), PROMISE)
        self._width = width

    def play(self, game: TorresGame, rng: Random) -> None:
        """Answer the present decision: a turn, or its part up to a purchase."""
        position = game.position
        seat = position.seat
        guess = determinize(position, seat, rng)
        if position.decision not in (TURN, KEEPING, KING_DUE) or not position.phase:
            best = best_by_random_games(
                lambda: determinize(position, seat, rng), seat, rng, math.inf
            )
            game.play(game.legal()[best])
            return
        alone = position.decision == KING_DUE  # the search goes on with the next turn
        turn = self._searches.of(guess).best(guess, self._width, 1)[0]
        moves = turn.moves[:1] if alone else in_order(turn.moves)
        for move in moves:
            game.play(text(position, move))
            if alone or move >> 16 == BUY:
                return
        if position.decision == TURN and position.seat == seat:
            ends = [move for move in position.legal() if move >> 16 == END]
            game.play(text(position, ends[0]))


class HouseBot:
    """A house bot in this process.

    `greedy` reads its input when it is imported. That of a worker process is empty.
    """

    def __init__(self, seats: int, name: str) -> None:
        self._bot = house_bot(name)
        rules = resolve(RULESET, seats)
        knows: dict[str, Any] = {"searcher": rules}
        if name == "planner":
            knows[name] = self._bot.Judge(rules)
        self._knows = knows.get(name)

    def play(self, game: TorresGame, rng: Random) -> None:
        """Answer the present decision."""
        message = {
            "decision": game.decision,
            "state": game.state(game.seat),
            "legal": game.legal(),
            "clock": CLOCK,
        }
        knows = game.seat if self._knows is None else self._knows
        answer = self._bot.choose(message, knows, rng)
        for action in [answer] if isinstance(answer, str) else answer:
            game.play(action)


class Plays(Protocol):
    """A bot in this process."""

    def play(self, game: TorresGame, rng: Random) -> None:
        """Play one answer of the seat that decides."""


@cache
def bot_of(seats: int, name: str) -> Plays:
    """Return the bot with this name: a house bot, or a number, the width of a beam."""
    return BeamBot(seats, int(name)) if name.isdigit() else HouseBot(seats, name)


def play_block(job: Job) -> Block:
    """Play the games of a deal, one for each rotation of the seats.

    The order of the bots before the first rotation is drawn for each deal. Seats have
    the same random numbers in each rotation, as in a match.
    """
    names, seed, deal = job
    began = time.process_time()
    seats = len(names)
    setup_seed = f"{seed} {seats} {deal}"
    rules = resolve(RULESET, seats)
    setup = derive(rules, setup_seed)
    order = Random(setup_seed).sample(range(seats), seats)
    scores = []
    shares = []
    for rotation in range(seats):
        game = TorresGame(rules, setup)
        bots = [bot_of(seats, names[bot]) for bot in rotated(order, rotation)]
        rngs = [Random(derive_seed(setup_seed, seat)) for seat in range(seats)]
        while game.seat is not None:
            bots[game.seat].play(game, rngs[game.seat])
        assert game.result is not None
        scores.append(game.result["scores"])
        ranks = game.result["ranks"]
        shares.append([beaten_share(ranks, seat) for seat in range(seats)])
    spent = time.process_time() - began
    return Block(list(names), seed, deal, order, setup.first, scores, shares, spent)


def rotated(order: Sequence[int], rotation: int) -> list[int]:
    """Return the bots by seat in a game of a block, as `PlannedMatch.seatings`."""
    return [*order[rotation:], *order[:rotation]]


class Figures(NamedTuple):
    """Variances of one game, as sums over the bots of a table (see above)."""

    plain: Numbers
    blocks: Numbers
    seats_alone: Numbers


class DealTable:
    """The games of all blocks with one number of seats, and one kind of score.

    `by_place` has the shape (deals, bots, places in the order of play).
    """

    def __init__(self, blocks: Sequence[Block], value: str) -> None:
        seats = len(blocks[0].bots)
        self.by_place = np.zeros((len(blocks), seats, seats))
        for number, block in enumerate(blocks):
            games = block.shares if value == "share" else margins(block.scores)
            for rotation, game in enumerate(games):
                for seat, bot in enumerate(rotated(block.order, rotation)):
                    place = (seat - block.first) % seats
                    self.by_place[number, bot, place] = game[seat]

    def figures(self, counts: Numbers) -> Figures:
        """Return the figures of samples of deals.

        `counts` has a row for each sample: how often each deal is in it.
        """
        deals, bots, places = self.by_place.shape
        flat = self.by_place.reshape(deals, -1)
        shape = (len(counts), bots, places)
        means = (counts @ flat / deals).reshape(shape)
        squares = (counts @ flat**2 / deals).reshape(shape)
        of_block = self.by_place.mean(axis=2)
        total = counts @ of_block / deals
        correction = deals / (deals - 1)
        between = (counts @ of_block**2 / deals - total**2) * correction
        plain = squares.mean(axis=2) - total**2 + between / deals
        within = (squares - means**2).mean(axis=2) * correction
        return Figures(
            plain.sum(axis=1), places * between.sum(axis=1), within.sum(axis=1)
        )

    def means(self) -> list[float]:
        """Return the mean of each bot."""
        return [float(mean) for mean in self.by_place.mean(axis=(0, 2))]


def margins(scores: Sequence[Sequence[int]]) -> list[list[float]]:
    """Return by game and seat the points minus the mean points of the other seats."""
    return [
        [own - (sum(game) - own) / (len(game) - 1) for own in game] for game in scores
    ]


def rows(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield the rows of the table for the blocks of one number of seats."""
    deals = len(blocks)
    rng = np.random.default_rng(1)
    samples = rng.multinomial(deals, np.full(deals, 1 / deals), RESAMPLES)
    counts = np.vstack([np.ones(deals), samples])
    for value, name, digits in (("margin", "margin", 0), ("share", "rank share", 4)):
        found = DealTable(blocks, value).figures(counts)
        seats = len(blocks[0].bots)
        cells = [
            f"{seats}",
            f"{deals:,}",
            name,
            _measured(found.plain / seats, digits),
            _measured(found.blocks / seats, digits),
            _measured(found.blocks / found.plain, 3),
            _measured(100 * (1 - found.blocks / found.plain), 1, " %"),
            _measured(100 * (1 - found.seats_alone / found.plain), 1, " %"),
            _measured(100 * (found.seats_alone - found.blocks) / found.plain, 1, " %"),
        ]
        yield f"| {' | '.join(cells)} |"


def _measured(values: Numbers, digits: int, unit: str = "") -> str:
    """Return the first value, and the deviation of the others as its error."""
    error = float(values[1:].std(ddof=1))
    return f"{values[0]:,.{digits}f} ± {error:,.{digits}f}{unit}"


COLUMNS = (
    *("seats", "deals", "score", "variance of a game, plain", "in blocks", "ratio"),
    *("saved", "by balanced seats alone", "by the shared deal"),
)


def play_blocks(
    jobs: Sequence[Job], processes: int, results: Path | None
) -> Iterator[Block]:
    """Yield the blocks of these jobs, first the stored ones; store the others."""
    stored = {}
    if results and results.exists():
        for line in results.read_text().splitlines():
            block = Block(**json.loads(line))
            stored[tuple(block.bots), block.seed, block.deal] = block
    left = [job for job in jobs if job not in stored]
    yield from (stored[job] for job in jobs if job in stored)
    with ProcessPoolExecutor(processes) as pool:
        for number, block in enumerate(pool.map(play_block, left), 1):
            if results:
                with results.open("a") as file:
                    print(json.dumps(block._asdict()), file=file)
            if number % EACH == 0:
                print(f"{number} of {len(left)} deals", file=sys.stderr, flush=True)
            yield block


def report(arguments: list[str]) -> None:
    """Play the blocks and print the table, or the strength of the bots."""
    parser = argparse.ArgumentParser("python -m tests.bench duplicates")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--results", type=Path, help="a file of stored deals")
    parser.add_argument("--seed", default=SEED)
    parser.add_argument("--deals", type=int, help="of each number of seats")
    parser.add_argument("--strength", action="store_true", help="against house bots")
    options = parser.parse_args(arguments)
    if options.strength:
        _print_strength(options)
        return
    began = time.monotonic()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
    notes = []
    for seats, widths in WIDTHS.items():
        names = tuple(map(str, widths))
        deals = range(options.deals or DEALS[seats])
        jobs = [(names, options.seed, deal) for deal in deals]
        blocks = list(play_blocks(jobs, options.processes, options.results))
        print("\n".join(rows(blocks)), flush=True)
        notes.append(_note(names, blocks))
    print("\n".join(["", *notes, f"{time.monotonic() - began:.0f} s in all"]))


def _note(names: Sequence[str], blocks: Sequence[Block]) -> str:
    """Return what the bots of a table scored, and what their games cost."""
    points = np.mean([_by_bot(block, block.scores) for block in blocks], axis=0)
    shares = np.mean([_by_bot(block, block.shares) for block in blocks], axis=0)
    bots = ", ".join(
        f"{name}: {own:.0f} points and {share:.1%} of the opponents beaten"
        for name, own, share in zip(names, points, shares, strict=True)
    )
    spent = sum(block.cpu_s for block in blocks)
    games = len(blocks) * len(names)
    return f"{games:,} games of {len(names)} seats, {spent:.0f} s of CPU; {bots}"


def _by_bot(block: Block, values: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of each bot over the games of a block."""
    sums = [0.0] * len(block.order)
    for rotation, game in enumerate(values):
        for seat, bot in enumerate(rotated(block.order, rotation)):
            sums[bot] += game[seat] / len(values)
    return sums


def _print_strength(options: argparse.Namespace) -> None:
    """Play the narrowest beam of each table against house bots, two seats."""
    narrowest = sorted({str(min(widths)) for widths in WIDTHS.values()}, key=int)
    deals = range(options.deals or STRENGTH_DEALS)
    for width in narrowest:
        for house in HOUSE_BOTS:
            jobs = [((width, house), options.seed, deal) for deal in deals]
            blocks = list(play_blocks(jobs, options.processes, options.results))
            print(_note((width, house), blocks), flush=True)
