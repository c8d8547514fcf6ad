"""How fast this machine is at the moment, for targets in milliseconds.

A target that counts seconds means a machine. Ours is the one on which a fixed loop
takes 42 ms of CPU: the targets of slower machines are longer in the same ratio.
"""

import time
from statistics import median

REFERENCE_S = 0.042
"""CPU time of the loop on the machine for which the targets are meant."""
ROUNDS = 5


def slowness() -> float:
    """Return by how much this machine is slower than the reference; at least 1."""
    return max(1.0, median(_loop_s() for _ in range(ROUNDS)) / REFERENCE_S)


def _loop_s() -> float:
    began = time.process_time()
    sum(i * i for i in range(1_000_000))
    return time.process_time() - began


def cpu_row(
    what: str, value: float, target: float, slower: float
) -> tuple[str, float, str, bool]:
    """Return the row of a target in CPU time, which is longer on a slower machine."""
    limit = target * slower
    if slower > 1:
        what += f" (the limit is {target:g} at {slower:.2f} times this speed)"
    return what, value, f"≤ {limit:.3g}", value <= limit
