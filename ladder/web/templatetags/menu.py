"""The main menu: five sections, and the pages of the one that is open."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.template import Library
from django.urls import get_script_prefix, reverse
from django.utils.translation import gettext, gettext_noop as _

register = Library()


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A link of the menu. `page` is the name of a route, `key` its argument.

    `label` is English, here and in a section. A link has it in the reader's language.
    """

    label: str
    page: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class MenuSection:
    """An entry of the main menu, and the entries that it opens.

    It leads to the page of its first entry. `parts` are the first parts of the
    addresses of its pages.
    """

    label: str
    parts: frozenset[str]
    entries: tuple[MenuEntry, ...]


SECTIONS = (
    MenuSection(
        _("Watch"),
        frozenset({"tv", "games", "matches", "replay", "position"}),
        (
            MenuEntry(_("Torres TV"), "tv"),
            MenuEntry(_("Games"), "games-page"),
            MenuEntry(_("View a replay file"), "replay-file"),
        ),
    ),
    MenuSection(
        _("Play"),
        frozenset({"play", "practice", "learn", "puzzles"}),
        (
            MenuEntry(_("Play by hand"), "play"),
            MenuEntry(_("Learn to play"), "learn"),
            MenuEntry(_("Puzzles"), "puzzles"),
            MenuEntry(_("The rules"), "document", "rules"),
        ),
    ),
    MenuSection(
        _("Ladder"),
        frozenset({"leaderboard", "ladders", "bots", "submissions", "comparisons"}),
        (
            MenuEntry(_("Leaderboard"), "leaderboard"),
            MenuEntry(_("All ladders"), "ladders-page"),
            MenuEntry(_("Bots"), "bots-page"),
        ),
    ),
    MenuSection(
        _("Tournaments"),
        frozenset({"tournaments", "organise"}),
        (MenuEntry(_("Tournaments"), "tournaments-page"),),
    ),
    MenuSection(
        _("Build"),
        frozenset({"docs", "api", "write"}),
        (
            MenuEntry(_("Write a bot"), "write"),
            MenuEntry(_("Protocol"), "protocol"),
            MenuEntry(_("Tutorial"), "document", "tutorial"),
            MenuEntry(_("Documentation"), "docs"),
            MenuEntry(_("API"), "api-docs"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class MenuLink:
    """A link as the page shows it. `current` is the value of aria-current."""

    label: str
    address: str
    current: str


@dataclass(frozen=True, slots=True)
class MainMenu:
    """The sections, and the label and the entries of the open one.

    There are no entries if no section is open, or if it has one page.
    """

    sections: list[MenuLink]
    label: str
    entries: list[MenuLink]


@register.simple_tag(takes_context=True)
def main_menu(context: dict[str, Any]) -> MainMenu:
    """Return the menu of this page."""
    request = context.get("request")
    path = request.path if request else ""  # an error may be in the request itself
    prefix = get_script_prefix()
    links = {section: _links(section, prefix, path) for section in SECTIONS}
    opened = _open_section(links, path.removeprefix(prefix).partition("/")[0])
    sections = [
        MenuLink(
            gettext(section.label),
            entries[0].address,
            entries[0].current or ("true" if section is opened else ""),
        )
        for section, entries in links.items()
    ]
    if opened is None or len(opened.entries) == 1:
        return MainMenu(sections, "", [])
    return MainMenu(sections, gettext(opened.label), links[opened])


def _open_section(
    links: Mapping[MenuSection, list[MenuLink]], part: str
) -> MenuSection | None:
    """Return the section that lists this page, or else has others below `part`."""
    for section, entries in links.items():
        if any(entry.current for entry in entries):
            return section
    return next((section for section in links if part in section.parts), None)


def _links(section: MenuSection, prefix: str, path: str) -> list[MenuLink]:
    return [
        MenuLink(gettext(label), address, "page" if address == path else "")
        for label, address in _addresses(section, prefix)
    ]


@lru_cache
def _addresses(section: MenuSection, _prefix: str) -> list[tuple[str, str]]:
    """Return labels and addresses below the prefix of this request."""
    return [
        (each.label, reverse(each.page, args=[each.key] if each.key else None))
        for each in section.entries
    ]
