"""The validation of real programs, which play whole games."""

import io
import shutil
import tomllib
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from ladder.bots import (
    house_bots,
    selectors,
    services,
    submissions,
    validation,
)
from ladder.bots.models import Bot, Submission
from ladder.bots.players import program_of, sandbox_for
from ladder.dispatch.tasks import build_submission
from ladder.games.worker.subscription import validation_paused
from ladder.ratings import memberships
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Ladder
from ladder.ratings.selectors import validation_forms
from tests.factories import make_bot
from torres.checking.forms import default_forms
from torres.runner.protocol import Limits
from torres.runner.sandbox import SandboxUnavailable, probe
from torres.upload import checks

Status = Submission.Status
SHORT_LIMITS = Limits(start_ms=3000, move_ms=500, bank_ms=500)
FORMS = default_forms(SHORT_LIMITS)
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
    return submissions.submit(bot, io.BytesIO(source.encode()), "bot.py")


def validated(submission: Submission) -> Submission:
    validation.run(submission.pk, FORMS)
    submission.refresh_from_db()
    return submission


def test_a_bot_that_plays_becomes_ready(bot: Bot) -> None:
    submission = validated(upload(bot, GOOD))

    assert submission.status == Status.READY
    assert submission.ready_at is not None
    assert [step["ok"] for step in submission.report["steps"]] == [True] * 4
    assert submission.report["findings"] == []
    assert "hello owner" in submission.log
    assert "hello owner" not in str(submission.report)
    assert list(selectors.playing()) == [submission]


@pytest.mark.parametrize("misfit", MISFITS)
def test_a_bot_that_does_not_play_is_rejected_with_the_reason(
    bot: Bot, misfit: str
) -> None:
    source, reason = MISFITS[misfit]
    good = validated(upload(bot, GOOD))

    bad = validated(upload(bot, source))

    assert bad.status == Status.REJECTED
    assert reason in bad.report["summary"]
    assert reason in bad.log
    assert list(selectors.playing()) == [good]


TWO_SEATS = GOOD.replace(
    '"decide":', '"decide":\n        mine, other = message["state"]["scores"]'
)


def test_a_bot_that_assumes_two_seats_is_rejected_with_the_sentence(bot: Bot) -> None:
    """It would crash in most of its rated games, which have three and four seats."""
    submission = validated(upload(bot, TWO_SEATS))

    assert submission.status == Status.REJECTED
    report = submission.report
    assert "plays with 2 seats and fails with 3 and 4" in report["summary"]
    assert "Read `seats` in hello" in report["summary"]
    assert [step["ok"] for step in report["steps"]] == [True, True, False, False]
    assert [finding["code"] for finding in report["findings"]] == ["depends-on-seats"]
    assert "too many values to unpack" in submission.log
    assert "too many values" not in str(report)


def test_a_script_whose_interpreter_is_missing_is_rejected_by_its_name(
    bot: Bot,
) -> None:
    script = io.BytesIO(b"#!/usr/bin/no-such-lua\nprint(1)\n")

    submission = validated(submissions.submit(bot, script, "bot"))

    assert submission.status == Status.REJECTED
    assert "/usr/bin/no-such-lua is not installed here" in submission.report["summary"]


def test_a_script_with_line_ends_of_windows_is_rejected_with_the_reason(
    bot: Bot,
) -> None:
    script = io.BytesIO(b"#!/usr/bin/python3\r\n" + GOOD.encode())

    submission = validated(submissions.submit(bot, script, "bot"))

    assert submission.status == Status.REJECTED
    assert "carriage return" in submission.report["summary"]
    assert "Save the file with the line ends of Unix" in submission.report["summary"]


def test_an_upload_plays_the_games_of_its_ladders(bot: Bot) -> None:
    ladder = ensure_default_ladder()
    ladder.tables = {"3": 1.0, "4": 0.0}
    ladder.limits["move_ms"] = 700
    ladder.save()
    own = Ladder.objects.create(
        slug="own", name="Own", ruleset="devir-2017", tables={"2": 1}, limits={}
    )
    broken = Ladder.objects.create(
        slug="broken", name="Broken", ruleset="nonsense", tables={"2": 1}, limits={}
    )
    for joined in (own, broken):
        joined.seasons.create(number=1)
        memberships.join(bot, joined)
    submission = upload(bot, GOOD)

    build_submission(submission.pk)

    submission.refresh_from_db()
    assert submission.status == Status.READY, submission.log
    assert [step["name"] for step in submission.report["steps"]] == [
        "unpack",
        "play yucata, 3 seats",
        "play devir-2017, 2 seats",
    ]
    assert validation_forms(submission.pk)[0].limits.move_ms == 700


