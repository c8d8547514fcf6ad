"""Every change is told, with what the REST API shows at that moment and no more."""

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from ladder.bots import services as bots, submissions
from ladder.bots.models import Bot, Submission
from ladder.dispatch.retention import apply_slice
from ladder.events import retention, stream, texts
from ladder.events.kinds import EventKind
from ladder.events.models import Fact
from ladder.events.stream import EventRow
from ladder.games import attempts, services as games
from ladder.games.models import Game, Match
from ladder.games.worker.play import play
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import rater, seasons, voids
from ladder.ratings.ladders import ensure_default_ladder
from ladder.ratings.models import Pairing, Season
from ladder.tournaments import organising, services as tournaments
from ladder.tournaments.models import Tournament
from tests.factories import make_bot, upload
from tests.games.factories import TERMS, game, schedule_match, worker
from tests.tournaments.factories import begun, play_scheduled, tick, tournament

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("scripted_players", "data_dir"),
]
Person = Callable[[str], APIClient]
OPERATOR = Operator(None, "a test")


@pytest.fixture(autouse=True)
def _events_have_words() -> Iterator[None]:
    """Say in words all that happened in the test."""
    yield
    told = Fact.objects.exclude(kind="").exclude(data={})  # those were erased
    for kind, data in told.values_list("kind", "data"):
        assert texts.sentence(kind, data).endswith("."), (kind, data)
        assert texts.page_of(data).startswith("/")


def read(after: int = 0) -> list[EventRow]:
    return stream.read(after, 1000)


def kinds(after: int = 0) -> list[str]:
    return [row.kind for row in read(after)]


def assert_public(rows: list[EventRow], anybody: APIClient) -> None:
    """Everybody can read the address of each public event, and its result there."""
    for row in rows:
        if row.public and "url" in row.data:
            answer = anybody.get(row.data["url"])
            assert answer.status_code == 200, row
            if row.kind == EventKind.GAME_FINISHED:
                _assert_same_seats(row, answer.json())


def _assert_same_seats(row: EventRow, shown: dict[str, Any]) -> None:
    assert row.data["bots"] == [seat["bot"] for seat in shown["seats"]]
    for told, seat in zip(row.data["seats"], shown["seats"], strict=True):
        assert told == {name: seat[name] for name in told}
    assert row.data["reason"] == shown["reason"]
    assert row.data["ladder"] == shown["ladder"]


def test_the_life_of_an_upload(api: Person) -> None:
    first = make_bot("one")
    bot = first.bot
    last = upload(bot, b"a second version")
    rejected = submissions.submit(bot, io.BytesIO(b"a third one"), "bot.py")
    claimed = submissions.claim(rejected.pk)
    assert claimed is not None
    submissions.reject(claimed, {"summary": "It crashed on a secret."}, "secret")
    first.refresh_from_db()
    submissions.activate(first)
    submissions.activate(first)  # the second call changes nothing
    rows = read()

    assert [(row.kind, row.data["submission"]) for row in rows] == [
        ("submission.created", first.pk),
        ("submission.ready", first.pk),
        ("submission.created", last.pk),
        ("submission.ready", last.pk),
        ("submission.created", rejected.pk),
        ("submission.rejected", rejected.pk),
        ("submission.activated", first.pk),
    ]
    assert bot.owner is not None
    assert {row.owners for row in rows} == {frozenset({bot.owner.pk})}
    for row in rows:
        is_public = row.kind in ("submission.ready", "submission.activated")
        assert row.is_shown_to(None, is_operator=False) is is_public
        assert row.is_shown_to(bot.owner.pk, is_operator=False)
        assert "secret" not in str(row.data)
    assert_public(rows, api(""))


def test_changes_of_a_bots_status(api: Person) -> None:
    bot = make_bot("one").bot
    after = read()[-1].number
    bots.withdraw(bot)
    bots.bring_back(bot)
    bots.bring_back(bot)
    moderation.set_aside(OPERATOR, bot, AuditEntry.Kind.BENCH)
    moderation.set_aside(OPERATOR, bot, AuditEntry.Kind.BAN)
    moderation.set_aside(OPERATOR, bot, AuditEntry.Kind.BAN)
    moderation.reinstate(OPERATOR, bot)
    rows = read(after)

    told = [(row.kind, row.data["status"]) for row in rows]
    expected = ["withdrawn", "active", "benched", "banned", "active"]
    assert told == [("bot.status", status) for status in expected]
    assert_public(rows, api(""))


def test_a_finished_game_is_told_with_its_result(api: Person) -> None:
    row = game(3)
    play(row.pk, worker())
    (finished,) = read()

    assert (finished.kind, finished.public) == ("game.finished", True)
    assert finished.data["game"] == row.pk
    assert {seat["rank"] for seat in finished.data["seats"]} <= {1, 2, 3}
    assert_public([finished], api(""))


