"""Opens a table of recordings of any known kind as a benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from agl1k_core import places
from agl1k_core.benchmarks.csv_tables import FOLDER_REQUIRED, CsvTable
from agl1k_core.benchmarks.model import Benchmark
from agl1k_core.benchmarks.out_of_play import read_out_of_play
from agl1k_core.benchmarks.recordings import recordings_in
from agl1k_core.benchmarks.sources import (
    HUB,
    SOURCES,
    TAGGED,
    Document,
    Source,
    Sourced,
    dataset_name,
    document_of,
    kind_of,
    left_out_remarks,
    listed_names,
    read_clips,
    read_dataset,
    read_document,
    read_tagged,
    table_of,
    with_columns,
)
from agl1k_core.benchmarks.tables import (
    FOLDER_INFO,
    FOLDER_TABLE,
    PUBLISHED_SLUG,
    name_of_folder,
    read_folder,
    read_published,
    with_labels,
)
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError, FileRefusedError, Problem, Problems
from agl1k_core.file_names import shown
from agl1k_core.inputs import is_standard_input, name_of

#: Tables that are looked for in a folder.
TABLES = (FOLDER_TABLE, "metadata.jsonl", "metadata.csv")
_TABLE_NAME = re.compile(r"\.(csv|tsv|json|jsonl|ndjson|geojson)(\.gz|\.zip)?$", re.IGNORECASE)

_OWN = "clips"
#: Files of a folder that ``datasets`` reads: Parquet, or an audiofolder with its splits.
_OF_DATASETS = ("*.parquet", "data/*.parquet", "*/metadata.jsonl", "*/metadata.csv")
#: Columns by which the published table is told from SoundingEarth's, from which it was made.
_OF_PUBLISHED = {"human_sounds", "natural_sounds", "sounds_of_things", "source_ambiguous_sounds"}
#: The kinds of tables by name: what each is, and what it needs.
KINDS: Mapping[str, tuple[str, str]] = {
    _OWN: ("Our own table, clips.csv", "key, latitude, longitude, file"),
    PUBLISHED_SLUG: ("The AGL1K table as published", "its 20 columns"),
    **{source.name: (source.title, source.needs) for source in (*SOURCES, TAGGED, HUB)},
}


def path_and_kind(spec: str | Path, kind: str = "") -> tuple[Path, str]:
    """A path, and the kind in front of it, as in ``freesound:sounds.json``, if there is one."""
    name, colon, rest = str(spec).partition(":")
    is_kind = name in KINDS and colon and rest and not Path(spec).exists()
    return (Path(rest), kind or name) if is_kind else (Path(spec), kind)


def _found_in(path: Path, kind: str) -> tuple[Path, str]:
    """What a folder holds, and of which kind that is if it is no table; other paths as they are.

    Raises ``Agl1kError`` if there is neither a table nor a recording.
    """
    if kind in (TAGGED.name, HUB.name) or is_standard_input(path):
        return path, kind
    if not path.is_dir():
        return path, kind or (HUB.name if path.suffix.casefold() == ".parquet" else "")
    table = next((path / name for name in TABLES if (path / name).is_file()), None)
    if table:
        return table, kind
    if not kind and any(next(path.glob(pattern), None) for pattern in _OF_DATASETS):
        return path, HUB.name
    if not kind and _has_recordings(path):
        return path, TAGGED.name
    found = (
        f"{shown(path)} has no {FOLDER_TABLE}. Create one (docs/benchmark-format.md), or give a "
        "table elsewhere; agl1k sources lists the kinds that are read."
    )
    raise Agl1kError("\n".join([found, *_other_tables(path)]))


def _other_tables(folder: Path) -> list[str]:
    """What to do in a folder whose tables have other names, as a line; nothing if it has none."""
    named = sorted(path.name for path in folder.iterdir() if _TABLE_NAME.search(path.name))
    if not named:
        return []
    files = f"{shown(named[0])}{f' and {len(named) - 1:,} more' if named[1:] else ''}"
    return [f"It has {files}. Give the path of the table itself: {shown(folder / named[0])}"]


def _has_recordings(folder: Path) -> bool:
    try:
        return bool(recordings_in([folder])[0])
    except Agl1kError:
        return False


def check_kind(kind: str) -> None:
    """Raise ``Agl1kError`` for a kind that does not exist."""
    if kind and kind not in KINDS:
        raise Agl1kError(f"There is no source '{shown(kind)}'. Choose from: {', '.join(KINDS)}.")


def open_table(
    path: Path,
    config: Config,
    *,
    kind: str = "",
    recordings: Path | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Benchmark, CsvTable | None]:
    """Read a table of any known kind as a benchmark.

    Parameters
    ----------
    path
        A table, which may be packed as gzip or ZIP; a folder with one, or of recordings with the
        place in their tags; ``-`` is standard input; the name of a dataset, if ``kind`` is
        ``"hub"``.
    config
        Where recordings of the published table are, and those of datasets are kept.
    kind
        One of ``KINDS``. Default: recognised by shape.
    recordings
        The folder of the recordings. Default: beside the table.
    columns
        The table's names of columns by ours, if they are unusual.

    Returns
    -------
    tuple
        The benchmark, and the table if it is our own or the published one.

    Raises
    ------
    FileRefusedError
        With everything that is wrong in the file.
    Agl1kError
        If there is no such kind, dataset or column.
    """
    check_kind(kind)
    path, kind = _found_in(path, kind)
    if kind == HUB.name:
        return _of_dataset(path, config, recordings, columns), None
    if kind == TAGGED.name:
        return _of_tagged(path), None
    found = with_columns(read_document(path), columns or {})
    if isinstance(found, Document) and not kind and _is_own(found, path.parent):
        found, kind = table_of(found), _OWN
    if isinstance(found, CsvTable):
        return _of_table(found, config, kind, recordings)
    if kind in (_OWN, PUBLISHED_SLUG):
        todo = f"Choose another source than {kind}; agl1k sources lists them"
        raise found.problems.refusal(Problem("this is JSON, not a table", todo))
    return _of_source(found, kind_of(found, kind), recordings), None


def _of_table(
    table: CsvTable, config: Config, kind: str, recordings: Path | None
) -> tuple[Benchmark, CsvTable | None]:
    kind = kind or _kind_of_table(table)
    if kind == _OWN:
        return read_folder(recordings or table.path.parent, table), table
    if kind == PUBLISHED_SLUG:
        audio_dir = recordings or config.audio_dir
        return load_table(table, replace(config, audio_dir=audio_dir)), table
    if not kind:
        raise _unknown(table.header, Problems(name_of(table.path)))
    document = document_of(table)
    return _of_source(document, kind_of(document, kind), recordings), None


def _kind_of_table(table: CsvTable) -> str:
    """The kind of a table of text, from its header; empty if it is none that is known."""
    header = {*table.header}
    if table.path.name == FOLDER_TABLE or table.is_of_folder:
        return _OWN
    if len(header & _OF_PUBLISHED) > 1:
        return PUBLISHED_SLUG
    source = kind_of(Document.of_names(table.path, table.header))
    nearly_own = len(header & {*FOLDER_REQUIRED}) > 2
    return source.name if source else _OWN if nearly_own else ""


def load_table(table: Path | CsvTable, config: Config) -> Benchmark:
    """Read a table in the published format, and the recordings beside it if there are any."""
    path = table.path if isinstance(table, CsvTable) else table
    audio_dir = config.audio_dir or _beside(path) or fetched_audio_dir(config)
    return read_published(table, audio_dir=audio_dir, audio_url=config.audio_url)


def fetched_audio_dir(config: Config) -> Path:
    """Where fetched recordings are kept, each under its clip's key."""
    return config.audio_dir or config.data_dir / PUBLISHED_SLUG / "audio"


