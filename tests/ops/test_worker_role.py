"""A host of workers that was taken over: what its credentials permit, tried one by one.

The attacker has the environment of a worker: a role of PostgreSQL and a user of Redis.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from psycopg.errors import Error, InsufficientPrivilege

from ladder.ops.worker_access import WORKER_ACCESS, broker_rules
from tests import servers

pytestmark = [
    pytest.mark.slow,
    pytest.mark.servers,
    pytest.mark.usefixtures("_servers"),
]
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]
SECRETS = ("SECRET_KEY", "TORRES_METRICS_TOKEN", "DATABASE_URL", "BROKER_URL")
# One game for each worker, one that waits, and what belongs to people.
PLANT = """
from django.contrib.auth.models import User
from ladder.accounts import tokens
from tests.games.factories import game
owner = User.objects.create_user("ana", "ana@example.org", "password")
tokens.token_for("ben")
for _ in range(5):
    print(game().pk)
"""
PLAY = """
from ladder.games.worker import registry
from ladder.games.worker.play import RUNNING_GAMES, play
from ladder.ops.chaos.scripted_player import open_player
from django.conf import settings
RUNNING_GAMES.open_player = open_player
assert not settings.configured or not settings._wrapped.SECRET_KEY
print(play({game}, registry.register(registry.unlimited(1))))
"""
FAIL = """
from ladder.games import attempts
from ladder.games.worker import registry
from torres.runner.verdict import SeatOutput
worker = registry.register(registry.unlimited(1))
claim = attempts.claim({game}, worker)
outputs = [SeatOutput(stderr="x", evidence=dict(exit=1, counters={{}}))] * 2
print(attempts.renew_lease(claim))
print(attempts.fail(claim, "a fault", outputs, seat=1))
claim = attempts.claim({game}, worker)
print(attempts.release(claim.game, claim.fence, "stops"), registry.sign_off(worker, ""))
"""
VALIDATE = """
from ladder.bots import submissions
from ladder.ratings.selectors import validation_forms
pk = {submission}
assert validation_forms(pk)
submissions.reject(submissions.claim(pk, "host"), {{"summary": "no"}}, "log")
print("rejected")
"""
PRACTISE = """
from ladder.extras.practice import claims, endings, selectors
from ladder.extras.practice.models import PracticeGame, PracticeMove
from ladder.service import service_parts
service_parts.report(service_parts.PRACTICE)
claim = claims.claim("host")
game = PracticeGame.objects.get(pk=claim.pk)
assert [row.submission.bot.slug for row in selectors.sitting(game)]
claims.record(claim, PracticeMove(index=0, seat=0, actions=["enter a1"], ms=1.0))
claims.record_forfeit(claim, {"seat": 1, "before_move": 1, "reason": "crash"}, "why")
claims.ask(claim, 0, 1.0, 1.0)
assert claims.answer_to(claim, 0) is None
print(endings.close(game.pk, "failed", "why", fence=claim.fence))
print(PracticeMove.objects.count())
from ladder.extras.editor import selectors, services
held = services.claim("host")
trial = held.row().select_related("opponent").get()
assert trial.source == "code" and selectors.version_of(trial.opponent).bot.slug
assert services.end(held, "finished", result={}, findings=[], log="", replay=b"")
service_parts.sign_off(service_parts.PRACTICE)
"""
CHOOSE = """
from ladder.extras.spot_checks import services
from ladder.games.worker import registry
registry.register(registry.unlimited(1))
print(services.tick())
"""
ASK_AGAIN = """
from ladder.bots import players
from ladder.extras.spot_checks import work
from ladder.ops.chaos.scripted_player import open_player
players.open_player = lambda *of: open_player(*of, strict_clock=False)
from ladder.extras.spot_checks.models import SpotCheck
print(work.run_next(), SpotCheck.objects.get().verdict)
"""
CLAIM = """
from ladder.games import attempts
from ladder.games.worker import registry
worker = registry.register(registry.unlimited(1))
print(attempts.claim({game}, worker).attempt, worker)
"""


@dataclass(frozen=True)
class TwoHosts:
    """A service with two hosts of workers, `one` and `two`, and its waiting games."""

    owner: dict[str, str]
    one: dict[str, str]
    two: dict[str, str]
    games: list[int]

    def sign_in(self, who: str) -> psycopg.Connection:
        url = getattr(self, who)["DATABASE_URL"]
        return psycopg.connect(url, autocommit=True)


def manage(
    environment: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MANAGE, *words],
        env=environment,
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


def run(environment: dict[str, str], *words: str) -> str:
    done = manage(environment, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def failure(environment: dict[str, str], *words: str) -> str:
    done = manage(environment, *words)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


def shell(environment: dict[str, str], code: str) -> str:
    return run(environment, "shell", "-v0", "--no-imports", "-c", code)


def variables(output: str) -> dict[str, str]:
    lines = [line for line in output.splitlines() if not line.startswith(("#", "ACL"))]
    return dict(line.split("=", 1) for line in lines)


@pytest.fixture(scope="module")
def planted() -> Iterator[TwoHosts]:
    # Not in pytest's own folder, which the user postgres cannot enter.
    with TemporaryDirectory(prefix="torres-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        server = servers.postgres(folder / "cluster", migrated=True)
        try:
            yield plant(server.url, folder)
        finally:
            server.close()


def plant(url: str, folder: Path) -> TwoHosts:
    common = {k: v for k, v in os.environ.items() if k not in SECRETS}
    owner = common | {
        "DATABASE_URL": url,
        "SECRET_KEY": "k" * 50,
        "TORRES_DATA": str(folder / "data"),
        "TORRES_COMMITTED_DECKS": "0",  # no dispatcher deals them here
    }
    run(owner, "prepare")
    games = [int(line) for line in shell(owner, PLANT).split()]
    hosts = []
    for name in ("one", "two"):
        data = {"TORRES_DATA": str(folder / name)}
        printed = variables(run(owner, "worker_role", f"worker_{name}"))
        hosts.append(common | data | printed)
    return TwoHosts(owner, *hosts, games)


def test_a_worker_without_the_secrets_plays_a_game(planted: TwoHosts) -> None:
    assert "SECRET_KEY" not in planted.one
    assert planted.one["TORRES_WORKER"] == "1"

    end = shell(planted.one, PLAY.format(game=planted.games[0]))

    assert end.strip() == "finished"
    with planted.sign_in("owner") as owner:
        facts = owner.execute("SELECT kind, leaf_kind FROM events_fact").fetchall()
    assert ("game.finished", "game-finished") in facts
    run(planted.owner, "worker_role", "--check")

    assert shell(planted.owner, CHOOSE).strip() == "1"
    assert shell(planted.one, ASK_AGAIN).strip() == "False open"
    assert shell(planted.two, ASK_AGAIN).strip() == "True same"


def test_a_worker_fails_and_returns_games(planted: TwoHosts) -> None:
    assert shell(planted.one, FAIL.format(game=planted.games[4])).split() == [
        *("True", "True", "True", "0"),
    ]
    with planted.sign_in("owner") as owner:
        row = owner.execute(
            "SELECT status, fence, failures FROM games_game WHERE id = %s",
            [planted.games[4]],
        ).fetchone()
    assert row == ("scheduled", 2, 1)


def test_a_worker_rejects_an_upload(planted: TwoHosts) -> None:
    with planted.sign_in("owner") as owner:
        row = owner.execute(
            "UPDATE bots_submission SET status = 'uploaded' WHERE id ="
            " (SELECT MAX(id) FROM bots_submission) RETURNING id"
        ).fetchone()
    assert row
    assert shell(planted.one, VALIDATE.format(submission=row[0])) == "rejected\n"


def test_a_worker_hosts_a_game_by_hand(planted: TwoHosts) -> None:
    with planted.sign_in("owner") as owner:
        owner.execute(
            "WITH game AS (INSERT INTO practice_practicegame (owner_id, ruleset,"
            " switches, limits, seats, person_seat, seed, status, note, host, bank_s,"
            " forfeits, fence) SELECT MIN(id), 'yucata', '{}', '{}', 2, 0, '00',"
            " 'waiting', '', '', 1, '[]', 0 FROM auth_user RETURNING id)"
            " INSERT INTO practice_practiceopponent (game_id, number, submission_id,"
            " fault_detail, stderr, notes) SELECT game.id, 1, s.id, '', '', '[]'"
            " FROM game, (SELECT MIN(id) AS id FROM bots_submission) s"
        )
        owner.execute(
            "INSERT INTO editor_trialgame (owner_id, guest, language, source,"
            " opponent_id, ruleset, seat, status, note, host, findings, log, fence)"
            " SELECT MIN(u.id), '', 'python', 'code', MIN(b.id), 'yucata', 0,"
            " 'waiting', '', '', '[]', '', 0 FROM auth_user u, bots_bot b"
        )
    assert shell(planted.one, PRACTISE).split() == ["True", "0"]


def test_a_worker_with_the_secrets_does_not_start(planted: TwoHosts) -> None:
    with_key = planted.one | {"SECRET_KEY": "k" * 50}

    assert "SECRET_KEY must not be known to a worker" in failure(
        with_key, "status", "--worker"
    )


@contextmanager
def refused(kind: type[Error] = InsufficientPrivilege) -> Iterator[None]:
    with pytest.raises(kind):
        yield


def test_every_table_refuses_what_is_not_declared(planted: TwoHosts) -> None:
    declared = {access.table: access for access in WORKER_ACCESS}
    tables = {
        model._meta.db_table for model in apps.get_models(include_auto_created=True)
    }
    with planted.sign_in("one") as attacker:
        for table in sorted(tables | declared.keys()):
            access = declared.get(table)
            if access is None or not access.reads:
                with refused():
                    attacker.execute(f"SELECT 1 FROM {table}")
            if access is None or not access.deletes:
                with refused():
                    attacker.execute(f"DELETE FROM {table}")
                with refused(), attacker.transaction():
                    attacker.execute(f"LOCK TABLE {table}")
            for statement in (
                "TRUNCATE {}",
                "DROP TABLE {}",
                "ALTER TABLE {} ADD x int",
            ):
                with refused():
                    attacker.execute(statement.format(table))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mine (id int)",
        "CREATE TEMPORARY TABLE mine (id int)",
        "CREATE FUNCTION mine() RETURNS int AS 'SELECT 1' LANGUAGE sql",
        "SET ROLE torres",
        "ALTER ROLE torres PASSWORD 'x'",
        "CREATE ROLE mine SUPERUSER",
        "COPY games_worker TO PROGRAM 'id'",
        "SELECT pg_read_file('/etc/passwd')",
        "SELECT rolpassword FROM pg_authid",
        "SELECT replay FROM games_game",
        "SELECT log FROM bots_submission",
        "SELECT password FROM auth_user",
        "UPDATE games_match SET seed = ''",
        "UPDATE games_worker SET drained = false",
        "UPDATE games_game SET priority = 9",
        "UPDATE bots_bot SET status = 'banned'",
        "UPDATE bots_submission SET digest = ''",
        "UPDATE events_fact SET number = 1",
        "INSERT INTO events_fact (number, kind) VALUES (1, '')",
    ],
)
def test_an_attacker_has_no_other_right(planted: TwoHosts, statement: str) -> None:
    with planted.sign_in("one") as attacker, refused():
        attacker.execute(statement)


def changed(attacker: psycopg.Connection, statement: str, *values: object) -> int:
    """Return how many rows a statement changed; 0 if a policy refuses them."""
    try:
        return attacker.execute(statement, values).rowcount
    except InsufficientPrivilege as refusal:
        if "policy" not in str(refusal):
            raise
        return 0


def test_a_game_of_another_host_cannot_be_touched(planted: TwoHosts) -> None:
    game = planted.games[1]
    attempt, worker = shell(planted.two, CLAIM.format(game=game)).split()
    leaf = f'{{"game":{game}}}'
    statements: list[tuple[str, object]] = [
        (("UPDATE games_game SET status = 'scheduled', owner_id = NULL,"
         " lease_until = NULL WHERE id = %s"), game),
        ("UPDATE games_game SET fence = fence + 1 WHERE id = %s", game),
        ("UPDATE games_seat SET score = 99, rank = 1 WHERE game_id = %s", game),
        ("UPDATE games_seat SET blamed = true WHERE game_id = %s", game),
        (("UPDATE games_attempt SET outcome = 'failed', ended_at = now()"
         " WHERE game_id = %s"), game),
        (("INSERT INTO games_attempt (game_id, fence, worker_id, outcome, reason)"
         f" VALUES (%s, 2, {worker}, 'open', '')"), game),
        (('INSERT INTO games_answerbatch (attempt_id, first, "end", answers)'
         " VALUES (%s, 0, 1, '[]')"), attempt),
        (("INSERT INTO games_seatlog (attempt_id, number, stderr, notes, verdict)"
         " VALUES (%s, 0, '', '[]', '{}')"), attempt),
        ("UPDATE games_worker SET gone_at = now() WHERE id = %s", worker),
        (("INSERT INTO events_fact (kind, data, public, owners, leaf_kind,"
         " leaf_subject, leaf_data) VALUES ('', '{}', true, '[]', 'game-finished',"
         f" {game}, %s)"), leaf),
        (("INSERT INTO events_fact (kind, data, public, owners, leaf_kind, leaf_data)"
         " VALUES ('game.dead', %s, true, '[]', '', '')"), leaf),
    ]  # fmt: skip
    with planted.sign_in("one") as attacker:
        for statement, value in statements:
            assert changed(attacker, statement, value) == 0, statement
    with planted.sign_in("owner") as owner:
        row = owner.execute(
            "SELECT status, fence FROM games_game WHERE id = %s", [game]
        ).fetchone()
    assert row == ("running", 1)


def test_a_finished_game_and_its_facts_stay(planted: TwoHosts) -> None:
    game = planted.games[2]
    assert shell(planted.one, PLAY.format(game=game)).strip() == "finished"
    with planted.sign_in("one") as attacker:
        for statement in (
            "UPDATE games_game SET status = 'scheduled' WHERE id = %s",
            "UPDATE games_seat SET score = 99 WHERE game_id = %s",
            "UPDATE games_attempt SET reason = 'x' WHERE game_id = %s",
            (
                "INSERT INTO events_fact (kind, data, public, owners, leaf_kind,"
                " leaf_subject, leaf_data) VALUES ('', '{}', true, '[]',"
                " 'game-ended', %s, '{}')"
            ),
        ):
            assert changed(attacker, statement, game) == 0, statement


def test_a_waiting_game_is_not_spoiled_for_others(planted: TwoHosts) -> None:
    """Each of these would keep every honest worker from the game for ever."""
    game = planted.games[3]
    with planted.sign_in("one") as attacker:
        for change in (
            "fence = 2147483647",
            "sent_at = now() + interval '1 year'",
            "failures = 32767",
            "status = 'dead'",
            "status = 'cancelled'",
            (
                "status = 'finished', replay = '', reason = 'completed',"
                " finished_at = now()"
            ),
            "note = 'x'",
        ):
            statement = f"UPDATE games_game SET {change} WHERE id = %s"
            assert changed(attacker, statement, game) == 0, change
        _, worker = shell(planted.one, CLAIM.format(game=game)).split()
        for_ever = (
            f"UPDATE games_game SET lease_until = 'infinity', owner_id = {worker}"
            " WHERE id = %s"
        )
        assert changed(attacker, for_ever, game) == 0
        forged = "INSERT INTO events_fact (kind, data, public, owners, leaf_kind,"
        forged += " leaf_subject, leaf_data) VALUES ('', '{}', true, '[]', %s, %s, %s)"
        long = f'{{"game":{game},"x":"{"x" * 65_536}"}}'
        assert changed(attacker, forged, "game-ended", game, long) == 0
        assert changed(attacker, forged, "game-voided", game, f'{{"game":{game}}}') == 0
        assert changed(attacker, forged, "game-ended", game, '{"game":1000}') == 0
        # What it may do: spoil the game that it claimed.
        spoil = "UPDATE games_seat SET score = 99, rank = 1 WHERE game_id = %s"
        assert changed(attacker, spoil, game) == 2


def test_an_upload_that_plays_is_not_retired(planted: TwoHosts) -> None:
    with planted.sign_in("one") as attacker:
        taken = "UPDATE bots_submission SET status = 'rejected' WHERE status = 'ready'"
        assert changed(attacker, taken) == 0


def test_a_host_that_is_locked_out_has_no_sessions(planted: TwoHosts) -> None:
    run(planted.owner, "worker_role", "worker_three")
    run(planted.owner, "worker_role", "--check")
    url = planted.one["DATABASE_URL"].replace("worker_one", "worker_three")
    with psycopg.connect(url, autocommit=True) as attacker:
        run(planted.owner, "worker_role", "worker_three", "--lock-out")
        with refused(psycopg.OperationalError):
            attacker.execute("SELECT 1")
    with refused(psycopg.OperationalError):
        psycopg.connect(url)


DIFFERENCES = {
    "GRANT SELECT ON auth_user TO torres_workers": "SELECT on auth_user.password",
    "GRANT UPDATE ON games_match TO PUBLIC": "UPDATE on games_match.seed",
    "REVOKE DELETE ON games_answerbatch FROM torres_workers": "It lacks DELETE",
    "ALTER TABLE games_game DISABLE ROW LEVEL SECURITY": "switched off",
    "ALTER ROLE worker_one BYPASSRLS": "more than the rights",
}


def test_all_differences_are_found_and_repaired(planted: TwoHosts) -> None:
    run(planted.owner, "worker_role", "--check")
    with planted.sign_in("owner") as owner:
        for change in DIFFERENCES:
            owner.execute(change)
        report = failure(planted.owner, "worker_role", "--check")
        owner.execute("REVOKE ALL ON games_match FROM PUBLIC")
    assert [text for text in DIFFERENCES.values() if text not in report] == []
    run(planted.owner, "worker_role", "worker_one")
    run(planted.owner, "worker_role", "--check")


def test_a_name_of_somebody_else_is_refused(planted: TwoHosts) -> None:
    for name in ("torres", "Robert; DROP"):
        assert name in failure(planted.owner, "worker_role", name)


def test_the_user_of_redis_reaches_the_queues_only(tmp_path: Path) -> None:
    with servers.redis(tmp_path / "redis") as redis:
        rules = ["on", "nopass", *broker_rules(0)]
        assert redis.execute("ACL", "SETUSER", "w", "reset", *rules) == b"+OK\r\n"
        for words in (
            ("LLEN", "play"),
            ("LPUSH", "only-abc", "x"),
            ("HSET", "unacked", "a", "b"),
            ("SMEMBERS", "_kombu.binding.play"),
        ):
            assert b"has permissions" not in redis.execute("ACL", "DRYRUN", "w", *words)
        for words in (
            ("GET", ":1:throttle"),
            ("SET", "mine", "x"),
            ("PUBLISH", "/0.celery.pidbox", "x"),
            ("KEYS", "*"),
            ("FLUSHALL",),
            ("CONFIG", "GET", "dir"),
            ("ACL", "LIST"),
            ("SHUTDOWN",),
        ):
            assert b"permissions" in redis.execute("ACL", "DRYRUN", "w", *words)
