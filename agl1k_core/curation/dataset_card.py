"""The card of a dataset: what it is, its licence, counts and map, and how it is used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from html import escape

from agl1k_core import places
from agl1k_core.benchmarks import Benchmark, licence_name
from agl1k_core.models import yaml_text

MAP = "map.svg"
#: Pixels per degree on the map, which ends where almost nobody records.
_SCALE, _NORTH, _SOUTH = 2.5, 84.0, -60.0
_LAND, _SEA, _DOT = "#e4e4e0", "#f8fafc", "#d55e00"
#: Names of licences on the Hub: https://huggingface.co/docs/hub/repositories-licenses
_ON_HUB = re.compile(r"cc0-1\.0|cc-by(?:-nc)?(?:-nd|-sa)?-[2-4]\.[05]")
_SIZES = {1_000: "n<1K", 10_000: "1K<n<10K", 100_000: "10K<n<100K", 1_000_000: "100K<n<1M"}


def dataset_card(
    benchmark: Benchmark,
    name: str,
    *,
    licence: str = "",
    parquet: bool = True,
    with_truth: bool = True,
    n_left_out: int = 0,
    n_silent: int = 0,
) -> str:
    """The text of ``README.md``.

    Parameters
    ----------
    benchmark
        The clips in the dataset.
    name
        OWNER/NAME on the Hub, or the name of a folder.
    licence
        The licence of clips that have none of their own.
    parquet
        Whether the table is Parquet; otherwise it is an audiofolder.
    with_truth
        Whether the places are in the dataset; if not, no count tells about them.
    n_left_out, n_silent
        Clips that are not in it, and that are in it without sound.
    """
    licences = Counter(licence_name(clip.licence or licence) for clip in benchmark.clips)
    parts = [
        _head(benchmark, licences, parquet),
        f"# {_plain(benchmark.name)}",
        f"Given only a sound, where on Earth was it made? {_clips(len(benchmark))} for "
        "[AGL1K](https://github.com/Rising0321/AGL1K), the benchmark of audio geo-localization.",
        _plain(benchmark.notice) if with_truth else _SEALED,
        f"![Where the clips were recorded]({MAP})" if with_truth else "",
        *_counted(benchmark, licences, with_truth),
        _notes(n_left_out, n_silent),
        _LOADING.format(name=name),
        (_SCORING if with_truth else _SENDING).format(source=_source(name)),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def points_map(benchmark: Benchmark) -> str:
    """A world map with a dot for each clip, as SVG."""
    width, height = round(360 * _SCALE), round((_NORTH - _SOUTH) * _SCALE)
    points = dict.fromkeys((round(_x(c.lon)), round(_y(c.lat))) for c in benchmark.clips)
    dots = "".join(f'<circle cx="{x}" cy="{y}" r="3.5"/>' for x, y in points)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>Where the clips were recorded</title>\n"
        f'<rect width="{width}" height="{height}" fill="{_SEA}"/>\n'
        f'<path d="{places.land_path(_x, _y)}" fill="{_LAND}" stroke="#777" '
        'stroke-width="0.5"/>\n'
        f'<g fill="{_DOT}" fill-opacity="0.75" stroke="#fff" stroke-width="0.7">{dots}</g>\n'
        "</svg>\n"
    )


def _x(lon: float) -> float:
    return (lon + 180) * _SCALE


def _y(lat: float) -> float:
    return (_NORTH - max(lat, _SOUTH)) * _SCALE


def _head(benchmark: Benchmark, licences: Counter[str], parquet: bool) -> str:
    files = ["data/test-*.parquet"] if parquet else ["metadata.jsonl", "*"]
    told = {
        "pretty_name": benchmark.name,
        "license": _on_hub(licences),
        "task_categories": ["audio-classification"],
        "tags": ["audio", "geolocation", "agl1k"],
        "size_categories": [_size(len(benchmark))],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": files}]}],
    }
    return f"---\n{yaml_text(told)}---"


def _on_hub(licences: Iterable[str]) -> str | list[str]:
    """The names of licences on the Hub; "other" if one is not known there, or not known."""
    names = [name.strip().casefold().replace(" ", "-") for name in licences]
    if not all(_ON_HUB.fullmatch(name) for name in names):
        return "other"
    return names[0] if len(names) == 1 else sorted(names)


def _size(n_clips: int) -> str:
    return next((text for most, text in _SIZES.items() if n_clips < most), "n>1M")


def _counted(benchmark: Benchmark, licences: Counter[str], with_truth: bool) -> list[str]:
    speech = Counter("speech" if clip.has("human") else "no speech" for clip in benchmark.clips)
    tables = {"Speech": speech}
    if with_truth:
        tables["Continent"] = Counter(clip.continent for clip in benchmark.clips)
        tables["Country"] = Counter(clip.country for clip in benchmark.clips)
    tables["Licence"] = licences
    return ["## Clips", *(_table(title, counts) for title, counts in tables.items())]


def _table(title: str, counts: Counter[str]) -> str:
    rows = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    lines = [f"| {_plain(name) or 'not known'} | {n:,} |" for name, n in rows]
    return "\n".join([f"| {title} | clips |", "| --- | ---: |", *lines])


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", escape(" ".join(text.split()), quote=False))


def _clips(n: int) -> str:
    return f"{n:,} clip" if n == 1 else f"{n:,} clips"


def _notes(n_left_out: int, n_silent: int) -> str:
    notes = ["The recordings are copied without their tags, and not encoded again if possible."]
    if n_left_out:
        notes.append(f"{_clips(n_left_out)} left out, whose licence forbids a copy.")
    if n_silent:
        notes.append(f"{_clips(n_silent)} without sound.")
    return " ".join(notes)


def _source(name: str) -> str:
    return f"hub:{name}" if "/" in name else name


_SEALED = (
    "This benchmark is sealed: the true places are with the server that keeps its board, and "
    "nothing in this dataset tells them."
)
_LOADING = """## Load it

```python
from datasets import Audio, load_dataset

clips = load_dataset("{name}", split="test")
clips[0]["audio"]  # decoded, for which datasets needs torchcodec
clips.cast_column("audio", Audio(decode=False))[0]["audio"]["bytes"]  # the file as it is
```

Each row has its `key`, by which a prediction file names it, and its own `author` and `licence`, if
they are known."""
_SCORING = """## Score on it

```sh
pip install 'agl1k[hub,audio]'
agl1k score predictions.json --benchmark {source}
agl1k run --benchmark {source} -o run --model MODEL --base-url URL
```

`latitude` and `longitude` are in degrees, WGS-84; the classes, from `human` on, are shares of
time."""
_SENDING = """## Get a score

```sh
pip install 'agl1k[hub,audio]'
agl1k run --benchmark {source} -o run --model MODEL --base-url URL
agl1k submit run --server URL_OF_THE_BOARD
```

The server scores the file, and says how well it did over many clips."""
