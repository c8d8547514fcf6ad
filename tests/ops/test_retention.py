"""Nothing grows without bound, and no result depends on what is deleted."""

import io
import json
import os
import time
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.files.storage import storages
from django.core.management import call_command
from django.db.models import F, Sum
from django.utils import timezone

from engine import replay, replay_format
from engine.referee import Answer, Ask
from ladder.accounts import tokens
from ladder.accounts.models import ApiToken
from ladder.bots import submissions
from ladder.bots.models import Bot, Submission
from ladder.common import scratch
from ladder.common.scratch import scratch_folder
from ladder.dispatch import retention
from ladder.dispatch.retention import RetentionSchedule
from ladder.events.models import Fact
from ladder.games import attempts, replays
from ladder.games.models import (
    AnswerBatch,
    Attempt,
    Game,
    LogUse,
    Seat,
    SeatLog,
    Worker,
)
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry, Erasure
from ladder.ops import invariants
from ladder.ops.chaos.scripted_player import ScriptedPlayer
from ladder.ratings import rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Rating, Season
from tests.games import factories
from tests.public_log.factories import sequence_all
from tests.ratings.factories import make_matches
from torres.runner.verdict import SeatOutput

OTHER_USER = 62_990
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir"),
]
YEAR = timedelta(days=365)
STDERR = "first words\n" + "x" * 65_000 + "\nlast words"


class Chatty(ScriptedPlayer):
    """Writes a note with each answer, and the most that it may to stderr."""

    def decide(self, ask: Ask) -> Answer:
        return replace(super().decide(ask), note="n" * 1024)

    def output(self) -> SeatOutput:
        return SeatOutput(stderr=STDERR)


def open_chatty(submission, limits, *, strict_clock=False) -> Chatty:
    return Chatty(submission.digest)


CHATTY = RunningGames(open_chatty)


@pytest.fixture
def season() -> Season:
    return ensure_default_ladder().seasons.get()


def play_all(season: Season, matches: int) -> None:
    """Make matches, play them with chatty bots, and rate them."""
    make_matches(season, matches)
    for pk in Game.objects.filter(status="scheduled").values_list("pk", flat=True):
        assert play(pk, factories.worker(), CHATTY) == AttemptEnd.FINISHED
    rater.fold(season.pk)


def fail_once(game: Game) -> None:
    """Let an attempt at a game fail after two answers."""
    claim = attempts.claim(game.pk, factories.worker("killed"))
    answers = [attempts.AnswerRecord(index, 0, ["end"], 1.0) for index in range(2)]
    attempts.store_answers(claim, answers)
    attempts.fail(claim, "the disk is full", [SeatOutput(stderr="x")])


def make_old() -> None:
    """Let everything that is stored be one year older."""
    for model, *fields in [
        (Attempt, "started_at", "ended_at"),
        (Worker, "seen_at", "gone_at"),
        (Submission, "created_at"),
        (Session, "expire_date"),
        (ApiToken, "expires_at"),
        (LogUse, "day"),
        (Fact, "created_at"),
    ]:
        model.objects.update(**{field: F(field) - YEAR for field in fields})
    for path in scratch_folder().iterdir():
        os.utime(path, (0, 0))


def rejected(bot: Bot, source: str) -> Submission:
    submission = submissions.submit(bot, io.BytesIO(source.encode()), "bot.py")
    submissions.reject(submissions.claim(submission.pk), {"summary": "No."}, "a log")
    return submission


def tidy(*words: str) -> dict[str, tuple[int, int]]:
    """Run `manage.py tidy`; return what was stored and deleted by the rule's name."""
    out = StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "ladder.ops.management.commands.tidy.say", lambda t: out.write(t + "\n")
        )
        call_command("tidy", *words)
    rows = out.getvalue().splitlines()[1:]
    return {
        row[:28].strip(): tuple(int(word) for word in row[28:].split()[:2])
        for row in rows
    }


