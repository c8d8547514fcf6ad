"""Every refusal that a person meets on a page is translated.

The sentences are read from the code that raises them, with a number for each value: a
new refusal, or another wording, has to be in the catalogues, too.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from django.utils import translation
from pytest_django import Settings

from engine import refusals as rules
from ladder.common.stored_texts import translated
from tests.web.catalogues import write_marked

ROOMS = (
    "ladder.accounts.invitations",
    "ladder.accounts.signing_up",
    "ladder.accounts.tokens",
    "ladder.accounts.user_names",
    "ladder.bots.names",
    "ladder.bots.services",
    "ladder.bots.submissions",
    "ladder.extras.analysis.services",
    "ladder.extras.comparisons.services",
    "ladder.extras.editor.services",
    "ladder.extras.follows.services",
    "ladder.extras.practice.guests",
    "ladder.extras.practice.services",
    "ladder.extras.webhooks.addresses",
    "ladder.extras.webhooks.services",
    "ladder.ratings.challenges",
    "ladder.ratings.memberships",
    "ladder.ratings.seasons",
    "ladder.tournaments.document",
    "ladder.tournaments.organising",
    "ladder.tournaments.services",
    "torres.upload.archive",
    "torres.upload.checks",
    "torres.upload.formats",
)
OF_PROGRAMS = (
    "the claim on ",
    "the fixture was decided",
    "the host has no address",
    "body: ",
)
"""Sentences that no page shows: workers and the dispatcher read them."""


def sentence(node: ast.expr, module: ModuleType) -> str:
    """Return the sentence of a message, with 7 for each value; empty if unknown."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Name):
        value: Any = getattr(module, node.id, "")
        return value if isinstance(value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(
            sentence(part, module) or "7"
            for part in (
                each.value if isinstance(each, ast.FormattedValue) else each
                for each in node.values
            )
        )
    return ""


def refusals(room: str) -> Iterator[str]:
    module = importlib.import_module(room)
    source = Path(inspect.getsourcefile(module) or "").read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for message in node.exc.args[:1]:
                inner = message.elts[0] if isinstance(message, ast.List) else message
                text = sentence(inner, module)
                if text and not text.startswith(OF_PROGRAMS):
                    yield text


def test_every_refusal_is_translated(settings: Settings, tmp_path: Path) -> None:
    write_marked(tmp_path)
    settings.LOCALE_PATHS = [tmp_path]

    with translation.override("de"):
        missing = [
            f"{room}: {text}"
            for room in ROOMS
            for text in refusals(room)
            if "⟦" not in translated(text)
        ]

    assert missing == []


def test_every_reason_against_an_action_is_translated(
    settings: Settings, tmp_path: Path
) -> None:
    write_marked(tmp_path)
    settings.LOCALE_PATHS = [tmp_path]
    source = Path(inspect.getsourcefile(rules) or "").read_text(encoding="utf-8")
    reasons = {
        sentence(node, rules)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant | ast.JoinedStr)
    }
    cited = re.compile(r"\S.+ \((rules? |D-|docs/contract.md).*\)")

    with translation.override("de"):
        missing = [
            text
            for text in sorted(reasons)
            if cited.fullmatch(text) and "⟦" not in translated(f"a1: {text}")
        ]

    assert missing == []


def test_names_in_refusals_stay_as_they_are() -> None:
    with translation.override("de"):
        named = translated("finished is not in this tournament.")
        clause = translated(
            "The tournament is finished; only one that runs can be paused."
        )

    assert "finished" in named
    assert "finished" not in clause
