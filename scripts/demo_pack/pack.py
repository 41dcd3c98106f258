"""Writes the scenes as a pack: MP3 files without tags, clips.csv, benchmark.json."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np

from agl1k_core.benchmarks import CLASSES
from agl1k_core.places import label_points
from scripts.demo_pack.check import PUBLISHED_CITIES
from scripts.demo_pack.dsp import RATE, Sound
from scripts.demo_pack.scene import Place, Rendered

BIT_RATE = 56_000
#: Bare frames: neither tags nor the encoder's name in a header frame.
MUXER = {"fflags": "+bitexact", "id3v2_version": "0", "write_id3v1": "0", "write_xing": "0"}
COLUMNS = (
    *("key", "latitude", "longitude", "file", "city", "country", "continent"),
    *("title", "description", "duration_s", *CLASSES),
)
INFO = {
    "slug": "demo",
    "name": "AGL1K demo pack",
    "version": "1",
    "licence": "CC0-1.0",
    "notice": (
        "Synthetic demo sounds, made by computer and set in plausible places: "
        "no recordings, not AGL1K."
    ),
}

Row = dict[str, str]


def write_pack(folder: Path, scenes: tuple[Place, ...]) -> Iterator[str]:
    """Make the pack in a folder; yields a line of figures for each clip as it is written."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.mp3"):
        old.unlink()
    rows = []
    for number, scene in enumerate(scenes, 1):
        rendered = scene.render()
        file_name = f"d{number:02d}.mp3"
        encode(rendered.samples, folder / file_name)
        rows.append(table_row(number, file_name, scene, rendered))
        yield _figures(file_name, scene, rendered)
    write_table(folder / "clips.csv", rows)
    text = json.dumps(INFO, ensure_ascii=False, indent=2) + "\n"
    (folder / "benchmark.json").write_text(text, "utf-8")


def _figures(file_name: str, scene: Place, rendered: Rendered) -> str:
    ratio = rendered.speech_over_bed_db()
    speech = "no speech" if ratio is None else f"speech {ratio:+.1f} dB over the rest"
    return f"{file_name}  {scene.name}: {speech}; {rendered.shares()}"


def encode(samples: Sound, path: Path) -> None:
    """Encode a mono sound as MP3 at a constant bit rate, without tags or header frames."""
    with av.open(str(path), "w", format="mp3", options=MUXER) as container:
        stream = container.add_stream(
            "libmp3lame", rate=RATE, layout="mono", options={"compression_level": "0"}
        )
        stream.bit_rate = BIT_RATE
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples[None, :], dtype=np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def table_row(number: int, file_name: str, scene: Place, rendered: Rendered) -> Row:
    """The clip's row of the table; its labels come from the geocoder, unless published before."""
    key = f"demo_{number:02d}"
    label = label_points([scene.latitude], [scene.longitude])[0]
    shares = rendered.shares()
    return {
        "key": key,
        "latitude": f"{scene.latitude:.4f}",
        "longitude": f"{scene.longitude:.4f}",
        "file": file_name,
        "city": PUBLISHED_CITIES.get(key, label.city),
        "country": label.country,
        "continent": label.continent,
        "title": scene.title,
        "description": scene.description,
        "duration_s": f"{len(rendered.samples) / RATE:.2f}",
        **{name: f"{shares.get(name, 0.0):.2f}" for name in CLASSES},
    }


def write_table(path: Path, rows: list[Row]) -> None:
    """Write clips.csv."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
