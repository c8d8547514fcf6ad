"""Fifty stops and starts of a service under load (`make soak`)."""

from tests.ops.test_stops import stop_and_start

STOPS = 50
MAX_FIRST_CLAIM_S = 3.0
"""On a machine that does nothing else."""


def test_fifty_stops_under_load_harm_nothing(data):
    starts = stop_and_start(data, STOPS)

    times = sorted(start.claim for start in starts)
    assert times[-1] <= MAX_FIRST_CLAIM_S, times
