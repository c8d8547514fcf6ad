"""Write a dataset, part by part, so that it goes on where it was killed.

1. `start.json` says up to which game and entry the dataset goes.
2. A part has up to `CHUNKS_PER_PART` chunks of one source. Its files get their names
   when they are whole; then a receipt in `parts/` says what they are and where the next
   part begins. A part without a receipt is written again.
3. `manifest.json` names all files with their checksums, and the public log gets its
   hash. Then the folder loses the end `.partial` of its name. So a dataset without it
   is complete.
"""

import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec
import pyarrow as pa
import structlog
from django.db import Error, transaction
from django.utils import timezone

from ladder.events.outbox import NewLeaf, record
from ladder.extras.datasets.part_files import TableFiles, as_table
from ladder.extras.datasets.published import MANIFEST, PARTIAL, complete
from ladder.extras.datasets.tables import TABLES, Chunk, Source, sources
from ladder.public_log import tree
from torres.common.json_object import JsonObject
from torres.common.whole_file import write_whole
from torres.tlog.leaves import LeafKind, document_digest

FORMAT = "torres-dataset/1"
CHUNKS_PER_PART = 20
KEPT_DATASETS = 3
MAX_LEFT_OUT = 1_000
"""If a source leaves out more keys than this, the service is at fault, and no row."""

LOG = "log"

log = structlog.get_logger()
Tables = dict[str, pa.Table]


class TooManyDamagedRows(Exception):
    """The service is at fault, and not a row; the text says what to do."""


def write_dataset(root: Path, day: str) -> Path:
    """Write the dataset of a day into `root`, or finish it; return its folder.

    Raises TooManyDamagedRows, and what the database raises.
    """
    target = root / day
    if target.exists():
        return target
    draft = root / f"{day}{PARTIAL}"
    (draft / "parts").mkdir(parents=True, exist_ok=True)
    untils = _untils(draft)
    receipts = [
        receipt
        for source in sources()
        if source.name in untils
        for receipt in _write_source(draft, source, untils[source.name])
    ]
    manifest = msgspec.to_builtins(_manifest(day, untils.get(LOG, 0), receipts))
    _save(draft / MANIFEST, manifest)
    leaf_data = {"day": day, "manifest": document_digest(manifest)}
    with transaction.atomic():
        record(leaf=NewLeaf(LeafKind.DATASET_PUBLISHED, None, leaf_data))
    shutil.rmtree(draft / "parts")
    (draft / "start.json").unlink()
    draft.replace(target)
    _delete_old(root)
    return target


def _untils(draft: Path) -> dict[str, int]:
    """Return up to which key each source goes; decide it at the first call.

    The key LOG has the size of the public log.
    """
    path = draft / "start.json"
    if not path.exists():
        head = tree.head()
        untils = {source.name: source.until for source in sources()}
        _save(path, untils | {LOG: head.size if head else 0})
    return msgspec.json.decode(path.read_bytes(), type=dict[str, int])


def _write_source(draft: Path, source: Source, until: int) -> list[dict[str, object]]:
    """Write the parts of a source that are missing; return the receipts of all."""
    receipts: list[dict[str, object]] = []
    after = 0
    left_out = 0
    more = True
    while more:
        number = len(receipts) + 1
        path = draft / "parts" / f"{source.name}-{number:05d}.json"
        if not path.exists():
            _save(path, _write_part(draft, source, number, after, until))
        receipt = msgspec.json.decode(path.read_bytes())
        receipts.append(receipt)
        left_out += len(receipt.get("left_out", ()))
        if left_out > MAX_LEFT_OUT:
            raise TooManyDamagedRows(
                f"More than {MAX_LEFT_OUT} rows of {source.name} cannot be read. The"
                f" log has their errors. Correct the cause, and delete {draft}."
            )
        after = receipt["last"]
        more = receipt["more"]
    return receipts


def _write_part(
    draft: Path, source: Source, number: int, after: int, until: int
) -> dict[str, object]:
    """Write the files of one part; return its receipt."""
    files: dict[str, TableFiles] = {}
    with ExitStack() as stack:
        stack.callback(_abandon, files)
        left_out: list[int] = []
        keys = (after, until)
        after, more = _copy_chunks(draft, source, number, keys, files, left_out)
        written = {table: each.finish() for table, each in files.items()}
    return {
        "source": source.name,
        "last": after,
        "more": more,
        "files": written,
        "left_out": left_out,
    }


def _abandon(files: dict[str, TableFiles]) -> None:
    """Close the files of a part; those that are finished are closed already."""
    for each in files.values():
        each.abandon()


def _copy_chunks(
    draft: Path,
    source: Source,
    number: int,
    keys: tuple[int, int],
    files: dict[str, TableFiles],
    left_out: list[int],
) -> tuple[int, bool]:
    """Add the chunks of one part to its files, between two keys.

    Return the last key that was read, and True if the source has more.
    """
    after, until = keys
    more = True
    for _ in range(CHUNKS_PER_PART):
        chunk, as_tables = _read(source, after, until, left_out)
        for table, rows in chunk.rows.items():
            if table not in files:
                stem = draft / table / f"{source.name}-{number:05d}"
                files[table] = TableFiles(stem, TABLES[table])
            files[table].add(rows, as_tables[table])
        after = chunk.last
        more = chunk.more
        if not more:
            break
    return after, more


def _read(
    source: Source, after: int, until: int, left_out: list[int]
) -> tuple[Chunk, Tables]:
    """Read the next chunk; leave out a key whose rows cannot be read or written.

    If a chunk fails, the first half of its keys is tried, down to a single one.
    """
    try:
        chunk = source.read(after, until)
        return chunk, {
            name: as_table(rows, TABLES[name]) for name, rows in chunk.rows.items()
        }
    except Error:
        raise  # the database, and not a row
    except Exception:  # one damaged row must not stop the others
        if until - after <= 1:
            log.exception("a dataset leaves out a row", source=source.name, key=until)
            left_out.append(until)
            return Chunk({}, until, more=False), {}
    chunk, as_tables = _read(source, after, (after + until) // 2, left_out)
    return replace(chunk, more=True), as_tables


def _manifest(day: str, log_size: int, receipts: list[JsonObject]) -> dict[str, object]:
    tables: JsonObject = {
        table: {"columns": columns, "rows": 0, "files": []}
        for table, columns in TABLES.items()
    }
    left_out: dict[str, list[int]] = {}
    for receipt in receipts:
        # Drafts of older versions have no such list.
        if keys := receipt.get("left_out"):
            left_out.setdefault(receipt["source"], []).extend(keys)
        for table, files in receipt["files"].items():
            tables[table]["rows"] += files[0]["rows"]
            tables[table]["files"] += files
    return {
        "format": FORMAT,
        "day": day,
        "finished_at": timezone.now(),
        "log_size": log_size,
        "left_out": left_out,
        "tables": tables,
    }


def _save(path: Path, document: object) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=1))


def _delete_old(root: Path) -> None:
    """Delete all but the newest datasets, and drafts of earlier days."""
    drafts = [each for each in root.iterdir() if each.name.endswith(PARTIAL)]
    for folder in [*complete(root)[KEPT_DATASETS:], *drafts]:
        shutil.rmtree(folder)
