"""The search in the documentation: passages that contain all words of a query."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ladder.web.pages import docs, markdown
from ladder.web.pages.markdown import Passage

MAX_RESULTS = 20
MAX_QUERY_CHARS = 100
MAX_WORDS = 8
EXCERPT_CHARS = 200
MAX_COUNTED = 5  # a word that is in a text more often does not make it better
TITLE_SCORE, HEADING_SCORE = 20, 10
# A decision tells why something was built. Readers look for what it does first.
DECISION_SCORE = -30


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A passage that contains all words. `excerpt` has its parts; odd ones match."""

    title: str
    heading: str
    url: str
    excerpt: Sequence[str]
    score: int


def search(query: str) -> list[SearchResult]:
    """Return the best passages for a query, at most MAX_RESULTS."""
    words = list(dict.fromkeys(query[:MAX_QUERY_CHARS].casefold().split()))[:MAX_WORDS]
    if not words:
        return []
    found = [result for name in docs.names() for result in _in_page(name, words)]
    found.sort(key=lambda result: -result.score)
    return found[:MAX_RESULTS]


def _in_page(name: str, words: Sequence[str]) -> Iterator[SearchResult]:
    title = docs.title(name)
    for passage in _passages(docs.path_of(name)):
        score = _score(title, passage, words)
        if not score:
            continue
        yield SearchResult(
            title=title,
            heading=passage.heading.text,
            url=f"{docs.url(name)}#{passage.heading.anchor}",
            excerpt=_excerpt(passage.text, words),
            score=score + (DECISION_SCORE if "/" in name else 0),
        )


@cache
def _passages(path: Path) -> list[Passage]:
    """Return the passages of a file."""
    return list(markdown.passages(path.read_text(encoding="utf-8")))


def _score(title: str, passage: Passage, words: Sequence[str]) -> int:
    """Return 0 if a word is missing in the passage, its heading and the title."""
    page = title.casefold()
    heading = passage.heading.text.casefold()
    text = passage.text.casefold()
    score = 0
    for word in words:
        value = min(text.count(word), MAX_COUNTED)
        value += TITLE_SCORE * (word in page) + HEADING_SCORE * (word in heading)
        if not value:
            return 0
        score += value
    # The title alone is no reason to list each passage of a page.
    is_below_title = passage.heading.level == 1
    here = any(word in heading or word in text for word in words)
    return score if here or is_below_title else 0


def _excerpt(text: str, words: Sequence[str]) -> list[str]:
    """Return the text around the first match, split at the words.

    The parts with odd numbers are words of the query.
    """
    pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE)
    first = pattern.search(text)
    middle = first.start() if first else 0
    start = max(0, middle - EXCERPT_CHARS // 3)
    if start:
        start = text.rfind(" ", 0, start) + 1
    end = start + EXCERPT_CHARS
    part = text[start:end]
    shown = f"{'… ' if start else ''}{part}{' …' if end < len(text) else ''}"
    return re.split(f"({pattern.pattern})", shown, flags=re.IGNORECASE)
