"""Organisers' and players' actions in any order never stop a tournament."""

import os

import pytest

from tests.games.factories import bots
from tests.tournaments.fuzz import run_sequence
from torres.formats import round_robin

pytestmark = pytest.mark.django_db
SEQUENCES = 60
BLOCK = 20


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make eight bots, and balanced schedules that are only roughly balanced."""
    monkeypatch.setattr(round_robin, "EXCHANGES", 100)
    bots(8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "block",
    [
        0,
        *(
            pytest.param(n, marks=pytest.mark.deep)
            for n in range(1, SEQUENCES // BLOCK)
        ),
    ],
)
def test_no_sequence_of_actions_fails(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        run_sequence(seed)


@pytest.mark.soak
def test_twenty_thousand_sequences() -> None:
    first = int(os.environ.get("FUZZ_FIRST", "0"))
    for seed in range(first, first + int(os.environ.get("FUZZ_SEQUENCES", "20000"))):
        run_sequence(seed)
