"""Clips with a known place: tables, folders, recordings, and where they come from."""

from .download import UnreachableError
from .fetch import FetchOutcome, fetch_recording, fetch_recordings, fetch_table
from .model import CLASSES, PRESENT_FROM, SUBSET_CLASSES, Benchmark, Clip
from .recordings import SUFFIXES, find_recording, recording_name
from .registry import Registry, bring_table, open_registry
from .tables import (
    FOLDER_INFO,
    FOLDER_TABLE,
    MAX_SHOWN,
    PUBLISHED_FILE,
    PUBLISHED_SLUG,
    fetched_audio_dir,
    load_benchmark,
    published_table,
    read_demo,
    read_folder,
    read_published,
)
from .tags import TAGS, ClipTags, FolderTags, read_tags, tags_json

__all__ = [
    "Benchmark",
    "CLASSES",
    "Clip",
    "ClipTags",
    "FOLDER_INFO",
    "FOLDER_TABLE",
    "FetchOutcome",
    "FolderTags",
    "Registry",
    "MAX_SHOWN",
    "PRESENT_FROM",
    "PUBLISHED_FILE",
    "PUBLISHED_SLUG",
    "SUBSET_CLASSES",
    "SUFFIXES",
    "TAGS",
    "UnreachableError",
    "bring_table",
    "fetch_recording",
    "fetch_recordings",
    "fetch_table",
    "fetched_audio_dir",
    "find_recording",
    "load_benchmark",
    "open_registry",
    "published_table",
    "read_demo",
    "read_folder",
    "read_published",
    "read_tags",
    "recording_name",
    "tags_json",
]
