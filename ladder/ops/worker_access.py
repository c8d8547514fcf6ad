"""The rights of workers in the database: one table, for grants, checks and people.

Workers run the code of strangers, so a worker is treated as if it had been taken over.
Each host of workers has a role of PostgreSQL. A role may change what it has claimed,
and a row of games_worker belongs to the role that added it. `ladder.ops.worker_role`
grants what stands here, and compares it with the database.

Conditions are SQL about a row of the table itself. They hold only for workers. In
subqueries the table has its full name, because its columns may have the same names.
"""

from dataclasses import dataclass, field

from django.conf import settings

ALL = ("*",)
MAX_LEASE = "STATEMENT_TIMESTAMP() + INTERVAL '2 hours'"
MAX_FACT_BYTES = 16_384
"""A leaf of more than 65,535 bytes would stop the public log for ever."""
OPEN_UPLOAD = "('uploaded', 'building', 'validating', 'waiting')"


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of workers on one table.

    `reads`, `adds` and `changes` are columns. Rows that are added, changed or deleted
    must fulfil `rows` before the change, and `after` after it; empty, all rows do.
    `sees` limits the rows that can be read. `harm` says what a worker that was taken
    over can do with these rights.
    """

    table: str
    harm: str
    reads: tuple[str, ...] = ALL
    adds: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    deletes: bool = False
    rows: str = ""
    after: str = ""
    sees: str = field(default="TRUE")

    @property
    def is_limited(self) -> bool:
        """True if the rows are limited, and not only the columns."""
        return bool(self.rows or self.after or self.sees != "TRUE")


def _own_worker(column: str) -> str:
    return (
        f"EXISTS (SELECT 1 FROM games_worker w WHERE w.id = {column}"
        " AND w.role = CURRENT_USER)"
    )


def _own_attempt(condition: str) -> str:
    """Return the condition that one of the role's attempts fulfils another one."""
    return (
        "EXISTS (SELECT 1 FROM games_attempt a JOIN games_worker w ON w.id ="
        f" a.worker_id WHERE w.role = CURRENT_USER AND {condition})"
    )


def _held(game: str) -> str:
    """Return the condition that the role was the last to claim a game without a result.

    This still holds after a failed attempt, for what is written in its transaction.
    """
    return (
        "EXISTS (SELECT 1 FROM games_game g JOIN games_attempt a ON a.game_id = g.id"
        " AND a.fence = g.fence JOIN games_worker w ON w.id = a.worker_id"
        f" WHERE g.id = {game} AND w.role = CURRENT_USER"
        " AND g.status IN ('running', 'scheduled', 'dead'))"
    )


_LAST_FENCE = (
    "(SELECT COALESCE(MAX(a.fence), 0) FROM games_attempt a"
    " WHERE a.game_id = games_game.id)"
)
# Without the bounds a role could spoil games that others will claim: a fence that
# cannot grow, a lease without an end, a hint from the future.
_GAME_AFTER = f"""
    failures BETWEEN 0 AND fence
    AND (sent_at IS NULL OR sent_at <= STATEMENT_TIMESTAMP())
    AND (lease_until IS NULL OR lease_until < {MAX_LEASE})
    AND CASE status
        WHEN 'running' THEN {_own_worker("games_game.owner_id")}
            AND fence - {_LAST_FENCE} IN (0, 1) AND replay IS NULL
        WHEN 'scheduled' THEN owner_id IS NULL AND fence = {_LAST_FENCE}
            AND replay IS NULL AND note = ''
        WHEN 'finished' THEN owner_id IS NULL AND {
    _own_attempt("a.game_id = games_game.id AND a.fence = games_game.fence")
}
        WHEN 'dead' THEN owner_id IS NULL AND {
    _own_attempt("a.game_id = games_game.id AND a.fence = games_game.fence")
}
        ELSE FALSE END"""
_ATTEMPT_AFTER = f"""
    {_own_worker("games_attempt.worker_id")}
    AND (outcome <> 'open' OR EXISTS (SELECT 1 FROM games_game g
        WHERE g.id = games_attempt.game_id AND g.fence = games_attempt.fence
        AND g.owner_id = games_attempt.worker_id))
    AND (bot_id IS NULL OR EXISTS (SELECT 1 FROM games_seat s
        WHERE s.game_id = games_attempt.game_id AND s.number = games_attempt.seat
        AND s.bot_id = games_attempt.bot_id))"""
_LOG_USE = """
    EXISTS (SELECT 1 FROM games_seat s JOIN games_game g ON g.id = s.game_id
        JOIN games_worker w ON w.id = g.owner_id
        WHERE s.bot_id = games_loguse.bot_id AND g.status = 'running'
        AND w.role = CURRENT_USER)"""
_UPLOAD = f"""
    status IN {OPEN_UPLOAD} OR status = 'ready' AND EXISTS (
        SELECT 1 FROM bots_submission newer WHERE newer.bot_id = bots_submission.bot_id
        AND newer.number > bots_submission.number
        AND (newer.status = 'ready' OR newer.status IN {OPEN_UPLOAD}))"""
