"""The daily mail: its news, its way to end, and what a failure or a kill leaves."""

import re
import smtplib
import socketserver
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.db import transaction
from django.test import Client
from django.utils import translation
from pytest_django import Settings

from ladder.bots.facts import record_submission
from ladder.bots.models import Bot
from ladder.events.kinds import EventKind
from ladder.extras.follows import daily_mail, services
from ladder.extras.follows.models import DailyMail, Follow
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import seasons
from ladder.ratings.models import Rating
from ladder.tournaments import visibility
from ladder.tournaments.models import Tournament
from tests import factories
from tests.accounts.factories import mail_server
from tests.factories import Show
from tests.follows.conftest import SITE, a_day_passes, reader, run
from tests.tournaments.factories import begun, play_out
from tests.web.conftest import database_url

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("sends_mail", "scripted_players"),
]


class KilledMailer(BaseException):
    """The process ends here, as with SIGKILL."""


def play_rated(show: Show) -> None:
    """Let Grendel win a rated game, and with it the first rank."""
    match = factories.make_match(show.anas, show.bens)
    factories.pair(show.season, match)
    mus = {show.anas.bot: (33.0, 1.0), show.bens.bot: (27.0, 1.0)}
    factories.fold(show.season, match.games.get(), mus)
    for bot, (mu, sigma) in mus.items():
        row = Rating.objects.get(season=show.season, bot=bot)
        row.mu, row.sigma, row.games = mu, sigma, row.games + 1
        row.save()


def swap(show: Show) -> None:
    """Let the two bots change their ranks, without a game."""
    Rating.objects.filter(bot=show.bens.bot).update(mu=40.0)


def test_a_mail_tells_what_happened_to_a_bot(show: Show) -> None:
    swap(show)
    bot = show.anas.bot
    reader("rita", bot)
    play_rated(show)
    a_day_passes()
    (message,) = run()

    assert message.to == ["rita@example.org"]
    assert message.subject == "News of what you follow on the Torres ladder"
    assert f"{SITE}bots/{bot.slug}/" in message.body
    won = int(bot.seats.exclude(rank=None).latest("game").rank == 1)
    assert (
        f"- main: rank 1 (was 2), rating 30.00 (+3.00); won {won} and lost {1 - won} of"
        " the last 1 games.\n" in message.body
    )


def test_a_mail_tells_of_versions_and_seasons(show: Show) -> None:
    bot = show.anas.bot
    reader("rita", bot, show.season.ladder)
    moderation.set_aside(Operator(None, "test"), bot, AuditEntry.Kind.BENCH)
    with transaction.atomic():
        ready = show.anas.Status.READY
        record_submission(EventKind.SUBMISSION_READY, show.anas, ready)
    seasons.freeze(show.season)
    a_day_passes()
    (message,) = run()

    assert f"- {bot.slug} is benched now.\n" in message.body
    assert f"- Version 1 of {bot.slug} is ready.\n" in message.body
    assert "- Season 1 of the ladder main is frozen." in message.body
    assert f"{SITE}ladders/main/" in message.body


def test_a_mail_has_the_language_in_which_it_was_wanted(show: Show) -> None:
    swap(show)
    bot = show.anas.bot
    with translation.override("de"):
        reader("rita", bot)
    reader("sam", bot)
    moderation.set_aside(Operator(None, "test"), bot, AuditEntry.Kind.BENCH)
    play_rated(show)
    a_day_passes()
    german, english = sorted(run(), key=lambda message: message.to)

    assert german.subject == "Neuigkeiten aus der Merkliste der Torres-Rangliste"
    assert "- main: Rang 1 (vorher 2), Wertung 30.00 (+3.00);" in german.body
    assert f"- Status von {bot.slug}: jetzt gesperrt.\n" in german.body
    assert f"- {bot.slug} is benched now.\n" in english.body


def test_a_mail_tells_who_leads_a_ladder_now(show: Show) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    (message,) = run()

    ana, ben = show.anas.bot.slug, show.bens.bot.slug
    assert f"- The best bots: 1. {ben} (was 2), 2. {ana} (was 1)." in message.body


