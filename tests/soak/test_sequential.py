"""The errors of the sequential test of versions, in 10,000 simulated tests each."""

import pytest

from tests.ratings.sequential_runs import EQUAL_BOTS, runs, shifted
from torres.rating.sprt import SequentialTest, SprtDecision

pytestmark = pytest.mark.soak
RUNS = 10_000
MAX_ERROR = 0.05


@pytest.mark.parametrize("kind", EQUAL_BOTS)
@pytest.mark.parametrize(
    ("nelo", "wrong"), [(0, SprtDecision.ACCEPT_H1), (50, SprtDecision.ACCEPT_H0)]
)
def test_at_the_bounds_at_most_5_of_100_tests_are_wrong(
    kind: str, nelo: int, wrong: SprtDecision
) -> None:
    test = SequentialTest()
    truth = shifted(EQUAL_BOTS[kind], test.block_t(nelo))

    errors = games = 0.0
    for run in runs(test, truth, RUNS, f"{kind}/{nelo}"):
        errors += run.decision == wrong
        games += 2 * run.blocks

    print(f"{kind}, {nelo} nElo: {errors / RUNS:.4f} wrong, {games / RUNS:.0f} games")
    assert errors / RUNS <= MAX_ERROR
