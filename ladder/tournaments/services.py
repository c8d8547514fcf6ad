"""Actions on a tournament: announce, enter, check in, start, reveal, cancel.

Every change of a tournament's status checks the present status in the same SQL
statement, so that two requests at once cannot both succeed. `apply_schedule` makes the
changes that have a scheduled time. Playing the tournament is the part of `advance`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from ladder.bots.models import Bot, Submission
from ladder.events.kinds import EventKind
from ladder.games import services as games
from ladder.games.models import OPEN, Game
from ladder.ratings.models import Rating, Season
from ladder.tournaments import facts
from ladder.tournaments.description import BadTournament, check, past_dates
from ladder.tournaments.models import (
    BEFORE_THE_START,
    MAX_NOTE_LENGTH,
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)
from torres.common.errors import Conflict, LadderError
from torres.formats.config import BadConfig, max_entrants, read_config
from torres.formats.values import FixtureResult

MIN_ENTRANTS = 2
CANCELLED = "an operator cancelled it"
EDITABLE_ALWAYS = frozenset({"name", "organiser"})


class WrongTournamentStatus(LadderError, code="wrong-state", http_status=409):
    """The action is not possible in the tournament's present status."""


class PlanConflict(Conflict):
    """Another process wrote first. The next tick reads what it wrote."""


class CannotEnter(LadderError, code="cannot-enter", http_status=409):
    """The bot cannot enter; the message says why."""


class NotEntered(LadderError, code="not-entered", http_status=404):
    """The bot is not in this tournament."""


class TooFewEntrants(WrongTournamentStatus):
    """The tournament cannot start, because too few entrants can play."""


# The description of a tournament.


def edit(tournament: Tournament, changes: Mapping[str, Any]) -> None:
    """Change fields of a tournament that has not started; the name always.

    Raises WrongTournamentStatus and BadTournament; then nothing has changed.
    """
    if not changes:
        return
    with transaction.atomic():
        rows = Tournament.objects.select_for_update().filter(pk=tournament.pk)
        row = rows.get()
        before = row.description()
        fixed = changes.keys() - EDITABLE_ALWAYS
        if fixed and row.status not in BEFORE_THE_START:
            raise WrongTournamentStatus(
                f"The tournament is {row.status}, so {', '.join(sorted(fixed))} cannot"
                " change any more."
            )
        for name, value in changes.items():
            setattr(row, name, value)
        if row.archived_at is not None and changes.keys() - {"organiser"}:
            raise WrongTournamentStatus(
                "The tournament is archived, so nothing of it can change any more."
            )
        if fixed:
            check(row.description())
            if late := past_dates(row.description(), timezone.now(), before):
                raise BadTournament(late)
        rows.update(**changes)
    tournament.refresh_from_db()


# The status of a tournament.


def announce(tournament: Tournament) -> None:
    """Open entry. Raises WrongTournamentStatus and BadTournament."""
    description = tournament.description()
    check(description)
    if late := past_dates(description, timezone.now()):
        raise BadTournament(late)
    _change_status(tournament, [TournamentStatus.DRAFT], TournamentStatus.ENTRY)


def close_entry(tournament: Tournament) -> None:
    """Close entry. Entrants can still check in."""
    _change_status(tournament, [TournamentStatus.ENTRY], TournamentStatus.CHECK_IN)


def cancel(tournament: Tournament, note: str = CANCELLED) -> None:
    """End the tournament without a winner; ``note`` says why.

    Its games end at once, so that they take no slots from others.
    """
    _cancel(tournament, [*BEFORE_THE_START, TournamentStatus.RUNNING], note)


def _cancel(
    tournament: Tournament, before: Sequence[TournamentStatus], note: str
) -> None:
    with transaction.atomic():
        _change_status(
            tournament, before, TournamentStatus.CANCELLED, note=note[:MAX_NOTE_LENGTH]
        )
        open_games = Game.objects.filter(
            match__fixture__tournament=tournament, status__in=OPEN
        )
        games.end_games(
            list(open_games.values_list("pk", flat=True)), "the tournament is cancelled"
        )


