"""Invitations: how operators create them, and who can sign up with them."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from ladder.accounts import invitations, retention
from ladder.accounts.models import Invitation
from ladder.common.logs import without_secrets
from tests.accounts.factories import sign_up


@pytest.fixture(autouse=True)
def _by_invitation(settings, _open: None) -> None:
    settings.TORRES_SIGN_UP = "invitation"


def invite(*words: str) -> str:
    out = StringIO()
    words = ("the school", "--why=a test", *words)
    call_command("operator", "invite", *words, stdout=out)
    return out.getvalue().splitlines()[-1]


def test_a_code_of_the_console_lets_one_person_in() -> None:
    code = invite()
    page = Client().get(f"/sign-up/?invitation={code}").content.decode()
    first = sign_up(username="ana", invitation=f" {code} ")
    second = sign_up(username="ben", invitation=code)

    assert f'value="{code}"' in page
    assert first.status_code == 302
    assert second.status_code == 422
    assert "unknown, used up or expired" in second.content.decode()
    assert 'id="id_invitation_error"' in second.content.decode()
    assert list(User.objects.values_list("username", flat=True)) == ["ana"]


def test_an_invitation_for_two_counts_its_uses() -> None:
    code = invite("--uses=2", "--days=3")
    answers = [sign_up(username=name, invitation=code) for name in ("a1", "b1", "c1")]
    row = Invitation.objects.get()

    assert [answer.status_code for answer in answers] == [302, 302, 422]
    assert (row.used, row.max_uses, row.note) == (2, 2, "the school")
    days = (row.expires_at - timezone.now()).total_seconds() / 86_400
    assert 2.9 < days < 3


@pytest.mark.parametrize(
    "code", ["", "x", "\0", "\u202e", "x" * 10_240, "torres_invitation_", "' OR 1=1"]
)
def test_a_wrong_code_lets_nobody_in(code: str) -> None:
    invite()

    assert sign_up(invitation=code).status_code == 422
    assert not User.objects.exists()


def test_an_expired_code_lets_nobody_in() -> None:
    code = invite()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert sign_up(invitation=code).status_code == 422


def test_a_refused_name_uses_no_invitation() -> None:
    code = invite()
    User.objects.create_user("ben")

    assert sign_up(username="Ben", invitation=code).status_code == 422
    assert Invitation.objects.get().used == 0
    assert sign_up(username="ana", invitation=code).status_code == 302


def test_only_a_digest_of_the_code_is_stored() -> None:
    code = invite()
    out = StringIO()
    call_command("dumpdata", "accounts", stdout=out)

    assert code not in out.getvalue()
    assert code[:20] in out.getvalue()


def test_an_open_service_asks_for_no_code(settings) -> None:
    settings.TORRES_SIGN_UP = "open"

    assert b"Invitation" not in Client().get("/sign-up/").content
    assert sign_up().status_code == 302


@pytest.mark.parametrize("word", ["--uses=0", "--uses=x", "--days=0", "--days=1e9"])
def test_a_number_that_makes_no_sense_is_refused(word: str) -> None:
    with pytest.raises(CommandError):
        invite(word)


def test_the_database_refuses_a_use_too_many() -> None:
    invite()

    with pytest.raises(IntegrityError, match="an_invitation_is_not_used_too_often"):
        Invitation.objects.update(used=2)


def test_an_operator_creates_one_on_a_page_and_revokes_it() -> None:
    client = Client()
    olga = User.objects.create_superuser("olga")
    client.force_login(olga)
    form = {"target": "<b>", "uses": "3", "days": "7", "why": "a course"}
    page = client.post("/operate/invite/", form, follow=True)
    row = Invitation.objects.get()
    code = next(
        word
        for word in page.content.decode().replace("<", " ").split()
        if word.startswith("torres_invitation_") and not word.endswith("…")
    )

    assert (row.created_by, row.max_uses, row.note) == (olga, 3, "<b>")
    assert sign_up(invitation=code).status_code == 302
    for again in ("/operate/", "/admin/accounts/invitation/"):
        assert code not in client.get(again).content.decode()
    gone = {"target": str(row.pk), "why": "the course is over"}
    client.post("/operate/revoke_invitation/", gone)
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("uses", "0"), ("days", "9999")])
def test_the_page_refuses_impossible_numbers(field: str, value: str) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    form = {"target": "ana", "uses": "3", "days": "7", "why": "a test"} | {field: value}

    assert client.post("/operate/invite/", form).status_code == 422
    assert not Invitation.objects.exists()


def test_expired_ones_are_deleted_in_time() -> None:
    invite()
    invite()
    old = Invitation.objects.earliest("pk")
    Invitation.objects.filter(pk=old.pk).update(
        expires_at=timezone.now() - timedelta(days=2)
    )
    rule = next(each for each in retention.rules() if "invitations" in each.name)

    assert rule.delete(10) == 1
    assert Invitation.objects.get().pk != old.pk


def test_the_codes_are_hidden_in_the_log() -> None:
    code, _ = invitations.new_invitation(None)

    assert code not in without_secrets(f"a line with {code} in it")


def test_invited_people_behind_one_address_count_for_their_invitation(
    settings,
) -> None:
    """Four of 14 people of a campus were refused, although they had an invitation."""
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-up": 3}
    code, _ = invitations.new_invitation(None, uses=14)

    invited = [sign_up(username=f"guest-{k}", invitation=code) for k in range(14)]
    others = [sign_up(username=f"other-{k}", invitation="wrong") for k in range(4)]

    assert [answer.status_code for answer in invited] == [302] * 14
    assert [answer.status_code for answer in others] == [422] * 3 + [429]


def test_a_refused_sign_up_hashes_no_password(monkeypatch) -> None:
    hashed = []
    monkeypatch.setattr(User, "set_password", lambda *_: hashed.append(1))
    code, _ = invitations.new_invitation(None)
    User.objects.create(username="ana")

    assert sign_up(username="ana", invitation=code).status_code == 422
    assert sign_up(username="ben", invitation="wrong").status_code == 422
    assert hashed == []