def test_a_crash_shows_its_traceback_to_the_owner_alone(bot: Bot) -> None:
    submission = validated(upload(bot, "1/0"))

    assert "ZeroDivisionError" in submission.log
    assert "ZeroDivisionError" not in str(submission.report)


@pytest.mark.sandbox
@pytest.mark.usefixtures("full")  # skips the test if the machine lacks this level
def test_a_bot_becomes_ready_in_the_full_sandbox(bot: Bot, settings) -> None:
    settings.TORRES_SANDBOX = "full"

    assert validated(upload(bot, GOOD)).status == Status.READY


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.usefixtures("isolated")
def test_level_isolated_is_for_the_bots_of_people(bot: Bot, settings) -> None:
    settings.TORRES_SANDBOX = "isolated"

    submission = validated(upload(bot, GOOD))

    assert submission.status == Status.READY
    assert sandbox_for(submission).level == "isolated"
    bot.house = True
    assert sandbox_for(Submission(bot=bot)).level == probe().level == "full"


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
def test_a_compiled_language_is_built_first(bot: Bot) -> None:
    submission = validated(submissions.submit(bot, packed(bot_c=C_BOT), "bot.zip"))

    assert submission.status == Status.READY, submission.report
    steps = [step["name"] for step in submission.report["steps"]]
    assert steps == [
        "unpack",
        "build",
        *(f"play yucata, {seats} seats" for seats in (2, 3, 4)),
    ]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_the_owner_sees_the_errors_of_the_compiler(bot: Bot) -> None:
    submission = validated(
        submissions.submit(bot, packed(bot_c="int main("), "bot.zip")
    )

    assert submission.status == Status.REJECTED
    assert "could not be built" in submission.report["summary"]
    assert "error:" in submission.log
    assert "error:" not in str(submission.report)


def test_a_bot_waits_if_its_language_is_not_installed(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torres.runner.languages.missing", lambda _: ["golang-go"])
    submission = validated(upload(bot, GOOD))

    assert submission.status == Status.WAITING
    assert "a worker that can run python" in submission.report["summary"]


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        ("language = 'python'\nentry = 'main.py'", ""),
        ("language = 'cobol'\nentry = 'main.py'", "no language"),
        ("language = 'python'\nentry = '../main.py'", "does not stay"),
        ("language = 'python'\nentry = 'other.py'", "no file"),
        ("nonsense", "not valid"),
    ],
)
def test_a_manifest_names_the_entry(bot: Bot, manifest: str, error: str) -> None:
    content = packed(bot_toml=manifest, main_py=GOOD)

    if error:
        with pytest.raises(checks.NoEntry, match=error):
            submissions.submit(bot, content, "bot.zip")
    else:
        assert (
            validated(submissions.submit(bot, content, "bot.zip")).status
            == Status.READY
        )


HOSTILE_MANIFESTS = [
    "a." * 8_000 + "b = 1",
    "a = " + "[" * 8_000,
    "a = " + "{b = " * 3_000,
    "[" + "a." * 8_000 + "b]",
    "a = " + "9" * 16_000,
    "language = 'python'\nentry = 'main.py'\n#" + "x" * 20_000,
]


