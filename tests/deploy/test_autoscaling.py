"""The autoscalers of deploy/kubernetes follow the demand, over a simulated day."""

from functools import cache

import pytest
from django.conf import settings

from tests.deploy.simulated_day import (
    BOTS_AT_FIRST,
    GAMES_PER_BOT_AND_DAY,
    MINUTE_S,
    OLD_BUILDER,
    OLD_WORKER,
    SEATS,
    SPECS,
    Controller,
    Report,
    report,
    table,
)

MOST = SPECS["worker"]["maxReplicaCount"]
LEAST = SPECS["worker"]["minReplicaCount"]


@cache
def present(game_s: int) -> Report:
    return report(SPECS["worker"], SPECS["builder"], game_s)


@cache
def old(game_s: int) -> Report:
    return report(OLD_WORKER, OLD_BUILDER, game_s)


def test_by_the_age_of_games_a_quiet_ladder_of_long_games_keeps_all_workers() -> None:
    """Two games wait for each slot, so the age is twice the length of a game."""
    assert old(60).night == old(60).peak == old(60).afternoon == MOST


def test_by_the_age_of_games_a_tournament_of_short_games_gets_no_worker() -> None:
    assert old(5).peak == LEAST
    assert old(5).reaction_s is None


@pytest.mark.parametrize("game_s", [5, 10, 60])
def test_workers_come_for_a_tournament_and_go_afterwards(game_s: int) -> None:
    day = present(game_s)

    assert day.night == LEAST
    assert day.peak > MOST / 2
    assert day.reaction_s is not None
    assert day.reaction_s < 3 * MINUTE_S
    assert day.afternoon <= 2
    assert day.closed == LEAST


def test_a_tournament_takes_about_the_time_that_is_aimed_at() -> None:
    """With long games even all workers need longer."""
    for game_s in (5, 10):
        over_s = present(game_s).tournament_s
        assert over_s is not None
        assert 10 * MINUTE_S < over_s < 20 * MINUTE_S
    assert present(60).tournament_s == old(60).tournament_s


def test_bots_get_the_games_that_are_wanted_for_them() -> None:
    """Until noon, the bots that play from the beginning."""
    wanted = BOTS_AT_FIRST * GAMES_PER_BOT_AND_DAY / SEATS / 2

    assert present(60).ladder_games > wanted
    assert present(60).worker_hours * 5 < old(60).worker_hours


def test_a_burst_of_uploads_gets_builders() -> None:
    assert present(60).uploads_s * 3 < old(60).uploads_s


def test_the_number_of_pods_does_not_enter_into_the_wanted_one() -> None:
    for spec in SPECS.values():
        scaled = {
            present: Controller(spec).replicas(present, value=8.0)
            for present in (2, 3, 4)
        }
        assert len({*scaled.values()}) == 1, scaled


def test_the_page_has_the_figures() -> None:
    """`python -m tests.deploy.simulated_day` prints them."""
    assert table() in (settings.BASE_DIR / "docs" / "operating.md").read_text()
