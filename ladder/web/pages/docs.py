"""The documentation pages: which files of docs/ there are, and where they are served.

`docs/rules.md` is served at /docs/rules/, and `docs/decisions/README.md` at
/docs/decisions/. The order and the titles on /docs/ are defined here, in SECTIONS. A
page that SECTIONS does not name appears in the last section with its own title.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import urlsplit

from django.conf import settings
from django.urls import reverse

from ladder.web.pages import markdown
from ladder.web.pages.markdown import Heading, RenderedPage

FOLDER = settings.BASE_DIR / "docs"
INDEX_FILE = "README.md"
SCHEMAS = "schemas"
"""The folder of the JSON Schemas, which are served as they are."""
MIN_CONTENTS = 4  # a page with fewer headings needs no table of contents
SECTIONS = (
    (
        "Write a bot",
        (
            ("install", "Install it"),
            ("tutorial", "Tutorial"),
            ("protocol", "Write a bot"),
            ("rules", "The rules of Torres"),
            ("testing", "Test your bot"),
            ("search", "Search with the engine"),
            ("training", "Train a bot from games"),
            ("environments", "Train with environments"),
            ("languages", "Languages"),
            ("cli", "The torres command"),
        ),
    ),
    (
        "The ladder",
        (
            ("ratings", "Ratings and matchmaking"),
            ("tournaments", "Tournaments"),
            ("playing", "Play by hand"),
            ("public-log", "The public log"),
            ("analysis", "Analyse a game"),
        ),
    ),
    (
        "Write programs for the service",
        (
            ("api", "The REST API"),
            ("events", "Events"),
            ("client", "The Python client"),
            ("data", "Open data"),
            ("contract", "The contract: names and formats"),
            ("stability", "What stays as it is"),
        ),
    ),
    (
        "Run a service",
        (("operating", "Operate a service"), ("anomalies", "Anomalies")),
    ),
    (
        "Read the code",
        (
            ("reading-the-code", "Reading the code"),
            ("glossary", "Glossary"),
            ("rules-coverage", "Rules, code and tests"),
            ("decisions", "Decisions"),
        ),
    ),
)
OTHER_PAGES = "More pages"


@dataclass(frozen=True, slots=True)
class DocumentLink:
    """An entry in a list of pages."""

    title: str
    url: str
    name: str


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A titled list of pages."""

    title: str
    pages: Sequence[DocumentLink]


@dataclass(frozen=True, slots=True)
class Document:
    """A page, ready for the template. `contents` are its headings of level 2 and 3.

    `listed` is the name of the page in the list of all pages: a page of a folder is
    found below the page of the folder.
    """

    title: str
    listed: str
    page: RenderedPage
    contents: Sequence[Heading]


def sections() -> list[DocumentSection]:
    """Return all pages except those inside folders, as they are listed on /docs/."""
    names = {name for name in _files() if name and "/" not in name}
    result = []
    for section_title, entries in SECTIONS:
        links = [
            DocumentLink(label, url(name), name)
            for name, label in entries
            if name in names
        ]
        if links:
            result.append(DocumentSection(section_title, links))
    named = {name for _, entries in SECTIONS for name, _ in entries}
    if others := sorted(names - named):
        links = [DocumentLink(title(name), url(name), name) for name in others]
        result.append(DocumentSection(OTHER_PAGES, links))
    return result


def find(name: str) -> Document | None:
    """Return a page by its name, such as "rules" or "decisions/0001-x"."""
    path = _files().get(name)
    if path is None or not name:
        return None
    page = _render(path)
    contents = [heading for heading in page.headings if heading.level in (2, 3)]
    if len(contents) < MIN_CONTENTS:
        contents = []
    return Document(title(name), name.partition("/")[0], page, contents)


def schema(name: str) -> Path | None:
    """Return the file of a JSON Schema by its name without suffix; None if unknown."""
    return {path.stem: path for path in (FOLDER / SCHEMAS).glob("*.json")}.get(name)


def names() -> list[str]:
    """Return the names of all pages."""
    return sorted(name for name in _files() if name)


def path_of(name: str) -> Path:
    """Return the file of a page. Raises KeyError for an unknown name."""
    return _files()[name]


def url(name: str) -> str:
    return reverse("document", args=[name]) if name else reverse("docs")


def _files() -> dict[str, Path]:
    """Return the files of docs/ by the names of their pages; "" is docs/README.md."""
    return _files_in(FOLDER)


@cache
def _files_in(folder: Path) -> dict[str, Path]:
    """List a folder once, because it changes with the program only."""
    return {_name(path): path for path in sorted(folder.rglob("*.md"))}


def _name(path: Path) -> str:
    relative = path.relative_to(FOLDER)
    page = relative.parent if relative.name == INDEX_FILE else relative.with_suffix("")
    return "" if page == Path() else page.as_posix()


def title(name: str) -> str:
    """Return the title of a page in lists."""
    path = _files()[name]
    known = {page: title for _, entries in SECTIONS for page, title in entries}
    return known.get(name) or _first_heading(path) or name


@cache
def _first_heading(path: Path) -> str:
    """Return the first heading of a file."""
    return markdown.title(path.read_text(encoding="utf-8"))


@cache
def _render(path: Path) -> RenderedPage:
    """Render a file."""

    def translate_link(target: str) -> str | None:
        return _translate_link(path, target)

    return markdown.render(path.read_text(encoding="utf-8"), translate_link)


def _translate_link(source: Path, target: str) -> str | None:
    """Return the URL of a link in the file `source`.

    External links, absolute paths of this site and anchors stay as they are. A link to
    a file outside docs/, for example to source code, has no URL.
    """
    parts = urlsplit(target)
    if parts.scheme or not parts.path or parts.path.startswith("/"):
        return target
    folder = source.relative_to(FOLDER).parent.as_posix()
    file = normpath(join(folder, parts.path))
    if file.startswith(".."):
        return None  # it leaves docs/
    path = FOLDER / file
    if path.is_dir():
        path /= INDEX_FILE
    if path.parent == FOLDER / SCHEMAS and schema(path.stem) == path:
        return reverse("schema-file", args=[path.stem])
    if path not in _files().values():
        return None
    anchor = f"#{parts.fragment}" if parts.fragment else ""
    return f"{url(_name(path))}{anchor}"
