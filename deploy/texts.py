"""Collect the texts of pages into the catalogues of languages: `make texts`.

A catalogue is ladder/locale/LANGUAGE/LC_MESSAGES/DOMAIN.po: the domain `django` has the
texts of templates and Python, `djangojs` those of scripts. This program adds new texts
without a translation, and removes those that no page has any more. Sentences with
values, which services and `torres` write, stand only in catalogues (`CONTEXT`): add one
to a catalogue, and this program adds it to the others. The beginning of a catalogue,
with its glossary, stays as it is. No position in a file and no date is
written, so that a change shows only what it translates.
"""

import ast
import io
import os
import re
from collections.abc import Iterator
from http import HTTPStatus
from itertools import chain
from pathlib import Path

import django
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

from engine.editions import PRESETS
from engine.faults import Fault
from engine.moves import Decision
from engine.rulesets import SWITCHES
from ladder.common.stored_texts import CONTEXT
from torres.checking.causes import CAUSES
from torres.checking.findings import Severity
from torres.formats.config import Format, TieBreak
from torres.formats.values import ResultKind

ERRORS = [HTTPStatus(code) for code in (400, 403, 404, 405, 409, 413, 422, 429)]
ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "ladder" / "locale"
FOLDERS = ("ladder", "torres")
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "_": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
}
# The functions of `torres.checking` that have a code, a cause and a cure.
FINDINGS = {"fault", "warning"}
OPTIONS = {"parse_template_string": True}  # of JavaScript
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ladder.settings")
    django.setup()
    for language in sorted(path.name for path in LOCALE.iterdir()):
        for domain in ("django", "djangojs"):
            update(LOCALE / language / "LC_MESSAGES" / f"{domain}.po", domain)


def update(path: Path, domain: str) -> None:
    """Bring a catalogue up to date."""
    head = path.read_text(encoding="utf-8").partition("\n\n")[0]
    catalogue = read(path)
    catalogue.update(collected(domain), no_fuzzy_matching=True)
    body = io.BytesIO()
    write_po(body, catalogue, no_location=True, omit_header=True, ignore_obsolete=True)
    path.write_text(f"{head}\n\n{body.getvalue().decode()}", encoding="utf-8")


def read(path: Path) -> Catalog:
    """Read a catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name)


def collected(domain: str) -> Catalog:
    """Return the texts of a domain, without translations, in the order of the files."""
    catalogue = Catalog()
    for method, text in _sources(domain):
        for _, message, comments, context in extract(
            method, io.BytesIO(text.encode()), KEYWORDS, ["Translators:"], OPTIONS
        ):
            catalogue.add(message, auto_comments=comments, context=context)
    if domain == "django":
        for sentence in chain(_findings(), _words(), _editions(), _acts()):
            catalogue.add(sentence)
        for sentence in _sentences():
            catalogue.add(sentence, context=CONTEXT)
    return catalogue


def _sentences() -> Iterator[str]:
    """Yield the sentences that stand in any catalogue."""
    for path in sorted(LOCALE.glob("*/LC_MESSAGES/django.po")):
        yield from (each.id for each in read(path) if each.context == CONTEXT)


def _findings() -> Iterator[str]:
    """Yield the causes and cures of `torres.checking`, except for those with values."""
    for path in sorted((ROOT / "torres/checking").glob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in FINDINGS:
                for text in call.args[1:3]:
                    if isinstance(text, ast.Constant):
                        yield text.value


def _words() -> Iterator[str]:
    """Yield words of rows, and sentences of tables, which pages translate."""
    # Models can be imported only after the settings.
    from ladder.accounts.scopes import MEANINGS  # noqa: PLC0415
    from ladder.bots.models import Bot, Submission  # noqa: PLC0415
    from ladder.extras.comparisons.models import ComparisonStatus  # noqa: PLC0415
    from ladder.extras.editor.models import TrialStatus  # noqa: PLC0415
    from ladder.extras.practice.models import PracticeStatus  # noqa: PLC0415
    from ladder.extras.puzzles.collection import Level  # noqa: PLC0415
    from ladder.extras.webhooks.models import WebhookReceiver  # noqa: PLC0415
    from ladder.games.models import GameStatus, Match  # noqa: PLC0415
    from ladder.ratings.models import Membership, Season  # noqa: PLC0415
    from ladder.tournaments.models import TournamentStatus  # noqa: PLC0415
    from ladder.web.pages.progress import StepState  # noqa: PLC0415

    choices = [Bot.Status, Submission.Status, ComparisonStatus, TrialStatus]
    choices += [PracticeStatus, GameStatus, Match.Kind, Membership.Status]
    for kind in (*choices, Season.Status, TournamentStatus):
        for value, label in kind.choices:
            yield from (value, label, label.lower())
    for words in (StepState, Level, Fault, ResultKind, Severity, Decision):
        yield from words
    for name in (*Format, *TieBreak):
        yield name.replace("_", " ").capitalize()
    for cause in CAUSES:
        yield from (cause.cause, cause.cure)
    yield from MEANINGS.values()
    yield from WebhookReceiver.labels
    for status in ERRORS:
        yield status.phrase


def _editions() -> Iterator[str]:
    """Yield the names of editions, and the sentences about them and their switches."""
    for preset in PRESETS.values():
        yield from (preset.name, preset.explanation)
    for switch in SWITCHES.values():
        yield switch.meaning


def _acts() -> Iterator[str]:
    """Yield the texts of the table of acts."""
    # Models can be imported only after the settings.
    from ladder.moderation.declaration import table  # noqa: PLC0415
    from ladder.web.api.act_views import sentence_of  # noqa: PLC0415

    for act in table().values():
        yield from filter(None, (act.label, act.help, act.done, act.target.word))
        yield sentence_of(act.target.help)
        for argument in act.arguments:
            yield from (argument.name.capitalize(), sentence_of(argument.help))


def _sources(domain: str) -> Iterator[tuple[str, str]]:
    """Yield the method of Babel for a file, and its text as this method reads it."""
    kinds = {".html": "python", ".txt": "python", ".py": "python"}
    if domain == "djangojs":
        kinds = {".js": "javascript"}
    for path in (p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*"))):
        method = kinds.get(path.suffix)
        if method is None or "kits" in path.parts or "house" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix in (".html", ".txt"):
            # The outcome is Python for xgettext, but Python's own reader minds indents.
            text = INDENT.sub("", templatize(text, origin=str(path)))
        yield method, text


if __name__ == "__main__":
    main()
