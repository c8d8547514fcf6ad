"""The documentation as static pages: no dead link, and a search without a server."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

ROOT = Path(__file__).parents[2]
LINK = re.compile(r'(?:href|src)="([^"]*)"')
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    program = [sys.executable, ROOT / "deploy/site.py", folder]
    subprocess.run(program, check=True, cwd=folder)
    return folder


def test_every_link_leads_to_a_file_and_to_a_heading(site: Path) -> None:
    texts = {path: path.read_text() for path in site.rglob("*.html")}
    dead = []
    for path, text in texts.items():
        for link in LINK.findall(text):
            file, _, anchor = link.partition("#")
            if file.startswith("https://"):
                continue
            target = (path.parent / file).resolve() if file else path
            known = texts.get(target, "") if anchor else ""
            if not target.is_file() or (anchor and f'id="{anchor}"' not in known):
                dead.append(f"{path.relative_to(site)}: {link}")

    assert len(texts) > 200
    assert dead == []


@pytest.mark.browser
def test_the_search_works_from_a_disk(chromium: Browser, site: Path) -> None:
    rules = next(site.glob("*/rules/index.html"))
    page = chromium.new_page()
    page.goto(rules.as_uri())
    page.get_by_label("Search").fill("mulligan nothing-has-this-word")
    expect(page.get_by_text("Nothing contains all these words.")).to_be_visible()
    page.get_by_label("Search").fill("strictly most knights")
    page.locator("#found a").first.click()
    page.wait_for_url("**/rules/index.html#*")
    page.close()
