"""Several runs of one model as one evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from agl1k_core.errors import Agl1kError
from agl1k_core.scoring.evaluation import Evaluation, evaluation_of
from agl1k_core.scoring.rows import ScoredRows


def mean_of_runs(runs: Sequence[Evaluation]) -> Evaluation:
    """The mean of independent runs of one model over the same clips.

    Each clip counts with the mean of its values over the runs, so that a metric is the mean of the
    runs' metrics; a quantile is that of the clips' mean distances. Intervals tell, as for a single
    run, what other clips could have given; those of shares are wider than they need be.

    Parameters
    ----------
    runs
        Evaluations on one benchmark by one protocol, made here rather than read back from JSON.

    Returns
    -------
    Evaluation
        Points, labels, statuses and the file's hash are those of the last run.

    Raises
    ------
    Agl1kError
        If there are none, if they differ in benchmark, protocol or clips, or if a clip has several
        records.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> from agl1k_core.scoring import mean_of_runs
    >>> benchmark = ag.load_benchmark("demo")
    >>> names = ("random", "densest_region")
    >>> runs = [ag.evaluate(benchmark, ag.baseline(benchmark, name)) for name in names]
    >>> [round(run.metrics["geoscore"], 1) for run in [*runs, mean_of_runs(runs)]]
    [214.8, 300.5, 257.7]
    """
    if not runs:
        raise Agl1kError("Give at least one run.")
    last = runs[-1]
    rows = [_by_clip(run.require_rows()) for run in runs]
    for run, found in zip(runs, rows, strict=True):
        same = (run.benchmark_hash, run.protocol) == (last.benchmark_hash, last.protocol)
        if not same or not np.array_equal(found.clip, rows[-1].clip):
            raise Agl1kError("The runs are not of the same benchmark, protocol and clips.")
    if len(np.unique(rows[-1].clip)) < len(rows[-1]):
        raise Agl1kError("A clip has several records in one run.")
    mean = replace(rows[-1], values=np.mean([found.values for found in rows], axis=0))
    return evaluation_of(mean, last.protocol, last.file_sha256)


def _by_clip(rows: ScoredRows) -> ScoredRows:
    """The same rows in the order of the clips."""
    order = np.argsort(rows.clip, kind="stable")
    return ScoredRows(
        benchmark=rows.benchmark,
        clip=rows.clip[order],
        status_code=rows.status_code[order],
        values=rows.values[order],
        lat=rows.lat[order],
        lon=rows.lon[order],
        labels={name: labels[order] for name, labels in rows.labels.items()},
    )
