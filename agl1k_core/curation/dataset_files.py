"""Tables of a dataset with recordings: Parquet, an audiofolder, or a benchmark folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agl1k_core.benchmarks import FOLDER_TABLE
from agl1k_core.curation import analysis_rows
from agl1k_core.curation.dataset_rows import COLUMNS
from agl1k_core.extras import Deferred
from agl1k_core.files import write_atomically

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa, pq = Deferred("pyarrow"), Deferred("pyarrow.parquet")

#: Bytes of sound in a group of rows, which readers hold in memory, and in a file.
GROUP_BYTES, FILE_BYTES = 32 * 2**20, 400 * 2**20
SPLIT = "test"


class RowWriter(Protocol):
    """Takes the rows of a dataset one by one."""

    def add(self, row: dict[str, Any], recording: Path | None) -> None:
        """Write a row; ``recording`` is a copy without tags, which the writer may move."""

    def close(self) -> None:
        """Write what is left."""


@contextmanager
def row_writer(layout: str, folder: Path, columns: Sequence[str]) -> Iterator[RowWriter]:
    """What writes rows to a folder in one of ``LAYOUTS``."""
    writer = _WRITERS[layout](folder, columns)
    yield writer
    writer.close()


class _ParquetFiles:
    """Files of at most about ``FILE_BYTES`` each, with the features of ``datasets``."""

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self._folder = folder / "data"
        self._folder.mkdir()
        self._columns = columns
        self._schema = _schema(columns)
        self._parts: list[Path] = []
        self._writer: Any = None
        self._rows: list[dict[str, Any]] = []
        self._in_group = self._in_file = 0

    def add(self, row: dict[str, Any], recording: Path | None) -> None:
        audio = None
        if recording:
            audio = {"bytes": recording.read_bytes(), "path": recording.name}
            recording.unlink()
        self._rows.append({name: row[name] for name in self._columns} | {"audio": audio})
        self._in_group += len(audio["bytes"]) if audio else 0
        if self._in_group >= GROUP_BYTES:
            self._end_group()
        if self._in_file >= FILE_BYTES:
            self._end_file()

    def close(self) -> None:
        self._end_group()
        self._end_file()
        for number, part in enumerate(self._parts):
            part.rename(self._folder / f"{SPLIT}-{number:05}-of-{len(self._parts):05}.parquet")

    def _end_group(self) -> None:
        if not self._rows:
            return
        if self._writer is None:
            self._parts.append(self._folder / f"{len(self._parts)}.part")
            self._writer = pq.ParquetWriter(self._parts[-1], self._schema)
        self._writer.write_table(pa.Table.from_pylist(self._rows, schema=self._schema))
        self._in_file += self._in_group
        self._rows, self._in_group = [], 0

    def _end_file(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer, self._in_file = None, 0


def _schema(columns: Sequence[str]) -> Any:
    """The columns with their types, and the features by which ``datasets`` knows the sound."""
    types = {name: "float64" if COLUMNS[name] else "string" for name in columns}
    features: dict[str, Any] = {
        name: {"dtype": kind, "_type": "Value"} for name, kind in types.items()
    }
    features = {"key": features.pop("key"), "audio": {"_type": "Audio"}, **features}
    sound = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    arrow = {"float64": pa.float64(), "string": pa.string()}
    fields = [(name, sound if name == "audio" else arrow[types[name]]) for name in features]
    info = json.dumps({"info": {"features": features}})
    return pa.schema(fields, metadata={"huggingface": info})


class _AudioFolder:
    """``metadata.jsonl`` beside the recordings; text and numbers keep their types in it."""

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self._folder, self._columns = folder, columns
        self._lines: list[str] = []

    def add(self, row: dict[str, Any], recording: Path | None) -> None:
        name = _moved(recording, self._folder)
        told = {"file_name": name, **{column: row[column] for column in self._columns}}
        self._lines.append(json.dumps(told, ensure_ascii=False))

    def close(self) -> None:
        write_atomically(self._folder / "metadata.jsonl", "\n".join(self._lines) + "\n")


class _BenchmarkFolder:
    """``clips.csv`` beside the recordings: the way back from a dataset."""

    def __init__(self, folder: Path, columns: Sequence[str]) -> None:
        self._folder, self._columns = folder, columns
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any], recording: Path | None) -> None:
        _moved(recording, self._folder)
        self._rows.append({name: _cell(row[name]) for name in self._columns})

    def close(self) -> None:
        write_atomically(self._folder / FOLDER_TABLE, analysis_rows.csv_text(self._rows))


def _moved(recording: Path | None, folder: Path) -> str | None:
    if recording is None:
        return None
    recording.rename(folder / recording.name)
    return recording.name


def _cell(value: str | float | None) -> str:
    """A value as text; numbers with all their digits."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


_WRITERS: dict[str, type[_ParquetFiles] | type[_AudioFolder] | type[_BenchmarkFolder]] = {
    "parquet": _ParquetFiles,
    "audiofolder": _AudioFolder,
    "folder": _BenchmarkFolder,
}
LAYOUTS = (*_WRITERS,)
