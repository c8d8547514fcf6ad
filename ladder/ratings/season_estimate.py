"""Make a second opinion: read all games of a season, estimate, and store the result.

It takes seconds of processor time for 100,000 games, so it runs in a process of its own
(`manage.py run_job second_opinion`) and writes nothing before the end.
"""

import time
from array import array
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from django.db import IntegrityError, transaction

from ladder.bots.models import Submission
from ladder.ratings import ledger_reader
from ladder.ratings.ledger_reader import MatchResult
from ladder.ratings.models import Rating, Season, SecondOpinion, SecondOpinionRow
from ladder.ratings.second_opinion import thin_out
from torres.rating.plackett_luce import MAX_SEATS, Integers, SeasonResults
from torres.rating.rank_sets import rank_sets, top_probabilities
from torres.rating.shared_votes import Voter, connected, shared_vote_weights
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
ROWS_PER_STATEMENT = 500


class ReadSeason(NamedTuple):
    """The results of a season, and the id of each submission by its index."""

    results: SeasonResults
    submissions: list[int]
    played: Integers
    """The games of each submission."""


class Listed(NamedTuple):
    """A bot, and the place in the fit of the submission that plays for it."""

    bot: int
    place: int


def make_opinion(season: Season) -> SecondOpinion | None:
    """Store a second opinion on a season; None if another process was faster.

    1. Read all games that are not voided, up to the present head of the ledger.
    2. Estimate the strength of each submission that played.
    3. Do it again with weights by which the bots of one owner, and copies, share one
       vote.
    4. Rank the bots by the submission that plays for them now.
    5. Store the rows, and thin out the older opinions, in one transaction.
    """
    begin = time.process_time()
    read = read_season(ledger_reader.match_results(season.pk, season.head))
    anchors = _anchors(read)
    opinion = SecondOpinion(
        season=season,
        seq=season.head,
        games=len(read.results.blocks),
        submissions=len(read.submissions),
        anchors=sorted(anchors.values()),
    )
    rows = _rows(season, read, list(anchors)) if opinion.games else []
    opinion.seconds = time.process_time() - begin
    try:
        with transaction.atomic():
            opinion.save()
            for row in rows:
                row.opinion = opinion
            SecondOpinionRow.objects.bulk_create(rows, ROWS_PER_STATEMENT)
            thin_out(season)
    except IntegrityError:
        return None
    return opinion


def read_season(games: Iterable[MatchResult]) -> ReadSeason:
    """Return the results of all games. The games of one deal are one block."""
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


def _anchors(read: ReadSeason) -> dict[int, str]:
    """Return the first submission of each house bot, by index, with the bot's slug.

    House bots do not learn, and a new one comes as a new submission. So the zero point
    stays where it is during a season.
    """
    index_of = {pk: index for index, pk in enumerate(read.submissions)}
    rows = Submission.objects.filter(bot__house=True).order_by("pk")
    first: dict[str, int] = {}
    for slug, pk in rows.values_list("bot__slug", "pk"):
        index = index_of.get(pk)
        if index is not None and read.played[index] >= MIN_GAMES:
            first.setdefault(slug, index)
    return {index: slug for slug, index in first.items()}


def _voters(season: Season, submissions: list[int]) -> list[Voter]:
    """Return the bot and the voice of each submission.

    Bots have one voice if they have one owner, or if the latest report of copies found
    their code similar, directly or by way of others. House bots have a voice each.
    """
    rows = Submission.objects.filter(pk__in=submissions)
    bot_of = dict(rows.values_list("pk", "bot"))
    owned_rows = rows.filter(bot__house=False, bot__owner__isnull=False)
    owner_of = dict(owned_rows.values_list("bot", "bot__owner"))
    owned = [(bot, -owner) for bot, owner in owner_of.items()]
    voices = connected([*owned, *season.copies])
    return [Voter(bot_of[pk], voices.get(bot_of[pk], bot_of[pk])) for pk in submissions]


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


def _listed(season: Season, read: ReadSeason) -> dict[int, Listed]:
    """Return the bots whose submission has played enough, with its number as key."""
    index_of = {pk: index for index, pk in enumerate(read.submissions)}
    ratings = Rating.objects.filter(season=season).order_by("bot")
    found = {}
    for bot, pk in ratings.values_list("bot", "submission"):
        index = index_of.get(pk)
        if index is not None and read.played[index] >= MIN_GAMES:
            found[pk] = Listed(bot, index)
    return found


def _rows(
    season: Season, read: ReadSeason, anchors: list[int]
) -> list[SecondOpinionRow]:
    """Estimate, and return a row for each listed bot, best first."""
    parameters = Parameters(**season.parameters)
    logits = logits_per_point(parameters)
    typical_sd = parameters.sigma * logits
    voters = _voters(season, read.submissions)
    versions = _versions([voter.bot for voter in voters])
    fit = fit_strengths(read.results, len(voters), typical_sd, versions)
    values, errors = fit.above(anchors)
    weights = shared_vote_weights(read.results.seats, voters)
    weighted = values
    if (weights < 1).any():
        results = replace(read.results, weights=weights)
        again = fit_strengths(results, len(voters), typical_sd, versions)
        weighted, _ = again.above(anchors)
    listed = _listed(season, read)
    if not listed:
        return []
    indices = np.array([each.place for each in listed.values()])
    covariance = fit.covariance[np.ix_(indices, indices)]
    strengths = fit.strengths[indices]
    sets = rank_sets(strengths, covariance)
    top = top_probabilities(strengths, covariance, TOP)
    submissions = Submission.objects.filter(bot__ratings__season=season)
    numbers = dict(submissions.values_list("pk", "number"))
    order = np.argsort(-strengths, kind="stable").tolist()
    weighted_order = np.argsort(-weighted[indices], kind="stable")
    weighted_ranks = np.argsort(weighted_order, kind="stable") + 1
    bots = list(listed.items())
    return [
        SecondOpinionRow(
            bot_id=bots[k][1].bot,
            submission=numbers[bots[k][0]],
            games=int(read.played[indices[k]]),
            rank=rank,
            value=float(values[indices[k]]) / logits,
            error=float(errors[indices[k]]) / logits,
            best=int(sets.best[k]),
            worst=int(sets.worst[k]),
            top=float(top[k]),
            weighted=float(weighted[indices[k]]) / logits,
            weighted_rank=int(weighted_ranks[k]),
        )
        for rank, k in enumerate(order, start=1)
    ]
