"""From raw recordings with known places to a benchmark folder."""

from .analysis import Analysis, Analyzer, listen_to_all, recordings_in
from .collection import Collection, collection_of, open_collection
from .folder import check_output, read_decisions, write_decisions, write_folder
from .pipeline import KEEP, REJECT, Curated, Rules, curate, hear
from .ray_analysis import listen_on_ray
from .reports import filter_row, filter_table, tag_rows, tag_table, write_csv
from .selection import Candidate, Reason, SelectionRules, select
from .summary import localizability_line, summary_lines

__all__ = [
    "Candidate",
    "Collection",
    "Curated",
    "Analyzer",
    "Analysis",
    "KEEP",
    "REJECT",
    "Reason",
    "Rules",
    "SelectionRules",
    "check_output",
    "collection_of",
    "curate",
    "filter_row",
    "filter_table",
    "hear",
    "listen_on_ray",
    "listen_to_all",
    "localizability_line",
    "open_collection",
    "read_decisions",
    "recordings_in",
    "select",
    "summary_lines",
    "tag_rows",
    "tag_table",
    "write_csv",
    "write_decisions",
    "write_folder",
]
