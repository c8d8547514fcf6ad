"""The page of the editor: code in, result out, only for the person who wrote it."""

import pytest
from django.test import Client

from ladder.accounts import tokens
from ladder.bots.models import Bot, Submission
from ladder.extras.editor.models import TrialGame
from ladder.games import replays
from tests import factories as rows
from tests.accounts.conftest import PASSWORD
from tests.editor import factories

pytestmark = pytest.mark.django_db(transaction=True)

TRACEBACK = """Traceback (most recent call last):
  File "/box/bot.py", line 44, in <module>
  File "/box/bot.py", line 7, in choose
NameError: name '<script>' is not defined
"""
FINDING = {
    "code": "crash",
    "severity": "fault",
    "cause": "It ended with an error.",
    "cure": "The end of its error output names the place.",
    "evidence": "yucata, 2 seats, at its start: crash\n  more",
    "where": "",
}


@pytest.fixture(autouse=True)
def _open(settings) -> None:
    settings.TORRES_SIGN_UP = "open"
    factories.opponent()


def signed_in(name: str) -> Client:
    client = Client()
    client.post("/sign-in/", {"token": tokens.token_for(name)})
    return client


def form(**changed: str) -> dict[str, str]:
    chosen = {"language": "python", "source": "print(1)\r\n", "ruleset": "yucata"}
    return chosen | {"opponent": "house-random"} | changed


def run(client: Client, **changed: str) -> TrialGame:
    answer = client.post("/write/", form(**changed))
    assert answer.status_code == 302, answer.content.decode()
    trial = TrialGame.objects.latest("pk")
    assert answer.url == f"/write/{trial.pk}/#outcome"
    return trial


def end(trial: TrialGame, **values: object) -> None:
    """Let a trial have been played to its end."""
    record = rows.random_game("yucata", 2, "5eed")
    document = record.replay(seed="5eed", players=[{"name": "a"}, {"name": "b"}])
    ended = {"status": "finished", "ended_at": trial.created_at, "lease_until": None}
    ended |= {"replay": replays.pack(document), "result": document["result"]}
    TrialGame.objects.filter(pk=trial.pk).update(**ended | values)


def addresses(trial: TrialGame) -> list[str]:
    return [f"/write/{trial.pk}/{end}" for end in ("", "progress.html", "frames.json")]


def text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_the_first_bot_is_ready_to_run() -> None:
    page = text(Client(), "/write/")

    assert "def choose(message, rng):" in page
    assert '<option value="house-random" selected>' in page
    assert "house-master" not in page
    run(Client(), source=factories.FIRST_PYTHON)
    assert TrialGame.objects.get().source == factories.FIRST_PYTHON


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"source": "é" * 25_000}, "runs up to 48 KiB"),
        ({"source": ""}, "This field is required"),
        ({"source": "\0"}, "Null characters are not allowed"),
        ({"language": "cobol"}, "Select a valid choice"),
        ({"opponent": "house-master"}, "Select a valid choice"),
        ({"ruleset": "chess"}, "Select a valid choice"),
    ],
)
def test_a_form_with_a_mistake_keeps_the_code(changed, error) -> None:
    answer = Client().post("/write/", form(**{"source": "my = 1"} | changed))

    assert answer.status_code == 422
    page = answer.content.decode()
    assert error in page
    assert "source" in changed or "my = 1" in page
    assert not TrialGame.objects.exists()


def test_a_refusal_keeps_the_code(settings) -> None:
    client = Client()
    run(client)
    answer = client.post("/write/", form(source="second = 2"))
    assert answer.status_code == 422
    assert "has not ended yet" in answer.content.decode()
    assert "second = 2" in answer.content.decode()

    settings.TORRES_SANDBOX = "reduced"
    assert "an account only" in text(Client(), "/write/")
    assert "an account only" not in text(signed_in("ana"), "/write/")


