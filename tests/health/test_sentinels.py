"""Each invariant is watched while games are played, and a violation is an alarm."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models import F
from django.db.models.functions import Now

from ladder.extras.self_audit.models import SelfAudit
from ladder.games.models import Attempt, Game, Seat
from ladder.health import metrics, sentinels
from ladder.ops import invariants
from ladder.ops.management.commands.audit import PUBLIC_VIEW
from ladder.ratings import rater
from ladder.ratings.models import Entry, Pairing, Season
from tests.factories import Show, everything, make_bot

pytestmark = pytest.mark.django_db
AGO = timedelta(minutes=5)
PAGE = (settings.BASE_DIR / "docs" / "operating.md").read_text()
TABLE = PAGE.partition("#### Invariants")[2].partition("\nThe metric")[0]
ROWS = [line for line in TABLE.splitlines() if line.startswith("| ")][1:]


@pytest.fixture
def show(data_dir: None) -> Show:
    show = everything()
    Game.objects.filter(status="finished").update(finished_at=Now() - AGO)
    Season.objects.update(head=Entry.objects.latest("seq").seq)
    return show


def let_a_lease_end() -> None:
    game = Game.objects.filter(status="scheduled").first()
    assert game is not None
    worker = Attempt.objects.exclude(worker=None).values("worker")[:1]
    Game.objects.filter(pk=game.pk).update(
        status="running", owner=worker, lease_until=Now() - AGO
    )


def lose_an_attempt() -> None:
    Attempt.objects.filter(outcome="finished").delete()


def lose_a_rating() -> None:
    Pairing.objects.update(open=False)
    Game.objects.get(status="finished").entries.update(kind="join", game=None)


def exchange_a_bot() -> None:
    seat = Seat.objects.filter(game__status="finished").first()
    assert seat is not None
    Seat.objects.filter(pk=seat.pk).update(bot=make_bot("Other", "cleo").bot)


def lose_a_rank() -> None:
    Seat.objects.filter(game__status="finished").update(rank=None, score=None)


def lose_an_entry() -> None:
    Season.objects.update(head=F("head") + 1)


def fail_the_audit() -> None:
    SelfAudit.objects.create(size=1, findings=1, report={})


VIOLATIONS: dict[Callable[[], None], str] = {
    let_a_lease_end: "leases",
    lose_an_attempt: "attempts",
    lose_a_rating: "unrated games",
    exchange_a_bot: "seats",
    lose_a_rank: "seats",
    lose_an_entry: "ledgers",
    fail_the_audit: "public view",
}


def test_a_sound_service_violates_nothing(show: Show) -> None:
    assert [sign.part for sign in sentinels.look() if not sign.is_good] == []


@pytest.mark.parametrize("violate", VIOLATIONS, ids=lambda each: each.__name__)
def test_a_violation_is_an_alarm_with_a_cure(
    show: Show, violate: Callable[[], None]
) -> None:
    name = VIOLATIONS[violate]
    violate()

    (bad,) = [sign for sign in sentinels.look() if sign.part == name]
    assert bad.problem
    assert bad.advice
    line = f'torres_invariant_violations{{sentinel="{name}"}} 0.0'
    assert line not in metrics.document().decode().splitlines()


def test_the_dispatcher_lets_an_unrated_game_count(show: Show) -> None:
    """It was finished, its pairing was closed, and nothing noticed."""
    lose_a_rating()

    assert rater.open_closed_pairings(show.season.pk) == 1
    assert list(rater.unrated(show.season.pk)) == [Game.objects.get(status="finished")]


def test_the_page_lists_every_invariant_and_every_sentinel() -> None:
    rows = {row.split("|")[1].strip(): row for row in ROWS}

    invariant = [result.invariant for result in invariants.check()]
    assert list(rows) == [*invariant, PUBLIC_VIEW]
    assert all(len(row.split("|")) == 5 for row in ROWS)
    for sentinel in sentinels.SENTINELS:
        assert any(f"`{sentinel.name}`" in row for row in ROWS), sentinel.name
    assert {*VIOLATIONS.values()} == {each.name for each in sentinels.SENTINELS}
