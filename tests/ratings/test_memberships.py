"""Which bots play on which ladder: join, leave, bench, and operators' decisions."""

from io import StringIO

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from ladder.bots import services as owners
from ladder.bots.models import Bot
from ladder.games import attempts
from ladder.games.attempts import FinishedGame, SeatResult
from ladder.games.models import Game
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import (
    challenges,
    leaderboard,
    memberships,
    operations,
    rater,
    rebuild,
    seasons,
    selectors,
)
from ladder.ratings.cancellation import cancel_unplayable
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.matchmaking import MatchmakingSession
from ladder.ratings.memberships import MembershipRefused
from ladder.ratings.models import Ladder, Membership, Rating, Season
from tests.games import factories
from tests.ratings.factories import (
    end_probation,
    finish_in_order,
    make_matches,
    open_games,
    play_some,
)

pytestmark = pytest.mark.django_db
OPERATOR = Operator(None, "a test")


@pytest.fixture
def main() -> Season:
    """Return the season of the default ladder, with six bots."""
    season = ensure_default_ladder().seasons.get()
    factories.bots(6)
    rater.welcome(season.pk)
    return season


@pytest.fixture
def other(main: Season) -> Season:
    """Return the season of a second ladder, without bots."""
    return second_ladder()


def second_ladder(**fields: object) -> Season:
    ladder = Ladder.objects.create(
        **{
            "slug": "other",
            "name": "Other",
            "ruleset": "yucata",
            "tables": {"2": 1},
            "limits": factories.LIMITS,
        }
        | fields
    )
    return seasons.start_season(ladder)


def bot(number: int) -> Bot:
    return Bot.objects.get(slug=f"bot-{number}")


def status(of: Bot, season: Season) -> str | None:
    return memberships.place(of, season.ladder).status


def rated(season: Season) -> list[str]:
    rows = Rating.objects.filter(season=season).order_by("bot")
    return list(rows.values_list("bot__slug", flat=True))


def join_all(season: Season) -> None:
    for each in Bot.objects.all():
        memberships.join(each, season.ladder)
    rater.welcome(season.pk)


def lose(season: Season, loser: Bot) -> None:
    """Make, finish and fold matches of a season until a bot has lost one by forfeit."""
    while True:
        make_matches(season, 1)
        game = open_games()[-1]
        bots = [seat.submission.bot_id for seat in game.seats.all()]
        if loser.pk in bots:
            last = bots.index(loser.pk)
            order = [seat for seat in range(len(bots)) if seat != last]
            finish_in_order(game, [*order, last], fault="crash")
            rater.fold(season.pk)
            return
        finish_in_order(game)
        rater.fold(season.pk)


def test_a_ready_bot_joins_the_default_ladder_only(main, other):
    """Every bot joined every ladder."""
    factories.bot("late")
    factories.bot("no-upload-yet", ready=False)

    for season in (main, other):
        rater.welcome(season.pk)

    assert rated(main) == [*(f"bot-{k}" for k in range(6)), "late"]
    assert rated(other) == []
    assert make_matches(other, 4) == 0


def test_a_bot_that_plays_already_does_not_join_another_default_ladder(main, other):
    Ladder.objects.filter(pk=main.ladder_id).update(default=False)
    Ladder.objects.filter(pk=other.ladder_id).update(default=True)
    factories.bot("new")

    for season in (main, other):
        rater.welcome(season.pk)

    assert rated(other) == ["new"]
    assert "new" not in rated(main)


def test_a_bot_plays_where_its_owner_wants_it(main, other):
    for number in (1, 2):
        memberships.join(bot(number), other.ladder)
        memberships.join(bot(number), other.ladder)  # idempotent

    rater.welcome(other.pk)

    assert rated(other) == ["bot-1", "bot-2"]
    assert make_matches(other, 1) == 1
    assert make_matches(main, 1) == 1


def test_a_bot_that_chooses_before_its_first_upload_is_on_the_default_ladder(
    main, other
):
    early = factories.bot("early", ready=False)
    shy = factories.bot("shy", ready=False)
    memberships.join(early, other.ladder)
    memberships.leave(shy, main.ladder)
    for each in (early, shy):
        factories.submission(each)

    for season in (main, other):
        rater.welcome(season.pk)

    assert "early" in rated(main)
    assert "early" in rated(other)
    assert "shy" not in rated(main)


