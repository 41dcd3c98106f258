"""The sounds in the clips of a benchmark, from its tags or else from its recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from agl1k_core.benchmarks import Benchmark, read_tags
from agl1k_core.curation.analysis import Analyzer
from agl1k_core.curation.collection import collection_of
from agl1k_core.curation.pipeline import analyze_collection


def presences_of(
    benchmark: Benchmark,
    keys: Iterable[str],
    analyzer: Analyzer,
    work: Path,
    *,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Mapping[str, Mapping[str, float]], dict[str, Any]]:
    """The fraction of time of each AudioSet id by clip, and the tagger it comes from.

    If the benchmark's folder has no tags, the recordings of ``keys`` are analyzed; ``work`` keeps
    the results, so an interrupted run is resumed. Raises ``Agl1kError``.
    """
    tags = read_tags(benchmark.audio_dir)
    if tags.clips:
        return {key: clip.presence for key, clip in tags.clips.items()}, dict(tags.tagger)
    collection = collection_of(benchmark, keys)
    found = analyze_collection(collection, analyzer, work, workers=workers, progress=progress)
    presences = {key: item.tags["presence"] for key, item in found.items() if item.tags}
    return presences, dict(analyzer.settings["tagger"])
