"""Small simulations; those of full size are in tests/soak/test_convergence.py."""

import random

import pytest

from ladder.games.models import Game
from ladder.ratings import rater, rebuild
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder as LadderRow, Rating
from tests.games import factories
from tests.ratings.factories import finish
from tests.ratings.simulated_ladder import (
    SimulatedLadder,
    SimulationPlan,
    converge,
    draw_ranks,
    kendall,
    seeded_rng,
)
from tests.ratings.simulations import played_ladder, ranks_lost, renew
from torres.rating import recorded
from torres.rating.pairing import PairingTerms

DUELS = PairingTerms({"2": 1.0})
MIXED = PairingTerms({"2": 0.4, "3": 0.2, "4": 0.4})


def naive_kendall(one, other) -> float:
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    signs = [(one[i] - one[j]) * (other[i] - other[j]) for i, j in pairs]
    return sum(1 if sign > 0 else -1 for sign in signs) / len(pairs)


def test_kendall_counts_pairs():
    rng = random.Random(1)
    one, other = rng.sample(range(99), 30), rng.sample(range(99), 30)

    assert kendall(one, other) == pytest.approx(naive_kendall(one, other))
    assert kendall(one, one) == 1
    assert kendall(one, [-value for value in one]) == -1


def test_matchmaking_learns_the_order_sooner_than_chance_and_all_bots_play():
    ours = [list(converge(SimulationPlan(DUELS, 60, k), 16))[-1] for k in (1, 2, 3)]
    by_chance = [
        list(converge(SimulationPlan(DUELS, 60, k, "random"), 16))[-1]
        for k in (1, 2, 3)
    ]

    least_gain = 3 * 0.02
    assert sum(p.shown for p in ours) > sum(p.shown for p in by_chance) + least_gain
    assert min(point.fewest for point in ours) >= 0.6 * 16
    assert max(point.most for point in ours) <= 1.7 * 16


def test_an_identical_upload_moves_nothing():
    ladder = SimulatedLadder(SimulationPlan(MIXED, 60))
    for _ in range(10):
        ladder.play()
    before = {bot: state.skill for bot, state in ladder.state.bots.items()}

    renew(ladder, 7, better=0.0, digest=ladder.state.bots[7].digest)

    assert {bot: state.skill for bot, state in ladder.state.bots.items()} == before


def test_a_new_version_loses_few_ranks():
    ladder = played_ladder(SimulationPlan(MIXED, 60, seed=2), 12)

    assert ranks_lost(ladder, 15, 0.0, after=10) <= 15
    assert ranks_lost(ladder, 15, 3.0, after=10) <= 15


@pytest.mark.django_db
def test_the_database_gives_the_same_seatings_and_the_same_bits(monkeypatch):
    rng = seeded_rng(5, "pairs")
    monkeypatch.setattr(rng, "seed", lambda _: None)
    monkeypatch.setattr(recorded, "Random", lambda: rng)
    season = ensure_default_ladder().seasons.get()
    LadderRow.objects.update(tables=MIXED.shares)
    numbers = {bot.pk: k for k, bot in enumerate(factories.bots(9), start=1)}
    rater.welcome(season.pk)
    season.refresh_from_db()
    plan = SimulationPlan(MIXED, 9, seed=5, open_matches=1)
    simulated = SimulatedLadder(plan)
    session = MatchmakingSession()
    results_rng = seeded_rng(5, "luck")

    for _ in range(25):
        assert session.pair(season, 1) == 1
        game = Game.objects.get(status="scheduled")
        bots_by_seat = [numbers[seat.submission.bot_id] for seat in game.seats.all()]
        skills = [simulated.skills[k] for k in bots_by_seat]
        finish(game, draw_ranks(skills, season.ladder.beta, results_rng))
        assert rater.fold(season.pk) == 1
        simulated.play()

    for row in Rating.objects.filter(season=season):
        state = simulated.state.bots[numbers[row.bot_id]]
        assert (row.mu, row.sigma) == (state.skill.mu, state.skill.sigma)
        assert (row.games, row.fresh) == (state.games, state.fresh)
    season.refresh_from_db()
    assert rebuild.check(season).complaints == []
