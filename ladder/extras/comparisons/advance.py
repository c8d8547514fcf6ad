"""Advancing comparisons: the steps of the dispatcher's tick.

A step reads the blocks and their games, so a process that is killed at any point leaves
rows from which the next step goes on. Steps are idempotent, and it is harmless if two
processes make them at the same time.

Rated games go first: games of comparisons are scheduled only while fewer games wait
than the workers can take soon, and with a lower priority. An operator may give them a
number of slots at any time (TORRES_COMPARISON_SLOTS).
"""

from functools import partial

import structlog
from django.conf import settings
from django.db import transaction

from ladder.bots.models import Bot, Submission
from ladder.extras.comparisons import selectors, services
from ladder.extras.comparisons.models import (
    ComparisonBlock,
    ComparisonStatus,
    VersionComparison,
)
from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.service.containment import Containment, Unit, UnitKind
from torres.rating.blocks import GAMES, NEW, block_score
from torres.rating.sprt import SprtDecision
from torres.rating.version_test import resumed

IDLE_GAMES_PER_SLOT = 2
"""Workers are idle if fewer games than this are open for each slot. A ladder that plays
keeps three (`dispatch`), so it leaves no room."""
IDLE_PRIORITY = -1
RESERVED_PRIORITY = 1

log = structlog.get_logger()


def tick(slots: int, units: Containment) -> int:
    """Advance every comparison; return the number of games that were scheduled.

    ``slots`` is the number of games that all workers can play at once. Each comparison
    is a unit of ``units``: an error stops this comparison only.
    """
    rows = list(selectors.running())
    for row in rows:
        units.run(unit_of(row), partial(advance, row), None)
    rows = [row for row in rows if row.status == ComparisonStatus.RUNNING]
    return _schedule(rows, slots, units) if rows else 0


def unit_of(comparison: VersionComparison) -> Unit:
    return Unit(UnitKind.COMPARISON, str(comparison.pk))


def advance(comparison: VersionComparison) -> None:
    """Take in finished games, and end the comparison if it is decided.

    1. End it if the bot or its new version may no longer play.
    2. Remove the scores of blocks of which a game was voided; it is played again.
    3. Score the blocks whose games have ended, and play dead games again.
    4. Let the test take in the scores, and end the comparison if it is sure, or if the
       limit of games is reached.
    """
    if reason := _why_ended(comparison):
        services.end(comparison, ComparisonStatus.STOPPED, reason)
        return
    _reopen(comparison)
    for block in selectors.blocks_without_score(comparison):
        if problem := _score(comparison, block):
            services.end(comparison, ComparisonStatus.STOPPED, problem)
            return
    _test(comparison)


def _why_ended(comparison: VersionComparison) -> str:
    """Return why the versions may no longer play, or "" if they may."""
    bot = comparison.bot
    if bot.status in (Bot.Status.WITHDRAWN, Bot.Status.BANNED):
        return f"The bot is {bot.status}."
    if bot.owner is None or not bot.owner.is_active:
        return "Nobody answers for the bot any more."
    if comparison.new.status != Submission.Status.READY:
        return f"Another version plays now instead of #{comparison.new.number}."
    return ""


def _reopen(comparison: VersionComparison) -> None:
    revised = selectors.revised_blocks(comparison)
    if not revised:
        return
    with transaction.atomic():
        comparison.blocks.filter(pk__in=[block.pk for block in revised]).update(
            score=None
        )
        VersionComparison.objects.filter(pk=comparison.pk).update(tested=0)
    comparison.tested = 0
    log.info("blocks of a comparison are open again", comparison=comparison.pk)


def _score(comparison: VersionComparison, block: ComparisonBlock) -> str:
    """Score a block that has no open game. Return why that can never be, or ""."""
    played = selectors.games_of_block(block)
    if played.dead:
        if block.retries >= len(games.RETRY_DELAYS):
            return f"The service failed to play a game of block {block.number + 1}."
        row = ComparisonBlock.objects.filter(pk=block.pk)
        games.retry_dead_games(block.match_id, row, block.retries)
        return ""
    if not played.complete:
        return f"A game of block {block.number + 1} was cancelled or voided."
    ranks = [played.ranks[index] for index in range(GAMES)]
    score = block_score(comparison.design(block.number), ranks, field=False)
    unscored = ComparisonBlock.objects.filter(pk=block.pk, score=None)
    unscored.update(score=score, voids=played.voids)
    return ""


def _test(comparison: VersionComparison) -> None:
    """Let the test take in new scores one by one, as if it had seen each block end."""
    scores = selectors.known_scores(comparison)
    test = resumed(comparison.sequential_test(), scores[: comparison.tested])
    for score in scores[comparison.tested :]:
        test.add(score)
        if test.decision != SprtDecision.CONTINUE:
            services.end(comparison, ComparisonStatus.DECIDED, tested=test.blocks)
            return
    if GAMES * test.blocks >= comparison.max_games:
        services.end(comparison, ComparisonStatus.UNDECIDED, tested=test.blocks)
    elif test.blocks != comparison.tested:
        running = VersionComparison.objects.filter(
            pk=comparison.pk, status=ComparisonStatus.RUNNING
        )
        running.update(tested=test.blocks)


def _schedule(rows: list[VersionComparison], slots: int, units: Containment) -> int:
    """Schedule blocks in turns, first of the comparison with the fewest open games."""
    open_of = selectors.open_games_by_comparison()
    idle = IDLE_GAMES_PER_SLOT * slots - selectors.open_games()
    reserved = min(settings.TORRES_COMPARISON_SLOTS, slots) - open_of.total()
    scheduled = 0
    while rows and scheduled < max(idle, reserved):
        row = min(rows, key=lambda row: (open_of[row.pk], row.pk))
        priority = RESERVED_PRIORITY if scheduled < reserved else IDLE_PRIORITY
        step = partial(schedule_block, row, priority)
        if units.run(unit_of(row), step, default=False):
            open_of[row.pk] += GAMES
            scheduled += GAMES
        else:
            rows.remove(row)
    return scheduled


@transaction.atomic
def schedule_block(comparison: VersionComparison, priority: int) -> bool:
    """Schedule the next block; False if all are scheduled or it has ended."""
    running = VersionComparison.objects.select_for_update().filter(
        pk=comparison.pk, status=ComparisonStatus.RUNNING
    )
    number = comparison.blocks.count()
    if GAMES * number >= comparison.max_games or not running.exists():
        return False
    first, second = (
        [comparison.new if seat == NEW else comparison.old for seat in game.seats]
        for game in comparison.design(number)
    )
    terms = MatchTerms(
        comparison.ruleset,
        comparison.switches,
        comparison.limits,
        payer=comparison.bot.owner_id,
    )
    block = PlannedMatch(terms, first, [second])
    (match,) = games.schedule_matches(Match.Kind.COMPARISON, [block], priority=priority)
    ComparisonBlock.objects.create(comparison=comparison, number=number, match=match)
    return True