def test_nobody_else_sees_the_code() -> None:
    guest, ana = Client(), signed_in("ana")
    other_guest = Client()
    run(other_guest)
    for client, other in ((guest, ana), (ana, guest)):
        trial = run(client, source="secret = 42")
        end(trial)
        for address in addresses(trial):
            assert client.get(address).status_code == 200
            assert other.get(address).status_code == 404
            assert other_guest.get(address).status_code == 404
            assert Client().get(address).status_code == 302
        assert "secret = 42" in text(client, f"/write/{trial.pk}/")
        assert ana.post(f"/write/{trial.pk + 100}/submit/").status_code == 404
        assert (
            guest.post(f"/write/{trial.pk}/submit/", {"name": "x"}).status_code == 302
        )
    assert not Submission.objects.filter(bot__house=False).exists()


def test_the_code_of_a_guest_waits_until_after_sign_up() -> None:
    client = Client()
    trial = run(client, source="mine = 1")
    end(trial)
    page = text(client, f"/write/{trial.pk}/progress.html")
    address = f"/sign-up/?next=/write/{trial.pk}/"
    assert address in page

    account = {"username": "ana", "password": PASSWORD, "again": PASSWORD}
    assert client.post(address, account).url == f"/write/{trial.pk}/"

    page = text(client, f"/write/{trial.pk}/")
    assert "mine = 1" in page
    assert "Name of a new bot" in page
    assert (
        client.post(f"/write/{trial.pk}/submit/", {"name": "Mine"}).status_code == 302
    )
    assert Bot.objects.get(name="Mine").submissions.get().language == "python"


def test_an_open_run_ends_when_the_guest_signs_in() -> None:
    client = Client()
    trial = run(client)
    client.post("/sign-in/", {"token": tokens.token_for("ana")})

    page = text(client, f"/write/{trial.pk}/progress.html")
    assert "You signed in. Run the code again." in page
    assert "data-over" in page


def test_a_mistake_stands_beside_the_code() -> None:
    client = Client()
    trial = run(client)
    assert "waits for a free slot" in text(client, f"/write/{trial.pk}/")
    end(trial, findings=[FINDING], log=TRACEBACK)
    page = text(client, f"/write/{trial.pk}/")

    assert "Your bot lost its seat by a mistake." in page
    assert FINDING["cause"] in page
    assert FINDING["cure"] in page
    assert 'data-line="7"' in page
    assert "name &#x27;&lt;script&gt;&#x27; is not defined" in page
    assert "Sign up" not in page.partition("<main")[2]  # a bot with a fault cannot play


def test_javascript_names_the_innermost_line_first() -> None:
    client = Client()
    trial = run(client)
    TrialGame.objects.update(language="javascript")
    log = "/box/bot.js:3\n  x\nError\n    at choose (/box/bot.js:3:5)\n (bot.js:40:1)"
    end(trial, findings=[FINDING], log=log)

    assert 'data-line="3"' in text(client, f"/write/{trial.pk}/")


def test_code_cannot_leave_its_field() -> None:
    client = Client()
    trial = run(client, source="</textarea><script>alert(1)</script>")

    page = text(client, f"/write/{trial.pk}/")
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;script&gt;" in page


def test_a_run_becomes_a_bot_and_its_next_version() -> None:
    ana, ben = signed_in("ana"), signed_in("ben")
    for number, source in enumerate(("one = 1", "two = 2"), start=1):
        trial = run(ana, source=source)
        end(trial)
        answer = ana.post(f"/write/{trial.pk}/submit/", {"name": "Tower"})
        submission = Submission.objects.get(bot__name="Tower", number=number)
        assert answer.url == f"/submissions/{submission.pk}/"
    trial = run(ben)
    end(trial)
    for name, error in (("tower", "already a bot called"), ("", "1 to 64 characters")):
        answer = ben.post(f"/write/{trial.pk}/submit/", {"name": name}, follow=True)
        assert error in answer.content.decode()
        assert answer.redirect_chain[0][0] == f"/write/{trial.pk}/"
    open_trial = run(ben)
    answer = ben.post(f"/write/{open_trial.pk}/submit/", {"name": "early"})
    assert answer.status_code == 404
