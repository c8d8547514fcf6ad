"""Every error under /api/ is a problem document, whichever layer detects it."""

import re

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client
from rest_framework.test import APIClient
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("get", "/api/v1/nothing/", 404, "not-found"),
        ("get", "/api/", 404, "not-found"),
        ("get", "/api/v1/bots/nobody/", 404, "not-found"),
        ("get", "/api/v1/submissions/99999999999999999999/", 404, "not-found"),
        ("delete", "/api/v1/bots/", 405, "method-not-allowed"),
        ("get", "/api/v1/bots/?limit=0", 400, "invalid"),
        ("get", "/api/v1/bots/?limit=many", 400, "invalid"),
        ("get", "/api/v1/bots/?limit=", 400, "invalid"),
        ("get", "/api/v1/bots/?cursor=", 400, "invalid"),
        ("get", "/api/v1/bots/?cursor=x", 400, "invalid"),
        ("get", "/api/v1/bots/?onwer=ana", 400, "invalid"),
        ("get", "/api/v1/bots/?owner=nobody", 400, "invalid"),
        ("get", "/api/v1/bots/?status=odd", 400, "invalid"),
        ("get", "/api/v1/bots/?house=maybe", 400, "invalid"),
        ("get", "/api/v1/bots/?status=", 400, "invalid"),
        ("get", "/api/v1/bots/?name=a%00", 400, "invalid"),
    ],
)
def test_an_error_is_a_problem(
    ana: APIClient, method: str, address: str, status: int, code: str
) -> None:
    answer = getattr(ana, method)(address)

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert answer.json()["code"] == code
    assert answer.json()["detail"]


def test_a_forgotten_slash_is_explained(anybody: APIClient) -> None:
    answer = anybody.get("/api/v1/bots")

    assert "end with a slash" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        ("{", "application/json", 400, "parse-error"),
        ("[]", "application/json", 400, "invalid"),
        ("null", "application/json", 400, "invalid"),
        ('{"name":NaN}', "application/json", 400, "parse-error"),
        ("<a/>", "application/xml", 415, "unsupported-media-type"),
    ],
)
def test_a_bad_body_is_a_problem(
    ana: APIClient, body: str, kind: str, status: int, code: str
) -> None:
    answer = ana.post("/api/v1/bots/", body, content_type=kind)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("value", ["Bearer", "Bearer x", "Bearer \xff", "bearer a b"])
def test_a_bad_token_is_a_problem_even_for_reading(
    anybody: APIClient, value: str
) -> None:
    answer = anybody.get("/api/v1/bots/", HTTP_AUTHORIZATION=value)

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_failure_of_the_service_is_a_problem_too(
    anybody: APIClient, monkeypatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("ladder.bots.views.BotList.get_queryset", broken)
    answer = anybody.get("/api/v1/bots/")

    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "server-error"
    assert b"secret" not in answer.content


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_is_away_is_no_failure_of_the_service(
    monkeypatch, error: type[Exception]
) -> None:
    """The page needs no database. A statement that meets a limit ends like this."""

    def away(*_: object) -> None:
        raise error("secret detail")

    monkeypatch.setattr("django.contrib.auth.middleware.get_user", away)
    monkeypatch.setattr("ladder.web.pages.views.BotsPage.get", away)
    monkeypatch.setattr("ladder.bots.views.BotList.get_queryset", away)
    answer = Client(raise_request_exception=False).get("/bots/")

    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert b"The database of this service is too busy or away" in answer.content
    assert b"secret" not in answer.content
    answer = Client(raise_request_exception=False).get("/api/v1/bots/")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")


def test_a_throttled_client_is_told_when_to_continue(
    anybody: APIClient, settings
) -> None:
    settings.TORRES_RATE_ANONYMOUS = 2
    answers = [anybody.get("/api/v1/bots/") for _ in range(5)]

    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1]["Retry-After"]) <= 61
    assert answers[-1].json()["code"] == "throttled"


def test_an_error_outside_the_api_is_html(anybody: APIClient) -> None:
    answer = anybody.get("/nothing/")

    assert answer.status_code == 404
    assert answer["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in answer["Content-Security-Policy"]


def test_a_wrong_host_is_refused(anybody: APIClient) -> None:
    answer = anybody.get("/api/v1/bots/", HTTP_HOST="evil.example")

    assert answer.status_code == 400
    assert answer.json()["code"] == "bad-request"


@pytest.mark.parametrize(
    ("method", "address", "status", "step"),
    [
        ("post", "/api/v1/bots/", 401, "manage.py token NAME"),
        ("get", "/api/v1/games/9999999/", 404, "/api/docs/"),
    ],
)
def test_errors_of_the_framework_say_what_to_do_next(
    anybody: APIClient, method: str, address: str, status: int, step: str
) -> None:
    answer = getattr(anybody, method)(address)

    assert answer.status_code == status
    assert step in answer.json()["detail"]


def test_the_page_of_a_failure_names_the_line_in_the_log(
    anybody: APIClient, monkeypatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the reason")

    monkeypatch.setattr("ladder.bots.views.BotList.get_queryset", broken)
    with capture_logs(processors=[merge_contextvars]) as lines:
        answer = anybody.get("/api/v1/bots/", HTTP_X_REQUEST_ID="chosen")

    request_id = answer["X-Request-ID"]
    assert re.fullmatch("[0-9a-f]{16}", request_id)
    assert request_id in answer.json()["detail"]
    (line,) = [line for line in lines if line["event"] == "a request failed"]
    assert line["request_id"] == request_id
    assert "the reason" in line["exception"]
