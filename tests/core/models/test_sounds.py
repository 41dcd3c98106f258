"""What is sent: one channel at 16 kHz, truncated as asked, small enough, without tags."""

from __future__ import annotations

import io
from pathlib import Path

import av
import numpy as np
import pytest

from agl1k_core.errors import Agl1kError
from agl1k_core.models import Treatment
from agl1k_core.models.sounds import TooLargeError, prepare, read_samples
from tests.support import sounds


def decoded(data: bytes) -> tuple[np.ndarray, int, int]:
    """Samples, rate and channels of an encoded file."""
    with av.open(io.BytesIO(data), "r") as container:
        stream = container.streams.audio[0]
        frames = [frame.to_ndarray() for frame in container.decode(stream)]
        return np.concatenate(frames, axis=1), stream.rate, stream.layout.nb_channels


@pytest.mark.parametrize("name", ["wav", "mp3", "flac", "ogg"])
def test_every_format_is_one_channel_of_the_same_sound(tmp_path: Path, name: str) -> None:
    path = sounds.encode(tmp_path / "a.flac", "flac", sounds.tone(2), metadata={"title": "Lyon"})
    sound = prepare(path, Treatment(name))  # type: ignore[arg-type]
    samples, rate_hz, channels = decoded(sound.data)
    assert channels == 1
    assert samples.shape[1] / rate_hz == pytest.approx(2.0, abs=0.1)
    assert sound.duration_s == pytest.approx(2.0, abs=0.01)
    assert b"Lyon" not in sound.data
    spectrum = np.abs(np.fft.rfft(samples[0]))
    assert np.argmax(spectrum) * rate_hz / samples.shape[1] == pytest.approx(440, abs=2)


def test_a_longer_recording_is_truncated_and_says_so(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", sounds.tone(3))
    sound = prepare(path, Treatment(max_seconds=1.5))
    assert (sound.duration_s, sound.is_truncated) == (1.5, True)
    assert sound.full_s == pytest.approx(3.0, abs=0.01)
    assert not prepare(path, Treatment(max_seconds=3.5)).is_truncated


def test_what_is_too_large_as_wav_is_sent_as_mp3(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", sounds.tone(4))
    assert prepare(path, Treatment(max_bytes=200_000)).format == "wav"
    assert prepare(path, Treatment(max_bytes=100_000)).format == "mp3"
    with pytest.raises(TooLargeError, match=r"4 s.*--max-seconds"):
        prepare(path, Treatment("wav", max_bytes=100_000))


def test_channels_that_cancel_each_other_are_still_heard(tmp_path: Path) -> None:
    wave = sounds.tone(1, 1)
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", np.concatenate([wave, -wave]))
    samples, _ = read_samples(path)
    assert np.abs(samples).max() > 0.4


def test_a_file_that_is_not_sound_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"hello")
    with pytest.raises(Agl1kError, match="not audio"):
        prepare(path, Treatment())
