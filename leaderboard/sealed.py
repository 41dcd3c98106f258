"""What a board tells about a sealed benchmark: rounded means, and how many files were scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from agl1k_core import scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.scoring import Evaluation
from leaderboard.rows import Row
from store.scorings import Counts
from store.submissions import Submission

SEALED_NOTE = (
    "The true places are sealed: there are only rounded means and intervals over at least "
    f"{scoring.SMALLEST_GROUP} clips, none of a single clip, and rows are apart if their intervals "
    "are."
)


def told(evaluation: Evaluation, benchmark: Benchmark) -> Evaluation:
    """What a board may show of an evaluation: everything, unless the benchmark is sealed."""
    return scoring.sealed_evaluation(evaluation, benchmark) if benchmark.sealed else evaluation


def told_submission(submission: Submission, benchmark: Benchmark) -> Submission:
    """The submission with sealed numbers, also if it was stored before the benchmark was sealed."""
    stored = Evaluation.from_dict(submission.evaluation)
    return replace(submission, evaluation=told(stored, benchmark).to_dict())


def with_counts(rows: Iterable[Row], counts: Counts) -> tuple[Row, ...]:
    """The rows, those of files with the number of files that their submitters had scored."""
    return tuple(
        replace(row, n_scored=counts.of_files(file.sha256 for file in row.files))
        if row.files
        else row
        for row in rows
    )
