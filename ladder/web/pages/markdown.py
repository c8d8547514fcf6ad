"""Render the Markdown files of this repository as HTML.

Headings get the same anchors as on GitHub, so that links work in both places. Raw HTML
in the files is not rendered. This module knows no URLs: the caller translates links.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

LinkTranslator = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its level (1 to 6) and its anchor, without the hash sign."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A Markdown file as HTML, with its headings in their order."""

    html: SafeString
    headings: Sequence[Heading]


@dataclass(frozen=True, slots=True)
class Passage:
    """A heading, and the plain text below it up to the next heading."""

    heading: Heading
    text: str


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def render(text: str, translate_link: LinkTranslator) -> RenderedPage:
    """Render a Markdown text.

    `translate_link` gets the target of each link and returns the URL to use, or None if
    the target has no URL. In the latter case the text of the link becomes code.
    """
    parser = _parser()
    tokens = parser.parse(text)
    headings = list(_add_anchors(tokens))
    for token in tokens:
        if token.children:
            token.children = list(_translated(token.children, translate_link))
    _describe_tables(tokens)
    html: str = parser.renderer.render(tokens, parser.options, {})
    # Wide code scrolls, so the keyboard must reach it. The text of the page is escaped.
    html = html.replace("<pre>", '<pre tabindex="0">')
    # The files belong to this repository, and raw HTML in them is escaped.
    return RenderedPage(SafeString(html), tuple(headings))


def passages(text: str) -> Iterator[Passage]:
    """Yield the plain text below each heading of a Markdown text, in their order."""
    tokens = _parser().parse(text)
    headings = _add_anchors(tokens)
    heading: Heading | None = None
    words: list[str] = []
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            if heading is not None:
                yield Passage(heading, " ".join(words))
            heading = next(headings)
            words = []
        elif token.type == "inline":
            words.append(_plain_text(token.children or []))
        elif token.type in {"fence", "code_block"}:
            words.append(" ".join(token.content.split()))
    if heading is not None:
        yield Passage(heading, " ".join(words))


def title(text: str) -> str:
    """Return the text of the first heading of level 1, or an empty string."""
    match = re.search(r"^# +(.+?) *#*$", text, re.MULTILINE)
    return match[1].replace("`", "") if match else ""


def _add_anchors(tokens: Sequence[Token]) -> Iterator[Heading]:
    """Give each heading an id, and yield the headings."""
    uses: Counter[str] = Counter()
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = _plain_text(inline.children or [])
            slug = _slug(text)
            anchor = f"{slug}-{uses[slug]}" if uses[slug] else slug
            uses[slug] += 1
            opening.attrSet("id", anchor)
            yield Heading(int(opening.tag[1:]), text, anchor)


def _slug(text: str) -> str:
    """Return the anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _plain_text(tokens: Sequence[Token]) -> str:
    return "".join(
        token.content if token.type in {"text", "code_inline"} else " "
        for token in tokens
        if token.type in {"text", "code_inline", "softbreak"}
    )


def _translated(
    tokens: Sequence[Token], translate_link: LinkTranslator
) -> Iterator[Token]:
    """Yield the tokens of a paragraph with the targets of its links translated."""
    dropped: list[Token] | None = None  # the text of a link that has no URL
    for token in tokens:
        if token.type == "link_open":
            url = translate_link(str(token.attrGet("href") or ""))
            if url is None:
                dropped = []
                continue
            token.attrSet("href", url)
        elif token.type == "link_close" and dropped is not None:
            yield Token("code_inline", "code", 0, content=_plain_text(dropped))
            dropped = None
            continue
        if dropped is None:
            yield token
        else:
            dropped.append(token)


def _describe_tables(tokens: Sequence[Token]) -> None:
    """Give tables a hidden caption (the heading above them) and scopes of columns."""
    heading = ""
    for token, following in pairwise(tokens):
        if token.type == "table_open":
            token.attrSet("tabindex", "0")  # a wide table scrolls
        elif token.type == "heading_open":
            heading = _plain_text(following.children or [])
        elif token.type == "thead_open":
            # A caption must come first in a table, and Markdown has no token for it.
            token.type = "html_block"
            token.content = (
                f'<caption class="hidden">{escape(heading)}</caption><thead>'
            )
        elif token.type == "th_open":
            token.attrSet("scope", "col")
