"""Review of a curated benchmark: listen to a clip, see its tags and place, keep or reject it.

Each decision and note is written to ``review.csv`` in the folder immediately, and the next run of
``agl1k curate`` follows the decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agl1k_core import benchmarks, curation
from agl1k_core.benchmarks import read_tags
from agl1k_core.curation import KEEP, REJECT, Decision
from agl1k_core.predictions import read_predictions
from game.review_desk import Desk


@dataclass(frozen=True)
class FolderLedger:
    """Decisions in the ``review.csv`` of a benchmark's folder."""

    folder: Path

    def read(self) -> dict[str, Decision]:
        """See ``Ledger.read``."""
        return curation.read_review(self.folder)

    def write(self, decisions: Mapping[str, Decision]) -> None:
        """See ``Ledger.write``."""
        curation.write_review(self.folder, decisions)


class Review(Desk):
    """The clips of a folder, and whether each is kept.

    Parameters
    ----------
    folder
        A benchmark's folder.
    predictions
        A prediction file, whose answers are shown beside the truth.

    Raises
    ------
    Agl1kError
        If the folder is not a benchmark, or its decisions or the predictions cannot be read.
    """

    def __init__(self, folder: Path, predictions: Path | None = None) -> None:
        benchmark = benchmarks.read_folder(folder)
        super().__init__(
            benchmark,
            [clip.key for clip in benchmark.clips],
            FolderLedger(folder),
            {KEEP: "kept", REJECT: "rejected"},
            read_tags(folder),
            read_predictions(predictions, benchmark) if predictions else None,
        )
