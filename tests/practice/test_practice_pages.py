"""Games by hand over HTTP: pages, JSON documents, secrets, and the fields of forms."""

import json
import re
from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import Settings

from engine.game import TorresGame
from engine.replay import verify
from ladder.bots.house_bots import ensure_house_bots
from ladder.bots.models import Bot
from ladder.bots.players import open_player
from ladder.extras.practice import position, selectors, services
from ladder.extras.practice.models import PracticeGame, PracticeMove, PracticeStatus
from ladder.web.pages import practice_pages
from tests import factories as rows
from tests.practice import factories
from tests.practice.factories import noting
from tests.web.test_pages import AccessibilityCheck

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"

Visit = Callable[[str], Client]


def begin(client: Client, *bots: object, seat: str = "0") -> str:
    """Begin a game with the form and return its address."""
    fields = {"ruleset": "yucata", "seat": seat}
    keys = [bot.pk for bot in bots]
    fields |= dict(zip(("one", "two", "three"), keys, strict=False))
    answer = client.post("/play/", fields)
    assert answer.status_code == 302, answer.content.decode()
    return answer.url


def send(client: Client, address: str, ply: object, actions: object):
    body = json.dumps({"ply": ply, "actions": actions})
    return client.post(address, body, content_type=JSON)


def asked(client: Client, address: str) -> dict | None:
    state = client.get(f"{address}state.json").json()
    return state if state["question"] or state["status"] != "running" else None


@pytest.mark.sandbox
def test_a_whole_game_against_a_house_bot_over_http(visit: Visit) -> None:
    ensure_house_bots()
    house = Bot.objects.get(slug="house-random").submissions.get()
    ana = visit("ana")
    address = begin(ana, house)
    game = PracticeGame.objects.get()
    assert address == f"/play/{game.pk}/"

    with factories.hosting(open_player=open_player):
        while (row := factories.until(lambda: factories.asked(game))).is_open:
            state = ana.get(f"{address}state.json?since={row.ply}").json()
            question = state["question"]
            # The first legal action is always right; ends make the game shorter.
            actions = [word for word in question["legal"] if word.startswith("end")]
            chosen = (actions or question["legal"])[:1]
            answer = send(ana, f"{address}answers/", question["ply"], chosen)
            assert answer.status_code == 202, answer.content

    page = ana.get(address).content.decode()
    assert "Play again" in page
    replay = ana.get(f"{address}replay.json").json()
    verify(replay)
    assert [player["name"] for player in replay["players"]] == ["ana", "house:random"]
    frames = ana.get(f"{address}frames.json").json()
    assert frames["frames"][-1]["over"]


