"""Mail: confirmation of addresses, new passwords, and servers that are away."""

import re
import socket
from collections.abc import Iterator

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core import mail, signing
from django.test import Client
from structlog.testing import capture_logs

from ladder.accounts import addresses, mail as outgoing
from tests.accounts.conftest import PASSWORD, TIMEOUT_S, wait_until
from tests.accounts.factories import link_in, mail_server, sign_in, sign_up

NEW = "five other words without sense"


def confirm(link: str, client: Client | None = None) -> int:
    """Open a link as a person does: read the page, then press its button."""
    browser = client or Client()
    page = browser.get(link)
    value = re.search('name="link" value="([^"]+)"', page.content.decode())
    if value is None:
        assert b"This link is not valid" in page.content
        return 0
    return browser.post("/confirm-email/", {"link": value[1]}).status_code


def signed_content(link: str) -> str:
    """Return what everybody can read in a link, who need not be its owner."""
    return str(signing.loads(link.partition("link=")[2], salt=addresses.SALT))


def address_of(name: str) -> str:
    return User.objects.get(username=name).email


def change_address(client: Client, address: str, password: str = PASSWORD) -> int:
    form = {"email": address, "password": password}
    return client.post("/me/email/", form).status_code


def ask(address: str) -> tuple[int, str, bytes]:
    client = Client()
    answer = client.post("/password-reset/", {"email": address})
    return answer.status_code, answer.url, client.get(answer.url).content


@pytest.fixture
def confirmed(ana: Client, mailbox) -> Client:
    User.objects.filter(username="ana").update(email="ana@example.org")
    return ana


def test_an_address_counts_when_its_owner_has_confirmed_it(mailbox) -> None:
    client = Client()
    page = client.get(sign_up(client, email="ana@example.org").url).content.decode()
    (message,) = mailbox(1)
    link = link_in(message)

    assert "Open the link in it within one day" in page
    assert (message.to, message.from_email) == (
        ["ana@example.org"],
        "ladder@example.org",
    )
    assert address_of("ana") == ""
    assert b"ana@example.org" in Client().get(link).content  # a scanner opens it
    assert address_of("ana") == ""
    assert confirm(link) == 302
    assert address_of("ana") == "ana@example.org"
    assert confirm(link) == 302  # again is harmless


def test_an_address_changes_by_password_and_link(confirmed: Client, mailbox) -> None:
    assert change_address(confirmed, "new@example.org", "wrong") == 422
    assert change_address(confirmed, "new@example.org") == 302
    assert address_of("ana") == "ana@example.org"
    (link,) = mailbox(1)
    assert confirm(link_in(link)) == 302

    notice = mailbox(2)[1]
    assert address_of("ana") == "new@example.org"
    assert notice.to == ["ana@example.org"]
    assert "does not use this address any more" in notice.body


def test_a_message_has_the_language_of_its_page(confirmed: Client, mailbox) -> None:
    form = {"email": "ana@example.org"}

    confirmed.logout()
    confirmed.post("/password-reset/", form, headers={"Accept-Language": "de"})

    (message,) = mailbox(1)
    assert message.subject == "Neues Passwort für die Torres-Rangliste setzen"
    assert "Hallo ana," in message.body
    assert Client().get(link_in(message), follow=True).status_code == 200


def test_an_older_link_does_not_bring_an_older_address_back(
    confirmed: Client, mailbox
) -> None:
    change_address(confirmed, "first@example.org")
    change_address(confirmed, "second@example.org")
    links = {message.to[0]: link_in(message) for message in mailbox(2)}

    assert "ana@example.org" not in signed_content(links["first@example.org"])
    assert confirm(links["second@example.org"]) == 302
    assert confirm(links["first@example.org"]) == 0
    assert address_of("ana") == "second@example.org"


def test_a_link_expires(ana: Client, mailbox, settings) -> None:
    change_address(ana, "ana@example.org")
    (message,) = mailbox(1)
    settings.PASSWORD_RESET_TIMEOUT = -1

    assert confirm(link_in(message)) == 0
    assert address_of("ana") == ""


@pytest.mark.parametrize("link", ["", "x", "\0", "a:b:c", "x" * 10_240, "<script>"])
def test_a_forged_link_confirms_nothing(ana: Client, link: str) -> None:
    page = Client().get("/confirm-email/", {"link": link})
    answer = Client().post("/confirm-email/", {"link": link})
    other = signing.dumps({"user": 1, "old": "", "new": "x@example.org"})

    assert b"This link is not valid" in page.content
    assert b"This link is not valid" in answer.content
    assert confirm(f"/confirm-email/?link={other}") == 0
    assert address_of("ana") == ""


def test_an_address_is_removed(confirmed: Client) -> None:
    assert change_address(confirmed, "") == 302
    assert address_of("ana") == ""


@pytest.mark.parametrize(
    "address", ["x", "a@b\0.org", "a@example.org\nBcc: b@c.org", "a" * 300 + "@b.org"]
)
def test_a_bad_address_is_refused(confirmed: Client, address: str) -> None:
    assert change_address(confirmed, address) == 422
    assert address_of("ana") == "ana@example.org"