# The outbox holds other facts, too. What a role may add must name its game or, for an
# upload, say what the row says.
_FACT = f"""
    OCTET_LENGTH(leaf_data) <= {MAX_FACT_BYTES}
    AND OCTET_LENGTH(data::text) <= {MAX_FACT_BYTES}
    AND CASE
        WHEN kind IN ('submission.ready', 'submission.rejected') THEN leaf_kind = ''
            AND EXISTS (SELECT 1 FROM bots_submission s
                WHERE s.id = (data ->> 'submission')::bigint
                AND s.status = data ->> 'status')
        ELSE kind IN ('', 'game.finished', 'game.dead')
            AND leaf_kind IN ('', 'game-finished', 'game-ended', 'attempt-ended')
            AND (leaf_kind = '' OR {_held("leaf_subject")}
                AND (leaf_data::jsonb ->> 'game')::bigint = leaf_subject)
            AND (kind = '' OR {_held("(data ->> 'game')::bigint")})
        END"""
_OPEN_PRACTICE = (
    "EXISTS (SELECT 1 FROM practice_practicegame g WHERE g.id = {}.game_id"
    " AND g.status IN ('waiting', 'running'))"
)

WORKER_ACCESS = (
    Access(
        "games_worker",
        "It describes its own processes falsely. It cannot lift a drain.",
        adds=(
            *("name", "role", "host", "versions", "languages", "sandbox", "slots"),
            *(
                "upload_slots",
                "memory_mb",
                "calibration_ms",
                "load",
                "timings",
                "started_at",
                "seen_at",
            ),
            *("claimed_at", "gone_at", "drained", "drained_why"),
        ),
        changes=(
            *("host", "versions", "languages", "sandbox", "slots", "calibration_ms"),
            *("load", "timings", "started_at", "seen_at", "claimed_at", "gone_at"),
            *("upload_slots", "memory_mb"),
        ),
        rows="role = CURRENT_USER",
    ),
    Access(
        "games_game",
        "It claims games that wait, and gives those false results or none. It cannot"
        " change a game that another host plays, or that has ended.",
        reads=(
            *("id", "fence", "lease_until", "match_id", "index", "status", "queue"),
            *("priority", "needs", "sent_at", "sent_to", "owner_id", "failures"),
            *("created_at", "started_at", "finished_at", "replaces_id", "reason"),
            *("note", "engine", "budget"),
        ),
        changes=(
            *("status", "owner_id", "lease_until", "fence", "started_at", "sent_at"),
            *("finished_at", "reason", "engine", "replay", "failures", "note"),
        ),
        rows="status = 'scheduled' OR status = 'running'"
        f" AND {_own_worker('games_game.owner_id')}",
        after=_GAME_AFTER,
    ),
    Access(
        "games_match",
        "It reads the seeds of matches that are not over, so it knows their decks.",
    ),
    Access(
        "games_seat",
        "It writes false scores, ranks and forfeits into games that it claimed.",
        changes=("score", "rank", "tied", "fault", "fault_detail", "blamed"),
        rows=_held("games_seat.game_id"),
    ),
    Access(
        "games_attempt",
        "It lets its own attempts fail, and blames a bot at the table.",
        adds=("game_id", "fence", "worker_id", "started_at", "outcome", "reason"),
        changes=("outcome", "ended_at", "reason", "seat", "bot_id", "evidence"),
        rows=f"outcome = 'open' AND {_own_worker('games_attempt.worker_id')}",
        after=_ATTEMPT_AFTER,
    ),
    Access(
        "games_answerbatch",
        "People who watch a game that it claimed see false moves.",
        reads=("id", "attempt_id", "first"),
        adds=("attempt_id", "first", "end", "answers"),
        changes=("end", "answers"),
        deletes=True,
        rows=_own_attempt("a.id = games_answerbatch.attempt_id"),
    ),
    Access(
        "games_seatlog",
        "Owners read false logs of games that it claimed. It reads no logs.",
        reads=(),
        adds=("attempt_id", "number", "stderr", "notes", "verdict"),
        rows=_own_attempt("a.id = games_seatlog.attempt_id"),
    ),
    Access(
        "games_loguse",
        "The logs of bots in its games are shortened for a day.",
        adds=("bot_id", "day", "bytes"),
        changes=("bytes",),
        rows=_LOG_USE,
    ),
    Access(
        "bots_bot",
        "It locks rows, so that changes of these bots wait.",
        changes=("id",),
        after="FALSE",  # a lock needs the right to change a column
    ),
    Access(
        "bots_submission",
        "It decides about uploads that are being checked: it accepts or rejects them,"
        " and retires older uploads of the same bot. It reads no logs and reports.",
        reads=(
            *("id", "fence", "lease_until", "bot_id", "number", "digest", "status"),
            *("language", "entry", "size", "failures", "failed_hosts"),
            *("service_failed", "claimed_at", "claimed_host", "traceparent"),
            *("created_at", "ready_at"),
        ),
        changes=(
            *("status", "fence", "lease_until", "claimed_at", "claimed_host"),
            *("failures", "failed_hosts", "service_failed", "report", "log"),
            "ready_at",
        ),
        rows=_UPLOAD,
        after=f"lease_until IS NULL OR lease_until < {MAX_LEASE}",
    ),
    Access("public_log_deckbatch", "Nothing: commitments are public."),
    Access("ratings_ladder", "Nothing: the rules of ladders are public."),
    Access(
        "ratings_membership",
        "It reads which bots are on which ladders.",
        reads=("id", "bot_id", "ladder_id", "status"),
    ),
    Access(
        "ratings_season",
        "It reads which seasons are open.",
        reads=("id", "ladder_id", "status"),
    ),
    Access(
        "events_fact",
        "It adds false facts about games that it claimed, also to the public log. It"
        " reads and changes no facts.",
        reads=(),
        adds=(
            *("kind", "data", "public", "owners"),
            *("leaf_kind", "leaf_subject", "leaf_seal", "leaf_data"),
        ),
        rows=_FACT,
    ),
    Access(
        "practice_practicegame",
        "It spoils games by hand that are open, and reads all of them.",
        changes=(
            *("status", "host", "started_at", "fence", "lease_until", "ply"),
            *("deadline", "bank_s", "forfeits", "note", "ended_at", "replay"),
            "result",
        ),
        rows="status IN ('waiting', 'running')",
        after=f"lease_until IS NULL OR lease_until < {MAX_LEASE}",
    ),
    Access(
        "practice_practicemove",
        "It adds and deletes moves of games by hand that are open.",
        adds=("game_id", "index", "seat", "actions", "ms", "note"),
        deletes=True,
        rows=_OPEN_PRACTICE.format("practice_practicemove"),
    ),
    Access(
        "practice_practiceopponent",
        "It writes false logs into games by hand that are open.",
        changes=("fault_detail", "stderr", "notes"),
        rows=_OPEN_PRACTICE.format("practice_practiceopponent"),
        sees=_OPEN_PRACTICE.format("practice_practiceopponent"),
    ),
    Access(
        "editor_trialgame",
        "It reads the code that people try, and gives it false results.",
        changes=(
            *("status", "host", "fence", "lease_until", "note", "result"),
            *("findings", "log", "replay", "ended_at"),
        ),
        rows="status IN ('waiting', 'running')",
        after=f"lease_until IS NULL OR lease_until < {MAX_LEASE}",
    ),
    Access(
        "spot_checks_spotcheck",
        "It gives false verdicts of spot checks, which name itself as well.",
        changes=(
            *("fence", "lease_until", "attempts", "checked_on", "verdict", "note"),
            *("replay", "ended_at"),
        ),
        rows="verdict = 'open'",
        after=f"lease_until IS NULL OR lease_until < {MAX_LEASE}",
    ),
    Access(
        "moderation_servicepart",
        "It says that games by hand are played although they are not.",
        adds=("name", "process", "seen_at"),
        changes=("process", "seen_at"),
        deletes=True,
        rows="name = 'practice'",
    ),
    Access("django_migrations", "Nothing: it reads which version is installed."),
)
"""Every table that workers use. They have no rights on any other one."""


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """Keys of Redis that workers use, and what a worker taken over can do with them."""

    keys: tuple[str, ...]
    harm: str


