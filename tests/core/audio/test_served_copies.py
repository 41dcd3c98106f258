"""Served copies are all alike: nothing but the sound and whole seconds tells them apart."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest

from agl1k_core import audio
from tests.support import sounds

PLACE = "RueMellahEssaouira"
#: Bytes of which not even a short run may be the recording's.
RUN = 24
KINDS = [
    ("mp3", "mp3"), ("m4a", "aac"), ("aac", "aac"), ("ogg", "libopus"), ("opus", "libopus"),
    ("flac", "flac"), ("wav", "pcm_s16le"), ("mka", "aac"), ("webm", "libopus"),
]  # fmt: skip


def noise(duration_s: float, channels: int = 2, rate_hz: int = 48000) -> npt.NDArray[np.float32]:
    """Sound of which no two frames are equal, as those of silence are."""
    shape = (channels, round(duration_s * rate_hz))
    return np.random.default_rng(7).normal(0, 0.1, shape).astype(np.float32)


def frames_of(path: Path) -> Iterator[bytes]:
    """The encoded sound, frame by frame, without headers of the container."""
    with av.open(str(path)) as container:
        for packet in container.demux(audio=0):
            if packet.size:
                yield bytes(packet)


@pytest.mark.parametrize(("suffix", "codec"), KINDS)
def test_nothing_of_the_file_is_served(tmp_path: Path, suffix: str, codec: str) -> None:
    source = sounds.encode(
        tmp_path / f"source.{suffix}",
        codec,
        noise(3.4),
        rate_hz=48000,
        metadata={"title": PLACE, "comment": PLACE},
    )
    copy = audio.served_copy(source, tmp_path / "copy")
    ours, theirs = copy.read_bytes(), source.read_bytes()
    assert hashlib.sha256(ours).digest() != hashlib.sha256(theirs).digest()
    assert PLACE.encode() not in ours
    assert not {*frames_of(source)} & {*frames_of(copy)}
    sound = b"".join([*frames_of(copy)][1:])
    runs = {theirs[at : at + RUN] for at in range(len(theirs) - RUN)}
    assert not [at for at in range(0, len(sound) - RUN, RUN) if sound[at : at + RUN] in runs]


@pytest.mark.parametrize("rate_hz", [8000, 44100, 96000])
@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize(("length_s", "served_s"), [(0.3, 1), (1.0, 1), (2.0, 2), (2.999, 2)])
def test_all_copies_of_as_many_seconds_are_alike(
    tmp_path: Path, rate_hz: int, channels: int, length_s: float, served_s: int
) -> None:
    tone = sounds.tone(length_s, channels, rate_hz)
    source = sounds.encode(tmp_path / "a.wav", "pcm_s16le", tone, rate_hz=rate_hz)
    reference = sounds.encode(tmp_path / "b.wav", "pcm_s16le", sounds.tone(served_s))
    copy, other = (
        audio.served_copy(path, tmp_path / f"copy-{path.stem}") for path in (source, reference)
    )
    assert audio.probe(copy) == audio.AudioInfo(served_s, 44100, 2, "mp3")
    assert copy.stat().st_size == other.stat().st_size
    assert next(frames_of(copy))[:4] == next(frames_of(other))[:4]


@pytest.mark.parametrize("channels", [1, 2])
def test_a_copy_is_the_same_sound(tmp_path: Path, channels: int) -> None:
    tone = sounds.tone(3, channels)
    source = sounds.encode(tmp_path / "a.mp3", "mp3", tone)
    with audio.open_recording(audio.served_copy(source, tmp_path / "copy")) as copy:
        heard = np.concatenate([*copy.blocks()], axis=1)
    assert heard.shape == (2, 3 * 44100)
    for side in heard:
        np.testing.assert_allclose(
            side[:-4096], tone[0][:-4096], atol=0.06
        )  # LAME plays at 95 %, here twice


def test_damaged_samples_become_silence(tmp_path: Path) -> None:
    samples = sounds.tone(2)
    samples[:, 1000:2000] = np.nan
    samples[:, 3000:3100] = np.inf
    source = sounds.encode(tmp_path / "a.wav", "pcm_f32le", samples)
    assert audio.probe(audio.served_copy(source, tmp_path / "copy")).duration_s == 2


def test_a_copy_replaces_no_suffix_but_its_own(tmp_path: Path) -> None:
    source = sounds.encode(tmp_path / "a.m4a", "aac", sounds.tone(1.5))
    assert audio.served_copy(source, tmp_path / "copy.m4a") == tmp_path / "copy.mp3"


def test_the_rest_of_long_recordings_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audio.copies, "LONGEST_SERVED_S", 2)
    source = sounds.encode(tmp_path / "a.wav", "pcm_s16le", sounds.tone(5))
    assert audio.probe(audio.served_copy(source, tmp_path / "copy")).duration_s == 2
