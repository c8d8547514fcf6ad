"""Each decision has a header, and the index lists it under its theme."""

import re
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).parents[2] / "docs/decisions"
FILES = sorted(FOLDER.glob("[0-9]*.md"))
INDEX = (FOLDER / "README.md").read_text()
HEADER = re.compile(
    r"# (?P<number>\d+)\. (?P<title>.+)\n\n"
    r"- Date: (?P<date>\d{4}-\d\d-\d\d)\n"
    r"- Status: (?:accepted|superseded by \[\d+\]\((?P<later>[\w-]+\.md)\))\n"
    r"- Theme: (?P<theme>.+)\n"
    r"(?:- Supersedes: (?P<earlier>\[\d+\]\(.+\))\n)?"
    r"\n"
)
ENTRY = re.compile(
    r"^- \[(.+?)\]\(([\w-]+\.md)\)(?: \(superseded by \[(\d+)\]\(.+\)\))?$",
    re.MULTILINE,
)
LINK = re.compile(r"\[(\d+)\]\(([\w-]+\.md)\)")


class IndexLine(NamedTuple):
    """One line of the index: its heading, its text, and the number that replaces it."""

    theme: str
    text: str
    later: str


def header(file: Path) -> re.Match[str]:
    found = HEADER.match(file.read_text())
    assert found, f"{file.name} has no header as docs/decisions/README.md describes it"
    return found


def index() -> dict[str, IndexLine]:
    entries = {}
    for section in INDEX.split("\n## ")[1:]:
        theme, _, text = section.partition("\n")
        for title, name, later in ENTRY.findall(text):
            assert name not in entries, f"{name} is listed twice"
            entries[name] = IndexLine(theme, title, later)
    return entries


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_decision_has_a_header_and_its_place_in_the_index(file: Path) -> None:
    found = header(file)
    entry = index()[file.name]

    assert int(found["number"]) == int(file.name[:4])
    assert date.fromisoformat(found["date"]) > date(2000, 1, 1)
    assert entry.theme == found["theme"]
    assert entry.text == f"{found['number']}. {found['title']}"
    assert entry.later == (str(int(found["later"][:4])) if found["later"] else "")


def test_numbers_are_unique_and_the_index_names_only_decisions() -> None:
    numbers = [file.name[:4] for file in FILES]

    assert len(numbers) > 150
    assert len(set(numbers)) == len(numbers)
    assert set(index()) == {file.name for file in FILES}


def test_a_theme_lists_its_decisions_by_number() -> None:
    for theme in {entry.theme for entry in index().values()}:
        names = [name for name, entry in index().items() if entry.theme == theme]
        assert names == sorted(names), theme


def test_both_decisions_say_that_one_supersedes_the_other() -> None:
    replaced = {
        (file.name, header(file)["later"]) for file in FILES if header(file)["later"]
    }
    replacing = {
        (earlier, file.name)
        for file in FILES
        for _, earlier in LINK.findall(header(file)["earlier"] or "")
    }

    assert replaced == replacing
    assert len(replaced) >= 2


@pytest.mark.parametrize("file", [*FILES, FOLDER / "README.md"], ids=lambda f: f.stem)
def test_links_between_decisions_name_the_number_of_their_file(file: Path) -> None:
    for number, name in LINK.findall(file.read_text()):
        assert (FOLDER / name).is_file()
        assert int(name[:4]) == int(number)