BROKER_ACCESS = (
    BrokerAccess(
        (*(f"{name}*" for name in settings.CELERY_TASK_QUEUES), "only-*"),
        "It takes, loses and adds hints that there is work. The database decides what"
        " is done, and the dispatcher sends lost hints again.",
    ),
    BrokerAccess(
        ("unacked*", "_kombu.binding*"),
        "It loses hints that other workers have not confirmed, and the list of queues,"
        " which the dispatcher writes again.",
    ),
    BrokerAccess(
        ("*.celery.pidbox*",),
        "It gives false answers to `celery inspect`. It cannot send commands.",
    ),
)
BROKER_COMMANDS = (
    *("ping", "hello", "select", "info"),
    *("multi", "exec", "discard", "watch", "unwatch"),
    *("lpush", "rpush", "brpop", "rpop", "llen", "expire", "pexpire", "pttl"),
    *("exists", "time"),
    *("zadd", "zrem", "zrange", "zrangebyscore", "zrevrangebyscore", "zscore"),
    *("hset", "hget", "hdel", "sadd", "srem", "smembers", "sismember", "scard"),
    *("set", "get", "del", "evalsha", "eval", "script|load", "script|exists"),
    *("subscribe", "psubscribe", "unsubscribe", "punsubscribe"),
)
"""What Celery's transport for Redis needs. Without `publish` no worker controls others.
"""


def broker_rules(database: int) -> list[str]:
    """Return the words of the ACL of a worker, without its name and its password.

    `database` is the number of the broker's database in Redis.
    """
    keys = [f"~{key}" for access in BROKER_ACCESS for key in access.keys]
    commands = [f"+{command}" for command in BROKER_COMMANDS]
    return [
        *("resetkeys", *keys, "resetchannels", f"&/{database}.celery.pidbox"),
        *("-@all", *commands),
    ]
