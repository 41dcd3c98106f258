"""Broken and odd files get a named outcome, and good ones their measures."""

from __future__ import annotations

import struct
import tempfile
import wave
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from agl1k_core import audio
from agl1k_core.audio import (
    Inspection,
    MonoBuffer,
    NoRoomError,
    Note,
    Outcome,
    inspect_recording,
)
from tests.support import sounds

Array = npt.NDArray[np.float32]
CODECS = {
    ".wav": "pcm_s16le",
    ".flac": "flac",
    ".mp3": "mp3",
    ".ogg": "libopus",
    ".opus": "libopus",
    ".m4a": "aac",
}


def some_sound(channels: int = 2, duration_s: float = 3.0) -> Array:
    n = round(duration_s * sounds.RATE_HZ)
    beats = np.sin(2 * np.pi * 440 * np.arange(n) / 48000) * (np.arange(n) // 12000 % 2)
    hiss = np.random.default_rng(0).normal(0, 0.01, (channels, n))
    return (0.3 * beats + hiss).astype(np.float32)


def write(path: Path, samples: Array, codec: str | None = None) -> Path:
    codec = codec or CODECS[path.suffix]
    # Opus supports few other rates than 48 kHz, so all are written at 48 kHz.
    return sounds.encode(path, codec, samples, rate_hz=48000)


def with_floats(path: Path, samples: Array) -> Path:
    return write(path, samples, "pcm_f32le")


@pytest.mark.parametrize("suffix", CODECS)
@pytest.mark.parametrize("channels", [1, 2])
def test_a_recording_is_ok_in_every_format(tmp_path: Path, suffix: str, channels: int) -> None:
    samples = some_sound(channels)
    inspection = inspect_recording(write(tmp_path / f"Île de Ré 🌊{suffix}", samples))
    assert (inspection.outcome, inspection.notes, inspection.message) == (Outcome.OK, (), "")
    assert inspection.usable
    assert inspection.info is not None
    assert inspection.measures is not None
    assert inspection.info.duration_s == pytest.approx(samples.shape[1] / 48000, abs=0.06)
    assert (inspection.info.channels, inspection.info.sample_rate_hz) == (channels, 48000)
    expected = np.sqrt(np.mean(samples.mean(axis=0) ** 2))
    assert inspection.measures.rms_energy == pytest.approx(expected, rel=0.08)


@pytest.mark.parametrize(
    ("codec", "rate_hz"), [("pcm_u8", 8000), ("pcm_s24le", 96000), ("pcm_f64le", 11025)]
)
def test_any_rate_and_depth_is_ok(tmp_path: Path, codec: str, rate_hz: int) -> None:
    samples = some_sound(1)
    path = sounds.encode(tmp_path / "a.wav", codec, samples, rate_hz=rate_hz)
    inspection = inspect_recording(path)
    assert inspection.usable
    assert inspection.info is not None
    assert inspection.info.duration_s == pytest.approx(samples.shape[1] / rate_hz)


@pytest.mark.parametrize("suffix", CODECS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_truncated_file_is_never_taken_for_whole(
    tmp_path: Path, suffix: str, share: float
) -> None:
    path = write(tmp_path / f"a{suffix}", some_sound(duration_s=6))
    data = path.read_bytes()
    path.write_bytes(data[: round(len(data) * share)])
    inspection = inspect_recording(path)
    assert inspection.outcome in (Outcome.TRUNCATED, Outcome.NOT_AUDIO)
    assert not inspection.usable
    assert inspection.message.endswith(
        ("Fetch or copy it again.", "Use a recording in MP3, M4A, FLAC, WAV or Ogg.")
    )


def test_a_truncated_file_says_how_much_there_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", some_sound(duration_s=20))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    message = inspect_recording(path).message
    assert message.startswith("Only ")
    assert "s of the 18.4 s that the file declares could be decoded" in message


@pytest.mark.parametrize(
    ("name", "content", "outcome"),
    [
        ("empty.mp3", b"", Outcome.EMPTY),
        ("text.mp3", b"Dear diary, today I heard a blackbird.\n" * 99, Outcome.NOT_AUDIO),
        ("zeros.wav", bytes(5000), Outcome.NOT_AUDIO),
        ("page.ogg", b"<!DOCTYPE html><title>404</title>", Outcome.NOT_AUDIO),
        ("header.flac", b"fLaC" + bytes(60), Outcome.NOT_AUDIO),
        ("random.m4a", np.random.default_rng(1).bytes(9000), Outcome.NOT_AUDIO),
    ],
)
def test_what_is_not_audio_is_named(
    tmp_path: Path, name: str, content: bytes, outcome: Outcome
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    inspection = inspect_recording(path)
    # some decoder may accept noise, but decodes nothing
    assert inspection.outcome in (outcome, Outcome.UNDECODABLE)
    assert not inspection.usable
    assert inspection.measures is None
    assert inspection.message.endswith(".")


def test_a_file_without_samples_is_undecodable(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
    assert inspect_recording(path).outcome in (Outcome.UNDECODABLE, Outcome.NOT_AUDIO)


def test_a_file_that_does_not_exist_is_missing(tmp_path: Path) -> None:
    assert inspect_recording(tmp_path / "a.mp3") == Inspection(
        Outcome.MISSING, "There is no such file. Check its name."
    )


def test_a_folder_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a.mp3").mkdir()
    assert inspect_recording(tmp_path / "a.mp3").outcome in (Outcome.UNREADABLE, Outcome.NOT_AUDIO)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_are_named(tmp_path: Path, bad: float) -> None:
    samples = some_sound()
    samples[1, -7] = bad
    inspection = inspect_recording(with_floats(tmp_path / "a.wav", samples))
    assert inspection.outcome is Outcome.NOT_FINITE
    assert "NaN or infinite" in inspection.message


@pytest.mark.parametrize(
    "make",
    [
        lambda n: np.zeros((2, n)),
        lambda n: np.full((1, n), 0.25),
        lambda n: np.random.default_rng(0).normal(0, 1e-6, (2, n)),
    ],
    ids=["zeros", "an offset alone", "below 16 bits"],
)
def test_silence_is_named(tmp_path: Path, make: Callable[[int], Array]) -> None:
    inspection = inspect_recording(with_floats(tmp_path / "a.wav", make(90000).astype(np.float32)))
    assert inspection.outcome is Outcome.SILENT
    assert inspection.measures is not None


def test_channels_that_cancel_are_noted_and_the_first_is_measured(tmp_path: Path) -> None:
    one = some_sound(1)
    path = with_floats(tmp_path / "a.wav", np.concatenate([one, -one]))
    inspection = inspect_recording(path)
    assert (inspection.outcome, inspection.notes) == (Outcome.OK, (Note.PHASE_CANCELLING,))
    assert inspection.first_channel
    assert inspection.measures is not None
    assert inspection.measures.rms_energy == pytest.approx(np.sqrt(np.mean(one**2)), rel=1e-4)
    mix, first = (
        np.concatenate([*audio.mono_blocks(path, 16000, first_channel=alone)])
        for alone in (False, True)
    )
    assert np.abs(mix).max() == 0
    assert np.abs(first).max() > 0.1


@pytest.mark.parametrize("target_hz", [8000, 48000])
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_a_buffer_keeps_what_decoding_again_would_give(
    tmp_path: Path, channels: int, target_hz: int
) -> None:
    path = with_floats(tmp_path / "a.wav", some_sound(channels))
    with MonoBuffer(target_hz) as sound:
        assert inspect_recording(path, sound) == inspect_recording(path)
        for first in {False, channels > 1}:
            kept = [*sound.blocks(first_channel=first)]
            decoded = [*audio.mono_blocks(path, target_hz, first_channel=first)]
            assert [len(block) for block in kept] == [len(block) for block in decoded]
            assert np.array_equal(np.concatenate(kept), np.concatenate(decoded))


def test_a_long_recording_waits_in_a_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = with_floats(tmp_path / "a.wav", some_sound(1, duration_s=25))
    with MonoBuffer(192000) as sound:
        assert inspect_recording(path, sound).usable
        (kept,) = {sum(map(len, sound.blocks())) for _ in range(2)}  # it can be read again
        assert kept == pytest.approx(192000 * 25 * 44100 / 48000, rel=0.001)
        # if that file cannot be written, the recording is not to blame
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no folder"))
        with pytest.raises(NoRoomError, match=r"temporary folder cannot be written.*TMPDIR"):
            inspect_recording(path, sound)


def test_an_offset_is_noted(tmp_path: Path) -> None:
    inspection = inspect_recording(with_floats(tmp_path / "a.wav", some_sound() + np.float32(0.1)))
    assert (inspection.outcome, inspection.notes) == (Outcome.OK, (Note.DC_OFFSET,))


def test_a_wrong_extension_is_only_noted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flac", some_sound())
    path = path.rename(tmp_path / "a.MP3")
    inspection = inspect_recording(path)
    assert (inspection.outcome, inspection.notes) == (Outcome.OK, (Note.WRONG_EXTENSION,))


def test_messages_hold_no_file_names(tmp_path: Path) -> None:
    path = tmp_path / "Rue Mellah, Essaouira.mp3"
    for content in (b"", b"text"):
        path.write_bytes(content)
        assert "Essaouira" not in inspect_recording(path).message


def test_taggers_get_silence_for_nan(tmp_path: Path) -> None:
    samples = some_sound(1)
    samples[0, 100:200] = np.nan
    path = with_floats(tmp_path / "a.wav", samples)
    sound = np.concatenate([*audio.mono_blocks(path, 48000)])
    assert np.isfinite(sound).all()
    assert np.abs(sound[100:200]).max() == 0


@pytest.mark.parametrize(
    ("channels", "rate_hz", "bits", "outcome"),
    [
        (0, 16000, 16, Outcome.UNDECODABLE),
        (65535, 16000, 16, Outcome.UNDECODABLE),
        (1, 0, 16, Outcome.NOT_AUDIO),
        (1, 2**32 - 1, 16, Outcome.NOT_AUDIO),
        (1, 16000, 0, Outcome.UNKNOWN_CODEC),
    ],
)
def test_nonsense_in_a_header_has_an_outcome(
    tmp_path: Path, channels: int, rate_hz: int, bits: int, outcome: Outcome
) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(wav(channels, rate_hz, bits, bytes(range(256)) * 40))
    inspection = inspect_recording(path)
    assert inspection.outcome is outcome
    assert inspection.message.count(".") >= 2, "what to do"


def wav(channels: int, rate_hz: int, bits: int, data: bytes) -> bytes:
    """A WAV file whose header says anything."""
    size = channels * bits // 8
    header = struct.pack("<IHHIIHH", 16, 1, channels, rate_hz, rate_hz * size % 2**32, size % 2**16,
                         bits)  # fmt: skip
    body = b"WAVEfmt " + header + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize("suffix", CODECS)
def test_damage_anywhere_raises_nothing(tmp_path: Path, suffix: str) -> None:
    whole = write(tmp_path / f"a{suffix}", some_sound(duration_s=0.5)).read_bytes()
    rng = np.random.default_rng(len(suffix))
    path = tmp_path / f"b{suffix}"
    for _ in range(40):
        data = bytearray(whole)
        for at in rng.integers(0, min(len(data), 400), rng.integers(1, 8)):
            data[at] = rng.integers(256)
        path.write_bytes(data)
        inspection = inspect_recording(path)
        assert inspection.usable or inspection.message
