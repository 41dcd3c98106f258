"""The benchmarks on this machine, and loading one by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agl1k_core.benchmarks.fetch import fetch_table
from agl1k_core.benchmarks.model import FEWEST_SEALED, Benchmark
from agl1k_core.benchmarks.opening import fetched_audio_dir, open_table, path_and_kind
from agl1k_core.benchmarks.recordings import find_recording
from agl1k_core.benchmarks.tables import (
    PUBLISHED_FILE,
    PUBLISHED_SLUG,
    read_demo,
    read_published,
)
from agl1k_core.config import Config
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.http import Patience
from agl1k_core.inputs import is_standard_input

#: Start-up should not wait long for a network that is down.
START_UP = Patience(connect_s=5, read_s=10, attempt_s=30, attempts=2, longest_wait_s=3)


@dataclass(frozen=True)
class Registry:
    """Benchmarks by slug, the slug of the default, and problems for the operator."""

    benchmarks: Mapping[str, Benchmark]
    default: str
    problems: tuple[str, ...] = ()


def load_benchmark(spec: str | Path, config: Config | None = None) -> Benchmark:
    """Load a benchmark by its name or path.

    Parameters
    ----------
    spec
        ``"demo"`` for the demo pack, which is part of the package; ``"agl1k"`` for the published
        AGL1K table, once ``agl1k fetch`` has downloaded it; or the path of a benchmark folder, of
        its ``clips.csv``, or of a table of any of ``KINDS``, packed or not; ``-`` is standard
        input. A kind in front, as in ``"freesound:sounds.json"``, forces it; ``"hub:OWNER/NAME"``
        is a dataset of the Hugging Face Hub.
    config
        Where data and recordings are. Default: the environment.

    Returns
    -------
    Benchmark
        Its clips and their true places.

    Raises
    ------
    Agl1kError
        If there is no such benchmark.
    FileRefusedError
        If its table is broken; the error lists every problem.

    Examples
    --------
    >>> demo = load_benchmark("demo")
    >>> len(demo)
    24
    >>> demo.clips[0].country
    'Brazil'
    """
    if spec == "demo":
        return read_demo()
    if spec == PUBLISHED_SLUG:
        return _read_fetched(config or Config.from_env())
    path, kind = path_and_kind(spec)
    if is_standard_input(path) or kind == "hub" or path.exists():
        benchmark, _ = open_table(path, config or Config.from_env(), kind=kind)
        return benchmark
    raise Agl1kError(
        f"There is no benchmark '{shown(spec)}'. Give 'demo', 'agl1k', the path of a table, "
        "a folder with a clips.csv, or hub:OWNER/NAME for a dataset of the Hub."
    )


def open_registry(config: Config, *, fetch: Callable[[Config], object] | None = None) -> Registry:
    """The demo pack, AGL1K if its table is here, and the benchmark that ``config`` names.

    If that is ``agl1k`` and its table is not here, it is fetched once; if this fails, the demo pack
    is the default and ``problems`` says why. Raises ``Agl1kError`` if the named benchmark does not
    exist or its table is broken.
    """
    demo = read_demo()
    benchmarks, default, problems = {demo.slug: demo}, demo.slug, []
    chosen_published = config.benchmark == PUBLISHED_SLUG
    if chosen_published and not published_table(config).is_file():
        problems += _problem_of(lambda: (fetch or bring_table)(config))
    if published_table(config).is_file():
        benchmarks[PUBLISHED_SLUG] = load_benchmark(PUBLISHED_SLUG, config)
    if chosen_published:
        default = PUBLISHED_SLUG if PUBLISHED_SLUG in benchmarks else default
    elif config.benchmark != demo.slug:
        chosen = load_benchmark(config.benchmark, config)
        _check_sealed(chosen)
        benchmarks[chosen.slug], default = chosen, chosen.slug
        problems += [*chosen.remarks, *_silence_of(chosen)]
    return Registry(benchmarks, default, tuple(problems))


def _check_sealed(benchmark: Benchmark) -> None:
    if not benchmark.has_truth:
        raise Agl1kError(
            f"{benchmark.name} has no true places: this is the public copy of a sealed benchmark. "
            "Set AGL1K_BENCHMARK to the folder that has them."
        )
    if benchmark.sealed and len(benchmark) < FEWEST_SEALED:
        raise Agl1kError(
            f"{benchmark.name} is sealed and has {len(benchmark)} clips: means would tell too "
            f'much about each. Use at least {FEWEST_SEALED}, or remove "sealed" from its '
            "benchmark.json."
        )


def published_table(config: Config) -> Path:
    """Where ``agl1k fetch`` puts the published table."""
    return config.data_dir / PUBLISHED_SLUG / PUBLISHED_FILE


def bring_table(config: Config, *, patience: Patience = START_UP) -> Path:
    """Fetch the published table to ``published_table(config)``; raises ``Agl1kError``."""
    target = published_table(config)
    return fetch_table(config.table_url, target, check=read_published, patience=patience)


def _read_fetched(config: Config) -> Benchmark:
    path = published_table(config)
    if not path.is_file():
        raise Agl1kError(
            "The published AGL1K table is not here yet. 'agl1k fetch' downloads it "
            "(half a megabyte; scoring needs no recordings)."
        )
    return read_published(path, audio_dir=fetched_audio_dir(config), audio_url=config.audio_url)


def _silence_of(benchmark: Benchmark) -> list[str]:
    """A warning for the operator if no recording of a benchmark is available."""
    folder = benchmark.audio_dir
    if benchmark.audio_url or folder is None or benchmark.sealed:
        return []
    if any(find_recording(benchmark, clip, folder) for clip in benchmark.clips):
        return []
    return [
        f"{benchmark.name} can be scored on but not played: none of its {len(benchmark)} "
        f"recordings is in {shown(folder)}. Put them there "
        "(docs/benchmark-format.md), and start again."
    ]


def _problem_of(act: Callable[[], object]) -> list[str]:
    try:
        act()
    except Agl1kError as error:
        return [f"AGL1K is not available, so the demo pack is played instead. {error}"]
    return []
