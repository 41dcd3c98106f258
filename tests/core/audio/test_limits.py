"""Rates, durations and samples beyond the limits have outcomes, and cost no work."""

from __future__ import annotations

import os
import struct
import tempfile
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from agl1k_core import audio
from agl1k_core.audio import MonoBuffer, NoRoomError, Outcome, inspect_recording
from agl1k_core.errors import Agl1kError
from tests.support import sounds
from tests.support.processes import run_python


def wav(path: Path, rate_hz: int, n_bytes: int = 200_000, channels: int = 1) -> Path:
    """A WAV file of 16-bit noise at any rate, beyond 200 kB of silence."""
    size = 2 * channels
    head = struct.pack("<HHIIHH", 1, channels, rate_hz, rate_hz * size % 2**32, size, 16)
    noise = np.random.default_rng(0).integers(-9000, 9000, min(n_bytes, 200_000) // 2)
    path.write_bytes(sounds.riff(("fmt ", head), ("data", noise.astype("<i2").tobytes())))
    if n_bytes > 200_000:
        data = path.read_bytes()
        path.write_bytes(data[:40] + n_bytes.to_bytes(4, "little") + data[44:])
        os.truncate(path, 44 + n_bytes)
    return path


@pytest.mark.parametrize("rate_hz", [1, 2, 100, 999, 768_001, 10_000_000, 2_000_000_000])
def test_absurd_rates_are_over_the_limit(tmp_path: Path, rate_hz: int) -> None:
    path = wav(tmp_path / "a.wav", rate_hz)
    inspection = inspect_recording(path)
    assert inspection.outcome is Outcome.OVER_LIMIT
    assert inspection.message.startswith(f"The sample rate is {rate_hz:,} Hz, and the limits are")
    for use in (audio.probe, audio.outline, audio.check_beginning):
        with pytest.raises(Agl1kError, match="The sample rate is"):
            use(path)
    with pytest.raises(Agl1kError, match="The sample rate is"):
        audio.tag_free_copy(path, tmp_path / "copy")
    with pytest.raises(Agl1kError, match="The sample rate is"):
        next(audio.mono_blocks(path, 16000))


@pytest.mark.parametrize("rate_hz", [1000, 4000, 192_000, 384_000, 768_000])
def test_unusual_rates_are_fine(tmp_path: Path, rate_hz: int) -> None:
    path = wav(tmp_path / "a.wav", rate_hz)
    inspection = inspect_recording(path)
    assert inspection.usable
    assert inspection.info is not None
    assert inspection.info.duration_s == pytest.approx(100_000 / rate_hz)
    n = sum(map(len, audio.mono_blocks(path, 16000)))
    assert n == pytest.approx(16000 * 100_000 / rate_hz, rel=0.01)


@pytest.mark.parametrize("channels", [65, 100, 255])
def test_more_channels_than_can_be_converted(tmp_path: Path, channels: int) -> None:
    inspection = inspect_recording(wav(tmp_path / "a.wav", 16000, channels=channels))
    assert inspection.outcome is Outcome.OVER_LIMIT
    assert inspection.message.startswith(f"There are {channels} channels, and the limit is 64.")


def test_days_of_sound_are_over_the_limit(tmp_path: Path) -> None:
    path = wav(tmp_path / "a.wav", 1000, 2 * 1000 * 3600 * 26)
    inspection = inspect_recording(path)
    assert inspection.outcome is Outcome.OVER_LIMIT
    assert inspection.message.startswith("The recording is longer than 25 hours.")
    with pytest.raises(Agl1kError, match="longer than 25 hours"):
        audio.check_beginning(path)


def test_an_absurd_duration_in_a_header_is_no_duration(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.flac", "flac")
    data = path.read_bytes()
    numbers = int.from_bytes(data[18:26]) | (1 << 36) - 1
    path.write_bytes(data[:18] + numbers.to_bytes(8) + data[26:])
    assert inspect_recording(path).usable  # its MD5 is right


@pytest.mark.parametrize("codec", ["pcm_f32le", "pcm_f64le"])
@pytest.mark.parametrize("channels", [1, 2, 9])
@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (999.0, Outcome.OK),
        (32767.0, Outcome.OUT_OF_SCALE),
        (-1e30, Outcome.OUT_OF_SCALE),
        (3e38, Outcome.OUT_OF_SCALE),
        (np.inf, Outcome.NOT_FINITE),
        (-np.inf, Outcome.NOT_FINITE),
        (np.nan, Outcome.NOT_FINITE),
    ],
)
def test_samples_out_of_scale_are_named_and_warn_of_nothing(
    tmp_path: Path, codec: str, channels: int, value: float, outcome: Outcome
) -> None:
    samples = sounds.tone(1, channels)
    samples[-1, 5000:5100] = value
    path = sounds.encode(tmp_path / "a.wav", codec, samples)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with MonoBuffer(16000) as sound:
            assert inspect_recording(path, sound).outcome is outcome
        peaks = audio.outline(path, 10)[1]
        wave = np.concatenate([*audio.mono_blocks(path, 16000)])
        first = np.concatenate([*audio.mono_blocks(path, 44100, first_channel=True)])
        audio.tag_free_copy(path, tmp_path / "copy")
    assert np.isfinite(peaks).all()
    assert np.abs(wave).max() < 1100
    assert np.abs(first).max() < 1100


@pytest.mark.parametrize("value", [1e30, -1e300, 2000])
def test_measures_of_arrays_have_the_same_limit(value: float) -> None:
    samples = np.zeros(1000)
    samples[7] = value
    with pytest.raises(Agl1kError, match="times full scale"):
        audio.rms_energy(samples, 16000)


def test_room_for_the_sound_is_checked_before_decoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wav(tmp_path / "a.wav", 8000, 2 * 8000 * 3600)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(1, 1, 100 << 20))
    with MonoBuffer(16000) as sound, pytest.raises(NoRoomError, match=r"takes 0\.2 GB of the tem"):
        inspect_recording(path, sound)
    with MonoBuffer(4000) as sound:
        assert inspect_recording(path, sound).usable
    assert not [*Path(tempfile.gettempdir()).glob("*.part")]


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    ("rate_hz", "seconds", "channels"), [(8000, 3 * 3600, 1), (1000, 3600, 1), (48000, 60, 64)]
)
def test_memory_does_not_grow_with_a_recording(
    tmp_path: Path, rate_hz: int, seconds: int, channels: int
) -> None:
    """How much more memory a long file takes than a short one."""
    short = wav(tmp_path / "short.wav", rate_hz, rate_hz * channels, channels)
    long = wav(tmp_path / "long.wav", rate_hz, 2 * rate_hz * channels * seconds, channels)
    script = (
        "import resource, sys, pathlib\n"
        "from agl1k_core import audio\n"
        "for name in sys.argv[1:]:\n"
        "    with audio.MonoBuffer(16000) as sound:\n"
        "        found = audio.inspect_recording(pathlib.Path(name), sound)\n"
        "    print(found.outcome, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = run_python("-c", script, str(short), str(long))
    before, after = (line.split() for line in done.stdout.splitlines())
    assert after[0] == "ok"
    assert int(after[1]) - int(before[1]) < 100_000
