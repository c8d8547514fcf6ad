"""How much a benchmark measures: in full, or little, to prove that it runs.

`python -m tests.bench --short` sets `SHORT_VARIABLE`, and the processes that a
benchmark starts inherit it. The figures of a short run mean nothing, so it checks no
target.
"""

import os
from typing import TypeVar

# Not TORRES_…, because a service refuses to start with a setting that it does not know.
SHORT_VARIABLE = "BENCH_SHORT"

Size = TypeVar("Size")


def size(full: Size, *, short: Size) -> Size:
    """Return the first size, or the second one in a short run."""
    return short if os.environ.get(SHORT_VARIABLE) == "1" else full
