"""Filters, tagging and curation on one core, compared with what they are built on.

Filters with decoding next to decoding alone and to a straightforward implementation in librosa;
tagging next to the model's inference alone; curation of N files next to that of 4N (``curating``).
The time is processor time, so that other programs do not count.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from agl1k_core import audio, tagging
from agl1k_core.audio import measure, mono_blocks
from agl1k_core.tagging import tag
from perf import curating
from perf.table import Measured
from perf.timing import best_of

REAL = Path(__file__).parents[2] / "shared/agl1k/audio/20020207EssaouiraRempartsMuezzin.mp3"
SHARE_OF_DECODING = 0.5
TIMES_FASTER = 3
_RATE_HZ = 44100
_DURATION_S = 120


def run() -> Iterator[Measured]:
    """All of one recording, in turn, the best of several rounds each."""
    with tempfile.TemporaryDirectory() as folder:
        path = REAL if REAL.is_file() else made_up(Path(folder) / "noise.mp3")
        duration_s = audio.probe(path).duration_s
        yield from _filters(path, duration_s)
        models_dir = user_cache_path("agl1k") / "models"
        tagging.install_yamnet(models_dir)
        yield from _tagging(path, duration_s, models_dir)
        yield from curating.run(models_dir)


def _filters(path: Path, duration_s: float) -> Iterator[Measured]:
    functions: list[Callable[[], object]] = [lambda: decoded(path), lambda: filtered(path)]
    if importlib.util.find_spec("librosa"):
        functions.append(lambda: straightforward(path))
    decoding, ours, *peer = (duration_s / best for best in best_of(functions))
    yield Measured("filters", "decoding alone", decoding, "× real time")
    yield Measured("filters", "decoding and four filters", ours, "× real time")
    yield Measured(
        "filters", "share of decoding", ours / decoding, "", SHARE_OF_DECODING, "at least"
    )
    if peer:
        yield Measured("filters", "librosa, straightforward", peer[0], "× real time")
        yield Measured("filters", "ratio to librosa", ours / peer[0], "×", TIMES_FASTER, "at least")
    else:
        print("The filters are not compared with librosa: pip install librosa")


def _tagging(path: Path, duration_s: float, models_dir: Path) -> Iterator[Measured]:
    tagger = tagging.Yamnet(models_dir)
    wave = np.concatenate([*mono_blocks(path, tagger.sample_rate_hz)])
    alone, whole = best_of([lambda: tagger.predict(wave), lambda: tag(path, tagger)])
    yield Measured("tagging", "YAMNet's inference alone", duration_s / alone, "× real time")
    yield Measured("tagging", "decoding, resampling, YAMNet", duration_s / whole, "× real time")
    yield Measured("tagging", "share of inference", alone / whole, "")


def decoded(path: Path) -> int:
    """Decode everything; returns the samples per channel."""
    with audio.open_recording(path) as recording:
        return sum(block.shape[1] for block in recording.blocks())


def filtered(path: Path) -> dict[str, float]:
    """Decode and measure everything."""
    with audio.open_recording(path) as recording:
        return measure(recording.blocks(), recording.sample_rate_hz).to_dict()


def straightforward(path: Path) -> dict[str, float]:
    """The four measures as one would write them with librosa, with the whole file in memory."""
    import librosa

    samples, _ = librosa.load(path, sr=None, mono=True)
    energy = np.abs(librosa.stft(samples)) ** 2
    change = np.abs(np.diff(energy, axis=1)).sum(axis=1)
    magnitude = np.abs(samples)
    return {
        "rms_energy": float(librosa.feature.rms(y=samples).mean()),
        "spectral_flatness": float(librosa.feature.spectral_flatness(y=samples).mean()),
        "clipping_ratio": float(np.mean(magnitude == magnitude.max())),
        "acoustic_complexity": float((change / (energy.sum(axis=1) + 1e-12)).sum()),
    }


def made_up(path: Path) -> Path:
    """Two minutes of stereo noise as MP3."""
    noise: npt.NDArray[np.float32] = np.random.default_rng(0).normal(
        0, 0.1, (2, _RATE_HZ * _DURATION_S)
    ).astype(np.float32)  # fmt: skip
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("mp3", rate=_RATE_HZ, layout="stereo")
        for start in range(0, noise.shape[1], 65536):
            block = np.ascontiguousarray(noise[:, start : start + 65536])
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="stereo")
            frame.sample_rate = _RATE_HZ
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
