"""Other people's tables of recordings as clips: one reader each, recognised by shape."""

from .documents import Document, Record, document_of, read_document
from .kinds import SOURCES, TAGGED, Source, Sourced, kind_of, read_clips
from .licences import forbidden_copy
from .tagged import left_out_remarks, read_tagged
from .values import recorded_text, time_of

__all__ = [
    "SOURCES",
    "TAGGED",
    "Source",
    "Sourced",
    "kind_of",
    "read_clips",
    "Document",
    "Record",
    "read_document",
    "document_of",
    "read_tagged",
    "left_out_remarks",
    "forbidden_copy",
    "recorded_text",
    "time_of",
]
