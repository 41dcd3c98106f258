"""What may be told about a file that was scored on a benchmark whose true places are secret.

Somebody who may have many files scored can change the answer for one clip and see whether the mean
gets better (Blum & Hardt 2015, "The Ladder: a reliable leaderboard for machine learning
competitions"). So there are only means over at least `SMALLEST_GROUP` clips, on a grid that depends
on the number of clips alone: about a quarter of the width of a share's widest interval, and never
finer than what `FEWEST_MOVED` clips can change together. Quantiles and balanced means, in which a
single clip can weigh much, are left out, and so are the counts per subset, which would tell which
clips belong to it.

`docs/fairness.md` says what somebody can still find out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from agl1k_core.benchmarks import FEWEST_SEALED, Benchmark
from agl1k_core.scoring.evaluation import LOWER_IS_BETTER, MEASURED, Evaluation
from agl1k_core.scoring.intervals import Interval
from agl1k_core.scoring.ranking import Rank, ranks_by
from agl1k_core.scoring.rows import CLIP_METRICS

#: The fewest clips whose mean is told; as many must be left outside a subset.
SMALLEST_GROUP = FEWEST_SEALED
#: A mean is on a grid so coarse that fewer clips than this cannot move it by a whole step.
FEWEST_MOVED = 10

_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


def grid_step(metric: str, n_clips: int) -> float:
    """The distance between two values that a mean over so many clips can have.

    Parameters
    ----------
    metric
        One of `CLIP_METRICS`.
    n_clips
        The number of clips of the mean.

    Returns
    -------
    float
        In the unit of the metric.

    Examples
    --------
    >>> grid_step("country_accuracy", 1444), grid_step("distance_km", 1444)
    (0.02, 500.0)
    """
    least, most = _bounds(metric)
    wanted = (most - least) * max(FEWEST_MOVED / n_clips, 0.5 / math.sqrt(n_clips))
    power = 10.0 ** math.floor(math.log10(wanted))
    return float(next(nice * power for nice in _NICE if nice * power >= wanted * (1 - 1e-9)))


def sealed_evaluation(evaluation: Evaluation, benchmark: Benchmark) -> Evaluation:
    """What may be told of an evaluation by the strict protocol: rounded means, and no rows.

    Intervals reach a whole number of steps, at least one, from the rounded mean to both sides: an
    end that was rounded by itself would be one more number to probe. Sealing twice changes nothing.

    Parameters
    ----------
    evaluation
        An evaluation on the benchmark, with or without its rows.
    benchmark
        The sealed benchmark.

    Returns
    -------
    Evaluation
        Without subsets of fewer than `SMALLEST_GROUP` clips; without any number if the whole
        benchmark has fewer.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> from agl1k_core.scoring import sealed_evaluation
    >>> benchmark = ag.load_benchmark("demo")
    >>> evaluation = ag.evaluate(benchmark, ag.baseline(benchmark, "random"))
    >>> sealed_evaluation(evaluation, benchmark).metrics  # 24 clips are too few
    {}
    """
    sizes = told_groups(benchmark)
    numbers = {"all": evaluation.metrics, **evaluation.subsets}
    ends = {"all": evaluation.intervals, **evaluation.subset_intervals}
    means = {name: _means(numbers[name], n) for name, n in sizes.items() if name in numbers}
    around = {
        name: _intervals(ends[name], means[name], n) for name, n in sizes.items() if name in ends
    }
    return replace(
        evaluation,
        metrics=means.pop("all", {}),
        intervals=around.pop("all", {}),
        subsets=means,
        subset_intervals=around,
        subset_statuses={},
        rows=None,
    )


def told_groups(benchmark: Benchmark) -> dict[str, int]:
    """The groups of clips whose means are told, "all" first, with their number of clips."""
    n_clips = len(benchmark)
    if n_clips < SMALLEST_GROUP:
        return {}
    sizes = {name: int(mask.sum()) for name, mask in benchmark.subsets.items()}
    large = range(SMALLEST_GROUP, n_clips - SMALLEST_GROUP + 1)
    return {"all": n_clips, **{name: n for name, n in sizes.items() if n in large}}


def mean_of_sealed(runs: Sequence[Evaluation]) -> Evaluation:
    """Several runs as one: the means of their sealed numbers, and of the ends of their intervals.

    Everything else is that of the last run.
    """
    last = runs[-1]
    return replace(
        last,
        metrics=_mean_of([run.metrics for run in runs]),
        intervals=_mean_ends([run.intervals for run in runs]),
        subsets={name: _mean_of([run.subsets[name] for run in runs]) for name in last.subsets},
        subset_intervals={
            name: _mean_ends([run.subset_intervals[name] for run in runs])
            for name in last.subset_intervals
        },
    )


def sealed_ranks(
    evaluations: Sequence[Evaluation], metric: str, *, subset: str | None = None
) -> list[Rank | None]:
    """Ranks that follow from sealed numbers alone: models are apart if their intervals are.

    Parameters
    ----------
    evaluations
        Sealed evaluations on one benchmark.
    metric
        One of `CLIP_METRICS`.
    subset
        A subset of the benchmark, or None for all clips.

    Returns
    -------
    list of Rank or None
        None for all if the metric is not told for the subset.
    """
    if not evaluations or not all(metric in _numbers(one, subset) for one in evaluations):
        return [None] * len(evaluations)
    sign = 1 if metric in LOWER_IS_BETTER else -1
    means = sign * np.array([_numbers(one, subset)[metric] for one in evaluations])
    ends = [_ends(one, subset)[metric] for one in evaluations]
    limits = np.sort(sign * np.array([(one.low, one.high) for one in ends]), axis=1)
    worse = limits[:, :1] > limits[:, 1]
    return [*ranks_by(means, worse)]


def _numbers(evaluation: Evaluation, subset: str | None) -> Mapping[str, float]:
    return evaluation.metrics if subset is None else evaluation.subsets.get(subset, {})


def _ends(evaluation: Evaluation, subset: str | None) -> Mapping[str, Interval]:
    if subset is None:
        return evaluation.intervals
    return evaluation.subset_intervals[subset]


def _means(metrics: Mapping[str, float], n_clips: int) -> dict[str, float]:
    return {
        name: _on_grid(round(metrics[name] / step), step)
        for name, step in _steps(metrics, n_clips)
        if math.isfinite(metrics[name])
    }


def _intervals(
    ends: Mapping[str, Interval], means: Mapping[str, float], n_clips: int
) -> dict[str, Interval]:
    return {
        name: _around(means[name], ends[name], step, _bounds(name))
        for name, step in _steps(ends, n_clips)
        if name in means and math.isfinite(ends[name].low + ends[name].high)
    }


def _around(mean: float, ends: Interval, step: float, bounds: tuple[float, float]) -> Interval:
    at = round(mean / step)
    below, above = (
        max(1, math.ceil(apart / step - 1e-6)) for apart in (mean - ends.low, ends.high - mean)
    )
    low, high = _on_grid(at - below, step), _on_grid(at + above, step)
    return Interval(max(low, bounds[0]), min(high, bounds[1]))


def _bounds(metric: str) -> tuple[float, float]:
    """The least and the largest mean; most metrics are shares."""
    return MEASURED.get(metric, (0.0, 1.0))


def _steps(names: Iterable[str], n_clips: int) -> list[tuple[str, float]]:
    return [(name, grid_step(name, n_clips)) for name in CLIP_METRICS if name in names]


def _on_grid(steps: int, step: float) -> float:
    return round(steps * step, 9)


def _mean_of(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([run[name] for run in runs])) for name in runs[-1]}


def _mean_ends(runs: Sequence[Mapping[str, Interval]]) -> dict[str, Interval]:
    low, high = (
        _mean_of([{name: getattr(ends, end) for name, ends in run.items()} for run in runs])
        for end in ("low", "high")
    )
    return {name: Interval(low[name], high[name]) for name in low}
