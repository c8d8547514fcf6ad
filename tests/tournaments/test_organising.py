"""Organisers create and run tournaments by REST, by the forms and by files."""

import io
import re
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone

from ladder.accounts import roles
from ladder.bots.house_bots import ensure_house_bots
from ladder.games.models import Game, GameStatus
from ladder.games.worker.play import play
from ladder.moderation.models import AuditEntry
from ladder.tournaments.formats.config import Format
from ladder.tournaments.models import Tournament, TournamentStatus
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
TOMORROW = f"{timezone.now() + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}"
IN_AN_HOUR = f"{timezone.now() + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
SWISS = {"name": "Cup", "format": "swiss"}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"format": "swis"}, r"format.*'swis'; it must be one of round_robin"),
    ({"seats": 1}, r"seats.*1; it must be a whole number from 2 to 4"),
    ({"seats": 5}, r"seats.*5; it must be a whole number from 2 to 4"),
    ({"format": "single_elimination", "seats": 4}, r"seats.*two seats at a table"),
    ({"rounds": -1}, r"rounds.*-1; it must be a whole number from 0"),
    ({"rounds": 1001}, r"rounds.*1001; it must be a whole number from 0 to 1000"),
    ({"best_of": 2}, r"best_of.*2; it must be an odd number"),
    ({"best_of": 101}, r"best_of.*101; it must be a whole number from 1 to 99"),
    ({"groups": 0}, r"groups.*0; it must be a whole number from 1 to 256"),
    ({"advance": 65}, r"advance.*65; it must be a whole number from 1 to 64"),
    ({"format": "groups", "final": "swiss"}, r"final.*'?swiss'?; .*must be"),
    ({"points": [0, 1]}, r"points.*highest first"),
    ({"points": [3, 2, 1]}, r"points.*a list of 2 numbers"),
    ({"tie_breaks": ["luck"]}, r"tie_breaks.*'luck'; it must be one of"),
    ({"ruleset": "chess"}, r"ruleset.*unknown ruleset.*choose one of"),
    ({"switches": {"wings": 2}}, r"switches.*unknown switch.*choose one of"),
    ({"switches": {"start_player": "nobody"}}, r"switches.*start_player"),
    ({"limits": {"move_ms": 0}}, r"move_ms.*0; it must be a whole number from 1"),
    ({"limits": {"move_ms": 10**9}}, r"move_ms.*; it must be a whole number from 1"),
    ({"limits": {"memory_mb": -5}}, r"memory_mb.*-5; it must be"),
    ({"limits": {"bank_ms": 10**12}}, r"bank_ms.*; it must be"),
    ({"starts_at": "2020-01-01T00:00:00Z"}, r"starts_at.*is in the past"),
    ({"closes_at": "2020-01-01T00:00:00Z"}, r"closes_at.*is in the past"),
    ({"starts_at": "next week"}, r"starts_at.*'next week'; use a date"),
    ({"closes_at": TOMORROW, "starts_at": IN_AN_HOUR}, r"starts_at.*not be earlier"),
    ({"opens_at": TOMORROW, "closes_at": IN_AN_HOUR}, r"closes_at.*not be earlier"),
    ({"name": ""}, r"name.*it must be a text of 1 to 80 printable characters"),
    ({"name": "x" * 81}, r"name.*it must be a text of 1 to 80 printable"),
    ({"name": "a\u202eb"}, r"name.*it must be a text of 1 to 80 printable"),
    ({"slug": "Friday Cup"}, r"slug.*small letters, digits"),
    ({"slug": "new"}, r"slug.*'new' is taken"),
    ({"slug": "taken"}, r"slug.*'taken' is taken; give another one"),
    ({"seeding": "nobody"}, r"seeding.*'nobody'; there is no such ladder"),
    ({"entrants": ["nobody"]}, r"entrants.*there is no bot 'nobody'"),
    ({"entrants": ["bot-0", "bot-0"]}, r"entrants.*'bot-0' is named twice"),
    ({"entrants": ["not-ready"]}, r"entrants.*not-ready.*no submission that is ready"),
]
"""Values that each entrance can carry, and what the refusal says."""
ONLY_DOCUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"format": ["swiss"]}, r"format: \['swiss'\]; it must be one of"),
    ({"formt": "swiss"}, r"formt: 'formt' is not a key of a tournament; the keys are"),
    ({"seats": "2"}, r"seats: '2'; it must be a whole number"),
    ({"seats": True}, r"seats: True; it must be a whole number"),
    ({"duplicate": "yes"}, r"duplicate: 'yes'; it must be true or false"),
    ({"held_back": 1}, r"held_back: 1; it must be true or false"),
    ({"points": "3"}, r"points: '3'; it must be a list"),
    ({"tie_breaks": "wins"}, r"tie_breaks: 'wins'; it must be a list of names"),
    ({"ruleset": 7}, r"ruleset: 7; it must be a text"),
    ({"switches": [1]}, r"switches: \[1\]; it must be an object"),
    ({"limits": 5}, r"limits: 5; it must be an object"),
    ({"limits": {"wings": 1}}, r"limits: unknown key: 'wings'; the keys are"),
    ({"limits": {"move_ms": "fast"}}, r"limits: move_ms: 'fast'; it must be"),
    ({"name": 7}, r"name: 7; it must be a text"),
    ({"slug": 7}, r"slug: 7; it must have"),
    ({"starts_at": 7}, r"starts_at: 7; use a date"),
    ({"seeding": 7}, r"seeding: 7; there is no such ladder"),
    ({"entrants": "bot-0"}, r"entrants: 'bot-0'; it must be a list"),
    ({"entrants": [1]}, r"entrants: \[1\]; it must be a list of names"),
    ({"entrants": ["\0"]}, r"entrants: there is no bot"),
    ({"bots": "folder"}, r"bots: 'folder'; a folder of programs is for torres"),
]
"""Values that a form cannot carry."""


