"""Every number of channels is decoded as it is, by any of FFmpeg's decoders."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from agl1k_core import audio
from tests.support import sounds

Array = npt.NDArray[np.float32]
RATE_HZ = 48000
AS_WRITTEN = 2**-15  # half a step of 16 bits, twice


def a_tone_each(channels: int, n: int = 4000) -> Array:
    """A tone in each channel, so that none can be taken for another."""
    tones = np.arange(1, channels + 1)[:, np.newaxis] * 2 * np.pi * 40 / RATE_HZ
    return (0.4 * np.sin(tones * np.arange(n))).astype(np.float32)


def decoded(path: Path) -> Array:
    with audio.open_recording(path) as recording:
        return np.concatenate([*recording.blocks()], axis=1)


@pytest.mark.parametrize("channels", range(1, 65))
def test_wav_of_any_number_of_channels(tmp_path: Path, channels: int) -> None:
    samples = a_tone_each(channels)
    path = sounds.encode(tmp_path / "a.wav", "pcm_f32le", samples, rate_hz=RATE_HZ)
    np.testing.assert_array_equal(decoded(path), samples)
    inspection = audio.inspect_recording(path)
    assert inspection.usable
    assert inspection.info is not None
    assert inspection.measures is not None
    assert (inspection.info.channels, inspection.info.duration_s) == (channels, 4000 / RATE_HZ)
    expected = np.sqrt(np.mean(samples.mean(axis=0, dtype=np.float64) ** 2))
    assert inspection.measures.rms_energy == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "codec", "channels"),
    [
        *[("a.flac", "flac", n) for n in range(2, 9)],
        *[("a.aiff", "pcm_s16be", n) for n in (2, 6, 8, 16, 64)],
        *[("a.caf", "pcm_s24le", n) for n in (2, 6, 8, 12, 64)],
        *[("a.au", "pcm_s16be", n) for n in (8, 33)],
        *[("a.w64", "pcm_s16le", n) for n in (8, 24)],
        *[("a.mka", "pcm_f64le", n) for n in (8, 30)],
    ],
)
def test_other_containers(tmp_path: Path, name: str, codec: str, channels: int) -> None:
    samples = a_tone_each(channels)
    path = sounds.encode(tmp_path / name, codec, samples, rate_hz=RATE_HZ)
    for _ in range(3):  # what is freed twice shows at the next file
        np.testing.assert_allclose(decoded(path), samples, atol=AS_WRITTEN)


@pytest.mark.parametrize(
    ("name", "codec", "channels", "layout", "family"),
    [
        ("a.opus", "libopus", 4, "ambisonic 1", "2"),
        ("a.opus", "libopus", 9, "ambisonic 2", "2"),
        ("a.opus", "libopus", 16, "ambisonic 3", "2"),
        ("a.opus", "libopus", 8, "7.1", "1"),
        ("a.mka", "libopus", 24, "", "255"),
        ("a.m4a", "aac", 8, "7.1", ""),
        ("a.wv", "wavpack", 16, "", ""),
        ("a.tta", "tta", 8, "", ""),
    ],
)
def test_codecs_that_decode_a_plane_per_channel(
    tmp_path: Path, name: str, codec: str, channels: int, layout: str, family: str
) -> None:
    samples = a_tone_each(channels, 2 * RATE_HZ)
    options = {"mapping_family": family} if family else None
    path = sounds.encode(
        tmp_path / name, codec, samples, rate_hz=RATE_HZ, layout=layout, options=options
    )
    found = decoded(path)
    assert len(found) == channels
    power = [float(np.mean(channel[RATE_HZ // 2 : RATE_HZ] ** 2)) for channel in found]
    # the channel for low frequencies is encoded with less
    assert sorted(power)[1:] == pytest.approx([0.08] * (channels - 1), rel=0.1)


@pytest.mark.parametrize("mask", [0, 1, 0x63F, 0x80000000, 0xFFFFFFFF, 0x30003])
@pytest.mark.parametrize("channels", [2, 3, 8, 9])
def test_loudspeakers_that_do_not_fit_the_channels(
    tmp_path: Path, channels: int, mask: int
) -> None:
    samples = (a_tone_each(channels) * 32767).astype("<i2")
    size = 2 * channels
    head = struct.pack(
        "<HHIIHHHHI", 0xFFFE, channels, RATE_HZ, RATE_HZ * size, size, 16, 22, 16, mask
    )
    head += bytes.fromhex("0100000000001000800000aa00389b71")
    path = tmp_path / "a.wav"
    path.write_bytes(sounds.riff(("fmt ", head), ("data", samples.T.tobytes())))
    np.testing.assert_array_equal(decoded(path), samples / np.float32(32768))


@pytest.mark.parametrize("channels", [8, 12, 64])
def test_copies_and_mono_sound_of_many_channels(tmp_path: Path, channels: int) -> None:
    samples = np.repeat(sounds.tone(2, 1), channels, axis=0)
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", samples)
    copy = audio.tag_free_copy(path, tmp_path / "copy")
    assert audio.probe(copy).channels == 1
    assert audio.outline(copy, 10)[1] == pytest.approx(audio.outline(path, 10)[1], abs=0.06)
    wave = np.concatenate([*audio.mono_blocks(path, 44100)])
    np.testing.assert_allclose(wave, samples[0], atol=AS_WRITTEN)


def test_blocks_of_many_channels_are_bounded(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", a_tone_each(64, 40000))
    with audio.open_recording(path) as recording:
        assert max(block.size for block in recording.blocks()) < 1_000_000
