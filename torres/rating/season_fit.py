"""Fit the strengths of a season: from its games to a row for each listed bot.

Numbers only, no database: the service makes its second opinions with it, and an audit
makes them again from the public log. If a change gives other numbers for the same
games, a migration has to delete the newest second opinion of each season, so that the
service makes it anew.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from torres.rating.plackett_luce import MAX_SEATS, Floats, Integers, SeasonResults
from torres.rating.rank_sets import rank_sets, top_probabilities
from torres.rating.shared_votes import Voter, shared_vote_weights
from torres.rating.strengths import fit_strengths, logits_per_point
from torres.rating.trueskill import Parameters

MAX_SUBMISSIONS = 3_000
"""The fit needs some matrices with a row and a column for each submission.

If more have played, those whose last game is longest ago are left out, and the other
seats of their games stay. By Luce's axiom that does not change the odds of the others.
"""
MIN_GAMES = 10
"""A bot is listed when its present submission has played this many games."""
TOP = 3

Name = TypeVar("Name", str, int)


class ReadSeason(NamedTuple):
    """The results of a season, and the id of each submission by its index."""

    results: SeasonResults
    submissions: list[int]
    played: Integers
    """The games of each submission."""

    def enough(self) -> dict[int, int]:
        """Return the indices of the submissions with `MIN_GAMES`, by their ids."""
        return {
            submission: index
            for index, submission in enumerate(self.submissions)
            if self.played[index] >= MIN_GAMES
        }


@dataclass(frozen=True, slots=True)
class FittedBot:
    """The strength of a bot with the submission that plays for it.

    `value` and `weighted` are points above the anchors, `error` the standard error.
    `best` and `worst` are the ranks that the games do not exclude, `top` is the
    probability of being one of the best three, and `duel` that of winning a duel with a
    random one of the other listed bots.
    """

    bot: int
    submission: int
    games: int
    rank: int
    value: float
    error: float
    best: int
    worst: int
    top: float
    duel: float
    weighted: float
    weighted_rank: int


def read_season(games: Iterable[tuple[int, int, list[tuple[int, int]]]]) -> ReadSeason:
    """Return the results of all games: (game, deal, (submission, rank) by seat).

    The games of one deal are one block.
    """
    numbers: dict[int, int] = {}
    seats = array("q")
    ranks = array("q")
    blocks = array("q")
    for _, deal, places in games:
        blocks.append(deal)
        empty = [-1] * (MAX_SEATS - len(places))
        for submission, _ in places:
            seats.append(numbers.setdefault(submission, len(numbers)))
        ranks.extend(rank for _, rank in places)
        seats.extend(empty)
        ranks.extend(empty)
    everything = SeasonResults(
        np.array(seats, dtype=np.int64).reshape(-1, MAX_SEATS),
        np.array(ranks, dtype=np.int64).reshape(-1, MAX_SEATS),
        np.array(blocks, dtype=np.int64),
    )
    results, kept = _latest_submissions(everything, len(numbers))
    ids = list(numbers)
    played = np.bincount(results.seats[results.seats >= 0], minlength=len(kept))
    return ReadSeason(results, [ids[k] for k in kept.tolist()], played)


def _latest_submissions(
    results: SeasonResults, submissions: int
) -> tuple[SeasonResults, Integers]:
    """Leave out submissions above MAX_SUBMISSIONS; return the indices of the others."""
    if submissions <= MAX_SUBMISSIONS:
        return results, np.arange(submissions)
    last_game = np.zeros(submissions, dtype=np.int64)
    rows, columns = np.nonzero(results.seats >= 0)
    np.maximum.at(last_game, results.seats[rows, columns], rows)
    kept = np.sort(np.argsort(-last_game, kind="stable")[:MAX_SUBMISSIONS])
    new_index = np.full(submissions + 1, -1)  # the last one stands for an empty seat
    new_index[kept] = np.arange(len(kept))
    seats = new_index[results.seats]
    enough = (seats >= 0).sum(axis=1) > 1
    shorter = SeasonResults(
        seats[enough], results.ranks[enough], results.blocks[enough]
    )
    return shorter, kept


def anchors(read: ReadSeason, house: Iterable[tuple[Name, int]]) -> dict[int, Name]:
    """Return the first submission of each house bot, by index, with the bot's name.

    `house` has the bots with their submissions, the oldest first. House bots do not
    learn, and a new one comes as a new submission. So the zero point stays where it is
    during a season.
    """
    enough = read.enough()
    first: dict[Name, int] = {}
    for name, submission in house:
        if submission in enough:
            first.setdefault(name, enough[submission])
    return {index: name for name, index in first.items()}


def weighted_equally(results: SeasonResults, groups: Integers) -> SeasonResults:
    """Return the results with weights by which all groups of games count alike.

    `groups` has the number of the group of each game. The mean weight is 1.
    """
    sizes = np.bincount(groups)
    share = len(groups) / np.count_nonzero(sizes)
    return replace(results, weights=share / sizes[groups])


def _duel_chances(strengths: Floats) -> Floats:
    """Return each bot's chance to win a duel with a random one of the others.

    With two seats the model of the fit is that of Bradley and Terry. A bot without
    others has a chance of 0.5.
    """
    wins = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    chances: Floats = (wins.sum(axis=1) - 0.5) / max(len(strengths) - 1, 1)
    return chances if len(strengths) > 1 else np.full(len(strengths), 0.5)


def _versions(bots: list[int]) -> list[tuple[int, int]]:
    """Return the pairs of submissions that follow each other as versions of one bot.

    `bots` has the bot of each submission, in the order in which they began to play.
    """
    latest: dict[int, int] = {}
    pairs = []
    for index, bot in enumerate(bots):
        if bot in latest:
            pairs.append((latest[bot], index))
        latest[bot] = index
    return pairs


def fit_season(
    read: ReadSeason,
    parameters: Parameters,
    voters: Sequence[Voter],
    zero: Sequence[int],
    playing: Mapping[int, int],
) -> list[FittedBot]:
    """Estimate, and return a row for each listed bot, best first.

    `voters` has the bot and the voice of each submission, `zero` the indices of the
    anchors, and `playing` the submission of each bot.

    1. Estimate the strength of each submission that played.
    2. Do it again with weights by which the bots of one voice share one vote.
    3. Rank the bots by the submission that plays for them now.
    """
    logits = logits_per_point(parameters)
    typical_sd = parameters.sigma * logits
    versions = _versions([voter.bot for voter in voters])
    fit = fit_strengths(read.results, len(voters), typical_sd, versions)
    values, errors = fit.above(zero)
    shared = shared_vote_weights(read.results.seats, voters)
    weighted = values
    if (shared < 1).any():
        own = 1.0 if read.results.weights is None else read.results.weights
        results = replace(read.results, weights=own * shared)
        again = fit_strengths(results, len(voters), typical_sd, versions)
        weighted, _ = again.above(zero)
    enough = read.enough()
    listed = [(bot, pk) for bot, pk in sorted(playing.items()) if pk in enough]
    if not listed:
        return []
    indices = np.array([enough[pk] for _, pk in listed])
    covariance = fit.covariance[np.ix_(indices, indices)]
    strengths = fit.strengths[indices]
    sets = rank_sets(strengths, covariance)
    top = top_probabilities(strengths, covariance, TOP)
    duels = _duel_chances(strengths)
    order = np.argsort(-strengths, kind="stable").tolist()
    weighted_order = np.argsort(-weighted[indices], kind="stable")
    weighted_ranks = np.argsort(weighted_order, kind="stable") + 1
    return [
        FittedBot(
            bot=listed[k][0],
            submission=listed[k][1],
            games=int(read.played[indices[k]]),
            rank=rank,
            value=float(values[indices[k]]) / logits,
            error=float(errors[indices[k]]) / logits,
            best=int(sets.best[k]),
            worst=int(sets.worst[k]),
            top=float(top[k]),
            duel=float(duels[k]),
            weighted=float(weighted[indices[k]]) / logits,
            weighted_rank=int(weighted_ranks[k]),
        )
        for rank, k in enumerate(order, start=1)
    ]
