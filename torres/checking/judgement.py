"""Findings from the games of a check: why the bot lost its seat, and bad habits.

A fault that happens in some forms of the game and not in others gets the difference as
its cause: a bot that plays with two seats and crashes with three assumes two seats.
"""

from collections.abc import Sequence
from dataclasses import replace

from torres.checking.causes import LOG_LESS, FaultEvidence, find_cause, known_fault
from torres.checking.findings import Finding, Severity, fault, warning
from torres.checking.games import CheckedGame
from torres.runner.sandbox.api import KILL_SIGNAL

MIB = 1 << 20
_SLOW_SHARE = 0.8  # of the time that a bot has
_GROWTH_BYTES = 16 * MIB  # in the second half of a game
_MIN_SAMPLES = 6
_STDERR_BYTES = 1 * MIB
_MAX_EVIDENCE_CHARS = 600

NOT_REPEATABLE = warning(
    "not-repeatable",
    "With the same seed it played two different games.",
    "Take all randomness from `seed` in hello; a search that stops by the clock"
    " differs, too, and then this is no mistake.",
)


def judge(games: Sequence[CheckedGame]) -> list[Finding]:
    """Return all findings of the games of a bot: faults first."""
    findings = [*fault_findings(games), *_limit_findings(games)]
    if not findings:
        findings += _habit_findings(games)
    return findings


def fault_findings(games: Sequence[CheckedGame]) -> list[Finding]:
    """Return one finding for each different mistake that lost a seat."""
    found: dict[str, list[CheckedGame]] = {}
    explained: dict[str, Finding] = {}
    for game in games:
        if game.forfeit is not None:
            finding = explain(game)
            explained.setdefault(finding.code, finding)
            found.setdefault(finding.code, []).append(game)
    passed = [game for game in games if game.passed]
    return [
        _compared(explained[code], failed, _comparable(failed, passed))
        for code, failed in found.items()
    ]


def _comparable(
    failed: Sequence[CheckedGame], passed: Sequence[CheckedGame]
) -> Sequence[CheckedGame]:
    """Return the passed games that may show what the failed ones have in common.

    A bot that thinks longer needs more memory, for example. So games with the whole
    clock are not compared with quick ones, unless the bot was too slow.
    """
    if any(game.form.is_quick or game.ran_out_of_time for game in failed):
        return passed
    return [game for game in passed if not game.form.is_quick]


def explain(game: CheckedGame) -> Finding:
    """Return why the bot lost its seat in a game."""
    assert game.forfeit is not None
    if game.verdict is None:  # the referee refused the answer, not the runner
        raise AssertionError("a bot that forfeits has a verdict")
    cause = find_cause(
        FaultEvidence(game.verdict, game.seen.answers, game.seen.slowest_ms)
    )
    return fault(cause.code, cause.cause, cause.cure, _evidence(game))


def _evidence(game: CheckedGame) -> str:
    """Return what the owner may read: the detail, and the end of the error output."""
    assert game.forfeit is not None
    when = f"before move {game.forfeit.before_move}"
    if game.forfeit.before_move == 0:
        when = "at its start"
    forfeit = f"{game.forfeit.reason}: {game.forfeit.detail}"
    return _quoted(f"{game.form.name}, {when}: {forfeit}", game.stderr)


def _quoted(what: str, stderr: str) -> str:
    """Return what happened, with the last lines of the bot's error output."""
    lines = [line for line in stderr.splitlines() if line.strip()]
    return "\n".join([what, *(f"  {line}" for line in lines[-6:])])[
        :_MAX_EVIDENCE_CHARS
    ]


def _compared(
    finding: Finding, failed: Sequence[CheckedGame], passed: Sequence[CheckedGame]
) -> Finding:
    """Say in which games the mistake happens, if others went well."""
    where = "; ".join(dict.fromkeys(game.form.name for game in failed))
    first = _lower(finding.cause)
    bad_sizes = sorted({game.form.seats for game in failed})
    good_sizes = sorted({game.form.seats for game in passed})
    bad_rules = sorted({game.form.ruleset for game in failed})
    good_rules = sorted({game.form.ruleset for game in passed})
    if good_sizes and not set(bad_sizes) & set(good_sizes):
        return replace(
            finding,
            code="depends-on-seats",
            cause=(
                f"It plays with {_listed(good_sizes)} seats and fails with"
                f" {_listed(bad_sizes)}: {first}"
            ),
            cure=(
                "Read `seats` in hello: lists by seat have that many entries, and"
                f" another seat may forfeit. {finding.cure}"
            ),
            where=where,
        )
    if good_rules and not set(bad_rules) & set(good_rules):
        return replace(
            finding,
            code="depends-on-ruleset",
            cause=(
                f"It plays {_listed(good_rules)} and fails in {_listed(bad_rules)}:"
                f" {first}"
            ),
            cure=(
                "Read `ruleset` and `switches` in hello, and let `decision` and `legal`"
                f" say what is possible. {finding.cure}"
            ),
            where=where,
        )
    return replace(finding, where=where if passed else "")


