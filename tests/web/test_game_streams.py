"""Streams of running games, from a real web server."""

from collections.abc import Iterator
from http import HTTPStatus

import httpx
import pytest

from ladder.games import attempts
from ladder.games.attempts import AnswerRecord
from ladder.games.models import Match
from ladder.web.server.streams.game_streams import LIVE_FRAMES
from tests import factories
from tests.web.streaming import Message, stream
from tests.web.test_watching import begin, end, go_on

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_stream_of_a_game_has_each_frame_and_ends_with_it(served: str) -> None:
    show = factories.everything()
    game, claim = begin(show.waiting, moves=5)
    with stream(f"{served}/games/{game.pk}/stream/?after=4&attempt=1") as messages:
        first = next(messages).data
        go_on(claim, show.waiting, 5, 8)
        second = next(messages).data
        end(claim, show.waiting)
        rest = list(messages)

    assert (first["first"], len(first["frames"])) == (4, 2)
    assert (second["first"], len(second["frames"])) == (6, 3)
    assert first["players"] == [seat.submission.bot.name for seat in game.seats.all()]
    assert rest[-1].data["over"]
    whole = httpx.get(f"{served}/games/{game.pk}/frames.json", timeout=60).json()
    frames = [None] * 4
    for data in (first, second, *(message.data for message in rest)):
        frames[data["first"] :] = data["frames"]
    assert frames[4:] == whole["frames"][4:]


def test_the_end_of_a_followed_game_is_only_what_is_new(served: str) -> None:
    """Times come in fractions of the tenths that the replay has."""
    show = factories.everything()
    match = show.waiting
    outcome = factories.random_game(match.ruleset, match.seats, match.seed)
    game, claim = begin(match, moves=0)
    told = [
        AnswerRecord(index, move.seat, move.actions, round(move.answer.ms, 1) + 0.04)
        for index, move in enumerate(outcome.moves[:20])
    ]
    attempts.store_answers(claim, told)
    with stream(f"{served}/games/{game.pk}/stream/") as messages:
        first = next(messages).data
        end(claim, match)
        rest = [message.data for message in messages]

    frames = [*first["frames"], *(frame for data in rest for frame in data["frames"])]
    whole = httpx.get(f"{served}/games/{game.pk}/frames.json", timeout=60).json()
    assert frames == whole["frames"]
    assert len(first["frames"]) > 20


def test_who_has_frames_of_another_attempt_gets_all(served: str) -> None:
    show = factories.everything()
    game, _ = begin(show.waiting, moves=5)
    with stream(f"{served}/games/{game.pk}/stream/?after=4&attempt=7") as messages:
        data = next(messages).data

    assert (data["first"], data["attempt"], len(data["frames"])) == (0, 1, 6)


def test_the_live_stream_goes_on_with_the_next_game(served: str) -> None:
    show = factories.everything()
    following = factories.make_match(show.anas, show.bens, finished=0)
    game, claim = begin(show.waiting, moves=5)
    with stream(f"{served}/live/stream/") as messages:
        first = next(messages).data
        end(claim, show.waiting)
        last = first_of(messages, over=True)
        begin(following, moves=3)
        new = next(messages).data

    assert (first["game"], first["over"]) == (game.pk, False)
    assert last["game"] == game.pk
    # A live board shows no more than its last frames.
    assert len(last["frames"]) == LIVE_FRAMES < last["first"]
    assert new["game"] == following.games.get().pk


def first_of(messages: Iterator[Message], *, over: bool) -> dict:
    return next(each.data for each in messages if each.data["over"] == over)


def test_a_game_that_becomes_hidden_is_shown_no_longer(served: str) -> None:
    show = factories.everything()
    game, claim = begin(show.waiting, moves=5)
    address = f"{served}/games/{game.pk}/stream/"
    with stream(address) as messages:
        next(messages)
        Match.objects.filter(pk=show.waiting.pk).update(embargo=True)
        go_on(claim, show.waiting, 5, 8)
        rest = list(messages)

    assert [message.event for message in rest] == ["gone"]
    assert httpx.get(address, timeout=60).status_code == HTTPStatus.NOT_FOUND


def test_a_game_that_the_engine_cannot_play_is_gone(served: str) -> None:
    """It stops no stream of other games."""
    show = factories.everything()
    game, claim = begin(show.waiting, moves=5)
    other, _ = begin(factories.make_match(show.anas, show.bens, finished=0), moves=3)
    with (
        stream(f"{served}/games/{other.pk}/stream/") as others,
        stream(f"{served}/games/{game.pk}/stream/") as messages,
    ):
        next(messages)
        next(others)
        attempts.store_answers(claim, [AnswerRecord(5, 0, ["fly away"], 1.0)])
        rest = list(messages)
        Match.objects.filter(pk=other.match_id).update(embargo=True)
        last = list(others)

    assert [message.event for message in (*rest, *last)] == ["gone", "gone"]


def test_a_game_that_is_over_has_no_stream(served: str) -> None:
    show = factories.everything()

    answer = httpx.get(f"{served}/games/{show.game.pk}/stream/", timeout=60)

    assert answer.status_code == HTTPStatus.NO_CONTENT


def test_a_server_of_another_kind_says_that_it_has_no_streams(visit) -> None:
    answer = visit("").get("/live/stream/")

    assert answer.status_code == HTTPStatus.NOT_FOUND
    assert "manage.py serve" in answer.content.decode()
