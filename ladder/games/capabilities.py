"""What a game needs of a worker, and what a worker offers: words that must be there.

The words are the languages of the bots, the level of the sandbox that has to hold
uploaded ones, and the version of the rules. A game goes to workers that offer all of
its words: through the common queues where every worker does, else through a queue that
only workers of one kind listen to.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from engine.replay import VERSION
from ladder.runner.languages import BY_NAME
from ladder.runner.sandbox import LEVELS

Capabilities = frozenset[str]
_RULES = "rules-"


def needs(bots: Iterable[tuple[str, bool]], level: str) -> str:
    """Return the words for a table of (language, whether it is the house's own).

    `level` has to hold what was uploaded. The text is canonical: equal needs are equal
    texts.
    """
    table = list(bots)
    words = {f"{_RULES}{VERSION}", *(language for language, _ in table)}
    if level != "none" and not all(house for _, house in table):
        words.add(level)
    return " ".join(sorted(words))


def offers(languages: Iterable[str], level: str, rules: str) -> Capabilities:
    """Return the words of a worker: its level holds for lower ones, too."""
    levels = LEVELS[1 : LEVELS.index(level) + 1] if level in LEVELS else ()
    versions = range(1, int(rules) + 1)
    return frozenset([*languages, *levels, *(f"{_RULES}{n}" for n in versions)])


def fit(wanted: str, offered: Capabilities | None) -> bool:
    """Say whether a worker can play a game; one that told nothing (None) plays all."""
    return offered is None or offered.issuperset(wanted.split())


def queue_of(offered: Capabilities | None) -> str:
    """Name the queue of all workers that offer just this."""
    if offered is None:
        return "play"
    text = " ".join(sorted(offered))
    return f"only-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """The workers that offer the same, and how many games they play at once."""

    offered: Capabilities | None
    slots: int

    @property
    def queue(self) -> str:
        return queue_of(self.offered)


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Who is at work now."""

    crews: Sequence[WorkerGroup] = field(default_factory=tuple)

    @property
    def slots(self) -> int:
        return sum(crew.slots for crew in self.crews)

    def able(self, wanted: str) -> list[WorkerGroup]:
        """List the crews that can play a game."""
        return [crew for crew in self.crews if fit(wanted, crew.offered)]

    def lacks(self, wanted: str) -> list[str]:
        """List the words that keep the nearest crew from it; none if one is able."""
        words = set(wanted.split())
        gaps = [sorted(words - (crew.offered or words)) for crew in self.crews]
        return min(gaps, key=len) if gaps else sorted(words)


def cure(lacking: Collection[str]) -> str:
    """Say what an operator can do so that some worker offers these words."""
    steps = []
    for word in lacking:
        if word in BY_NAME:
            packages = " ".join(package for _, package in BY_NAME[word].needs)
            steps.append(f"apt-get install {packages}")
        elif word in LEVELS:
            steps.append(f"raise its sandbox to {word} (torres doctor says how)")
        else:
            steps.append("update it: it knows older rules")
    return f"on a worker, {' and '.join(steps)}; then start it again"
