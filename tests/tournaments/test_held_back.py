"""Results that are held back are not visible anywhere before they are revealed."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from ladder.games.models import Game, Match
from ladder.ratings.models import Entry, Rating
from ladder.tournaments import services, visibility
from ladder.tournaments.models import Tournament
from tests.tournaments.factories import (
    begun,
    play_out,
    play_scheduled,
    tick,
    tournament,
    worker,
)

PICTURES = ("card.png", "last-phase.gif")
pytestmark = pytest.mark.django_db(transaction=True)
Person = Callable[[str], APIClient]


def held_back(form: str = "single_elimination") -> Tournament:
    return begun({"format": form}, 4, held_back=True)


def every_address(cup: Tournament) -> list[str]:
    """Return every address at which something of the tournament could be read."""
    base = f"/api/v1/tournaments/{cup.slug}/"
    addresses = [base] + [
        f"{base}{part}/"
        for part in ("entrants", "rounds", "bracket", "standings", "games")
    ]
    addresses += ["/api/v1/games/?limit=200", "/api/v1/matches/?limit=200"]
    addresses += ["/", "/tv/", "/games/", "/tournaments/", f"/tournaments/{cup.slug}/"]
    addresses += [f"/tournaments/{cup.slug}/card.png"]
    for game in Game.objects.all():
        addresses += [f"/api/v1/games/{game.pk}/", f"/api/v1/games/{game.pk}/replay/"]
        addresses += [f"/games/{game.pk}/", f"/games/{game.pk}/frames.json"]
        addresses += [f"/games/{game.pk}/{name}" for name in PICTURES]
        addresses += [f"/api/v1/games/{game.pk}/{part}/" for part in ("logs", "moves")]
    for match in Match.objects.all():
        addresses += [f"/api/v1/matches/{match.pk}/", f"/matches/{match.pk}/"]
    for slug in cup.entrants.values_list("bot__slug", flat=True):
        addresses += [f"/bots/{slug}/", f"/api/v1/games/?bot={slug}"]
        addresses += [f"/bots/{slug}/card.png"]
    return addresses


def read(client: Any, address: str) -> str:
    answer = client.get(address)
    body = b"".join(answer) if answer.streaming else answer.content
    return f"{answer.status_code} {body.decode(errors='backslashreplace')}"


def secrets(cup: Tournament) -> list[str]:
    """Return texts that are on a page only if it shows a finished game."""
    texts = []
    for game in Game.objects.filter(match__fixture__tournament=cup, status="finished"):
        texts += [f'"id":{game.pk},', f"/games/{game.pk}/"]
    return texts


def test_nothing_that_was_played_is_visible_anywhere(api: Person) -> None:
    cup = held_back()
    worker_id = worker()
    owner = cup.entrants.get(bot__slug="bot-0").bot.owner
    assert isinstance(owner, User)
    signed_in = Client()
    signed_in.force_login(owner)
    readers = [api(""), api(owner.username), signed_in]
    tick(slots=8)
    before = {
        (k, a): read(r, a) for k, r in enumerate(readers) for a in every_address(cup)
    }
    play_scheduled(worker_id)
    tick(slots=8)
    tick(slots=8)
    play_scheduled(worker_id)
    after = {
        (k, a): read(r, a) for k, r in enumerate(readers) for a in every_address(cup)
    }

    assert Game.objects.filter(status="finished").count() == 6
    for key, text in before.items():
        assert _stable(after[key]) == _stable(text), key
    for game in Game.objects.all():
        for reader in readers:
            for part in ("", "replay/", "logs/", "moves/"):
                answer = reader.get(f"/api/v1/games/{game.pk}/{part}")
                assert answer.status_code in (401, 404)
    assert not Rating.objects.exists()
    assert not Entry.objects.exists()


def _stable(text: str) -> str:
    """Leave out what differs in every response: form tokens and request numbers."""
    lines = [line for line in text.splitlines() if "csrf" not in line]
    return "\n".join(line.split('"instance"')[0] for line in lines)


def test_only_the_revealed_round_is_shown(api: Person) -> None:
    cup = play_out(held_back())
    anybody = api("")
    base = f"/api/v1/tournaments/{cup.slug}/"
    services.reveal_next(cup)

    rounds = anybody.get(f"{base}rounds/").json()
    assert [(r["round"], r["known"]) for r in rounds] == [(1, True), (2, False)]
    assert all(f["how"] == "played" for f in rounds[0]["fixtures"])
    (final,) = rounds[1]["fixtures"]
    assert (final["how"], final["match"]) == (None, None)
    assert {e["points"] for e in final["entrants"]} == {None}
    assert len(anybody.get(f"{base}games/").json()["results"]) == 4
    lines = anybody.get(f"{base}standings/").json()["standings"]
    assert [line["rank"] for line in lines] == [1, 1, 3, 3]

    services.reveal_next(cup)
    lines = anybody.get(f"{base}standings/").json()["standings"]
    assert [line["rank"] for line in lines] == [1, 2, 3, 3]
    assert len(anybody.get(f"{base}games/").json()["results"]) == 6


def test_the_description_of_a_link_names_the_winner_when_it_is_known() -> None:
    cup = play_out(held_back())
    page = f"/tournaments/{cup.slug}/"
    before = read(Client(), page)
    services.reveal_next(cup)
    services.reveal_next(cup)
    after = read(Client(), page)

    unknown = "Single elimination tournament, finished, with 4 entrants."
    assert f'<meta name="description" content="{unknown}">' in before
    assert re.search(r'<meta name="description" content="Won by bot-\d\.">', after)
    assert Client().get(f"{page}card.png").status_code == 200


def test_a_round_that_is_not_over_is_not_revealed() -> None:
    cup = held_back()
    tick(slots=8)

    with pytest.raises(services.WrongTournamentStatus, match="Round 1 is not over"):
        services.reveal_next(cup)


def test_no_later_round_of_a_double_elimination_is_shown(api: Person) -> None:
    """A second grand final would tell who won the first."""
    cup = play_out(begun({"format": "double_elimination"}, 4, held_back=True))
    bracket = f"/api/v1/tournaments/{cup.slug}/bracket/"
    rounds = f"/api/v1/tournaments/{cup.slug}/rounds/"
    last = max(cup.fixtures.values_list("round", flat=True))
    for shown in range(last + 1):
        for address in (bracket, rounds):
            rows = api("").get(address).json()
            assert max(row["round"] for row in rows) <= shown + 1
        if shown < last:
            services.reveal_next(cup)


# Routes and pages.


def test_an_owner_enters_checks_in_and_withdraws(api: Person) -> None:
    cup = tournament({"format": "swiss"}, must_check_in=True)
    base = f"/api/v1/tournaments/{cup.slug}/entrants/"
    ana = api("owner-of-bot-0")
    ben = api("ben")
    begun({"format": "swiss"}, 2, slug="other")

    assert api("").post(base, {"bot": "bot-0"}).status_code == 401
    assert ben.post(base, {"bot": "bot-0"}).status_code == 404
    entered = ana.post(base, {"bot": "bot-0"})
    assert (entered.status_code, entered.json()["bot"]) == (201, "bot-0")
    assert ana.post(f"{base}bot-0/check-in/").json()["checked_in_at"] is not None
    assert ben.delete(f"{base}bot-0/").status_code == 404
    assert ana.delete(f"{base}bot-0/").status_code == 204
    (row,) = api("").get(base).json()
    assert row["withdrawn_at"] is not None


def test_drafts_are_not_shown(api: Person) -> None:
    Tournament.objects.create(slug="secret", name="Secret", limits={})

    assert api("").get("/api/v1/tournaments/secret/").status_code == 404
    assert api("").get("/api/v1/tournaments/").json()["results"] == []
    assert "Secret" not in read(Client(), "/tournaments/")


def test_any_two_entrants_are_compared_in_words(api: Person) -> None:
    cup = play_out(begun({"format": "round_robin"}, 3))
    base = f"/api/v1/tournaments/{cup.slug}/standings/"
    lines = api("").get(base).json()["standings"]
    why = api("").get(f"{base}{lines[0]['bot']}/{lines[1]['bot']}/").json()["why"]

    assert why[0].startswith("points: ")
    assert json.dumps(lines)


@pytest.mark.parametrize("form", ["round_robin", "swiss", "double_elimination"])
def test_pages_show_rounds_and_standings(form: str) -> None:
    cup = play_out(begun({"format": form}, 5))
    page = read(Client(), f"/tournaments/{cup.slug}/")

    assert page.startswith("200")
    assert "Standings" in page
    for slug in cup.entrants.values_list("bot__slug", flat=True):
        assert slug in page
    assert cup.slug in read(Client(), "/tournaments/")


def test_a_leg_of_a_round_that_is_not_revealed_is_not_listed(api: Person) -> None:
    """A third match of a best of three tells that the first two are 1:1."""
    cup = begun(
        {"format": "single_elimination", "best_of": 3, "duplicate": False},
        4,
        held_back=True,
    )
    play_out(cup)
    assert cup.fixtures.filter(round=1, leg=1).exists()
    rounds = api("").get(f"/api/v1/tournaments/{cup.slug}/rounds/").json()
    assert {f["leg"] for f in rounds[0]["fixtures"]} == {1}
    services.reveal_next(cup)
    rounds = api("").get(f"/api/v1/tournaments/{cup.slug}/rounds/").json()
    assert {f["leg"] for f in rounds[0]["fixtures"]} >= {1, 2}


def test_withdrawals_do_not_reveal_the_final_of_groups() -> None:
    """With two withdrawals each round that is shown was decided by walkover.

    Then the standings took the group stage as over, and failed, or would have shown
    the stored finalists.
    """
    cup = begun({"format": "groups", "groups": 1}, 3, held_back=True)
    for slug in ("bot-1", "bot-2"):
        services.withdraw(cup.entrants.get(bot__slug=slug))
    play_out(cup)
    order = visibility.standings(cup)
    assert order is not None
    assert order.bracket is None
    while cup.fixtures.filter(pool__gt=0, round__gt=cup.revealed).exists():
        services.reveal_next(cup)
    order = visibility.standings(cup)
    assert order is not None
    assert order.bracket is not None


@pytest.mark.parametrize("value", [True, False])
def test_held_back_cannot_be_switched_while_games_run(*, value: bool) -> None:
    cup = begun({"format": "swiss"}, 4, held_back=not value)
    with pytest.raises(services.WrongTournamentStatus, match="held_back cannot change"):
        services.edit(cup, {"held_back": value})
    cup.refresh_from_db()
    assert cup.held_back is not value
