"""Organisers create and run tournaments by REST, by the forms and by files."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from ladder.accounts import roles
from ladder.games import attempts
from ladder.games.models import Game, GameStatus
from ladder.games.worker.play import play
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.tournaments import organising
from ladder.tournaments.document import read_document
from ladder.tournaments.models import Tournament, TournamentStatus, default_limits
from tests.games.factories import bot, bots
from tests.tournaments.factories import (
    begun,
    play_out,
    play_scheduled,
    standings,
    tick,
    tournament,
    worker,
)
from tests.tournaments.organisers import (
    FileEntrance,
    PageEntrance,
    Refused,
    RestEntrance,
    client_of,
    organiser,
)

pytestmark = pytest.mark.django_db(transaction=True)
ENTRANCES = [RestEntrance, FileEntrance, PageEntrance]
DOCUMENTS: list[dict[str, Any]] = [
    {"name": "Round robin", "format": "round_robin"},
    {"name": "Swiss", "format": "swiss", "rounds": 2, "duplicate": False},
    {"name": "Single", "format": "single_elimination", "best_of": 3},
    {"name": "Double", "format": "double_elimination", "reset": False},
    {"name": "Groups", "format": "groups", "groups": 2, "advance": 1},
]
SWISS = {"name": "Cup", "format": "swiss"}


@pytest.fixture(params=ENTRANCES, ids=["rest", "file", "form"])
def entrance(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return request.param(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d["format"])
def test_a_new_organiser_finishes_a_tournament_of_each_format(
    entrance: Any, document: dict[str, Any]
) -> None:
    names = [each.slug for each in bots(5)]
    first, *others = names

    preview = entrance.preview(document | {"entrants": names})
    row = entrance.create(document | {"entrants": [first]})
    assert (row.status, row.organiser.username) == ("draft", "oscar")
    entrance.step(row, "open")
    for name in others:
        entrance.enter(row, name)
    entrance.step(row, "start")
    row.refresh_from_db()
    entrance.step(row, "pause")
    assert tick(slots=4) == 0
    entrance.step(row, "resume")
    row = play_out(row)

    assert row.status == TournamentStatus.FINISHED
    lines = standings(row).lines
    assert len(lines) == 5
    assert lines[0].rank == 1
    assert row.entrants.get(bot__slug=first).seed == 1
    assert "5" in preview
    entrance.step(row, "archive")
    row.refresh_from_db()
    assert row.archived_at is not None


# Only over REST: single calls, and who may do what.


@pytest.fixture
def rest(tmp_path: Path) -> RestEntrance:
    return RestEntrance(tmp_path)


def test_all_mistakes_are_in_one_answer(rest: RestEntrance) -> None:
    document = {"name": "", "format": "swis", "limits": {"move_ms": 0}, "x": 1}
    answer = rest.client.post("/api/v1/tournaments/", document, format="json")

    assert answer.status_code == 422
    assert answer.json()["code"] == "bad-tournament"
    assert {each["field"] for each in answer.json()["errors"]} == {
        *("name", "format", "limits", "x")
    }


@pytest.mark.parametrize("body", [[], [1], "x", 7, None])
def test_a_body_that_is_no_object_is_refused(rest: RestEntrance, body: object) -> None:
    answer = rest.client.post("/api/v1/tournaments/", body, format="json")

    assert answer.status_code == 422
    assert not Tournament.objects.exists()


def test_the_preview_counts_rounds_and_games(rest: RestEntrance) -> None:
    answer = rest.send(
        "post",
        "tournaments/preview/?entrants=8",
        {"name": "Cup", "format": "double_elimination"},
    )

    assert (answer["least_rounds"], answer["most_rounds"]) == (6, 7)
    assert (answer["least_matches"], answer["most_matches"]) == (14, 15)
    assert (answer["least_games"], answer["most_games"]) == (28, 30)
    assert not Tournament.objects.exists()
    for wrong in ("1", "x", "9" * 30, "²"):
        with pytest.raises(Refused, match="entrants: Use a whole number from 2"):
            rest.send("post", f"tournaments/preview/?entrants={wrong}", SWISS)


def test_the_file_of_torres_tournament_says_what_has_no_effect(
    rest: RestEntrance,
) -> None:
    answer = rest.send("post", "tournaments/preview/", SWISS | {"seed": "mine"})

    assert any(note.startswith("seed: the service draws") for note in answer["notes"])


STEPS = ("open", "close-entry", "start", "pause", "resume", "reveal", "archive")
POSSIBLE = {
    "draft": {"open"},
    "entry": {"close-entry", "start"},
    "check_in": {"start"},
    "running": {"pause", "reveal"},
    "finished": {"archive"},
    "cancelled": {"archive"},
}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("status", POSSIBLE)
def test_a_step_in_the_wrong_state_is_a_conflict(
    rest: RestEntrance, status: str, step: str
) -> None:
    row = tournament({"format": "swiss"}, organiser=organiser(), held_back=True)
    for each in bots(2):
        rest.enter(row, each.slug)
    Tournament.objects.update(status=status, started_at=timezone.now())

    answer = rest.client.post(f"/api/v1/tournaments/cup/{step}/")

    if step in POSSIBLE[status] and step != "reveal":
        assert answer.status_code == 200
        assert step not in answer.json()["steps"]
    else:
        assert answer.status_code == 409
        assert answer.json()["code"] == "wrong-state"
        row.refresh_from_db()
        assert row.status == status


def test_a_cancel_needs_a_reason_and_shows_it(rest: RestEntrance) -> None:
    row = tournament({"format": "swiss"}, organiser=organiser())
    with pytest.raises(Refused, match="why: This field is required"):
        rest.step(row, "cancel")
    rest.step(row, "cancel", "The room is flooded.")
    row.refresh_from_db()
    assert (row.status, row.note) == ("cancelled", "The room is flooded.")
    with pytest.raises(Refused, match="409 The tournament is cancelled"):
        rest.step(row, "cancel", "again")


def test_a_cancel_frees_the_slots_of_running_games(rest: RestEntrance) -> None:
    """Two bots that slept kept all slots for minutes after the cancel."""
    row = begun({"format": "swiss"}, 2, organiser=organiser())
    tick(slots=1)
    game = Game.objects.filter(status="scheduled").earliest("pk")
    claim = attempts.claim(game.pk, worker())
    assert claim is not None

    rest.step(row, "cancel", "They sleep.")

    assert set(Game.objects.values_list("status", flat=True)) == {"cancelled"}
    assert not attempts.renew_lease(claim)


def test_only_operators_set_limits_without_a_bound(rest: RestEntrance) -> None:
    """An organiser let each of two bots sleep for an hour."""
    most = 10 * default_limits()["bank_ms"]
    document = SWISS | {"limits": {"bank_ms": most + 1}}

    with pytest.raises(Refused, match=rf"bank_ms is {most + 1}.* set {most} at most"):
        rest.create(document)
    row = rest.create(SWISS | {"limits": {"bank_ms": most}})
    longer = {"limits": {"bank_ms": most + 1}}
    with pytest.raises(Refused, match="bank_ms is"):
        rest.send("patch", f"tournaments/{row.slug}/", longer)
    organising.create(Operator(None, "a long cup"), read_document(document))


def test_a_tournament_changes_until_it_starts(rest: RestEntrance) -> None:
    row = rest.create(SWISS | {"rounds": 3, "limits": {"move_ms": 500}})
    address = "tournaments/cup/"
    changes = {"rounds": None, "seats": 3, "limits": {"bank_ms": 5000}, "slug": "cup"}
    rest.send("patch", address, changes)
    row.refresh_from_db()
    assert row.config == {"format": "swiss", "seats": 3}
    assert (row.limits["move_ms"], row.limits["bank_ms"]) == (500, 5000)
    for wrong in ({"format": "x"}, {"slug": "other"}, {"entrants": []}, {"name": None}):
        with pytest.raises(Refused, match="422"):
            rest.send("patch", address, wrong)
    rest.step(row, "open")
    for each in bots(3):
        rest.enter(row, each.slug)
    rest.step(row, "start")
    with pytest.raises(Refused, match=r"409 .*config cannot change any more"):
        rest.send("patch", address, {"rounds": 9})
    assert rest.send("patch", address, {"name": "New"})["name"] == "New"
    kinds = AuditEntry.objects.filter(kind="tournament", by__username="oscar")
    steps = [entry.details["step"] for entry in kinds.order_by("pk")]
    assert steps == ["create", "edit", "open", *["enter"] * 3, "start", "edit"]


def test_a_format_that_is_too_small_for_the_entrants_is_refused(
    rest: RestEntrance, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = rest.create(SWISS)
    for each in bots(3):
        rest.enter(row, each.slug)
    monkeypatch.setattr("torres.formats.config.MAX_FIXTURES", 1)
    with pytest.raises(Refused, match="422 format: 3 bots have entered"):
        rest.send("patch", "tournaments/cup/", {"format": "round_robin"})
    row.refresh_from_db()
    assert row.config == {"format": "swiss"}


def test_seeds_are_set_by_hand_and_entrants_replaced(rest: RestEntrance) -> None:
    row = rest.create(SWISS | {"entrants": [each.slug for each in bots(3)]})
    bot("late")
    path = f"tournaments/{row.slug}/"
    rest.send("post", f"{path}seeds/", {"seeds": {"bot-0": 2, "bot-1": 1}})
    rest.send("post", f"{path}entrants/bot-1/replace/", {"by": "late"})
    assert seeds(row) == {"bot-0": 2, "bot-1": None, "bot-2": 3, "late": 1}
    wrong: list[tuple[Any, str]] = [
        ({"bot-0": 1}, "1 is the seed of late, too|1 is the seed of bot-0, too"),
        ({"nobody": 1}, "nobody: it is not in this tournament"),
        ({"bot-0": 0}, "greater than or equal to 1"),
        ({"bot-0": "x"}, "valid integer"),
        ([], "dictionary"),
    ]
    for values, why in wrong:
        with pytest.raises(Refused, match=why):
            rest.send("post", f"{path}seeds/", {"seeds": values})
    for by, why in (("late", r"404 bot-1|409"), ("nobody", "404 There is no bot")):
        with pytest.raises(Refused, match=why):
            rest.send("post", f"{path}entrants/bot-0/replace/", {"by": by})
    rest.client.delete(f"/api/v1/{path}entrants/bot-2/")
    rest.step(row, "open")
    rest.step(row, "start")
    assert row.entrants.get(bot__slug="late").seed == 1
    with pytest.raises(Refused, match=r"409 .*only before the start"):
        rest.send("post", f"{path}seeds/", {"seeds": {"bot-0": 1}})
    with pytest.raises(Refused, match=r"409 .*only before the start"):
        rest.send("post", f"{path}entrants/bot-0/replace/", {"by": "bot-2"})


def seeds(row: Tournament) -> dict[str, int | None]:
    return dict(row.entrants.values_list("bot__slug", "seed"))


def test_a_pause_detaches_what_has_not_begun(rest: RestEntrance) -> None:
    """They are scheduled anew after the pause; a match that has begun goes on."""
    row = begun({"format": "round_robin"}, 4, organiser=organiser())
    tick(slots=8)
    games = Game.objects.filter(status=GameStatus.SCHEDULED).order_by("pk")
    before = games.count()
    play(games[0].pk, worker())
    rest.step(row, "pause")
    assert games.count() == 1  # the second game of the match that has begun
    assert tick(slots=8) == 0
    rest.step(row, "resume")
    assert tick(slots=8) == before - 2
    assert play_out(row).status == TournamentStatus.FINISHED


def test_held_back_results_are_revealed_and_then_archived(rest: RestEntrance) -> None:
    row = begun({"format": "swiss", "rounds": 2}, 4, held_back=True)
    Tournament.objects.update(organiser=organiser())
    tick(slots=8)
    with pytest.raises(Refused, match="409 Round 1 is not over"):
        rest.step(row, "reveal")
    play_scheduled(worker())
    row = play_out(row)
    with pytest.raises(Refused, match="409 Some rounds are not revealed"):
        rest.step(row, "archive")
    for _ in range(2):
        rest.step(row, "reveal")
    with pytest.raises(Refused, match="409"):
        rest.step(row, "reveal")
    rest.step(row, "archive")
    with pytest.raises(Refused, match=r"409 .*archived"):
        rest.step(row, "archive")
    with pytest.raises(Refused, match="409 The tournament is archived"):
        rest.send("patch", "tournaments/cup/", {"name": "x"})
    listed = rest.client.get("/api/v1/tournaments/").json()["results"]
    archived = rest.client.get("/api/v1/tournaments/?archived=true").json()["results"]
    assert (listed, [each["slug"] for each in archived]) == ([], ["cup"])


def test_an_organiser_manages_only_own_tournaments(rest: RestEntrance) -> None:
    organiser("erin")
    row = rest.create(SWISS)
    stranger = client_of("sam")
    other = client_of("erin")
    User.objects.create_superuser("olga")
    operator = client_of("olga")
    draft = f"/api/v1/tournaments/{row.slug}/"
    answers = [
        each.patch(draft, {"name": "x"}, format="json").status_code
        for each in (stranger, other, operator)
    ]
    assert answers == [404, 404, 200]
    assert stranger.post("/api/v1/tournaments/", SWISS).status_code == 403
    managed = "/api/v1/tournaments/?managed=true"
    lists = [each.get(managed).json()["results"] for each in (stranger, other)]
    assert lists == [[], []]
    assert len(rest.client.get(managed).json()["results"]) == 1
    rest.step(row, "open")
    answers = [
        each.post(f"{draft}start/").status_code for each in (stranger, other, operator)
    ]
    assert answers == [403, 403, 409]  # nobody has entered
    Tournament.objects.update(organiser=User.objects.get(username="erin"))
    assert other.patch(draft, {"name": "Mine"}, format="json").status_code == 200
    roles.remove_organiser(User.objects.get(username="erin"))
    assert other.patch(draft, {"name": "x"}, format="json").status_code == 403


def test_an_organiser_has_a_quota(
    rest: RestEntrance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ladder.tournaments.organising.MAX_UNFINISHED", 1)
    row = rest.create(SWISS)
    with pytest.raises(Refused, match="429 You have 1 tournaments"):
        rest.create(SWISS | {"name": "Other"})
    rest.step(row, "cancel", "enough")
    rest.create(SWISS | {"name": "Other"})


def test_an_owner_fills_no_tournament_with_bots(rest: RestEntrance) -> None:
    """One author entered 12 of 12 bots."""
    cup = rest.create({"name": "Cup"})
    rest.step(cup, "open")
    author = client_of("ana")
    path = f"/api/v1/tournaments/{cup.slug}/entrants/"
    slugs = [bot(f"ana-{k}", "ana").slug for k in range(5)]

    answers = [author.post(path, {"bot": slug}) for slug in slugs]
    again = author.post(path, {"bot": slugs[0]})
    other = client_of("ben").post(path, {"bot": bot("ben-0", "ben").slug})
    rest.enter(cup, slugs[4])

    assert [answer.status_code for answer in answers] == [201, 201, 201, 409, 409]
    assert "the most that one owner may enter" in answers[3].json()["detail"]
    assert again.status_code < 300
    assert other.status_code == 201
    assert cup.entrants.count() == 5

    rest.send("patch", f"tournaments/{cup.slug}/", {"entries_per_owner": None})
    assert author.post(path, {"bot": slugs[3]}).status_code == 201
    with pytest.raises(Refused, match="from 1 to 1000"):
        rest.send("patch", f"tournaments/{cup.slug}/", {"entries_per_owner": 0})
