"""Which workers can play which games, in terms of tags.

A game needs tags and a worker offers tags: the languages of the bots, the sandbox
level that uploaded bots require, the memory of a slot beyond SLOT_MEMORY_MB, and the
version of the rules. A worker is capable of a
game if it offers every tag that the game needs. If all workers are capable of a game,
it goes through a common queue; otherwise through a queue of one group of workers. This
module knows no database.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from engine.replay import VERSION
from torres.runner.languages import BY_NAME
from torres.runner.sandbox import LEVELS

Capabilities = frozenset[str]
_RULES = "rules-"
_MEMORY = "memory-"
SLOT_MEMORY_MB = 1024
"""What every slot is expected to have: four bots with the default limits."""
MAX_MEMORY_MB = 1 << 20


def needs(bots: Iterable[tuple[str, bool]], level: str, memory_mb: int = 0) -> str:
    """Return the tags that a game needs, as a text of sorted words.

    `bots` holds the language of each bot and whether it is a house bot. Uploaded bots
    need a sandbox of this `level`; house bots do not. `memory_mb` is what all bots may
    use, in MiB; it is rounded up to a power of 2. Equal needs are equal texts.
    """
    seats = list(bots)
    tags = {f"{_RULES}{VERSION}", *(language for language, _ in seats)}
    if memory_mb > SLOT_MEMORY_MB:
        tags.add(f"{_MEMORY}{1 << (memory_mb - 1).bit_length()}")
    if level != "none" and not all(is_house for _, is_house in seats):
        tags.add(level)
    return " ".join(sorted(tags))


def offers(
    languages: Iterable[str], level: str, rules: str, memory_mb: float | None = None
) -> Capabilities:
    """Return the tags that a worker offers.

    A sandbox level includes all lower levels, and a version of the rules includes all
    older versions. `memory_mb` is the memory of one slot, in MiB; None if unknown.
    """
    levels = LEVELS[1 : LEVELS.index(level) + 1] if level in LEVELS else ()
    versions = range(1, int(rules) + 1)
    tags = {*languages, *levels, *(f"{_RULES}{n}" for n in versions)}
    size = 2 * SLOT_MEMORY_MB
    while size <= (MAX_MEMORY_MB if memory_mb is None else memory_mb):
        tags.add(f"{_MEMORY}{size}")
        size *= 2
    return frozenset(tags)


def slot_memory_mb(memory_mb: int | None, slots: int) -> float | None:
    """Return the memory of each slot of a host with this memory; None if unknown."""
    return None if memory_mb is None else memory_mb / max(1, slots)


def fit(needed: str, offered: Capabilities | None) -> bool:
    """True if a worker can play a game. A worker without known offers plays all."""
    return offered is None or offered.issuperset(needed.split())


def queue_of(offered: Capabilities | None) -> str:
    """Return the queue of all workers that offer exactly these tags."""
    if offered is None:
        return "play"
    text = " ".join(sorted(offered))
    return f"only-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class WorkerGroup:
    """All workers that offer the same tags; `slots` is the sum of their slots."""

    offered: Capabilities | None
    slots: int

    @property
    def queue(self) -> str:
        return queue_of(self.offered)


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """All workers that take games now, in groups.

    `plays_only` is the number of their slots that validate no uploads. `builders` is
    the number of slots of the workers that only validate uploads.
    """

    groups: Sequence[WorkerGroup] = field(default_factory=tuple)
    plays_only: int = 0
    builders: int = 0

    @property
    def slots(self) -> int:
        return sum(group.slots for group in self.groups)

    def capable(self, needed: str) -> list[WorkerGroup]:
        """List the groups that can play a game."""
        return [group for group in self.groups if fit(needed, group.offered)]

    def missing_tags(self, needed: str) -> list[str]:
        """List the tags that the best group lacks for a game; empty if none lacks."""
        tags = set(needed.split())
        gaps = [sorted(tags - (group.offered or tags)) for group in self.groups]
        return min(gaps, key=len) if gaps else sorted(tags)


def remedy(missing: Collection[str]) -> str:
    """Say what an operator can do so that some worker offers these tags."""
    steps = []
    for tag in missing:
        if tag in BY_NAME:
            packages = " ".join(package for _, package in BY_NAME[tag].needs)
            steps.append(f"apt-get install {packages}")
        elif tag in LEVELS:
            steps.append(f"raise the sandbox level to {tag} (run 'torres doctor')")
        elif tag.startswith(_MEMORY):
            size = tag.removeprefix(_MEMORY)
            steps.append(f"give each slot {size} MiB of memory, or use fewer slots")
        else:
            steps.append("update this software, because its rules are too old")
    return f"on a worker, {' and '.join(steps)}; then restart the worker"
