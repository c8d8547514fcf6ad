"""A new organiser follows docs/tournaments.md, and nothing else.

The files, the commands and the words of the buttons come from the page. Scripted
players play the games; in tests/ops/test_planted_rows.py a real service does.
"""

import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from ladder.accounts import scopes, tokens
from ladder.bots.house_bots import ensure_house_bots
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.conftest import need_program
from tests.tournaments import documented
from tests.tournaments.documented import EXAMPLES, FILES, STEPS
from tests.tournaments.factories import play_out
from torres.formats.config import Format

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("data_dir"),
]
Entrance = Callable[[Path, str], str]
FORM = re.compile(r"<form method=\"post\"(.*?)</form>", re.DOTALL)


@pytest.fixture(autouse=True)
def oscar(data_dir: Path) -> User:
    """Return a person who has nothing but the role of an organiser."""
    ensure_house_bots()
    user = User.objects.create(username="oscar")
    assert documented.ROLE
    call_command(*shlex.split(documented.ROLE[1]), stdout=io.StringIO())
    assert not user.is_staff
    assert not user.is_superuser
    return user


# The pages.


class PatientVisitor:
    """A browser without scripts, in the hands of a person who reads words."""

    def __init__(self) -> None:
        self.client = Client()
        self.client.force_login(User.objects.get(username="oscar"))
        self.address = "/"
        self.page = ""

    def open(self, address: str) -> None:
        answer = self.client.get(address, follow=True)
        self._show(answer)

    def choose(self, words: str) -> None:
        """Follow the link with these words."""
        found = re.search(rf'<a href="([^"]+)">{re.escape(words)}</a>', self.page)
        assert found, words
        self.open(found[1])

    def press(self, words: str, fields: dict[str, str]) -> None:
        """Send the form that has a button with these words."""
        form = next(each for each in FORM.findall(self.page) if f">{words}<" in each)
        action = re.match(r'[^>]* action="([^"]+)"', form)
        button = re.search(rf"<button([^>]*)>{re.escape(words)}<", form)
        assert button
        named = dict(re.findall(r'(name|value)="(\w+)"', button[1]))
        act = {named["name"]: named["value"]} if named else {}
        address = action[1] if action else self.address
        answer = self.client.post(address, fields | act, follow=True)
        assert 'role="alert"' not in answer.content.decode(), answer.content.decode()
        self._show(answer)

    def fill_in(self, entries: dict[str, str]) -> dict[str, str]:
        """Return the fields that a browser sends, found by the keys beside them."""
        fields = {}
        known = set()
        for part in self.page.split('<div class="field')[1:]:
            names = re.findall(r'name="(\w+)"', part)
            keys = re.findall(r"<code[^>]*>(\w+)</code>", part)
            if not (names and keys):
                continue
            name, key = names[0], keys[0]
            known.add(key)
            fields[name] = entries[key] if key in entries else initial(part)
        assert set(entries) <= known
        return {name: value for name, value in fields.items() if value}

    def _show(self, answer: Any) -> None:
        assert answer.status_code == 200, (answer.status_code, answer.content[:2000])
        self.address = answer.request["PATH_INFO"]
        self.page = answer.content.decode()


def initial(field: str) -> str:
    """Return what a field of a page holds before a person changes it."""
    if 'type="checkbox"' in field:
        return "on" if " checked" in field else ""
    for pattern in (r'<option value="([^"]*)" selected', r' value="([^"]*)"'):
        if found := re.search(pattern, field.partition("<textarea")[0]):
            return found[1]
    return ""


def on_the_pages(folder: Path, file: str) -> str:
    start, new, *buttons = words_of_the_pages()
    reader = PatientVisitor()
    reader.open(start)
    reader.choose(new)
    fields = reader.fill_in(documented.entries(file))
    for words in buttons:
        reader.press(words, fields if words in ("Preview", "Create the draft") else {})
    return Tournament.objects.get().slug


def words_of_the_pages() -> list[str]:
    """Return the address and the words of links and buttons, in their order."""
    part = STEPS.partition("**On the pages.**")[2].partition("\n**")[0]
    address = re.search(r"open `([^`]+)`", part)
    assert address
    return [address[1], *re.findall(r"\*([A-Z][^*]+)\*", " ".join(part.split()))]


# REST and the file.


def over_rest(folder: Path, file: str, server: str) -> str:
    need_program("curl", "curl")
    wanted = scopes.parse(re.findall(r"`(read|organise)`", STEPS)[:2])
    token = tokens.token_for("oscar", scopes=wanted)
    return documented.run_over_rest(folder, file, server, token)


def with_a_file(folder: Path, file: str) -> str:
    (folder / "cup.toml").write_text(file)
    output = io.StringIO()
    for line in documented.lines("With a file"):
        words = documented.management(line)
        names = [str(folder / word) if word == "cup.toml" else word for word in words]
        call_command(*names, stdout=output)
    reader = PatientVisitor()
    address = re.search(r"/organise/[\w-]+/", output.getvalue())
    assert address
    reader.open(address[0])
    reader.press("Start", {})
    return Tournament.objects.get().slug


def assert_finished(slug: str, entrants: list[str]) -> None:
    """Look at what everybody sees: the state, the standings and the page."""
    anybody = Client()
    rest = f"/api/v1/tournaments/{slug}/"
    assert anybody.get(rest).json()["status"] == "finished"
    rows = anybody.get(f"{rest}standings/").json()["standings"]
    assert sorted(row["bot"] for row in rows) == sorted(entrants)
    assert rows[0]["rank"] == 1
    page = anybody.get(f"/tournaments/{slug}/").content.decode()
    podium = page.partition('class="podium')[2]
    assert rows[0]["bot"] in podium


def slugs(file: str) -> list[str]:
    names = re.findall(r"house:(\w+)", file)
    assert len(names) == 4
    return [f"house-{name}" for name in names]


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES.values(), ids=list(FILES))
@pytest.mark.parametrize("entrance", ["form", "rest", "file"])
def test_a_new_organiser_finishes_each_example(
    entrance: str, file: str, tmp_path: Path, live_server: Any
) -> None:
    if entrance == "rest":
        slug = over_rest(tmp_path, file, live_server.url)
    else:
        slug = {"form": on_the_pages, "file": with_a_file}[entrance](tmp_path, file)
    row = Tournament.objects.get(slug=slug)
    assert row.organiser == User.objects.get(username="oscar")

    assert play_out(row).status == TournamentStatus.FINISHED
    assert_finished(slug, slugs(file))


@pytest.mark.parametrize(("file", "preview"), EXAMPLES, ids=list(FILES))
def test_the_preview_is_that_of_the_page(
    tmp_path: Path, file: str, preview: str
) -> None:
    (tmp_path / "cup.toml").write_text(file)
    output = io.StringIO()
    call_command("tournament", tmp_path / "cup.toml", "--dry-run", stdout=output)
    assert output.getvalue().startswith(preview)


def test_the_page_has_an_example_of_each_format() -> None:
    assert set(FILES) == {str(form) for form in Format}
    assert len(EXAMPLES) == len(FILES)


def test_the_page_shows_the_way_through_each_entrance() -> None:
    assert len(words_of_the_pages()) == 6
    assert len(documented.lines("Over REST")) == 5
    assert len(documented.lines("With a file")) == 2
    assert len(documented.lines("Then")) == 2
