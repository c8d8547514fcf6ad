"""From a name to a numbered submission, over REST."""

import io
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from rest_framework.test import APIClient

from ladder.accounts import tokens
from ladder.accounts.models import ApiToken
from ladder.bots import house_bots, selectors, services, submissions
from ladder.bots.models import Bot, Submission
from ladder.web.middleware.bodies import Credentials, check_body

BOT = b"print('ready')\n"


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as target:
        for name, content in files.items():
            target.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def post(client: APIClient, slug: str, content: bytes, name: str = "bot.zip"):
    file = SimpleUploadedFile(name, content)
    address = f"/api/v1/bots/{slug}/submissions/"
    return client.post(address, {"archive": file}, format="multipart")


def create(client: APIClient, name: str = "Ada's Bot"):
    return client.post("/api/v1/bots/", {"name": name})


def test_a_bot_gets_a_slug(ana: APIClient) -> None:
    answer = create(ana, "  Ada's Bot №1 ")

    assert answer.status_code == 201
    assert answer.json()["slug"] == "adas-bot-no1"
    assert answer.json()["name"] == "Ada's Bot No1"
    assert answer.json()["owner"] == "ana"
    assert answer["Location"] == "/api/v1/bots/adas-bot-no1/"


def test_a_name_without_latin_letters_gets_a_random_slug(ana: APIClient) -> None:
    assert re.fullmatch(r"bot-[0-9a-f]{6}", create(ana, "Башня").json()["slug"])


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("", 400, "invalid"),
        ("   ", 400, "invalid"),
        ("x" * 65, 400, "invalid"),
        ("a\x00b", 400, "invalid"),
        ("right\u202eleft", 400, "bad-name"),
        ("house random", 409, "name-taken"),
        ("new", 409, "name-taken"),
        ("Taken", 409, "name-taken"),
        ("house:greedy", 409, "name-taken"),
        ("h\u043euse:greedy", 400, "bad-name"),  # a Cyrillic letter
        ("Gr\u0435ndel", 400, "bad-name"),
        ("\u0391na", 400, "bad-name"),  # a Greek letter
        ("bot \u0561", 400, "bad-name"),  # an Armenian letter
        ("House : greedy", 409, "name-taken"),
        ("house_greedy", 409, "name-taken"),
        ("\uff48\uff4f\uff55\uff53\uff45\uff1agreedy", 409, "name-taken"),
        (".house:greedy", 409, "name-taken"),
        ("hou\u0301se:greedy", 409, "name-taken"),
        ("House", 409, "name-taken"),
        ("ho\u200duse:greedy", 400, "bad-name"),
        ("ho\u3164use:greedy", 400, "bad-name"),
        ("\u2800", 400, "bad-name"),
        ("a\u2066b", 400, "bad-name"),
        ("a\x1b[31m", 400, "bad-name"),
        ("e" + 3 * "\u0301", 400, "bad-name"),
        ("e\u0301" + 2 * "\u0323", 400, "bad-name"),
        ("\uff34\uff21\uff2b\uff25\uff2e", 409, "name-taken"),
        ("  taken  ", 409, "name-taken"),
    ],
)
def test_an_impossible_name_is_refused(
    ana: APIClient, ben: APIClient, name: str, status: int, code: str
) -> None:
    create(ben, "taken")

    answer = create(ana, name)

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == code
    assert not Bot.objects.filter(owner__username="ana").exists()


def test_names_that_differ_only_in_case_are_the_same(
    ana: APIClient, ben: APIClient
) -> None:
    """The slug of such a name is random, so that it does not show the conflict."""
    assert create(ana, "ΠΥΡΓΟΣ  1").status_code == 201

    for name in ("πυργος 1", "Πυργοσ  1", "πυργοΣ ¹"):
        answer = create(ben, name)
        assert (answer.status_code, answer.json()["code"]) == (409, "name-taken")


@pytest.mark.parametrize(
    "name",
    [
        "housekeeper",
        "Penthouse",
        "Ti\u1ebfng Vi\u1ec7t",
        "नमस्ते",
        "my house: 2",
        "Ёжик",
        "GO 碁 ボット",
        "바둑 bot",
        "σ-7",
    ],
)
def test_a_usual_name_is_accepted(ana: APIClient, name: str) -> None:
    assert create(ana, name).status_code == 201


