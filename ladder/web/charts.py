"""A rating's history as the points of a picture; the template writes the SVG."""

from dataclasses import dataclass

from ladder.ratings.leaderboard import HistoryPoint

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 200, 36, 20, 8


@dataclass(frozen=True, slots=True)
class Tick:
    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A new version at this place."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Coordinates as SVG wants them: `line` is the rating, `band` is μ ± 3 σ."""

    line: str
    mean: str
    band: str
    ticks: list[Tick]
    marks: list[Mark]
    first: float
    last: float
    count: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


def chart(points: list[HistoryPoint]) -> Chart | None:
    """Lay out a history; None if there is nothing to draw."""
    if not points:
        return None
    low = min(p.rating for p in points)
    high = max(p.mu + 3 * p.sigma for p in points)

    def x(index: int) -> float:
        span = max(len(points) - 1, 1)
        return round(LEFT + index * (WIDTH - LEFT - 8) / span, 1)

    def y(value: float) -> float:
        share = (value - low) / ((high - low) or 1.0)
        return float(round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1))

    upper = [(x(k), y(p.mu + 3 * p.sigma)) for k, p in enumerate(points)]
    lower = [(x(k), y(p.rating)) for k, p in enumerate(points)]
    return Chart(
        line=_path(lower),
        mean=_path([(x(k), y(p.mu)) for k, p in enumerate(points)]),
        band=_path(upper + lower[::-1]),
        ticks=[Tick(y(v), f"{v:.0f}") for v in _steps(low, high)],
        marks=[
            Mark(x(k), "new version")
            for k, p in enumerate(points)
            if p.kind == "new_version"
        ],
        first=points[0].rating,
        last=points[-1].rating,
        count=len(points),
    )


def _path(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)


def _steps(low: float, high: float) -> list[float]:
    """Choose three to seven round values inside the range."""
    for step in (1, 2, 5, 10, 20, 50, 100):
        first = -(-low // step) * step
        count = int((high - first) // step) + 1
        if count <= 7:
            return [first + k * step for k in range(count)]
    return [low, high]
