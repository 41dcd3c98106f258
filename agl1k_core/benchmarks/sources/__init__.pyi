"""Other people's tables of recordings as clips: one reader each, recognised by shape."""

from .documents import Document, Record, document_of, read_document
from .kinds import SOURCES, Source, kind_of, read_clips
from .licences import forbidden_copy
from .values import recorded_text, time_of

__all__ = [
    "SOURCES",
    "Source",
    "kind_of",
    "read_clips",
    "Document",
    "Record",
    "read_document",
    "document_of",
    "forbidden_copy",
    "recorded_text",
    "time_of",
]