def test_leaving_cancels_the_rated_games_of_that_ladder_alone(main, other):
    join_all(other)
    for season in (main, other):
        end_probation(season)
        make_matches(season, 12)
    gone = bot(1)
    challenge = challenges.challenge(gone.owner, main.ladder, ["bot-1", "bot-2"])
    scheduled = Game.objects.filter(seats__bot=gone, status="scheduled")
    elsewhere = scheduled.filter(match__ladder="main").count()
    assert scheduled.filter(match__ladder="other").exists()

    memberships.leave(gone, other.ladder)
    memberships.leave(gone, other.ladder)  # idempotent

    assert not scheduled.filter(match__ladder="other").exists()
    assert scheduled.filter(match__ladder="main").count() == elsewhere
    assert scheduled.filter(match=challenge).exists()
    notes = Game.objects.filter(status="cancelled", seats__bot=gone)
    assert {game.note for game in notes} == {"bot-1 left the ladder"}


def test_a_running_game_of_a_bot_that_left_counts(main):
    make_matches(main, 1)
    game = open_games()[0]
    leaver = game.seats.get(number=0).bot
    claim = attempts.claim(game.pk, factories.worker())

    memberships.leave(leaver, main.ladder)
    cancel_unplayable()

    seats = [SeatResult(k, 50 - k, k + 1) for k in range(game.match.seats)]
    assert attempts.finish(
        claim, FinishedGame("completed", "1", b"replay", seats, "{}")
    )
    rater.fold(main.pk)
    assert Rating.objects.get(season=main, bot=leaver).games == 1


def test_a_bot_that_left_is_not_paired_and_keeps_its_rating(main):
    play_some(main)
    gone = bot(1)
    before = Rating.objects.get(season=main, bot=gone)
    memberships.leave(gone, main.ladder)
    factories.submission(gone)  # a new version, while it is away

    rater.welcome(main.pk)
    play_some(main)

    after = Rating.objects.get(season=main, bot=gone)
    assert (after.mu, after.sigma, after.games) == (
        before.mu,
        before.sigma,
        before.games,
    )
    row = next(
        row
        for row in leaderboard.leaderboard_page(main, 0, 50).rows
        if row.bot == gone.slug
    )
    assert row.status == "left"
    assert rebuild.check(main).complaints == []

    memberships.join(gone, main.ladder)
    rater.welcome(main.pk)
    back = Rating.objects.get(season=main, bot=gone)
    assert back.mu == before.mu
    assert back.games == before.games
    assert back.submission == factories.newest(gone)
    play_some(main)
    assert Rating.objects.get(season=main, bot=gone).games > before.games


def test_a_match_that_was_made_while_a_bot_left_is_cancelled(main):
    """The matchmaker may have looked at the bot before it left."""
    make_matches(main, 1)
    game = open_games()[0]
    leaver = game.seats.get(number=0).bot
    Membership.objects.filter(bot=leaver).update(status="left")

    assert cancel_unplayable() == 1

    game.refresh_from_db()
    assert (game.status, game.note) == (
        "cancelled",
        f"{leaver.slug} is not on the ladder",
    )


def test_a_session_does_not_write_a_match_of_a_bot_that_left(main):
    session = MatchmakingSession()
    session.pair(main, 1)
    for number in range(5):
        memberships.leave(bot(number), main.ladder)

    assert session.pair(main, 10) == 0


def test_forfeits_bench_a_bot_on_their_ladder_alone(main, other):
    """A bot that forfeited on a second ladder was benched everywhere."""
    join_all(other)
    end_probation(main)
    end_probation(other)
    bad = bot(1)
    for _ in range(rater.BENCH_AFTER):
        lose(other, bad)

    assert status(bad, other) == "benched"
    assert status(bad, main) == "active"
    bad.refresh_from_db()
    assert bad.status == "active"
    entry = AuditEntry.objects.get(kind="bench")
    assert entry.details["ladder"] == "other"
    assert memberships.place(bad, other.ladder).why == entry.why
    assert bad.pk not in {row.profile.bot for row in selectors.eligible_bots(other)}
    assert bad.pk in {row.profile.bot for row in selectors.eligible_bots(main)}


def test_a_new_version_ends_the_bench_and_the_same_code_does_not(main, other):
    join_all(other)
    bad = bot(1)
    rating = Rating.objects.get(season=other, bot=bad)
    assert memberships.bench(other, rating, "too many forfeits")
    assert not memberships.bench(other, rating, "too many forfeits")
    operations.move_season(OPERATOR, other, AuditEntry.Kind.ARCHIVE)
    next_season = seasons.start_season(other.ladder)
    rater.welcome(next_season.pk)
    assert status(bad, other) == "benched"

    factories.submission(bad)
    rater.welcome(next_season.pk)

    assert status(bad, other) == "active"
    entry = AuditEntry.objects.get(kind="reinstate")
    assert (entry.target, entry.details) == ("bot bot-1", {"ladder": "other"})