def test_a_new_password_is_set_by_the_link(confirmed: Client, mailbox) -> None:
    assert ask("ANA@example.org")[0] == 302
    (message,) = mailbox(1)
    client = Client()
    page = client.get(link_in(message), follow=True)
    form = {"new_password1": NEW, "new_password2": NEW}
    address = page.redirect_chain[-1][0]

    weak = client.post(address, {"new_password1": "1", "new_password2": "1"})
    assert weak.status_code == 422
    assert 'id="id_new_password2_error"' in weak.content.decode()
    assert client.post(address, form).url == "/sign-in/?next=/me/"
    assert sign_in("ana") is None
    assert sign_in("ana", NEW) is not None
    assert confirmed.get("/me/").status_code == 302  # other sessions have ended
    used = Client().get(link_in(message), follow=True)
    assert b"This link is not valid" in used.content


def test_an_account_without_a_password_gets_its_first_one(mailbox) -> None:
    ben = User.objects.create_user("ben", email="ben@example.org")
    ask("ben@example.org")
    (message,) = mailbox(1)

    assert not ben.has_usable_password()
    assert Client().get(link_in(message)).status_code == 302


def test_the_answer_does_not_tell_if_an_account_exists(
    confirmed: Client, mailbox
) -> None:
    User.objects.create_user("off", email="off@example.org", is_active=False)
    known = ask("ana@example.org")
    others = [ask(f"{name}@example.org") for name in ("nobody", "off", "x" * 60)]
    mailbox(1)

    assert set(others) == {known}
    assert [message.to for message in mail.outbox] == [["ana@example.org"]]


@pytest.mark.parametrize("path", ["MQ/set-password", "MQ/x-y", "!!/x", "OTk5/set-x"])
def test_a_forged_link_sets_no_password(ana: Client, path: str) -> None:
    form = {"new_password1": NEW, "new_password2": NEW}
    answer = Client().post(f"/password-reset/{path}/", form)

    assert b"This link is not valid" in answer.content
    assert sign_in("ana") is not None


def test_without_mail_the_page_says_whom_to_ask(ana: Client, settings) -> None:
    settings.TORRES_CONTACT = "olga@example.org"
    page = Client().get("/password-reset/")
    answer = Client().post("/password-reset/", {"email": "ana@example.org"})

    for each in (page, answer):
        assert b"Ask the operator: olga@example.org." in each.content
        assert b"manage.py changepassword NAME" in each.content
    assert b"<form" not in page.content.partition(b"<main")[2].partition(b"</main")[0]


def test_without_mail_no_address_is_stored(ana: Client) -> None:
    assert change_address(ana, "ana@example.org") == 403
    assert address_of("ana") == ""


def test_questions_for_a_new_password_are_limited(settings, mailbox) -> None:
    settings.TORRES_RATES = settings.TORRES_RATES | {"sign-in": 2}
    form = {"email": "nobody@example.org"}
    answers = [Client().post("/password-reset/", form) for _ in range(3)]

    assert [answer.status_code for answer in answers] == [302, 302, 429]


def test_nobody_can_fill_the_mailbox_of_a_person(confirmed: Client, mailbox) -> None:
    answers = {ask("ana@example.org") for _ in range(outgoing.MAX_PER_HOUR + 3)}
    mailbox(outgoing.MAX_PER_HOUR)
    User.objects.create_user("ben", email="ben@example.org")
    ask("ben@example.org")
    wait_until(lambda: mail.outbox[-1].to == ["ben@example.org"])

    assert len(answers) == 1
    assert len(mail.outbox) == outgoing.MAX_PER_HOUR + 1


def test_a_real_mail_server_gets_the_message(ana: Client, mailbox, settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server() as server:
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        change_address(ana, "ana@example.org")
        wait_until(lambda: bool(server.messages))

    (message,) = server.messages
    assert "To: ana@example.org" in message
    assert "Subject: Confirm your address for the Torres ladder" in message


@pytest.fixture
def silent(settings) -> Iterator[socket.socket]:
    """A mail server that accepts connections and never says a word."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_TIMEOUT = TIMEOUT_S
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        settings.EMAIL_HOST, settings.EMAIL_PORT = listener.getsockname()
        yield listener


def assert_logged(line: dict) -> None:
    assert line["event"] == "a message was not sent"
    assert line["log_level"] == "error"
    assert "ana@example.org" not in str(line)


def test_a_silent_mail_server_holds_nobody_up(
    confirmed: Client, silent: socket.socket
) -> None:
    with capture_logs() as lines:
        known = ask("ana@example.org")
        unknown = ask("nobody@example.org")
        assert lines == []  # the server still says nothing
        silent.close()
        wait_until(lambda: bool(lines))

    assert known == unknown
    assert_logged(lines[0])


def test_a_mail_server_that_is_away_changes_no_answer(
    confirmed: Client, silent: socket.socket
) -> None:
    silent.close()
    with capture_logs() as lines:
        known = ask("ana@example.org")
        unknown = ask("nobody@example.org")
        wait_until(lambda: bool(lines))

    assert known == unknown
    assert_logged(lines[0])


def test_a_slow_mail_server_takes_a_limited_number_of_threads(
    confirmed: Client, silent: socket.socket, monkeypatch
) -> None:
    monkeypatch.setattr(outgoing, "MAX_PER_HOUR", 10**6)
    with capture_logs() as lines:
        for _ in range(outgoing.MAX_THREADS + 2):
            outgoing.send_later("a@example.org", "accounts/address-changed.txt", {})
        reasons = [line["reason"] for line in lines]
        silent.close()
        wait_until(lambda: len(lines) == outgoing.MAX_THREADS + 2)

    assert reasons == ["the mail server is too slow"] * 2


def test_the_timeout_of_the_settings_is_ten_seconds() -> None:
    assert configured.EMAIL_TIMEOUT == 10