def _unknown(names: Iterable[str], problems: Problems) -> FileRefusedError:
    """The refusal of a file whose fields are those of no known source."""
    listed = listed_names(names)
    found = f"this is no table of a known source; the names of its fields are: {listed}"
    todo = "Name the source with --source, or rename the fields; agl1k sources lists them"
    return problems.refusal(Problem(found, todo))


def _of_source(document: Document, source: Source | None, recordings: Path | None) -> Benchmark:
    if source is None:
        raise _unknown(document.names, document.problems)
    path = document.path
    folder = None if is_standard_input(path) else path.parent
    benchmark = _benchmark(read_clips(document, source), source, _name(path, source), folder)
    return replace(benchmark, audio_dir=recordings or _beside(path) or path.parent)


def _of_dataset(
    path: Path, config: Config, recordings: Path | None, columns: Mapping[str, str] | None
) -> Benchmark:
    wanted = dataset_name(str(path), columns)
    document, audio_dir = read_dataset(wanted, config.data_dir)
    if _is_own(document, audio_dir):
        return _of_own_dataset(document, audio_dir, recordings)
    benchmark = _benchmark(read_clips(document, HUB), HUB, wanted.last, wanted.path)
    return replace(benchmark, audio_dir=recordings or audio_dir)


def _is_own(document: Document, folder: Path) -> bool:
    """Whether a dataset is a benchmark folder with another table than ``clips.csv``."""
    return (folder / FOLDER_INFO).is_file() and {"key", "file"} <= document.names


def _of_own_dataset(document: Document, folder: Path, recordings: Path | None) -> Benchmark:
    benchmark = read_folder(folder, table_of(document))
    return replace(benchmark, audio_dir=recordings) if recordings else benchmark


def _of_tagged(folder: Path) -> Benchmark:
    """The recordings of a folder that have a place in their tags; raises ``Agl1kError``."""
    if not folder.is_dir():
        raise Agl1kError(f"{shown(folder)} is no folder. Give the folder of the recordings.")
    document, left_out = read_tagged(folder)
    n_files = len(document.records) + len(left_out)
    remarks = left_out_remarks(left_out, n_files)
    if not document.records:
        found = (
            f"{shown(folder)} has no {FOLDER_TABLE}, and none of its recordings has a place in its "
            "tags. Create the table (docs/benchmark-format.md), or give one elsewhere."
        )
        raise Agl1kError("\n".join([found, *_other_tables(folder), *remarks]))
    read = read_clips(document, TAGGED)
    benchmark = _benchmark(read, TAGGED, name_of_folder(folder), folder)
    remarks += benchmark.remarks
    return replace(benchmark, audio_dir=folder, remarks=tuple(remarks), left_out=left_out)


def _benchmark(read: Sourced, source: Source, name: str, folder: Path | None) -> Benchmark:
    clips = with_labels(read.clips)
    slug = places.fold(name).replace(" ", "-")
    return Benchmark(
        slug=f"{slug}-{source.name}" if slug in ("demo", PUBLISHED_SLUG) else slug,
        name=name,
        version="1",
        clips=clips,
        remarks=read.remarks,
        left_out=read.left_out,
        out_of_play=read_out_of_play(clips, folder),
    )


def _beside(path: Path) -> Path | None:
    """The folder of recordings beside a table, if it has a usual name."""
    folders = (path.parent / name for name in ("audio", "audios"))
    return next((folder for folder in folders if folder.is_dir()), None)


def _name(path: Path, source: Source) -> str:
    if is_standard_input(path):
        return source.name
    stem = path.name.partition(".")[0]
    return name_of_folder(path.parent) if stem in ("", "metadata") else stem
