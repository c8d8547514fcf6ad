"""Changes of matches and games outside an attempt: schedule, cancel, void, revive.

Services write rows and send nothing. The dispatcher's tick finds the rows that need
a hint.
"""

import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from engine.rulesets import resolve
from ladder.bots.models import Submission
from ladder.events import outbox
from ladder.games import (
    attempts,
    capabilities,
    facts,
    match_traces,
    shares,
    sql,
)
from ladder.games.match_traces import TracedTable
from ladder.games.models import (
    MAX_REASON_CHARS,
    OPEN,
    Attempt,
    Game,
    GameStatus,
    Match,
    Seat,
)
from ladder.public_log.sealing import unseal
from torres.common.errors import LadderError

SEED_BYTES = 16
ROWS_PER_STATEMENT = 500
RATED = (Match.Kind.LADDER, Match.Kind.CHALLENGE)
SAME_SUBMISSIONS = (Match.Kind.TOURNAMENT, Match.Kind.COMPARISON)
"""Matches whose submissions play on after another upload has replaced them."""
RETRY_DELAYS = (timedelta(seconds=30), timedelta(minutes=2), timedelta(minutes=10))
"""The times after the last failure before dead games are played again."""


class NotNow(LadderError, code="wrong-state", http_status=409):
    """The state of the game does not allow this action."""


@dataclass(frozen=True, slots=True)
class MatchTerms:
    """The terms of a match, which the match copies.

    A match under embargo is shown to nobody until the embargo is lifted. `ladder` is
    the slug of the ladder that rates the match, or "" if none does. `why` says why the
    matchmaker made the match. If no ladder rates it, `payer` is the id of the user
    whose share of the slots its games use.
    """

    ruleset: str
    switches: dict[str, object]
    limits: dict[str, int]
    embargo: bool = False
    ladder: str = ""
    why: dict[str, object] | None = None
    payer: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedMatch:
    """A match that is to be scheduled; `seats` are those of its first game.

    `more` are the seats of further games of the same submissions, with the same decks.
    """

    terms: MatchTerms
    seats: Sequence[Submission]
    more: Sequence[Sequence[Submission]] = ()

    def seatings(self, *, duplicate: bool) -> list[Sequence[Submission]]:
        """Return the seats of each game; `duplicate` adds the rotations of `seats`."""
        seats = self.seats
        rotations = range(1, len(seats)) if duplicate else ()
        return [seats, *([*seats[k:], *seats[:k]] for k in rotations), *self.more]


@transaction.atomic
def schedule_matches(
    kind: Match.Kind,
    planned: Sequence[PlannedMatch],
    *,
    duplicate: bool = False,
    shared_deals: bool = False,
    priority: int = 0,
    queue: str = "play",
) -> list[Match]:
    """Schedule matches and their games, with few statements for all of them.

    With `duplicate` each match has one game for each rotation of the seats, all with
    the same decks. With `shared_deals` so have all of these matches with equal rules
    and seats. An operator gave slots to games with a priority above 0, so that nobody
    pays for them. Raises BadSwitch (an EngineError) if the terms are impossible.
    """
    traces = match_traces.traces_of(
        [TracedTable(kind, plan.terms.ladder, plan.seats) for plan in planned]
    )
    matches = Match.objects.bulk_create(
        _match(kind, plan, len(plan.seatings(duplicate=duplicate)), trace)
        for plan, trace in zip(planned, traces, strict=True)
    )
    if shared_deals:
        _share_deals(matches)
    tags = _language_tags(planned)
    games = []
    submissions = []
    leaves = []
    for match, plan in zip(matches, planned, strict=True):
        needs = capabilities.needs(
            [tags[seat.pk] for seat in plan.seats],
            settings.TORRES_SANDBOX,
            len(plan.seats) * plan.terms.limits["memory_mb"],
        )
        budget = ""
        if kind not in RATED and priority <= 0:
            budget = shares.budget(
                kind, plan.terms.payer, plan.terms.limits, len(plan.seats)
            )
        seatings = plan.seatings(duplicate=duplicate)
        for index, seating in enumerate(seatings):
            game = Game(match=match, index=index, priority=priority, queue=queue)
            game.needs = needs
            game.budget = budget
            games.append(game)
            submissions.append(seating)
        if facts.is_logged(kind):
            leaves.append(facts.plan(match, plan.terms.switches, seatings))
    Game.objects.bulk_create(games)
    outbox.record_all(outbox.fact(leaf=leaf) for leaf in leaves)
    _add_seats(games, submissions)
    return matches


