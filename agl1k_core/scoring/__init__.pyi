"""Protocols, metrics, intervals, comparison and baselines."""

from ._clusters import FEWEST_CLUSTERS
from ._display import metric_text
from .baselines import BASELINES, baseline, predictions_csv
from .comparison import Comparison, Side, clip_values, compare, rank, rank_among
from .evaluation import LOWER_IS_BETTER, METRICS, SCORER_VERSION, Evaluation, evaluate
from .intervals import Interval
from .means import mean_interval
from .pairs import PairedDifference, paired_difference
from .protocols import PAPER, PEOPLE, PROTOCOLS, STRICT, THRESHOLDS_KM, Protocol
from .ranking import FEWEST_CLIPS, Rank, ranks
from .rows import CLIP_METRICS, ScoredRows
from .runs import mean_of_runs
from .sealing import (
    SMALLEST_GROUP,
    grid_step,
    mean_of_sealed,
    sealed_evaluation,
    sealed_ranks,
    told_groups,
)

__all__ = [
    "evaluate",
    "Evaluation",
    "Interval",
    "Protocol",
    "STRICT",
    "PAPER",
    "PEOPLE",
    "PROTOCOLS",
    "compare",
    "Comparison",
    "Side",
    "PairedDifference",
    "paired_difference",
    "mean_interval",
    "rank",
    "rank_among",
    "ranks",
    "mean_of_runs",
    "sealed_evaluation",
    "mean_of_sealed",
    "sealed_ranks",
    "grid_step",
    "told_groups",
    "SMALLEST_GROUP",
    "Rank",
    "FEWEST_CLIPS",
    "FEWEST_CLUSTERS",
    "clip_values",
    "baseline",
    "BASELINES",
    "predictions_csv",
    "METRICS",
    "CLIP_METRICS",
    "LOWER_IS_BETTER",
    "THRESHOLDS_KM",
    "SCORER_VERSION",
    "ScoredRows",
    "metric_text",
]
