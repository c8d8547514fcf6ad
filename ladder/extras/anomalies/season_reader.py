"""Read a season from its ledger into arrays. Bounded in games and submissions."""

from array import array
from collections import deque
from dataclasses import dataclass

import numpy as np

from ladder.bots.models import Submission
from ladder.ratings import ledger_reader
from ladder.ratings.ledger_reader import RatedResult
from ladder.ratings.models import Entry, Season
from torres.rating.anomalies.season_games import SeasonGames
from torres.rating.ledger import EntryKind
from torres.rating.plackett_luce import MAX_SEATS, Integers, SeasonResults

MAX_GAMES = 300_000
"""Of a season with more games the newest ones are examined."""
MAX_SUBMISSIONS = 3_000
"""If more have played, those with the fewest games are left out. The other seats of
their games stay, which by Luce's axiom does not change what is expected of these."""


@dataclass(frozen=True, slots=True)
class AnomalySeason:
    """The games of a season, and what the indices in them mean.

    `games_played` counts all games of the ledger, also those that are not examined.
    `finals_from` is the first row of the finals, None without any.
    """

    games: SeasonGames
    game_ids: Integers
    submission_ids: Integers
    bot_ids: Integers
    games_played: int
    finals_from: int | None


def read_season(season: Season) -> AnomalySeason:
    """Return the games of a season up to its present head.

    The submissions are in the order of their ids, which is that of the uploads.
    """
    results: deque[RatedResult] = deque(maxlen=MAX_GAMES)
    played = 0
    for result in ledger_reader.rated_results(season.pk, season.head):
        results.append(result)
        played += 1
    columns = _columns(results)
    finals = _finals_seq(season)
    finals_from = None if finals is None else int((columns.seqs < finals).sum())
    return _indexed(columns, played, finals_from)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The results as arrays. Submissions have their ids, and an empty seat has 0."""

    seqs: Integers
    games: Integers
    deals: Integers
    submissions: Integers
    ranks: Integers
    forfeits: Integers


def _columns(results: deque[RatedResult]) -> _Columns:
    """Turn the results into arrays, and forget each when it is read."""
    heads = array("q")
    places = [array("q") for _ in range(3)]
    while results:
        seq, game, deal, seats = results.popleft()
        heads.extend((seq, game, deal))
        for seat in seats:
            places[0].append(seat["submission"])
            places[1].append(seat["rank"])
            places[2].append(bool(seat.get("fault")))
        for values in places:
            values.extend([0] * (MAX_SEATS - len(seats)))
    seqs, games, deals = np.array(heads, dtype=np.int64).reshape(-1, 3).T
    tables = [np.array(each, dtype=np.int64).reshape(-1, MAX_SEATS) for each in places]
    return _Columns(seqs, games, deals, *tables)


def _indexed(columns: _Columns, played: int, finals_from: int | None) -> AnomalySeason:
    """Give the submissions and their bots indices from 0."""
    ids = _kept_submissions(columns.submissions)
    bot_of = dict(Submission.objects.filter(pk__in=ids).values_list("pk", "bot"))
    ids = [pk for pk in ids if pk in bot_of]
    bots = np.array([bot_of[pk] for pk in ids], dtype=np.int64)
    bot_ids, bot_index = np.unique(bots, return_inverse=True)
    submission_ids = np.array(ids, dtype=np.int64)
    places = np.searchsorted(submission_ids, columns.submissions)
    places = np.minimum(places, max(0, len(ids) - 1))
    known = np.isin(columns.submissions, submission_ids)
    seats = np.where(known, places, -1)
    rows = np.flatnonzero(known.sum(axis=1) > 1)
    results = SeasonResults(
        seats[rows], np.where(known, columns.ranks, -1)[rows], columns.deals[rows]
    )
    if finals_from is not None:
        finals_from = int((rows < finals_from).sum())
    return AnomalySeason(
        SeasonGames(results, columns.forfeits[rows].astype(bool), bot_index),
        columns.games[rows],
        submission_ids,
        bot_ids,
        played,
        finals_from,
    )


def _kept_submissions(submissions: Integers) -> list[int]:
    """Return the ids of the submissions with the most games, ascending."""
    ids, counts = np.unique(submissions[submissions > 0], return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MAX_SUBMISSIONS]
    return [int(pk) for pk in np.sort(ids[most])]


def _finals_seq(season: Season) -> int | None:
    """Return the entry with which the finals began: the last one that sets τ to 0."""
    changes = Entry.objects.filter(season=season, kind=EntryKind.PARAMETERS)
    for seq, inputs in changes.order_by("-seq").values_list("seq", "inputs"):
        if inputs["parameters"]["tau"] == 0:
            return int(seq)
    return None
