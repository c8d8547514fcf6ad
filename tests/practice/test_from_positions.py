"""A game by hand begins at a position: its text, its rules, and its honest end."""

import pytest
from django.test import Client

from engine.position_text import position_from, text_of
from ladder.extras.practice import services
from ladder.extras.practice.models import PracticeGame, PracticeStatus
from ladder.extras.practice.services import BadPracticeGame, PracticeTerms
from tests import factories as rows
from tests.practice import factories

pytestmark = pytest.mark.django_db(transaction=True)

BOARD = (
    "heights=11.1..../11....../1.1..1../41.11..1/32.21.../1.31.1../.121..../111.1..."
    ":knights=a5,b3,b5,b6,c5,d4/c3:king=d5"
)
RULES = "torres-position/1:rules=yucata:seats=2:phase=3:round=4:order=10"
TEXT = (
    f"{RULES}:decision=turn:seat=1:ap=5:{BOARD}"
    ":stacks=3/:current=3:scores=120/100:hands=/do:decks=jmkru/mjkru"
)
OVER = (
    f"{RULES}:decision=over:{BOARD}"
    ":carried=3/3:scores=189/156:hands=/do:decks=jmkru/mjkru"
)
CERTAIN = TEXT.replace("rules=yucata", "rules=yucata,max_buys=0")


def without_decks(text: str) -> str:
    return text[: text.index(":decks=")]


def test_a_guest_plays_on_from_a_position_and_gets_no_replay() -> None:
    factories.make_house()
    client = Client()
    shown = client.get("/play/", {"start": TEXT}).content.decode()
    assert f'<input type="hidden" name="start" value="{TEXT}">' in shown
    assert client.post("/play/guest/", {"start": TEXT}).status_code == 302
    game = PracticeGame.objects.get()
    placed = position_from(TEXT)
    page = f"/play/{game.pk}/"

    assert game.person_seat == 1
    assert without_decks(game.start) == without_decks(
        text_of(placed.position, placed.rules)
    )
    assert game.start not in client.get(page).content.decode()
    with factories.hosting():
        ended = factories.answer(game)

    assert ended.status == PracticeStatus.FINISHED
    first = client.get(f"{page}frames.json").json()["frames"][0]
    assert (first["phase"], first["scores"], first["seat"]) == (3, [120, 100], 1)
    assert "This game began at <a" in client.get(page).content.decode()
    assert client.get(f"{page}replay.json").status_code == 404


def test_the_decks_are_shuffled_because_the_person_may_know_them() -> None:
    factories.make_house()
    client = Client()
    texts = set()
    for _ in range(4):
        client.post("/play/guest/", {"start": TEXT})
        game = PracticeGame.objects.get()
        texts.add(game.start)
        game.delete()

    assert len(texts) > 1


def test_a_user_chooses_the_bot_and_the_seat(visit) -> None:
    own = rows.make_bot("mason", "ana")
    client = visit("ana")
    shown = client.get("/play/", {"start": TEXT}).content.decode()
    assert "the one that decides" in shown
    fields = {"one": own.pk, "seat": "0", "start": TEXT}
    assert client.post("/play/", fields).status_code == 302
    game = PracticeGame.objects.get()

    assert (game.person_seat, game.ruleset, game.seats) == (0, "yucata", 2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "This is no position."),
        ("\0", "This is no position."),
        (OVER, "The game is over in this position."),
        (CERTAIN, "switches"),
        (TEXT.replace("seats=2", "seats=5"), "This is no position."),
    ],
)
def test_a_position_that_nobody_can_play_on_is_refused(text: str, why: str) -> None:
    factories.make_house()
    answer = Client().post("/play/guest/", {"start": text})

    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert not PracticeGame.objects.exists()


def test_as_many_bots_as_seats_are_needed() -> None:
    bots = [factories.open_bot(f"bot {n}", f"owner-{n}").pk for n in range(2)]

    with pytest.raises(BadPracticeGame, match="has 2 seats: choose bots for 1"):
        services.begin(factories.person(), PracticeTerms("yucata", bots, start=TEXT))


@pytest.mark.parametrize(
    ("text", "offered"), [(TEXT, True), (OVER, False), (CERTAIN, False)]
)
def test_the_page_of_a_position_offers_it(text: str, *, offered: bool) -> None:
    shown = Client().get("/position/", {"text": text}).content.decode()

    assert ("Play from here" in shown) == offered
