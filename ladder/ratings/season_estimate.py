"""Make a second opinion: read all games of a season, estimate, and store the result.

It takes seconds of processor time for 100,000 games, so it runs in a process of its own
(`manage.py run_job second_opinion`) and writes nothing before the end.
"""

import json
import time
from dataclasses import asdict

import numpy as np
from django.db import IntegrityError, transaction

from ladder.bots.models import Submission
from ladder.ratings import ledger_reader, second_opinion
from ladder.ratings.models import Rating, Season, SecondOpinion, SecondOpinionRow
from ladder.ratings.second_opinion import thin_out
from torres.rating.season_fit import (
    FittedBot,
    ReadSeason,
    anchors,
    fit_season,
    read_season,
    weighted_equally,
)
from torres.rating.shared_votes import Voter, connected
from torres.rating.trueskill import Parameters

ROWS_PER_STATEMENT = 500


def make_opinion(season: Season) -> SecondOpinion | None:
    """Store a second opinion on a season; None if another process was faster.

    1. Read all ratings, and all games that are not voided, up to their head.
    2. Fit the strengths; the bots of one owner, and copies, share one voice.
    3. Store the rows, and thin out the older opinions, in one transaction.
    """
    begin = time.process_time()
    head, _, state = ledger_reader.snapshot(season.pk)
    read = read_season(ledger_reader.match_results(season.pk, head))
    playing = {bot: each.submission for bot, each in state.bots.items()}
    opinion = SecondOpinion(season=season, seq=head)
    return _estimate(opinion, read, playing, season.copies, begin)


def make_combined_opinion() -> SecondOpinion | None:
    """Store the strengths over the present seasons of all ladders.

    All editions have the same weight, however many games were played with them. Bots
    are listed that have played on two ladders or more.
    """
    begin = time.process_time()
    seasons = second_opinion.present_seasons()
    edition_of: dict[int, int] = {}
    ladders_of: dict[int, set[int]] = {}
    playing: dict[int, int] = {}
    editions: dict[str, int] = {}
    games = []
    for season in seasons:
        rules = json.dumps(
            [season.ladder.ruleset, season.ladder.switches], sort_keys=True
        )
        edition = editions.setdefault(rules, len(editions))
        for game in ledger_reader.match_results(season.pk, season.head):
            games.append(game)
            edition_of[game.deal] = edition
            for submission, _ in game.seats:
                ladders_of.setdefault(submission, set()).add(season.ladder_id)
        rated = Rating.objects.filter(season=season)
        for bot, submission in rated.values_list("bot", "submission"):
            playing[bot] = max(submission, playing.get(bot, 0))
    read = read_season(sorted(games))
    groups = [edition_of[deal] for deal in read.results.blocks.tolist()]
    if groups:
        results = weighted_equally(read.results, np.array(groups))
        read = read._replace(results=results)
    several = {
        bot: submission
        for bot, submission in playing.items()
        if len(ladders_of.get(submission, ())) > 1
    }
    copies = [pair for season in seasons for pair in season.copies]
    opinion = SecondOpinion(season=None, seq=sum(season.head for season in seasons))
    return _estimate(opinion, read, several, copies, begin)


def _estimate(
    opinion: SecondOpinion,
    read: ReadSeason,
    playing: dict[int, int],
    copies: list[list[int]],
    begin: float,
) -> SecondOpinion | None:
    """Fit the strengths, and store them; None if another process was faster.

    `playing` has the submission of each bot that may be listed, and `begin` is the
    processor time at which the work began.
    """
    house = Submission.objects.filter(bot__house=True).order_by("pk")
    zero = anchors(read, house.values_list("bot__slug", "pk"))
    fitted: list[FittedBot] = []
    if len(read.results.blocks):
        parameters = Parameters()
        if opinion.season is not None:
            parameters = Parameters(**opinion.season.parameters)
        voters = _voters(read.submissions, copies)
        fitted = fit_season(read, parameters, voters, list(zero), playing)
    opinion.games = len(read.results.blocks)
    opinion.submissions = len(read.submissions)
    opinion.anchors = sorted(zero.values())
    opinion.seconds = time.process_time() - begin
    try:
        with transaction.atomic():
            opinion.save()
            SecondOpinionRow.objects.bulk_create(
                _rows(opinion, fitted), ROWS_PER_STATEMENT
            )
            thin_out(opinion.season)
    except IntegrityError:
        return None
    return opinion


def _rows(opinion: SecondOpinion, fitted: list[FittedBot]) -> list[SecondOpinionRow]:
    """Return the rows of an opinion. They have the numbers of uploads, not the ids."""
    uploads = Submission.objects.filter(pk__in=[each.submission for each in fitted])
    numbers = dict(uploads.values_list("pk", "number"))
    rows = []
    for each in fitted:
        columns = asdict(each)
        bot, submission = columns.pop("bot"), columns.pop("submission")
        rows.append(
            SecondOpinionRow(
                opinion=opinion, bot_id=bot, submission=numbers[submission], **columns
            )
        )
    return rows


def _voters(submissions: list[int], copies: list[list[int]]) -> list[Voter]:
    """Return the bot and the voice of each submission.

    Bots have one voice if they have one owner, or if the latest report of copies found
    their code similar (`copies`), directly or by way of others. House bots have a voice
    each.
    """
    rows = Submission.objects.filter(pk__in=submissions)
    bot_of = dict(rows.values_list("pk", "bot"))
    owned_rows = rows.filter(bot__house=False, bot__owner__isnull=False)
    owner_of = dict(owned_rows.values_list("bot", "bot__owner"))
    owned = [(bot, -owner) for bot, owner in owner_of.items()]
    voices = connected([*owned, *copies])
    return [Voter(bot_of[pk], voices.get(bot_of[pk], bot_of[pk])) for pk in submissions]
