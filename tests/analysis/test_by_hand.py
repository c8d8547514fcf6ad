"""Stories of games by hand: computed by themselves, paid for, and stored once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ladder.extras.analysis import by_hand, stories, work
from ladder.extras.analysis.jobs import ANALYSE_GAMES
from ladder.extras.analysis.models import Analysis
from ladder.extras.practice.models import PracticeGame, PracticeStatus
from ladder.games import replays
from tests.analysis.test_analyses import replay_of, text, visit
from tests.conftest import needs_compiled
from tests.factories import make_bot, make_match
from tests.practice import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


@pytest.fixture(autouse=True)
def _few_games(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr(work, "GAMES", 2)
    settings.TORRES_STORY_SHARE = 0.05


def finished(**changes: object) -> PracticeGame:
    """Return a finished game by hand, with the moves of two bots of another one."""
    number = PracticeGame.objects.count()
    bots = [make_bot(f"{name}-{number}") for name in ("one", "two")]
    rated = make_match(*bots).games.get()
    game = factories.begin(make_bot(f"mason-{number}", "ana"))
    values = {
        "status": PracticeStatus.FINISHED,
        "ended_at": timezone.now(),
        "replay": replays.pack(replay_of(rated)),
        "seed": rated.match.seed,
    }
    PracticeGame.objects.filter(pk=game.pk).update(**values | changes)
    return PracticeGame.objects.get(pk=game.pk)


@needs_compiled
def test_a_game_by_hand_gets_a_story_before_others() -> None:
    lost = make_match(make_bot("ours", "ben"), make_bot("theirs", "cem")).games.get()
    game = finished()
    assert ANALYSE_GAMES.is_due()

    work.work_off()

    game.refresh_from_db()
    assert game.story["turns"]
    assert game.story_cpu_s > 0
    assert not Analysis.objects.filter(game=lost).exists()
    assert by_hand.next_game() is None
    page = text(visit("ana"), f"/play/{game.pk}/")
    assert "The story of this game" in page
    assert "/what-if/" not in page
    for ply in (turn["ply"] for turn in game.story["turns"][-2:]):
        board = visit("ana").get(f"/play/{game.pk}/board.svg?ply={ply}&look=dark")
        assert board.status_code == 200


def test_the_page_says_that_a_story_follows(settings: Any) -> None:
    follows = "The service computes that when it has time."
    game = finished()
    assert follows in text(visit("ana"), f"/play/{game.pk}/")
    board = visit("ana").get(f"/play/{game.pk}/board.svg")
    assert b"<svg" in board.content

    settings.TORRES_STORY_SHARE = 0

    assert follows not in text(visit("ana"), f"/play/{game.pk}/")


@pytest.mark.usefixtures("_unplayed")
def test_a_story_by_hand_is_paid_from_the_same_budget() -> None:
    finished()
    assert stories.budget_allows()
    work.work_off()
    finished()

    for seconds, allowed in ((19_000, False), (21_000, True)):
        story_at = timezone.now() - timedelta(seconds=seconds)
        begun = PracticeGame.objects.filter(story_at__isnull=False)
        begun.update(story_cpu_s=1000, story_at=story_at)

        assert stories.budget_allows() == ANALYSE_GAMES.is_due() == allowed


@pytest.fixture
def _unplayed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_hand, "analyse", lambda *_: {"turns": []})


@pytest.mark.usefixtures("_unplayed")
def test_a_killed_process_leaves_the_story_to_another_after_an_hour() -> None:
    game = finished(story_at=timezone.now() - timedelta(minutes=50))
    assert by_hand.next_game() is None
    assert not stories.budget_allows()

    PracticeGame.objects.update(story_at=timezone.now() - timedelta(minutes=70))

    assert stories.budget_allows()
    assert by_hand.tell_next(2)
    game.refresh_from_db()
    assert game.story == {"turns": []}


def test_a_story_that_fails_is_not_tried_again_and_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(by_hand, "analyse", fail)
    game = finished()

    assert by_hand.tell_next(2)

    game.refresh_from_db()
    assert game.story is None
    assert by_hand.next_game() is None
    PracticeGame.objects.update(story_at=timezone.now() - timedelta(minutes=5))
    assert stories.budget_allows()


@pytest.mark.parametrize(
    "changes",
    [
        {"status": PracticeStatus.ABANDONED},
        {"ended_at": timezone.now() - timedelta(days=2)},
        {"replay": None},
        {"start": "a position"},
    ],
)
def test_a_game_without_a_result_that_can_be_replayed_has_no_story(
    changes: dict[str, object],
) -> None:
    finished(**changes)

    assert by_hand.next_game() is None