def test_a_late_result_tells_nothing() -> None:
    row = game()
    late = attempts.claim(row.pk, worker())
    assert late is not None
    attempts.release(row.pk, late.fence, "a test")
    seats = [attempts.SeatResult(k, 10, k + 1) for k in range(2)]
    result = attempts.FinishedGame("completed", "1", b"x", seats, "{}")

    assert not attempts.finish(late, result)
    assert read() == []


def test_dead_and_voided_games(api: Person) -> None:
    dead, voided = game(), game()
    for host in ("a", "b", "a"):
        claim = attempts.claim(dead.pk, worker(host))
        assert claim is not None
        attempts.fail(claim, "the disk of host 10.0.0.7 is full")
    play(voided.pk, worker())
    replacement = games.void(voided.pk, "a wrong rule")
    assert replacement is not None
    rows = read()

    assert [row.kind for row in rows] == ["game.dead", "game.finished", "game.voided"]
    assert "10.0.0.7" not in str(rows[0].data)
    assert rows[2].data["replacement"] == replacement.pk
    assert_public(rows, api(""))


def test_games_of_a_comparison_concern_their_owner_only() -> None:
    one = make_bot("one")
    last = upload(one.bot, b"a second version")
    match = schedule_match(Match.Kind.COMPARISON, TERMS, [one, last])
    after = read()[-1].number
    play(match.games.get().pk, worker())
    (finished,) = read(after)

    assert not finished.public
    assert finished.owners == {one.bot.owner_id}


def test_ratings_are_told_after_each_rated_game(api: Person) -> None:
    season = ensure_default_ladder().seasons.get()
    seated = [make_bot(name, f"owner-of-{name}") for name in ("one", "two")]
    rater.welcome(season.pk)
    numbers = [rated_game(season, seated) for _ in range(2)]
    for number in numbers:
        play(number, worker())
    rater.fold(season.pk)
    rows = [row for row in read() if row.kind.startswith("rating.")]

    assert [row.data["game"] for row in rows] == numbers
    for row in rows:
        assert sorted(row.data["bots"]) == ["one", "two"]
    board = api("").get(f"/api/v1/ladders/{season.ladder.slug}/leaderboard/").json()
    shown = {line["bot"]: (line["mu"], line["sigma"]) for line in board["results"]}
    told = {
        rating["bot"]: (rating["mu"], rating["sigma"])
        for rating in rows[-1].data["ratings"]
    }
    assert told == {bot: pytest.approx(shown[bot]) for bot in told}

    voids.void(numbers[0], "a test", replay_again=False)
    rater.fold(season.pk)
    corrected = read()[-1]
    assert (corrected.kind, corrected.data["games"]) == (
        "rating.corrected",
        numbers[:1],
    )
    assert sorted(corrected.data["bots"]) == ["one", "two"]
    assert_public(read(), api(""))


def test_events_add_few_statements_to_a_game() -> None:
    """The result adds one to read and one to write; the fold adds one to write."""
    season = ensure_default_ladder().seasons.get()
    seated = [make_bot(name, f"owner-of-{name}") for name in ("one", "two")]
    rater.welcome(season.pk)
    number = rated_game(season, seated)
    claim = attempts.claim(number, worker())
    assert claim is not None
    results = [attempts.SeatResult(k, 50 - k, k + 1) for k in range(2)]
    result = attempts.FinishedGame("completed", "1", b"x", results, "{}")
    with CaptureQueriesContext(connection) as queries:
        assert attempts.finish(claim, result)
        assert rater.fold(season.pk) == 1
    # On PostgreSQL they do not pass through Django's cursor.
    inserts = [q for q in queries if "INSERT INTO events_fact" in q["sql"]]
    reads = [q for q in queries if q["sql"].startswith("SELECT s.number")]
    slugs = [q for q in queries if q["sql"].startswith('SELECT "bots_bot"')]

    assert len(inserts) == (2 if connection.vendor == "sqlite" else 0)
    assert len(reads) <= 1
    assert slugs == []


def rated_game(season: Season, seated: Sequence[Submission]) -> int:
    terms = games.MatchTerms(TERMS.ruleset, {}, TERMS.limits, ladder=season.ladder.slug)
    match = schedule_match(Match.Kind.LADDER, terms, seated)
    Pairing.objects.create(season=season, match=match)
    return match.games.get().pk


def test_the_life_of_a_season(api: Person) -> None:
    season = ensure_default_ladder().seasons.get()
    seasons.freeze(season)
    seasons.reopen(season)
    seasons.start_finals(season, 1)
    seasons.archive(season)
    rows = read()

    names = ["started", "frozen", "reopened", "finals", "archived"]
    assert [row.kind for row in rows] == [f"season.{name}" for name in names]
    assert_public(rows, api(""))


