"""The estimator of the duplicates on games whose variances are known."""

import numpy as np

from tests.bench.duplicates import Block, DealTable, margins, play_block, rows

DEALS = 4000
DEAL_SD, SEAT_SD, NOISE_SD = 3.0, 2.0, 4.0


def _blocks() -> list[Block]:
    """Return games in which a deal helps one seat, and its place in the order helps.

    A deal gives DEAL_SD to one seat and takes it from the other. The place is worth
    ± SEAT_SD, and each game has noise of its own.
    """
    rng = np.random.default_rng(3)
    blocks = []
    for deal in range(DEALS):
        order = [0, 1] if rng.random() < 0.5 else [1, 0]
        first = int(rng.integers(2))
        luck = rng.normal(0, DEAL_SD)
        games = []
        for _ in range(2):
            noise = rng.normal(0, NOISE_SD)
            own = luck + noise + (SEAT_SD if first == 0 else -SEAT_SD)
            games.append([own, -own])
        blocks.append(Block(["a", "b"], "s", deal, order, first, [[0, 0]], games, 0.0))
    return blocks


def test_the_estimates_are_the_true_variances() -> None:
    figures = DealTable(_blocks(), "share").figures(np.ones((1, DEALS)))
    plain = DEAL_SD**2 + SEAT_SD**2 + NOISE_SD**2
    for measured, truth in zip(
        figures, (plain, NOISE_SD**2, plain - SEAT_SD**2), strict=True
    ):
        assert abs(measured[0] / 2 / truth - 1) < 0.06


def test_a_block_has_each_bot_on_each_seat_once() -> None:
    block = play_block((("2", "1"), "test", 1))
    assert len(block.scores) == 2
    assert block == play_block((("2", "1"), "test", 1))._replace(cpu_s=block.cpu_s)
    assert [sum(game) for game in block.shares] == [1.0, 1.0]
    assert [sum(game) for game in margins(block.scores)] == [0.0, 0.0]
    # Each bot wins once, so that the results vary, whatever the bots play.
    split = block._replace(scores=[[3, 1], [5, 2]], shares=[[1.0, 0.0], [1.0, 0.0]])
    assert sum(1 for _ in rows([split, split, split])) == 2
