"""The contents of the pages about analyses: the chart, turning points, what if."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlencode

from django.conf import settings

from engine.better_turns import BetterTurn
from engine.luck import PurchaseLuck
from engine.turning_points import GameAnalysis, TurnOutlook
from ladder.accounts.roles import Person
from ladder.extras.analysis import selectors
from ladder.extras.analysis.models import Analysis, AnalysisStatus
from ladder.games.models import Game

# The size of the chart, in units of the SVG.
WIDTH = 640
HEIGHT = 180
MARGIN = 12
LEFT = 44
STORY_CARDS = 3
"""The turning points on the page of a game."""


@dataclass(frozen=True, slots=True)
class ShownSwing:
    """The chance to win of a seat before and after one of its turns."""

    ply: int
    end: int
    seat: int
    bot: str
    phase: int
    round: int
    before: float
    after: float
    lead: float
    clear: bool
    better: BetterTurn | None
    purchases: list[PurchaseLuck]
    """The purchases of the turn, whose luck is a part of the change."""

    @property
    def points(self) -> int:
        """The change of the chance in percent points."""
        return round(100 * (self.after - self.before))

    @property
    def better_line(self) -> str:
        """The query of the what-if page on which the better turn has been played."""
        actions = self.better["actions"] if self.better else []
        return urlencode({"ply": self.ply, "line": actions}, doseq=True)


@dataclass(frozen=True, slots=True)
class ShownPurchase:
    """A purchase and the luck of its draw, in points with twice its standard error."""

    ply: int
    seat: int
    bot: str
    drawn: list[str]
    luck: float
    error: float


@dataclass(frozen=True, slots=True)
class ShownSeatLuck:
    """The luck of all purchases of a seat."""

    seat: int
    bot: str
    purchases: int
    luck: float
    error: float


@dataclass(frozen=True, slots=True)
class ChartDot:
    """A turning point on the chart."""

    x: float
    y: float
    swing: ShownSwing


@dataclass(frozen=True, slots=True)
class CourseChart:
    """The chances of all seats over the turns, as points in the format of SVG."""

    lines: list[str]
    dots: list[ChartDot]
    levels: list[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


@dataclass(frozen=True, slots=True)
class ShownAnalysis:
    """A finished analysis of a game: turning points by time, and all turns."""

    games: int
    points: list[ShownSwing]
    swings: list[ShownSwing]
    chart: CourseChart
    purchases: list[ShownPurchase]
    luck: list[ShownSeatLuck]
    turns: Sequence[TurnOutlook]

    @property
    def story(self) -> list[ShownSwing]:
        """The greatest turning points, by time, with the greatest loss in any case."""
        by_size = sorted(self.points, key=lambda swing: -abs(swing.points))
        lost = min(self.points, key=lambda swing: swing.points, default=None)
        chosen = [swing for swing in by_size if swing is not lost][: STORY_CARDS - 1]
        return [swing for swing in self.points if swing in chosen or swing is lost]

    @property
    def draws(self) -> list[dict[str, object]]:
        """The purchases, as the viewer shows them after each of these actions."""
        return [
            {"ply": p.ply + 1, "luck": p.luck, "error": 2 * p.error}
            for p in self.purchases
        ]

    @property
    def marks(self) -> list[dict[str, object]]:
        """The marks of the viewer at the turning points. `ply` is before the turn."""
        return [
            {"ply": swing.ply, "seat": swing.seat, "points": swing.points}
            for swing in self.points
        ]

    @property
    def chances(self) -> list[dict[str, object]]:
        """The chances of all seats before each turn, for the slider of the viewer."""
        return [{"ply": turn["ply"], "chances": turn["chances"]} for turn in self.turns]


@dataclass(frozen=True, slots=True)
class AnalysisState:
    """The state of a requested analysis, and of the quota of the visitor."""

    row: Analysis | None
    place: int
    expected_s: int | None
    left: int
    offered: bool

    @property
    def is_open(self) -> bool:
        return self.row is not None and self.row.is_open


def state(row: Analysis | None, person: Person) -> AnalysisState:
    queue = selectors.Queue() if row is not None and row.is_open else None
    return AnalysisState(
        row,
        queue.place(row) if queue and row else 0,
        queue.expected_s(row) if queue and row else None,
        selectors.left_today(person) if person.is_authenticated else 0,
        bool(settings.TORRES_ANALYSES_PER_DAY),
    )


def shown(game: Game) -> ShownAnalysis | None:
    """Return the analysis of a game, or None if there is none yet."""
    row = selectors.whole_game(game)
    if row is None or row.status != AnalysisStatus.FINISHED:
        return None
    names = [seat.submission.bot.name for seat in game.seats.all()]
    return shown_document(names, cast(GameAnalysis, row.document))


def shown_document(names: Sequence[str], document: GameAnalysis) -> ShownAnalysis:
    """Return an analysis of a game of these players."""
    turns = document["turns"]
    key = set(document["turning_points"])
    better = {turn["ply"]: turn for turn in document.get("better", [])}
    swings = [
        ShownSwing(
            ply=swing["ply"],
            end=swing["end"],
            seat=swing["seat"],
            bot=names[swing["seat"]],
            phase=turns[index]["phase"],
            round=turns[index]["round"],
            before=turns[index]["chances"][swing["seat"]],
            after=turns[index + 1]["chances"][swing["seat"]],
            lead=swing["lead"],
            clear=index in key,
            better=better.get(swing["ply"]),
            purchases=[
                purchase
                for purchase in document["luck"]["purchases"]
                if purchase["seat"] == swing["seat"]
                and swing["ply"] <= purchase["ply"] < swing["end"]
            ],
        )
        for index, swing in enumerate(document["swings"])
    ]
    return ShownAnalysis(
        games=document["games"],
        points=[swing for swing in swings if swing.clear],
        swings=swings,
        chart=_chart(turns, swings),
        purchases=[
            ShownPurchase(bot=names[purchase["seat"]], **purchase)
            for purchase in document["luck"]["purchases"]
        ],
        luck=[
            ShownSeatLuck(seat=number, bot=names[number], **luck)
            for number, luck in enumerate(document["luck"]["seats"])
        ],
        turns=turns,
    )


def _chart(turns: Sequence[TurnOutlook], swings: Sequence[ShownSwing]) -> CourseChart:
    span = max(1, len(turns) - 1)

    def x(index: int) -> float:
        return round(LEFT + index * (WIDTH - LEFT - MARGIN) / span, 1)

    def y(chance: float) -> float:
        return round(HEIGHT - MARGIN - chance * (HEIGHT - 2 * MARGIN), 1)

    seats = range(len(turns[0]["chances"]) if turns else 0)
    return CourseChart(
        lines=[
            " ".join(
                f"{x(index)},{y(turn['chances'][seat])}"
                for index, turn in enumerate(turns)
            )
            for seat in seats
        ],
        dots=[
            ChartDot(x(index + 1), y(swing.after), swing)
            for index, swing in enumerate(swings)
            if swing.clear
        ],
        levels=[(y(level), f"{100 * level:.0f}\xa0%") for level in (0.0, 0.5, 1.0)],
    )
