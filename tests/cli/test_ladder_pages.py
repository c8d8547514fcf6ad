"""The pages of `torres ladder --web`, from memory and from the running command."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import TORRES
from tests.cli.test_ladder import add_bot, entries
from tests.web.test_pages import AccessibilityCheck
from torres.cli import ladder_pages
from torres.cli.ladder_pages import LadderPages
from torres.cli.local_ladder import LocalLadder
from torres.cli.local_rules import LocalRules
from torres.rating.ledger import EntryKind

HOSTILE = "<script>alert(1)</script>.."


@pytest.fixture
def local(tmp_path: Path):
    """A ladder of two bots with one game, of which one has a hostile name."""
    local = LocalLadder(tmp_path, LocalRules(), "none", "s", [], print)
    with local.opened(fresh=False):
        for number, name in enumerate((HOSTILE, "bob"), 1):
            inputs = {"bot": number, "submission": 1, "digest": name}
            local._append(EntryKind.JOIN, inputs, name=name)
        seats = [
            {"bot": 1, "submission": 1, "rank": 2, "fault": "crash"},
            {"bot": 2, "submission": 1, "rank": 1, "fault": ""},
        ]
        local._open[1] = ()
        local._append(
            EntryKind.GAME, {"seats": seats}, number=1, seed="s/1", scores=[7, 41]
        )
        yield local


def checked(text: str) -> str:
    check = AccessibilityCheck()
    check.feed(text)
    check.close()
    assert check.faults == []
    assert "<script>alert" not in text
    return text


def test_the_pages_show_bots_and_games_and_escape_names(local: LocalLadder) -> None:
    pages = LadderPages(local)
    pages.write()

    board = checked((pages.folder / "index.html").read_text())
    assert "1 games of the bots" in board
    assert "1. <a" in board
    assert '<span class="tag warn">crash</span>' in board
    links = set(re.findall(r'href="(bot-[^"]+)"', board))
    assert len(links) == 2
    for link in links:
        bot = checked((pages.folder / link).read_text())
        assert "polyline" in bot
        assert "It is not in the folder now." in bot


def test_only_the_latest_games_have_a_page(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(ladder_pages, "SHOWN_GAMES", 2)
    folder = tmp_path / "bots"
    add_bot(folder, "ann")
    add_bot(folder, "bob", "banker")
    words = ["ladder", folder, "--games", "3", "--sandbox", "none"]
    subprocess.run([TORRES, *words], cwd=tmp_path, check=True, capture_output=True)
    local = LocalLadder(folder, LocalRules(), "none", "s", [], print)
    with local.opened(fresh=False):
        numbers = [game.number for game in local.latest]
        pages = LadderPages(local)
        (pages.folder / "game-999.html").touch()
        pages.write()

    written = {path.name for path in pages.folder.glob("game-*.html")}
    assert written == {f"game-{number}.html" for number in numbers[-2:]}


def test_the_command_writes_pages_with_the_viewer(tmp_path: Path) -> None:
    folder = tmp_path / "bots"
    add_bot(folder, "ann")
    add_bot(folder, "bob", "banker")
    done = subprocess.run(
        [TORRES, "ladder", folder, "--web", "--games", "1", "--sandbox", "none"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    pages = folder / ".torres-ladder" / "pages"
    assert (pages / "index.html").as_uri() in done.stderr
    number = entries(folder, "game")[0]["number"]
    board = checked((pages / "index.html").read_text())
    assert f'href="game-{number}.html"' in board
    game = (pages / f"game-{number}.html").read_text()
    assert 'id="viewer"' in game
    assert '<ol id="turns"' in game
