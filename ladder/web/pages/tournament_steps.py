"""The next steps of a tournament: times that are counted down, and open matches."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.timesince import timeuntil
from django.utils.translation import gettext as _, gettext_lazy

from ladder.tournaments import visibility
from ladder.tournaments.models import Tournament, TournamentStatus
from ladder.tournaments.visibility import RoundProgress
from torres.formats.config import Config, Format

GOING = (
    TournamentStatus.RUNNING,
    TournamentStatus.CHECK_IN,
    TournamentStatus.ENTRY,
)
CONTEST_FOLLOWS = gettext_lazy(
    "A contest begins as soon as both of its entrants are known."
)
FINAL_FOLLOWS = gettext_lazy(
    "The final begins when all matches of the groups are decided."
)


@dataclass(frozen=True, slots=True)
class ScheduledStep:
    """A step that the service takes at a time, and how long that is from now."""

    what: str
    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """The decided matches of a round or of all rounds, and what comes after them."""

    counts: RoundProgress
    title: str
    follows: str


def next_tournaments(count: int) -> list[tuple[Tournament, ScheduledStep | None]]:
    """Return some tournaments that run or can be entered, newest first.

    Each comes with its next step at a set time.
    """
    rows = visibility.tournaments().filter(status__in=GOING)[:count]
    return [(row, next(iter(scheduled_steps(row)), None)) for row in rows]


def scheduled_steps(tournament: Tournament) -> list[ScheduledStep]:
    """Return the next steps that have a time, in their order."""
    closes_at, starts_at = tournament.closes_at, tournament.starts_at
    steps: list[tuple[str, datetime | None]] = []
    if tournament.status == TournamentStatus.ENTRY:
        if closes_at is None:
            steps = [(_("Entry closes and the tournament starts"), starts_at)]
        else:
            steps = [
                (_("Entry closes"), closes_at),
                (_("The tournament starts"), starts_at),
            ]
    elif tournament.status == TournamentStatus.CHECK_IN:
        steps = [(_start_after_entry(tournament), starts_at)]
    return [
        ScheduledStep(what, at, in_words(at)) for what, at in steps if at is not None
    ]


def _start_after_entry(tournament: Tournament) -> str:
    if tournament.must_check_in:
        return _("Check-in ends and the tournament starts")
    return _("The tournament starts")


def in_words(at: datetime) -> str:
    """Return the time until a moment, for example "in 2 hours, 5 minutes"."""
    now = timezone.now()
    if at <= now:
        return _("now")
    if (at - now).total_seconds() < 60:
        return _("in less than a minute")
    return _("in %(time)s") % {"time": timeuntil(at, now)}


def waits_for_organiser(tournament: Tournament) -> str:
    """Return which step the organiser takes at no set time; empty if none."""
    if tournament.status == TournamentStatus.ENTRY:
        if tournament.closes_at is None and tournament.starts_at is None:
            return _("The organiser closes entry; no time is set.")
        if tournament.starts_at is None:
            return _("The organiser starts the tournament after entry; no time is set.")
    if tournament.status == TournamentStatus.CHECK_IN and tournament.starts_at is None:
        return _("The organiser starts the tournament; no time is set.")
    return ""


def progress_line(
    tournament: Tournament,
    config: Config,
    sizes: Mapping[int, int],
    entrants: int,
    *,
    in_final: bool,
) -> ProgressLine | None:
    """Return how far a running tournament is, unless its results are held back.

    `entrants` counts those that play. `in_final` if there is a bracket. A round robin
    plays all rounds at the same time, so all its matches are counted.
    """
    by_round = config.format != Format.ROUND_ROBIN
    counts = visibility.progress(tournament, sizes, by_round=by_round)
    if counts is None or not counts.total:
        return None
    if not by_round:
        return ProgressLine(counts, _("All rounds"), _("They are played in any order."))
    title = _("Round %(round)s") % {"round": counts.round}
    if config.format == Format.SWISS:
        last = config.swiss_rounds(entrants)
        title = _("Round %(round)s of %(last)s") % {"round": counts.round, "last": last}
        return ProgressLine(counts, title, _after(counts.round, last))
    follows = CONTEST_FOLLOWS if in_final else FINAL_FOLLOWS
    return ProgressLine(counts, title, str(follows))


def _after(round_: int, last: int) -> str:
    if round_ >= last:
        return _("It is the last round.")
    return _("Round %(round)s is paired when all of them are decided.") % {
        "round": round_ + 1
    }