def test_the_form_refuses_the_name_of_a_house_bot(db: None, data_dir) -> None:
    person = Client()
    person.post("/sign-in/", {"token": tokens.token_for("ana")})
    page = person.post("/me/bots/", {"name": "house:greedy"}, follow=True)

    assert "are reserved" in page.content.decode()
    assert not Bot.objects.exists()


def test_an_upload_is_numbered_and_stored(ana: APIClient) -> None:
    slug = create(ana).json()["slug"]

    answer = post(ana, slug, zipped(bot_py=BOT))

    assert answer.status_code == 202
    body = answer.json()
    assert answer["Location"] == f"/api/v1/submissions/{body['id']}/"
    assert (body["number"], body["status"]) == (1, "uploaded")
    assert re.fullmatch("[0-9a-f]{64}", body["digest"])
    assert ana.get(answer["Location"]).json()["digest"] == body["digest"]
    assert selectors.claimable_ids() == [body["id"]]


def test_bots_are_filtered(ana: APIClient, ben: APIClient) -> None:
    house_bots.ensure_house_bots()
    create(ana, "a")
    create(ben, "b")

    def slugs(query: str) -> list[str]:
        answer = ana.get(f"/api/v1/bots/?{query}").json()["results"]
        return [bot["slug"] for bot in answer]

    assert slugs("house=false") == ["b", "a"]
    assert "house-random" in slugs("house=true")
    assert slugs("owner=ana") == ["a"]
    assert slugs("name=B&house=false") == ["b"]


def test_the_same_files_are_the_same_submission(ana: APIClient) -> None:
    slug = create(ana).json()["slug"]
    first = post(ana, slug, zipped(bot_py=BOT))

    again = post(ana, slug, BOT, "My Bot.py")

    assert again.status_code == 202
    assert again.json()["id"] == first.json()["id"]
    assert Submission.objects.count() == 1


def test_two_owners_with_the_same_files_share_nothing(
    ana: APIClient, ben: APIClient
) -> None:
    create(ana, "a")
    create(ben, "b")
    mine = post(ana, "a", zipped(bot_py=BOT)).json()
    theirs = post(ben, "b", zipped(bot_py=BOT)).json()

    assert mine["digest"] == theirs["digest"]
    assert mine["id"] != theirs["id"]
    packages = {s.package for s in Submission.objects.all()}
    assert len(packages) == 2


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"\x00garbage", 422, "not-an-archive"),
        (b"", 422, "empty-archive"),
        (zipped(main_py=BOT), 422, "no-entry"),
    ],
)
def test_a_broken_upload_gets_a_clear_error_and_leaves_nothing(
    ana: APIClient, data_dir, content: bytes, status: int, code: str
) -> None:
    create(ana, "a")

    answer = post(ana, "a", content)

    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert answer.json()["type"] == f"/docs/problems/#{code}"
    assert not Submission.objects.exists()
    assert [p for p in data_dir.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize(
    "path", ["/api/v1/bots/a/submissions/", "/bots/a/upload/", "/api/v1/bots/"]
)
def test_a_body_over_the_limit_is_refused_before_it_is_read(
    settings, path: str
) -> None:
    settings.TORRES_UPLOAD_BYTES = 10
    anonymous = Credentials("", "")

    refusal = check_body(path, 70_000, chunked=False, credentials=anonymous)

    assert refusal is not None
    assert (refusal.status, refusal.code) == (413, "body-too-large")


def test_an_upload_without_a_file_is_refused(ana: APIClient) -> None:
    create(ana, "a")

    answer = ana.post("/api/v1/bots/a/submissions/", {}, format="multipart")

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "archive"


def test_a_used_up_quota_says_when_to_try_again(ana: APIClient, settings) -> None:
    settings.TORRES_UPLOADS_PER_HOUR = 1
    settings.TORRES_BOTS_PER_OWNER = 1
    create(ana, "a")
    post(ana, "a", BOT, "bot.py")

    upload = post(ana, "a", BOT + b"#", "bot.py")
    bot = create(ana, "b")

    assert upload.status_code == 429
    assert 3500 < int(upload["Retry-After"]) <= 3601
    assert (bot.status_code, bot.json()["code"]) == (429, "too-many")


def test_uploads_are_throttled_before_they_are_unpacked(
    ana: APIClient, settings
) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"upload": 2}
    create(ana, "a")
    answers = [post(ana, "a", b"garbage") for _ in range(5)]

    assert answers[0].status_code == 422
    assert answers[-1].status_code == 429
    assert 1 <= int(answers[-1]["Retry-After"]) <= 61
    assert ana.get("/api/v1/bots/a/submissions/").status_code == 200