def _listed(items: Sequence[object]) -> str:
    *first, last = [str(item) for item in items]
    return f"{', '.join(first)} and {last}" if first else last


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _limit_findings(games: Sequence[CheckedGame]) -> list[Finding]:
    """Return limits that the bot exceeded in a sandbox that does not enforce them."""
    findings = []
    limits = games[0].form.limits
    memory = max((max(game.seen.memory, default=0) for game in games), default=0)
    if memory > limits.memory_mb * MIB and all(game.passed for game in games):
        findings.append(
            known_fault("memory", f"{memory // MIB} MiB of {limits.memory_mb} MiB")
        )
    threads = max(game.seen.threads for game in games)
    if threads > limits.pids:
        findings.append(
            known_fault(
                "too-many-processes", f"{threads} threads; the limit is {limits.pids}"
            )
        )
    return findings


def _habit_findings(games: Sequence[CheckedGame]) -> list[Finding]:
    """Return habits of a bot that plays, and may still lose games by them."""
    habits = [_slowness(games), _growth(games), _noise(games), _bad_exit(games)]
    return [habit for habit in habits if habit is not None]


def _slowness(games: Sequence[CheckedGame]) -> Finding | None:
    start = max(game.seen.start_ms for game in games)
    limits = games[0].form.limits
    if start > limits.start_ms * _SLOW_SHARE:
        return warning(
            "starts-slowly",
            "It starts so slowly that it may miss the limit on a busy day.",
            "Answer hello first and prepare later, or compute tables at home.",
            f"{start:.0f} ms of {limits.start_ms} ms",
        )
    slowest = max(game.seen.slowest_ms for game in games)
    if slowest > limits.move_ms + limits.bank_ms * _SLOW_SHARE:
        return warning(
            "near-timeout",
            "One decision used nearly all of its bank.",
            "Stop thinking by `clock` in the message.",
            f"{slowest:.0f} ms",
        )
    return None


def _growth(games: Sequence[CheckedGame]) -> Finding | None:
    for game in games:
        samples = game.seen.memory
        if len(samples) < _MIN_SAMPLES:
            continue
        middle = samples[len(samples) // 2]
        late = samples[-len(samples) // 4]
        grown = samples[-1] - middle
        if grown > _GROWTH_BYTES and late > middle and samples[-1] > late:
            return warning(
                "memory-grows",
                "Its memory grows all through the game.",
                "Look for lists and caches that nothing empties.",
                f"{middle // MIB} MiB in the middle and {samples[-1] // MIB} MiB at the"
                f" end of {game.form.name}",
            )
    return None


def _noise(games: Sequence[CheckedGame]) -> Finding | None:
    most = max(game.seen.stderr_bytes for game in games)
    if most <= _STDERR_BYTES:
        return None
    return warning(
        "floods-stderr",
        "It writes much to stderr, and too much in a longer game.",
        LOG_LESS,
        f"{most:,} bytes in one game",
    )


def _bad_exit(games: Sequence[CheckedGame]) -> Finding | None:
    """Find a bot that fails after the message end, or never exits.

    If it has to be killed in some of its games only, that may be an accident.
    """
    for game in games:
        end = game.exit
        if end is not None and end.signal != KILL_SIGNAL and end.code != 0:
            return warning(
                "fails-at-end",
                "It ends with an error after the message end.",
                "Correct it, although the game counts: a result that it should have"
                " stored may be lost.",
                _quoted(f"{game.form.name}: {end}", game.stderr),
            )
    ends = [game.exit for game in games if game.exit is not None]
    if not ends or any(end.signal != KILL_SIGNAL for end in ends):
        return None
    return warning(
        "ignores-end",
        "It does not exit after the message end, and is killed a second later.",
        "Leave the loop at end, or when stdin ends; threads must not keep it alive.",
    )


def has_faults(findings: Sequence[Finding]) -> bool:
    """True if one of the findings loses games."""
    return any(finding.severity == Severity.FAULT for finding in findings)