def test_a_turn_is_tried_and_then_sent(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    game = PracticeGame.objects.get()
    with factories.hosting():
        factories.answer(game, answers=0)
        while "score" not in selectors.question(factories.fresh(game)).legal():
            factories.answer(game, answers=1)
        question = factories.until(lambda: asked(ana, address))["question"]
        ply = question["ply"]

        tried = send(ana, f"{address}preview/", ply, ["score"]).json()
        assert tried["frame"]["ap"] == 4
        assert not tried["complete"]
        assert "end" in [word.partition(" ")[0] for word in tried["legal"]]
        assert send(ana, f"{address}preview/", ply, []).json()["frame"]["ap"] == 5
        bought = send(ana, f"{address}preview/", ply, ["score", "buy"]).json()
        assert bought["complete"]
        assert bought["frame"]["drawn"] is None
        assert bought["frame"]["hand"] == []

        sent = send(ana, f"{address}answers/", ply, ["score", "buy"])
        assert sent.status_code == 202
        again = send(ana, f"{address}answers/", ply, ["score", "buy"])
        assert again.status_code == 202
        other = send(ana, f"{address}answers/", ply, ["score"])
        assert other.status_code == 409
        assert other.json()["code"] == "old-question"
        state = factories.until(
            lambda: (
                (now := asked(ana, address)) and now["question"]["ply"] > ply and now
            )
        )

    assert state["question"]["decision"] == "keep"
    assert len(state["frames"][-1]["drawn"]) == 3


def test_nothing_that_the_seat_may_not_see_leaves_the_server(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    game = PracticeGame.objects.get()
    with factories.hosting():
        for _ in range(12):  # until both have bought cards
            row = factories.answer(game, answers=0)
            torres = selectors.question(row)
            wish = [word for word in ("buy",) if word in torres.legal()]
            services.answer(row, row.ply, wish or torres.automatic())
            factories.until(lambda ply=row.ply: factories.fresh(game).ply != ply)
        factories.answer(game, answers=0)
        text = ana.get(f"{address}state.json").content.decode()
        state = json.loads(text)
        row = factories.fresh(game)
        everything = position.played(row, selectors.moves(row.pk)).state()
        page = ana.get(address).content.decode()
        picture = ana.get(f"{address}board.svg")
        early = [ana.get(f"{address}{name}") for name in ("frames.json", "replay.json")]

    assert game.seed not in text + page
    for frame in state["frames"]:
        assert all(isinstance(count, int) for count in frame["hands"])
        assert all(isinstance(count, int) for count in frame["decks"])
        action = frame["action"] or ""
        assert frame["by"] != 1 or not action.startswith("keep") or " ? " in action
        assert frame["seat"] == 0 or frame["drawn"] is None
    assert sorted(state["frames"][-1]["hand"]) == sorted(everything["hands"][0])
    assert picture.status_code == 200
    assert [answer.status_code for answer in early] == [404, 404]


def test_others_find_nothing_at_the_addresses_of_a_game(visit: Visit) -> None:
    ana, ben = visit("ana"), visit("ben")
    address = begin(ana, rows.make_bot("mason", "ana"))

    for name in ("", "state.json", "frames.json", "replay.json", "board.svg"):
        assert ben.get(f"{address}{name}").status_code == 404
    for name in ("preview/", "hints/", "answers/"):
        assert send(ben, f"{address}{name}", 0, ["end"]).status_code == 404
    assert ben.post(f"{address}give-up/").status_code == 404
    assert Client().get(address).status_code == 302
    assert PracticeGame.objects.get().status == PracticeStatus.WAITING


def test_the_state_has_a_tag_that_changes_with_it(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    first = ana.get(f"{address}state.json")
    again = ana.get(f"{address}state.json", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    game = PracticeGame.objects.get()

    with factories.hosting():
        factories.answer(game, answers=1)

        later = ana.get(
            f"{address}state.json", headers={"If-None-Match": first["ETag"]}
        )
    assert later.status_code == 200
    assert ana.get(f"{address}state.json?since=x").status_code == 400
    assert ana.get(f"{address}state.json?since=99999").json()["frames"]
    assert first.json()["place"] == 1
    assert later.json()["place"] == 0


def test_the_page_works_without_scripts(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot("mason", "ana"))
    game = PracticeGame.objects.get()
    with factories.hosting():
        row = factories.answer(game, answers=0)
        page = ana.get(address).content.decode()
        assert f'name="ply" value="{row.ply}"' in page
        action = selectors.question(row).legal()[0]
        assert f"<option>{action}</option>" in page

        fields = {"ply": row.ply, "action": action}
        assert ana.post(f"{address}answers/", fields).url == address
        factories.until(lambda: game.moves.filter(actions=[action]).exists())
    ana.post(f"{address}answers/", {"ply": "x", "action": action})
    assert "Choose an action from the list." in ana.get(address).content.decode()


def test_notes_of_own_bots_are_shown_and_those_of_others_are_not(visit: Visit) -> None:
    house = factories.make_house()
    mason = rows.make_bot("mason", "ana")
    ana = visit("ana")
    address = begin(ana, mason, house)

    game = PracticeGame.objects.get()
    with factories.hosting(open_player=noting):
        factories.answer(game, answers=4)
        state = factories.until(lambda: asked(ana, address))
        assert {note["seat"] for note in state["notes"]} == {1}
        assert PracticeMove.objects.filter(seat=2, note="").exists()
        assert not PracticeMove.objects.filter(seat=2).exclude(note="").exists()
        services.give_up(factories.fresh(game))

    page = ana.get(address).content.decode()
    assert "owner-notes" in page
    assert "You gave the game up." in page


def test_a_game_is_chosen_and_refused_in_words(
    visit: Visit, settings: Settings
) -> None:
    ana = visit("ana")
    assert "No bot is ready yet" in ana.get("/play/").content.decode()
    house = factories.make_house()
    page = ana.get("/play/?bot=landmark").content.decode()
    assert f'<option value="{house.pk}" selected>landmark</option>' in page

    wrong = ana.post("/play/", {"one": "77", "seat": "0", "ruleset": "yucata"})
    assert wrong.status_code == 422
    high = ana.post("/play/", {"one": house.pk, "seat": "3", "ruleset": "yucata"})
    assert "Choose another seat" in high.content.decode()
    begin(ana, house)
    assert "Go on with it" in ana.get("/play/").content.decode()
    settings.TORRES_PRACTICE_SLOTS = 0
    assert "offers no games by hand" in ana.get("/play/").content.decode()


def test_an_owner_opens_a_bot_to_everybody(visit: Visit) -> None:
    mason = rows.make_bot("mason", "ana")
    ana, ben = visit("ana"), visit("ben")
    person = factories.person("ben")
    link = "Play against this bot by hand"
    assert link not in ben.get("/bots/mason/").content.decode()

    ana.post("/bots/mason/practice/", {"open": "yes"})

    assert [one.pk for one in selectors.opponents(person).others] == [mason.pk]
    assert link in ben.get("/bots/mason/").content.decode()
    assert ben.post("/bots/mason/practice/", {"open": "yes"}).status_code == 404
    ana.post("/bots/mason/practice/")
    assert selectors.opponents(person).others == []


def test_the_name_of_a_deleted_account_leaves_the_replays(visit: Visit) -> None:
    ana = visit("ana")
    address = begin(ana, factories.make_house())
    game = PracticeGame.objects.get()
    with factories.hosting():
        factories.answer(game, answers=2)
    services.give_up(game)
    Bot.objects.filter(slug="landmark").update(name="deleted-7")

    replay = ana.get(f"{address}replay.json")

    assert [each["name"] for each in replay.json()["players"]] == ["ana", "deleted-7"]
    assert "landmark" not in replay.content.decode()


def test_the_frames_of_a_seat_are_those_of_the_engine() -> None:
    game = factories.own_game()
    with factories.hosting():
        row = factories.answer(game, answers=5)
        document = practice_pages.state_document(row, selectors.moves(row.pk), 0)

    torres: TorresGame = selectors.question(row)
    assert document["question"]["legal"] == torres.legal()
    assert len(document["frames"]) == torres.ply + 1
    assert document["frames"][-1]["scores"] == torres.state(0)["scores"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_game_that_ends_while_its_state_is_read_is_over(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The page got a running game without its moves, and its script failed."""
    ana = visit("ana")
    address = begin(ana, factories.make_house())
    game = PracticeGame.objects.get()
    with factories.hosting():
        factories.answer(game, answers=2)
    read = selectors.moves

    def read_while_it_ends(pk: int) -> list[PracticeMove]:
        if moment == "before":
            services.give_up(game)
        found = read(pk)
        services.give_up(game)
        return found

    monkeypatch.setattr(selectors, "moves", read_while_it_ends)
    state = ana.get(f"{address}state.json?since=2").json()

    assert state["status"] == PracticeStatus.ABANDONED


def test_the_board_and_the_result_are_accessible_and_escape_names(
    visit: Visit,
) -> None:
    ana = visit("ana")
    address = begin(ana, rows.make_bot(rows.HOSTILE, "ana"))
    game = PracticeGame.objects.get()
    texts = [ana.get(address).content.decode()]
    with factories.hosting(open_player=noting):
        factories.answer(game, answers=3)
        texts.append(ana.get(address).content.decode())
    services.give_up(game)
    texts.append(ana.get(address).content.decode())
    texts.append(ana.get("/play/").content.decode())

    for text in texts:
        check = AccessibilityCheck()
        check.feed(text)
        check.close()
        assert check.faults == []
        assert rows.HOSTILE not in text
        assert not re.search(r"<[^>]+ (style|on\w+)=", text)


def test_two_games_have_different_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    seeds = {services.new_seed() for _ in range(10)}

    assert len(seeds) == 10
    assert all(re.fullmatch("[0-9a-f]{32}", seed) for seed in seeds)
