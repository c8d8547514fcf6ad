"""The documentation pages: every page opens, and every link on it leads somewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client

from ladder.web.pages import docs, docs_search, markdown

SITE = "http://testserver"


class LinksAndAnchors(HTMLParser):
    """Collects the targets of links and the ids of elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if values.get("id"):
            self.anchors.add(str(values["id"]))
        if tag == "a":
            self.links.append(str(values["href"]))


def parse(browser, address: str) -> LinksAndAnchors:
    answer = browser.get(address, follow=True)
    assert answer.status_code == 200, address
    return LinksAndAnchors(answer.content.decode())


@pytest.fixture(scope="module")
def parsed() -> dict[str, LinksAndAnchors]:
    """Return the pages that were read before: all pages have many links in common."""
    return {}


# The records of decisions are four fifths of the pages, and nobody adds links to them.
NAMES = [
    pytest.param(name, marks=[pytest.mark.slow] if "decisions/" in name else [])
    for name in docs.names()
]


@pytest.mark.parametrize("name", NAMES)
def test_every_link_of_a_page_leads_somewhere(
    visit, parsed: dict[str, LinksAndAnchors], name: str
) -> None:
    browser = visit("")
    address = docs.url(name)

    def read(path: str) -> LinksAndAnchors:
        if path not in parsed:
            parsed[path] = parse(browser, path)
        return parsed[path]

    for link in read(address).links:
        target = urlsplit(urljoin(SITE + address, link))
        if target.netloc != urlsplit(SITE).netloc:
            assert target.scheme in {"http", "https"}, link
            continue
        page = read(f"{target.path}?{target.query}")
        assert not target.fragment or target.fragment in page.anchors, link


def test_the_index_lists_every_page_outside_folders(visit) -> None:
    links = parse(visit(""), "/docs/").links

    for name in docs.names():
        if "/" not in name:
            assert docs.url(name) in links, name
    assert "/docs/problems/" in links
    assert "/api/docs/" in links


def test_the_old_address_of_the_protocol_page_still_works(visit) -> None:
    answer = visit("").get("/docs/bots/")

    assert (answer.status_code, answer["Location"]) == (301, "/docs/protocol/")


@pytest.mark.parametrize("name", ["nothing", "../README", "README", "decisions/9999"])
def test_a_page_that_does_not_exist_is_not_found(visit, name: str) -> None:
    assert visit("").get(f"/docs/{name}/").status_code == 404


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """A docs folder with a page, an index and a folder of pages."""
    monkeypatch.setattr(docs, "FOLDER", tmp_path)
    (tmp_path / "decisions").mkdir()
    (tmp_path / "README.md").write_text("# Documentation\n")
    (tmp_path / "rules.md").write_text("# Rules\n\n## Set-up\n")
    (tmp_path / "decisions" / "README.md").write_text("# Decisions\n")
    (tmp_path / "decisions" / "0001-first.md").write_text("# 1. The first\n")
    return tmp_path


@pytest.mark.parametrize(
    ("link", "html"),
    [
        ("../rules.md#set-up", '<a href="/docs/rules/#set-up">text</a>'),
        ("README.md", '<a href="/docs/decisions/">text</a>'),
        ("../README.md", '<a href="/docs/">text</a>'),
        ("../decisions/", '<a href="/docs/decisions/">text</a>'),
        ("#here", '<a href="#here">text</a>'),
        ("/api/docs/", '<a href="/api/docs/">text</a>'),
        ("https://example.org/", '<a href="https://example.org/">text</a>'),
        ("../../ladder/settings.py", "<code>text</code>"),
        ("../../README.md", "<code>text</code>"),
        ("missing.md", "<code>text</code>"),
    ],
)
def test_links_between_files_become_links_between_pages(
    folder: Path, link: str, html: str
) -> None:
    path = folder / "decisions" / "0001-first.md"
    path.write_text(f"# 1. The first\n\nSee [text]({link}).\n")

    document = docs.find("decisions/0001-first")

    assert document is not None
    assert f"<p>See {html}.</p>" in document.page.html


def test_a_long_page_has_a_table_of_contents(folder: Path, visit) -> None:
    headings = "".join(f"## Part `{k}`\n\n### Detail\n\n" for k in range(3))
    (folder / "rules.md").write_text(f"# Rules\n\n{headings}")

    page = parse(visit(""), "/docs/rules/")

    contents = [link for link in page.links if link[0] == "#" and link != "#main"]
    assert contents[:4] == ["#part-0", "#detail", "#part-1", "#detail-1"]
    assert {link[1:] for link in contents} <= page.anchors


def test_markdown_shows_html_as_text_and_describes_tables() -> None:
    text = "# A <b>\n\n| x |\n|---|\n| <script> |\n\n```\na < b\n```\n"

    html = markdown.render(text, str).html

    assert '<caption class="hidden">A &lt;b&gt;</caption>' in html
    assert '<th scope="col">x</th>' in html
    assert "&lt;script&gt;" in html
    assert "<code>a &lt; b" in html
    assert "<script" not in html


def test_the_search_finds_the_passage_and_marks_the_words(visit) -> None:
    page = visit("").get("/docs/", {"q": "FORFEIT timeout"})
    text = page.content.decode()

    links = [link for link in LinksAndAnchors(text).links if "#" in link]
    assert any(link.startswith("/docs/") for link in links)
    assert re.search("<mark>forfeit</mark>", text, re.IGNORECASE)
    for link in links[1:]:  # the first one skips to the content
        address, _, anchor = link.partition("#")
        assert anchor in parse(visit(""), address).anchors, link


def test_a_heading_is_found_before_a_text(folder: Path, visit) -> None:
    (folder / "rules.md").write_text("# Rules\n\n## Set-up\n\nA castle.\n")
    (folder / "more.md").write_text("# More\n\n## Castle\n\nBlocks.\n")
    (folder / "decisions" / "0001-x.md").write_text("# Castle\n\ncastle castle\n")

    urls = [result.url for result in docs_search.search("castle")]

    assert urls[0] == "/docs/more/#castle"
    assert set(urls) == {
        "/docs/more/#castle",
        "/docs/rules/#set-up",
        "/docs/decisions/0001-x/#castle",
    }
    assert [result.url for result in docs_search.search("castle blocks")] == urls[:1]


@pytest.mark.parametrize(
    "query", ["nothing-like-this", "a" * 5_000, "zq " * 900, "(?P<zq>", "\\zq"]
)
def test_a_search_without_a_result_says_what_to_try(visit, query: str) -> None:
    page = visit("").get("/docs/", {"q": query})

    assert page.status_code == 200
    assert "Try fewer words" in page.content.decode()


@pytest.mark.parametrize("query", ["", "   "])
def test_an_empty_search_shows_the_index_only(visit, query: str) -> None:
    text = visit("").get("/docs/", {"q": query}).content.decode()

    assert "Search results" not in text


def test_hostile_words_are_shown_harmlessly(visit) -> None:
    query = "<script>alert(1)</script>\u202e"
    text = visit("").get("/docs/", {"q": query}).content.decode()

    assert "<script>alert" not in text
    assert "Nothing was found" in text


def test_the_rules_begin_with_a_short_version_in_other_languages(db: None) -> None:
    pages = {
        language: Client()
        .get("/docs/rules/", headers={"Accept-Language": language})
        .content.decode()
        for language in ("en", "de", "es", "pt")
    }

    assert "in-two-minutes" not in pages["en"]
    assert "Die Regeln in zwei Minuten" in pages["de"]
    assert "Las reglas en dos minutos" in pages["es"]
    assert "As regras em dois minutos" in pages["pt"]