def fill(season: Season) -> list[Submission]:
    """Store something for each rule; return two rejected uploads of a bot."""
    factories.bots(4)
    rater.welcome(season.pk)
    play_all(season, 2)
    make_matches(season, 1)
    fail_once(Game.objects.filter(status="scheduled").order_by("pk")[0])
    play_all(season, 1)
    Worker.objects.update(gone_at=timezone.now())
    bot = factories.bot("ana", ready=False)
    uploads = [rejected(bot, f"print({number})") for number in range(2)]
    sequence_all()
    User.objects.create(username="eve")
    token = tokens.token_for("eve")
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert token
    Session.objects.create(session_key="s", session_data="", expire_date=timezone.now())
    (scratch_folder() / "stderr-abc").write_text("x")
    (scratch_folder() / "grave").mkdir()
    return uploads


def assert_results_hold(season: Season) -> None:
    broken = [r.violation for r in invariants.check(forfeits=True) if not r.holds]
    assert broken == []
    out = StringIO()
    call_command("rebuild_ratings", "--check", stdout=out)
    assert "all ratings the same" in out.getvalue()


def test_results_do_not_depend_on_what_is_deleted(season: Season) -> None:
    old, newest = fill(season)
    before = list(Rating.objects.order_by("bot").values_list("bot", "mu", "sigma"))
    assert sum(deleted for _, deleted in tidy("--dry-run").values()) == 0
    make_old()
    due = tidy("--dry-run")

    deleted = tidy()

    assert all(count > 0 for _, count in deleted.values() if _), deleted
    # Detached attempts of a worker count as well, and a rejected upload has a log.
    changed = {"ended workers", "logs of uploads"}
    assert {n: d for n, d in deleted.items() if n not in changed} == {
        n: d for n, d in due.items() if n not in changed
    }
    assert all(count == 0 for _, count in tidy().values())
    for model in (SeatLog, AnswerBatch, LogUse, Worker, Session, ApiToken):
        assert not model.objects.exists(), model
    assert list(scratch_folder().iterdir()) == []
    assert not Submission.objects.filter(pk=old.pk).exists()
    assert not storages["bots"].exists(old.package)
    assert storages["bots"].exists(newest.package)
    assert_results_hold(season)
    assert before == list(
        Rating.objects.order_by("bot").values_list("bot", "mu", "sigma")
    )


def test_the_service_goes_on_after_everything_was_deleted(season: Season) -> None:
    fill(season)
    make_old()
    tidy()

    play_all(season, 2)

    assert_results_hold(season)


def test_one_seat_stores_little_and_keeps_both_ends(season: Season) -> None:
    """One seat of one game stored 127 KB beside a replay of 0.8 KB."""
    factories.bots(2)
    play_all(season, 0)
    game = factories.match(list(Bot.objects.all())).games.get()
    play(game.pk, factories.worker(), CHATTY)

    for log in SeatLog.objects.filter(attempt__game=game):
        size = len(log.stderr) + len(json.dumps(log.notes))
        assert size < 1.1 * settings.TORRES_SEAT_LOG_BYTES
        assert log.stderr.startswith("first words")
        assert log.stderr.endswith("last words")
        moves = [note["move"] for note in log.notes]
        assert moves == sorted(moves)
        assert any("left out" in note["note"] for note in log.notes)
        assert len(log.notes) > 4


def test_a_bot_fills_its_quota_of_a_day_only_once(season: Season, settings) -> None:
    settings.TORRES_BOT_LOG_BYTES = 100_000  # three logs of 32 KiB
    sitting = factories.bots(2)
    for _ in range(8):
        play(factories.match(sitting).games.get().pk, factories.worker(), CHATTY)

    for bot in sitting:
        logs = SeatLog.objects.filter(
            attempt__game__seats__submission__bot=bot,
            number=F("attempt__game__seats__number"),
        )
        sizes = [len(log.stderr) for log in logs.order_by("pk")]
        assert len(sizes) == 8
        assert min(sizes[:3]) > 15_000
        assert max(sizes[3:]) < 1024
        assert all("last words" in log.stderr for log in logs)
    stored = LogUse.objects.aggregate(total=Sum("bytes"))["total"]
    assert stored == 2 * 8 * settings.TORRES_SEAT_LOG_BYTES