def test_a_mail_tells_who_won_a_tournament(show: Show) -> None:
    cup = begun({"format": "round_robin"}, 2)
    reader("rita", cup)
    play_out(cup)
    a_day_passes()
    (message,) = run()

    assert "- Cup is over." in message.body
    # The games have random decks, so that both bots may share the first place.
    winners = [row.bot for row in visibility.overview(cup).lines if row.rank == 1]
    assert f"- Won by {' and '.join(winners)}." in message.body


def test_a_mail_tells_no_winner_that_is_held_back(show: Show) -> None:
    cup = begun({"format": "round_robin"}, 2)
    reader("rita", cup)
    play_out(cup)
    Tournament.objects.filter(pk=cup.pk).update(held_back=True, revealed=0)
    a_day_passes()
    (message,) = run()

    assert "Won by" not in message.body


def test_without_news_there_is_no_mail(show: Show) -> None:
    reader("rita", show.anas.bot, show.season.ladder)
    a_day_passes()

    assert run() == []
    assert not daily_mail.due().exists()


def test_there_is_one_mail_a_day_and_it_tells_things_once(show: Show) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    assert run() == []  # a day has not passed
    a_day_passes()
    assert len(run()) == 1
    assert run() == []
    a_day_passes()
    assert run() == []


@pytest.mark.parametrize(
    "change",
    [
        lambda user: User.objects.filter(pk=user.pk).update(email=""),
        lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
        services.end_daily_mail,
    ],
)
def test_nobody_gets_a_mail_that_is_not_wanted(
    show: Show, change: Callable[[User], object]
) -> None:
    user = reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    change(user)

    assert run() == []


def test_a_service_without_mail_sends_none(show: Show, settings: Settings) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    settings.TORRES_SENDS_MAIL = False

    assert run() == []


