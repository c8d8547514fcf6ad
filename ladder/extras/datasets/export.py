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
from pathlib import Path

import msgspec
from django.db import transaction
from django.utils import timezone

from ladder.events.outbox import NewLeaf, record
from ladder.extras.datasets.part_files import TableFiles
from ladder.extras.datasets.published import MANIFEST, PARTIAL, complete
from ladder.extras.datasets.tables import TABLES, Source, sources
from torres.common.json_object import JsonObject
from torres.common.whole_file import write_whole
from torres.tlog.leaves import LeafKind, document_digest

FORMAT = "torres-dataset/1"
CHUNKS_PER_PART = 20
KEPT_DATASETS = 3


def write_dataset(root: Path, day: str) -> Path:
    """Write the dataset of a day into `root`, or finish it; return its folder."""
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
    manifest = msgspec.to_builtins(_manifest(day, receipts))
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
    """Return up to which key each source goes; decide it at the first call."""
    path = draft / "start.json"
    if not path.exists():
        _save(path, {source.name: source.until for source in sources()})
    return msgspec.json.decode(path.read_bytes(), type=dict[str, int])


def _write_source(draft: Path, source: Source, until: int) -> list[dict[str, object]]:
    """Write the parts of a source that are missing; return the receipts of all."""
    receipts: list[dict[str, object]] = []
    after = 0
    more = True
    while more:
        number = len(receipts) + 1
        path = draft / "parts" / f"{source.name}-{number:05d}.json"
        if not path.exists():
            _save(path, _write_part(draft, source, number, after, until))
        receipt = msgspec.json.decode(path.read_bytes())
        receipts.append(receipt)
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
        after, more = _copy_chunks(draft, source, number, (after, until), files)
        written = {table: each.finish() for table, each in files.items()}
    return {"last": after, "more": more, "files": written}


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
) -> tuple[int, bool]:
    """Add the chunks of one part to its files, between two keys.

    Return the last key that was read, and True if the source has more.
    """
    after, until = keys
    more = True
    for _ in range(CHUNKS_PER_PART):
        chunk = source.read(after, until)
        for table, rows in chunk.rows.items():
            if table not in files:
                stem = draft / table / f"{source.name}-{number:05d}"
                files[table] = TableFiles(stem, TABLES[table])
            files[table].add(rows)
        after = chunk.last
        more = chunk.more
        if not more:
            break
    return after, more


def _manifest(day: str, receipts: list[JsonObject]) -> dict[str, object]:
    tables: JsonObject = {
        table: {"columns": columns, "rows": 0, "files": []}
        for table, columns in TABLES.items()
    }
    for receipt in receipts:
        for table, files in receipt["files"].items():
            tables[table]["rows"] += files[0]["rows"]
            tables[table]["files"] += files
    return {
        "format": FORMAT,
        "day": day,
        "finished_at": timezone.now(),
        "tables": tables,
    }


def _save(path: Path, document: object) -> None:
    write_whole(path, msgspec.json.format(msgspec.json.encode(document), indent=1))


def _delete_old(root: Path) -> None:
    """Delete all but the newest datasets, and drafts of earlier days."""
    drafts = [each for each in root.iterdir() if each.name.endswith(PARTIAL)]
    for folder in [*complete(root)[KEPT_DATASETS:], *drafts]:
        shutil.rmtree(folder)
