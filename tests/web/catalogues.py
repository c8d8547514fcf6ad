"""The program that collects the texts of pages, and a language that marks them."""

import importlib.util
import re
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("texts", ROOT / "deploy/texts.py")
assert SPEC is not None
assert SPEC.loader is not None
texts = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(texts)

TAG = re.compile(r"<[^<>]+>")


def write_marked(folder: Path) -> None:
    """Write a catalogue for German in which each text stands between ⟦ and ⟧."""
    catalogue = Catalog(locale="de")
    for message in texts.collected("django"):
        if isinstance(message.id, str):
            catalogue.add(message.id, _marked(message.id), context=message.context)
        else:
            catalogue.add(message.id, tuple(map(_marked, message.id)))
    path = folder / "de" / "LC_MESSAGES" / "django.mo"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_mo(file, catalogue)


def _marked(text: str) -> str:
    """Put marks around a text, but not around its elements."""
    return "⟦" + TAG.sub(lambda tag: f"⟧{tag[0]}⟦", text) + "⟧" if text else ""
