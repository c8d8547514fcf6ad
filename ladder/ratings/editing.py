"""Operators create and edit ladders from a document, as they do tournaments.

A change counts for the matches that are made after it. TrueSkill's parameters count
from the next season on.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings.models import Ladder
from torres.common.documents import DocumentReader
from torres.common.quoting import quoted
from torres.rating.description import BadLadder, LadderDescription, ladder_problems
from torres.runner.protocol import Limits

PARAMETERS = ("mu", "sigma", "beta", "tau")
MAX_PARAMETER = 1_000_000.0
DEFAULTS: Mapping[str, Any] = {
    "ruleset": "yucata",
    "tables": {"2": 0.4, "3": 0.2, "4": 0.4},
}
KEYS = (
    *("name", "slug", "ruleset", "switches", "tables", "limits", "duplicate"),
    *("shared_deals", "default", "admission", "opens_at", "closes_at", *PARAMETERS),
)


class StoredLadder(NamedTuple):
    ladder: Ladder
    entry: AuditEntry


def create(operator: Operator, document: object) -> StoredLadder:
    """Create a ladder, without a season. Raises BadLadder."""
    ladder = Ladder(**DEFAULTS)
    fields = _read(document, ladder, is_new=True)
    return _store(operator, ladder, fields, "create")


def edit(operator: Operator, ladder: Ladder, document: object) -> StoredLadder:
    """Change the fields that a document holds. Raises BadLadder."""
    return _store(operator, ladder, _read(document, ladder, is_new=False), "edit")


def _store(
    operator: Operator, ladder: Ladder, fields: Mapping[str, Any], step: str
) -> StoredLadder:
    """Store the row and an entry of the audit log, or nothing."""
    for name, value in fields.items():
        setattr(ladder, name, value)
    try:
        with transaction.atomic():
            ladder.full_clean()
            ladder.save()
            entry = operator.record(
                AuditEntry.Kind.PARAMETERS,
                f"ladder {ladder.slug}",
                step=step,
                fields=sorted(fields),
            )
    except ValidationError as error:
        raise BadLadder(_texts(error)) from error
    except IntegrityError as error:
        raise BadLadder(
            ["body: another operator changed the ladders at the same moment; try again"]
        ) from error
    return StoredLadder(ladder, entry)


def _texts(error: ValidationError) -> list[str]:
    """Return the mistakes that the row itself has, each with its field."""
    return [
        text if name == "__all__" else f"{name}: {text}"
        for name, texts in error.message_dict.items()
        for text in texts
    ]


def _read(document: object, ladder: Ladder, *, is_new: bool) -> dict[str, Any]:
    if not isinstance(document, Mapping):
        rule = "it must be an object with the keys of a ladder"
        raise BadLadder([f"body: {quoted(document)}; {rule}"])
    reader = _LadderReader(document, ladder, is_new=is_new)
    reader.read()
    if reader.mistakes:
        raise BadLadder(list(dict.fromkeys(reader.mistakes)))
    return reader.fields


class _LadderReader(DocumentReader):
    """Reads a document of a ladder; the stored row has the values it leaves out."""

    def __init__(
        self, document: Mapping[str, Any], ladder: Ladder, *, is_new: bool
    ) -> None:
        super().__init__(document, is_new=is_new)
        self.ladder = ladder

    def read(self) -> None:
        self.refuse_unknown(KEYS, "ladder")
        self.read_name()
        self._read_slug()
        self.read_terms(Limits().as_dict() if self.is_new else self.ladder.limits)
        if self.given("tables"):
            self.fields["tables"] = self.document["tables"]
        for key in ("duplicate", "shared_deals", "default"):
            self.read_boolean(key)
        self.read_choice("admission", Ladder.Admission.values)
        for key in ("opens_at", "closes_at"):
            self.read_moment(key)
        for key in PARAMETERS:
            self._read_parameter(key)
        self._check_default()
        self._check_description()

    def _check_default(self) -> None:
        others = Ladder.objects.filter(default=True).exclude(pk=self.ladder.pk)
        if self.fields.get("default") and (other := others.first()):
            self.refuse(
                "default", f"{other.slug} is the default ladder; end that there first"
            )

    def _read_slug(self) -> None:
        if not self.is_new:
            self.keep_slug(self.ladder.slug)
            return
        slug = self.document.get("slug")
        rows = Ladder.objects.filter(slug=str(slug).replace("\0", ""))
        self.read_new_slug(slug, taken=rows.exists())

    def _read_parameter(self, key: str) -> None:
        if not self.given(key):
            return
        value = self.document[key]
        least = 0 if key in ("mu", "tau") else 1e-6
        # Not isinstance: True is an int in Python. NaN is in no interval.
        if type(value) in (int, float) and least <= value <= MAX_PARAMETER:
            self.fields[key] = float(value)
        else:
            self.refuse(key, f"it must be a number from {least:g} to {MAX_PARAMETER:g}")

    def _check_description(self) -> None:
        described = self.fields_of(LadderDescription)
        after = replace(self.ladder.description(), **described)
        self.mistakes += ladder_problems(after)
