"""A POST with an Idempotency-Key is done once, however often it is sent."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.db.models import F
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from ladder.accounts import idempotency, retention, scopes, tokens
from ladder.accounts.models import IdempotentRequest
from ladder.accounts.scopes import Scope
from ladder.bots import services, views
from ladder.bots.models import Bot, Submission
from tests.factories import Show

BOTS = "/api/v1/bots/"
ONE = {"name": "One"}


def send(client: APIClient, key: str, body: object = ONE, path: str = BOTS):
    return client.post(path, body, HTTP_IDEMPOTENCY_KEY=key)


def upload(client: APIClient, key: str, content: bytes, name: str = "bot.py"):
    file = {"archive": SimpleUploadedFile(name, content)}
    path = "/api/v1/bots/grendel/submissions/"
    return client.post(path, file, format="multipart", HTTP_IDEMPOTENCY_KEY=key)


def code(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def age(**ages: int) -> None:
    """Let all keys be older."""
    IdempotentRequest.objects.update(
        started_at=F("started_at") - timedelta(**ages),
        lease_until=F("lease_until") - timedelta(**ages),
    )


def test_a_repetition_gets_the_first_response(ana) -> None:
    first, again = send(ana, "k1"), send(ana, '"k1"')

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.content == again.content
    assert first["Location"] == again["Location"]
    assert first["Content-Type"] == again["Content-Type"]
    assert "Idempotent-Replayed" not in first
    assert again["Idempotent-Replayed"] == "true"
    assert Bot.objects.count() == 1


def test_a_refusal_is_stored_too(ana) -> None:
    send(ana, "k1")
    first, again = send(ana, "k2", {"name": ""}), send(ana, "k2", {"name": ""})

    assert code(first) == code(again) == (400, "invalid")
    assert again["Idempotent-Replayed"] == "true"
    assert again["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("path", "body"),
    [(BOTS, {"name": "Two"}), ("/api/v1/bots/one/comparisons/", ONE)],
)
def test_the_same_key_with_another_request_is_refused(ana, path, body) -> None:
    send(ana, "k1")
    refused = send(ana, "k1", body, path)

    assert code(refused) == (422, "idempotency-key-reused")
    assert "RateLimit" in refused
    assert Bot.objects.get().status == "active"


def test_a_key_belongs_to_one_user(ana, ben) -> None:
    assert send(ana, "k1").status_code == 201
    assert send(ben, "k1", {"name": "Two"}).status_code == 201


@pytest.mark.parametrize("key", ["", " ", '""', "two words", "ä", "x" * 256, "\x7f"])
def test_a_bad_key_is_refused(ana, key: str) -> None:
    assert code(send(ana, key)) == (400, "bad-idempotency-key")
    assert not Bot.objects.exists()


def test_a_request_that_creates_nothing_ignores_the_key(ana) -> None:
    send(ana, "k1")
    paths = [f"{BOTS}one/withdraw/", f"{BOTS}one/bring-back/", f"{BOTS}one/withdraw/"]

    assert [send(ana, "k1", ONE, path).status_code for path in paths] == [200] * 3
    assert Bot.objects.get().status == "withdrawn"
    assert IdempotentRequest.objects.count() == 1


def test_every_request_that_creates_something_takes_a_key() -> None:
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    posts = {path: item["post"] for path, item in paths.items() if "post" in item}
    creating = {
        path
        for path, post in posts.items()
        if "201" in post["responses"] or path.endswith("/submissions/")
    }
    with_key = {
        path
        for path, post in posts.items()
        if "Idempotency-Key" in [each["name"] for each in post.get("parameters", [])]
    }

    assert with_key == creating


def test_a_key_is_only_for_posts_of_people(ana, anybody) -> None:
    assert anybody.get(BOTS, HTTP_IDEMPOTENCY_KEY="k1").status_code == 200
    assert ana.get(BOTS, HTTP_IDEMPOTENCY_KEY="").status_code == 200
    assert send(anybody, "").status_code == 401
    assert not IdempotentRequest.objects.exists()


def test_a_token_needs_the_scope_to_read_a_stored_response(ana) -> None:
    send(ana, "k1")
    reader = APIClient()
    token = tokens.new_token(User.objects.get(username="ana"), scopes=Scope.READ)
    reader.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")

    assert code(send(reader, "k1")) == (403, "missing-scope")
    assert scopes.of_user(User.objects.get(username="ana")) == scopes.ALL


def test_a_repeated_upload_is_one_submission(ana, show: Show) -> None:
    before = Submission.objects.count()
    large = b"#" + b"x" * (3 << 20)  # Django writes it to a file
    first, again = upload(ana, "k1", large), upload(ana, "k1", large)

    assert first.status_code == again.status_code == 202
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert Submission.objects.count() == before + 1
    assert code(upload(ana, "k1", large + b"y"))[0] == 422
    assert code(upload(ana, "k1", large, "bot.js"))[0] == 422


def test_the_view_reads_the_upload_after_its_digest(ana, show: Show) -> None:
    content = b"print('another program')"
    row = Submission.objects.get(pk=upload(ana, "k1", content).json()["id"])
    known = upload(ana, "k2", content).json()["id"]

    assert row.size == len(content)
    assert known == row.pk


def test_repetitions_have_a_rate_limit(ana, settings) -> None:
    settings.TORRES_RATE_TOKEN = 3
    answers = [send(ana, "k1") for _ in range(5)]

    assert [answer.status_code for answer in answers] == [201] * 3 + [429] * 2
    assert answers[-1]["Retry-After"]
    assert '"token";r=0' in answers[-1]["RateLimit"]


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_what_says_nothing_about_the_request_is_not_stored(
    ana, monkeypatch, status: int
) -> None:
    def answer(self, request):
        return views.Response({}, status)

    monkeypatch.setattr(views.BotList, "post", idempotency.once_by_key(answer))
    assert send(ana, "k1").status_code == status
    assert not IdempotentRequest.objects.exists()
    monkeypatch.undo()

    assert send(ana, "k1").status_code == 201


def test_a_failure_gives_the_key_back(ana, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(services, "create_bot", fail)
    assert send(ana, "k1").status_code == 500
    monkeypatch.undo()

    assert send(ana, "k1").status_code == 201


def test_a_secret_or_large_response_is_not_stored(ana, monkeypatch) -> None:
    monkeypatch.setattr(views.BotList, "secret_response", True, raising=False)
    assert send(ana, "k1").status_code == 201
    assert IdempotentRequest.objects.get().body is None
    assert IdempotentRequest.objects.get().headers == {}
    assert code(send(ana, "k1")) == (409, "no-stored-response")
    monkeypatch.undo()
    monkeypatch.setattr(idempotency, "MAX_BODY_BYTES", 10)

    assert send(ana, "k2", {"name": "Two"}).status_code == 201
    assert code(send(ana, "k2", {"name": "Two"})) == (409, "no-stored-response")
    assert Bot.objects.count() == 2


def test_a_key_is_free_again_after_a_day(ana) -> None:
    send(ana, "k1")
    age(hours=23)
    assert send(ana, "k1")["Idempotent-Replayed"] == "true"
    age(hours=2)

    assert send(ana, "k1", {"name": "Two"}).status_code == 201
    assert Bot.objects.count() == 2


def test_a_key_of_a_killed_process_is_free_again(ana) -> None:
    user = User.objects.get(username="ana")
    idempotency.claim(user, "k1", "0" * 64)  # its process is killed now
    running = send(ana, "k1")
    age(seconds=301)

    assert code(running) == (422, "idempotency-key-reused")
    assert send(ana, "k1").status_code == 201
    assert send(ana, "k1")["Idempotent-Replayed"] == "true"


def test_a_claim_that_was_taken_over_writes_nothing(ana) -> None:
    user = User.objects.get(username="ana")
    lost = idempotency.claim(user, "k1", "0" * 64)
    age(seconds=301)
    assert send(ana, "k1").status_code == 201
    idempotency.finish(lost, HttpResponse(b"late"), secret=False)
    idempotency.release(lost)

    assert send(ana, "k1").status_code == 201


def test_old_keys_are_deleted_and_their_number_is_bounded(ana, monkeypatch) -> None:
    monkeypatch.setattr(idempotency, "MAX_KEYS", 3)
    for number in range(5):
        send(ana, f"k{number}", {"name": f"Bot {number}"})
    kept = IdempotentRequest.objects.order_by("pk").values_list("key", flat=True)
    assert list(kept) == ["k2", "k3", "k4"]
    IdempotentRequest.objects.filter(key="k3").update(
        started_at=timezone.now() - timedelta(hours=25)
    )
    (rule,) = [each for each in retention.rules() if each.name == "keys of requests"]

    assert rule.due(10) == 1
    assert rule.delete(10) == 1
    assert rule.stored() == 2


@pytest.mark.django_db(transaction=True)
def test_requests_at_the_same_moment_are_done_once(api, monkeypatch) -> None:
    """The first one holds its key until another one was refused."""
    api("ana")
    token = tokens.new_token(User.objects.get(username="ana"))
    create, calls = services.create_bot, []
    refused = threading.Event()

    def slowly(owner: User, name: str) -> Bot:
        calls.append(name)
        assert refused.wait(60)
        return create(owner, name)

    monkeypatch.setattr(services, "create_bot", slowly)

    def ask(_: int) -> tuple[int, str]:
        client = APIClient(raise_request_exception=False)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        try:
            answer = send(client, "k1")
            if answer.status_code == 409:
                assert answer["Retry-After"] == "2"
                refused.set()
            return answer.status_code, answer.json().get("code", "")
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(ask, range(6)))

    assert calls == ["One"]
    assert Bot.objects.count() == 1
    assert set(answers) <= {(201, ""), (409, "in-progress")}
    assert (201, "") in answers
    assert (409, "in-progress") in answers
