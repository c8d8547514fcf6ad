"""The leaderboard, the statistics of one bot, and the comparison of two bots.

Rendered leaderboards are cached for some seconds, because many visitors read the same
ones.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.core.cache import cache
from django.core.validators import slug_re
from django.template.loader import render_to_string
from django.utils.translation import get_language

from ladder.bots.models import Bot
from ladder.games.models import MAX_SEATS
from ladder.ratings import leaderboard as ratings, second_opinion, statistics
from ladder.ratings.deal_by_deal import DealComparison, compare_deals, has_deals
from ladder.ratings.models import Ladder, Rating, Season
from ladder.ratings.ranked_rows import BoardFilter, RankedRow, ranked_page
from ladder.ratings.second_opinion import OpinionOnBot
from ladder.ratings.statistics import Meeting, RatingSummary, SeatStrength, TieBand
from ladder.web.pages import bot_pages
from ladder.web.pages.bot_pages import SeasonChoice
from torres.drawing.charts import Chart, chart
from torres.drawing.scales import Scale, scale

ROWS = 50  # rows on one page of a leaderboard
BEST_ROWS = 5  # rows on the home page, which links to the whole leaderboard
LEADERBOARD_TTL_S = 2  # as in the API
MAX_OPPONENTS = 20  # opponents on the page of a bot


class BotsNotRated(Exception):
    """One or both bots have no rating in the season; `slugs` names them."""

    def __init__(self, slugs: Sequence[str]) -> None:
        super().__init__(f"not rated in this season: {', '.join(slugs)}")
        self.slugs = slugs


@dataclass(frozen=True, slots=True)
class RenderedBoard:
    """A page of a leaderboard as HTML, and the numbers of its neighbour pages.

    `total` counts the listed bots, `hidden` those that are not, because they are
    withdrawn.
    """

    html: str
    total: int
    hidden: int
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class SeasonBoard:
    """A page of the leaderboard of a season."""

    season: Season
    page: RenderedBoard
    other_seasons: list[Season]


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """The 95 % interval of a strength, in percent of the scale of the page."""

    low: float
    value: float
    high: float


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A row of the leaderboard, with what only the page shows."""

    row: RankedRow
    trend: float | None
    bar: IntervalBar | None
    opinion: OpinionOnBot | None


@dataclass(frozen=True, slots=True)
class BotComparison:
    """Two bots of a ladder. `meeting` is as seen from the first one.

    `after` counts the games in which the first bot ranked behind the second. `percent`
    is TrueSkill's probability that the first bot is better; `certain` tells whether the
    joint fit is sure which of them is. `deals` is None on a ladder where each game has
    decks of its own.
    """

    bots: tuple[Bot, Bot]
    summaries: tuple[RatingSummary, RatingSummary]
    meeting: Meeting
    after: int
    percent: float
    certain: bool
    deals: DealComparison | None


@dataclass(frozen=True, slots=True)
class LadderStanding:
    """The statistics of a bot in one season of a ladder.

    `seats` are its strengths by seat, for each number of players.
    `seasons` are all seasons of the ladder in which the bot is rated, if these are
    several.
    """

    ladder: Ladder
    season: Season
    seasons: list[Season]
    record: RatingSummary
    seats: list[tuple[int, list[SeatStrength | None]]]
    opponents: list[Meeting]
    chart: Chart | None


def default_ladder() -> Ladder | None:
    return ratings.ladders().order_by("-default", "id").first()


def season_board(
    ladder: Ladder,
    season: Season,
    page: int,
    chosen: BoardFilter | None = None,
    size: int | None = None,
) -> SeasonBoard:
    """Return a page (1 is the first) of the leaderboard of a season.

    It has `size` rows, or ROWS. Searches are not cached: hardly two visitors look for
    the same text.
    """
    size = size or ROWS
    chosen = chosen or BoardFilter()
    choice = f"{chosen.language}:{chosen.withdrawn}:{chosen.figures}"
    form = f"{page}:{size}:{choice}:{get_language()}"
    key = f"season-board:{season.pk}:{season.status}:{form}"
    rendered: RenderedBoard | None = None if chosen.text else cache.get(key)
    if rendered is None:
        rendered = _render_board(season, page, chosen, size)
        if not chosen.text:
            cache.set(key, rendered, LEADERBOARD_TTL_S)
    others = [other for other in ladder.seasons.all() if other != season]
    return SeasonBoard(season, rendered, others)


