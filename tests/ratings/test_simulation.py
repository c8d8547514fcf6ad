"""Small simulations; the issue's full numbers are in tests/soak/test_convergence.py."""

import random
from io import StringIO

import pytest
from django.core.management import call_command

from ladder.games import attempts
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game
from ladder.ratings import rater, rebuild
from ladder.ratings.core.pairing import PairingTerms
from ladder.ratings.core.simulation import (
    SimulatedLadder,
    SimulationPlan,
    converge,
    dice,
    fall,
    kendall,
    ranks,
    settled,
)
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder as LadderRow, Rating
from tests.games import factories

DUELS = PairingTerms({"2": 1.0})
MIXED = PairingTerms({"2": 0.4, "3": 0.2, "4": 0.4})


def naive(one, other) -> float:
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    signs = [(one[i] - one[j]) * (other[i] - other[j]) for i, j in pairs]
    return sum(1 if sign > 0 else -1 for sign in signs) / len(pairs)


def test_kendall_counts_pairs():
    rng = random.Random(1)
    one, other = rng.sample(range(99), 30), rng.sample(range(99), 30)

    assert kendall(one, other) == pytest.approx(naive(one, other))
    assert kendall(one, one) == 1
    assert kendall(one, [-value for value in one]) == -1


def test_a_ladder_is_known_sooner_than_by_chance_and_everybody_plays():
    seen = [
        list(converge(SimulationPlan(DUELS, 60, seed), 16))[-1] for seed in (1, 2, 3)
    ]
    by_chance = [
        list(converge(SimulationPlan(DUELS, 60, seed, "random"), 16))[-1]
        for seed in (1, 2, 3)
    ]

    assert (
        sum(look.shown for look in seen)
        > sum(look.shown for look in by_chance) + 3 * 0.02
    )
    assert min(look.fewest for look in seen) >= 0.6 * 16
    assert max(look.most for look in seen) <= 1.7 * 16


def test_an_identical_upload_moves_nothing():
    ladder = SimulatedLadder(SimulationPlan(MIXED, 60))
    for _ in range(10):
        ladder.play()
    before = {bot: standing.skill for bot, standing in ladder.state.bots.items()}

    ladder.renew(7, better=0.0, digest=ladder.state.bots[7].digest)

    assert {bot: s.skill for bot, s in ladder.state.bots.items()} == before


def test_a_new_version_falls_a_few_places_at_most():
    ladder = settled(SimulationPlan(MIXED, 60, seed=2), 12)

    assert fall(ladder, 15, 0.0, after=10) <= 15
    assert fall(ladder, 15, 3.0, after=10) <= 15


def test_the_command_prints_how_it_converges():
    out = StringIO()
    call_command("simulate", "--bots=20", "--games=6", "--every=2", stdout=out)

    assert len(out.getvalue().splitlines()) == 5


def finish(game: Game, places: list[int]) -> None:
    claim = attempts.claim(game.pk, factories.worker())
    seats = [SeatResult(k, 50 - rank, rank) for k, rank in enumerate(places)]
    assert attempts.finish(claim, FinishedGame("completed", "1", b"replay", seats))


@pytest.mark.django_db
def test_the_database_finds_the_same_tables_and_the_same_bits():
    season = ensure_default_ladder().seasons.get()
    LadderRow.objects.update(tables=MIXED.shares)
    bots = {made.pk: k for k, made in enumerate(factories.bots(9), start=1)}
    rater.welcome(season.pk)
    season.refresh_from_db()
    plan = SimulationPlan(MIXED, 9, seed=5, open_at_once=1)
    memory, desk, luck = (
        SimulatedLadder(plan),
        MatchmakingSession(dice(5, "pairs")),
        dice(5, "luck"),
    )

    for _ in range(25):
        assert desk.pair(season, 1) == 1
        game = Game.objects.get(status="scheduled")
        sat = [bots[seat.submission.bot_id] for seat in game.seats.all()]
        finish(game, ranks([memory.skills[k] for k in sat], season.ladder.beta, luck))
        assert rater.fold(season.pk) == 1
        memory.play()

    for row in Rating.objects.filter(season=season):
        standing = memory.state.bots[bots[row.bot_id]]
        assert (row.mu, row.sigma) == (standing.skill.mu, standing.skill.sigma)
        assert (row.games, row.fresh) == (standing.games, standing.fresh)
    season.refresh_from_db()
    assert rebuild.check(season).complaints == []
