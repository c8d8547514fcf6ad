"""Simulated finals of known truth."""

from typing import NamedTuple

from tests.ratings.simulated_ladder import SimulatedLadder, SimulationPlan
from tests.ratings.simulations import board
from torres.rating import stopping_rule
from torres.rating.ledger import EntryKind
from torres.rating.pairing import PairingTerms
from torres.rating.stopping_rule import PrizeComparison
from torres.rating.trueskill import Parameters


class FinalsResult(NamedTuple):
    """The end of simulated finals. `wrong` counts wrong claims, `games` those
    played."""

    settled: bool
    wrong: int
    equal: int
    games: int


def play_finals(plan: SimulationPlan, season_games: int, prizes: int) -> FinalsResult:
    """Play a season and its finals, by the rules of the service."""
    ladder = SimulatedLadder(plan)
    seats = 0
    while seats < season_games * plan.bots:
        seats += ladder.play()
    beta = plan.terms.parameters.beta
    before = {bot: row.games for bot, row in ladder.state.bots.items()}
    finals = {"parameters": {"mu": 25.0, "sigma": 25 / 3, "beta": beta, "tau": 0.0}}
    ladder.append(EntryKind.PARAMETERS, finals, [])
    games = 0
    fewest = min(int(size) for size in plan.terms.shares)
    while True:
        order = board(ladder)
        skills = [ladder.state.bots[bot].skill for bot in order]
        claims = stopping_rule.prize_comparisons(skills, prizes, beta)
        settled = stopping_rule.order_error(claims) <= stopping_rule.MAX_ORDER_ERROR
        undecided = stopping_rule.undecided_indices(claims, at_least=fewest)
        playing = [
            order[index]
            for index in undecided
            if ladder.state.bots[order[index]].games - before[order[index]]
            < stopping_rule.MAX_FINALS_GAMES
        ]
        if settled or len(playing) < fewest:
            break
        for bot in ladder.skills:
            if bot in playing:
                ladder.append(EntryKind.PARAMETERS, finals, [bot])
            else:
                ladder._policy.pool.remove(bot)
        ladder.play()
        games += plan.open_matches
    truth = [ladder.skills[bot] for bot in order]
    margin = stopping_rule.EQUAL_BETAS * beta
    wrong = sum(is_wrong(claim, truth, margin) for claim in claims) if settled else 0
    return FinalsResult(settled, wrong, sum(c.equal for c in claims), games)


def is_wrong(claim: PrizeComparison, truth: list[float], margin: float) -> bool:
    lead = truth[claim.upper] - truth[claim.lower]
    return abs(lead) > margin if claim.equal else lead < 0


def finals(seeds: range, shares: dict[str, float]) -> list[FinalsResult]:
    """Return the results of finals of 20 bots for 3 prizes after 40 games for each."""
    terms = PairingTerms(shares, Parameters())
    plans = [SimulationPlan(terms, 20, seed, open_matches=3) for seed in seeds]
    return [play_finals(plan, 40, 3) for plan in plans]
