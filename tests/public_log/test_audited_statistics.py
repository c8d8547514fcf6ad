"""An audit counts results and fits strengths again, and finds what differs."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models import F
from pytest_django.live_server_helper import LiveServer

from ladder.games.models import Game
from ladder.moderation.audit import Operator
from ladder.ratings import leaderboard, operations, summaries, voids
from ladder.ratings.models import (
    MeetingSummary,
    Rating,
    SeatSummary,
    SecondOpinion,
    SecondOpinionRow,
)
from ladder.ratings.season_estimate import make_opinion
from tests.games import factories as games
from tests.public_log.audited import AuditedLadder, audit_at_once
from torres.auditing import ratings
from torres.auditing.findings import Check
from torres.auditing.strengths import RANK_TOLERANCE
from torres.rating import season_fit

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
GAMES = 12


@pytest.fixture
def ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AuditedLadder:
    """Return a ladder whose statistics and strengths are up to date."""
    audit_at_once(monkeypatch)
    monkeypatch.setattr(season_fit, "MIN_GAMES", 2)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    for _ in range(GAMES):
        ladder.play()
    bring_up_to_date(ladder)
    return ladder


def bring_up_to_date(ladder: AuditedLadder) -> None:
    summaries.catch_up(ladder.season.pk)
    assert make_opinion(ladder.season)


def test_honest_statistics_and_strengths_have_no_findings(
    ladder: AuditedLadder,
) -> None:
    assert SecondOpinionRow.objects.count() == 5
    assert ladder.audit().findings == []
    voids.void(Game.objects.latest("pk").pk, "it was broken", replay_again=False)
    ladder.fold()
    assert ladder.audit().findings == []  # the statistics do not know the void yet
    bring_up_to_date(ladder)
    assert ladder.audit().findings == []


def test_a_merged_bot_is_no_opponent_any_more(ladder: AuditedLadder) -> None:
    kept, gone = Rating.objects.order_by("pk")[:2]
    operations.merge(Operator(games.person("olga"), "one person"), gone.bot, kept.bot)
    ladder.fold()
    bring_up_to_date(ladder)
    assert ladder.audit().findings == []


def change_a_meeting(_: AuditedLadder) -> None:
    row = MeetingSummary.objects.filter(before__lt=F("games")).latest("games")
    MeetingSummary.objects.filter(pk=row.pk).update(before=F("before") + 1)


def hide_an_opponent(_: AuditedLadder) -> None:
    MeetingSummary.objects.filter(games__gt=0).latest("pk").delete()


def change_the_results_of_a_seat(_: AuditedLadder) -> None:
    row = SeatSummary.objects.filter(halves__gt=0).latest("pk")
    SeatSummary.objects.filter(pk=row.pk).update(halves=F("halves") - 1)


def hide_a_seat(_: AuditedLadder) -> None:
    SeatSummary.objects.filter(games__gt=0).latest("pk").delete()


def change_a_strength(_: AuditedLadder) -> None:
    row = SecondOpinionRow.objects.latest("rank")
    SecondOpinionRow.objects.filter(pk=row.pk).update(value=F("value") + 1)


def narrow_an_interval(_: AuditedLadder) -> None:
    SecondOpinionRow.objects.filter(rank=1).update(error=F("error") / 2)


def change_the_possible_ranks(_: AuditedLadder) -> None:
    rows = SecondOpinionRow.objects.filter(rank=5)
    rows.update(worst=F("worst") + RANK_TOLERANCE + 1)


def hide_a_strength(_: AuditedLadder) -> None:
    SecondOpinionRow.objects.get(rank=1).delete()


def test_manipulated_statistics_are_found(ladder: AuditedLadder) -> None:
    acts = [change_a_meeting, hide_an_opponent]
    for act in [*acts, change_the_results_of_a_seat, hide_a_seat]:
        act(ladder)
        assert ladder.found() == {Check.STATISTICS}, act.__name__
        summaries.rebuild(ladder.season.pk)


def test_manipulated_strengths_are_found(ladder: AuditedLadder) -> None:
    acts = [change_a_strength, narrow_an_interval]
    for act in [*acts, change_the_possible_ranks, hide_a_strength]:
        act(ladder)
        assert ladder.found() == {Check.STRENGTHS}, act.__name__
        SecondOpinion.objects.all().delete()
        make_opinion(ladder.season)
    assert ladder.audit().findings == []


def test_answers_that_never_change_are_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ratings, "RATED_WITHIN", timedelta(0))
    assert ladder.audit().findings == []
    old = leaderboard.page_at_one_head(ladder.season, 0, 200)
    monkeypatch.setattr(leaderboard, "page_at_one_head", lambda *_: old)
    ladder.play()
    assert ladder.found() == {Check.LEADERBOARDS, Check.STATISTICS}
