"""A person plays against bots: from the wish to the replay, with hosts in threads."""

import json
import threading
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models.functions import Now
from pytest_django import Settings

from engine.faults import Fault
from engine.referee import Answer, Ask, Hello, PlayerFault
from engine.replay import verify
from ladder.dispatch.dispatcher import Dispatcher
from ladder.extras.practice import claims, selectors, services
from ladder.extras.practice.models import PracticeGame, PracticeMove, PracticeStatus
from ladder.extras.practice.services import BadAnswer, OldQuestion
from ladder.games import replays
from ladder.games.models import Game, Match
from ladder.ops.chaos.scripted_player import ScriptedPlayer
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Entry
from tests import factories as rows
from tests.practice import factories
from tests.practice.factories import noting

pytestmark = pytest.mark.django_db(transaction=True)


def document_of(game: PracticeGame) -> dict:
    return json.loads(replays.unpack(bytes(factories.fresh(game).replay)))


def test_a_person_plays_a_whole_game_that_only_leaves_a_valid_replay() -> None:
    ensure_default_ladder()
    entries = Entry.objects.count()
    game = factories.own_game(seat=1)

    with factories.hosting(open_player=noting):
        ended = factories.answer(game)

    assert not Match.objects.exists()
    assert not Game.objects.exists()
    assert Entry.objects.count() == entries
    assert ended.status == PracticeStatus.FINISHED
    document = document_of(game)
    verify(document)
    assert document["result"] == ended.result
    assert {move["seat"] for move in document["moves"]} == {0, 1}
    assert not PracticeMove.objects.exists()
    notes = ended.opponents.get().notes
    assert notes[0]["note"].startswith("at ")
    assert document["moves"][notes[0]["move"]]["seat"] == 0


@pytest.mark.parametrize(
    "damage",
    [{"limits": {}}, {"ruleset": "none"}, {"switches": {"x": 1}}, {"forfeits": [1]}],
)
def test_a_damaged_row_fails_alone(damage: dict[str, object]) -> None:
    damaged = factories.own_game(seat=1)
    game = factories.begin(rows.make_bot("ashlar", "ben"), by="ben", seat=1)
    PracticeGame.objects.filter(pk=damaged.pk).update(**damage)

    with factories.hosting():
        factories.until(lambda: factories.fresh(damaged).status == "failed")
        factories.until(lambda: factories.asked(game))

    assert "failed to play" in factories.fresh(damaged).note


@pytest.mark.parametrize("damage", [{"switches": [1]}, {"forfeits": [1]}])
def test_a_damaged_row_with_moves_ends_without_a_replay(damage) -> None:
    game = factories.own_game()
    with factories.hosting():
        factories.until(lambda: factories.asked(game))
        factories.answer(game, 1)
        factories.until(game.moves.count)
    damage |= {"fence": 99, "lease_until": Now()}
    PracticeGame.objects.filter(pk=game.pk).update(**damage)

    assert claims.end_lifeless() == 1

    ended = factories.fresh(game)
    assert (ended.status, ended.replay) == (PracticeStatus.FAILED, None)


@pytest.mark.deep
def test_a_person_plays_with_four_seats_against_the_bots_of_three_owners() -> None:
    bots = [factories.open_bot(f"bot {n}", f"owner-{n}") for n in range(3)]
    season = rows.make_ladder()
    for bot in bots:
        season.ladder.memberships.create(bot=bot.bot)
    game = factories.begin(*bots, seat=2)

    with factories.hosting():
        ended = factories.answer(game)

    assert ended.status == PracticeStatus.FINISHED
    # Their owners did not play, so their bots' notes and logs belong to nobody here.
    assert [one.notes for one in ended.opponents.all()] == [[], [], []]
    assert [one.number for one in ended.opponents.all()] == [0, 1, 3]


