"""Our own Markdown pages as HTML, with anchors for their headings."""

from functools import cache
from itertools import pairwise
from pathlib import Path

from django.utils.safestring import SafeString
from django.utils.text import slugify
from markdown_it import MarkdownIt


@cache
def page(path: Path) -> SafeString:
    """Render a file of this repository; never what somebody else wrote."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(path.read_text())
    for heading, title in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", slugify(title.content))
    text: str = markdown.renderer.render(tokens, markdown.options, {})
    return SafeString(text)  # our own page, and its HTML is off
