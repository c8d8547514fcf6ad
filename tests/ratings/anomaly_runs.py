"""Simulated seasons of honest bots, and of bots that cheat in a planned way.

Results follow TrueSkill's model, not the one that is fitted. Bots meet others of about
their skill. Every pair of bots has a style that suits one of them a little more, and
bots upload new versions, some of which are worse.
"""

from dataclasses import dataclass, field

import numpy as np

from torres.rating.anomalies.collusion import CollusionReport, find_collusion
from torres.rating.anomalies.sandbagging import SandbaggingReport, find_sandbagging
from torres.rating.anomalies.season_games import Booleans, SeasonGames, comparisons
from torres.rating.plackett_luce import MAX_SEATS, SeasonResults
from torres.rating.strengths import StrengthFit, fit_strengths

BETA = 25 / 6
SKILL_SD = 25 / 6
STYLE_SD = 0.6
"""The standard deviation of a style's advantage, in points of skill."""
SIZES = (2, 3, 4)
SHARES = (0.4, 0.2, 0.4)
RATE = 0.025


@dataclass(frozen=True, slots=True)
class SeasonPlan:
    """A season to simulate.

    `helpers` are triples: these two bots gain that many points each at tables of 3 and
    4 where both sit; `givers` are triples: the first loses that many points there and
    the second gains half of them. `holds` are (bot, points, share): the bot plays that
    much below its skill during the first part of the time of its last version.
    `dips` are (bot, points): its middle version is that much weaker. `many_seats` are
    (bot, points): it plays that much better at tables of 3 and 4.
    """

    bots: int = 40
    games_each: int = 200
    versions: int = 3
    seed: int = 1
    style_sd: float = STYLE_SD
    helpers: tuple[tuple[int, int, float], ...] = ()
    givers: tuple[tuple[int, int, float], ...] = ()
    holds: tuple[tuple[int, float, float], ...] = ()
    dips: tuple[tuple[int, float], ...] = ()
    many_seats: tuple[tuple[int, float], ...] = ()
    steady: bool = False
    """All bots keep one version."""


@dataclass(slots=True)
class SimulatedSeason:
    plan: SeasonPlan
    games: SeasonGames
    bot_count: int
    rng: np.random.Generator = field(repr=False)

    def fit(self) -> StrengthFit:
        return fit_strengths(self.games.results, len(self.games.bots), 3.0)

    def none_exempt(self):
        return np.zeros(self.bot_count, dtype=bool)

    def repeated(self, times: int) -> "SimulatedSeason":
        """Return a season in which each match has that many equal games."""
        old = self.games.results
        results = SeasonResults(
            *(np.repeat(part, times, axis=0) for part in (old.seats, old.ranks)),
            np.repeat(old.blocks, times),
        )
        forfeits = np.repeat(self.games.forfeits, times, axis=0)
        games = SeasonGames(results, forfeits, self.games.bots)
        return SimulatedSeason(self.plan, games, self.bot_count, self.rng)

    def collusion(
        self, fit: StrengthFit, rate: float = RATE, exempt: Booleans | None = None
    ) -> CollusionReport:
        compared = comparisons(self.games, fit.strengths)
        never = self.none_exempt() if exempt is None else exempt
        return find_collusion(self.games, compared, never, rate)

    def sandbagging(
        self, fit: StrengthFit, rate: float = RATE, finals_from: int | None = None
    ) -> SandbaggingReport:
        compared = comparisons(self.games, fit.strengths)
        return find_sandbagging(
            self.games,
            compared,
            fit,
            exempt=self.none_exempt(),
            finals_from=finals_from,
            rate=rate,
        )


def simulate(plan: SeasonPlan) -> SimulatedSeason:
    """Play a season in rounds, in each of which every bot plays about one game."""
    rng = np.random.default_rng(plan.seed)
    skills = _skills(plan, rng)
    style = np.triu(rng.normal(0, plan.style_sd, (plan.bots, plan.bots)), 1)
    style -= style.T
    versions = _version_skills(plan, skills, rng)
    seats, ranks = [], []
    for number in range(plan.games_each):
        share = number / plan.games_each
        version = 0 if plan.steady else int(share * plan.versions)
        at = _skills_now(plan, versions[:, version], share)
        for table in _tables(skills, rng):
            points = at[table] + style[np.ix_(table, table)].mean(axis=1)
            points += _help(plan, table) + rng.normal(0, BETA, len(table))
            places = np.argsort(np.argsort(-points)) + 1
            empty = [-1] * (MAX_SEATS - len(table))
            seats.append([*(table * plan.versions + version).tolist(), *empty])
            ranks.append([*places.tolist(), *empty])
    results = SeasonResults(np.array(seats), np.array(ranks), np.arange(len(seats)))
    bots = np.repeat(np.arange(plan.bots), plan.versions)
    forfeits = np.zeros(results.seats.shape, dtype=bool)
    games = SeasonGames(results, forfeits, bots)
    return SimulatedSeason(plan, games, plan.bots, rng)


def bots_by_skill(plan: SeasonPlan) -> list[int]:
    """Return the bots of a season, the weakest first."""
    return np.argsort(_skills(plan, np.random.default_rng(plan.seed))).tolist()


def _skills(plan: SeasonPlan, rng):
    return rng.normal(0, SKILL_SD, plan.bots)


def _version_skills(plan: SeasonPlan, skills, rng):
    """Return the skill of each version: mostly better than the last, sometimes not."""
    steps = rng.normal(0.5, 1.0, (plan.bots, plan.versions))
    steps[:, 0] = 0
    versions = skills[:, None] + np.cumsum(steps, axis=1)
    for bot, points in plan.dips:
        versions[bot] = skills[bot]
        versions[bot, plan.versions // 2] -= points
    return versions


def _skills_now(plan: SeasonPlan, versions, share: float):
    at = versions.copy()
    first = 0 if plan.steady else (plan.versions - 1) / plan.versions
    for bot, points, until in plan.holds:
        if share < first + (1 - first) * until:
            at[bot] -= points
    return at


def _help(plan: SeasonPlan, table):
    points = np.zeros(len(table))
    if len(table) < 3:
        return points
    seat = {int(bot): k for k, bot in enumerate(table)}
    for bot, gain in plan.many_seats:
        if bot in seat:
            points[seat[bot]] += gain
    for one, other, gain in plan.helpers:
        if one in seat and other in seat:
            points[[seat[one], seat[other]]] += gain
    for giver, taker, loss in plan.givers:
        if giver in seat and taker in seat:
            points[seat[giver]] -= loss
            points[seat[taker]] += loss / 2
    return points


def _tables(skills, rng):
    """Yield tables of bots that are close in skill. Nearly all bots sit once."""
    order = np.argsort(skills + rng.normal(0, SKILL_SD / 2, len(skills)))
    start = 0
    while start + 1 < len(order):
        size = int(rng.choice(SIZES, p=SHARES))
        table = order[start : start + size]
        start += size
        if len(table) > 1:
            yield rng.permutation(table)
