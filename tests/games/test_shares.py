"""No kind of game and no user takes all slots of the workers."""

import time

import pytest
from django.core.management import call_command

from ladder.bots import submissions
from ladder.bots.models import Submission
from ladder.dispatch.dispatcher import Dispatcher
from ladder.dispatch.hints import HintPlanner
from ladder.games import attempts, capabilities, selectors, services
from ladder.games.capabilities import WorkerGroup, WorkerPool
from ladder.games.models import Game, Match, Worker
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.games.shares import Shares
from ladder.games.sql import OpenGames
from ladder.games.worker.direct_claims import DirectClaims
from ladder.games.worker.play import RunningGames
from tests.games import factories
from tests.games.test_attempts import RESULT

SLEEPY = factories.LIMITS | {"move_ms": 10_000, "bank_ms": 100_000}
HOST_MB = 8192


def worker(
    slots: int, memory_mb: int | None = None, upload_slots: int = 1, name: str = "1"
) -> Worker:
    return Worker.objects.create(
        name=f"host:/data#{name}",
        host="host",
        languages=["python"],
        sandbox="full",
        versions={"rules": "1"},
        slots=slots,
        upload_slots=upload_slots,
        memory_mb=memory_mb,
    )


def schedule(
    kind: Match.Kind,
    count: int,
    payer: str | None = None,
    limits: dict[str, int] = factories.LIMITS,
    priority: int = 0,
) -> list[int]:
    """Schedule matches of two bots, with one game each; return the games."""
    seats = [factories.newest(factories.bot(f"{payer}-{kind}-{k}")) for k in range(2)]
    user = factories.person(payer).pk if payer else None
    plan = PlannedMatch(MatchTerms("yucata", {}, limits, payer=user), seats)
    matches = services.schedule_matches(kind, [plan] * count, priority=priority)
    games = Game.objects.filter(match__in=matches).order_by("pk")
    return list(games.values_list("pk", flat=True))


def hint() -> list[int]:
    """Send hints, and return the games that they name."""
    planner = HintPlanner(selectors.worker_pool(), selectors.open_games())
    planner.fill()
    games = [planned.game for planned in planner.hints]
    services.mark_sent(games, "play")
    return games


@pytest.mark.django_db
def test_sleeping_bots_of_a_tournament_leave_the_ladder_its_share(capsys) -> None:
    """Two bots that slept took both slots, and no ladder game ended any more."""
    me = worker(slots=2)
    sleeping = schedule(Match.Kind.TOURNAMENT, 6, "op", SLEEPY)
    ladder = schedule(Match.Kind.LADDER, 6)
    running = []
    waiting = []

    for _ in range(30):
        waiting += hint()
        while waiting and len(running) < 2:
            game = waiting.pop(0)
            running.append(attempts.claim(game, me.pk))
        for claim in [claim for claim in running if claim.game in ladder]:
            attempts.finish(claim, RESULT)
            running.remove(claim)

    call_command("status", "--totals")
    assert "shares: long tournament games of op hold 1 of 2" in capsys.readouterr().out
    assert Game.objects.filter(pk__in=ladder, status="finished").count() == 6
    assert [claim.game for claim in running] == sleeping[:1]
    assert waiting == []  # long games borrow no slot of an idle ladder


@pytest.mark.django_db
def test_an_idle_ladder_lends_its_slots_to_short_games() -> None:
    worker(slots=2)
    games = schedule(Match.Kind.TOURNAMENT, 6, "op")

    assert hint() == games[:4]  # two for each slot


@pytest.mark.django_db
def test_a_user_with_many_games_leaves_other_users_their_share() -> None:
    worker(slots=8)
    many = schedule(Match.Kind.TOURNAMENT, 20, "ana")
    few = schedule(Match.Kind.TOURNAMENT, 1, "ben")
    schedule(Match.Kind.LADDER, 20)

    hints = hint()

    assert len(set(hints) & set(many)) == 3
    assert few[0] in hints


@pytest.mark.django_db
def test_slots_that_an_operator_gave_to_comparisons_are_theirs() -> None:
    worker(slots=2)
    schedule(Match.Kind.LADDER, 6)
    schedule(Match.Kind.TOURNAMENT, 6, "op")
    given = schedule(Match.Kind.COMPARISON, 2, "ana", priority=1)

    assert hint()[:2] == given


@pytest.mark.django_db
@pytest.mark.parametrize("slots", range(1, 9))
def test_every_budget_gets_a_slot_sooner_or_later(slots: int) -> None:
    pool = WorkerPool([WorkerGroup(None, slots)])
    ladder = OpenGames("", "", running=False, queue="", games=99)
    for budget in ("tournament 1", "tournament 2 long", "comparison 3"):
        crowd = [OpenGames(f"tournament {k}", "", False, "", 99) for k in range(9)]
        assert Shares(pool, [ladder, *crowd]).take(budget)


