"""The two files of a table in one part: lines of JSON with zstd, and Parquet.

Files are written under temporary names. `finish` makes them durable, and gives them
their names.
"""

import os
from collections.abc import Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from ladder.extras.datasets.tables import ColumnType, Row
from ladder.games.exports import ZSTD_LEVEL

TEMPORARY = ".tmp"

_TYPES: Mapping[ColumnType, pa.DataType] = {
    "int": pa.int64(),
    "float": pa.float64(),
    "text": pa.string(),
    "bool": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "texts": pa.list_(pa.string()),
}


def schema_of(columns: Mapping[str, ColumnType]) -> pa.Schema:
    return pa.schema([(name, _TYPES[kind]) for name, kind in columns.items()])


def as_table(rows: Sequence[Row], columns: Mapping[str, ColumnType]) -> pa.Table:
    """Return rows as a table. Raises pa.ArrowException if one has a wrong type."""
    return pa.Table.from_pylist(list(rows), schema=schema_of(columns))


class TableFiles:
    """Writes the rows of one table to both files."""

    def __init__(self, stem: Path, columns: Mapping[str, ColumnType]) -> None:
        stem.parent.mkdir(parents=True, exist_ok=True)
        self._paths = [stem.with_suffix(end) for end in (".ndjson.zst", ".parquet")]
        lines, parquet = (path.with_name(path.name + TEMPORARY) for path in self._paths)
        self._file = lines.open("wb")
        self._lines: Any = zstandard.ZstdCompressor(ZSTD_LEVEL).stream_writer(
            self._file
        )
        self._parquet: Any = pq.ParquetWriter(
            parquet, schema_of(columns), compression="zstd"
        )
        self.rows = 0

    def add(self, rows: Sequence[Row], table: pa.Table) -> None:
        """Add rows, which `table` has as well."""
        if rows:
            self.rows += len(rows)
            self._lines.write(
                b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
            )
            self._parquet.write_table(table)

    def finish(self) -> list[dict[str, object]]:
        """Give both files their names; return their entries of the manifest."""
        self._lines.close()
        self._parquet.close()
        return [self._finished(path) for path in self._paths]

    def abandon(self) -> None:
        """Close both files. The next run overwrites those with temporary names."""
        self._file.close()
        self._parquet.close()

    def _finished(self, path: Path) -> dict[str, object]:
        draft = path.with_name(path.name + TEMPORARY)
        with draft.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
            os.fsync(file.fileno())
        draft.replace(path)
        return {
            "path": f"{path.parent.name}/{path.name}",
            "rows": self.rows,
            "bytes": path.stat().st_size,
            "sha256": digest,
        }