def test_a_killed_process_sends_no_second_mail_and_loses_no_news(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not known whether the mail was sent, so its news come a day later."""
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "send_messages", killed)
        with pytest.raises(KilledMailer):
            run()
    assert run() == []
    a_day_passes()

    assert "(was 2)" in run()[0].body


def killed(*_: object) -> int:
    raise KilledMailer


class SlowMailServer(socketserver.ThreadingTCPServer):
    """Takes a message, and says nothing more."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SlowMailSession)
        self.took = threading.Event()


class SlowMailSession(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self.wfile.write(b"220 mail.example.org\r\n")
        for line in self.rfile:
            if line == b".\r\n":
                self.server.took.set()
            elif line.upper().startswith(b"DATA"):
                self.wfile.write(b"354 go on\r\n")
            elif re.match(rb"(?i)(EHLO|MAIL|RCPT)", line):
                self.wfile.write(b"250 ok\r\n")


def test_a_real_process_is_killed_while_it_sends(
    show: Show, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    with SlowMailServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("DATABASE_URL", database_url())
        monkeypatch.setenv("TORRES_DATA", str(data_dir))
        monkeypatch.setenv(
            "TORRES_EMAIL_URL", f"smtp://127.0.0.1:{server.server_address[1]}"
        )
        monkeypatch.setenv("TORRES_EMAIL_FROM", "ladder@example.org")
        command = [sys.executable, "manage.py", "run_job", "daily_mail"]
        with subprocess.Popen(command) as process:
            assert server.took.wait(60)
            process.kill()
        server.shutdown()
    assert run() == []
    a_day_passes()

    assert "(was 2)" in run()[0].body


def test_a_process_that_is_killed_before_it_sends_delays_nothing(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    with monkeypatch.context() as patch:
        patch.setattr(daily_mail, "_claim", killed)
        with pytest.raises(KilledMailer):
            run()

    assert len(run()) == 1


def test_of_two_processes_one_sends(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    row = DailyMail.objects.get()
    claim = daily_mail._claim

    def second(own: DailyMail) -> bool:
        assert claim(row)
        return claim(own)

    monkeypatch.setattr(daily_mail, "_claim", second)

    assert run() == []


def test_a_mail_server_that_is_away_delays_the_mails_only(
    show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader("rita", show.season.ladder)
    swap(show)
    a_day_passes()
    with monkeypatch.context() as patch:
        patch.setattr(EmailBackend, "open", refused, raising=False)
        assert run() == []

    assert len(run()) == 1


def refused(*_: object) -> None:
    raise smtplib.SMTPServerDisconnected


@pytest.mark.parametrize(
    "damage",
    [
        lambda user: User.objects.filter(pk=user.pk).update(email="a\nb@example.org"),
        lambda user: Follow.objects.filter(user=user).update(seen={"leaders": 7}),
        lambda user: Follow.objects.filter(user=user).update(seen=[1]),
        lambda user: DailyMail.objects.filter(user=user).update(cursor=-(2**40)),
    ],
)
def test_a_damaged_row_does_not_stop_the_others(
    show: Show, damage: Callable[[User], object]
) -> None:
    damaged = reader("adam", show.season.ladder)
    reader("rita", show.season.ladder)
    swap(show)
    damage(damaged)
    a_day_passes()

    assert ["rita@example.org"] in [message.to for message in run()]
    assert run() == []


def test_a_damaged_follow_begins_anew(show: Show) -> None:
    user = reader("rita", show.season.ladder)
    Follow.objects.filter(user=user).update(seen={"leaders": 7})
    for _ in range(2):
        a_day_passes()
        assert run() == []
    swap(show)
    a_day_passes()

    assert len(run()) == 1


def test_a_run_is_bounded(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rita", "adam", "eve"):
        reader(name, show.season.ladder)
    swap(show)
    a_day_passes()
    monkeypatch.setattr(daily_mail, "AT_ONCE", 2)

    assert [len(run()) for _ in range(3)] == [2, 1, 0]


def test_a_bot_that_is_gone_is_left_out(show: Show) -> None:
    reader("rita", show.anas.bot)
    play_rated(show)
    Bot.objects.filter(pk=show.anas.bot_id).update(status="banned")
    a_day_passes()

    assert run() == []


def test_names_cannot_add_lines_or_headers(show: Show) -> None:
    cup = begun({"format": "round_robin"}, 2)
    reader("rita", cup)
    Tournament.objects.filter(pk=cup.pk).update(name="Cup\r\nBcc: eve@example.org")
    cup.refresh_from_db()
    play_out(cup)
    a_day_passes()
    (message,) = run()

    assert "\nBcc" not in message.body
    assert r"Cup\r\nBcc: eve@example.org is over." in message.body


def test_programs_for_mail_end_it_with_a_click(show: Show, settings: Settings) -> None:
    """Read from a mail server, because long headers may be folded or encoded."""
    reader("rita", show.season.ladder)
    reader("adam", show.season.ladder)
    swap(show)
    a_day_passes()
    with mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
        assert daily_mail.send_due() == 2
    text = next(each for each in server.messages if "To: rita@" in each)
    head = text.partition("\r\n\r\n")[0].replace("\r\n ", " ")

    assert "List-Unsubscribe-Post: List-Unsubscribe=One-Click" in head
    link = re.search(r"^List-Unsubscribe: +<(https://\S+)>\r?$", head, re.MULTILINE)
    assert link is not None, head
    assert f"Get no more of these mails: {link[1]}" in text.replace("=3D", "=")
    path = link[1].removeprefix(SITE.rstrip("/"))
    program = Client(enforce_csrf_checks=True)
    for _ in range(2):
        answer = program.post(path, {"List-Unsubscribe": "One-Click"})
        assert answer.status_code == 200
    assert [row.user.username for row in DailyMail.objects.all()] == ["adam"]


def test_to_open_the_link_ends_nothing(show: Show) -> None:
    user = reader("rita", show.season.ladder)
    address = f"/unsubscribe/?key={services.unsubscribe_key(user.pk)}"

    assert "Send me no more mails" in Client().get(address).content.decode()
    assert DailyMail.objects.exists()


@pytest.mark.parametrize("key", ["", "1", "1:x", "\0", "x" * 5000])
def test_a_damaged_link_ends_nothing(show: Show, key: str) -> None:
    reader("rita", show.season.ladder)
    for call in (Client().get, Client().post):
        answer = call("/unsubscribe/", query_params={"key": key})
        assert answer.status_code == 422
        assert "This link is not valid" in answer.content.decode()
    assert DailyMail.objects.exists()


def test_many_followers_of_one_bot_cost_few_queries_each(
    show: Show, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    for number in range(6):
        reader(f"r{number}", show.season.ladder, show.anas.bot)
    swap(show)
    a_day_passes()
    with django_assert_max_num_queries(60):
        assert len(run()) == 6
    assert len(mail.outbox) == 6
