"""From raw recordings with known places to a benchmark folder."""

from .analysis import Analysis, Analyzer, analyze_all
from .analysis_rows import filter_row, tag_rows, top_tags, write_csv
from .collection import Collection, open_collection
from .copies import Copy, find_copies
from .cutting import CUTS, MAX_S, MIN_S, Cutting, Piece, cut_recordings
from .dataset import Exported, export_dataset
from .decisions import Decision, read_decisions, read_review, write_review
from .folder import check_output, write_folder
from .pipeline import KEEP, REJECT, Curated, Rules, analyze_collection, curate
from .presences import presences_of
from .pushing import push_dataset
from .ray_analysis import analyze_on_ray
from .selection import Candidate, Reason, SelectionRules, select
from .summary import localizability_line, summary_lines

__all__ = [
    "Collection",
    "open_collection",
    "Analyzer",
    "Analysis",
    "analyze_all",
    "analyze_on_ray",
    "analyze_collection",
    "presences_of",
    "filter_row",
    "tag_rows",
    "top_tags",
    "write_csv",
    "Copy",
    "find_copies",
    "export_dataset",
    "Exported",
    "push_dataset",
    "cut_recordings",
    "Cutting",
    "Piece",
    "CUTS",
    "MIN_S",
    "MAX_S",
    "SelectionRules",
    "Candidate",
    "Reason",
    "select",
    "Rules",
    "curate",
    "Curated",
    "summary_lines",
    "localizability_line",
    "check_output",
    "write_folder",
    "KEEP",
    "REJECT",
    "Decision",
    "read_review",
    "read_decisions",
    "write_review",
]
