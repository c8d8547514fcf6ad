"""The headers that tell programs their rate limits."""

import re

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from ladder.accounts import tokens
from tests.factories import Show

BOTS = "/api/v1/bots/"
MEMBER = re.compile(r'"([a-z-]+)";r=(\d+);t=(\d+)')


def left(answer) -> dict[str, int]:
    """Return the requests that are left, by the name of the limit."""
    members = [MEMBER.fullmatch(each) for each in answer["RateLimit"].split(", ")]
    assert all(1 <= int(member[3]) <= 60 for member in members)
    return {member[1]: int(member[2]) for member in members}


@pytest.fixture(autouse=True)
def _limits(settings) -> None:
    settings.TORRES_RATE_TOKEN = 3
    settings.TORRES_RATE_USER = 5
    settings.TORRES_RATE_ANONYMOUS = 2


def second_program(name: str) -> APIClient:
    """Return a client with another token of the same user."""
    client = APIClient()
    token = tokens.new_token(User.objects.get(username=name))
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def test_an_answer_tells_the_limits_and_what_is_left(ana) -> None:
    first, second = ana.get(BOTS), ana.get(BOTS)

    assert first["RateLimit-Policy"] == '"token";q=3;w=60, "user";q=5;w=60'
    assert left(first) == {"token": 2, "user": 4}
    assert left(second) == {"token": 1, "user": 3}


def test_a_program_leaves_the_other_programs_of_its_user_something(ana) -> None:
    answers = [ana.get(BOTS) for _ in range(5)]
    other = second_program("ana")

    assert [answer.status_code for answer in answers] == [200] * 3 + [429] * 2
    assert left(answers[-1]) == {"token": 0}
    assert answers[-1]["Retry-After"]
    assert left(other.get(BOTS)) == {"token": 2, "user": 1}
    assert other.get(BOTS).status_code == 200
    refused = other.get(BOTS)
    assert refused.status_code == 429
    assert left(refused) == {"token": 0, "user": 0}


def test_an_address_has_a_limit_behind_proxies(anybody, settings) -> None:
    settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"NUM_PROXIES": 1}
    one = {"HTTP_X_FORWARDED_FOR": "forged, 192.0.2.1"}
    other = {"HTTP_X_FORWARDED_FOR": "192.0.2.1, 192.0.2.2"}

    assert left(anybody.get(BOTS, **one)) == {"address": 1}
    assert left(anybody.get(BOTS, **one)) == {"address": 0}
    assert anybody.get(BOTS, **one).status_code == 429
    assert left(anybody.get(BOTS, **other)) == {"address": 1}


def test_invalid_tokens_and_errors_have_the_headers(ana, anybody) -> None:
    wrong = anybody.get(BOTS, HTTP_AUTHORIZATION="Bearer wrong")

    assert wrong.status_code == 401
    assert left(wrong) == {"address": 1}
    assert left(ana.get("/api/v1/bots/nobody/")) == {"token": 2, "user": 4}


def test_expensive_actions_tell_their_own_limit(ana, show: Show, settings) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"upload": 1}
    address = f"/api/v1/submissions/{show.anas.pk}/activate/"
    answers = [ana.post(address) for _ in range(2)]

    assert left(answers[0]) == {"upload": 0, "token": 2, "user": 4}
    assert answers[1].status_code == 429
    assert left(answers[1]) == {"upload": 0}


def test_a_shared_answer_has_no_limits_of_somebody_else(
    show: Show, anybody, settings
) -> None:
    settings.TORRES_FRESH_SECONDS = 60
    address = "/api/v1/ladders/main/leaderboard/"
    first, shared = anybody.get(address), anybody.get(address)

    assert first.status_code == shared.status_code == 200
    assert left(first) == {"address": 1}
    assert "RateLimit" not in shared


def test_pages_have_no_such_headers(db, anybody) -> None:
    assert "RateLimit" not in anybody.get("/bots/")
