"""Copies found by sound: precision and recall on re-encodings, and the time per clip.

The demo pack and, if they are there, two real field recordings, cut into pieces of 30 s: pieces of
one recording are different clips of one place and day, which must not be called the same. The time
is the processor time of the comparison, without decoding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
import soundfile  # type: ignore[import-untyped]

from agl1k_core.audio import LANDMARK_RATE_HZ, Peaks, landmarks, mono_blocks, resampled
from agl1k_core.benchmarks import read_demo
from agl1k_core.curation import find_copies
from perf.table import Measured
from perf.timing import best_of

REAL = Path(__file__).parents[2] / "shared/agl1k/audio"
N_CLIPS, TIMES = 100, 4
MIN_RECALL, MIN_PRECISION, MOST_GROWTH = 0.99, 1.0, 1.25
PIECE_S, RATE_HZ = 30, 32000

Wave = npt.NDArray[np.float32]
Change = Callable[[Wave], tuple[Wave, int]]


def run() -> Iterator[Measured]:
    """Recall of each kind of copy, precision of all, then the growth of the time per clip."""
    waves = dict(originals())
    marks = {key: _landmarks(wave, RATE_HZ) for key, wave in waves.items()}
    seconds = {key: len(wave) / RATE_HZ for key, wave in waves.items()}
    right, wrong = 0, len(find_copies(marks, seconds))
    for name, change in CHANGES.items():
        print(f"near: {len(waves)} clips, {name} …", flush=True)
        copies = {key: change(wave) for key, wave in waves.items()}
        of_copies = {f"{key} copy": _landmarks(*copy) for key, copy in copies.items()}
        lengths = {f"{key} copy": len(wave) / rate for key, (wave, rate) in copies.items()}
        found = find_copies(marks | of_copies, seconds | lengths)
        hits = sum(one.b == f"{one.a} copy" for one in found)
        right, wrong = right + hits, wrong + len(found) - hits
        yield Measured("near", f"recall: {name}", hits / len(copies), "", MIN_RECALL, "at least")
    precision = right / (right + wrong)
    yield Measured("near", "precision of all", precision, "", MIN_PRECISION, "at least")
    yield from _growth()


def _growth() -> Iterator[Measured]:
    crowds = [_crowd(n) for n in (N_CLIPS, TIMES * N_CLIPS)]
    jobs = [partial(find_copies, crowd, dict.fromkeys(crowd, 30.0)) for crowd in crowds]
    few, many = best_of(jobs, 2)
    growth = many / few / TIMES
    yield Measured("near", f"{N_CLIPS} clips, each", 1000 * few / N_CLIPS, "ms")
    yield Measured("near", f"growth per one of {TIMES} times as many", growth, "×", MOST_GROWTH)


def _crowd(n: int) -> dict[str, Peaks]:
    """Landmarks of clips of 30 s, one in ten the copy of another."""
    rng = np.random.default_rng(n)
    crowd = {str(i): np.unique(rng.integers(0, 1875 * 224, 750)) for i in range(n)}
    crowd |= {str(i): crowd[str(i - 1)] for i in range(1, n, 10)}
    return {key: (mark // 224 * 256 + mark % 224).astype(np.uint32) for key, mark in crowd.items()}


def originals() -> Iterator[tuple[str, Wave]]:
    """The demo pack and pieces of the real recordings."""
    for path in sorted(_demo().glob("*.mp3")):
        yield path.stem, _decoded(path, RATE_HZ)
    real = sorted(REAL.glob("*.mp3"))
    if not real:
        print("No real recordings: shared/agl1k/audio is missing")
    for path in real:
        wave = _decoded(path, RATE_HZ)
        for n in range(len(wave) // (PIECE_S * RATE_HZ)):
            yield f"{path.stem} {n}", wave[n * PIECE_S * RATE_HZ :][: PIECE_S * RATE_HZ]


def _demo() -> Path:
    folder = read_demo().audio_dir
    assert folder
    return folder


def _decoded(path: Path, rate_hz: int) -> Wave:
    return np.concatenate([*mono_blocks(path, rate_hz)])


def _landmarks(wave: Wave, rate_hz: int) -> Peaks:
    return landmarks([_resampled(wave, rate_hz, LANDMARK_RATE_HZ)])


def _resampled(wave: Wave, rate_hz: int, target_hz: int) -> Wave:
    return np.concatenate([*resampled(iter([np.ascontiguousarray(wave)]), rate_hz, target_hz)])


def _with_av(wave: Wave, codec: str, container: str, kbits: int) -> tuple[Wave, int]:
    rate_hz = 48000 if codec == "libopus" else RATE_HZ
    file = BytesIO()
    with av.open(file, "w", container) as out:
        stream: Any = out.add_stream(codec, rate=rate_hz, layout="mono")
        stream.bit_rate = 1000 * kbits
        sound = _resampled(wave, RATE_HZ, rate_hz)[None]
        form = "flt" if codec == "libopus" else "fltp"
        for start in range(0, sound.shape[1], 8192):
            block = np.ascontiguousarray(sound[:, start : start + 8192])
            frame = av.AudioFrame.from_ndarray(block, form, "mono")
            frame.sample_rate = rate_hz
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    file.seek(0)
    with av.open(file, "r") as source:
        resampler = av.AudioResampler("fltp", "mono", RATE_HZ)
        frames = [f for one in source.decode(audio=0) for f in resampler.resample(one)]
    return np.concatenate([one.to_ndarray()[0] for one in frames]), RATE_HZ


def _vorbis(wave: Wave) -> tuple[Wave, int]:
    file = BytesIO()
    with soundfile.SoundFile(file, "w", RATE_HZ, 1, "VORBIS", format="OGG") as out:
        for start in range(0, len(wave), 65536):  # libsndfile fails on long blocks
            out.write(wave[start : start + 65536])
    file.seek(0)
    return soundfile.read(file, dtype="float32")[0], RATE_HZ


def _trimmed(wave: Wave, start_s: float, end_s: float) -> tuple[Wave, int]:
    return wave[int(start_s * RATE_HZ) : len(wave) - int(end_s * RATE_HZ)], RATE_HZ


def _louder(wave: Wave, decibels: float) -> tuple[Wave, int]:
    loud = np.clip(wave * 10 ** (decibels / 20), -1, 1)
    return (np.rint(loud * 32767) / 32767).astype(np.float32), RATE_HZ


def _at_rate(wave: Wave, rate_hz: int) -> tuple[Wave, int]:
    return _resampled(wave, RATE_HZ, rate_hz), rate_hz


def _all_at_once(wave: Wave) -> tuple[Wave, int]:
    quiet = _louder(_trimmed(wave, 3.3, 1.7)[0], -20)[0]
    return _with_av(quiet, "libmp3lame", "mp3", 32)


CHANGES: dict[str, Change] = {
    **{
        f"MP3, {kbits} kbit/s": partial(_with_av, codec="libmp3lame", container="mp3", kbits=kbits)
        for kbits in (32, 64, 128)
    },
    "Opus, 24 kbit/s": partial(_with_av, codec="libopus", container="ogg", kbits=24),
    "AAC, 48 kbit/s": partial(_with_av, codec="aac", container="adts", kbits=48),
    "Vorbis": _vorbis,
    "1.003 s less at the start": partial(_trimmed, start_s=1.003, end_s=0),
    "5 s less at the end": partial(_trimmed, start_s=0, end_s=5),
    "5.02 and 3 s less": partial(_trimmed, start_s=5.02, end_s=3),
    "5 s from the middle": lambda wave: _trimmed(wave, 11.11, len(wave) / RATE_HZ - 16.11),
    "-20 dB": partial(_louder, decibels=-20),
    "+6 dB, clipped": partial(_louder, decibels=6),
    **{f"{rate:,} Hz": partial(_at_rate, rate_hz=rate) for rate in (22050, 16000, 8000)},
    "trimmed, -20 dB, MP3 at 32 kbit/s": _all_at_once,
}
