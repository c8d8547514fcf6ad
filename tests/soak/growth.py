"""Measures what a service holds, again and again, and finds what grows."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from torres.runner.sandbox.cgroup_mounts import find

TENTHS = 10
MIB = 1 << 20
TRANSIENT_TABLES = {
    "private logs": "games_seatlog",
    "uses of logs": "games_loguse",
    "answers of attempts": "games_answerbatch",
    "worker rows": "games_worker",
    "sessions": "django_session",
    "tokens": "accounts_apitoken",
    "checkpoints": "ratings_checkpoint",
    "stopped units": "moderation_stoppedunit",
}
"""Tables whose rows are deleted in time, so that their number stays the same."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The growth that is permitted between two tenths: a share, and an amount."""

    share: float
    amount: float

    def permits(self, before: float, after: float) -> bool:
        return after <= before * (1 + self.share) + self.amount


BOUNDS = {
    "memory of": Bound(0.1, 8.0),  # MiB; an allocator does not return everything
    # Those of the worker depend on how many bots play at a moment.
    "descriptors of worker": Bound(0.3, 16.0),
    "descriptors of": Bound(0.0, 4.0),
    "threads of": Bound(0.0, 4.0),
    "control groups": Bound(0.3, 12.0),
    "files in": Bound(0.1, 8.0),
    "rows of": Bound(0.2, 60.0),
    "bytes per": Bound(0.2, 200.0),
    "connections": Bound(0.0, 4.0),
    "zygotes": Bound(0.3, 4.0),
    "broker": Bound(0.1, 1.0),
}
"""The bounds by the first words of a quantity."""


@dataclass(slots=True)
class Series:
    """The values of some quantities over time; `names` says in which order."""

    samples: list[Mapping[str, float]] = field(default_factory=list)

    def growing(self) -> list[str]:
        """Return a sentence for each quantity that grew after the first tenth.

        The median of the second tenth is compared with that of the last one.
        """
        found = []
        for name in sorted({name for sample in self.samples for name in sample}):
            before, after = self.ends(name)
            if not _bound(name).permits(before, after):
                found.append(f"{name} grew from {before:.1f} to {after:.1f}")
        return found

    def ends(self, name: str) -> tuple[float, float]:
        """Return the medians of a quantity in the second and in the last tenth."""
        values = [sample[name] for sample in self.samples if name in sample]
        tenth = max(1, len(values) // TENTHS)
        return median(values[tenth : 2 * tenth] or values), median(values[-tenth:])

    def lines(self) -> Iterator[str]:
        """Yield one line for each quantity."""
        for name in sorted({name for sample in self.samples for name in sample}):
            before, after = self.ends(name)
            yield f"{name:44} {before:12.1f} {after:12.1f}"


def _bound(name: str) -> Bound:
    return next(bound for start, bound in BOUNDS.items() if name.startswith(start))


def tree(pid: int) -> dict[int, bytes]:
    """Return a process and those below it, with their command lines."""
    found = {}
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        try:
            tasks = list(Path(f"/proc/{one}/task").iterdir())
            found[one] = Path(f"/proc/{one}/cmdline").read_bytes()
            for task in tasks:
                waiting += map(int, (task / "children").read_text().split())
        except OSError:  # it has ended
            continue
    return found


def process_quantities(name: str, pid: int) -> dict[str, float]:
    """Return the memory in MiB, descriptors and threads of one process."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
        descriptors = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return {}
    fields = dict(line.split(":", 1) for line in text.splitlines())
    return {
        f"memory of {name}": int(fields["RssAnon"].split()[0]) / 1024,
        f"descriptors of {name}": descriptors,
        f"threads of {name}": int(fields["Threads"]),
    }


def control_groups(workers: Iterable[int]) -> int:
    """Count the control groups that these processes made for bots."""
    return sum(
        1
        for hierarchy in find()
        for worker in workers
        for _ in (hierarchy.here / "torres").glob(f"{worker}-*/**/")
    )


def files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))


def growth_per_step(
    sizes: Sequence[float], steps: Sequence[float]
) -> tuple[float, float]:
    """Return the growth of a size for each step, in the first and the last half.

    The first tenth is left out.
    """
    start, middle, end = len(sizes) // TENTHS, len(sizes) * 11 // 20, len(sizes) - 1

    def slope(first: int, last: int) -> float:
        return (sizes[last] - sizes[first]) / max(1.0, steps[last] - steps[first])

    return slope(start, middle), slope(middle, end)
