"""`torres audit` counts the acts of operators, and finds those that favour a bot."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User
from django.db import transaction
from pytest_django.live_server_helper import LiveServer

from ladder.bots.models import Bot
from ladder.events.outbox import NewLeaf, record
from ladder.games import services
from ladder.games.models import Game, Seat
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations
from tests.public_log.audited import AuditedLadder, audit_at_once
from torres.auditing.auditor import AuditReport
from torres.auditing.findings import Check
from torres.auditing.hand import (
    GUILTY,
    Draw,
    HandAct,
    HandTally,
    OperatorsHand,
    hand_tests,
    is_lost,
)
from torres.cli.audit import audit as audit_command
from torres.tlog.leaves import LeafKind

GAMES = 50
CANCELLED = 20
OPERATOR = Operator(None, "it was broken")


def test_the_probability_of_a_draw_is_the_hypergeometric_one() -> None:
    # 10 of 10 drawn are marked, of 10 marked among 20: one of C(20, 10) samples.
    assert Draw(10, 10, 10, 20).probability() == pytest.approx(1 / 184756)
    assert Draw(0, 10, 10, 20).probability() == pytest.approx(1)
    # By hand: C(3, 2) C(2, 1) / C(5, 3) + C(3, 3) / C(5, 3).
    assert Draw(2, 3, 3, 5).probability() == pytest.approx(0.7)
    assert Draw(3, 4, 3, 4).probability() == pytest.approx(1)


@pytest.mark.parametrize(
    ("rank", "seats", "lost"),
    [(1, 2, False), (2, 2, True), (2, 3, False), (3, 3, True), (2, 4, False)],
)
def test_a_game_is_lost_behind_more_than_half_of_the_opponents(
    rank: int,
    seats: int,
    lost: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    assert is_lost(rank, seats) == lost


def test_many_tests_make_each_of_them_less_surprising() -> None:
    tallies = {}
    for k in range(10):
        tally = HandTally()
        for game in range(20):
            tally.add(lost=game < 10, voided=k == 0 and game < 4, repeated=game == 5)
        tallies[f"bot {k}"] = tally
    tests = hand_tests(tallies)
    (test,) = (t for t in tests if t.whose == "bot 0" and t.draw == Draw(4, 4, 10, 20))
    assert test.act == HandAct.VOIDED_LOSSES
    assert test.p == pytest.approx(210 / 4845)
    assert test.adjusted == pytest.approx(min(1, test.p * len(tests)))


def test_acts_that_depend_on_results_are_a_finding() -> None:
    friend, other = HandTally(), HandTally()
    for game in range(40):
        friend.add(lost=game < 20, voided=game < 20, repeated=False)
        other.add(lost=game < 20, voided=game % 4 == 0, repeated=False)
    hand = OperatorsHand(tests=hand_tests({"friend": friend, "other": other}))
    (finding,) = hand.findings()
    assert finding.check == Check.HAND
    assert finding.text.startswith("not by chance: friend: 20 of 20 voided games")


@pytest.fixture
def ladder(
    live_server: LiveServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AuditedLadder:
    audit_at_once(monkeypatch)
    ladder = AuditedLadder(live_server.url, tmp_path / "audit")
    for _ in range(GAMES):
        ladder.play(fold=False)
    ladder.fold()
    return ladder


pytestmark = [
    pytest.mark.usefixtures("data_dir", "committed_decks", "scripted_players"),
]
with_a_service = pytest.mark.django_db(transaction=True)


def games_of(bot: Bot, *, won: bool) -> list[int]:
    """Return the games with a result of a bot that it has won, or that it has lost."""
    seats = Seat.objects.filter(bot=bot, rank__isnull=False).select_related("game")
    return [
        seat.game_id
        for seat in seats
        if is_lost(seat.rank or 0, seat.game.seats.count()) != won
    ]


def friend() -> Bot:
    """Return the bot whose lost games are nearest to half of its games."""

    def imbalance(bot: Bot) -> int:
        return abs(len(games_of(bot, won=True)) - len(games_of(bot, won=False)))

    return min(Bot.objects.order_by("pk"), key=imbalance)


def found(report: AuditReport, bot: Bot, act: HandAct) -> Draw:
    """Return the draw of a test, whose finding depends on its probability alone.

    The decks are random, so the results are, and with them this probability.
    """
    tests = [t for t in report.hand.tests if (t.whose, t.act) == (bot.slug, act)]
    (test,) = tests
    texts = {f.text for f in report.findings if f.check == Check.HAND}
    assert (f"not by chance: {test}" in texts) == (test.adjusted <= GUILTY)
    return test.draw


@pytest.mark.slow
@with_a_service
def test_voids_of_a_friends_losses_are_found(ladder: AuditedLadder) -> None:
    lost = games_of(friend(), won=False)
    assert lost
    for game in lost:
        operations.void(OPERATOR, game)
    ladder.fold()
    report = ladder.audit()
    assert report.hand.counts["voided games"] == len(lost)
    assert report.hand.counts["acts of the kind void"] == len(lost)
    draw = found(report, friend(), HandAct.VOIDED_LOSSES)
    assert draw.hits == draw.drawn == draw.marked == len(lost)


@pytest.mark.slow
@with_a_service
def test_a_few_voids_are_counted_and_are_no_finding(ladder: AuditedLadder) -> None:
    for game in Game.objects.order_by("pk")[:3]:
        operations.void(OPERATOR, game.pk)
    ladder.fold()
    arguments = [ladder.url, "--folder", str(ladder.folder)]
    result = CliRunner().invoke(audit_command, arguments)
    assert result.exit_code == 0, result.output
    assert "operator's hand: 3 voided games" in result.output


@pytest.mark.slow
@with_a_service
def test_attempts_that_are_repeated_until_a_friend_wins_are_found(
    ladder: AuditedLadder,
) -> None:
    for game in games_of(friend(), won=True):
        match = Game.objects.get(pk=game).match_id
        data = {"game": game, "match": match, "attempt": 1, "outcome": "failed"}
        with transaction.atomic():
            record(leaf=NewLeaf(LeafKind.ATTEMPT_ENDED, game, data))
    ladder.advance()
    draw = found(ladder.audit(), friend(), HandAct.REPEATED_WINS)
    assert draw.hits == draw.drawn == draw.marked


@pytest.mark.slow
@with_a_service
def test_games_of_a_friend_that_are_cancelled_after_dealing_are_found(
    ladder: AuditedLadder,
) -> None:
    user = User.objects.create_user("eva")
    bot = friend()
    other = Bot.objects.exclude(pk=bot.pk).earliest("pk")
    Bot.objects.filter(pk__in=[bot.pk, other.pk]).update(owner=user)
    cancelled = 0
    for _ in range(100):
        match = ladder.plan()
        ladder.advance()
        game = match.games.get()
        if game.seats.filter(bot=bot).exists():
            services.cancel(game.pk, "no more")
            cancelled += 1
            if cancelled == CANCELLED:
                break
        else:
            ladder.play(match)
    assert cancelled == CANCELLED
    ladder.advance()
    report = ladder.audit()
    draw = found(report, bot, HandAct.CANCELLED)
    assert draw.hits == draw.drawn == CANCELLED
    assert "eva (owner)" in {test.whose for test in report.hand.tests}


@pytest.mark.slow
@with_a_service
def test_games_that_are_cancelled_by_a_bench_need_no_other_reason(
    ladder: AuditedLadder,
) -> None:
    match = ladder.plan()
    ladder.advance()
    bot = match.games.get().seats.earliest("number").bot
    moderation.set_aside(OPERATOR, bot, AuditEntry.Kind.BENCH)
    ladder.advance()
    counts = ladder.audit().hand.counts
    assert counts["games cancelled after their decks were fixed"] == 1
    assert "of these without another leaf that says why" not in counts
    assert counts["acts of the kind bench"] == 1
