"""A closed queueing network: how many games a service plays with a number of slots.

Each slot plays game after game, so the number of games under way is constant. A game
needs some seconds of each station (a processor, the database, the dispatcher), and
waits there while other games are served. Bots that think without a processor only let
time pass.

The throughput follows by exact mean value analysis (M. Reiser and S. Lavenberg,
"Mean-Value Analysis of Closed Multichain Queuing Networks", 1980). A station with
several servers is replaced by a faster one and a delay (A. Seidmann, P. Schweitzer and
S. Shalev-Oren, "Computerized Closed Queueing Network Models", 1987). Several hosts are
solved by decomposition: each host takes the time at the shared stations as a delay, and
these take the time at the hosts as one, until both agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS = 100
"""The decomposition takes these rounds at most; usually less than twenty."""
AGREEMENT = 1e-6


@dataclass(frozen=True, slots=True)
class Station:
    """A part of the service where games wait for each other.

    `demand_s` is the time of service that a game needs in all. `servers` are processors
    that serve different games at once.
    """

    name: str
    demand_s: float
    servers: int = 1


@dataclass(frozen=True, slots=True)
class CapacityForecast:
    """The games finished in a second, and how busy each station is, from 0 to 1."""

    games_per_s: float
    utilisation: dict[str, float]

    @property
    def bottleneck(self) -> str:
        """Return the name of the busiest station."""
        return max(self.utilisation, key=lambda name: self.utilisation[name])


@dataclass(frozen=True, slots=True)
class ClosedNetwork:
    """Hosts with slots, the stations of each host, and those that all hosts share.

    `think_s` is the time of a game that passes without any of the stations.
    """

    host: Sequence[Station]
    shared: Sequence[Station]
    think_s: float

    def predict(self, slots: int, hosts: int = 1) -> CapacityForecast:
        """Return the throughput of hosts with `slots` slots each.

        Raises ValueError without a slot or a host.
        """
        if slots < 1 or hosts < 1:
            raise ValueError("Give one slot and one host, or more.")
        games = slots * hosts
        shared_s = throughput = 0.0
        for _ in range(ROUNDS):
            host_rate = _throughput(self.host, self.think_s + shared_s, slots)
            host_s = slots / host_rate - self.think_s - shared_s
            before = throughput
            throughput = _throughput(self.shared, self.think_s + host_s, games)
            shared_s = games / throughput - self.think_s - host_s
            if abs(throughput - before) <= AGREEMENT * throughput:
                break
        busy = {
            each.name: throughput / hosts * each.demand_s / each.servers
            for each in self.host
        }
        busy |= {
            each.name: throughput * each.demand_s / each.servers for each in self.shared
        }
        return CapacityForecast(throughput, busy)


def _throughput(stations: Sequence[Station], think_s: float, games: int) -> float:
    """Return the games in a second that pass the stations, by mean value analysis."""
    shares = [each.demand_s / each.servers for each in stations]
    delay_s = think_s + sum(
        share * (each.servers - 1) for share, each in zip(shares, stations, strict=True)
    )
    waiting = [0.0] * len(stations)
    throughput = 0.0
    for present in range(1, games + 1):
        stays = [
            share * (1 + queue) for share, queue in zip(shares, waiting, strict=True)
        ]
        throughput = present / (delay_s + sum(stays))
        waiting = [throughput * stay for stay in stays]
    return throughput
