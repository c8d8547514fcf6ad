"""From an upload to `ready` or `rejected`: real programs, whole games."""

import io
import shutil
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from ladder.bots import selectors, services, validation
from ladder.bots.models import Bot, Submission
from ladder.bots.players import box_of
from ladder.bots.upload import checks
from ladder.runner.protocol import Limits
from ladder.runner.sandbox import SandboxUnavailable

Status = Submission.Status
HASTE = Limits(start_ms=3000, move_ms=500, bank_ms=500)
BOT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print("hello owner", file=sys.stderr)
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "decide":
        print(json.dumps(ANSWER), flush=True)
"""
GOOD = BOT.replace("ANSWER", '{"actions": message["legal"][:1]}')
MISFITS = {
    "crashes at start": ("import sys; sys.exit('no luck')", "crash"),
    "is no program": ("def (", "crash"),
    "answers nonsense": (BOT.replace("ANSWER", '"what?"'), "protocol"),
    "never answers": ("import sys\nfor line in sys.stdin: pass", "timeout"),
    "plays what is illegal": (
        BOT.replace("ANSWER", '{"actions": ["fly"]}'),
        "illegal_action",
    ),
    "thinks too long": (
        BOT.replace("ANSWER", '__import__("time").sleep(3)'),
        "timeout",
    ),
}

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("plain")]


@pytest.fixture
def plain(settings, data_dir: Path) -> Path:
    settings.TORRES_SANDBOX = "none"
    return data_dir


@pytest.fixture
def bot(user: Callable[[str], User]) -> Bot:
    return services.create_bot(user("ana"), "a")


def upload(bot: Bot, source: str) -> Submission:
    return services.submit(bot, io.BytesIO(source.encode()), "bot.py")


def tried(submission: Submission) -> Submission:
    validation.run(submission.pk, HASTE)
    submission.refresh_from_db()
    return submission


def test_a_bot_that_plays_becomes_ready(bot: Bot) -> None:
    submission = tried(upload(bot, GOOD))

    assert submission.status == Status.READY
    assert submission.ready_at is not None
    assert [step["ok"] for step in submission.report["steps"]] == [True, True]
    assert "hello owner" in submission.log
    assert "hello owner" not in str(submission.report)
    assert list(selectors.playing()) == [submission]


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_bot_that_does_not_play_is_rejected_with_the_reason(
    bot: Bot, misfit: str
) -> None:
    source, reason = MISFITS[misfit]
    good = tried(upload(bot, GOOD))

    bad = tried(upload(bot, source))

    assert bad.status == Status.REJECTED
    assert reason in bad.report["summary"]
    assert reason in bad.log
    assert list(selectors.playing()) == [good]


def test_a_crash_shows_its_traceback_to_the_owner_alone(bot: Bot) -> None:
    submission = tried(upload(bot, "1/0"))

    assert "ZeroDivisionError" in submission.log
    assert "ZeroDivisionError" not in str(submission.report)


@pytest.mark.sandbox
@pytest.mark.usefixtures("full")  # skips it where that level cannot be had
def test_it_is_the_same_in_the_whole_sandbox(bot: Bot, settings) -> None:
    settings.TORRES_SANDBOX = "full"

    assert tried(upload(bot, GOOD)).status == Status.READY


C_BOT = r"""
#include <stdio.h>
#include <string.h>
static char line[1 << 17];
int main(void) {
  while (fgets(line, sizeof line, stdin)) {
    if (strstr(line, "\"hello\"")) puts("{\"type\":\"ready\"}");
    else if (strstr(line, "\"decide\"")) puts("{\"index\":0}");
    fflush(stdout);
  }
}
"""


def packed(**files: str) -> io.BytesIO:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        for name, text in files.items():
            target.writestr(name.replace("_", "."), text)
    return content


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_what_is_compiled_is_built_first(bot: Bot) -> None:
    submission = tried(services.submit(bot, packed(bot_c=C_BOT), "bot.zip"))

    assert submission.status == Status.READY, submission.report
    steps = [step["name"] for step in submission.report["steps"]]
    assert steps == ["unpack", "build", "play itself"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_what_does_not_compile_shows_its_owner_why(bot: Bot) -> None:
    submission = tried(services.submit(bot, packed(bot_c="int main("), "bot.zip"))

    assert submission.status == Status.REJECTED
    assert "could not be built" in submission.report["summary"]
    assert "error:" in submission.log
    assert "error:" not in str(submission.report)


def test_a_language_that_is_not_here_waits(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.runner.languages.missing", lambda _: ["golang-go"])
    submission = tried(upload(bot, GOOD))

    assert submission.status == Status.WAITING
    assert "apt-get install golang-go" in submission.report["summary"]


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("language = 'python'\nentry = 'main.py'", ""),
        ("language = 'cobol'\nentry = 'main.py'", "no language"),
        ("language = 'python'\nentry = '../main.py'", "does not stay"),
        ("language = 'python'\nentry = 'other.py'", "no file"),
        ("nonsense", "not valid"),
    ],
)
def test_a_manifest_names_the_entry(bot: Bot, manifest: str, said: str) -> None:
    content = packed(bot_toml=manifest, main_py=GOOD)

    if said:
        with pytest.raises(checks.NoEntry, match=said):
            services.submit(bot, content, "bot.zip")
    else:
        assert tried(services.submit(bot, content, "bot.zip")).status == Status.READY


def test_a_new_one_retires_the_old_one(bot: Bot) -> None:
    old = tried(upload(bot, GOOD))
    new = tried(upload(bot, GOOD + "#"))
    old.refresh_from_db()

    assert (old.status, new.status) == (Status.RETIRED, Status.READY)


def test_an_old_one_that_is_ready_late_does_not_play(bot: Bot) -> None:
    old, new = upload(bot, GOOD), tried(upload(bot, GOOD + "#"))

    tried(old)

    new.refresh_from_db()
    assert (old.status, new.status) == (Status.RETIRED, Status.READY)


def test_twice_delivered_is_once_tried(bot: Bot) -> None:
    submission = upload(bot, GOOD)
    assert services.begin(submission.pk) is not None

    assert services.begin(submission.pk) is None
    assert tried(submission).status == Status.BUILDING
    assert selectors.builds_due() == []


def test_what_a_dead_worker_left_is_tried_again(bot: Bot) -> None:
    submission = upload(bot, GOOD)
    dead = services.begin(submission.pk)
    assert dead is not None
    past = timezone.now() - timedelta(seconds=1)
    Submission.objects.update(lease_until=past)

    assert selectors.builds_due() == [submission.pk]
    assert tried(submission).status == Status.READY
    with pytest.raises(services.LostClaim):
        services.reject(dead, {}, "too late")


def test_a_single_process_goes_on_at_once_where_it_was_killed(bot: Bot) -> None:
    submission = upload(bot, GOOD)
    services.begin(submission.pk)

    assert services.bury_predecessor() == 1
    assert selectors.builds_due() == [submission.pk]


def test_a_weak_worker_lets_it_wait_and_says_why(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def weak(_level: str) -> None:
        raise SandboxUnavailable("Bubblewrap is missing. Say apt-get install it.")

    monkeypatch.setattr("ladder.bots.players._open", {})
    monkeypatch.setattr("ladder.bots.players.open_sandbox", weak)
    submission = tried(upload(bot, GOOD))

    assert submission.status == Status.WAITING
    assert "apt-get install" in submission.report["summary"]
    assert selectors.builds_due() == []

    monkeypatch.undo()
    Submission.objects.update(lease_until=None)
    assert tried(submission).status in {Status.READY, Status.WAITING}


def test_our_own_failure_is_not_the_bots(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ladder.bots.players.box_of", full_disk)
    submission = tried(upload(bot, GOOD))

    assert submission.status == Status.WAITING
    assert submission.failures == 1


def test_the_house_has_its_bots_once() -> None:
    services.ensure_house_bots()
    services.ensure_house_bots()

    names = sorted(Bot.objects.filter(house=True).values_list("slug", flat=True))
    assert {"house-greedy", "house-random"} <= set(names)
    assert selectors.playing().count() == len(names)
    for submission in selectors.playing():
        with ExitStack() as held:
            assert box_of(submission, held).entry == "bot.py"


def test_a_new_version_of_the_house_replaces_the_old_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    monkeypatch.setattr(services, "HOUSE", tmp_path)
    for version in ("1", "2"):
        (tmp_path / "one" / "bot.py").write_text(version)
        services.ensure_house_bots()

    first, second = Submission.objects.order_by("number")
    assert (first.status, second.status) == (Status.RETIRED, Status.READY)
