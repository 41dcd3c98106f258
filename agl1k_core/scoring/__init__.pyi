"""Protocols, metrics, intervals, comparison and baselines."""

from .baselines import BASELINES, baseline_predictions, to_csv
from .bootstrap import (
    PairedDifference,
    intervals,
    paired_difference,
    ranks,
    resample_counts,
    resampled_means,
)
from .evaluation import (
    LOWER_IS_BETTER,
    METRICS,
    SCORER_VERSION,
    Evaluation,
    Interval,
    compare,
    evaluate,
)
from .protocols import PAPER, PEOPLE, PROTOCOLS, STRICT, THRESHOLDS_KM, Protocol
from .rows import COLUMNS, ScoredRows

__all__ = [
    "BASELINES",
    "COLUMNS",
    "Evaluation",
    "Interval",
    "LOWER_IS_BETTER",
    "METRICS",
    "PAPER",
    "PEOPLE",
    "PROTOCOLS",
    "PairedDifference",
    "Protocol",
    "SCORER_VERSION",
    "STRICT",
    "ScoredRows",
    "THRESHOLDS_KM",
    "baseline_predictions",
    "compare",
    "evaluate",
    "intervals",
    "paired_difference",
    "ranks",
    "resample_counts",
    "resampled_means",
    "to_csv",
]
