"""The test of a new version against an old one, fed with blocks in their order.

It stops at the first block at which the sequential test is sure. Blocks that are added
later change the e-value and its interval, which hold at all times, but not the verdict.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from torres.rating.betting import confidence_sequence, e_value, mirrored
from torres.rating.sprt import EQUAL, SequentialTest, SprtDecision
from torres.rating.stopped_effect import Effect, stopped_effect


class VersionVerdict(StrEnum):
    """The answer of the test about the new version."""

    BETTER = "better"
    NO_DIFFERENCE = "no_difference"
    WORSE = "worse"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class BlockEvidence:
    """The evidence of all blocks, valid at any time, also after the test has stopped.

    ``better`` and ``worse`` are e-values: the odds against the opposite. The interval
    of the mean block score misses the truth with 5 %, at all times together.
    """

    better: float
    worse: float
    low: float
    high: float


@dataclass(slots=True)
class VersionTest:
    """A running or ended test. ``tested`` are the scores on which it decided."""

    test: SequentialTest
    tested: Counter[float] = field(default_factory=Counter)
    scores: Counter[float] = field(default_factory=Counter)
    decision: SprtDecision = SprtDecision.CONTINUE

    def add(self, score: float) -> None:
        """Add the score of the next block."""
        self.scores[score] += 1
        if self.decision == SprtDecision.CONTINUE:
            self.tested[score] += 1
            self.decision = self.test.decide(self.tested)

    @property
    def blocks(self) -> int:
        """The number of all blocks."""
        return self.scores.total()

    @property
    def llr(self) -> float:
        """The log-likelihood ratio, as it was when the test stopped."""
        return self.test.llr(self.tested) if self.tested else 0.0

    @property
    def verdict(self) -> VersionVerdict:
        """The verdict. A version is worse if its whole interval is below equality."""
        if self.decision == SprtDecision.ACCEPT_H1:
            return VersionVerdict.BETTER
        if self.decision == SprtDecision.CONTINUE:
            return VersionVerdict.UNDECIDED
        worse = self.effect().high < EQUAL
        return VersionVerdict.WORSE if worse else VersionVerdict.NO_DIFFERENCE

    def effect(self) -> Effect:
        """Return the effect that the test has measured. It needs one block."""
        return stopped_effect(self.test, self.tested)

    def evidence(self) -> BlockEvidence:
        """Return the evidence of all blocks."""
        low, high = confidence_sequence(self.scores)
        return BlockEvidence(
            e_value(self.scores), e_value(mirrored(self.scores)), low, high
        )


def resumed(
    test: SequentialTest, scores: Sequence[float], *, stopped_at: int | None = None
) -> VersionTest:
    """Return a test with the blocks that it has taken in before.

    ``stopped_at`` is the number of blocks after which the test decided; None if it is
    still undecided.
    Blocks after that are evidence, and do not change the verdict.
    """
    tested = Counter(scores[:stopped_at])
    decision = SprtDecision.CONTINUE if stopped_at is None else test.decide(tested)
    return VersionTest(test, tested, Counter(scores), decision)