@pytest.mark.parametrize("manifest", HOSTILE_MANIFESTS)
def test_a_hostile_manifest_is_refused_outside_of_this_process(
    bot: Bot, manifest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser gets strangers' text, and could hang or crash the web server."""

    def parse_here(_text: str) -> None:
        raise AssertionError("a manifest is parsed in the web server")

    monkeypatch.setattr(tomllib, "loads", parse_here)
    content = packed(bot_toml=manifest, main_py=GOOD)

    with pytest.raises(checks.NoEntry, match=r"bot\.toml is"):
        submissions.submit(bot, content, "bot.zip")


def test_a_bare_program_plays(bot: Bot) -> None:
    script = io.BytesIO(b"#!/usr/bin/python3\n" + GOOD.encode())

    submission = validated(submissions.submit(bot, script, "bot"))

    assert (submission.language, submission.status) == ("executable", Status.READY)


def test_a_new_submission_retires_the_old_one(bot: Bot) -> None:
    old = validated(upload(bot, GOOD))
    new = validated(upload(bot, GOOD + "#"))
    old.refresh_from_db()

    assert (old.status, new.status) == (Status.RETIRED, Status.READY)


def test_an_older_submission_that_is_validated_late_does_not_play(bot: Bot) -> None:
    old = upload(bot, GOOD)
    new = validated(upload(bot, GOOD + "#"))

    validated(old)

    new.refresh_from_db()
    assert (old.status, new.status) == (Status.RETIRED, Status.READY)


def test_a_claimed_submission_cannot_be_claimed_again(bot: Bot) -> None:
    submission = upload(bot, GOOD)
    assert submissions.claim(submission.pk) is not None

    assert submissions.claim(submission.pk) is None
    assert validated(submission).status == Status.BUILDING
    assert selectors.claimable_ids() == []


def test_owners_take_turns(user: Callable[[str], User]) -> None:
    """One owner uploads much; the upload of another one, sent last, is not last."""
    eve, ana = (services.create_bot(user(name), name) for name in ("eve", "ana"))
    many = [upload(eve, f"1/0  # {number}") for number in range(5)]
    build_submission(many[0].pk)
    late = upload(ana, "1/0")

    for submission in many[1:3]:
        build_submission(submission.pk)  # the hints that were sent first

    waiting = [submission.pk for submission in many[2:]]
    assert selectors.claimable_ids() == waiting
    late.refresh_from_db()
    assert late.status == Status.REJECTED


def test_the_submission_of_a_dead_worker_is_validated_again(bot: Bot) -> None:
    submission = upload(bot, GOOD)
    dead = submissions.claim(submission.pk)
    assert dead is not None
    past = timezone.now() - timedelta(seconds=1)
    Submission.objects.update(lease_until=past)

    assert selectors.claimable_ids() == [submission.pk]
    assert validated(submission).status == Status.READY
    with pytest.raises(submissions.LostClaim):
        submissions.reject(dead, {}, "too late")


def killed_on(submission: Submission, hosts: list[str], live_hosts: int) -> None:
    """Claim it on one host after the other; each time the worker is killed."""
    for host in hosts:
        assert submissions.claim(submission.pk, host, live_hosts) is not None
        past = timezone.now() - timedelta(seconds=1)
        Submission.objects.update(lease_until=past)


@pytest.mark.parametrize(
    ("hosts", "live_hosts", "tries_again"),
    [
        (["a", "b"], 2, True),
        (["a", "b", "a"], 2, False),
        (["a", "a", "a"], 2, True),
        (["a", "a", "a"], 1, False),
    ],
)
def test_a_validation_whose_worker_is_killed_is_a_failure_of_the_service(
    bot: Bot, hosts: list[str], live_hosts: int, *, tries_again: bool
) -> None:
    """Otherwise an upload that kills its worker kills one worker after the other."""
    submission = upload(bot, GOOD)
    killed_on(submission, hosts, live_hosts)

    claim = submissions.claim(submission.pk, "c", live_hosts)

    submission.refresh_from_db()
    assert (claim is not None) is tries_again
    assert submission.failures == len(hosts)
    assert submission.failed_hosts == sorted(set(hosts))
    assert submission.service_failed is not tries_again
    if not tries_again:
        assert submission.status == Status.REJECTED
        assert submission.report["summary"] == submissions.APOLOGY


def test_a_service_that_was_killed_in_a_validation_counts_it(bot: Bot) -> None:
    """Otherwise an upload that kills `manage.py up` kills it after each start."""
    submission = upload(bot, GOOD)
    for _ in range(3):
        assert submissions.claim(submission.pk, "here", 1) is not None
        submissions.end_abandoned_claims()

    assert submissions.claim(submission.pk, "here", 1) is None
    submission.refresh_from_db()
    assert submission.service_failed


def test_the_abandoned_claims_of_a_single_process_end_at_its_start(bot: Bot) -> None:
    submission = upload(bot, GOOD)
    submissions.claim(submission.pk)

    assert submissions.end_abandoned_claims() == 1
    assert selectors.claimable_ids() == [submission.pk]


def test_a_bot_waits_if_the_sandbox_is_not_available(
    bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(_level: str) -> None:
        raise SandboxUnavailable("Bubblewrap is missing. Run apt-get install it.")

    monkeypatch.setattr("ladder.bots.players._sandboxes", {})
    monkeypatch.setattr("ladder.bots.players.open_sandbox", unavailable)
    submission = validated(upload(bot, GOOD))

    assert submission.status == Status.WAITING
    assert "The operator finds the reason" in submission.report["summary"]
    assert selectors.claimable_ids() == []

    monkeypatch.undo()
    Submission.objects.update(lease_until=None)
    assert validated(submission).status in {Status.READY, Status.WAITING}


@pytest.fixture
def broken_service(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Path:
    """Make every validation fail: the folder of the cache is a file."""
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / "bots").write_text("")
    return data_dir


def failed_on(submission: Submission, hosts: list[str], live_hosts: int) -> Submission:
    """Validate on one host after the other, as soon as it is allowed."""
    for host in hosts:
        Submission.objects.filter(status=Status.WAITING).update(lease_until=None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("socket.gethostname", lambda host=host: host)
            validation.run(submission.pk, FORMS, live_hosts=live_hosts)
    submission.refresh_from_db()
    return submission


def test_a_failure_of_the_service_does_not_reject_the_bot(
    bot: Bot, broken_service: Path
) -> None:
    submission = validated(upload(bot, GOOD))

    assert submission.status == Status.WAITING
    assert submission.failures == 1
    assert submission.lease_until > timezone.now() + timedelta(seconds=30)
    assert str(broken_service) not in str(submission.report)
    assert "Errno" not in str(submission.report) + submission.log


@pytest.mark.parametrize(
    ("hosts", "live_hosts", "status"),
    [
        (["a", "b"], 2, Status.WAITING),
        (["a", "b", "a"], 2, Status.REJECTED),
        (["a", "a", "a"], 2, Status.WAITING),
        (["a", "a", "a"], 1, Status.REJECTED),
        (["a"] * 6, 0, Status.REJECTED),
    ],
)
@pytest.mark.usefixtures("broken_service")
def test_the_service_gives_up_after_some_failures(
    bot: Bot, hosts: list[str], live_hosts: int, status: Status
) -> None:
    submission = failed_on(upload(bot, GOOD), hosts, live_hosts)

    assert submission.status == status
    assert submission.failures == len(hosts)
    gave_up = status == Status.REJECTED
    assert ("could not check" in submission.report["summary"]) is True
    assert ("Upload it again" in submission.report["summary"]) is gave_up
    assert list(selectors.service_failed()) == [submission] * gave_up


def test_an_unchecked_upload_may_be_uploaded_again_later(
    bot: Bot, broken_service: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submission = failed_on(upload(bot, GOOD), ["a"] * 3, 1)
    call_command("status", "--totals")
    assert "not checked: 1 uploads" in capsys.readouterr().out
    (broken_service / "bots").unlink()

    assert upload(bot, GOOD).status == Status.REJECTED
    Submission.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert upload(bot, GOOD).status == Status.UPLOADED
    assert validated(submission).status == Status.READY
    assert submission.failures == 0


def test_a_nul_in_the_output_of_a_bot_can_be_stored(bot: Bot) -> None:
    source = BOT.replace("ANSWER", '{"actions": ["a\\0b"]}')

    submission = validated(upload(bot, source))

    assert submission.status == Status.REJECTED
    assert "\0" not in submission.log + str(submission.report)


SPY = GOOD.replace(
    'message["type"] == "hello":',
    'message["type"] == "hello":\n'
    '        print("seed", message["seed"], file=sys.stderr)',
)


def test_a_bot_cannot_compute_the_seed_of_its_validation(bot: Bot) -> None:
    """The digest is no secret, and the seat's seed follows from the game's seed."""
    seeds = []
    for _ in range(2):
        submission = upload(bot, SPY)
        submissions.restart(submission)
        seeds.append(validated(submission).log.split("seed ")[1].split()[0])

    assert seeds[0] != seeds[1]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_folder_that_is_in_the_way_of_the_program_is_the_bots_mistake(
    bot: Bot,
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        target.writestr("bot.c", C_BOT)
        target.writestr("bot/table.h", "")

    submission = validated(submissions.submit(bot, content, "bot.zip"))

    assert submission.status == Status.REJECTED
    assert "rename the one in the sources" in submission.report["summary"]


def test_house_bots_are_created_once_and_play() -> None:
    house_bots.ensure_house_bots()
    house_bots.ensure_house_bots()

    names = sorted(Bot.objects.filter(house=True).values_list("slug", flat=True))
    assert {"house-greedy", "house-random"} <= set(names)
    assert selectors.playing().count() == len(names)
    for submission in selectors.playing():
        with ExitStack() as held:
            assert program_of(submission, held).entry == "bot.py"


def test_a_new_version_of_a_house_bot_replaces_the_old_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    monkeypatch.setattr(house_bots, "HOUSE_FOLDER", tmp_path)
    for version in ("1", "2"):
        (tmp_path / "one" / "bot.py").write_text(version)
        house_bots.ensure_house_bots()

    first, second = Submission.objects.order_by("number")
    assert (first.status, second.status) == (Status.RETIRED, Status.READY)


def test_the_verdict_is_in_the_log_of_a_bot_that_writes_much(bot: Bot) -> None:
    """The log was cut at its beginning, where the reason stands."""
    loud = "import sys; sys.stderr.write('first words' + 'x' * 200_000 + 'last words')"
    submission = validated(upload(bot, f"{loud}\n1/0"))

    assert "crash: exit code 1" in submission.log[:300]
    for text in ("first words", "last words", "ZeroDivisionError"):
        assert text in submission.log
    assert len(submission.log) < 64 << 10


def test_a_drained_worker_validates_nothing(data_dir) -> None:
    """A rejection by a sick host would be final."""
    submission = make_bot("Grendel", "ana")
    submissions.restart(submission)
    fence = Submission.objects.get(pk=submission.pk).fence
    validation_paused.set()
    try:
        build_submission(submission.pk)
    finally:
        validation_paused.clear()

    submission.refresh_from_db()
    assert (submission.status, submission.fence) == ("uploaded", fence)