def _match(kind: Match.Kind, plan: PlannedMatch, games: int, traceparent: str) -> Match:
    """Return the row of a match, which is not stored yet."""
    terms = plan.terms
    # All switches are copied, so that a corrected edition changes no scheduled game.
    rules = resolve(terms.ruleset, len(plan.seats), terms.switches)
    return Match(
        kind=kind,
        ruleset=terms.ruleset,
        switches=rules.switches(),
        limits=terms.limits,
        seats=len(plan.seats),
        seed="" if _is_dealt(kind) else secrets.token_hex(SEED_BYTES),
        planned=games,
        embargo=terms.embargo,
        ladder=terms.ladder,
        why=terms.why,
        traceparent=traceparent,
    )


def _share_deals(matches: Sequence[Match]) -> None:
    """Let those of the matches share a deal that have equal rules and seats.

    They have to be planned in one transaction, so that nobody has seen a deal before
    all its matches are planned. A match with rules of its own keeps its own deal.
    """
    by_rules: dict[str, list[Match]] = {}
    for match in matches:
        rules = json.dumps([match.ruleset, match.seats, match.switches], sort_keys=True)
        by_rules.setdefault(rules, []).append(match)
    sharing = [group for group in by_rules.values() if len(group) > 1]
    for first, *others in sharing:
        for match in (first, *others):
            match.deal_of = first
            match.seed = first.seed
    rows = [match for group in sharing for match in group]
    Match.objects.bulk_update(rows, ["deal_of", "seed"], ROWS_PER_STATEMENT)


def _is_dealt(kind: Match.Kind) -> bool:
    """True if the seed of such a match follows from the public log (`dealing`)."""
    return settings.TORRES_COMMITTED_DECKS and facts.is_logged(kind)


def _language_tags(planned: Sequence[PlannedMatch]) -> dict[int, tuple[str, bool]]:
    """Return, by submission, its language and whether its bot is the house's."""
    seated = {seat.pk for plan in planned for seat in plan.seats}
    rows = Submission.objects.filter(pk__in=seated)
    return {
        pk: (language, house)
        for pk, language, house in rows.values_list("pk", "language", "bot__house")
    }


def _add_seats(
    games: Sequence[Game], submissions: Sequence[Sequence[Submission]]
) -> None:
    """Add the seats of games; each list of submissions is in the order of its seats."""
    Seat.objects.bulk_create(
        Seat(game=game, number=number, submission=seated, bot_id=seated.bot_id)
        for game, seating in zip(games, submissions, strict=True)
        for number, seated in enumerate(seating)
    )


def cancel(game: int, note: str) -> bool:
    """Cancel a scheduled game; return False if the game is not scheduled."""
    return bool(cancel_all([game], note))


@transaction.atomic
def cancel_all(games: Collection[int], note: str) -> int:
    """Cancel the games of these that are scheduled; return how many."""
    # By id, so that PostgreSQL looks at the status of a game again if a worker claims
    # it at the same moment.
    scheduled = Game.objects.filter(pk__in=games, status=GameStatus.SCHEDULED)
    locked = list(
        scheduled.select_for_update(of=("self",)).values_list("pk", flat=True)
    )
    return _end(Game.objects.filter(pk__in=locked), note)


def _end(games: QuerySet[Game], note: str) -> int:
    """Cancel these games, which the caller has locked; return how many."""
    note = note[:MAX_REASON_CHARS]
    facts.record_cancelled(games)
    return games.update(status=GameStatus.CANCELLED, note=note)


def end_games(games: Collection[int], note: str) -> int:
    """Cancel the games of these that are scheduled or running; return how many.

    The worker of a running game notices at its next heartbeat, and ends the bots.
    """
    running = Game.objects.filter(pk__in=games, status=GameStatus.RUNNING)
    with transaction.atomic():
        for game, fence in running.values_list("pk", "fence"):
            attempts.release(game, fence, note)
        return cancel_all(games, note)


def cancel_games_of(submission: int, note: str, *, end_running: bool = False) -> int:
    """Cancel the scheduled games of a submission; return how many.

    Running games go on and count, unless `end_running`. Games of tournaments and
    comparisons are not cancelled, because these use the same submissions until their
    end.
    """
    open_games = Game.objects.filter(
        status__in=OPEN, seats__submission=submission
    ).exclude(match__kind__in=SAME_SUBMISSIONS)
    end = end_games if end_running else cancel_all
    return end(list(open_games.values_list("pk", flat=True)), note)