def test_an_answer_is_checked_and_counts_once() -> None:
    game = factories.own_game()
    with factories.hosting():
        row = factories.until(lambda: factories.asked(game))
        legal = selectors.question(row).legal()

        with pytest.raises(BadAnswer, match="wall z9"):
            services.answer(row, row.ply, ["wall z9"])
        with pytest.raises(BadAnswer, match="no action"):
            services.answer(row, row.ply, [])
        with pytest.raises(BadAnswer, match="at most"):
            services.answer(row, row.ply, ["end"] * 65)
        with pytest.raises(OldQuestion):
            services.answer(row, row.ply + 1, legal[:1])
        ply = row.ply
        services.answer(row, ply, legal[:1])
        services.answer(factories.fresh(game), ply, legal[:1])  # sent twice
        with pytest.raises(OldQuestion):
            services.answer(factories.fresh(game), ply, legal[1:2])
        factories.until(lambda: factories.fresh(game).ply != ply)

    assert game.moves.filter(seat=0, actions=legal[:1]).count() == 1


def test_two_answers_at_the_same_moment_count_once() -> None:
    game = factories.own_game()
    with factories.hosting():
        row = factories.until(lambda: factories.asked(game))
        legal = selectors.question(row).legal()
        results: list[str] = []

        def send(action: str) -> None:
            try:
                services.answer(row, row.ply, [action])
                results.append("taken")
            except OldQuestion:
                results.append("refused")
            finally:
                connection.close()

        threads = [
            threading.Thread(target=send, args=(action,)) for action in legal[:2]
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(results) == ["refused", "taken"]


def test_a_purchase_is_not_tried_before_it_is_sent() -> None:
    game = factories.own_game()
    with factories.hosting():
        row = factories.answer(game, answers=0)
        while "buy" not in selectors.question(row).legal():
            row = factories.answer(game, answers=1)
        before = selectors.question(row).state(0)

        tried = services.tentative(row, row.ply, ["buy"])

    assert tried.complete
    assert tried.game.state(0) == before
    with pytest.raises(BadAnswer, match="nothing may follow buy"):
        services.tentative(row, row.ply, ["buy", "end"])


def test_a_tried_turn_ends_with_the_turn_and_shows_no_card_of_others() -> None:
    game = factories.own_game()
    with factories.hosting():
        row = factories.answer(game, answers=0)
        while "end" not in selectors.question(row).legal():
            row = factories.answer(game, answers=1)

        tried = services.tentative(row, row.ply, ["end"])

    assert tried.complete
    with pytest.raises(BadAnswer, match="nothing may follow end"):
        services.tentative(row, row.ply, ["end", "end"])


def test_a_person_who_leaves_loses_no_slot_for_long(settings: Settings) -> None:
    settings.TORRES_PRACTICE_MOVE_SECONDS = 0.2
    settings.TORRES_PRACTICE_BANK_SECONDS = 0.2
    game = factories.own_game()

    with factories.hosting():
        ended = factories.until(
            lambda: (row := factories.fresh(game)).is_open is False and row
        )

    assert ended.status == PracticeStatus.ABANDONED
    assert "in time" in ended.note


def test_a_game_that_is_given_up_frees_its_slot() -> None:
    first = factories.own_game()
    second = factories.begin(factories.make_house(), by="cleo")
    with factories.hosting(slots=1):
        factories.until(lambda: factories.asked(first))
        assert factories.fresh(second).status == PracticeStatus.WAITING
        assert selectors.place_in_queue(second.pk) == 1

        assert services.give_up(first)
        factories.until(lambda: factories.asked(second))

    assert factories.fresh(first).status == PracticeStatus.ABANDONED
    assert not services.give_up(first)


def test_a_bot_that_forfeits_leaves_the_game_to_the_person() -> None:
    class Failing(ScriptedPlayer):
        def decide(self, ask: Ask) -> Answer:
            if ask.ply > 4:
                raise PlayerFault(Fault.CRASH, "it ended with exit code 3")
            return super().decide(ask)

    game = factories.own_game()
    with factories.hosting(open_player=lambda *_, **__: Failing("any")):
        ended = factories.answer(game)

    assert ended.status == PracticeStatus.FINISHED
    assert ended.result["reason"] == "last_standing"
    assert ended.result["ranks"][0] == 1
    assert ended.opponents.get().fault_detail == "it ended with exit code 3"
    verify(document_of(game))


def test_a_fault_of_the_service_ends_the_game_in_plain_words() -> None:
    class Broken(ScriptedPlayer):
        def start(self, hello: Hello) -> None:
            raise OSError("/srv/secret/path is full")

    game = factories.own_game()
    with factories.hosting(open_player=lambda *_, **__: Broken("any")):
        ended = factories.until(
            lambda: (row := factories.fresh(game)).is_open is False and row
        )

    assert ended.status == PracticeStatus.FAILED
    assert "secret" not in ended.note
    assert "Try again" in ended.note


def test_another_host_goes_on_where_one_stopped() -> None:
    game = factories.own_game()
    with factories.hosting(open_player=noting):
        factories.answer(game, answers=3)
        row = factories.until(lambda: factories.asked(game))
    before = list(game.moves.values_list("index", "actions", "note"))
    stopped = factories.fresh(game)

    with factories.hosting(open_player=noting):
        again = factories.until(
            lambda: (
                (now := factories.fresh(game)).fence > stopped.fence
                and factories.asked(game)
                and now
            )
        )
        assert again.ply == row.ply
        ended = factories.answer(game)

    assert stopped.status == PracticeStatus.RUNNING
    assert ended.status == PracticeStatus.FINISHED
    document = document_of(game)
    assert [move["actions"] for move in document["moves"]][: len(before)] == [
        actions for _, actions, _ in before
    ]
    verify(document)


def test_a_bot_that_differs_after_an_interruption_ends_the_game() -> None:
    game = factories.own_game()
    with factories.hosting():
        factories.answer(game, answers=3)

    with factories.hosting(open_player=lambda *_, **__: ScriptedPlayer("other")):
        ended = factories.until(
            lambda: (row := factories.fresh(game)).is_open is False and row
        )

    assert ended.status == PracticeStatus.FAILED
    assert "did not repeat its moves" in ended.note


def test_an_answer_that_was_sent_during_an_interruption_counts() -> None:
    game = factories.own_game()
    with factories.hosting():
        row = factories.answer(game, answers=2)
    legal = selectors.question(row).legal()
    services.answer(factories.fresh(game), row.ply, legal[-1:])

    with factories.hosting():
        factories.until(lambda: game.moves.filter(actions=legal[-1:]).exists())


def test_a_host_that_lost_its_claim_writes_nothing() -> None:
    game = factories.own_game()
    old = claims.claim("one")
    PracticeGame.objects.update(lease_until=Now() - timedelta(seconds=1))
    new = claims.claim("two")

    assert (old.fence, new.fence) == (1, 2)
    assert claims.claim("three") is None
    assert not old.renew(claims.LEASE)
    with pytest.raises(claims.ClaimLost):
        claims.ask(old, 0, 1.0, 1.0)
    with pytest.raises(claims.ClaimLost):
        claims.record(old, PracticeMove(index=0, seat=0, actions=["end"]))
    with pytest.raises(claims.ClaimLost):
        claims.answer_to(old, 0)
    assert new.renew(claims.LEASE)
    assert not game.moves.exists()


def test_the_dispatcher_ends_games_without_life() -> None:
    waiting = factories.own_game()
    lost = factories.begin(factories.make_house(), by="cleo")
    often = factories.begin(factories.make_house(), by="dora")
    alive = factories.begin(factories.make_house(), by="emil")
    rows = PracticeGame.objects
    rows.filter(pk=waiting.pk).update(created_at=Now() - claims.MAX_WAIT * 2)
    running = rows.exclude(pk=waiting.pk)
    running.update(status="running", lease_until=Now() + claims.LEASE, fence=1)
    rows.filter(pk=lost.pk).update(lease_until=Now() - claims.MAX_SILENCE * 2)
    rows.filter(pk=often.pk).update(
        fence=claims.MAX_CLAIMS, lease_until=Now() - timedelta(seconds=1)
    )

    Dispatcher().tick()

    assert factories.fresh(waiting).status == PracticeStatus.ABANDONED
    assert factories.fresh(lost).status == PracticeStatus.FAILED
    assert factories.fresh(often).status == PracticeStatus.FAILED
    assert factories.fresh(alive).status == PracticeStatus.RUNNING


def test_status_says_that_no_host_runs(capsys: pytest.CaptureFixture[str]) -> None:
    factories.own_game()
    with pytest.raises(CommandError, match="no host of them is running"):
        call_command("status")

    with factories.hosting():
        factories.until(selectors.host_is_alive)
        with pytest.raises(CommandError) as failure:
            call_command("status")
    assert "host" not in str(failure.value)  # only the dispatcher is missing
