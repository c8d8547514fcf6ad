"""Simulated tests of two versions, with blocks of a known effect."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from random import Random

from torres.rating.sprt import EQUAL, SequentialTest, SprtDecision

Distribution = dict[float, float]
"""The probability of each score of a block."""
DRAWS = 64  # at once: a call is expensive


def four_seats() -> Distribution:
    """Return the scores of two games of two against two equal copies."""
    game: Counter[int] = Counter()
    for ranks in permutations(range(4)):
        game[sum(new < old for new, old in product(ranks[:2], ranks[2:]))] += 1
    block: Counter[float] = Counter()
    for (one, m), (two, n) in product(game.items(), game.items()):
        block[(one + two) / 8] += m * n
    return _normal(block)


def _normal(weights: Mapping[float, float]) -> Distribution:
    whole = sum(weights.values())
    return {score: weight / whole for score, weight in weights.items()}


EQUAL_BOTS: dict[str, Distribution] = {
    "two seats": {0.0: 0.25, 0.5: 0.5, 1.0: 0.25},
    "two seats, the deal decides often": {0.0: 0.1, 0.5: 0.8, 1.0: 0.1},
    "two seats, many ties": {0.0: 0.04, 0.25: 0.32, 0.5: 0.28, 0.75: 0.32, 1.0: 0.04},
    "four seats": four_seats(),
}
"""The scores of blocks of two games, by kind of block, if both versions are equal."""


def shifted(equal: Distribution, t_value: float) -> Distribution:
    """Tilt a distribution exponentially until it has this t-value."""
    low, high = -20.0, 20.0
    for _ in range(100):
        middle = (low + high) / 2
        tilted = _normal({s: p * math.exp(middle * s) for s, p in equal.items()})
        if _t_value(tilted) < t_value:
            low = middle
        else:
            high = middle
    return tilted


def mean(scores: Distribution) -> float:
    return sum(score * p for score, p in scores.items())


def _t_value(scores: Distribution) -> float:
    centre = mean(scores)
    variance = sum((score - centre) ** 2 * p for score, p in scores.items())
    return (centre - EQUAL) / math.sqrt(variance)


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated test: its decision and the number of blocks by score."""

    decision: SprtDecision
    scores: dict[float, float]

    @property
    def blocks(self) -> float:
        return sum(self.scores.values())


def runs(
    test: SequentialTest, truth: Distribution, number: int, seed: str
) -> Iterator[Run]:
    """Yield simulated tests that run until they stop."""
    rng = Random(seed)
    decide = cache(lambda counts: test.decide(dict(zip(truth, counts, strict=True))))
    draws = range(len(truth))
    weights = list(truth.values())
    for _ in range(number):
        counts = [0] * len(truth)
        decision = SprtDecision.CONTINUE
        while decision == SprtDecision.CONTINUE:
            for draw in rng.choices(draws, weights, k=DRAWS):
                counts[draw] += 1
                decision = decide(tuple(counts))
                if decision != SprtDecision.CONTINUE:
                    break
        yield Run(decision, dict(zip(truth, counts, strict=True)))
