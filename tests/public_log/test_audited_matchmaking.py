"""`torres audit --matchmaking` makes the matches again, and finds those of others."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.db import transaction
from pytest_django.live_server_helper import LiveServer

from ladder.bots.facts import record_upload
from ladder.bots.models import Bot
from ladder.games import attempts
from ladder.games.models import Game, Match, Seat
from ladder.games.services import MatchTerms
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import matchmaking, operations, rater, selectors, voids
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.models import Ladder, Pairing
from tests.games import factories as games
from tests.games.factories import schedule_match
from tests.public_log.audited import AuditedLadder, audit_at_once
from torres.auditing import pairings
from torres.auditing.findings import Check
from torres.cli.audit import audit as audit_command
from torres.rating import recorded
from torres.rating.pairing import Seating
from torres.rating.recorded import RecordedMatchmaker

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]


OPERATOR = Operator(None, "it is hostile")


@pytest.fixture
def ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    monkeypatch.setattr(matchmaking, "RELOAD_S", 0)
    return AuditedLadder(live_server.url, tmp_path / "audit")


def play_on(
    ladder: AuditedLadder, session: MatchmakingSession, matches: int = 4
) -> None:
    """Let one session make matches, and play and rate them."""
    for _ in range(matches):
        ladder.season.refresh_from_db()
        assert session.pair(ladder.season, 1) == 1
        ladder.play(Match.objects.latest("pk"))


def ban_and_upload(ladder: AuditedLadder) -> None:
    """Ban a bot, let two others join, and let one have a new version."""
    banned, changed = Bot.objects.order_by("pk")[:2]
    moderation.set_aside(OPERATOR, banned, AuditEntry.Kind.BAN)
    uploads = [games.newest(games.bot(slug)) for slug in ("late-1", "late-2")]
    uploads.append(games.submission(changed, "of the new version"))
    for upload in uploads:
        with transaction.atomic():
            record_upload(upload)
    rater.welcome(ladder.season.pk)


def found(ladder: AuditedLadder) -> list[str]:
    findings = ladder.audit(matchmaking=True).findings
    assert {finding.check for finding in findings} <= {Check.MATCHMAKING}
    return [finding.text for finding in findings]


def test_all_matches_of_an_honest_service_are_made_again(ladder: AuditedLadder) -> None:
    session = MatchmakingSession()
    play_on(ladder, session)
    assert session.pair(ladder.season, 1)
    match = Match.objects.latest("pk")
    ladder.advance()
    attempts.fail(attempts.claim(match.games.get().pk, games.worker()), "", seat=0)
    ladder.play(match)
    play_on(ladder, session, 2)
    ban_and_upload(ladder)
    play_on(ladder, session, 4)
    voids.void(Game.objects.earliest("pk").pk, "the worker was broken")
    play_on(ladder, session, 3)
    gone, into = Bot.objects.order_by("pk")[2:4]
    moderation.set_aside(OPERATOR, gone, AuditEntry.Kind.WITHDRAW)
    operations.merge(OPERATOR, gone=gone, into=into)
    play_on(ladder, session, 2)
    # Another dispatcher, and then both.
    other = MatchmakingSession()
    play_on(ladder, other, 2)
    play_on(ladder, session, 2)

    report = ladder.audit(matchmaking=True)

    assert report.findings == []
    assert report.pairings is not None
    assert report.pairings.matches == Match.objects.count()
    assert report.pairings.sessions == 2
    assert report.pairings.matches > 16
    assert report.pairings.unrecorded == 0


def test_the_command_counts_what_it_made_again(ladder: AuditedLadder) -> None:
    play_on(ladder, MatchmakingSession())
    words = [ladder.url, "--folder", str(ladder.folder)]
    plain = CliRunner().invoke(audit_command, words)
    assert "made again" not in plain.output
    assert "matchmaking" not in plain.output
    result = CliRunner().invoke(audit_command, [*words, "--matchmaking"])
    assert "4 matches of ladders made again, as 1 sessions" in result.output
    assert "Everything fits together" in result.output
    assert "matchmaking" in result.output


def test_a_bot_that_was_banned_meanwhile_leaves_a_seating_unwritten(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matchmaking, "RELOAD_S", 60)
    Ladder.objects.update(tables={"4": 1})
    ladder.season.refresh_from_db()
    session = MatchmakingSession()
    play_on(ladder, session, 1)
    Bot.objects.filter(pk=Bot.objects.order_by("pk")[1].pk).update(status="banned")
    for _ in range(6):
        session.pair(ladder.season, 1)
    ladder.advance()
    report = ladder.audit(matchmaking=True)
    assert report.pairings is not None
    assert report.pairings.unwritten >= 1
    assert not [f for f in report.findings if f.check == Check.MATCHMAKING]


def test_a_matchmaker_is_repeated_over_many_leaves(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "ROWS_AT_ONCE", 2)
    monkeypatch.setattr("ladder.ratings.facts.MAX_STEPS_CHARS", 60)
    play_on(ladder, MatchmakingSession())
    assert found(ladder) == []


def test_a_match_with_other_bots_than_the_matchmaker_chose_is_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = RecordedMatchmaker.next_seatings

    def with_a_friend(self: RecordedMatchmaker, wanted: int) -> list[Seating]:
        return [
            Seating(seating.seats[::-1], seating.why)
            for seating in honest(self, wanted)
        ]

    with monkeypatch.context() as patch:
        patch.setattr(RecordedMatchmaker, "next_seatings", with_a_friend)
        play_on(ladder, MatchmakingSession())
    # Only the first difference is named: the later matches follow from others.
    monkeypatch.setattr(pairings, "LATE", timedelta(0))
    (text,) = found(ladder)
    match = Match.objects.earliest("pk").pk
    assert text.startswith("main season 1: from these steps the matchmaker pairs")
    assert f"match {match} has" in text


def test_random_numbers_that_somebody_chose_are_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(recorded, "seed", lambda *_: 1)
        play_on(ladder, MatchmakingSession())
    (text,) = found(ladder)
    assert "from these steps the matchmaker pairs" in text


def test_a_pool_with_other_ratings_than_the_ledger_is_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = selectors.eligible_bots

    def flattered(*args: object, **options: object) -> Iterator[selectors.EligibleBot]:
        for seq, bot in honest(*args, **options):
            yield selectors.EligibleBot(seq, recorded_with(bot, mu=bot.mu + 5))

    with monkeypatch.context() as patch:
        patch.setattr(selectors, "eligible_bots", flattered)
        play_on(ladder, MatchmakingSession())
    (text,) = found(ladder)
    assert "entered the pool with a rating that the ledger does not have" in text


def recorded_with(bot: selectors.BotProfile, *, mu: float) -> selectors.BotProfile:
    columns = {name: getattr(bot, name) for name in bot.__slots__}
    return selectors.BotProfile(**columns | {"mu": mu})


def test_a_match_that_no_matchmaker_made_is_found(
    ladder: AuditedLadder, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_on(ladder, MatchmakingSession(), 1)
    seats = [seat.submission for seat in Seat.objects.select_related("submission")[:2]]
    row = ladder.season.ladder
    terms = MatchTerms(row.ruleset, row.switches, row.limits, ladder=row.slug)
    with transaction.atomic():
        match = schedule_match(Match.Kind.LADDER, terms, seats)
        Pairing.objects.create(season=ladder.season, match=match)
    ladder.play(match)
    play_on(ladder, MatchmakingSession(), 1)
    assert found(ladder) == []  # its record may still come
    monkeypatch.setattr(pairings, "LATE", timedelta(0))
    assert found(ladder) == [f"no decision of the matchmaker made match {match.pk}"]
