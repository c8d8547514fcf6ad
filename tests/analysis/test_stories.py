"""Stories by themselves, the expected wait, and the weaknesses of a bot."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.extras.analysis import selectors, services, work
from ladder.extras.analysis.jobs import ANALYSE_GAMES
from ladder.extras.analysis.models import Analysis, SeatReview
from ladder.extras.analysis.services import request_analysis
from ladder.extras.analysis.stories import next_game
from ladder.extras.analysis.weaknesses import weaknesses_of
from ladder.games import replays
from ladder.games.models import Game, Match
from ladder.games.worker import lease_keeper
from tests.analysis.test_analyses import client_of, person, replay_of, text
from tests.conftest import needs_compiled
from tests.factories import LIMITS, fold, make_bot, make_ladder, make_match, pair
from tests.practice.factories import until

# The same in each process that collects these tests.
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


@pytest.fixture
def game() -> Game:
    """Return a finished game of two bots that played at random."""
    return make_match(make_bot("one", "ana"), make_bot("two", "ben")).games.get()


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(work, "GAMES", 2)
    settings.TORRES_STORY_SHARE = 0.05


@pytest.fixture
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute nothing: a test of the queue needs no figures."""
    monkeypatch.setattr(work, "analyse", lambda *_: EMPTY)


EMPTY = {"swings": [], "turns": [], "turning_points": []}


def stories() -> list[int]:
    """Return the games that have a story, in the order in which they were chosen."""
    rows = Analysis.objects.filter(story=True).order_by("pk")
    return list(rows.values_list("game", flat=True))


@needs_compiled
def test_a_lost_game_gets_a_story_that_nobody_requested(game) -> None:
    assert ANALYSE_GAMES.is_due()

    assert work.work_off() == 1

    story = selectors.whole_game(game)
    assert (story.status, story.by, story.story) == ("finished", None, True)
    assert story.cpu_s > 0
    assert "The story of this game" in text(Client(), f"/games/{game.pk}/")
    assert not ANALYSE_GAMES.is_due()


@pytest.mark.usefixtures("_fast")
def test_a_story_is_paid_for_by_the_time_that_passes() -> None:
    bots = make_bot("one", "ana"), make_bot("two", "ben")
    for _ in range(3):
        make_match(*bots)

    work.work_off()
    Analysis.objects.update(cpu_s=1000)
    for seconds, count in ((19_000, 1), (21_000, 2)):
        created_at = timezone.now() - timedelta(seconds=seconds)
        Analysis.objects.update(created_at=created_at)
        assert ANALYSE_GAMES.is_due() == (count == 2)
        work.work_off()  # as a process that has just started does
        assert len(stories()) == count


@pytest.mark.parametrize("name", ["TORRES_STORY_SHARE", "TORRES_ANALYSES_PER_DAY"])
def test_stories_can_be_switched_off(game, settings, name) -> None:
    setattr(settings, name, 0)

    assert not ANALYSE_GAMES.is_due()
    assert work.work_off() == 0


@pytest.mark.usefixtures("_fast")
def test_people_come_first(game) -> None:
    assert services.add_story()
    other = make_match(*[seat.submission for seat in game.seats.all()]).games.get()
    requested = request_analysis(person(), other)

    first = work.claim()

    assert first == requested
    assert work.claim() == Analysis.objects.get(story=True)


def test_a_story_that_a_person_requests_comes_before_other_stories(game) -> None:
    assert services.add_story()

    request_analysis(person(), game)

    assert not Analysis.objects.get().story
    assert selectors.left_today(person()) == 20


def test_two_processes_add_one_story(game, monkeypatch) -> None:
    make_match(*[seat.submission for seat in game.seats.all()])
    assert services.add_story()
    monkeypatch.setattr(services.stories, "budget_allows", lambda: True)  # read before

    assert not services.add_story()
    assert len(stories()) == 1


@pytest.mark.parametrize(
    ("rows", "change"),
    [
        (Match, {"embargo": True}),
        (Match, {"kind": "comparison"}),
        (Game, {"status": "voided"}),
        (Game, {"finished_at": LONG_AGO}),
        (Bot, {"owner": None}),
        (Bot, {"owner": None, "house": True}),
        (Bot, {"status": "banned"}),
    ],
    ids=str,
)
def test_a_game_for_which_nobody_cares_or_that_is_hidden_gets_no_story(
    game, rows, change
) -> None:
    rows.objects.update(**change)

    assert not ANALYSE_GAMES.is_due()
    assert not services.add_story()


def test_a_game_whose_decks_are_in_use_gets_no_story() -> None:
    make_match(make_bot("one", "ana"), make_bot("two", "ben"), games=2, finished=1)

    assert not services.add_story()


def test_tournaments_come_first_and_then_upsets() -> None:
    season = make_ladder()
    bots = make_bot("one", "ana"), make_bot("two", "ben")
    cup, upset, _ = (make_match(*bots).games.get() for _ in range(3))
    Match.objects.filter(pk=cup.match_id).update(kind="tournament")
    pair(season, upset.match)
    entry = fold(season, upset, {one.bot: (25.0, 1.0) for one in bots})
    winner = upset.seats.get(rank=1).bot_id
    for change in entry.changes:
        change["before"] = [20.0 if change["bot"] == winner else 30.0, 1.0]
    entry.save()

    assert next_game() == cup.pk
    Analysis.objects.create(game=cup, key="")
    assert next_game() == upset.pk


