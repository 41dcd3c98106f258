"""Two evaluations compared clip by clip, and several of them ranked.

Conventions
-----------
* The *common clips* of two evaluations by a metric are the clips for which both have a value of
  that metric. Command line, board and ranks all use this definition.
* A clip with several records counts once, with their mean.
* A difference is *clear* when its p-value is below 5 %; its 95 % interval then excludes 0.

Contents
--------
* `compare`: paired differences of two evaluations.
* `rank`: places in the order of a metric, with ties and ranges; `rank_among`: those of one more.
* `clip_values`: a metric of each clip, on which both are built.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import _display, ranking
from agl1k_core.scoring.evaluation import LOWER_IS_BETTER, Evaluation
from agl1k_core.scoring.pairs import ALPHA, PairedDifference, holm, paired_difference
from agl1k_core.scoring.ranking import FEWEST_CLIPS, Rank
from agl1k_core.scoring.rows import CLIP_METRICS

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

Side = Literal["first", "second", ""]


@dataclass(frozen=True, eq=False)
class Comparison(Mapping[str, PairedDifference]):
    """The paired difference of two evaluations by each metric, first minus second.

    A mapping from metric to `PairedDifference`. In a notebook it shows as a table.

    Parameters
    ----------
    metrics
        Metric -> paired difference over the common clips.
    n_common
        Number of clips for which both have a record.
    subset
        The subset of the benchmark that was compared, or None for all clips.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> median, random = (
    ...     ag.evaluate(benchmark, ag.baseline(benchmark, name))
    ...     for name in ("median_location", "random")
    ... )
    >>> comparison = ag.compare(median, random, subset="speech")
    >>> comparison.n_common, comparison["geoscore"].is_clear, comparison.better("geoscore")
    (12, False, '')
    """

    metrics: Mapping[str, PairedDifference]
    n_common: int
    subset: str | None = None

    def __getitem__(self, metric: str) -> PairedDifference:
        return self.metrics[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def better(self, metric: str) -> Side:
        """Which is clearly better by a metric: "first", "second", or "" if neither is."""
        pair = self.metrics[metric]
        if not pair.is_clear:
            return ""
        return "first" if (pair.difference < 0) == (metric in LOWER_IS_BETTER) else "second"

    def __repr__(self) -> str:
        return f"<Comparison of {len(self)} metrics on {self.n_common:,} clips>"

    def _repr_html_(self) -> str:
        clips = "clip" if self.n_common == 1 else "clips"
        caption = f"First minus second on {self.n_common} common {clips}"
        if self.subset is not None:
            caption += f" of {self.subset}"
        header = ("metric", "first", "second", "difference", "95 % interval", "clearly better")
        return _display.table_html(caption, header, map(self._cells, self.metrics))

    def _cells(self, metric: str) -> tuple[str, ...]:
        pair = self.metrics[metric]
        numbers = (pair.first, pair.second, pair.difference)
        texts = (_display.metric_text(metric, number) for number in numbers)
        interval = _display.interval_text(metric, pair.low, pair.high)
        return metric, *texts, interval, self.better(metric)


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    subset: str | None = None,
    metrics: Sequence[str] = CLIP_METRICS,
    answered: bool = False,
) -> Comparison:
    """Compare two evaluations on their common clips.

    Parameters
    ----------
    a, b
        Evaluations on the same benchmark, made here rather than read back from JSON.
    subset
        A subset of the benchmark, or None for all clips.
    metrics
        Which of `CLIP_METRICS`, the metrics that have a value for each clip.
    answered
        Only the clips that both answered with a usable point. This says nothing of how often they
        answer, and the clips are no longer a fair sample.

    Returns
    -------
    Comparison
        For each metric, the mean of ``a - b`` over the common clips, with its 95 % interval and
        p-value: Student's paired t, or McNemar's test for shares.

    Raises
    ------
    Agl1kError
        If the two are of different benchmarks, if one was read back from JSON, or if the
        benchmark has no such subset.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> densest, random = (
    ...     ag.evaluate(benchmark, ag.baseline(benchmark, name))
    ...     for name in ("densest_region", "random")
    ... )
    >>> pair = ag.compare(densest, random)["distance_km"]
    >>> round(pair.difference), round(pair.low), round(pair.high), pair.is_clear
    (1420, -1135, 3975, False)
    """
    _require_one_benchmark([a, b])
    first, second = a.require_rows(), b.require_rows()
    chosen = _clips_of(first.benchmark, subset)
    if answered:
        chosen &= first.has_answer & second.has_answer
    differences = {
        metric: paired_difference(first.by_clip(metric)[chosen], second.by_clip(metric)[chosen])
        for metric in metrics
    }
    common = first.has_record & second.has_record & chosen
    return Comparison(differences, int(common.sum()), subset)


def rank(
    evaluations: Sequence[Evaluation], metric: str, *, subset: str | None = None
) -> list[Rank | None]:
    """Rank evaluations on one benchmark by a metric.

    Ranks follow the means. All pairs are tested together, on their common clips, so that among
    equal models any two are called different with a probability of at most 5 % (Holm 1979).
    Evaluations with the same answers count once.

    Parameters
    ----------
    evaluations
        Evaluations on the same benchmark.
    metric
        One of `CLIP_METRICS`.
    subset
        A subset of the benchmark, or None for all clips.

    Returns
    -------
    list of Rank or None
        The rank of each evaluation; None for all if the subset has fewer than `FEWEST_CLIPS`
        clips.

    Raises
    ------
    Agl1kError
        As for `compare`.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> scored = [
    ...     ag.evaluate(benchmark, ag.baseline(benchmark, name))
    ...     for name in ag.scoring.BASELINES
    ... ]
    >>> [(rank.place, rank.tied) for rank in ag.scoring.rank(scored, "distance_km")]
    [(1, True), (1, True), (1, True)]
    """
    if not evaluations:
        return []
    _require_one_benchmark(evaluations)
    columns = [clip_values(evaluation, metric, subset=subset) for evaluation in evaluations]
    return ranking.ranks(
        np.column_stack(columns),
        lower_is_better=metric in LOWER_IS_BETTER,
        files=[evaluation.require_rows().fingerprint for evaluation in evaluations],
    )


def rank_among(
    evaluation: Evaluation, others: Sequence[Evaluation], metric: str, *, subset: str | None = None
) -> Rank | None:
    """Rank an evaluation of some clips, such as people's, among others on these clips.

    Parameters
    ----------
    evaluation
        The evaluation to rank.
    others
        Evaluations on the same benchmark.
    metric
        One of `CLIP_METRICS`.
    subset
        A subset of the benchmark, or None for all clips.

    Returns
    -------
    Rank or None
        ``place`` is 1 + the number of others with a better mean on the common clips, ``best`` and
        ``worst`` are the range. None if the evaluation has fewer than `FEWEST_CLIPS` clips.

    Raises
    ------
    Agl1kError
        As for `compare`.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> benchmark = ag.load_benchmark("demo")
    >>> densest, *others = (
    ...     ag.evaluate(benchmark, ag.baseline(benchmark, name))
    ...     for name in ("densest_region", "median_location", "random")
    ... )
    >>> ag.scoring.rank_among(densest, others, "distance_km")
    Rank(place=3, best=1, worst=3, tied=False)
    """
    if np.isfinite(clip_values(evaluation, metric, subset=subset)).sum() < FEWEST_CLIPS:
        return None
    found = [compare(evaluation, other, subset=subset, metrics=[metric]) for other in others]
    lower_is_better = metric in LOWER_IS_BETTER
    signs = [np.sign(one[metric].difference) * (1 if lower_is_better else -1) for one in found]
    clear = holm(np.array([one[metric].p_value for one in found])) < ALPHA
    behind = np.array([sign > 0 for sign in signs], dtype=np.bool_)
    n_behind, n_ahead = int((clear & behind).sum()), int((clear & ~behind).sum())
    return Rank(1 + int(behind.sum()), 1 + n_behind, 1 + len(others) - n_ahead)


def clip_values(evaluation: Evaluation, metric: str, *, subset: str | None = None) -> FloatArray:
    """A metric of each clip of a subset, in the benchmark's order.

    Parameters
    ----------
    evaluation
        An evaluation made here rather than read back from JSON.
    metric
        One of `CLIP_METRICS`.
    subset
        A subset of the benchmark, or None for all clips.

    Returns
    -------
    ndarray, shape (n_clips,)
        The mean over the records of each clip, NaN if no record counts.

    Raises
    ------
    Agl1kError
        If the evaluation was read back from JSON, or if the benchmark has no such subset.
    """
    rows = evaluation.require_rows()
    return rows.by_clip(metric)[_clips_of(rows.benchmark, subset)]


def _require_one_benchmark(evaluations: Sequence[Evaluation]) -> None:
    if len({evaluation.benchmark_hash for evaluation in evaluations}) > 1:
        raise Agl1kError("They were scored on different benchmarks, so they share no clips.")


def _clips_of(benchmark: Benchmark, subset: str | None) -> BoolArray:
    if subset is None:
        return np.ones(len(benchmark), dtype=np.bool_)
    if subset not in benchmark.subsets:
        known = ", ".join(benchmark.subsets)
        raise Agl1kError(f"{benchmark.name} has no subset {subset!r}. Choose one of {known}.")
    return benchmark.subsets[subset].copy()