def test_a_withdrawn_bot_takes_no_uploads_until_it_is_back(ana: APIClient) -> None:
    create(ana, "a")

    assert ana.post("/api/v1/bots/a/withdraw/").json()["status"] == "withdrawn"
    assert ana.post("/api/v1/bots/a/withdraw/").status_code == 200
    assert post(ana, "a", BOT, "bot.py").json()["code"] == "bot-not-active"
    assert ana.post("/api/v1/bots/a/bring-back/").json()["status"] == "active"
    assert post(ana, "a", BOT, "bot.py").status_code == 202


def test_the_owner_cannot_bring_back_a_banned_bot(ana: APIClient) -> None:
    create(ana, "a")
    Bot.objects.update(status=Bot.Status.BANNED)

    assert ana.post("/api/v1/bots/a/bring-back/").status_code == 409


STRANGERS = [
    ("post", "/api/v1/bots/a/submissions/"),
    ("post", "/api/v1/bots/a/withdraw/"),
    ("post", "/api/v1/bots/a/bring-back/"),
    ("get", "/api/v1/submissions/{id}/log/"),
    ("get", "/api/v1/submissions/{id}/archive/"),
]


@pytest.mark.parametrize(("method", "address"), STRANGERS)
@pytest.mark.parametrize(("who", "status"), [("ben", 403), ("cleo", 403), ("", 401)])
def test_only_the_owner_may_do_that(
    api, ana: APIClient, method: str, address: str, who: str, status: int
) -> None:
    create(ana, "a")
    submission = post(ana, "a", BOT, "bot.py").json()

    answer = getattr(api(who), method)(address.format(**submission))

    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    assert "WWW-Authenticate" in answer or who
    assert Bot.objects.get().status == Bot.Status.ACTIVE
    assert Submission.objects.count() == 1


def test_a_log_is_shown_to_its_owner_and_nowhere_else(
    ana: APIClient, cleo: APIClient, anybody: APIClient
) -> None:
    create(ana, "a")
    submission = post(ana, "a", BOT, "bot.py").json()
    Submission.objects.update(log="my secret")
    pages = [f"/api/v1/submissions/{submission['id']}/", "/api/v1/bots/a/submissions/"]

    for page in [*pages, "/api/v1/bots/a/", "/api/v1/bots/"]:
        assert b"secret" not in cleo.get(page).content
        assert b"secret" not in anybody.get(page).content
    assert ana.get(pages[0]).json()["log"] == "my secret"
    assert ana.get(f"{pages[0]}log/").json()["log"] == "my secret"
    package = b"".join(ana.get(f"{pages[0]}archive/").streaming_content)
    assert zipfile.ZipFile(io.BytesIO(package)).read("bot.py") == BOT


@pytest.mark.django_db
def test_only_digests_of_tokens_are_stored() -> None:
    text = tokens.token_for("ana")

    token = ApiToken.objects.get()
    assert text not in str(vars(token))
    assert tokens.use_token(text) == token
    assert tokens.use_token(text + "x") is None


def test_the_token_of_an_inactive_user_is_refused(
    ana: APIClient,
) -> None:
    User.objects.update(is_active=False)

    answer = create(ana)

    assert answer.status_code == 401
    assert answer.json()["code"] == "authentication-failed"


@pytest.mark.usefixtures("data_dir")
@pytest.mark.django_db(transaction=True)
def test_uploads_at_the_same_moment_get_different_numbers(user) -> None:
    bot = services.create_bot(user("ana"), "a")

    def upload(k: int) -> int:
        try:
            content = io.BytesIO(BOT + str(k % 5).encode())
            return submissions.submit(bot, content, "bot.py").number
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        numbers = list(pool.map(upload, range(10)))

    assert sorted(set(numbers)) == [1, 2, 3, 4, 5]
    assert Submission.objects.count() == 5
