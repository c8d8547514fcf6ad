"""Rows that a person has written with SQL, behind all checks."""

from collections.abc import Iterator
from datetime import timedelta

from django.utils import timezone

from ladder.bots.models import Bot, Submission
from ladder.service.containment import Unit, UnitKind
from ladder.tournaments import services
from ladder.tournaments.description import DATES
from ladder.tournaments.models import (
    Entrant,
    Fixture,
    FixtureSeat,
    Tournament,
    TournamentStatus,
)
from tests.games.factories import bot
from tests.tournaments.factories import tournament
from tests.tournaments.wrong_inputs import WRONG, WrongInput


def plant_descriptions() -> Iterator[tuple[Unit, WrongInput]]:
    """Plant each input twice: in a draft that should open now, and in one that runs.

    Yield the units that the dispatcher has to stop.
    """
    now = timezone.now()
    for number, wrong in enumerate(WRONG):
        columns = wrong.row()
        if columns is None:
            continue
        dates = {"opens_at": now - timedelta(minutes=1)} | {
            name: columns.pop(name) for name in DATES if name in columns
        }
        draft = Tournament.objects.create(slug=f"draft-{number}", name="Draft")
        Tournament.objects.filter(pk=draft.pk).update(**columns | dates)
        if len(dates) == 1:
            yield Unit(UnitKind.TOURNAMENT, draft.slug), wrong
            runs = running(f"runs-{number}")
            Tournament.objects.filter(pk=runs.pk).update(**columns)
            yield Unit(UnitKind.TOURNAMENT, runs.slug), wrong


def running(slug: str) -> Tournament:
    """Start a tournament of two bots, without fixtures."""
    row = tournament({"format": "swiss"}, slug=slug)
    for number in range(2):
        services.enter(row, bot(f"{slug}-{number}"))
    services.start(row)
    return row


# Rows whose parts do not fit together.


def leave_no_entrant(row: Tournament) -> None:
    FixtureSeat.objects.filter(fixture__tournament=row).delete()
    row.entrants.all().delete()


def leave_one_entrant(row: Tournament) -> None:
    FixtureSeat.objects.filter(fixture__tournament=row).delete()
    row.entrants.all()[1].delete()


def unpin_submissions(row: Tournament) -> None:
    row.entrants.update(submission=None)


def reject_submissions(row: Tournament) -> None:
    keys = row.entrants.values("submission")
    Submission.objects.filter(pk__in=keys).update(status=Submission.Status.REJECTED)


def ban_a_bot(row: Tournament) -> None:
    first = row.entrants.all()[0].bot_id
    Bot.objects.filter(pk=first).update(status=Bot.Status.BANNED)


def withdraw_all_bots(row: Tournament) -> None:
    Bot.objects.filter(entries_to_tournaments__tournament=row).update(
        status=Bot.Status.WITHDRAWN, owner=None
    )


def remove_seeds(row: Tournament) -> None:
    row.entrants.update(seed=None)


def give_huge_seeds(row: Tournament) -> None:
    for number, entrant in enumerate(row.entrants.all()):
        Entrant.objects.filter(pk=entrant.pk).update(seed=2**31 - 1 - number)


def give_final_seeds(row: Tournament) -> None:
    row.entrants.update(final_seed=7)


def plant_a_round_far_ahead(row: Tournament) -> None:
    Fixture.objects.create(tournament=row, round=10**6, pool=0, table=0, leg=0)


def plant_a_strange_pool(row: Tournament) -> None:
    Fixture.objects.create(tournament=row, round=1, pool=99, table=99, leg=99)


def reveal_too_many_rounds(row: Tournament) -> None:
    Tournament.objects.filter(pk=row.pk).update(held_back=True, revealed=10**6)


def pause_in_the_future(row: Tournament) -> None:
    later = timezone.now() + timedelta(days=10_000)
    Tournament.objects.filter(pk=row.pk).update(paused_at=later, archived_at=later)


def go_back_to_draft(row: Tournament) -> None:
    Tournament.objects.filter(pk=row.pk).update(
        status=TournamentStatus.DRAFT, opens_at=timezone.now()
    )


def start_in_the_past_with_nobody(row: Tournament) -> None:
    leave_no_entrant(row)
    Tournament.objects.filter(pk=row.pk).update(
        status=TournamentStatus.ENTRY, starts_at=timezone.now() - timedelta(days=1)
    )


STRANGE = (
    leave_no_entrant,
    leave_one_entrant,
    unpin_submissions,
    reject_submissions,
    ban_a_bot,
    withdraw_all_bots,
    remove_seeds,
    give_huge_seeds,
    give_final_seeds,
    plant_a_round_far_ahead,
    plant_a_strange_pool,
    reveal_too_many_rounds,
    pause_in_the_future,
    go_back_to_draft,
    start_in_the_past_with_nobody,
)


def plant_everything() -> None:
    """Plant every description and every strange row."""
    for _ in plant_descriptions():
        pass
    for change in STRANGE:
        change(running(change.__name__.replace("_", "-")))
