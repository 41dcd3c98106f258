"""Which benchmarks are at hand on this machine, and which one is the default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agl1k_core.benchmarks import tables
from agl1k_core.benchmarks.fetch import fetch_table
from agl1k_core.benchmarks.model import Benchmark
from agl1k_core.benchmarks.recordings import find_recording
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience

#: At start-up nobody should wait long for a network that is not there.
START_UP = Patience(connect_s=5, read_s=10, attempt_s=30, attempts=2, longest_wait_s=3)


@dataclass(frozen=True)
class Registry:
    """Benchmarks by slug, the slug of the default, and what the operator should know."""

    benchmarks: Mapping[str, Benchmark]
    default: str
    problems: tuple[str, ...] = ()


def open_registry(config: Config, *, fetch: Callable[[Config], object] | None = None) -> Registry:
    """The demo pack, AGL1K where its table is here, and the configured benchmark.

    If ``agl1k`` is configured and its table is not here, it is fetched once; if that fails, the
    demo pack is the default and ``problems`` says why. A broken table that is configured is an
    error: raises ``FileRefusedError``.
    """
    demo = tables.read_demo()
    benchmarks, default, problems = {demo.slug: demo}, demo.slug, []
    chosen_published = config.benchmark == tables.PUBLISHED_SLUG
    if chosen_published and not tables.published_table(config).is_file():
        problems += _problem_of(lambda: (fetch or bring_table)(config))
    if tables.published_table(config).is_file():
        published = tables.load_benchmark(tables.PUBLISHED_SLUG, config)
        benchmarks[published.slug] = published
    if chosen_published:
        default = tables.PUBLISHED_SLUG if tables.PUBLISHED_SLUG in benchmarks else default
    elif config.benchmark != demo.slug:
        chosen = tables.load_benchmark(config.benchmark, config)
        benchmarks[chosen.slug], default = chosen, chosen.slug
        problems += _silence_of(chosen)
    return Registry(benchmarks, default, tuple(problems))


def _silence_of(benchmark: Benchmark) -> list[str]:
    """A folder with a table alone can be scored on; whoever wants it played must hear of it."""
    folder = benchmark.audio_dir
    if benchmark.audio_url or folder is None:
        return []
    if any(find_recording(benchmark, clip, folder) for clip in benchmark.clips):
        return []
    return [
        f"{benchmark.name} can be scored on but not played: none of its {len(benchmark)} "
        f"recordings is in {folder}. Put them there (docs/benchmark-format.md), and start again."
    ]


def bring_table(config: Config, *, patience: Patience = START_UP) -> Path:
    """Fetch the published table to where ``agl1k`` looks for it; raises ``Agl1kError``."""
    return fetch_table(
        config.table_url,
        tables.published_table(config),
        check=tables.read_published,
        patience=patience,
    )


def _problem_of(act: Callable[[], object]) -> list[str]:
    try:
        act()
    except Agl1kError as error:
        return [f"AGL1K is not at hand, so the demo pack is played instead. {error}"]
    return []
