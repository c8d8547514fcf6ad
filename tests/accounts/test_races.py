"""Two people sign up at the same moment."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import connection

from ladder.accounts import invitations, signing_up
from ladder.accounts.models import Invitation
from tests.accounts.conftest import PASSWORD
from torres.common.errors import LadderError

pytestmark = pytest.mark.django_db(transaction=True)
THREADS = 6


def sign_up_at_once(names: list[str], code: str = "") -> list[str]:
    """Sign up with each name in a thread of its own. Return what was refused."""
    start = threading.Barrier(len(names), timeout=60)

    def one(name: str) -> str:
        start.wait()
        try:
            signing_up.sign_up(name, PASSWORD, code)
        except LadderError as refusal:
            return refusal.code
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(len(names)) as threads:
        return list(threads.map(one, names))


def test_an_invitation_is_not_used_too_often(settings) -> None:
    settings.TORRES_SIGN_UP = "invitation"
    code, _ = invitations.new_invitation(None, uses=2)
    refusals = sign_up_at_once([f"person-{n}" for n in range(THREADS)], code)

    assert sorted(refusals) == ["", "", *["bad-invitation"] * (THREADS - 2)]
    assert User.objects.count() == 2
    assert Invitation.objects.get().used == 2


def test_one_name_goes_to_one_person() -> None:
    names = ["ana", "Ana", "ANA", "aNa", "anA", "aNA"]
    refusals = sign_up_at_once(names)

    assert sorted(refusals) == ["", *["user-name-taken"] * (len(names) - 1)]
    assert User.objects.count() == 1
