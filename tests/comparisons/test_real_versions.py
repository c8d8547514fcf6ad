"""A comparison of real bots: `house:random` is replaced by `house:greedy`.

Everything is real but the messages: uploads, the sandbox, the processes of the bots and
the ticks of the dispatcher.
"""

import io
import os

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from ladder.bots import services as bots, submissions
from ladder.bots.house_bots import HOUSE_FOLDER
from ladder.bots.models import Bot, Submission
from ladder.extras.comparisons import selectors, services
from ladder.extras.comparisons.models import ComparisonStatus
from ladder.extras.comparisons.services import ComparisonTerms
from ladder.games.models import Seat
from tests.comparisons.factories import ladder as new_ladder, tick
from tests.tournaments.factories import play_scheduled, worker
from torres.rating.version_test import VersionVerdict
from torres.runner.sandbox import SandboxUnavailable, open_sandbox

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir"),
    pytest.mark.sandbox,
]


@pytest.fixture(autouse=True)
def _needs_sandbox() -> None:
    try:
        open_sandbox("full").close()
    except SandboxUnavailable as error:
        if os.environ.get("TESTS_REQUIRE_ALL") == "1":
            raise
        pytest.skip(str(error))


def upload(bot: Bot, name: str) -> None:
    """Upload a house bot without its validation."""
    source = (HOUSE_FOLDER / name / "bot.py").read_bytes()
    submission = submissions.submit(bot, io.BytesIO(source), "bot.py")
    bot.submissions.filter(status="ready").update(status="retired")
    Submission.objects.filter(pk=submission.pk).update(
        status=Submission.Status.READY, ready_at=timezone.now()
    )


@pytest.mark.deep
@pytest.mark.slow
def test_it_ends_with_the_right_answer() -> None:
    row = bots.create_bot(User.objects.create(username="ana"), "Climbing")
    for name in ("random", "greedy"):
        upload(row, name)
    comparison = services.start(
        row.owner,
        row,
        new_ladder(t2=0.5, t3=0.5),
        ComparisonTerms(bounds=(0, 100)),
    )
    player = worker()
    while comparison.status == ComparisonStatus.RUNNING:
        tick(slots=2)
        play_scheduled(player)
        comparison.refresh_from_db()

    report = selectors.report(comparison)
    assert comparison.status == ComparisonStatus.DECIDED
    assert report.test.verdict == VersionVerdict.BETTER
    assert report.figures["blocks"] <= 30
    assert not Seat.objects.exclude(fault="").exists()
