"""The model of capacity agrees with formulas of queueing theory."""

from math import factorial

import pytest

from tests.bench.capacity import CpuCost, fitted, forecast
from tests.bench.closed_network import ClosedNetwork, Station

PARTS = ("worker", "dispatcher", "PostgreSQL", "Redis")


@pytest.mark.parametrize("slots", [1, 2, 5, 20])
def test_one_station_is_the_machine_repair_model(slots: int) -> None:
    # M/M/1//N: the probability that the server is idle, from Kleinrock, volume 1, 3.8.
    demand_s, think_s = 0.3, 2.0
    ratio = demand_s / think_s
    idle = 1 / sum(
        factorial(slots) / factorial(slots - k) * ratio**k for k in range(slots + 1)
    )
    found = ClosedNetwork([Station("cpu", demand_s)], [], think_s).predict(slots)
    assert found.games_per_s == pytest.approx((1 - idle) / demand_s)
    assert found.utilisation["cpu"] == pytest.approx(1 - idle)


def test_the_slowest_station_bounds_the_throughput() -> None:
    stations = [Station("database", 0.002, 8), Station("dispatcher", 0.0015)]
    network = ClosedNetwork([Station("host", 0.1, 8)], stations, 10.0)
    found = network.predict(20, 1_000)
    assert found.games_per_s == pytest.approx(1 / 0.0015, rel=0.01)
    assert found.bottleneck == "dispatcher"
    assert found.utilisation["dispatcher"] <= 1


def test_hosts_do_not_disturb_each_other_without_a_bottleneck() -> None:
    network = ClosedNetwork([Station("host", 1.0, 4)], [Station("db", 1e-6)], 1.0)
    one, ten = network.predict(8), network.predict(8, 10)
    assert ten.games_per_s == pytest.approx(10 * one.games_per_s, rel=0.001)
    assert ten.utilisation["host"] == pytest.approx(one.utilisation["host"], rel=0.001)


@pytest.mark.parametrize("slots", [1, 3, 9])
def test_the_decomposition_is_near_the_exact_solution(slots: int) -> None:
    host, shared = Station("host", 0.4), Station("db", 0.2)
    exact = ClosedNetwork([host, shared], [], 1.0).predict(slots)
    found = ClosedNetwork([host], [shared], 1.0).predict(slots)
    assert found.games_per_s == pytest.approx(exact.games_per_s, rel=0.1)


def test_more_slots_never_play_fewer_games() -> None:
    stations = [Station("host", 0.5, 2), Station("dispatcher", 0.01)]
    network = ClosedNetwork(stations, [], 3.0)
    rates = [network.predict(slots).games_per_s for slots in range(1, 100)]
    assert rates == pytest.approx(sorted(rates))
    assert rates[0] == pytest.approx(1 / 3.51)
    assert rates[-1] <= 2 / 0.5


def test_no_slot_is_refused() -> None:
    with pytest.raises(ValueError, match="one slot"):
        ClosedNetwork([Station("host", 1.0)], [], 1.0).predict(0)


def test_a_hundred_hosts_of_quick_bots_wait_for_the_shared_parts() -> None:
    games = {"worker": 0.02, "dispatcher": 0.002, "PostgreSQL": 0.004, "Redis": 0.0005}
    costs = {part: CpuCost(0.0, game_s) for part, game_s in games.items()}
    one, hundred = (forecast(costs, 0.5, hosts) for hosts in (1, 100))
    assert one.bottleneck == "worker hosts"
    assert hundred.bottleneck == "dispatcher"
    assert hundred.games_per_s == pytest.approx(1 / 0.002, rel=0.01)
    assert hundred.games_per_s < 100 * one.games_per_s


def test_a_part_that_is_half_busy_without_games_plays_half_as_many() -> None:
    free = {part: CpuCost(0.0, 0.002) for part in PARTS}
    burdened = free | {"dispatcher": CpuCost(0.5, 0.002)}
    fast, slow = (forecast(costs, 0.5, 100) for costs in (free, burdened))
    assert slow.bottleneck == "dispatcher"
    assert slow.games_per_s == pytest.approx(fast.games_per_s / 2, rel=0.01)


def test_the_line_through_the_costs_finds_both_numbers() -> None:
    rates = [1.0, 2.0, 8.0]
    assert fitted(rates, [0.04 + 0.003 * rate for rate in rates]) == CpuCost(
        pytest.approx(0.04), pytest.approx(0.003)
    )
    assert fitted([2.0], [0.5]) == CpuCost(0.0, 0.25)


def test_no_part_needs_less_than_nothing_without_games() -> None:
    cost = fitted([1.0, 2.0], [0.1, 0.4])
    assert cost.idle == 0
    assert 0.1 < cost.game_s < 0.2