def _render_board(
    season: Season, page: int, chosen: BoardFilter, size: int
) -> RenderedBoard:
    start = (page - 1) * size
    part = ranked_page(season, chosen, start, size)
    opinions = second_opinion.opinions_on(season, [row.bot_id for row in part.rows])
    axis = _axis(opinions.values())
    rows = _board_rows(season, part.rows, opinions, axis, with_trends=chosen.figures)
    context = {
        "bands": _in_bands(season, rows, chosen),
        "axis": axis,
        "ladder": season.ladder,
        "page": page,
        "chosen": chosen,
    }
    return RenderedBoard(
        html=render_to_string("web/_board.html", context),
        total=part.total,
        hidden=part.hidden,
        previous=page - 1 if page > 1 else None,
        next=page + 1 if start + size < part.total else None,
    )


def _axis(opinions: Collection[OpinionOnBot]) -> Scale | None:
    if not opinions:
        return None
    return scale(
        min(each.low for each in opinions), max(each.high for each in opinions)
    )


def _board_rows(
    season: Season,
    rows: list[RankedRow],
    opinions: Mapping[int, OpinionOnBot],
    axis: Scale | None,
    *,
    with_trends: bool,
) -> list[BoardRow]:
    """Add each bot's trend, its strength, and the interval on the axis of the page."""
    rated = Rating.objects.filter(season=season, bot__in=[row.bot_id for row in rows])
    trends = statistics.trends(season, rated) if rows and with_trends else {}
    return [
        BoardRow(
            row,
            trends.get(row.bot_id),
            _bar(opinions.get(row.bot_id), axis),
            opinions.get(row.bot_id),
        )
        for row in rows
    ]


def _bar(opinion: OpinionOnBot | None, axis: Scale | None) -> IntervalBar | None:
    if opinion is None or axis is None:
        return None
    ends = (opinion.low, opinion.value, opinion.high)
    return IntervalBar(*(axis.percent(x) for x in ends))


def _in_bands(
    season: Season, rows: list[BoardRow], chosen: BoardFilter
) -> list[tuple[TieBand | None, list[BoardRow]]]:
    """Group the rows by the tie bands to which their positions belong.

    A search lists single rows of many bands, so it has none.
    """
    if not rows or chosen.is_search:
        return [(None, rows)] if rows else []
    bands = statistics.bands(season, rows[0].row.position, rows[-1].row.position)
    band_at = {k: band for band in bands for k in range(band.first, band.last + 1)}
    return [
        (band, list(group))
        for band, group in groupby(rows, lambda item: band_at.get(item.row.position))
    ]


def standings(bot: Bot, chosen: SeasonChoice | None = None) -> list[LadderStanding]:
    """Return the statistics of a bot in the present season of each ladder.

    Of the ladder in `chosen` they are those of the chosen season.
    """
    seasons = bot_pages.seasons_of(bot)
    return [
        _standing(rating, seasons[rating.season.ladder_id])
        for rating in bot_pages.shown_ratings(bot, chosen)
    ]


def _standing(rating: Rating, seasons: list[Season]) -> LadderStanding:
    season = rating.season
    return LadderStanding(
        ladder=season.ladder,
        season=season,
        seasons=seasons if len(seasons) > 1 else [],
        record=statistics.summary(season, rating),
        seats=_by_players(statistics.strength(season, rating.bot)),
        opponents=statistics.opponents(season, rating, 0, MAX_OPPONENTS),
        chart=chart(ratings.history(season, rating.bot)),
    )


def _by_players(
    cells: list[SeatStrength],
) -> list[tuple[int, list[SeatStrength | None]]]:
    """Arrange the cells in one row per number of players and one column per seat."""
    rows = []
    for players, group in groupby(cells, lambda cell: cell.players):
        cell_at = {cell.seat: cell for cell in group}
        seats = [cell_at.get(seat) for seat in range(MAX_SEATS)]
        rows.append((players, seats))
    return rows


def compare(season: Season, one: str, other: str) -> BotComparison:
    """Compare two bots by their slugs, which come from the visitor.

    Raises BotsNotRated, also if both slugs are equal or one of them is no slug.
    """
    slugs = (one, other)
    if one == other or not (slug_re.match(one) and slug_re.match(other)):
        raise BotsNotRated(slugs)
    rows = season.ratings.filter(bot__slug__in=slugs).select_related("bot")
    ratings_by_slug = {rating.bot.slug: rating for rating in rows}
    if missing := [slug for slug in slugs if slug not in ratings_by_slug]:
        raise BotsNotRated(missing)
    first = ratings_by_slug[one]
    second = ratings_by_slug[other]
    meeting = statistics.meeting(season, first, second)
    return BotComparison(
        bots=(first.bot, second.bot),
        summaries=(
            statistics.summary(season, first),
            statistics.summary(season, second),
        ),
        meeting=meeting,
        after=meeting.games - meeting.before - meeting.ties,
        percent=round(100 * meeting.better, 1),
        certain=second_opinion.is_order_certain(season, first.bot_id, second.bot_id),
        deals=compare_deals(season, first, second) if has_deals(season) else None,
    )
