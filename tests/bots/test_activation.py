"""An owner lets an older upload play again. Ladders treat it like a new version."""

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from ladder.bots import submissions
from ladder.bots.models import Bot, Submission
from ladder.ratings import rater
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Rating
from tests.factories import make_bot, upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_dir")]


@pytest.fixture
def first() -> Submission:
    """The first of two uploads of Ana's bot; the second plays."""
    first = make_bot("Grendel", "ana")
    upload(first.bot, b"the second")
    return first


def activate(client: APIClient, submission: Submission):
    return client.post(f"/api/v1/submissions/{submission.pk}/activate/")


def playing_numbers(bot: Bot) -> list[int]:
    ready = bot.submissions.filter(status="ready")
    return list(ready.values_list("number", flat=True))


def test_an_older_upload_plays_again(ana: APIClient, first: Submission) -> None:
    answer = activate(ana, first)

    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    assert playing_numbers(first.bot) == [1]
    before = first.ready_at
    first.refresh_from_db()
    assert first.ready_at > before  # so that ladders find it among the latest
    assert ana.get("/api/v1/bots/grendel/").json()["playing"]["number"] == 1
    assert activate(ana, first).status_code == 200
    assert playing_numbers(first.bot) == [1]


@pytest.mark.parametrize(("who", "status"), [("ben", 403), ("cleo", 403), ("", 401)])
def test_only_the_owner_decides_which_upload_plays(
    api, first: Submission, who: str, status: int
) -> None:
    assert activate(api(who), first).status_code == status
    assert playing_numbers(first.bot) == [2]


def test_the_next_upload_replaces_the_older_one_again(ana, first: Submission) -> None:
    activate(ana, first)
    upload(first.bot, b"the third")

    assert playing_numbers(first.bot) == [3]


def test_an_older_validation_does_not_undo_the_owner_s_choice(ana, data_dir) -> None:
    """The second upload is still being validated when the owner leaves the third."""
    first = make_bot("Grendel", "ana")
    second = Submission.objects.create(
        bot=first.bot, number=2, digest="2" * 64, status="uploaded", size=1
    )
    claimed = submissions.claim(second.pk)
    Submission.objects.filter(pk=first.pk).update(status="retired")
    Submission.objects.create(
        bot=first.bot,
        number=3,
        digest="3" * 64,
        status="ready",
        size=1,
        ready_at=timezone.now(),
    )
    assert activate(ana, first).status_code == 200

    submissions.accept(claimed, {"summary": "Ready.", "steps": []}, "")

    assert playing_numbers(first.bot) == [1]
    second.refresh_from_db()
    assert second.status == "retired"


def test_an_upload_that_was_never_ready_cannot_play(ana, first: Submission) -> None:
    rejected = Submission.objects.create(
        bot=first.bot, number=3, digest="3" * 64, status="rejected", size=1
    )

    answer = activate(ana, rejected)

    assert (answer.status_code, answer.json()["code"]) == (409, "cannot-play")
    assert "rejected" in answer.json()["detail"]
    assert playing_numbers(first.bot) == [2]


def test_an_upload_without_its_files_cannot_play(
    ana, first: Submission, data_dir
) -> None:
    (data_dir / "submissions" / first.package).unlink()

    answer = activate(ana, first)

    assert (answer.status_code, answer.json()["code"]) == (409, "cannot-play")
    assert "upload them again" in answer.json()["detail"]


@pytest.mark.parametrize("status", ["banned", "withdrawn"])
def test_a_banned_or_withdrawn_bot_stays_as_it_is(ana, first, status: str) -> None:
    Bot.objects.filter(pk=first.bot_id).update(status=status)

    assert activate(ana, first).json()["code"] == "bot-not-active"
    assert playing_numbers(first.bot) == [2]


def test_a_ladder_treats_the_older_upload_like_a_new_version(
    ana, first: Submission
) -> None:
    season = ensure_default_ladder().seasons.get()
    assert rater.welcome(season.pk) == 1
    ratings = Rating.objects.filter(bot=first.bot)
    ratings.update(mu=30.0, sigma=1.0, games=40, fresh=40)

    activate(ana, first)
    assert rater.welcome(season.pk) == 1
    assert rater.welcome(season.pk) == 0

    rating = ratings.get()
    assert (rating.submission, rating.mu, rating.fresh) == (first, 30.0, 0)
    assert rating.sigma == pytest.approx(25 / 12)


def test_nothing_changes_on_a_ladder_that_never_saw_the_newer_upload(ana) -> None:
    season = ensure_default_ladder().seasons.get()
    first = make_bot("Grendel", "ana")
    rater.welcome(season.pk)
    upload(first.bot, b"the second")

    activate(ana, first)

    assert rater.welcome(season.pk) == 0
