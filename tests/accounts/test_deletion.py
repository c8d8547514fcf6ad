"""Deletion of the own account: what goes, what stays, and who may."""

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.files.storage import storages
from django.core.management import call_command
from django.db import connection
from django.test import Client

from ladder.accounts import invitations, tokens
from ladder.bots import services
from ladder.bots.models import Bot, Submission
from ladder.games.models import Game
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings.models import Rating
from tests.accounts.conftest import PASSWORD
from tests.accounts.factories import sign_in, sign_up
from tests.factories import Show, everything

OPERATOR = Operator(None, "a test")


def delete(client: Client, password: str = PASSWORD) -> int:
    return client.post("/me/delete/", {"password": password}).status_code


@pytest.fixture
def show() -> Show:
    """Bots with games; their owners Ana and Ben have passwords."""
    show = everything()
    for user in User.objects.all():
        user.set_password(PASSWORD)
        user.save()
    return show


def test_the_page_says_what_goes_and_what_stays(show: Show) -> None:
    page = sign_in("ana").get("/me/delete/").content.decode()

    for text in ("<h2>What goes", "<h2>What stays", "deleted-N", "Grendel"):
        assert text in page


@pytest.mark.parametrize("password", ["", "wrong", "\0", "x" * 10_240, "ana"])
def test_a_wrong_password_deletes_nothing(ana: Client, password: str) -> None:
    assert delete(ana, password) == 422
    assert User.objects.filter(username="ana").exists()


def test_a_deleted_account_leaves_its_games_and_nothing_of_its_owner(
    show: Show,
) -> None:
    bot = show.anas.bot
    owner = bot.owner
    User.objects.filter(pk=owner.pk).update(email="ana-secret@example.org")
    invitations.new_invitation(owner, note="ana-secret note")
    token = tokens.new_token(owner, "ana-secret token")
    storages["bots"].save(show.anas.package, io.BytesIO(b"source"))
    rated = list(Rating.objects.order_by("pk").values_list("bot", "mu", "games"))
    ranks = list(show.game.seats.order_by("pk").values_list("rank", "score"))
    client = sign_in("ana")
    elsewhere = sign_in("ana")

    answer = client.post("/me/delete/", {"password": PASSWORD}, follow=True)
    call_command("tidy")

    assert b"Your account is deleted." in answer.content
    bot.refresh_from_db()
    new_name = f"deleted-{bot.pk}"
    assert (bot.name, bot.slug, bot.status) == (new_name, new_name, "withdrawn")
    assert bot.owner is None
    assert Game.objects.get(pk=show.waiting.games.get().pk).status == "cancelled"
    assert (
        list(Rating.objects.order_by("pk").values_list("bot", "mu", "games")) == rated
    )
    assert list(show.game.seats.order_by("pk").values_list("rank", "score")) == ranks
    assert not tokens.is_known(token)
    for each in (client, elsewhere):
        assert each.get("/me/").status_code == 302
    assert sign_in("ana") is None
    assert not storages["bots"].exists(show.anas.package)
    assert set(Submission.objects.filter(bot=bot).values_list("log", flat=True)) == {""}
    dump = StringIO()
    left_out = ["contenttypes", "auth.permission", "sessions"]
    call_command("dumpdata", exclude=left_out, stdout=dump)
    for secret in ("ana-secret", "Grendel", "grendel", '"ana"'):
        assert secret not in dump.getvalue(), secret


def test_the_deletion_is_in_the_audit_log_without_the_name(ana: Client) -> None:
    number = User.objects.get(username="ana").pk
    delete(ana)

    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.target) == ("delete_account", f"account {number}")
    assert entry.by is None
    assert "ana" not in entry.why


def test_the_session_that_deletes_is_gone(ana: Client) -> None:
    key = ana.session.session_key
    delete(ana)

    assert not Session.objects.filter(session_key=key).exists()


def test_a_second_deletion_changes_nothing(ana: Client) -> None:
    user = User.objects.get(username="ana")
    first = moderation.delete_account(OPERATOR, user)

    assert moderation.delete_account(OPERATOR, user) == first
    assert AuditEntry.objects.count() == 1


def test_the_name_is_free_again_and_leads_to_nothing_old(ana: Client) -> None:
    services.create_bot(User.objects.get(username="ana"), "first")
    delete(ana)
    client = Client()

    assert sign_up(client).status_code == 302
    assert not User.objects.get(username="ana").bots.exists()


def test_operators_delete_themselves(ana: Client) -> None:
    User.objects.filter(username="ana").update(is_staff=True, is_superuser=True)
    form = {"target": "ana", "why": "I leave."}
    answer = ana.post("/operate/delete_account/", form)

    assert answer.status_code == 302
    assert not User.objects.exists()
    assert AuditEntry.objects.get().by is None


@pytest.mark.django_db(transaction=True)
def test_two_deletions_and_a_new_bot_at_once_leave_no_bot_with_a_name() -> None:
    user = User.objects.create_user("ana")
    start = threading.Barrier(3, timeout=60)

    def run(act: object) -> object:
        start.wait()
        try:
            return act()
        except User.DoesNotExist:  # the bot came too late
            return None
        finally:
            connection.close()

    acts = [lambda: moderation.delete_account(OPERATOR, user)] * 2
    acts.append(lambda: services.create_bot(user, "late"))
    with ThreadPoolExecutor(3) as threads:
        one, other, _ = threads.map(run, acts)

    assert one == other
    assert not User.objects.exists()
    assert not Bot.objects.filter(name="late").exists()