@pytest.mark.django_db
@pytest.mark.parametrize(("tournament_games", "room"), [(0, 2), (8, 1)])
def test_a_flood_of_uploads_leaves_games_their_slots(
    tournament_games: int, room: int
) -> None:
    """Uploads of many accounts took all slots, and no game was played meanwhile."""
    worker(slots=4)
    schedule(Match.Kind.TOURNAMENT, tournament_games, "op")
    schedule(Match.Kind.LADDER, 8)
    flood = [factories.newest(factories.bot(f"upload-{k}")).pk for k in range(30)]
    Submission.objects.filter(pk__in=flood).update(status=Submission.Status.UPLOADED)
    dispatcher = Dispatcher()

    def hints() -> int:
        return dispatcher._send_build_hints(selectors.worker_pool(), time.monotonic())

    assert (hints(), hints()) == (room, 0)
    claimed = [submissions.claim(pk) for pk in flood[:room]]
    assert hints() == 0
    planner = HintPlanner(
        selectors.worker_pool(), selectors.open_games(), dispatcher._uploads
    )
    planner.fill()
    of_budgets = Game.objects.filter(pk__in=[hint.game for hint in planner.hints])
    assert of_budgets.exclude(budget="").count() == (1 if tournament_games else 0)
    submissions.reject(claimed[0], {"summary": "no"}, "")
    assert (hints(), hints()) == (1, 0)


@pytest.mark.django_db
def test_uploads_that_builders_validate_take_no_slot_from_games() -> None:
    worker(slots=2, upload_slots=0)
    worker(slots=0, upload_slots=3, name="2")
    schedule(Match.Kind.LADDER, 4)
    pool = selectors.worker_pool()

    assert Shares(pool, selectors.open_games(), uploads=1).for_uploads() == 2
    assert Shares(pool, selectors.open_games(), uploads=9).take("tournament 1")


@pytest.mark.django_db
def test_mixed_workers_help_builders() -> None:
    worker(slots=4)
    worker(slots=0, upload_slots=1, name="2")
    schedule(Match.Kind.LADDER, 4)
    pool = selectors.worker_pool()

    assert Shares(pool, selectors.open_games(), uploads=1).for_uploads() == 2
    assert not Shares(pool, selectors.open_games(), uploads=3).take("tournament 1")


@pytest.mark.django_db
def test_without_open_games_all_slots_validate_uploads() -> None:
    worker(slots=4)
    flood = [factories.newest(factories.bot(f"upload-{k}")).pk for k in range(6)]
    Submission.objects.filter(pk__in=flood).update(status=Submission.Status.UPLOADED)

    assert Dispatcher()._send_build_hints(selectors.worker_pool(), 0.0) == 4


@pytest.mark.django_db
def test_without_the_broker_the_shares_hold_too() -> None:
    worker(slots=2)
    sleeping = schedule(Match.Kind.TOURNAMENT, 6, "op", SLEEPY)
    ladder = schedule(Match.Kind.LADDER, 6)
    claims = DirectClaims(None, 2, RunningGames())  # type: ignore[arg-type]

    due = [row.game for row in claims._due(2)]

    assert due == [sleeping[0], ladder[0]]


@pytest.mark.django_db
def test_a_replacement_uses_the_share_of_the_voided_game() -> None:
    (game,) = schedule(Match.Kind.TOURNAMENT, 1, "op", SLEEPY)
    attempts.finish(attempts.claim(game, worker(slots=2).pk), RESULT)

    new = services.void(game, "our fault")

    assert new.budget == f"tournament {factories.person('op').pk} long"


@pytest.mark.django_db
def test_games_wait_for_a_worker_with_enough_memory(capsys) -> None:
    """An organiser may raise the memory of a bot; a worker must not run out of it."""
    small = worker(slots=4, memory_mb=HOST_MB)
    needs_it = schedule(
        Match.Kind.TOURNAMENT, 1, "op", factories.LIMITS | {"memory_mb": 2048}
    )

    assert hint() == []
    call_command("status", "--totals")
    assert "need memory-4096; on a worker, give each slot" in capsys.readouterr().out

    small.slots = 2
    small.save()
    assert hint() == needs_it


@pytest.mark.parametrize(
    ("memory_mb", "slots", "is_capable"),
    [(None, 8, True), (4096, 1, True), (4096, 2, False), (4095, 1, False)],
)
def test_memory_is_shared_by_the_slots(memory_mb, slots, is_capable) -> None:
    needed = capabilities.needs([("python", False)], "full", 3000)
    slot_mb = capabilities.slot_memory_mb(memory_mb, slots)
    offered = capabilities.offers(["python"], "full", "1", slot_mb)

    assert capabilities.fit(needed, offered) is is_capable
    usual = capabilities.needs([("python", False)], "full", 1024)
    assert capabilities.fit(usual, offered)