def finish(tournament: Tournament) -> None:
    _change_status(
        tournament,
        [TournamentStatus.RUNNING],
        TournamentStatus.FINISHED,
        finished_at=Now(),
    )


@transaction.atomic
def start(tournament: Tournament) -> int:
    """Start the tournament; return the number of entrants that play.

    1. Move the tournament to running, and check its description again.
    2. Pin the newest submission of each bot that is ready. An entrant that cannot play
       keeps no seed; its note says why.
    3. Number the others by seed: 1 is the best.

    Raises WrongTournamentStatus and BadTournament; then nothing has changed.
    """
    _change_status(
        tournament,
        [TournamentStatus.ENTRY, TournamentStatus.CHECK_IN],
        TournamentStatus.RUNNING,
        started_at=Now(),
    )
    check(tournament.description().without_dates())
    present = []
    for entrant in tournament.entrants.select_related("bot").order_by("pk"):
        entrant.submission = newest_ready(entrant.bot)
        if reason := _reason_for_absence(tournament, entrant):
            Entrant.objects.filter(pk=entrant.pk).update(note=reason, seed=None)
        else:
            present.append(entrant)
    if len(present) < MIN_ENTRANTS:
        raise TooFewEntrants(
            f"Only {len(present)} can play; a tournament needs {MIN_ENTRANTS}. Wait"
            " until more bots have entered and checked in, or cancel the tournament."
        )
    # In two steps, because seeds are unique at every moment.
    for entrant in present:
        Entrant.objects.filter(pk=entrant.pk).update(
            submission=entrant.submission, seed=None, note=""
        )
    for seed, entrant in enumerate(_by_seed(tournament, present), start=1):
        Entrant.objects.filter(pk=entrant.pk).update(seed=seed)
    facts.log_start(tournament)
    return len(present)


def _reason_for_absence(tournament: Tournament, entrant: Entrant) -> str:
    """Return why the entrant cannot play; empty if it can."""
    if entrant.withdrawn_at is not None:
        return entrant.note or "withdrew before the start"
    if tournament.must_check_in and entrant.checked_in_at is None:
        return "did not check in"
    if entrant.bot.status != Bot.Status.ACTIVE:
        return f"the bot is {entrant.bot.status}"
    if entrant.submission is None:
        return "had no submission that was ready at the start"
    return ""


def _by_seed(tournament: Tournament, entrants: Sequence[Entrant]) -> list[Entrant]:
    """Order entrants by manual seed, then by rating, then by time of entry."""
    ratings: dict[int, float] = {}
    if tournament.seeding is not None:
        season = tournament.seeding.seasons.order_by("-number").first()
        ratings = _ratings(season) if season else {}

    def key(entrant: Entrant) -> tuple[float, float, int]:
        seed = float("inf") if entrant.seed is None else entrant.seed
        return seed, -ratings.get(entrant.bot_id, float("-inf")), entrant.pk

    return sorted(entrants, key=key)


def _ratings(season: Season) -> dict[int, float]:
    rows = Rating.objects.filter(season=season).values_list("bot", "rating")
    return dict(rows)


def newest_ready(bot: Bot) -> Submission | None:
    ready = bot.submissions.filter(status=Submission.Status.READY)
    return ready.order_by("-number").first()


def scheduled_now() -> QuerySet[Tournament]:
    """Return the tournaments whose next step has a scheduled time that has passed."""
    opens = Q(status=TournamentStatus.DRAFT, opens_at__lte=Now())
    closes = Q(closes_at__lte=Now()) | Q(starts_at__lte=Now())
    starts = Q(status=TournamentStatus.CHECK_IN, starts_at__lte=Now())
    closes &= Q(status=TournamentStatus.ENTRY)
    return Tournament.objects.filter(opens | closes | starts).order_by("pk")


