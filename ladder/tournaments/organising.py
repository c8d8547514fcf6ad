"""Organisers' actions on tournaments: create, edit, take steps, change entrants.

The REST API, the forms of the pages, `manage.py tournament` and the acts of `acts` call
these functions, so the same checks and the same audit entries apply at each entrance.
All of them but `create` return the entry of the audit log.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.db.models.functions import Now

from ladder.accounts.roles import Person, is_operator, is_organiser
from ladder.bots.models import Bot
from ladder.events.kinds import EventKind
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.tournaments import corrections, facts, services
from ladder.tournaments.description import BadTournament
from ladder.tournaments.document import TournamentDocument, bot_slug
from ladder.tournaments.models import (
    BEFORE_THE_START,
    Entrant,
    Tournament,
    TournamentStatus,
    default_limits,
)
from ladder.tournaments.services import CannotEnter, WrongTournamentStatus
from torres.common.errors import LadderError, TooMany
from torres.common.quoting import quoted
from torres.formats.config import max_entrants, read_config


class UnknownBot(LadderError, code="not-found", http_status=404):
    """There is no bot with this slug."""


MAX_UNFINISHED = 20
"""The largest number of tournaments of one organiser that are not over."""
MAX_SEED = 10_000
OVER = (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)


class Step(StrEnum):
    """A step that an organiser takes. The value is the last part of its address."""

    OPEN = "open"
    CLOSE_ENTRY = "close-entry"
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    REVEAL = "reveal"
    CANCEL = "cancel"
    ARCHIVE = "archive"


# Who may do what.


def manages(person: Person, tournament: Tournament) -> bool:
    """True if a person may change a tournament: an operator, or its organiser.

    An organiser who lost the role manages no tournament any more.
    """
    if is_operator(person):
        return True
    return (
        person.pk is not None
        and tournament.organiser_id == person.pk
        and is_organiser(person)
    )


def managed_by(person: Person) -> Q:
    """Return the condition that a person manages a tournament."""
    if is_operator(person):
        return Q()
    return Q(organiser=person.pk) if is_organiser(person) else Q(pk__in=[])


# The description.


def create(operator: Operator, document: TournamentDocument) -> Tournament:
    """Create a draft with its first entrants. Its organiser is the person who acts.

    Raises BadTournament if one of the entrants cannot play, and TooMany.
    """
    organiser = operator.by
    try:
        with transaction.atomic():
            if organiser is not None:
                _check_quota(organiser)
            _check_limits(operator, document.fields)
            tournament = Tournament.objects.create(
                organiser=organiser, **document.fields
            )
            _enter_all(tournament, document)
            _record(operator, tournament, "create")
    except IntegrityError as error:
        slug = document.fields["slug"]
        if not Tournament.objects.filter(slug=slug).exists():
            raise
        raise BadTournament(
            [f"slug: {slug!r} is taken; give another one with the key slug"]
        ) from error
    return tournament


def _check_quota(organiser: User) -> None:
    # The lock makes the quota exact if one person creates two at once.
    locked = User.objects.select_for_update().get(pk=organiser.pk)
    unfinished = Tournament.objects.filter(organiser=locked).exclude(status__in=OVER)
    if not is_operator(locked) and unfinished.count() >= MAX_UNFINISHED:
        raise TooMany(
            f"You have {MAX_UNFINISHED} tournaments that are not over, the most that"
            " one organiser may have. Finish or cancel one of them first."
        )


def _check_limits(operator: Operator, fields: Mapping[str, Any]) -> None:
    """Refuse limits that would let two bots occupy a slot of the service for hours.

    Operators, and the commands of the service, may use every value.
    """
    if operator.by is None or is_operator(operator.by):
        return
    factor = settings.TORRES_ORGANISER_LIMIT_FACTOR
    limits = fields.get("limits", {})
    mistakes = [
        f"limits: {name} is {limits[name]}; an organiser may set {factor * default} at"
        " most. Use a smaller value, or ask an operator"
        for name, default in default_limits().items()
        if limits.get(name, 0) > factor * default
    ]
    if mistakes:
        raise BadTournament(mistakes)


def _enter_all(tournament: Tournament, document: TournamentDocument) -> None:
    mistakes = []
    for seed, bot in enumerate(document.entrants, start=1):
        try:
            services.enter(tournament, bot, seed=seed, by_organiser=True)
        except CannotEnter as refusal:
            mistakes.append(f"entrants: {bot.slug}: {refusal}")
    if mistakes:
        raise BadTournament(mistakes)


def edit(
    operator: Operator, tournament: Tournament, document: TournamentDocument
) -> AuditEntry:
    """Change what a document holds. Raises WrongTournamentStatus and BadTournament."""
    changes = {
        name: value
        for name, value in document.fields.items()
        if getattr(tournament, name) != value
    }
    _check_limits(operator, changes)
    with transaction.atomic():
        services.edit(tournament, changes)
        if "config" in changes:
            _refuse_too_many(tournament)
        return _record(operator, tournament, "edit", fields=sorted(changes))


def _refuse_too_many(tournament: Tournament) -> None:
    entered = tournament.entrants.filter(withdrawn_at=None).count()
    most = max_entrants(read_config(tournament.config))
    if entered > most:
        raise BadTournament(
            [f"format: {entered} bots have entered; this format allows at most {most}"]
        )


def _record(
    operator: Operator, tournament: Tournament, step: str, **details: object
) -> AuditEntry:
    return operator.record(
        AuditEntry.Kind.TOURNAMENT,
        f"tournament {tournament.slug}",
        step=step,
        **details,
    )


# Steps.


def take(operator: Operator, tournament: Tournament, step: Step) -> AuditEntry:
    """Take a step. The row is read again; the audit log gets an entry.

    Raises WrongTournamentStatus if the status does not permit the step, and
    BadTournament if the tournament cannot be played as it is described.
    """
    with transaction.atomic():
        if step == Step.CANCEL:
            services.cancel(tournament, operator.why or services.CANCELLED)
        else:
            ACTIONS[step](tournament)
        tournament.refresh_from_db()
        return _record(operator, tournament, step)


def possible_steps(tournament: Tournament) -> list[Step]:
    """Return the steps that the present status permits, the most usual one first."""
    if tournament.status == TournamentStatus.DRAFT:
        return [Step.OPEN, Step.CANCEL]
    if tournament.status == TournamentStatus.ENTRY:
        return [Step.CLOSE_ENTRY, Step.START, Step.CANCEL]
    if tournament.status == TournamentStatus.CHECK_IN:
        return [Step.START, Step.CANCEL]
    steps = [Step.REVEAL] if _hides_rounds(tournament) else []
    if tournament.status == TournamentStatus.RUNNING:
        paused = tournament.paused_at is not None
        return [*steps, Step.RESUME if paused else Step.PAUSE, Step.CANCEL]
    if tournament.archived_at is None and not steps:
        return [Step.ARCHIVE]
    return steps


def _hides_rounds(tournament: Tournament) -> bool:
    """True if there are results that only a reveal shows."""
    if not tournament.held_back:
        return False
    last = tournament.fixtures.aggregate(last=Max("round"))["last"]
    return tournament.revealed < (last or 0)


def pause(tournament: Tournament) -> None:
    """Schedule no more matches. Matches that have begun are played to their end.

    Matches that have not begun are detached, and scheduled anew after `resume`.
    """
    with transaction.atomic():
        changed = Tournament.objects.filter(
            pk=tournament.pk, status=TournamentStatus.RUNNING, paused_at=None
        ).update(paused_at=Now())
        if not changed:
            raise WrongTournamentStatus(
                f"The tournament is {_words(tournament)}; only one that runs can be"
                " paused."
            )
        waiting = tournament.fixtures.filter(how="", match__isnull=False)
        for fixture in waiting.select_related("match"):
            corrections.detach(fixture, "the tournament is paused")
        facts.tell(tournament, EventKind.TOURNAMENT_PAUSED)


def resume(tournament: Tournament) -> None:
    """Go on after `pause`."""
    paused = Tournament.objects.filter(
        pk=tournament.pk, status=TournamentStatus.RUNNING, paused_at__isnull=False
    )
    with transaction.atomic():
        if not paused.update(paused_at=None):
            raise WrongTournamentStatus(
                f"The tournament is {_words(tournament)}; only one that is paused can"
                " be resumed."
            )
        facts.tell(tournament, EventKind.TOURNAMENT_RESUMED)


def reveal_next(tournament: Tournament) -> None:
    """Show the results of the next round, if they are held back."""
    if not tournament.held_back:
        raise WrongTournamentStatus(
            "The results of this tournament are not held back, so there is nothing to"
            " reveal."
        )
    services.reveal_next(tournament)


def archive(tournament: Tournament) -> None:
    """Leave a tournament that is over out of the lists. Its page stays."""
    tournament.refresh_from_db()
    if tournament.status in OVER and _hides_rounds(tournament):
        raise WrongTournamentStatus(
            "Some rounds are not revealed yet. Reveal all of them, then archive the"
            " tournament."
        )
    over = Tournament.objects.filter(
        pk=tournament.pk, status__in=OVER, archived_at=None
    )
    with transaction.atomic():
        if not over.update(archived_at=Now()):
            raise WrongTournamentStatus(
                f"The tournament is {_words(tournament)}; only one that is finished or"
                " cancelled can be archived, and only once."
            )
        facts.tell(tournament, EventKind.TOURNAMENT_ARCHIVED)


def _words(tournament: Tournament) -> str:
    tournament.refresh_from_db()
    if tournament.archived_at is not None:
        return "archived"
    return "paused" if tournament.paused_at is not None else tournament.status


ACTIONS: Mapping[Step, Callable[[Tournament], object]] = {
    Step.OPEN: services.announce,
    Step.CLOSE_ENTRY: services.close_entry,
    Step.START: services.start,
    Step.PAUSE: pause,
    Step.RESUME: resume,
    Step.REVEAL: reveal_next,
    Step.ARCHIVE: archive,
}


# Entrants.


def withdraw(operator: Operator, entrant: Entrant) -> AuditEntry:
    """Withdraw an entrant; its note is the reason. Raises WrongTournamentStatus."""
    with transaction.atomic():
        services.withdraw(entrant, operator.why or "withdrawn by the organiser")
        return _record(operator, entrant.tournament, "withdraw", bot=entrant.bot.slug)


def check_in(operator: Operator, entrant: Entrant) -> AuditEntry:
    """Confirm in the name of its owner that a bot will play."""
    with transaction.atomic():
        services.check_in(entrant)
        return _record(operator, entrant.tournament, "check-in", bot=entrant.bot.slug)


def assign(operator: Operator, tournament: Tournament, organiser: User) -> AuditEntry:
    """Make a user the organiser of a tournament."""
    with transaction.atomic():
        services.edit(tournament, {"organiser": organiser})
        return _record(operator, tournament, "organiser", account=organiser.pk)


def replace(operator: Operator, entrant: Entrant, bot: Bot) -> AuditEntry:
    """Let another bot take the place and the seed of an entrant, before the start.

    Raises WrongTournamentStatus and CannotEnter; then nothing has changed.
    """
    with transaction.atomic():
        tournament = Tournament.objects.select_for_update().get(
            pk=entrant.tournament_id
        )
        _refuse_after_the_start(tournament, "replaced")
        if entrant.withdrawn_at is not None:
            raise CannotEnter(
                f"{entrant.bot.slug} has left, so there is no place to take. Enter"
                f" {bot.slug} instead."
            )
        if tournament.entrants.filter(bot=bot, withdrawn_at=None).exists():
            raise CannotEnter(f"{bot.slug} has entered already. Choose another bot.")
        seed = entrant.seed
        note = f"replaced by {bot.slug}"
        Entrant.objects.filter(pk=entrant.pk).update(
            seed=None, withdrawn_at=Now(), note=note
        )
        new = services.enter(tournament, bot, by_organiser=True)
        Entrant.objects.filter(pk=new.pk).update(seed=seed)
        return _record(
            operator, tournament, "replace", bot=entrant.bot.slug, by=bot.slug
        )


def set_seeds(
    operator: Operator, tournament: Tournament, seeds: Mapping[str, int | None]
) -> AuditEntry:
    """Set the seeds of entrants by the slugs of their bots; None removes a seed.

    Entrants that are not named keep their seeds. Raises WrongTournamentStatus, and
    BadTournament for a seed that is no number from 1 or is given to two entrants.
    """
    with transaction.atomic():
        row = Tournament.objects.select_for_update().get(pk=tournament.pk)
        _refuse_after_the_start(row, "seeded")
        entrants = list(row.entrants.select_related("bot"))
        known = {entrant.bot.slug: entrant for entrant in entrants}
        mistakes = [
            f"seeds: {slug}: it is not in this tournament; enter it first"
            for slug in seeds
            if slug not in known
        ]
        after = {slug: entrant.seed for slug, entrant in known.items()} | dict(seeds)
        mistakes += _seed_mistakes(after, known)
        if mistakes:
            raise BadTournament(mistakes)
        # In two steps, because seeds are unique at every moment.
        row.entrants.update(seed=None)
        for slug, seed in after.items():
            Entrant.objects.filter(pk=known[slug].pk).update(seed=seed)
        return _record(operator, row, "seeds", bots=len(seeds))


def _seed_mistakes(
    seeds: Mapping[str, int | None], known: Mapping[str, Entrant]
) -> list[str]:
    mistakes = []
    owners: dict[int, str] = {}
    for slug, seed in seeds.items():
        if seed is None or slug not in known:
            continue
        if not 1 <= seed <= MAX_SEED:
            mistakes.append(
                f"seeds: {slug}: {seed}; it must be a whole number from 1 to {MAX_SEED}"
            )
        elif seed in owners:
            mistakes.append(
                f"seeds: {slug}: {seed} is the seed of {owners[seed]}, too; each seed"
                " belongs to one entrant"
            )
        owners.setdefault(seed, slug)
    return mistakes


def _refuse_after_the_start(tournament: Tournament, done: str) -> None:
    if tournament.status not in BEFORE_THE_START:
        raise WrongTournamentStatus(
            f"The tournament is {tournament.status}; entrants can be {done} only before"
            " the start."
        )


def bot_named(slug: str) -> Bot:
    """Return the bot with a slug, or `house:NAME`. Raises UnknownBot."""
    bot = Bot.objects.filter(slug=bot_slug(slug)).first()
    if bot is None:
        raise UnknownBot(f"There is no bot {quoted(slug)}.")
    return bot


def enter(
    operator: Operator, tournament: Tournament, bot: Bot, seed: int | None = None
) -> AuditEntry:
    """Enter any bot before the start. Raises WrongTournamentStatus and CannotEnter."""
    if seed is not None and not 1 <= seed <= MAX_SEED:
        raise BadTournament(
            [f"seed: {seed}; it must be a whole number from 1 to {MAX_SEED}"]
        )
    with transaction.atomic():
        services.enter(tournament, bot, seed=seed, by_organiser=True)
        return _record(operator, tournament, "enter", bot=bot.slug)
