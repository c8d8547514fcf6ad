"""A day of demand, played against the autoscalers of deploy/kubernetes/scaling.yaml.

`python -m tests.deploy.simulated_day` prints the table of docs/operating.md. Nothing is
drawn at random. Workers, builders and the controller are simulated; what the dispatcher
keeps open, the share of ladders and `demand.slots_wanted` are those of the service.

The day begins with 40 bots on a ladder. At 8:00 people upload 120 bots in ten minutes,
at 12:00 a round robin of 64 bots begins, and at 20:00 the ladder closes.
"""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import django
import yaml

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
    django.setup()

from ladder.dispatch import dispatcher
from ladder.games import shares
from ladder.games.selectors import UsualGame
from ladder.health.demand import Demand, slots_wanted
from ladder.tournaments import advance

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes"
SCALING = yaml.safe_load_all((FOLDER / "scaling.yaml").read_text())
SPECS: dict[str, dict[str, Any]] = {
    each["metadata"]["name"]: each["spec"]
    for each in SCALING
    if each["kind"] == "ScaledObject"
}
TRIGGER = {
    "metricType": "Value",
    "metadata": {
        "valueLocation": "torres_oldest_scheduled_seconds",
        "targetValue": "30",
    },
}
OLD_WORKER = SPECS["worker"] | {"triggers": [TRIGGER]}
"""The autoscaler of workers before decision 263."""
OLD_BUILDER = SPECS["builder"] | {"maxReplicaCount": 1}
"""There was one builder and no autoscaler."""

MINUTE_S = 60
HOUR_S = 60 * MINUTE_S
DAY_S = 24 * HOUR_S
TICK_S = 5
SYNC_S = 15  # of the controller in Kubernetes
DEFAULT_WINDOW_S = 300
TOLERANCE = 0.1
POD_START_S = 60

UPLOADS_AT_S, TOURNAMENT_AT_S, CLOSES_AT_S = 8 * HOUR_S, 12 * HOUR_S, 20 * HOUR_S
UPLOADS = 120
UPLOADS_TIME_S = 10 * MINUTE_S
VALIDATION_S = 20
BOTS_AT_FIRST = 40
ENTRANTS = 64
TOURNAMENT_GAMES = ENTRANTS * (ENTRANTS - 1) // 2
GAMES_PER_BOT_AND_DAY = 100.0
SEATS = 3.0
SLOTS_PER_WORKER = 2
LADDER, TOURNAMENT = "ladder", "tournament"
GAME_LENGTHS_S = (5, 10, 60)
COLUMNS = (
    "signal",
    "a game takes",
    "6:00",
    "tournament, at most",
    "half of them play after",
    "it is over after",
    "19:00",
    "21:00",
    "worker hours",
    "uploads checked after",
)