def apply_schedule(tournament: Tournament) -> None:
    """Take the next step of one of `scheduled_now`: open entry, close it, or start.

    With too few entrants at its scheduled start the tournament is cancelled. Raises
    WrongTournamentStatus if another process was first, and BadTournament.
    """
    if tournament.status == TournamentStatus.DRAFT:
        announce(tournament)
        return
    if tournament.status == TournamentStatus.ENTRY:
        close_entry(tournament)
    starts_at = tournament.starts_at
    if starts_at is None or starts_at > timezone.now():
        return
    try:
        start(tournament)
    except TooFewEntrants as error:
        # Only from this status: another process may have started it meanwhile.
        why = f"At the scheduled start: {error}"
        _cancel(tournament, [TournamentStatus.CHECK_IN], why)


def _change_status(
    tournament: Tournament,
    before: Sequence[TournamentStatus],
    after: TournamentStatus,
    **more: Now | str,
) -> None:
    """Change the status, and the fields in ``more``, if it is one of ``before``."""
    with transaction.atomic():
        rows = Tournament.objects.filter(pk=tournament.pk, status__in=before)
        changed = rows.update(status=after, **more)
        if changed:
            facts.record_status(tournament, after)
    tournament.refresh_from_db()
    if not changed:
        raise WrongTournamentStatus(
            f"The tournament is {tournament.status}; only one that is"
            f" {' or '.join(before)} can become {after}."
        )


# Entrants.


def enter(
    tournament: Tournament,
    bot: Bot,
    *,
    seed: int | None = None,
    by_organiser: bool = False,
) -> Entrant:
    """Enter a bot while entry is open. Entering twice can only change the seed.

    A bot that withdrew is entered again. Organisers enter bots at any time before the
    start, and only they set a ``seed``. Raises WrongTournamentStatus and CannotEnter.
    """
    with transaction.atomic():
        # The lock makes two requests at once count one after the other.
        row = Tournament.objects.select_for_update().get(pk=tournament.pk)
        check_entry(row, bot, seed, by_organiser=by_organiser)
        entrant, created = Entrant.objects.get_or_create(
            tournament=row, bot=bot, defaults={"seed": seed}
        )
        if not created:
            if entrant.withdrawn_at is not None:
                entrant.withdrawn_at = None
                entrant.note = ""
            if seed is not None:
                entrant.seed = seed
            entrant.save(update_fields=["withdrawn_at", "note", "seed"])
    return entrant


def check_entry(
    tournament: Tournament,
    bot: Bot,
    seed: int | None = None,
    *,
    by_organiser: bool = False,
) -> None:
    """Raise WrongTournamentStatus or CannotEnter if the bot cannot enter now."""
    open_to = BEFORE_THE_START if by_organiser else (TournamentStatus.ENTRY,)
    if tournament.status not in open_to:
        raise WrongTournamentStatus(
            f"Entry is not open: the tournament is {tournament.status}."
        )
    if bot.status != Bot.Status.ACTIVE:
        raise CannotEnter(f"The bot is {bot.status}; only active bots can enter.")
    if newest_ready(bot) is None:
        raise CannotEnter(
            "The bot has no submission that is ready. Upload one, and enter the bot"
            " when it is validated."
        )
    others = tournament.entrants.exclude(bot=bot)
    if seed is not None and others.filter(seed=seed).exists():
        raise CannotEnter(f"Seed {seed} is taken. Choose another one.")
    try:
        limit = max_entrants(read_config(tournament.config))
    except BadConfig as error:
        raise CannotEnter(
            "The organiser has to correct the tournament first; its description is"
            " wrong."
        ) from error
    if not by_organiser:
        _check_entries_of_owner(tournament, bot)
    if others.filter(withdrawn_at=None).count() >= limit:
        raise CannotEnter(
            f"The tournament is full: it has {limit} entrants, the most that this"
            " format allows. Ask the organiser for a Swiss, which allows more."
        )


def _check_entries_of_owner(tournament: Tournament, bot: Bot) -> None:
    """Raise CannotEnter if the owner has entered as many other bots as one may."""
    most = tournament.entries_per_owner
    entered = tournament.entrants.exclude(bot=bot).filter(withdrawn_at=None)
    if most is None or bot.owner_id is None:
        return
    if entered.filter(bot__owner=bot.owner_id).count() >= most:
        raise CannotEnter(
            f"You have entered {most} bots, the most that one owner may enter here."
            " Withdraw one of them first."
        )


