"""A large round robin costs little: each look, its page, its answers."""

import pytest
from django.test import Client

from ladder.games.models import Game
from ladder.tournaments import advance, selectors, views, visibility
from tests.tournaments.factories import begun, play_scheduled, tick, worker

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_result_of_which_nothing_follows_is_written_without_the_fold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With 200 entrants the fold over 19,900 fixtures took 2.65 s for each result."""
    row = begun({"format": "round_robin", "duplicate": False}, 6)
    tick(slots=1)
    play_scheduled(worker())
    monkeypatch.setattr(advance, "plan_fixtures", None)
    tick(slots=1)

    assert (
        row.fixtures.filter(how="played").count()
        == Game.objects.filter(status="finished").count()
    )
    assert not selectors.needing_a_look().exists()


def test_the_page_shows_one_round_and_the_api_whole_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page of 200 entrants took 18.8 s, and the rounds were 4.1 MB."""
    cup = begun({"format": "round_robin"}, 22)
    tick(slots=1)
    page = Client().get(f"/tournaments/{cup.slug}/").content.decode()
    assert page.count("<h2>Round ") == 1
    assert 'href="?round=21"' in page
    last = Client().get(f"/tournaments/{cup.slug}/?round=21").content.decode()
    assert "<h2>Round 21" in last

    monkeypatch.setattr(views, "MAX_FIXTURES_SHOWN", 25)
    address: str | None = f"/api/v1/tournaments/{cup.slug}/rounds/"
    rounds = []
    while address:
        answer = Client().get(address)
        assert answer.status_code == 200, answer.content
        assert sum(len(r["fixtures"]) for r in answer.json()) <= 25
        rounds += [r["round"] for r in answer.json()]
        link = answer.headers.get("Link", "")
        address = link.split(">")[0].removeprefix("<") or None
    assert rounds == list(range(1, 22))
    wrong = Client().get(f"/api/v1/tournaments/{cup.slug}/rounds/?from=x")
    assert wrong.status_code == 400


def test_standings_are_shared_until_they_cost_a_tenth(
    settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.TORRES_FRESH_SECONDS = 5.0  # type: ignore[attr-defined]
    cup = begun({"format": "round_robin"}, 3)
    tick(slots=1)
    first = visibility.overview(cup)
    monkeypatch.setattr(visibility, "standings", None)
    assert visibility.overview(cup) == first