@pytest.fixture(params=ENTRANCES, ids=["rest", "file", "form"])
def entrance(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return request.param(tmp_path)


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


@pytest.mark.parametrize(("fields", "why"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_value_is_refused_at_every_entrance(
    entrance: Any, fields: dict[str, Any], why: str
) -> None:
    """The refusal names the field, the present value, and what would be right."""
    prepare()
    for act in (entrance.create, entrance.preview):
        with pytest.raises(Refused, match=f"(?s){why}"):
            act(SWISS | fields)
    assert [row.slug for row in Tournament.objects.all()] == ["taken"]


@pytest.mark.parametrize(
    ("fields", "why"), ONLY_DOCUMENTS, ids=range(len(ONLY_DOCUMENTS))
)
@pytest.mark.parametrize("kind", [RestEntrance, FileEntrance], ids=["rest", "file"])
def test_a_wrong_document_is_refused(
    kind: Any, tmp_path: Path, fields: dict[str, Any], why: str
) -> None:
    prepare()
    with pytest.raises(Refused, match=f"(?s){why}"):
        kind(tmp_path).create(SWISS | fields)
    assert [row.slug for row in Tournament.objects.all()] == ["taken"]


def prepare() -> None:
    tournament({"format": "swiss"}, slug="taken")
    bot("bot-0")
    bot("not-ready", ready=False)


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
    monkeypatch.setattr("ladder.tournaments.formats.config.MAX_FIXTURES", 1)
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


# The examples of the documentation.

PAGE = (Path(__file__).parents[2] / "docs/tournaments.md").read_text()
EXAMPLES = re.findall(
    r"### Example: ([^\n]*)\n.*?```toml\n(.*?)```\n\n```\n(.*?)```", PAGE, re.DOTALL
)


@pytest.mark.parametrize(
    ("title", "file", "preview"), EXAMPLES, ids=[title for title, *_ in EXAMPLES]
)
def test_an_example_of_the_documentation_is_played(
    tmp_path: Path, data_dir: Path, title: str, file: str, preview: str
) -> None:
    ensure_house_bots()
    organiser()
    path = tmp_path / "cup.toml"
    path.write_text(file)
    output = io.StringIO()
    call_command("tournament", path, "--organiser", "oscar", "--open", stdout=output)
    row = Tournament.objects.get()
    RestEntrance(tmp_path).step(row, "start")

    assert play_out(row).status == TournamentStatus.FINISHED
    assert output.getvalue().startswith(preview)


def test_the_documentation_has_an_example_of_each_format() -> None:
    formats = {tomllib.loads(file)["format"] for _, file, _ in EXAMPLES}
    assert formats == {str(form) for form in Format}