def test_a_verdict_stays_when_the_quota_is_used_up(season: Season, settings) -> None:
    settings.TORRES_BOT_LOG_BYTES = 0
    game = factories.game()
    claim = attempts.claim(game.pk, factories.worker())
    verdict = {"reason": "crash", "detail": "it ended", "sent": "s" * 9000, "ply": None}
    attempts.fail(claim, "x", [SeatOutput(stderr=STDERR, verdict=verdict)])

    log = SeatLog.objects.get()
    assert log.verdict["reason"] == "crash"
    assert log.verdict["detail"] == "it ended"
    assert len(log.verdict["sent"]) < 300


def test_a_silent_bot_costs_no_statement(
    season: Season, django_assert_num_queries
) -> None:
    game = factories.game()
    claim = attempts.claim(game.pk, factories.worker())
    outputs = [SeatOutput(), SeatOutput()]

    with django_assert_num_queries(0):
        assert attempts.seat_logs.rows(game.pk, claim.attempt, outputs) == []


def test_a_drain_outlives_the_rows_of_its_workers(season: Season) -> None:
    names = ["host:/data#1-a", "host:/data#2-b", "other:/data#1-c"]
    for name in names:
        Worker.objects.create(name=name, host="h", drained=True, seen_at=timezone.now())
    make_old()
    tidy()

    assert set(Worker.objects.values_list("name", flat=True)) == set(names[1:])


def test_a_worker_with_a_running_game_stays(season: Season) -> None:
    attempts.claim(factories.game().pk, factories.worker())
    make_old()
    tidy()

    assert Worker.objects.count() == 1
    assert Attempt.objects.get().worker is not None


def test_the_same_files_can_be_uploaded_after_their_deletion(season: Season) -> None:
    bot = factories.bot("ana", ready=False)
    first = rejected(bot, "print(0)")
    rejected(bot, "print(1)")
    make_old()
    tidy()

    again = submissions.submit(bot, io.BytesIO(b"print(0)"), "bot.py")

    assert again.pk != first.pk
    assert again.number == 3
    assert storages["bots"].exists(again.package)


def test_the_dispatcher_deletes_in_slices(season: Season, monkeypatch) -> None:
    monkeypatch.setattr(retention, "SLICE_ROWS", 3)
    fill(season)
    make_old()
    schedule = RetentionSchedule()
    now_s, slices = 0.0, []
    while now_s < retention.ROUND_INTERVAL_S / 2:
        slices.append(schedule.apply(now_s))
        assert schedule.apply(now_s) == 0  # not twice at the same time
        now_s += retention.SLICE_INTERVAL_S

    assert 0 < max(slices) <= 3
    assert not SeatLog.objects.exists()
    assert not Worker.objects.exists()


def test_a_rule_that_fails_stops_no_other(season: Season, monkeypatch) -> None:
    fill(season)
    make_old()
    bad = retention.games.rules()[0]

    def broken(limit: int) -> int:
        raise KeyError("a bad row")

    first = type(bad)("logs of seats", "", bad.stored, bad.due, broken)
    others = retention.rules()[1:]
    monkeypatch.setattr(retention, "rules", lambda: [first, *others])
    schedule = RetentionSchedule()
    for second in range(100):
        schedule.apply(float(second))

    assert SeatLog.objects.exists()
    assert not AnswerBatch.objects.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_worker_that_is_root_shares_the_folder_of_half_finished_work(
    data_dir: Path,
) -> None:
    data_dir.mkdir()
    os.chown(data_dir, OTHER_USER, OTHER_USER)

    owner = scratch_folder().stat()

    assert (owner.st_uid, owner.st_gid) == (OTHER_USER, OTHER_USER)


