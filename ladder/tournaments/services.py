"""What people do with a tournament: enter, check in, leave, open, start, reveal.

Each checks where the tournament stands, in the same statement that changes it.
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
from ladder.tournaments.formats.config import BadConfig, read
from ladder.tournaments.formats.values import How
from ladder.tournaments.models import Entrant, Tournament, TournamentStatus

FEWEST = 2


class WrongTime(LadderError):
    """The tournament is not where this can be done."""

    code, http_status = "wrong-state", 409


class CannotEnter(LadderError):
    """The bot cannot enter, and why."""

    code, http_status = "cannot-enter", 409


class NotEntered(LadderError):
    """The bot is not in this tournament."""

    code, http_status = "not-entered", 404


class BadTournament(LadderError):
    """The tournament cannot be played as it is described."""

    code, http_status = "bad-tournament", 422


def check(ruleset: str, switches: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Refuse a description that cannot be played; one sentence why."""
    try:
        resolve(ruleset, read(config).seats, dict(switches))
    except (BadConfig, EngineError) as refusal:
        raise BadTournament(str(refusal)) from refusal


# The way of a tournament.


def announce(tournament: Tournament) -> None:
    """Open the entry."""
    check(tournament.ruleset, tournament.switches, tournament.config)
    _move(tournament, [TournamentStatus.DRAFT], TournamentStatus.ENTRY)


def close_entry(tournament: Tournament) -> None:
    """Let nobody in any more; who entered checks in."""
    _move(tournament, [TournamentStatus.ENTRY], TournamentStatus.CHECK_IN)


def cancel(tournament: Tournament) -> None:
    """End it without a winner; games that run go on and count for nothing."""
    before = [
        TournamentStatus.DRAFT,
        TournamentStatus.ENTRY,
        TournamentStatus.CHECK_IN,
        TournamentStatus.RUNNING,
    ]
    with transaction.atomic():
        _move(tournament, before, TournamentStatus.CANCELLED)
        for match in tournament.fixtures.filter(how="").values_list("match", flat=True):
            if match is not None:
                call_off(match, "the tournament is cancelled")


def finish(tournament: Tournament) -> None:
    _move(
        tournament,
        [TournamentStatus.RUNNING],
        TournamentStatus.FINISHED,
        finished_at=Now(),
    )


@transaction.atomic
def start(tournament: Tournament) -> int:
    """Pin the entrants' submissions, give out the seeds, and begin; return how many.

    Left out are those who withdrew, did not check in where they must, or have nothing
    that can play; each is told why.
    """
    _move(
        tournament,
        [TournamentStatus.ENTRY, TournamentStatus.CHECK_IN],
        TournamentStatus.RUNNING,
        started_at=Now(),
    )
    check(tournament.ruleset, tournament.switches, tournament.config)
    there = []
    for entrant in tournament.entrants.select_related("bot").order_by("pk"):
        entrant.submission = newest_ready(entrant.bot)
        if why := _why_absent(tournament, entrant):
            Entrant.objects.filter(pk=entrant.pk).update(note=why, seed=None)
        else:
            there.append(entrant)
    if len(there) < FEWEST:
        raise WrongTime(
            f"Only {len(there)} can play; a tournament needs {FEWEST}. Let more check"
            " in, or cancel it."
        )
    for seed, entrant in enumerate(_ranked(tournament, there), start=1):
        Entrant.objects.filter(pk=entrant.pk).update(
            submission=entrant.submission, seed=None, note=f"seed {seed}"
        )
        entrant.seed = seed
    for entrant in there:  # in two steps, because seeds are unique at every moment
        Entrant.objects.filter(pk=entrant.pk).update(seed=entrant.seed, note="")
    return len(there)


def _why_absent(tournament: Tournament, entrant: Entrant) -> str:
    if entrant.withdrawn_at is not None:
        return entrant.note or "withdrew before the start"
    if tournament.must_check_in and entrant.checked_in_at is None:
        return "did not check in"
    if entrant.bot.status not in (Bot.Status.ACTIVE, Bot.Status.BENCHED):
        return f"the bot is {entrant.bot.status}"
    if entrant.submission is None:
        return "had no submission that was ready at the start"
    return ""


def _ranked(tournament: Tournament, entrants: Sequence[Entrant]) -> list[Entrant]:
    """Order by seed by hand, then by rating, then by entry."""
    ratings: dict[int, float] = {}
    if tournament.seeding is not None:
        season = tournament.seeding.seasons.order_by("-number").first()
        ratings = _ratings(season) if season else {}

    def key(entrant: Entrant) -> tuple[float, float, int]:
        by_hand = float("inf") if entrant.seed is None else entrant.seed
        return by_hand, -ratings.get(entrant.bot_id, float("-inf")), entrant.pk

    return sorted(entrants, key=key)


def _ratings(season: Season) -> dict[int, float]:
    rows = Rating.objects.filter(season=season).values_list("bot", "rating")
    return dict(rows)


def newest_ready(bot: Bot) -> Submission | None:
    ready = bot.submissions.filter(status=Submission.Status.READY)
    return ready.order_by("-number").first()


