"""The pages of organisers: what they show, and what their forms change."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser

from ladder.tournaments import organising
from ladder.tournaments.models import Tournament
from ladder.tournaments.organising import Step
from tests.games.factories import bot, bots
from tests.tournaments.factories import tournament
from tests.tournaments.organisers import PageEntrance, Refused, organiser
from tests.web.test_accessibility import (
    open_context,
    violations_everywhere,
    violations_of_pages,
)

pytestmark = pytest.mark.django_db
ADDRESSES = ("", "new/", "cup/", "cup/edit/")


@pytest.fixture
def page(tmp_path: Path) -> PageEntrance:
    return PageEntrance(tmp_path)


def text_of(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return re.sub(r"\s+", " ", answer.content.decode())


def filled_in(client: Client) -> dict[str, str]:
    """Return the fields that a browser sends if nobody changes the form."""
    form = client.get("/organise/cup/edit/").context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: str(value) for name, value in values.items() if value}


def test_a_template_fills_in_the_form_and_opens_what_it_changes() -> None:
    client = Client()
    client.force_login(organiser())
    plain = client.get("/organise/new/").context["form"].parts()
    filled = client.get("/organise/new/?template=cup").context["form"]
    answer = client.post(
        "/organise/new/",
        {
            name: value
            for name in filled.fields
            if (value := filled[name].value()) not in ("", False, None)
        }
        | {"act": "create"},
    )

    assert [part.is_open for part in plain] == [False] * 5
    assert [part.title for part in filled.parts() if part.is_open] == [
        "The tournament",
        "More about the format",
        "More about times and entry",
    ]
    assert answer.status_code == 302, answer.content.decode()
    made = Tournament.objects.get()
    assert (made.name, made.must_check_in) == ("Friday cup", True)
    assert made.config["format"] == "single_elimination"
    assert made.config["best_of"] == 3
    assert client.get("/organise/new/?template=none").status_code == 200


@pytest.mark.parametrize("address", ADDRESSES)
def test_only_organisers_see_the_pages(address: str) -> None:
    tournament({"format": "swiss"}, organiser=organiser())
    path = f"/organise/{address}"
    anonymous = Client()
    stranger = Client()
    stranger.force_login(User.objects.create(username="sam"))
    other = Client()
    other.force_login(organiser("erin"))

    assert anonymous.get(path)["Location"].startswith("/sign-in/")
    refused = stranger.get(path)
    assert refused.status_code == 403
    assert "Ask the operator" in refused.content.decode()
    assert other.get(path).status_code == (404 if "cup" in address else 200)


def test_the_buttons_are_those_of_the_state(page: PageEntrance) -> None:
    row = page.create({"name": "Cup", "format": "swiss"})
    for each in bots(2):
        page.enter(row, each.slug)
    while True:
        row.refresh_from_db()
        text = text_of(page.client, "/organise/cup/")
        shown = set(re.findall(r'action="/organise/cup/([a-z-]+)/"', text))
        possible = {str(step) for step in organising.possible_steps(row)}
        assert shown & {str(step) for step in Step} == possible
        if row.status == "cancelled":
            break
        step = "cancel" if row.status == "running" else first(possible)
        page.step(row, step, "enough")
    assert "Why it was cancelled: enough" in text


def first(possible: set[str]) -> str:
    return next(step for step in ("open", "close-entry", "start") if step in possible)


def test_the_preview_stands_on_the_page_before_the_start(page: PageEntrance) -> None:
    page.create({"name": "Cup", "format": "round_robin"})

    text = text_of(page.client, "/organise/cup/")

    assert "8 entrants, at most 224" in text
    assert "7 rounds, 28 matches, 56 games" in text


def test_the_form_edits_only_what_was_changed(page: PageEntrance) -> None:
    document = {
        "name": "Cup",
        "format": "swiss",
        "rounds": 3,
        "points": [3, 1],
        "switches": {"start_player": "seat0"},
        "limits": {"move_ms": 500},
    }
    row = page.create(document)
    same = filled_in(page.client)
    before = Tournament.objects.values().get()
    page.send("/organise/cup/edit/", same)
    assert Tournament.objects.values().get() == before

    page.send("/organise/cup/edit/", same | {"rounds": "", "switches": "", "pids": "9"})

    row.refresh_from_db()
    assert row.config == {"format": "swiss", "points": [3, 1]}
    assert row.switches == {}
    assert (row.limits["pids"], row.limits["move_ms"]) == (9, 500)
    with pytest.raises(Refused, match=r"422 .*seats: 9; it must be a whole number"):
        page.send("/organise/cup/edit/", same | {"seats": "9"})
    with pytest.raises(Refused, match=r"422 .*switches.*it must be an object"):
        page.send("/organise/cup/edit/", same | {"switches": "start_player"})


def test_a_running_tournament_keeps_its_description(page: PageEntrance) -> None:
    row = page.create({"name": "Cup", "format": "swiss"})
    for each in bots(2):
        page.enter(row, each.slug)
    for step in ("open", "start"):
        page.step(row, step)
    same = filled_in(page.client)
    with pytest.raises(Refused, match=r"409 .*config cannot change any more"):
        page.send("/organise/cup/edit/", same | {"rounds": "9"})
    page.send("/organise/cup/edit/", same | {"name": "New"})
    row.refresh_from_db()
    assert (row.name, row.config) == ("New", {"format": "swiss"})


def test_seeds_replacements_and_withdrawals(page: PageEntrance) -> None:
    row = page.create({"name": "Cup", "entrants": [each.slug for each in bots(3)]})
    bot("late")
    address = "/organise/cup/"
    page.send(f"{address}seeds/", {"seed-bot-0": "2", "seed-bot-1": "1"})
    page.send(f"{address}replace/", {"bot": "bot-1", "by": "late"})
    page.send(f"{address}entrants/bot-2/withdraw/", {})
    seeds = dict(row.entrants.values_list("bot__slug", "seed"))
    assert (seeds["bot-0"], seeds["late"]) == (2, 1)
    assert row.entrants.get(bot__slug="bot-2").withdrawn_at is not None
    wrong = [
        ("seeds/", {"seed-bot-0": "x"}, "seed of bot-0: 'x'; it must be a whole"),
        ("seeds/", {"seed-bot-0": "1"}, "is the seed of"),
        ("seeds/", {"seed-nobody": "1"}, "nobody: it is not in this tournament"),
        ("entrants/", {"bot": "nobody"}, "nobody"),
        ("entrants/", {"bot": ""}, "bot"),
        ("entrants/", {"bot": "bot-1", "seed": "0"}, "it must be a whole number"),
        ("entrants/", {"bot": "bot-1", "seed": "2"}, "Seed 2 is taken"),
        ("replace/", {"bot": "", "by": "late"}, "There is no bot"),
        ("replace/", {"bot": "bot-0", "by": "late"}, "late has entered already"),
        ("cancel/", {"why": " "}, "Give the reason"),
        ("pause/", {}, "only one that runs can be paused"),
        ("start/", {}, "only one that is"),
    ]
    before = list(row.entrants.order_by("pk").values())
    for path, fields, why in wrong:
        with pytest.raises(Refused, match=why):
            page.send(f"{address}{path}", fields)
    assert list(row.entrants.order_by("pk").values()) == before


def test_the_first_button_of_the_entrants_stores_the_seeds(page: PageEntrance) -> None:
    """Enter in a field presses the first button. It must not withdraw an entrant."""
    page.create({"name": "Cup", "entrants": [each.slug for each in bots(2)]})

    text = text_of(page.client, "/organise/cup/")

    form = text[text.index('action="/organise/cup/seeds/"') :]
    assert re.search(r"<button[^>]*>([^<]*)", form)[1] == "Store the seeds"


def test_organisers_find_their_pages(page: PageEntrance) -> None:
    tournament({"format": "swiss"}, organiser=organiser())
    link = 'href="/organise/'
    assert link in text_of(page.client, "/tournaments/")
    assert f"{link}cup/" in text_of(page.client, "/tournaments/cup/")
    assert link not in text_of(Client(), "/tournaments/")
    assert link not in text_of(Client(), "/tournaments/cup/")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_pages_of_a_draft_and_of_a_refusal_violate_no_wcag(
    chromium: Browser, live_server: Any, data_dir: Path
) -> None:
    page = PageEntrance(data_dir)
    names = [each.slug for each in bots(3)]
    page.create({"name": "Cup", "format": "groups", "entrants": names})
    tab = open_context(chromium, live_server, "oscar")
    tab.goto("/organise/new/")
    tab.fill("[name=name]", "Next")
    tab.get_by_text("More about the format").click()
    tab.fill("[name=seats]", "9")
    tab.click("button[value=preview]")
    assert "9; it must be a whole number from 2 to 4" in tab.text_content("main")
    assert violations_everywhere(tab) == []
    tab.fill("[name=seats]", "")
    tab.click("button[value=preview]")
    assert "8 entrants" in tab.text_content("main")
    assert violations_everywhere(tab) == []

    addresses = ["/organise/", "/organise/cup/", "/organise/cup/edit/"]
    assert violations_of_pages(tab, addresses) == []


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_tournament_is_run_with_the_keyboard(
    chromium: Browser, live_server: Any, data_dir: Path
) -> None:
    page = PageEntrance(data_dir)
    names = [each.slug for each in bots(2)]
    row = page.create({"name": "Cup", "format": "swiss", "entrants": names})
    tab = open_context(chromium, live_server, "oscar")
    tab.goto("/organise/cup/")
    for slug, seed in (("bot-0", "2"), ("bot-1", "1")):
        tab.fill(f"[name=seed-{slug}]", seed)
    tab.press("[name=seed-bot-1]", "Enter")
    tab.wait_for_selector("text=The seeds are stored.")
    for words, done in (("Open entry", "Entry is open."), ("Start", "has started")):
        tab.focus(f"button:text-is('{words}')")
        tab.keyboard.press("Enter")
        tab.wait_for_selector(f"text={done}")

    assert dict(row.entrants.values_list("bot__slug", "seed")) == {
        "bot-0": 2,
        "bot-1": 1,
    }
