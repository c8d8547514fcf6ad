"""Leaderboards at past moments, from the skills after an entry. Reads only.

The changes of an entry are stored with it and stay the same later: a void
adds entries of its own. So the leaderboard at a moment follows from the changes up to
it (`skill_snapshots`), and is what the page showed then.
"""

from bisect import bisect_left
from datetime import datetime

from django.db import connection

from ladder.bots.models import Bot
from ladder.common.fixed_query import preparing_cursor
from ladder.ratings import skill_snapshots
from ladder.ratings.leaderboard import LeaderboardPage, skill_row
from ladder.ratings.models import Season
from torres.rating.trueskill import SHOWN_RATING_SIGMAS, Skill

# To compose it with the ORM for each step of a bisection costs more than to run it.
_IS_BEFORE = """
    SELECT 1 FROM ratings_entry WHERE season_id = %s AND seq = %s AND created_at <= %s
"""


def season_at(ladder: str, moment: datetime) -> Season | None:
    """Return the season that a ladder played at a moment; None before the first."""
    begun = Season.objects.filter(ladder__slug=ladder, started_at__lte=moment)
    return begun.order_by("-number").first()


def last_entry(season: Season, moment: datetime) -> int:
    """Return the number of the last entry up to a moment; 0 if there is none.

    Entries are appended in the order of time, so that bisection needs a query for
    each bit of the number of entries.
    """
    low, high = 0, season.head
    at = connection.ops.adapt_datetimefield_value(moment)
    with preparing_cursor() as cursor:
        while low < high:
            middle = (low + high + 1) // 2
            cursor.execute(_IS_BEFORE, (season.pk, middle, at))
            if cursor.fetchone() is not None:
                low = middle
            else:
                high = middle - 1
    return low


def past_page(season: Season, seq: int, start: int, length: int) -> LeaderboardPage:
    """Return rows of the leaderboard after entry `seq`, as `leaderboard_page` does."""
    skills = skill_snapshots.skills_at(season.pk, seq)
    ratings = sorted(
        (SHOWN_RATING_SIGMAS * sigma - mu, bot) for bot, (mu, sigma) in skills.items()
    )
    page = ratings[start : start + length]
    bots = Bot.objects.in_bulk([bot for _, bot in page])
    rows = []
    for position, (negative, number) in enumerate(page, start=start):
        rank = bisect_left(ratings, (negative,)) + 1  # that of the first equal rating
        above = Skill(*skills[ratings[position - 1][1]]) if position else None
        bot = bots[number]
        skill = Skill(*skills[number])
        facts = {"bot": bot.slug, "id": bot.pk, "name": bot.name, "house": bot.house}
        rows.append(skill_row(rank, skill, above, **facts))
    return LeaderboardPage(rows, len(ratings), seq)
