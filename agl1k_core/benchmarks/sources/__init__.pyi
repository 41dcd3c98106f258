"""Other people's tables of recordings as clips: one reader each, recognised by shape."""

from .columns import read_columns, with_columns
from .documents import Document, Record, document_of, listed_names, read_document, table_of
from .hub import dataset_name, read_dataset
from .kinds import HUB, SOURCES, TAGGED, Source, Sourced, kind_of, read_clips
from .licences import forbidden_copy, licence_name
from .tagged import left_out_remarks, read_tagged
from .values import recorded_text, time_of

__all__ = [
    "SOURCES",
    "TAGGED",
    "HUB",
    "dataset_name",
    "read_dataset",
    "read_columns",
    "with_columns",
    "Source",
    "Sourced",
    "kind_of",
    "read_clips",
    "Document",
    "Record",
    "read_document",
    "table_of",
    "document_of",
    "listed_names",
    "read_tagged",
    "left_out_remarks",
    "forbidden_copy",
    "licence_name",
    "recorded_text",
    "time_of",
]