@pytest.mark.parametrize("damage", [b"", b"x", replays.pack({"moves": []})])
def test_a_damaged_replay_ends_alone_and_is_not_tried_again(damage, settings) -> None:
    settings.TORRES_STORY_SHARE = 1
    bots = make_bot("one", "ana"), make_bot("two", "ben")
    whole, damaged = make_match(*bots), make_match(*bots)
    Game.objects.filter(match=damaged).update(replay=damage)

    work.work_off()
    Analysis.objects.update(created_at=timezone.now() - timedelta(hours=1))
    work.work_off()

    ends = dict(Analysis.objects.values_list("game__match", "status"))
    assert ends == {damaged.pk: "failed", whole.pk: "finished"}
    assert not services.add_story()


@pytest.mark.django_db(transaction=True)
def test_a_killed_process_has_paid_for_its_story(game, monkeypatch) -> None:
    assert services.add_story()
    story = work.claim()
    monkeypatch.setattr(lease_keeper, "RENEW_INTERVAL_S", 0)
    paid: list[float] = []

    def killed(*_: object) -> None:
        until(lambda: Analysis.objects.get().cpu_s > 0)
        paid.append(Analysis.objects.get().cpu_s)
        raise SystemExit

    monkeypatch.setattr(work, "_result", killed)
    with pytest.raises(SystemExit):
        work.compute(story)

    assert Analysis.objects.get().cpu_s >= paid[0]


# The expected wait.


def test_the_wait_follows_from_the_times_that_were_measured(
    game, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    for ply, seconds in ((None, 40), (3, 10), (4, 20)):
        Analysis.objects.create(
            game=game,
            key=f"done {ply}",
            ply=ply,
            status="finished",
            document={},
            started_at=now - timedelta(seconds=seconds),
            ended_at=now,
        )
    request_analysis(person(), game, 5)
    whole = request_analysis(person("ben"), game)
    address = f"/games/{game.pk}/analysis/"

    queue = selectors.Queue()

    assert (queue.place(whole), queue.expected_s(whole)) == (2, 55)
    assert "It is expected in 55" in text(Client(), address)
    shown = client_of("ana").get(f"/api/v1/analyses/{whole.pk}/").json()
    assert shown["expected_s"] == 55
    assert work.claim() is not None
    Analysis.objects.filter(ply=5).update(started_at=now - timedelta(seconds=6))
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert selectors.Queue().expected_s(whole) == 49


def test_more_seats_take_more_time(game) -> None:
    now = timezone.now()
    Analysis.objects.create(
        game=game,
        key="",
        status="finished",
        document={},
        started_at=now - timedelta(seconds=20),
        ended_at=now,
    )

    bots = [make_bot(name, "ana") for name in ("three", "four")]
    large = make_match(*bots, *bots).games.get()

    row = request_analysis(person(), large)

    assert selectors.Queue().expected_s(row) == 40


def test_nothing_is_expected_before_anything_was_measured(game) -> None:
    row = request_analysis(person(), game)

    assert selectors.Queue().expected_s(row) is None
    assert "expected" not in text(Client(), f"/games/{game.pk}/analysis/")


# The weaknesses of a bot.


def reviewed(game: Game, **figures: Any) -> None:
    """Store a review of seat 0 with one turn."""
    turn = {"ply": 7, "phase": 2, "kinds": ["buy"], "drop": 0.0, "unused": 0, "ms": 1}
    analysis = Analysis.objects.create(game=game, key="")
    seat = game.seats.get(number=0)
    SeatReview.objects.create(
        analysis=analysis, seat=0, bot=seat.bot, turns=[turn | figures]
    )


def test_a_bot_without_analysed_games_has_a_way_to_them(game) -> None:
    page = text(Client(), "/bots/one/weaknesses/")

    assert "No game of this bot has been analysed yet" in page
    assert '<a href="/games/?bot=one">' in page
    assert 'href="/bots/one/weaknesses/"' in text(Client(), "/bots/one/")


@needs_compiled
def test_weaknesses_name_the_phase_and_the_kind_with_an_example() -> None:
    bots = make_bot("one", "ana"), make_bot("two", "ben")
    first, second = (make_match(*bots).games.get() for _ in range(2))
    reviewed(first, drop=0.3, unused=2)
    reviewed(second, phase=3, kinds=["block"], ply=9, ms=LIMITS["move_ms"] + 1000)

    found = weaknesses_of(bots[0].bot)

    assert found is not None
    assert [(group.name, group.losing, group.cost) for group in found.phases] == [
        ("2", 1, 0.3),
        ("3", 0, 0.0),
    ]
    assert [group.name for group in found.kinds] == ["buy", "block"]
    assert found.kinds[0].example == (first.pk, 7, 0.3)
    assert (found.unused, found.most_unused) == (1.0, (first.pk, 7, 2))
    assert found.bank_share == 1000 / LIMITS["bank_ms"]
    page = text(Client(), "/bots/one/weaknesses/")
    assert f'<a href="/games/{first.pk}/#ply=7">Game {first.pk}</a>: 30' in page
    Match.objects.filter(pk=first.match_id).update(embargo=True)
    assert f"/games/{first.pk}/" not in text(Client(), "/bots/one/weaknesses/")


@needs_compiled
def test_an_analysis_reviews_all_turns_of_all_seats(game) -> None:
    request_analysis(person(), game)
    work.work_off()

    document = Analysis.objects.get().document
    reviews = SeatReview.objects.order_by("seat")
    turns = [turn for review in reviews for turn in review.turns]

    assert [review.bot.slug for review in reviews] == ["one", "two"]
    assert sorted(turn["ply"] for turn in turns) == [
        swing["ply"] for swing in document["swings"]
    ]
    assert all(turn["phase"] for turn in turns)
    answers = [move for move in replay_of(game)["moves"] if "ms" in move]
    assert 0 < sum(turn["ms"] for turn in turns) <= sum(move["ms"] for move in answers)
    assert {kind for turn in turns for kind in turn["kinds"]} >= {"block", "move"}
    assert max(turn["unused"] for turn in turns) > 0
