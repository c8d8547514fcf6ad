"""The games of `torres check` with a part of the clock, and the one with all of it."""

from pathlib import Path

import pytest

from tests.checking.planted import bot
from torres.checking.checkup import play_stages, stages
from torres.checking.forms import GameForm, all_but_one_quick, covering_forms
from torres.cli.check import Checker, CheckResult
from torres.runner.protocol import Limits
from torres.runner.sandbox import Sandbox

LIMITS = Limits()
BY_THE_CLOCK = """
import time
ends = time.process_time() + 0.4 * message["clock"]["move_ms"] / 1000
while count == 3 and time.process_time() < ends:
    pass
"""
LARGE_AFTER_LONG_THOUGHT = """
if message["clock"]["move_ms"] > 500:
    raise MemoryError
"""


def checked(source: str, forms: list[GameForm], box: Sandbox, to: Path) -> CheckResult:
    (to / "bot.py").write_text(source)
    result = CheckResult("one", level=box.level)
    Checker(result, box, 2, quiet=True).run(to / "bot.py", to / "copy", forms)
    return result


def codes(result: CheckResult) -> list[str]:
    return [finding.code for finding in result.findings]


def test_one_game_of_a_check_has_the_whole_clock() -> None:
    forms = all_but_one_quick(covering_forms(LIMITS))

    whole = [form.name for form in forms if not form.is_quick]
    assert whole == ["yucata, 4 seats"]
    assert forms[2].game_limits == LIMITS
    assert forms[0].game_limits.as_dict() == LIMITS.as_dict() | {
        "move_ms": 50,
        "bank_ms": 2_000,
    }
    assert not all_but_one_quick([GameForm("devir-2017", 3)])[0].is_quick


def test_the_slow_game_is_played_beside_those_of_other_rulesets() -> None:
    forms = all_but_one_quick(covering_forms(LIMITS))

    first, same, others = stages(forms)

    assert [form.name for form, _ in first + same] == [
        "yucata, 2 seats",
        "yucata, 3 seats",
    ]
    assert not others[0][0].is_quick
    assert len(first + same + others) == len(forms)
    assert list(play_stages([], pytest.fail)) == []


def test_a_bot_that_thinks_by_the_clock_is_checked_quickly(
    none: Sandbox, tmp_path: Path
) -> None:
    forms = all_but_one_quick([GameForm("yucata", seats) for seats in (2, 4)])

    result = checked(bot(decide=BY_THE_CLOCK), forms, none, tmp_path)

    assert codes(result) == []
    quick, whole = result.games
    assert quick.form.is_quick
    assert quick.seen.slowest_ms < 300 < whole.seen.slowest_ms


def test_a_bot_that_needs_more_time_plays_again_with_the_whole_clock(
    none: Sandbox, tmp_path: Path
) -> None:
    limits = Limits(bank_ms=500)
    forms = all_but_one_quick([GameForm("yucata", seats, limits) for seats in (3, 4)])
    slow = bot(decide="import time\ntime.sleep(0.03)")  # several times a turn

    result = checked(slow, forms, none, tmp_path)

    assert codes(result) == []
    assert [game.form.is_quick for game in result.games] == [False, False]


def test_a_bot_that_is_too_slow_for_a_ladder_has_a_fault(
    none: Sandbox, tmp_path: Path
) -> None:
    limits = Limits(move_ms=200, bank_ms=200)
    forms = all_but_one_quick([GameForm("yucata", seats, limits) for seats in (2, 3)])
    slow = bot(decide="import time\nif count == 3: time.sleep(9)")

    result = checked(slow, forms, none, tmp_path)

    assert codes(result) == ["stops-answering"]
    assert [game.form.is_quick for game in result.games] == [False]


def test_a_mistake_after_long_thought_is_not_blamed_on_the_ruleset(
    none: Sandbox, tmp_path: Path
) -> None:
    forms = all_but_one_quick(
        [GameForm("yucata", 2), GameForm("yucata", 3), GameForm("devir-2017", 4)]
    )

    result = checked(bot(decide=LARGE_AFTER_LONG_THOUGHT), forms, none, tmp_path)

    assert [game.passed for game in result.games] == [True, False, True]
    assert codes(result) == ["memory"]
