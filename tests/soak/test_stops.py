"""Fifty stops and starts of a service under load (`make soak`)."""

from tests.ops.test_stops import assert_stops_harm_nothing


def test_fifty_stops_under_load_harm_nothing(data):
    assert_stops_harm_nothing(data, 50)
