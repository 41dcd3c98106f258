"""Checks a finished pack against its table, without synthesis.

All numbers come from the decoded sound or the file's bytes, never from a header.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agl1k_core.audio import AudioInfo, open_recording
from agl1k_core.benchmarks import Benchmark, Clip, read_folder, read_tags
from agl1k_core.errors import Agl1kError, Problem
from agl1k_core.places import label_points
from scripts.demo_pack.dsp import Sound
from scripts.demo_pack.levels import loudness_lufs

CLIPS = 24
COUNTRIES = 20
CLIPS_PER_CONTINENT = 3
CONTINENTS = ("Africa", "Asia", "Europe", "North America", "Oceania", "South America")
DURATION_S = (20.0, 40.0)
RATES_HZ = (32_000, 44_100)
MOST_BYTES = 5_000_000
PEAK_DBFS = (-7.0, -1.0)
LOUDNESS_SPREAD_LU = 1.5
DURATION_SLACK_S = 0.15
MOST_ALIKE = 0.9
SPEECH_CLIPS = (10, 14)

#: Clip -> city as published; the place nearest to it is another one.
PUBLISHED_CITIES = {"demo_16": "Cape Town"}

FILE_NAME = re.compile(r"d\d\d\.mp3")
#: Bit rates of MPEG-1 Layer III, the pack's only format, by the header's index.
BIT_RATES = (
    0,
    *(1000 * n for n in (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)),
)
FRAME_RATES_HZ = (44_100, 48_000, 32_000)
HEADER_FRAMES = (b"Xing", b"Info", b"VBRI")
MAKE_AGAIN = "Make the pack again: python -m scripts.make_demo_pack"
TAG_AGAIN = "Tag the pack again: python -m scripts.make_demo_pack --tags"


@dataclass(frozen=True)
class Measured:
    """One decoded clip."""

    clip: Clip
    info: AudioInfo
    peak_dbfs: float
    loudness_lufs: float
    outline: Sound


def check_pack(folder: Path) -> tuple[list[Problem], list[Measured]]:
    """All problems of a pack, and measurements of its clips.

    Raises ``Agl1kError`` if the table cannot be read.
    """
    benchmark = read_folder(folder)
    problems = [*_table_problems(benchmark), *_folder_problems(benchmark, folder)]
    words = place_words(benchmark)
    measured = []
    for clip in benchmark.clips:
        path = folder / clip.file_name
        try:
            measured.append(measure(clip, path))
        except (Agl1kError, OSError) as error:
            problems.append(_problem(clip, f"it cannot be decoded ({error})"))
            continue
        problems += _sound_problems(measured[-1])
        problems += _byte_problems(clip, path.read_bytes(), words)
    return [*problems, *_set_problems(measured)], measured


def _problem(clip: Clip, found: str, todo: str = MAKE_AGAIN) -> Problem:
    return Problem(found, todo, clip=clip.key)


# --- the table ---------------------------------------------------------------------------------


def _table_problems(benchmark: Benchmark) -> Iterator[Problem]:
    if len(benchmark) != CLIPS:
        yield Problem(f"{len(benchmark)} clips where {CLIPS} are expected", MAKE_AGAIN)
    countries = set(benchmark.country_codes) - {""}
    if len(countries) < COUNTRIES:
        yield Problem(f"only {len(countries)} countries", "Set scenes in more countries")
    for continent in CONTINENTS:
        count = benchmark.continents.count(continent)
        if count < CLIPS_PER_CONTINENT:
            yield Problem(f"{count} clips in {continent}", f"Have {CLIPS_PER_CONTINENT} or more")
    speech = int(benchmark.subsets["speech"].sum())
    if not SPEECH_CLIPS[0] <= speech <= SPEECH_CLIPS[1]:
        yield Problem(f"{speech} clips with speech", "Have speech in about half of the clips")
    yield from _label_problems(benchmark)
    yield from (p for clip in benchmark.clips for p in _row_problems(clip))


def _label_problems(benchmark: Benchmark) -> Iterator[Problem]:
    labels = label_points(benchmark.lat, benchmark.lon)
    for clip, label in zip(benchmark.clips, labels, strict=True):
        ours = (clip.city, clip.country, clip.continent)
        city = PUBLISHED_CITIES.get(clip.key, label.city)
        theirs = (city, label.country, label.continent)
        if ours != theirs:
            yield _problem(clip, f"labels {ours}, but the geocoder says {theirs}")


def _row_problems(clip: Clip) -> Iterator[Problem]:
    if not (clip.title.strip() and clip.description.strip()):
        yield _problem(clip, "no title or no description", "Fill them in its scene")
    if not clip.classes or not any(clip.has(name) for name in clip.classes):
        yield _problem(clip, "no sound class is present")


def place_words(benchmark: Benchmark) -> frozenset[bytes]:
    """Names of cities, countries and continents of the pack, lower case, as bytes."""
    names = {
        name
        for clip in benchmark.clips
        for name in (clip.city, clip.country, clip.continent)
        if len(name) >= 4
    }
    parts = {part for name in names for part in re.split(r"[\s-]", name) if len(part) >= 5}
    return frozenset(word.lower().encode() for word in names | parts)


# --- files -------------------------------------------------------------------------------------


def _folder_problems(benchmark: Benchmark, folder: Path) -> Iterator[Problem]:
    listed = [clip.file_name for clip in benchmark.clips]
    for clip in benchmark.clips:
        if not FILE_NAME.fullmatch(clip.file_name):
            yield _problem(clip, f"the file name {clip.file_name!r} may reveal the place")
    if len(set(listed)) != len(listed):
        yield Problem("two clips share one file", MAKE_AGAIN)
    for name in sorted({path.name for path in folder.glob("*.mp3")} - set(listed)):
        yield Problem(f"{name} is not in the table", "Delete it")
    if read_tags(folder).clips.keys() != benchmark.index.keys():
        yield Problem("tags.json has other clips", TAG_AGAIN)
    total = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    if total > MOST_BYTES:
        yield Problem(f"{total:,} bytes, over {MOST_BYTES:,}", "Lower the bit rate or shorten")


def _byte_problems(clip: Clip, content: bytes, words: frozenset[bytes]) -> Iterator[Problem]:
    end = frames_end(content)
    if end < len(content):
        rest = content[end : end + 8]
        yield _problem(clip, f"a tag or other bytes from byte {end} on ({rest!r})")
    if any(mark in content[:200] for mark in HEADER_FRAMES):
        yield _problem(clip, "a header frame of the encoder")
    lower = content.lower()
    found = sorted(word.decode() for word in words if word in lower)
    if found:
        yield _problem(clip, f"the file's bytes reveal the place: {', '.join(found)}")


def frames_end(content: bytes) -> int:
    """The end of the unbroken chain of MP3 frames from byte 0; a tag anywhere breaks it."""
    at = 0
    while size := _frame_bytes(content[at : at + 4]):
        if at + size > len(content):
            break
        at += size
    return at


def _frame_bytes(header: bytes) -> int:
    """Length of the frame that a header announces; 0 without a header."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xFE != 0xFA:
        return 0
    bit_rate, rate, padding = header[2] >> 4, header[2] >> 2 & 3, header[2] >> 1 & 1
    if bit_rate in (0, 15) or rate == 3:
        return 0
    return 144 * BIT_RATES[bit_rate] // FRAME_RATES_HZ[rate] + padding


