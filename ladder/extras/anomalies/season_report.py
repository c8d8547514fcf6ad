"""Make a report of anomalies: read a season, run all searches, store the findings.

It takes seconds to minutes of processor time, so it runs in a process of its own
(`manage.py anomalies`). It changes nothing but its own rows and the copies of the
season.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.extras.anomalies import copies_search, fingerprints
from ladder.extras.anomalies.findings import AnomalyFinding, FindingKind
from ladder.extras.anomalies.models import AnomalyReport
from ladder.extras.anomalies.season_reader import AnomalySeason, read_season
from ladder.ratings import second_opinion
from ladder.ratings.models import Season
from torres.rating.anomalies.collusion import CollusionFinding, Gain, find_collusion
from torres.rating.anomalies.sandbagging import SandbaggingFinding, find_sandbagging
from torres.rating.anomalies.season_games import (
    Booleans,
    Comparisons,
    comparisons,
    seat_surplus,
)
from torres.rating.anomalies.variants import (
    FRESH_GAMES,
    MANY_VARIANTS,
    MIN_GAMES,
    best_of_many,
)
from torres.rating.plackett_luce import Integers
from torres.rating.strengths import StrengthFit, fit_strengths, logits_per_point
from torres.rating.trueskill import Parameters

FALSE_DISCOVERY_RATE = 0.05
"""Of both searches that test something together; each gets half."""
SHOWN_GAMES = 6
KEPT_REPORTS = 10
"""Reports of a season that are kept, the newest ones."""


def make_report(season: Season) -> AnomalyReport:
    """Search a season for anomalies and store the report.

    1. Compute the fingerprints that are missing.
    2. Read the games, and estimate the strengths of all submissions.
    3. Search for collusion, sandbagging, copies and owners with many variants.
    4. Hand the copies to the second opinion, in which they share one vote.
    5. Store the report, and delete the oldest ones.
    """
    public = fingerprints.public_code()
    fingerprints.compute_missing(public)
    read = read_season(season)
    findings: list[AnomalyFinding] = []
    tested: dict[str, object] = {
        "games": len(read.game_ids),
        "games_played": read.games_played,
        "submissions": len(read.submission_ids),
        "rate": FALSE_DISCOVERY_RATE,
    }
    if len(read.game_ids):
        search = _SeasonSearch(season, read)
        findings += [*search.collusion(tested), *search.sandbagging(tested)]
        copies = copies_search.copies_among(read.bot_ids.tolist(), public, tested)
        second_opinion.keep_copies(season, copies_search.similar_bots(copies))
        findings += [*copies, *search.variants()]
    document = {"tested": tested, "findings": [each.dump() for each in findings]}
    return _store(season, document)


@transaction.atomic
def _store(season: Season, document: dict[str, Any]) -> AnomalyReport:
    report, _ = AnomalyReport.objects.update_or_create(
        season=season,
        seq=season.head,
        defaults={"report": document, "created_at": timezone.now()},
    )
    reports = AnomalyReport.objects.filter(season=season).order_by("-seq")
    old = list(reports.values_list("pk", flat=True)[KEPT_REPORTS:])
    AnomalyReport.objects.filter(pk__in=old).delete()
    return report


class _SeasonSearch:
    """The searches that look at the games of a season."""

    def __init__(self, season: Season, read: AnomalySeason) -> None:
        self._read = read
        parameters = Parameters(**season.parameters)
        self._logits = logits_per_point(parameters)
        self._fit: StrengthFit = fit_strengths(
            read.games.results,
            len(read.submission_ids),
            parameters.sigma * self._logits,
        )
        self._compared: Comparisons = comparisons(read.games, self._fit.strengths)
        bots = Bot.objects.in_bulk(read.bot_ids.tolist())
        self._bots = [bots[pk] for pk in read.bot_ids.tolist()]
        self._house: Booleans = np.array([bot.house for bot in self._bots], dtype=bool)

    def collusion(self, tested: dict[str, object]) -> Iterator[AnomalyFinding]:
        """Yield the pairs that gain together; note in `tested` what was tested."""
        report = find_collusion(
            self._read.games, self._compared, self._house, FALSE_DISCOVERY_RATE / 2
        )
        tested["pairs"] = report.tested
        tested["spread"] = report.spread
        groups = _groups(report.findings)
        for found in report.findings:
            yield self._pair(found, groups[found.first])

    def _pair(self, found: CollusionFinding, group: list[int]) -> AnomalyFinding:
        bots = (found.first, found.second)
        places = self._read.games.bot_seats()
        sitting = np.stack([places == bot for bot in bots])
        surplus = np.where(sitting, self._compared.surplus.sum(axis=2), 0).sum(axis=2)
        both = sitting.any(axis=2).all(axis=0)
        first, second = surplus[:, found.rows]
        lean = first + second if found.gain == Gain.TOGETHER else second - first
        best = found.rows[np.argsort(-lean, kind="stable")[:SHOWN_GAMES]]
        return AnomalyFinding(
            FindingKind.COLLUSION,
            found.gain,
            bots=self._bot_ids(bots),
            games=self._game_ids(best),
            chance=found.chance,
            numbers={
                "games": len(found.rows),
                "gain_first": found.gains[0],
                "gain_second": found.gains[1],
                "error": found.error,
                "duels": int((both & (self._read.games.sizes == len(bots))).sum()),
                "ahead": self._share_ahead(sitting, found.rows),
            },
            group=self._bot_ids(group) if len(group) > len(bots) else [],
        )

    def _share_ahead(self, sitting: Booleans, rows: Integers) -> float:
        """Return the share of these games in which the first bot beat the second."""
        ranks = self._read.games.results.ranks
        own = [np.where(each, ranks, 0).sum(axis=1)[rows] for each in sitting]
        return float(np.mean(np.sign(own[1] - own[0]) / 2 + 0.5))

    def sandbagging(self, tested: dict[str, object]) -> Iterator[AnomalyFinding]:
        """Yield the submissions that seem to hold back; note what was tested."""
        report = find_sandbagging(
            self._read.games,
            self._compared,
            self._fit,
            exempt=self._house,
            finals_from=self._read.finals_from,
            rate=FALSE_DISCOVERY_RATE / 2,
        )
        tested["strength_tests"] = report.tests
        for found in report.findings:
            yield self._weak_time(found)

    def _weak_time(self, found: SandbaggingFinding) -> AnomalyFinding:
        games = self._read.games
        seats = games.results.seats == found.submission
        own = np.where(seats, seat_surplus(games, self._compared).surplus, 0)
        surplus = own.sum(axis=1)
        forfeits = (games.forfeits & seats).any(axis=1)
        worst = np.lexsort((surplus[found.rows], ~forfeits[found.rows]))
        rest = np.setdiff1d(np.flatnonzero(seats.any(axis=1)), found.rows)
        numbers: dict[str, float] = {
            "games": len(found.rows),
            "games_after": len(rest),
            "before": found.before,
            "after": found.after,
            "forfeits": int(forfeits[found.rows].sum()),
            "forfeits_after": int(forfeits[rest].sum()),
        }
        if found.turn >= 0:
            numbers["turn"] = int(self._read.game_ids[found.turn])
        submissions = [found.submission, *found.others]
        return AnomalyFinding(
            FindingKind.SANDBAGGING,
            found.sign,
            bots=self._bot_ids([int(games.bots[found.submission])]),
            submissions=[int(self._read.submission_ids[k]) for k in submissions],
            games=self._game_ids(found.rows[worst[:SHOWN_GAMES]]),
            chance=found.chance,
            numbers=numbers,
        )

    def variants(self) -> Iterator[AnomalyFinding]:
        """Yield the owners with many submissions, those with the most first."""
        games = self._read.games
        seats = games.results.seats
        played = np.bincount(seats[seats >= 0], minlength=len(games.bots))
        by_owner: dict[int, list[int]] = defaultdict(list)
        for submission in np.flatnonzero(played >= MIN_GAMES).tolist():
            owner = self._bots[games.bots[submission]].owner_id
            if owner is not None:
                by_owner[owner].append(submission)
        for owner, tries in sorted(by_owner.items(), key=lambda each: -len(each[1])):
            if len(tries) >= MANY_VARIANTS:
                yield self._many(owner, tries, played)

    def _many(self, owner: int, tries: list[int], played: Integers) -> AnomalyFinding:
        values, errors = self._fit.above(tries)
        best = best_of_many(values[tries] / self._logits, errors[tries] / self._logits)
        submission = tries[best.index]
        bots = sorted({int(self._read.games.bots[each]) for each in tries})
        return AnomalyFinding(
            FindingKind.VARIANTS,
            "provisional" if played[submission] < FRESH_GAMES else "settled",
            bots=self._bot_ids(bots),
            submissions=[int(self._read.submission_ids[submission])],
            owners=[owner],
            numbers={
                "tries": len(tries),
                "games": int(played[submission]),
                "estimate": best.estimate,
                "shrunk": best.shrunk,
                "error": best.error,
            },
        )

    def _bot_ids(self, indices: list[int] | tuple[int, ...]) -> list[int]:
        return [int(self._read.bot_ids[index]) for index in indices]

    def _game_ids(self, rows: Integers) -> list[int]:
        return [int(game) for game in self._read.game_ids[rows]]


def _groups(findings: list[CollusionFinding]) -> dict[int, list[int]]:
    """Return the bots that are connected by findings with each bot, itself included."""
    group: dict[int, set[int]] = {}
    for found in findings:
        ends = (found.first, found.second)
        merged = set().union(*(group.get(bot, {bot}) for bot in ends))
        group |= dict.fromkeys(merged, merged)
    return {bot: sorted(members) for bot, members in group.items()}