def cancel_ladder_games(
    ladder: str, bot: int, note: str, *, end_running: bool = False
) -> int:
    """Cancel a bot's scheduled games that a ladder rates; return how many.

    ``ladder`` is a slug. Running games go on and count, unless `end_running`.
    """
    open_games = Game.objects.filter(
        status__in=OPEN, seats__bot=bot, match__ladder=ladder
    )
    end = end_games if end_running else cancel_all
    return end(list(open_games.values_list("pk", flat=True)), note)


@transaction.atomic
def lift_embargo(matches: Sequence[int]) -> None:
    """Show these matches and their games to everybody from now on."""
    Match.objects.filter(pk__in=matches).update(embargo=False)
    unseal(matches)


@transaction.atomic
def void(game: int, note: str, *, replay_again: bool = True) -> Game | None:
    """Declare a finished game invalid.

    Schedule one replacement and return it, unless `replay_again` is false. The
    replacement has the same match, seed and seats: a void must not be a way to other
    decks. Nobody can prepare for them, because a submission never changes. Raises
    NotNow.
    """
    note = note[:MAX_REASON_CHARS]
    voided = Game.objects.filter(pk=game, status=GameStatus.FINISHED).update(
        status=GameStatus.VOIDED, note=note
    )
    if not voided:
        raise NotNow(f"Game {game} is not finished, so it cannot be voided.")
    new = _replacement(game) if replay_again else None
    facts.record_voided(game, note, new.pk if new else None)
    return new


def _replacement(game: int) -> Game:
    """Schedule another game of the same match, with the same seats."""
    old = Game.objects.defer("replay").get(pk=game)
    new = Game.objects.create(
        match_id=old.match_id,
        index=old.index,
        priority=old.priority,
        queue=old.queue,
        needs=old.needs,
        budget=old.budget,
        replaces=old,
    )
    old_seats = old.seats.select_related("submission")
    _add_seats([new], [[seat.submission for seat in old_seats]])
    return new


@transaction.atomic
def abandon(game: int, note: str) -> bool:
    """Cancel a dead game for good; return False if the game is not dead."""
    dead = Game.objects.filter(pk=game, status=GameStatus.DEAD)
    locked = list(dead.select_for_update(of=("self",)).values_list("pk", flat=True))
    return bool(_end(Game.objects.filter(pk__in=locked), note))


@transaction.atomic
def revive(game: int) -> bool:
    """Schedule a dead game again with a failure count of 0, and with other decks.

    Meant for an operator who has fixed the cause. Return False if the game is not dead.
    The secret of its decks may be public by now. If another game of the match runs, it
    starts again with the new decks.
    """
    revived = Game.objects.filter(pk=game, status=GameStatus.DEAD).update(
        status=GameStatus.SCHEDULED, failures=0, note="", fence=F("fence") + 1
    )
    if revived:
        _renew_decks(game)
    return bool(revived)


def retry_dead_games(match: int | None, row: QuerySet[Any], retries: int) -> list[int]:
    """Schedule the dead games of a match again, some time after the last attempt.

    `row` is the row of the match whose column `retries` counts how often that was done.
    Return the games; none if it is too early, or if another process was first.
    """
    dead = Game.objects.filter(match=match, status=GameStatus.DEAD)
    failed = Attempt.objects.filter(game__in=dead).aggregate(at=Max("ended_at"))["at"]
    if failed is not None and timezone.now() < failed + RETRY_DELAYS[retries]:
        return []
    with transaction.atomic():
        if not row.filter(retries=retries).update(retries=retries + 1):
            return []
        return [game for game in dead.values_list("pk", flat=True) if revive(game)]


def _renew_decks(game: int) -> None:
    """Let the match of this game get other decks, if its decks are from the log."""
    match = Match.objects.get(games=game)
    if match.batch_id is None:
        return
    running = Game.objects.filter(match=match, status=GameStatus.RUNNING)
    for other, fence in running.values_list("pk", "fence"):
        attempts.release(other, fence, "the match gets other decks")
    Match.objects.filter(pk=match.pk).update(
        seed="", own_plan=Coalesce("own_plan", "plan_hash")
    )
    facts.record_renewed(game, match)


def mark_sent(games: Sequence[int], queue: str) -> None:
    """Record that hints for these games are sent to a queue now."""
    sql.execute(sql.mark_sent(games, queue))


def mark_unsent(games: Sequence[int]) -> None:
    """Record that the hints for these games could not be sent."""
    Game.objects.filter(pk__in=games, status=GameStatus.SCHEDULED).update(sent_at=None)
