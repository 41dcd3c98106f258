"""``analyze_all`` on many machines, with Ray Data.

Every machine must find the recordings and the weights of the tagger under the same paths, and have
this package installed with the extra ``ray``.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agl1k_core.curation.analysis import Analysis, Analyzer, IsolatedWorker
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import check

#: Files per block: results arrive in blocks, and a killed run loses unfinished ones.
_BLOCK_FILES = 8


def analyze_on_ray(
    paths: Iterable[Path], analyzer: Analyzer, *, workers: int = 1, address: str = "local"
) -> Iterator[tuple[Path, Analysis]]:
    """Analyze files on a Ray cluster.

    Parameters
    ----------
    paths, analyzer
        As for ``analyze_all``.
    workers
        Number of actors, each with one processor.
    address
        ``local`` starts a cluster on this machine and ends it afterwards, ``auto`` joins the one
        that runs on it; anything else is the address of a cluster. If this process has already
        joined a cluster, that one is used.

    Yields
    ------
    tuple of Path and Analysis
        In any order.

    Raises
    ------
    Agl1kError
        If Ray is not installed or the cluster cannot be reached.
    """
    check("av")  # report a missing tagger once, not for each file
    _ = analyzer.tagger
    items = [{"path": str(path)} for path in paths]
    if not items:
        return
    ray = _ray()
    mine = not ray.is_initialized()
    if mine:
        _join(ray, address, workers)
    try:
        n_blocks = max(min(workers, len(items)), len(items) // _BLOCK_FILES)
        analyses = ray.data.from_items(items, override_num_blocks=n_blocks).map(
            _Actor,
            fn_constructor_args=(pickle.dumps(analyzer),),
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_cpus=1,
        )
        for row in analyses.iter_rows():
            yield Path(row["path"]), Analysis.from_dict(json.loads(row["analysis"]))
    finally:
        if mine:
            ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # otherwise Ray reports its usage
    try:
        import ray
        import ray.data
    except ImportError:
        raise Agl1kError(
            "Ray is not installed. Run: pip install 'agl1k[curate,ray]', or leave out --ray."
        ) from None
    return ray


def _join(ray: Any, address: str, workers: int) -> None:
    # actors take one processor each, and reading the list of files another
    own = {"num_cpus": workers + 1} if address == "local" else {}
    try:
        ray.init(address=address, include_dashboard=False if own else None, log_to_driver=False,
                 logging_level="ERROR", **own)  # fmt: skip
    except Exception as error:
        raise Agl1kError(f"There is no Ray cluster at {address!r}: {error}") from None
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False


class _Actor:
    """An actor: analyzes one file at a time, in a process of its own that may crash."""

    def __init__(self, analyzer: bytes) -> None:
        self._worker = IsolatedWorker(pickle.loads(analyzer))

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        analysis = self._worker.analyze(Path(row["path"]))
        return {"path": row["path"], "analysis": json.dumps(analysis.to_dict())}