def test_files_that_only_root_can_delete_do_not_stop_other_rules(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch_folder() / "of-root").mkdir()
    os.utime(scratch_folder() / "of-root", (0, 0))
    rule = scratch.retention_rule()
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", lambda *args, **options: None)
        assert (rule.due(9), rule.delete(9)) == (1, 0)

    assert (rule.delete(9), rule.due(9)) == (1, 0)


def test_young_files_of_running_work_stay(season: Season) -> None:
    folder = scratch_folder() / "upload"
    folder.mkdir()
    (folder / "bot.py").write_text("x")
    os.utime(folder, (0, 0))  # the folder is old, but its file is new
    old = scratch_folder() / "stderr-1"
    old.write_text("x")
    day_ago = time.time() - 90_000
    os.utime(old, (day_ago, day_ago))
    tidy()

    assert [path.name for path in scratch_folder().iterdir()] == ["upload"]


def test_a_deleted_account_leaves_no_name(season: Season) -> None:
    """Names stayed in replays, packages, logs and the audit log."""
    sitting = [factories.bot(f"secret-{n}", "mallory-secret") for n in range(2)]
    sitting += [factories.bot("other")]
    for bot in sitting:
        submission = bot.submissions.get()
        storages["bots"].save(submission.package, io.BytesIO(b"secret source"))
        text = "secret" if bot.slug != "other" else ""
        Submission.objects.filter(pk=submission.pk).update(log=text)
    rater.welcome(season.pk)
    for pair in (sitting[:2], sitting[1:]):
        play(factories.match(pair).games.get().pk, factories.worker(), CHATTY)
    Seat.objects.filter(submission__bot=sitting[0]).update(fault_detail="secret")
    operator = Operator(None, "a test")
    moderation.set_aside(operator, sitting[0], AuditEntry.Kind.BAN)
    packages = [bot.submissions.get().package for bot in sitting]
    open_game = factories.match(sitting[1:]).games.get()

    moderation.delete_account(operator, User.objects.get(username="mallory-secret"))
    Game.objects.filter(pk=open_game.pk).update(status="scheduled")  # as in a cup
    tidy()
    assert storages["bots"].exists(packages[1])  # the open game needs it
    assert not storages["bots"].exists(packages[0])
    play(open_game.pk, factories.worker(), CHATTY)
    tidy()

    assert not Erasure.objects.exists()
    assert [storages["bots"].exists(package) for package in packages] == [0, 0, 1]
    for game in Game.objects.exclude(replay=None):
        text = replays.unpack(bytes(game.replay))
        assert b"secret" not in text
        replay.verify(replay_format.load(text))
    dump = StringIO()
    call_command("dumpdata", exclude=["contenttypes", "auth.permission"], stdout=dump)
    assert "secret" not in dump.getvalue()
    assert SeatLog.objects.count() == 2  # those of the other bot


def test_a_user_whom_an_operator_deletes_leaves_no_active_bot(
    season: Season, client, user
) -> None:
    """The bots stayed active, and each counted as the bot of another owner."""
    boss = User.objects.create_superuser("boss", password="x")
    factories.bot("left", "leaver")
    client.force_login(boss)
    form = {"target": "leaver", "why": "on request"}
    client.post("/operate/delete_account/", form)

    bot = Bot.objects.get()
    assert (bot.slug, bot.status) == (f"deleted-{bot.pk}", "withdrawn")
    entry = AuditEntry.objects.get(kind="delete_account")
    assert entry.by == boss


def test_status_shows_what_is_kept(season: Season, monkeypatch) -> None:
    fill(season)
    make_old()
    lines: list[str] = []
    monkeypatch.setattr(
        "ladder.ops.management.commands.status.say", lambda line="": lines.append(line)
    )
    call_command("status", "--totals")

    assert any(
        line.startswith("kept: ")
        and "logs of seats" in line
        and "wait for their deletion" in line
        for line in lines
    )
