"""Lists the mutants of an area, and draws the sample."""

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.commands import init
from cosmic_ray.work_db import WorkDB, use_db

from tests.mutation.areas import Area

SEED = "torres"
# The star of a parameter or of an argument is no operator.
STAR = re.compile(r"(?<=[ (\[{])\*{1,2}(?! )")
# Without its decorator a module mostly fails to import; `|` is mostly an annotation.
LEFT_OUT = ("core/RemoveDecorator", "core/ReplaceBinaryOperator_BitOr_")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module.

    `id` names the area, the file without its folder, the function, the operator, and
    the number of this change among those of the operator in the function. So it stays
    the same if the file moves or if other functions change. `occurrence` counts in the
    whole file.
    """

    id: str
    area: str
    path: str
    line: int
    column: int
    operator: str
    occurrence: int


def sample(source: Path, name: str, area: Area) -> list[Mutant]:
    """Return the mutants of an area that are tried: at most one for each position.

    The order in which they are drawn follows from their ids. So a change of the code
    changes little of the sample.
    """
    chosen: dict[tuple[str, int, int], Mutant] = {}
    for mutant in sorted(all_mutants(source, name, area), key=_rank):
        chosen.setdefault((mutant.path, mutant.line, mutant.column), mutant)
    return list(chosen.values())[: area.mutants]


def _rank(mutant: Mutant) -> str:
    return hashlib.sha256(f"{SEED} {mutant.id}".encode()).hexdigest()


def all_mutants(source: Path, name: str, area: Area) -> Iterator[Mutant]:
    """Yield the mutants in all functions of an area."""
    counts: Counter[str] = Counter()
    for path in area.tests:
        with (
            tempfile.TemporaryDirectory() as folder,
            use_db(Path(folder) / "session", WorkDB.Mode.create) as session,
        ):
            init([source / path], session, {})
            found = [item.mutations[0] for item in session.work_items]
        found.sort(key=lambda change: (change.operator_name, change.occurrence))
        lines = (source / path).read_text().splitlines()
        for change in found:
            operator = change.operator_name
            line, column = change.start_pos
            if (
                change.definition_name is None
                or operator.startswith(LEFT_OUT)
                or STAR.match(lines[line - 1], column)
            ):
                continue
            file, short = Path(path).name, operator.partition("/")[2]
            where = f"{name}/{file}:{change.definition_name}:{short}"
            counts[where] += 1
            id_ = f"{where}:{counts[where]}"
            yield Mutant(id_, name, path, line, column, operator, change.occurrence)
