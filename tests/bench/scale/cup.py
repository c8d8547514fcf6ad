"""A round robin of 200 entrants: what a look at it costs, and its page."""

from collections.abc import Iterator
from random import Random

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models.functions import Now
from django.test import Client, override_settings

from ladder.bots.models import Bot
from ladder.games.models import Attempt, Game, Match, Seat, Worker
from ladder.tournaments import advance, services
from ladder.tournaments.models import Entrant, Fixture, FixtureSeat, Tournament
from tests.bench.scale.meter import cost_of
from tests.bench.scale.report import MeasuredRow
from tests.bench.sizes import size
from tests.fill.cups import finish_game
from tests.fill.rows import clean_up
from tests.fill.specimens import play_specimens
from torres.runner.protocol import Limits

ENTRANTS = size(200, short=6)
SLUG = "scale-bench"
RULESET = "yucata"
OPEN_FIXTURES = size(100, short=10)  # of the last rounds
GAMES = 12


def cup_rows() -> Iterator[MeasuredRow]:
    """Yield the rows of a round robin of which almost everything is played."""
    last = Match.objects.latest("pk").pk
    rng = Random(1)
    worker = Worker.objects.create(name="bench:cup#1", host="bench", gone_at=Now())
    cup = _announce()
    try:
        _start(cup)
        name = f"round robin of {cup.entrants.count()}"
        specimens = play_specimens(RULESET, 2, cup.limits, rng)
        advance.schedule(cup, GAMES)
        games = list(Game.objects.filter(match__gt=last).defer("replay"))

        def finish_one() -> None:
            game = games.pop()
            finish_game(game, rng.choice(specimens), worker, game.created_at)

        look = cost_of(lambda: advance.advance(cup), finish_one)
        yield MeasuredRow(f"{name}: a look", 100, "ms", *look)
        yield from _page_rows(name)
    finally:
        _delete(cup, last)
        worker.delete()


def _page_rows(name: str) -> Iterator[MeasuredRow]:
    client = Client(SERVER_NAME="localhost")
    address = f"/tournaments/{SLUG}/"
    page = cost_of(lambda: client.get(address), cache.clear, rounds=3)
    yield MeasuredRow(f"{name}: its page", 200, "ms", *page)
    with override_settings(TORRES_FRESH_SECONDS=60):
        page = cost_of(lambda: client.get(address + "?round=1"))
        yield MeasuredRow(f"{name}: its page, shared", 200, "ms", *page)
        # A page for one person is never shared, but what follows from the results is.
        person = User.objects.create_user("scale-bench-visitor")
        client.force_login(person)
        page = cost_of(lambda: client.get(address))
        person.delete()
    yield MeasuredRow(f"{name}: its page, signed in", 200, "ms", *page)


def _start(cup: Tournament) -> None:
    """Let the bots enter, start the tournament, and play almost everything."""
    bots = Bot.objects.filter(submissions__status="ready", house=False)
    for bot in bots.order_by("pk").distinct()[:ENTRANTS]:
        services.enter(cup, bot)
    services.start(cup)
    advance.advance(cup)
    _play_almost_all(cup)
    clean_up()


def _announce() -> Tournament:
    _delete_leftovers()
    cup = Tournament.objects.create(
        slug=SLUG,
        name="Benchmark",
        ruleset=RULESET,
        limits=Limits().as_dict(),
        config={"format": "round_robin", "duplicate": False},
    )
    services.announce(cup)
    return cup


def _play_almost_all(cup: Tournament) -> None:
    """Decide all fixtures but the last ones, by wins of either seat, without games."""
    rows = Fixture.objects.filter(tournament=cup).order_by("-round", "-table")
    still_open = list(rows.values_list("pk", flat=True)[:OPEN_FIXTURES])
    played = Fixture.objects.filter(tournament=cup).exclude(pk__in=still_open)
    seats = FixtureSeat.objects.filter(fixture__in=played)
    for wins, number in ((1, 0), (0, 1)):
        for seat in (0, 1):
            part = seats.filter(number=seat, fixture__table__in=_tables(number))
            part.update(points=str(wins if seat == 0 else 1 - wins), score=90 + seat)
    played.update(how="played", decided_at=Now())


def _tables(remainder: int) -> list[int]:
    return [table for table in range(ENTRANTS) if table % 2 == remainder]


def _delete_leftovers() -> None:
    """Delete the tournament of a benchmark that was killed."""
    for cup in Tournament.objects.filter(slug=SLUG):
        _delete(cup, Match.objects.latest("pk").pk)


def _delete(cup: Tournament, after: int) -> None:
    """Delete the tournament, and the matches that were made after this one."""
    FixtureSeat.objects.filter(fixture__tournament=cup).delete()
    Fixture.objects.filter(tournament=cup).delete()
    Entrant.objects.filter(tournament=cup).delete()
    Attempt.objects.filter(game__match__gt=after).delete()
    Seat.objects.filter(game__match__gt=after).delete()
    Game.objects.filter(match__gt=after).delete()
    Match.objects.filter(pk__gt=after).delete()
    cup.delete()
