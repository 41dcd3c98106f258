"""Clips with a known place: tables, folders, recordings, and how they are fetched."""

from .csv_tables import CsvTable, TableRow, missing_column, read_csv, read_rows
from .download import UnreachableError
from .fetch import FetchOutcome, fetch_recording, fetch_recordings
from .model import CLASSES, FEWEST_SEALED, PRESENT_FROM, SUBSET_CLASSES, Benchmark, Clip, LeftOut
from .opening import KINDS, fetched_audio_dir, load_table, open_table, path_and_kind
from .out_of_play import OUT_OF_PLAY
from .recordings import SUFFIXES, find_recording, recording_name, recordings_in
from .registry import (
    Registry,
    bring_table,
    load_benchmark,
    open_registry,
    published_table,
)
from .sources import forbidden_copy, licence_name, read_columns, recorded_text, time_of
from .tables import (
    CREDITS,
    FOLDER_INFO,
    FOLDER_TABLE,
    PUBLISHED_FILE,
    PUBLISHED_SLUG,
    read_demo,
    read_folder,
    read_published,
)
from .tags import TAGS, ClipTags, FolderTags, read_tags, tags_json

__all__ = [
    "Benchmark",
    "Clip",
    "LeftOut",
    "CLASSES",
    "SUBSET_CLASSES",
    "CREDITS",
    "PRESENT_FROM",
    "FEWEST_SEALED",
    "load_benchmark",
    "read_demo",
    "read_folder",
    "read_published",
    "load_table",
    "KINDS",
    "open_table",
    "path_and_kind",
    "read_columns",
    "forbidden_copy",
    "licence_name",
    "OUT_OF_PLAY",
    "recorded_text",
    "time_of",
    "FOLDER_TABLE",
    "FOLDER_INFO",
    "PUBLISHED_SLUG",
    "PUBLISHED_FILE",
    "Registry",
    "open_registry",
    "published_table",
    "bring_table",
    "fetched_audio_dir",
    "fetch_recordings",
    "fetch_recording",
    "FetchOutcome",
    "UnreachableError",
    "find_recording",
    "recording_name",
    "recordings_in",
    "SUFFIXES",
    "FolderTags",
    "ClipTags",
    "TAGS",
    "read_tags",
    "tags_json",
    "read_csv",
    "CsvTable",
    "read_rows",
    "missing_column",
    "TableRow",
]