def test_the_owner_ends_a_bench_for_forfeits_but_not_that_of_an_operator(main):
    bad = bot(1)
    memberships.bench(main, Rating.objects.get(season=main, bot=bad), "forfeits")

    assert memberships.join(bad, main.ladder).status == "active"

    call_command("operator", "bench", "bot-1", "--why=x", stdout=StringIO())
    bad.refresh_from_db()
    with pytest.raises(owners.NotActive, match="Ask the operator"):
        owners.bring_back(bad)
    with pytest.raises(owners.NotActive, match="Ask the operator"):
        owners.withdraw(bad)  # and bring it back after that
    memberships.join(bad, main.ladder)
    factories.submission(bad)
    rater.welcome(main.pk)
    bad.refresh_from_db()
    assert bad.status == "benched"
    assert bad.pk not in {row.profile.bot for row in selectors.eligible_bots(main)}


def test_a_bot_that_is_not_on_a_ladder_cannot_leave_it(main, other):
    with pytest.raises(MembershipRefused, match="not on the ladder other"):
        memberships.leave(bot(1), other.ladder)


def test_operators_decide_who_joins_a_closed_ladder(main):
    closed = second_ladder(slug="cup", admission="operators")
    with pytest.raises(MembershipRefused, match="The operators decide"):
        memberships.join(bot(1), closed.ladder)
    assert not memberships.place(bot(1), closed.ladder).can_join

    command("join", "bot-1", "--ladder=cup")
    assert status(bot(1), closed) == "active"
    memberships.leave(bot(1), closed.ladder)
    assert memberships.join(bot(1), closed.ladder).status == "active"

    command("leave", "bot-1", "--ladder=cup")
    assert status(bot(1), closed) == "removed"
    for act in (memberships.join, memberships.leave):
        with pytest.raises(MembershipRefused):
            act(bot(1), closed.ladder)
    kinds = AuditEntry.objects.order_by("pk").values_list("kind", "details__ladder")
    assert list(kinds) == [("join", "cup"), ("leave", "cup")]


def test_an_operator_keeps_a_bot_away_from_a_ladder(main):
    make_matches(main, 6)
    call_command("operator", "leave", "bot-1", "--ladder=main", "--why=x")

    waiting = Game.objects.filter(status="scheduled", seats__bot=bot(1))
    assert not waiting.exists()
    rater.welcome(main.pk)
    assert status(bot(1), main) == "removed"


@pytest.mark.parametrize(
    "words",
    [
        ["join", "bot-1", "--ladder="],
        ["join", "bot-1", "--ladder=nowhere"],
        ["join", "nobody", "--ladder=main"],
        ["join", "", "--ladder=main"],
        ["leave", "bot-1", "--ladder=\x00"],
    ],
)
def test_the_command_says_what_is_wrong(main, words: list[str]):
    with pytest.raises(CommandError, match="There is no"):
        command(*words)


def command(*words: str) -> None:
    call_command("operator", *words, "--why=a test", stdout=StringIO())


def test_the_default_ladder_must_be_open(main):
    main.ladder.admission = "operators"
    with pytest.raises(ValidationError, match="admission must be open"):
        main.ladder.full_clean()


@pytest.mark.parametrize("value", ["", "closed", "OPEN"])
def test_a_wrong_admission_is_refused_and_lets_nobody_in(main, other, value: str):
    other.ladder.admission = value
    with pytest.raises(ValidationError, match="admission"):
        other.ladder.full_clean()
    Ladder.objects.filter(pk=other.ladder_id).update(admission=value)
    other.ladder.refresh_from_db()

    with pytest.raises(MembershipRefused):
        memberships.join(bot(1), other.ladder)


def test_a_bot_may_try_a_ladder_before_it_joins(main, other):
    memberships.join(bot(2), other.ladder)
    one, three = bot(1), bot(3)

    assert challenges.challenge(one.owner, other.ladder, ["bot-1", "bot-2"])
    with pytest.raises(challenges.BadChallenge, match="bot-3 does not play on other"):
        challenges.challenge(one.owner, other.ladder, ["bot-1", "bot-3"])
    assert three.status == "active"


def test_uploads_are_tried_on_the_ladders_of_their_bot_only(main):
    """A bot that only knew one ruleset was rejected because of a second ladder."""
    devir = second_ladder(ruleset="devir-2017")
    one, new = bot(1), factories.bot("new")
    memberships.join(one, devir.ladder)

    def rulesets(of: Bot) -> set[str]:
        forms = selectors.validation_forms(factories.newest(of).pk)
        return {form.ruleset for form in forms}

    assert rulesets(new) == {"yucata"}
    assert rulesets(one) == {"yucata", "devir-2017"}
    memberships.leave(one, main.ladder)
    assert rulesets(one) == {"devir-2017"}
