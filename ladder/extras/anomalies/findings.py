"""One finding of a report, as it is stored: ids and numbers, no names and no texts."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class FindingKind(StrEnum):
    """The subject of a finding."""

    COLLUSION = "collusion"
    COPIES = "copies"
    SANDBAGGING = "sandbagging"
    VARIANTS = "variants"


@dataclass(frozen=True, slots=True)
class AnomalyFinding:
    """A finding. `form` says more about its kind; the lists hold ids.

    `chance` is the probability of the result of this one test by chance; None where
    nothing was tested. `group` are all bots that are connected with these by findings.
    `paths` are equal files.
    """

    kind: FindingKind
    form: str
    bots: list[int] = field(default_factory=list)
    submissions: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    games: list[int] = field(default_factory=list)
    chance: float | None = None
    numbers: dict[str, float] = field(default_factory=dict)
    group: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def dump(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def load(cls, document: dict[str, Any]) -> "AnomalyFinding":
        """Return the finding that `dump` wrote."""
        return cls(**{**document, "kind": FindingKind(document["kind"])})
