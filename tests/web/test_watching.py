"""Running games can be watched, except for games that must stay secret."""

import json
from datetime import timedelta
from random import Random

import pytest
from django.utils import timezone

from engine.faults import Fault
from ladder.games import attempts, replays, visibility
from ladder.games.attempts import AnswerRecord
from ladder.games.models import AnswerBatch, Game, Match, Worker
from ladder.games.worker import engine_adapter
from tests.factories import Show, make_match, random_game

LEASE = timedelta(hours=1)


def begin(match: Match, moves: int = 9) -> tuple[Game, attempts.Claim]:
    """Let a worker play the first moves of a match's first game."""
    worker, _ = Worker.objects.get_or_create(name="w:2:2", defaults={"host": "w"})
    game = match.games.order_by("index")[0]
    claim = attempts.claim(game.pk, worker.pk)
    assert claim is not None
    Game.objects.filter(pk=game.pk).update(lease_until=timezone.now() + LEASE)
    go_on(claim, match, 0, moves)
    return Game.objects.get(pk=game.pk), claim


def go_on(claim: attempts.Claim, match: Match, first: int, last: int) -> None:
    torres = engine_adapter.start(match)
    rng = Random(5)
    answers = []
    for index in range(last):
        action = rng.choice(torres.legal())
        answers.append(AnswerRecord(index, torres.seat or 0, [action], 1.5))
        torres.play(action)
    attempts.store_answers(claim, answers[first:])


def end(claim: attempts.Claim, match: Match) -> None:
    """Finish the game with other moves, so that watchers cannot know them yet."""
    outcome = random_game(match.ruleset, match.seats, match.seed)
    assert attempts.finish(
        claim, engine_adapter.result(engine_adapter.load(claim.game), outcome)
    )


def test_the_moves_of_a_running_game_are_public(api, show: Show) -> None:
    game, claim = begin(show.waiting)
    address = f"/api/v1/games/{game.pk}/moves/"

    body = api("").get(address).json()
    assert (body["status"], body["attempt"], len(body["moves"])) == ("running", 1, 9)
    assert set(body["moves"][0]) == {"seat", "actions", "ms"}
    go_on(claim, show.waiting, 9, 12)
    assert len(api("").get(address).json()["moves"]) == 12
    assert "seed" not in body


def test_a_new_attempt_starts_without_moves(api, show: Show) -> None:
    game, claim = begin(show.waiting)
    attempts.fail(claim, "the worker died")
    address = f"/api/v1/games/{game.pk}/moves/"

    waiting = api("").get(address).json()
    assert (waiting["status"], waiting["moves"]) == ("scheduled", [])
    begin(show.waiting, moves=2)
    body = api("").get(address).json()
    assert (body["attempt"], len(body["moves"])) == (2, 2)


def test_the_moves_of_a_finished_game_are_those_of_its_replay(api, show: Show) -> None:
    body = api("").get(f"/api/v1/games/{show.game.pk}/moves/").json()
    replay = api("").get(f"/api/v1/games/{show.game.pk}/replay/").json()

    assert body["moves"] == replay["moves"]


def test_the_page_and_the_frames_follow_a_running_game(visit, show: Show) -> None:
    game, claim = begin(show.waiting)
    browser = visit("")
    page = browser.get(f"/games/{game.pk}/").content.decode()
    assert "this page follows it" in page
    assert "Position after 9 of 9 actions" in page

    answer = browser.get(f"/games/{game.pk}/frames.json")
    body = answer.json()
    assert not body["over"]
    assert len(body["frames"]) == 10
    assert answer["Cache-Control"] == "public, max-age=0, s-maxage=1"
    known = {"HTTP_IF_NONE_MATCH": answer["ETag"]}
    assert browser.get(f"/games/{game.pk}/frames.json", **known).status_code == 304
    go_on(claim, show.waiting, 9, 10)
    again = browser.get(f"/games/{game.pk}/frames.json", **known)
    assert len(again.json()["frames"]) == 11


def test_a_replay_that_this_engine_refuses_has_no_frames(visit, show: Show) -> None:
    document = json.loads(visibility.replay(show.game))
    document["moves"][0]["actions"] = ["enter i9"]
    Game.objects.filter(pk=show.game.pk).update(replay=replays.pack(document))

    assert visit("").get(f"/games/{show.game.pk}/frames.json").status_code == 404
    assert b"enter i9" in visit("").get(f"/games/{show.game.pk}/").content


def test_nothing_is_shown_after_answers_that_were_lost(show: Show) -> None:
    """PostgreSQL keeps these rows in a table that is empty after a crash."""
    game, claim = begin(show.waiting, 3)
    go_on(claim, show.waiting, 3, 6)
    assert len(visibility.moves_so_far(game).moves) == 6
    assert len(visibility.moves_so_far(game, after=2).moves) == 4

    AnswerBatch.objects.filter(first=0).delete()

    assert visibility.moves_so_far(game).moves == []
    assert len(visibility.moves_so_far(game, after=3).moves) == 3


def test_an_automatic_move_implies_a_forfeit(visit, show: Show) -> None:
    three = make_match(show.anas, show.bens, show.anas, finished=0)
    game, claim = begin(three, moves=0)
    torres = engine_adapter.start(three)
    torres.forfeit(torres.seat, Fault.CRASH)
    seat = torres.seat
    answer = AnswerRecord(0, seat, torres.automatic(), 0.0, auto=True)
    attempts.store_answers(claim, [answer])

    frames = visit("").get(f"/games/{game.pk}/frames.json").json()["frames"]
    assert frames[-1]["forfeited"] == [seat]


def test_a_game_is_secret_while_another_game_has_the_same_decks(
    api, visit, show: Show
) -> None:
    both = make_match(show.anas, show.bens, games=2, finished=0)
    game, _ = begin(both)

    answer = api("ana").get(f"/api/v1/games/{game.pk}/moves/")
    assert (answer.status_code, answer.json()["code"]) == (409, "not-over")
    assert visit("ana").get(f"/games/{game.pk}/frames.json").status_code == 404
    page = visit("ana").get(f"/games/{game.pk}/").content.decode()
    assert "has the same decks" in page
    assert '<li class="turn' not in page


@pytest.mark.parametrize("who", ["ana", ""])
def test_a_game_under_embargo_cannot_be_watched(api, visit, show, who: str) -> None:
    game, _ = begin(show.waiting)
    Match.objects.filter(pk=show.waiting.pk).update(embargo=True)

    assert api(who).get(f"/api/v1/games/{game.pk}/moves/").status_code == 404
    for address in (f"/games/{game.pk}/", f"/games/{game.pk}/frames.json"):
        assert visit(who).get(address).status_code == 404
    assert not visibility.games().filter(pk=game.pk).exists()


def test_the_picture_of_a_game_is_cached_and_follows_the_ply(visit, show) -> None:
    browser = visit("")
    address = f"/games/{show.game.pk}/board.svg"

    last = browser.get(address)
    first = browser.get(address, {"ply": 0})

    assert last["Content-Type"] == "image/svg+xml"
    assert last.content != first.content
    assert browser.get(address, {"ply": 999_999}).content == last.content
    known = {"HTTP_IF_NONE_MATCH": last["ETag"]}
    assert browser.get(address, **known).status_code == 304
    assert browser.get("/games/999999/board.svg").status_code == 404
    assert address.encode() in browser.get("/").content
