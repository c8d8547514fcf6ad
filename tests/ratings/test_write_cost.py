"""Folding a game writes only the rows of its bots, whatever the size of the ladder."""

import pytest
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from ladder.bots.models import Bot, Submission
from ladder.events.models import Fact
from ladder.games.models import Attempt, Game, Match, Seat
from ladder.ratings import rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Entry, Pairing, Rating, Season
from tests.games import factories
from tests.games.factories import schedule_match
from tests.ratings.factories import finish

BOTS = 10_000
WRITES = ("INSERT", "UPDATE", "DELETE")


def rate_many(season: Season) -> list[Submission]:
    """Rate many bots at once, without the rater: only their number matters."""
    owner = factories.person("everybody")
    bots = Bot.objects.bulk_create(
        Bot(slug=f"b{k}", name=f"b{k}", owner=owner) for k in range(BOTS)
    )
    submissions = Submission.objects.bulk_create(
        Submission(
            bot=bot, number=1, digest="0" * 64, status="ready", entry="bot.py", size=1
        )
        for bot in bots
    )
    Rating.objects.bulk_create(
        Rating(
            season=season,
            bot_id=submission.bot_id,
            submission=submission,
            digest="0" * 64,
            mu=25 + k % 100 / 10,
            sigma=2,
            seq=1,
        )
        for k, submission in enumerate(submissions)
    )
    return submissions


@pytest.mark.django_db
def test_a_game_writes_four_of_ten_thousand_ratings():
    season = ensure_default_ladder().seasons.get()
    seats = rate_many(season)[:4]
    match = schedule_match(Match.Kind.LADDER, factories.TERMS, seats)
    Pairing.objects.create(season=season, match=match)
    finish(match.games.get(), [1, 2, 3, 4])

    with CaptureQueriesContext(connection) as queries:
        assert rater.fold(season.pk) == 1

    writes = [q["sql"] for q in queries if q["sql"].startswith(WRITES)]
    ratings = [sql for sql in writes if '"ratings_rating"' in sql]
    # Four bots in one statement; the entry, its leaf of the public log, the head, and
    # two updates of pairings and benches that match no row.
    assert len(ratings) == 1
    assert len(writes) <= 1 + 5
    assert Rating.objects.filter(season=season, games__gt=0).count() == 4


@pytest.mark.django_db
def test_making_many_matches_takes_as_many_statements_as_making_one():
    season = ensure_default_ladder().seasons.select_related("ladder").get()
    factories.bots(60)
    rater.welcome(season.pk)
    session = MatchmakingSession()
    session.pair(season, 1)

    statements = []
    for wanted in (1, 12):
        with CaptureQueriesContext(connection) as queries:
            assert session.pair(season, wanted) == wanted
        statements.append(len(queries))

    assert statements[0] == statements[1]


@pytest.mark.parametrize("table", [Match, Game, Seat, Attempt, Fact, Entry, Rating])
def test_no_index_of_a_key_doubles_another(table: type[Model]) -> None:
    """A game wrote 127 entries of indexes, which were a third of its log."""
    meta = table._meta
    indexes = [each for each in meta.indexes if each.fields and not each.condition]
    constraints = [each for each in meta.total_unique_constraints if each.fields]
    first = {each.fields[0].lstrip("-") for each in (*indexes, *constraints)}

    assert not {field.name for field in meta.fields if field.db_index} & first
