"""Actions on a tournament: announce, enter, check in, start, reveal, cancel.

Every change of a tournament's status checks the present status in the same SQL
statement, so that two requests at once cannot both succeed. `apply_schedule` makes the
changes that have a scheduled time. Playing the tournament is the part of `advance`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from engine.errors import EngineError
from engine.rulesets import resolve
from ladder.bots.models import Bot, Submission
from ladder.common.errors import LadderError
from ladder.games import services as games
from ladder.games.models import Game
from ladder.ratings.models import Rating, Season
from ladder.tournaments.formats.config import BadConfig, read_config
from ladder.tournaments.models import Entrant, Tournament, TournamentStatus

MIN_ENTRANTS = 2
CAN_ENTER = (Bot.Status.ACTIVE, Bot.Status.BENCHED)


class WrongTournamentStatus(LadderError):
    """The action is not possible in the tournament's present status."""

    code = "wrong-state"
    http_status = 409


class CannotEnter(LadderError):
    """The bot cannot enter; the message says why."""

    code = "cannot-enter"
    http_status = 409


class NotEntered(LadderError):
    """The bot is not in this tournament."""

    code = "not-entered"
    http_status = 404


class BadTournament(LadderError):
    """The tournament cannot be played as it is described."""

    code = "bad-tournament"
    http_status = 422


def check_description(
    ruleset: str, switches: Mapping[str, Any], config: Mapping[str, Any]
) -> None:
    """Raise BadTournament if the format or the rules cannot be played."""
    try:
        resolve(ruleset, read_config(config).seats, dict(switches))
    except (BadConfig, EngineError) as error:
        raise BadTournament(str(error)) from error


# The status of a tournament.


def announce(tournament: Tournament) -> None:
    """Open entry."""
    check_description(tournament.ruleset, tournament.switches, tournament.config)
    _change_status(tournament, [TournamentStatus.DRAFT], TournamentStatus.ENTRY)


def close_entry(tournament: Tournament) -> None:
    """Close entry. Entrants can still check in."""
    _change_status(tournament, [TournamentStatus.ENTRY], TournamentStatus.CHECK_IN)


def cancel(tournament: Tournament) -> None:
    """End the tournament without a winner.

    Scheduled games are cancelled. Running games go on but count for nothing.
    """
    before = [
        TournamentStatus.DRAFT,
        TournamentStatus.ENTRY,
        TournamentStatus.CHECK_IN,
        TournamentStatus.RUNNING,
    ]
    with transaction.atomic():
        _change_status(tournament, before, TournamentStatus.CANCELLED)
        for match in tournament.fixtures.filter(how="").values_list("match", flat=True):
            if match is not None:
                cancel_scheduled_games(match, "the tournament is cancelled")


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
    check_description(tournament.ruleset, tournament.switches, tournament.config)
    present = []
    for entrant in tournament.entrants.select_related("bot").order_by("pk"):
        entrant.submission = newest_ready(entrant.bot)
        if reason := _reason_for_absence(tournament, entrant):
            Entrant.objects.filter(pk=entrant.pk).update(note=reason, seed=None)
        else:
            present.append(entrant)
    if len(present) < MIN_ENTRANTS:
        raise WrongTournamentStatus(
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
    return len(present)


def _reason_for_absence(tournament: Tournament, entrant: Entrant) -> str:
    """Return why the entrant cannot play; empty if it can."""
    if entrant.withdrawn_at is not None:
        return entrant.note or "withdrew before the start"
    if tournament.must_check_in and entrant.checked_in_at is None:
        return "did not check in"
    if entrant.bot.status not in CAN_ENTER:
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


def apply_schedule() -> None:
    """Open and close entry and start tournaments whose scheduled time has passed.

    A tournament with too few entrants at its scheduled start is cancelled.
    """
    rows = Tournament.objects.order_by("pk")
    for tournament in rows.filter(status=TournamentStatus.DRAFT, opens_at__lte=Now()):
        announce(tournament)
    closing = Q(closes_at__lte=Now()) | Q(starts_at__lte=Now())
    for tournament in rows.filter(closing, status=TournamentStatus.ENTRY):
        close_entry(tournament)
    for tournament in rows.filter(
        status=TournamentStatus.CHECK_IN, starts_at__lte=Now()
    ):
        try:
            start(tournament)
        except WrongTournamentStatus:
            cancel(tournament)


def _change_status(
    tournament: Tournament,
    before: Sequence[TournamentStatus],
    after: TournamentStatus,
    **more: Now,
) -> None:
    """Change the status, and the fields in ``more``, if it is one of ``before``."""
    changed = Tournament.objects.filter(pk=tournament.pk, status__in=before).update(
        status=after, **more
    )
    tournament.refresh_from_db()
    if not changed:
        raise WrongTournamentStatus(
            f"The tournament is {tournament.status}; only one that is"
            f" {' or '.join(before)} can become {after}."
        )


# Entrants.


def enter(tournament: Tournament, bot: Bot, *, seed: int | None = None) -> Entrant:
    """Enter a bot while entry is open. Entering twice has no further effect.

    A bot that withdrew is entered again. Raises WrongTournamentStatus and CannotEnter.
    """
    with transaction.atomic():
        tournament.refresh_from_db()
        if tournament.status != TournamentStatus.ENTRY:
            raise WrongTournamentStatus(
                f"Entry is not open: the tournament is {tournament.status}."
            )
        if bot.status not in CAN_ENTER:
            raise CannotEnter(
                f"The bot is {bot.status}; only active and benched bots can enter."
            )
        if newest_ready(bot) is None:
            raise CannotEnter(
                "The bot has no submission that is ready. Upload one, and enter the bot"
                " when it is validated."
            )
        if seed is not None and tournament.entrants.filter(seed=seed).exists():
            raise CannotEnter(f"Seed {seed} is taken. Choose another one.")
        entrant, created = Entrant.objects.get_or_create(
            tournament=tournament, bot=bot, defaults={"seed": seed}
        )
        if not created and entrant.withdrawn_at is not None:
            entrant.withdrawn_at = None
            entrant.note = ""
            entrant.save(update_fields=["withdrawn_at", "note"])
    return entrant


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
    Entrant.objects.filter(pk=entrant.pk, withdrawn_at=None).update(
        withdrawn_at=Now(), note=note[:200]
    )


# Results.


def reveal(tournament: Tournament, round_: int) -> None:
    """Show the results up to a round. Rounds that are shown already stay shown."""
    with transaction.atomic():
        Tournament.objects.filter(pk=tournament.pk, revealed__lt=round_).update(
            revealed=round_
        )
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


def cancel_scheduled_games(match: int, note: str) -> int:
    """Cancel the scheduled games of a match, but not running ones; return how many."""
    scheduled = Game.objects.filter(match=match, status=Game.Status.SCHEDULED)
    return sum(games.cancel(pk, note) for pk in scheduled.values_list("pk", flat=True))
