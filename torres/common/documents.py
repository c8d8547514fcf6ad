"""Reading of documents that people write: JSON, TOML, and the fields of forms.

A reader collects all mistakes, so that one answer names every field, its present value
and what would be right. It accepts no value of a similar type: "2" is no number.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date, datetime
from typing import Any

from torres.common.moments import MOMENT_HINT, parse_moment
from torres.common.names import has_invisible
from torres.common.quoting import quoted

MAX_NAME_LENGTH = 80
MAX_SLUG_LENGTH = 40
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def naming_problems(name: str, slug: str, *, is_new: bool) -> list[str]:
    """Return what is wrong with the name and the slug of a row in a form.

    An empty one is left to the form. The slug of a stored row stays as it is.
    """
    given = {key: text for key, text in (("name", name), ("slug", slug)) if text}
    reader = DocumentReader(given, is_new=False)
    reader.read_name()
    if is_new and slug:
        reader.read_new_slug(slug, taken=False)
    return reader.mistakes


class DocumentReader:
    """Reads the keys that documents of several kinds have.

    `fields` are the values that were read, `mistakes` texts that start with the field.
    """

    def __init__(self, document: Mapping[str, Any], *, is_new: bool) -> None:
        self.document = document
        self.is_new = is_new
        self.fields: dict[str, Any] = {}
        self.mistakes: list[str] = []

    def given(self, key: str) -> bool:
        return key in self.document

    def fields_of(self, description: type) -> dict[str, Any]:
        """Return the values that were read of the fields of a dataclass."""
        names = {field.name for field in fields(description)}
        return {name: value for name, value in self.fields.items() if name in names}

    def refuse(self, key: str, why: str) -> None:
        self.mistakes.append(f"{key}: {quoted(self.document.get(key))}; {why}")

    def refuse_unknown(self, keys: Sequence[str], noun: str) -> None:
        """Refuse the keys that are not in ``keys``."""
        for key in map(str, self.document):
            if key not in keys:
                field = key[:40] if key.isprintable() and ":" not in key else "body"
                self.mistakes.append(
                    f"{field}: {quoted(key)} is not a key of a {noun}; the keys are"
                    f" {', '.join(keys)}"
                )

    def read_name(self) -> None:
        rule = f"a text of 1 to {MAX_NAME_LENGTH} printable characters"
        if not self.given("name"):
            if self.is_new:
                self.mistakes.append(f"name: it is missing; it must be {rule}")
            return
        name = self.document["name"]
        clean = " ".join(name.split()) if isinstance(name, str) else ""
        fits = 1 <= len(clean) <= MAX_NAME_LENGTH
        if fits and clean.isprintable() and not has_invisible(clean):
            self.fields["name"] = clean
        else:
            self.refuse("name", f"it must be {rule}")

    def read_new_slug(self, slug: object, *, taken: bool) -> None:
        """Read the slug of a new row; ``taken`` if another row has it."""
        is_slug = isinstance(slug, str) and SLUG.fullmatch(slug)
        if not is_slug or len(str(slug)) > MAX_SLUG_LENGTH:
            self.refuse(
                "slug",
                f"it must have 1 to {MAX_SLUG_LENGTH} characters: small letters, digits"
                " and single hyphens between them, for example friday-cup",
            )
        elif taken:
            self.mistakes.append(
                f"slug: {quoted(slug)} is taken; give another one with the key slug"
            )
        else:
            self.fields["slug"] = slug

    def keep_slug(self, stored: str) -> None:
        """Refuse another slug than the stored one."""
        if self.given("slug") and self.document["slug"] != stored:
            self.refuse(
                "slug",
                f"it is {quoted(stored)} and cannot change, because it is part of"
                " addresses",
            )

    def read_boolean(self, key: str) -> None:
        if not self.given(key):
            return
        value = self.document[key]
        if isinstance(value, bool):
            self.fields[key] = value
        else:
            self.refuse(key, "it must be true or false")

    def read_choice(self, key: str, choices: Sequence[str]) -> None:
        if not self.given(key):
            return
        value = self.document[key]
        if isinstance(value, str) and value in choices:
            self.fields[key] = value
        else:
            self.refuse(key, f"it must be one of {', '.join(choices)}")

    def read_moment(self, key: str) -> None:
        """Read a time: a text as in RFC 3339, or a date or time of TOML."""
        if not self.given(key):
            return
        value = self.document[key]
        if value is None or value == "":
            self.fields[key] = None
            return
        if isinstance(value, date | datetime):
            value = value.isoformat()
        moment = parse_moment(value) if isinstance(value, str) else None
        if moment is None:
            self.refuse(key, MOMENT_HINT[0].lower() + MOMENT_HINT[1:-1])
        else:
            self.fields[key] = moment

    def read_terms(self, limits: object) -> None:
        """Read ruleset, switches and limits, with ``limits`` for those left out.

        Only the types are checked; the caller checks what the values mean together.
        """
        if self.given("ruleset"):
            if isinstance(self.document["ruleset"], str):
                self.fields["ruleset"] = self.document["ruleset"]
            else:
                self.refuse("ruleset", "it must be a text, for example yucata")
        if self.given("switches"):
            self.fields["switches"] = self.document["switches"]
        changed = self.document.get("limits", {})
        if isinstance(changed, Mapping) and isinstance(limits, Mapping):
            changed = {**limits, **changed}
        if self.given("limits") or self.is_new:
            self.fields["limits"] = changed
