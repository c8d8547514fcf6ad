"""A token permits what its scopes say, over REST and in a session that it opened."""

from io import StringIO

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from rest_framework.test import APIClient

from ladder.accounts import scopes, tokens
from ladder.accounts.models import ApiToken
from ladder.accounts.scopes import Scope
from tests.accounts.factories import sign_up

pytestmark = pytest.mark.usefixtures("data_dir", "db")

AUTHORS = Scope.READ | Scope.SUBMIT


def api_client(name: str, permitted: Scope) -> APIClient:
    client = APIClient(raise_request_exception=False)
    token = tokens.token_for(name, scopes=permitted)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client


def session(name: str, permitted: Scope) -> Client:
    """Return a session that was opened with a token."""
    client = Client(raise_request_exception=False)
    token = tokens.token_for(name, scopes=permitted)
    assert client.post("/sign-in/", {"token": token}).status_code == 302
    return client


def operator(name: str) -> User:
    user = User.objects.get_or_create(username=name)[0]
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    return User.objects.get(pk=user.pk)


def test_names_and_numbers_of_scopes() -> None:
    assert scopes.names(AUTHORS) == ["read", "submit"]
    assert scopes.parse(["submit", "read", "read"]) == AUTHORS
    assert scopes.names(scopes.ALL) == ["read", "submit", "organise", "operate"]
    assert set(scopes.MEANINGS) == set(Scope)
    with pytest.raises(KeyError):
        scopes.parse(["fly"])


@pytest.mark.parametrize("number", [0, 16, 32767])
def test_the_database_refuses_unknown_scopes(number: int) -> None:
    tokens.token_for("ana")
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.update(scopes=number)


def test_a_token_without_a_choice_reads_and_submits() -> None:
    out = StringIO()
    call_command("token", "ana", stdout=out)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {out.getvalue().strip()}")

    me = client.get("/api/v1/me/").json()
    assert me == {"name": "ana", "scopes": ["read", "submit"]}
    assert client.post("/api/v1/bots/", {"name": "One"}).status_code == 201


def test_the_console_chooses_the_scopes_of_a_token() -> None:
    call_command("token", "ana", "--scope", "read", "--scope", "operate")
    assert ApiToken.objects.get().scopes == Scope.READ | Scope.OPERATE
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("token", "ana", "--scope", "fly")


def test_a_token_that_only_reads_changes_nothing() -> None:
    reader = api_client("ana", Scope.READ)
    answer = reader.post("/api/v1/bots/", {"name": "One"})

    assert answer.status_code == 403
    assert answer.json()["code"] == "missing-scope"
    assert answer.json()["scope"] == "submit"
    assert 'error="insufficient_scope", scope="submit"' in answer["WWW-Authenticate"]
    assert "lacks the scope 'submit'" in answer.json()["detail"]
    assert reader.get("/api/v1/bots/").json()["results"] == []
    assert reader.post("/api/v1/me/").status_code == 405


def test_a_token_that_only_submits_reads_nothing() -> None:
    writer = api_client("ana", Scope.SUBMIT)

    assert writer.post("/api/v1/bots/", {"name": "One"}).status_code == 201
    for method in (writer.get, writer.head, writer.options):
        assert method("/api/v1/bots/").status_code == 403
    refused = Client().post("/sign-in/", {"token": tokens.token_for("ana", "", 2)})
    assert refused.status_code == 422


def test_a_session_has_no_more_rights_than_its_token() -> None:
    reader = session("ana", Scope.READ)

    assert reader.get("/me/").status_code == 200
    for address in ("/me/bots/", "/me/tokens/", "/bots/one/upload/", "/play/"):
        answer = reader.post(address, {"name": "One"})
        assert answer.status_code == 403, address
        assert "lacks the scope" in answer.content.decode()
    assert not User.objects.get(username="ana").bots.exists()
    assert ApiToken.objects.count() == 1
    assert reader.post("/sign-out/").status_code == 302
    assert reader.get("/me/").status_code == 302


def test_a_session_of_an_operator_needs_the_scope_operate() -> None:
    operator("olga")
    limited, whole = session("olga", AUTHORS), session("olga", scopes.ALL)
    bot = "/admin/bots/bot/"

    assert whole.get(bot).status_code == 200
    assert limited.get(bot).status_code == 302
    assert limited.get("/admin/").status_code == 302
    assert User.objects.get(username="olga").is_superuser


def test_permissions_of_groups_need_the_scope_operate(rf) -> None:
    group = Group.objects.create(name="referees")
    group.permissions.add(Permission.objects.get(codename="view_bot"))
    olga = User.objects.create(username="olga", is_staff=True)
    olga.groups.add(group)
    assert olga.has_perm("bots.view_bot")
    assert olga.has_module_perms("bots")

    limited = User.objects.get(pk=olga.pk)
    scopes.restrict(limited, AUTHORS)
    assert not limited.has_perm("bots.view_bot")
    assert not limited.has_module_perms("bots")
    assert not limited.is_staff
    whole = User.objects.get(pk=olga.pk)
    scopes.restrict(whole, scopes.ALL)
    assert whole.has_perm("bots.view_bot")
    assert whole.is_staff


def test_the_scope_operate_gives_nothing_to_others() -> None:
    client = session("ana", scopes.ALL)
    assert client.get("/admin/").status_code == 302
    assert not User.objects.get(username="ana").is_staff


def test_the_form_offers_what_the_session_permits() -> None:
    reader = Client()
    sign_up(reader)
    page = reader.get("/me/tokens/").content.decode()
    assert 'value="organise"' in page
    assert 'value="operate"' not in page
    operator("ana")
    assert 'value="operate"' in reader.get("/me/tokens/").content.decode()

    limited = session("ana", AUTHORS)
    page = limited.get("/me/tokens/").content.decode()
    assert 'value="submit"' in page
    assert 'value="organise"' not in page
    form = {"name": "more", "scopes": ["read", "operate"]}
    assert limited.post("/me/tokens/", form).status_code == 422
    assert not ApiToken.objects.filter(name="more").exists()


@pytest.mark.parametrize(
    ("chosen", "stored"), [([], 3), (["read"], 1), (["read", "organise"], 5)]
)
def test_the_owner_chooses_and_sees_scopes(chosen: list[str], stored: int) -> None:
    client = Client()
    sign_up(client)
    page = client.post("/me/tokens/", {"name": "ci", "scopes": chosen})

    assert page.status_code == 200
    assert ApiToken.objects.get(name="ci").scopes == stored
    assert f"<td>{', '.join(scopes.names(stored))}</td>" in page.content.decode()


@pytest.mark.parametrize(
    ("scope", "reading", "writing"),
    [
        (None, "read", "submit"),
        ("read", "read", "read"),
        ("organise", "read", "organise"),
        ("operate", "operate", "operate"),
    ],
)
def test_a_view_names_its_scope(scope: str | None, reading: str, writing: str) -> None:
    view = type("View", (), {} if scope is None else {"scope": scope})
    for method in ("GET", "HEAD", "OPTIONS"):
        assert scopes.names(scopes.needed(view, method)) == [reading]
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert scopes.names(scopes.needed(view, method)) == [writing]