def entrant_of(tournament: Tournament, bot: Bot) -> Entrant:
    """Return the bot's entry. Raises NotEntered."""
    entrant = tournament.entrants.filter(bot=bot).first()
    if entrant is None:
        raise NotEntered(f"{bot.slug} is not in this tournament.")
    return entrant


def check_in(entrant: Entrant) -> None:
    """Confirm that the bot will play. Raises WrongTournamentStatus."""
    status = entrant.tournament.status
    if status not in (TournamentStatus.ENTRY, TournamentStatus.CHECK_IN):
        raise WrongTournamentStatus(
            f"Check-in is not open: the tournament is {status}."
        )
    Entrant.objects.filter(pk=entrant.pk, checked_in_at=None).update(
        checked_in_at=Now()
    )


@transaction.atomic
def withdraw(entrant: Entrant, note: str = "withdrew") -> None:
    """Withdraw an entrant. The opponents in its open matches of two win by walkover.

    At a larger table the games that are already scheduled are played by the pinned
    submission, so that the table stays complete for the others. Raises
    WrongTournamentStatus if the tournament is over.
    """
    status = entrant.tournament.status
    if status in (TournamentStatus.FINISHED, TournamentStatus.CANCELLED):
        raise WrongTournamentStatus(
            f"The tournament is {status}; nobody can withdraw any more."
        )
    left = Entrant.objects.filter(pk=entrant.pk, withdrawn_at=None).update(
        withdrawn_at=Now(), note=note[:200]
    )
    if left and entrant.submission_id is not None:
        facts.log_leaver(entrant)


# Results.


def reveal(tournament: Tournament, round_: int) -> None:
    """Show the results up to a round. Rounds that are shown already stay shown."""
    with transaction.atomic():
        row = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if row.revealed < round_:
            Tournament.objects.filter(pk=tournament.pk).update(revealed=round_)
            if row.held_back:
                facts.tell(tournament, EventKind.TOURNAMENT_REVEALED, round=round_)
                decided = row.fixtures.filter(round__gt=row.revealed).exclude(how="")
                facts.log_decisions(row, decided)
        shown = tournament.fixtures.filter(round__lte=round_, match__isnull=False)
        games.lift_embargo(list(shown.values_list("match_id", flat=True)))
    tournament.refresh_from_db()


def reveal_next(tournament: Tournament) -> None:
    """Show the next round. Raises WrongTournamentStatus if it is not decided."""
    round_ = tournament.revealed + 1
    fixtures = tournament.fixtures.filter(round=round_)
    if not fixtures.exists() or fixtures.filter(how="").exists():
        raise WrongTournamentStatus(
            f"Round {round_} is not over. Reveal it when all its matches are decided."
        )
    reveal(tournament, round_)


def decide(row: Fixture, result: FixtureResult) -> None:
    """Write the result of an open fixture, and end its games.

    A walkover decides a match whose games may still be scheduled or running. Raises
    PlanConflict if the fixture is not open.
    """
    open_row = Fixture.objects.filter(pk=row.pk, how="")
    if not open_row.update(how=result.how, decided_at=Now()):
        raise PlanConflict("the fixture was decided")
    for number, points in enumerate(result.points):
        FixtureSeat.objects.filter(fixture=row, number=number).update(
            points=str(points), score=result.scores[number]
        )
    if row.match_id is not None:
        open_games = Game.objects.filter(match=row.match_id, status__in=OPEN)
        numbers = list(open_games.values_list("pk", flat=True))
        games.end_games(numbers, f"decided: {result.how}")


def cancel_scheduled_games(match: int, note: str) -> int:
    """Cancel the scheduled games of a match, but not running ones; return how many."""
    scheduled = Game.objects.filter(match=match, status=Game.Status.SCHEDULED)
    return sum(games.cancel(pk, note) for pk in scheduled.values_list("pk", flat=True))