def test_the_life_of_a_tournament(api: Person) -> None:
    cup = begun({"format": "single_elimination"}, 4)
    worker_id = worker()
    for _ in range(6):
        tick(slots=8)
        play_scheduled(worker_id)
    told = [
        (row.kind, row.data.get("rounds"))
        for row in read()
        if row.kind.startswith("tournament.")
    ]

    assert told == [
        ("tournament.opened", None),
        ("tournament.started", None),
        ("tournament.round-started", [1]),
        ("tournament.round-started", [2]),
        ("tournament.round-finished", [1]),
        ("tournament.round-finished", [2]),
        ("tournament.finished", None),
    ]
    tournaments.cancel(tournament({"format": "swiss"}, slug="other"))
    rows = read()
    assert rows[-1].kind == "tournament.cancelled"
    assert cup.slug == rows[0].data["tournament"]
    assert_public(rows, api(""))


def test_a_pause_and_the_archive_are_told_once(api: Person) -> None:
    cup = begun({"format": "round_robin"}, 3)
    after = read()[-1].number
    for act in (
        *(organising.pause, organising.pause, organising.resume, organising.resume),
        *(organising.pause, tournaments.cancel, organising.archive, organising.archive),
    ):
        with suppress(tournaments.WrongTournamentStatus):
            act(cup)
    rows = read(after)

    names = ["paused", "resumed", "paused", "cancelled", "archived"]
    assert [row.kind for row in rows] == [f"tournament.{name}" for name in names]
    assert {row.data["tournament"] for row in rows} == {cup.slug}
    assert_public(rows, api(""))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "form", ["single_elimination", "double_elimination", "swiss", "round_robin"]
)
def test_no_event_tells_a_result_that_is_held_back(
    form: str, seed: int, api: Person
) -> None:
    """Whatever happens when: only what the API shows is told, and a reveal tells."""
    rng = Random(f"{form}/{seed}")
    cup = begun({"format": form}, rng.choice([3, 4, 5]), held_back=True)
    worker_id, anybody = worker(), api("")
    last, reveals = 0, []
    for _ in range(40):
        if rng.random() < 0.6:
            tick(slots=rng.choice([1, 8]))
        if rng.random() < 0.6:
            play_scheduled(worker_id)
        if rng.random() < 0.2:
            void_one(rng)
        if rng.random() < 0.3:
            reveals += reveal(cup)
        rows = read(last)
        last = rows[-1].number if rows else last
        assert_nothing_hidden(cup, rows)
        assert_public(rows, anybody)
    told = [row for row in read() if row.kind == EventKind.TOURNAMENT_REVEALED]
    assert [row.data["round"] for row in told] == reveals
    assert all(row.public for row in told)


def void_one(rng: Random) -> None:
    finished = list(Game.objects.filter(status="finished").values_list("pk", flat=True))
    if finished:
        voids.void(rng.choice(finished), "a test")


def reveal(cup: Tournament) -> list[int]:
    try:
        tournaments.reveal_next(cup)
    except tournaments.WrongTournamentStatus:
        return []
    return [cup.revealed]


def assert_nothing_hidden(cup: Tournament, rows: list[EventRow]) -> None:
    cup.refresh_from_db()
    for row in rows:
        if "game" in row.data:
            hidden = Match.objects.get(games=row.data["game"]).embargo
            assert not hidden, row
        if row.kind == EventKind.TOURNAMENT_ROUND_FINISHED:
            assert max(row.data["rounds"]) <= cup.revealed
        if row.kind == EventKind.TOURNAMENT_ROUND_STARTED:
            assert max(row.data["rounds"]) <= cup.revealed + 1


def test_bots_without_an_owner_have_events_without_owners() -> None:
    house = Bot.objects.create(slug="house-x", name="house:x", house=True)
    moderation.retire(house, "a test")
    (row,) = read()

    assert row.owners == frozenset()


def test_a_deleted_account_is_erased_from_events(api: Person) -> None:
    anas, bens = make_bot("one", "ana"), make_bot("two", "ben")
    ana = anas.bot.owner
    assert ana is not None
    play(
        schedule_match(Match.Kind.CHALLENGE, TERMS, [anas, bens]).games.get().pk,
        worker(),
    )
    before = read()
    moderation.delete_account(OPERATOR, ana)
    for rule in retention.rules(lambda: None):
        while apply_slice(rule):
            pass
    rows = read()

    assert [row.number for row in rows] == [row.number for row in before]
    new_name = f"deleted-{anas.bot.pk}"
    for row in rows:
        assert "'one'" not in str(row.data)
        assert ana.pk not in row.owners
        if row.kind == EventKind.GAME_FINISHED:
            assert row.data["bots"] == [new_name, "two"]
    assert rows[0].data == {}
    assert_public(rows, api(""))