class Controller:
    """The autoscaler that KEDA makes from a ScaledObject, with the defaults.

    It allows twice as many pods or four more in 15 s, and goes down to the largest
    number that it wanted during the window.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        (trigger,) = spec["triggers"]
        self.metric: str = trigger["metadata"]["valueLocation"]
        self._target = float(trigger["metadata"]["targetValue"])
        self._is_average = trigger["metricType"] == "AverageValue"
        self._bounds = spec["minReplicaCount"], spec["maxReplicaCount"]
        config = spec.get("advanced", {}).get("horizontalPodAutoscalerConfig", {})
        down = config.get("behavior", {}).get("scaleDown", {})
        window_s = down.get("stabilizationWindowSeconds", DEFAULT_WINDOW_S)
        self._wanted: deque[int] = deque(maxlen=window_s // SYNC_S)

    def replicas(self, present: int, value: float) -> int:
        """Return the new number of pods for a value of the metric."""
        exact = value / self._target * (1 if self._is_average else present)
        wanted = present if abs(exact / present - 1) <= TOLERANCE else ceil(exact)
        least, most = self._bounds
        self._wanted.append(max(least, min(most, wanted)))
        if self._wanted[-1] > present:
            return min(self._wanted[-1], max(2 * present, present + 4))
        return min(present, max(self._wanted))


@dataclass
class Pods:
    """The pods of a Deployment. A new one works after POD_START_S."""

    ready: int = 1
    starting: list[int] = field(default_factory=list)
    """When each new pod becomes ready, the earliest first."""

    @property
    def all(self) -> int:
        return self.ready + len(self.starting)

    def scale(self, wanted: int, now: int) -> None:
        more = wanted - self.all
        self.starting += [now + POD_START_S] * more
        if more < 0:
            kept = max(0, len(self.starting) + more)
            self.ready -= max(0, -more - len(self.starting))
            del self.starting[kept:]

    def tick(self, now: int) -> None:
        self.ready += sum(at <= now for at in self.starting)
        self.starting = [at for at in self.starting if at > now]


class Moment(NamedTuple):
    """The state of the service at a time in seconds since midnight."""

    at_s: int
    workers: int
    """With those that start."""
    ready: int
    """The workers that play."""
    uploads_waiting: int
    tournament_games: int
    ladder_games: int


class SimulatedService:
    """Games and uploads of the day, with as many pods as the controllers want."""

    def __init__(
        self, worker: dict[str, Any], builder: dict[str, Any], game_s: int
    ) -> None:
        self._game = UsualGame(float(game_s), SEATS)
        self._scalers = [(Controller(worker), Pods()), (Controller(builder), Pods())]
        self._waiting: dict[str, deque[int]] = {LADDER: deque(), TOURNAMENT: deque()}
        """The times at which the games that wait were scheduled, by kind."""
        self._running: list[tuple[int, str]] = []
        """When each running game ends, and its kind."""
        self._planned = 0
        """Games of the tournament that the dispatcher has not scheduled."""
        self._finished = dict.fromkeys(self._waiting, 0)
        self._bots = BOTS_AT_FIRST
        self._uploaded = 0
        self._validated = 0.0

    def day(self) -> Iterator[Moment]:
        for now in range(0, DAY_S, TICK_S):
            self._take_uploads(now)
            self._play(now)
            for controller, pods in self._scalers:
                pods.tick(now)
                if now % SYNC_S == 0:
                    value = self._metric(controller.metric, now)
                    pods.scale(controller.replicas(pods.all, value), now)
            workers = self._scalers[0][1]
            games = self._tournament_games(now)
            done = self._finished[LADDER]
            uploads = self._uploads_waiting()
            yield Moment(now, workers.all, workers.ready, uploads, games, done)

    def _metric(self, name: str, now: int) -> float:
        if name == "torres_uploads_waiting":
            return self._uploads_waiting()
        if name == "torres_oldest_scheduled_seconds":
            return max(
                (now - games[0] for games in self._waiting.values() if games), default=0
            )
        assert name == "torres_slots_wanted"
        bots = self._bots if now < CLOSES_AT_S else 0
        games = self._tournament_games(now)
        return slots_wanted(Demand(games, bots, GAMES_PER_BOT_AND_DAY, self._game))

    def _uploads_waiting(self) -> int:
        return self._uploaded - int(self._validated)

    def _tournament_games(self, now: int) -> int:
        return TOURNAMENT_GAMES * (now >= TOURNAMENT_AT_S) - self._finished[TOURNAMENT]

    def _take_uploads(self, now: int) -> None:
        """Each upload is a new bot, which joins the ladder after its validation."""
        since_s = min(max(0, now - UPLOADS_AT_S), UPLOADS_TIME_S)
        self._uploaded = UPLOADS * since_s // UPLOADS_TIME_S
        more = self._scalers[1][1].ready * TICK_S / VALIDATION_S
        self._validated = min(self._uploaded, self._validated + more)
        self._bots = BOTS_AT_FIRST + int(self._validated)

    def _play(self, now: int) -> None:
        while self._running and self._running[0][0] <= now:
            self._finished[heappop(self._running)[1]] += 1
        slots = SLOTS_PER_WORKER * self._scalers[0][1].ready
        self._schedule(slots, now)
        self._start(slots, now)

    def _schedule(self, slots: int, now: int) -> None:
        """Keep as many games open as the dispatcher does at most."""
        held = [kind for _, kind in self._running]
        if now == TOURNAMENT_AT_S:
            self._planned = TOURNAMENT_GAMES
        tournament, ladder = self._waiting[TOURNAMENT], self._waiting[LADDER]
        wanted = advance.OPEN_GAMES_PER_SLOT * slots - held.count(TOURNAMENT)
        more = min(self._planned, max(0, wanted - len(tournament)))
        self._planned -= more
        tournament.extend([now] * more)
        if now < CLOSES_AT_S:
            wanted = dispatcher.OPEN_GAMES_PER_SLOT * slots - held.count(LADDER)
            ladder.extend([now] * (wanted - len(ladder)))

    def _start(self, slots: int, now: int) -> None:
        """Start games: of tournaments up to their share, or more if ladders have none.

        Within the shares the dispatcher prefers the game that has waited longest.
        """
        tournament, ladder = self._waiting[TOURNAMENT], self._waiting[LADDER]
        lent = slots - shares.reserve(slots)
        played = sum(kind == TOURNAMENT for _, kind in self._running)
        while len(self._running) < slots and (tournament or ladder):
            may = bool(tournament) and (not ladder or played < lent)
            first = not ladder or (may and tournament[0] <= ladder[0])
            kind = TOURNAMENT if may and first else LADDER
            played += kind == TOURNAMENT
            self._waiting[kind].popleft()
            heappush(self._running, (now + int(self._game.slot_s), kind))


@dataclass(frozen=True)
class Report:
    """The figures of one autoscaler over the day."""

    night: int
    """Workers at 6:00, with a quiet ladder."""
    reaction_s: int | None
    """Until half of the peak played; None if the tournament got no more workers."""
    peak: int
    """The most workers during the tournament."""
    tournament_s: int | None
    afternoon: int
    """Workers at 19:00: the tournament is over, and the ladder goes on."""
    closed: int
    """Workers at 21:00, an hour after the ladder closed."""
    worker_hours: int
    uploads_s: int
    """From the first upload to the last validation."""
    ladder_games: int
    """Games of the ladder until the tournament."""


def report(worker: dict[str, Any], builder: dict[str, Any], game_s: int) -> Report:
    """Play the day, and say what the autoscalers did."""
    day = list(SimulatedService(worker, builder, game_s).day())
    workers = {moment.at_s: moment.workers for moment in day}
    during = [each for each in day if each.at_s >= TOURNAMENT_AT_S]
    over = [each.at_s for each in during if not each.tournament_games]
    peak = max(each.workers for each in during if each.at_s < (over or [DAY_S])[0])
    enough = [each.at_s for each in during if each.ready >= peak / 2]
    after_uploads = (each for each in day if each.at_s > UPLOADS_AT_S + UPLOADS_TIME_S)
    validated = next(each.at_s for each in after_uploads if not each.uploads_waiting)
    before = workers[TOURNAMENT_AT_S - TICK_S]
    return Report(
        night=workers[6 * HOUR_S],
        reaction_s=enough[0] - TOURNAMENT_AT_S if peak > before else None,
        peak=peak,
        tournament_s=over[0] - TOURNAMENT_AT_S if over else None,
        afternoon=workers[19 * HOUR_S],
        closed=workers[21 * HOUR_S],
        worker_hours=round(sum(workers.values()) * TICK_S / HOUR_S),
        uploads_s=validated - UPLOADS_AT_S,
        ladder_games=day[TOURNAMENT_AT_S // TICK_S].ladder_games,
    )


def table() -> str:
    """Return the figures of both signals, as Markdown."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for name, worker, builder in (
        ("age of the oldest game", OLD_WORKER, OLD_BUILDER),
        ("`torres_slots_wanted`", SPECS["worker"], SPECS["builder"]),
    ):
        for game_s in GAME_LENGTHS_S:
            found = report(worker, builder, game_s)
            cells = (
                name,
                f"{game_s} s",
                found.night,
                found.peak,
                _minutes(found.reaction_s),
                _minutes(found.tournament_s),
                found.afternoon,
                found.closed,
                found.worker_hours,
                _minutes(found.uploads_s),
            )
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _minutes(seconds: int | None) -> str:
    return "never" if seconds is None else f"{seconds / MINUTE_S:.1f} min"


if __name__ == "__main__":
    print(table())
