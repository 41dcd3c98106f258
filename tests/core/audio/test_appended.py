"""Tags after sound of unknown size are neither heard nor copied."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core import audio
from tests.support import sounds

pytestmark = pytest.mark.server

PLACE = b"48.8584 N 2.2945 E, Eiffel Tower"
SAMPLES = (np.sin(np.arange(8000) / 20) * 9000).astype("<i2").tobytes()
FORMAT = struct.pack("<HHIIHH", 1, 1, 16000, 32000, 2, 16)
INFO = b"INFO" + b"ICMT" + struct.pack("<I", len(PLACE)) + PLACE
PLACEHOLDERS = (0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(SAMPLES) + 500)


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _wav(after: bytes, size: int = 0xFFFFFFFF, samples: bytes = SAMPLES) -> bytes:
    head = b"RIFF" + struct.pack("<I", 0xFFFFFFFF) + b"WAVE" + _chunk(b"fmt ", FORMAT)
    return head + b"data" + struct.pack("<I", size) + samples + after


@pytest.mark.parametrize("size", PLACEHOLDERS)
@pytest.mark.parametrize(
    "after",
    [
        _chunk(b"LIST", INFO),
        _chunk(b"iXML", b"<PLACE>" + PLACE) + _chunk(b"LIST", INFO),
        _chunk(b"bext", PLACE.ljust(602, b"\0"))[:-1] + b"\0",
        _chunk(b"id3 ", b"ID3\3\0\0\0\0\0" + PLACE + b"!"),
        _chunk(b"LIST", INFO + b"x")[:-1],  # without its padding byte
    ],
    ids=["list", "two", "bext", "id3", "unpadded"],
)
def test_a_tag_after_the_sound_is_left_out(tmp_path: Path, after: bytes, size: int) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(_wav(after, size))
    copy = audio.stripped_copy(path, tmp_path / "copy")
    content = copy.path.read_bytes()
    assert PLACE not in content
    assert SAMPLES in content
    info, _ = audio.outline(path)
    assert info.duration_s == pytest.approx(0.5)
    assert PLACE not in audio.tag_free_copy(path, tmp_path / "served").read_bytes()


def test_sound_that_only_mentions_a_chunk_is_whole(tmp_path: Path) -> None:
    """The name is there, but its size leads elsewhere."""
    samples = SAMPLES[:4000] + b"LIST" + struct.pack("<I", 77) + SAMPLES[4000:]
    path = tmp_path / "a.wav"
    path.write_bytes(_wav(b"", samples=samples))
    assert samples in audio.stripped_copy(path, tmp_path / "copy").path.read_bytes()


@given(st.binary(max_size=400))
def test_whatever_follows_the_sound_decodes(after: bytes) -> None:
    with sounds.temporary_wav(_wav(after)) as path:
        info, _ = audio.outline(path)
    assert info.duration_s >= 0.5