def keep_time() -> None:
    """Do what is due by the clock: open and close the entry, and start."""
    due = Tournament.objects.order_by("pk")
    for tournament in due.filter(status=TournamentStatus.DRAFT, opens_at__lte=Now()):
        announce(tournament)
    late = Q(closes_at__lte=Now()) | Q(starts_at__lte=Now())
    for tournament in due.filter(late, status=TournamentStatus.ENTRY):
        close_entry(tournament)
    for tournament in due.filter(
        status=TournamentStatus.CHECK_IN, starts_at__lte=Now()
    ):
        try:
            start(tournament)
        except WrongTime:
            cancel(tournament)  # too few came


def _move(
    tournament: Tournament,
    before: Sequence[TournamentStatus],
    after: TournamentStatus,
    **more: Now,
) -> None:
    moved = Tournament.objects.filter(pk=tournament.pk, status__in=before).update(
        status=after, **more
    )
    tournament.refresh_from_db()
    if not moved:
        raise WrongTime(
            f"The tournament is {tournament.status};"
            f" {after} comes after {' or '.join(before)}."
        )


# The entrants.


def enter(tournament: Tournament, bot: Bot, *, seed: int | None = None) -> Entrant:
    """Enter a bot while the entry is open; entering twice is entering once."""
    with transaction.atomic():
        tournament.refresh_from_db()
        if tournament.status != TournamentStatus.ENTRY:
            raise WrongTime(
                f"Entry is not open: the tournament is {tournament.status}."
            )
        if bot.status not in (Bot.Status.ACTIVE, Bot.Status.BENCHED):
            raise CannotEnter(f"The bot is {bot.status}; bring it back first.")
        if newest_ready(bot) is None:
            raise CannotEnter("The bot has no submission that is ready.")
        if seed is not None and tournament.entrants.filter(seed=seed).exists():
            raise CannotEnter(f"Seed {seed} is taken.")
        entrant, created = Entrant.objects.get_or_create(
            tournament=tournament, bot=bot, defaults={"seed": seed}
        )
        if not created and entrant.withdrawn_at is not None:
            entrant.withdrawn_at, entrant.note = None, ""
            entrant.save(update_fields=["withdrawn_at", "note"])
    return entrant


def entrant_of(tournament: Tournament, bot: Bot) -> Entrant:
    entrant = tournament.entrants.filter(bot=bot).first()
    if entrant is None:
        raise NotEntered(f"{bot.slug} is not in this tournament.")
    return entrant


def check_in(entrant: Entrant) -> None:
    """Say that the bot will play."""
    status = entrant.tournament.status
    if status not in (TournamentStatus.ENTRY, TournamentStatus.CHECK_IN):
        raise WrongTime(f"Nobody checks in now: the tournament is {status}.")
    Entrant.objects.filter(pk=entrant.pk, checked_in_at=None).update(
        checked_in_at=Now()
    )


@transaction.atomic
def withdraw(entrant: Entrant, note: str = "withdrew") -> None:
    """Take an entrant out. Its open matches of two are the other's, by walkover.

    At a larger table the games that are already scheduled are played by its pinned
    submission, so that the table stays whole for the others.
    """
    if entrant.tournament.status in (
        TournamentStatus.FINISHED,
        TournamentStatus.CANCELLED,
    ):
        raise WrongTime("The tournament is over.")
    Entrant.objects.filter(pk=entrant.pk, withdrawn_at=None).update(
        withdrawn_at=Now(), note=note[:200]
    )


@transaction.atomic
def substitute(entrant: Entrant, bot: Bot) -> None:
    """Put another bot in the place of an entrant that has not played yet.

    It takes over seed and fixtures. Only before anything of the entrant was decided
    or scheduled: results belong to the bot that made them.
    """
    touched = entrant.chairs.filter(
        ~Q(fixture__how__in=["", How.BYE]) | Q(fixture__match__isnull=False)
    )
    if entrant.tournament.status == TournamentStatus.FINISHED or touched.exists():
        raise WrongTime("The entrant has met others already; it can only withdraw.")
    submission = newest_ready(bot)
    if submission is None:
        raise CannotEnter("The bot has no submission that is ready.")
    if entrant.tournament.entrants.filter(bot=bot).exists():
        raise CannotEnter("The bot is in this tournament already.")
    pinned = submission if entrant.submission_id is not None else None
    Entrant.objects.filter(pk=entrant.pk).update(
        bot=bot, submission=pinned, withdrawn_at=None, note=f"for {entrant.bot.slug}"
    )


# Results.


def reveal(tournament: Tournament, round_: int) -> None:
    """Show the results up to a round; what was shown stays shown."""
    with transaction.atomic():
        Tournament.objects.filter(pk=tournament.pk, revealed__lt=round_).update(
            revealed=round_
        )
        shown = tournament.fixtures.filter(round__lte=round_, match__isnull=False)
        games.lift_embargo(list(shown.values_list("match_id", flat=True)))
    tournament.refresh_from_db()


def reveal_next(tournament: Tournament) -> None:
    """Show the next round, once all of it is decided."""
    round_ = tournament.revealed + 1
    there = tournament.fixtures.filter(round=round_)
    if not there.exists() or there.filter(how="").exists():
        raise WrongTime(f"Round {round_} is not over yet.")
    reveal(tournament, round_)


def call_off(match: int, note: str) -> int:
    """Cancel what is still scheduled of a match; running games end by themselves."""
    waiting = Game.objects.filter(match=match, status=Game.Status.SCHEDULED)
    return sum(games.cancel(pk, note) for pk in waiting.values_list("pk", flat=True))