# --- sound -------------------------------------------------------------------------------------


def measure(clip: Clip, path: Path) -> Measured:
    """Decode and measure a clip; raises ``Agl1kError`` if it cannot be decoded."""
    with open_recording(path) as recording:
        samples = np.concatenate(list(recording.blocks()), axis=1)
        rate_hz, codec = recording.sample_rate_hz, recording.codec
    channels, n = samples.shape
    mono = samples.mean(axis=0).astype(np.float64)
    peak = float(np.abs(samples).max())
    return Measured(
        clip,
        AudioInfo(n / rate_hz, rate_hz, channels, codec),
        20 * float(np.log10(max(peak, 1e-9))),
        loudness_lufs(mono, rate_hz),
        _outline(mono, rate_hz),
    )


def _outline(mono: Sound, rate_hz: int) -> Sound:
    """A clip's fingerprint: levels in dB of 20 bands in 40 stretches of time, centred."""
    stretches = np.array_split(mono, 40)
    edges = np.geomspace(60, rate_hz * 0.4, 21)
    rows = []
    for stretch in stretches:
        power = np.abs(np.fft.rfft(stretch)) ** 2
        cuts = (edges * len(stretch) / rate_hz).astype(int)
        rows.append([power[a:b].sum() for a, b in itertools.pairwise(cuts)])
    levels = 10 * np.log10(np.array(rows) + 1e-6)
    return np.asarray(levels - levels.mean())


def _sound_problems(one: Measured) -> Iterator[Problem]:
    clip, info = one.clip, one.info
    if not DURATION_S[0] <= info.duration_s <= DURATION_S[1]:
        yield _problem(clip, f"{info.duration_s:.1f} s long, not within {DURATION_S}")
    if clip.duration_s is None or abs(clip.duration_s - info.duration_s) > DURATION_SLACK_S:
        yield _problem(clip, f"{info.duration_s:.2f} s long, the table says {clip.duration_s}")
    if (info.codec, info.channels) != ("mp3", 1):
        yield _problem(clip, f"{info.codec} with {info.channels} channels, not mono MP3")
    if not RATES_HZ[0] <= info.sample_rate_hz <= RATES_HZ[1]:
        yield _problem(clip, f"{info.sample_rate_hz} samples a second")
    if not PEAK_DBFS[0] <= one.peak_dbfs <= PEAK_DBFS[1]:
        yield _problem(clip, f"its peak is {one.peak_dbfs:.1f} dBFS, not within {PEAK_DBFS}")


def _set_problems(measured: list[Measured]) -> Iterator[Problem]:
    if not measured:
        return
    middle = float(np.median([one.loudness_lufs for one in measured]))
    for one in measured:
        if abs(one.loudness_lufs - middle) > LOUDNESS_SPREAD_LU:
            found = f"{one.loudness_lufs:.1f} LUFS, the middle of the pack is {middle:.1f}"
            yield _problem(one.clip, found)
    for (first, second), likeness in alike(measured).items():
        if likeness > MOST_ALIKE:
            found = f"it sounds like {second} (likeness {likeness:.2f})"
            yield Problem(found, "Change one of the two scenes", clip=first)


def alike(measured: list[Measured]) -> Mapping[tuple[str, str], float]:
    """Correlation of the fingerprints of every two clips."""
    matrix = np.corrcoef(np.array([one.outline.ravel() for one in measured]))
    keys = [one.clip.key for one in measured]
    return {(keys[i], keys[j]): float(matrix[i, j]) for i in range(len(keys)) for j in range(i)}
