"""The areas whose tests are measured: their modules, and the tests that concern each.

The cheapest tests come first, because the first failure ends a run.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Area:
    """Modules with the arguments of pytest that select their tests.

    `mutants` is the size of the sample. `environment` is added to the variables of the
    tests.
    """

    mutants: int
    tests: Mapping[str, tuple[str, ...]]
    environment: Mapping[str, str] = field(default_factory=dict)


def _each(
    folder: str, modules: str, tests: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Return the same tests for each of these modules of a folder."""
    return {f"{folder}/{module}.py": tests for module in modules.split()}


def _tests(prefix: str, names: str) -> tuple[str, ...]:
    """Return the options and the files of tests that need Django."""
    return "-p", "pytest_django.plugin", "--reuse-db", *_files(prefix, names)


def _plain_tests(prefix: str, names: str) -> tuple[str, ...]:
    """Return the options and the files of tests that need neither Django nor fixtures.

    They start in a third of the time.
    """
    options = ("--noconftest", "-c", os.devnull, "--rootdir", ".")
    return *options, "--import-mode", "importlib", *_files(prefix, names)


def _files(prefix: str, names: str) -> tuple[str, ...]:
    return tuple(f"tests/{prefix}{name}.py" for name in names.split())


ENGINE = _plain_tests(
    "engine/test_", "cards knights stacks building setup scoring refusals goldens"
)
REFEREE = _plain_tests("engine/test_", "forfeits referee")
CLOCK = (
    *_tests("runner/test_", "clock"),
    *("-k", "not (stopped_forfeits_no_bot or ended_threads or busy_machine)"),
)
LEDGER = _tests("ratings/test_", "verification rater")
ATTEMPTS = _tests("games/test_", "attempts blame")
PRACTICE = _tests("practice/test_", "practice_games")
SECRETS = (
    *_tests("", "games/test_shared_deals games/test_games_api web/test_watching"),
    *("-k", "replay or secret or log or private or embargo or moves or decks"),
)
HELD_BACK = _tests("tournaments/test_", "held_back")

RATING = "torres/rating"
FORMATS = "torres/formats"

AREAS = {
    "engine": Area(
        55,
        _each("engine", "board cards kernel legal setup stock track turns", ENGINE)
        | _each("engine", "referee game", REFEREE),
        {"TORRES_PURE": "1"},  # the compiled code would not change
    ),
    "rating": Area(
        40,
        _each(
            RATING,
            "trueskill message_passing",
            _plain_tests("ratings/test_", "trueskill"),
        )
        | _each(RATING, "pairing pool", _plain_tests("ratings/test_", "pairing"))
        | _each(
            RATING, "sprt stopping_rule betting", _plain_tests("ratings/test_", "sprt")
        )
        | _each(
            RATING,
            "strengths plackett_luce",
            _plain_tests("ratings/test_", "strengths"),
        ),
    ),
    "ledger": Area(
        40,
        _each(RATING, "ledger verification", LEDGER)
        | _each("ladder/ratings", "rater ledger_reader ledger_writer", LEDGER),
    ),
    "attempts": Area(
        45,
        _each("ladder/games", "attempts blame sql", ATTEMPTS)
        | _each("ladder/extras/practice", "claims", PRACTICE),
    ),
    "protocol": Area(
        30, _each("torres/runner", "protocol", _plain_tests("runner/test_", "protocol"))
    ),
    "clock": Area(20, _each("torres/runner", "clock", CLOCK)),
    "formats": Area(
        50,
        _each(
            FORMATS,
            "swiss swiss_tables matching",
            _plain_tests("tournaments/test_", "matching swiss"),
        )
        | _each(
            FORMATS,
            "round_robin groups plan config",
            _tests("tournaments/test_", "round_robin plan"),
        )
        | _each(FORMATS, "elimination", _tests("tournaments/test_", "elimination"))
        | _each(
            FORMATS, "standings tiebreaks", _tests("tournaments/test_", "tiebreaks")
        ),
    ),
    "visibility": Area(
        40,
        _each("ladder/games", "visibility shared_deals", SECRETS)
        | _each("ladder/tournaments", "visibility", HELD_BACK),
    ),
}
