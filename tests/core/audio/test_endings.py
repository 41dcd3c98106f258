"""Whole files are whole whatever their headers say; cut files are truncated if a header says so."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from agl1k_core.audio import Note, Outcome, inspect_recording
from tests.support import sounds

RATE_HZ = 48000
SHARED = Path(__file__).parents[4] / "shared" / "cases" / "sound"
SHARES = (0.3, 0.51, 0.77, 0.93)
PLACEHOLDERS = (
    0,
    0xFFFFFFFF,
    0xFFFFFFFE,
    0xFFFFFFFF - 36,
    0x7FFFFFFF,
    0x7FFFFFFF - 36,
    0x7FFFF000,
    0x7FFFF024,
    0x80000000,
)


@cache
def written(
    suffix: str, codec: str, mux: tuple[tuple[str, str], ...] = (), rate_hz: int = RATE_HZ
) -> bytes:
    """Two seconds of drifting noise in a file."""
    walk = np.random.default_rng(0).normal(size=2 * rate_hz).cumsum()
    walk -= np.linspace(walk[0], walk[-1], len(walk))
    samples = (0.5 * walk / np.abs(walk).max()).astype(np.float32)[np.newaxis]
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        kind = "mp4" if mux and suffix == ".m4a" else None
        sounds.encode(path, codec, samples, rate_hz=rate_hz, mux=dict(mux), container_format=kind)
        return path.read_bytes()


def outcome(folder: Path, suffix: str, data: bytes) -> Outcome:
    path = folder / f"odd{suffix}"
    path.write_bytes(data)
    return inspect_recording(path).outcome


def patched(data: bytes, at: int, value: int, kind: str = "<I") -> bytes:
    return data[:at] + struct.pack(kind, value) + data[at + struct.calcsize(kind) :]


def cuts(data: bytes) -> Iterator[bytes]:
    return (data[: int(share * len(data))] for share in SHARES)


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared cases are not here")
@pytest.mark.parametrize("path", sorted(SHARED.glob("*")), ids=lambda path: path.name)
def test_shared_files_are_whole(path: Path) -> None:
    # one holds three bytes over and over, which is a constant
    assert inspect_recording(path).outcome in (Outcome.OK, Outcome.SILENT)


WAV_SIZES = [0, 4, 36, -1, 1, -1000, 1000, *PLACEHOLDERS]


@pytest.mark.parametrize("size", WAV_SIZES)
def test_size_of_a_wav_file_does_not_count(tmp_path: Path, size: int) -> None:
    wav = written(".wav", "pcm_s16le")
    # small numbers are differences from the right size
    said = size if size in PLACEHOLDERS or size in (0, 4, 36) else len(wav) - 8 + size
    odd = patched(wav, 4, said)
    assert outcome(tmp_path, ".wav", odd) is Outcome.OK
    assert {outcome(tmp_path, ".wav", cut) for cut in cuts(odd)} == {Outcome.TRUNCATED}


@pytest.mark.parametrize("file_size", [None, 0, 0xFFFFFFFF, 0x7FFFF024])
@pytest.mark.parametrize("size", [*PLACEHOLDERS, "file", "file without 8", 1, 44, -1, -1000])
def test_sizes_of_streams_are_no_sizes(
    tmp_path: Path, size: int | str, file_size: int | None
) -> None:
    wav = written(".wav", "pcm_s16le")
    at = wav.index(b"data") + 4
    right = len(wav) - at - 4
    said: dict[int | str, int] = {"file": len(wav), "file without 8": len(wav) - 8}
    said |= {difference: right + difference for difference in (1, 44, -1, -1000)}
    said |= {placeholder: placeholder for placeholder in PLACEHOLDERS}
    odd = patched(wav, at, said[size])
    odd = odd if file_size is None else patched(odd, 4, file_size)
    assert outcome(tmp_path, ".wav", odd) is Outcome.OK


@pytest.mark.parametrize("counted", [0, 4000])
@pytest.mark.parametrize(
    "more",
    [
        b"LIST" + struct.pack("<I", 400) + b"INFO" + bytes(30),
        b"LIST\xff\xff\xff\xff",
        b"id3 " + struct.pack("<I", 5000) + b"ID3",
        b"bext",
        bytes(3),
        b"anything else",
    ],
)
def test_what_follows_the_sound_of_a_wav_file_may_be_cut(
    tmp_path: Path, more: bytes, counted: int
) -> None:
    wav = written(".wav", "pcm_s16le")
    assert outcome(tmp_path, ".wav", patched(wav, 4, len(wav) - 8 + counted) + more) is Outcome.OK


@pytest.mark.parametrize(
    ("codec", "n_bytes"), [("pcm_u8", 48001), ("pcm_s24le", 27003), ("pcm_s24le", 27004)]
)
def test_a_missing_pad_byte_is_no_sound(tmp_path: Path, codec: str, n_bytes: int) -> None:
    wav = written(".wav", codec)
    at = wav.index(b"data") + 4
    odd = patched(wav, at, n_bytes)[
        : at + 4 + n_bytes // 3 * 3 if "24" in codec else at + 4 + n_bytes
    ]
    for size in (len(odd) - 8, len(odd) - 7):
        assert outcome(tmp_path, ".wav", patched(odd, 4, size)) is Outcome.OK
    assert {outcome(tmp_path, ".wav", cut) for cut in cuts(odd)} == {Outcome.TRUNCATED}


FRAGMENTS = ("movflags", "frag_keyframe+empty_moov"), ("frag_duration", "200000")
WHOLE = {
    "rf64": (".wav", "pcm_s16le", (("rf64", "always"),)),
    "adpcm": (".wav", "adpcm_ms", ()),
    "w64": (".w64", "pcm_s16le", ()),
    "aiff": (".aiff", "pcm_s16be", ()),
    "caf": (".caf", "pcm_s16le", ()),
    "au": (".au", "pcm_s16be", ()),
    "flac": (".flac", "flac", ()),
    "tta": (".tta", "tta", ()),
    "wavpack": (".wv", "wavpack", ()),
    "matroska": (".mka", "pcm_s16le", ()),
    "live matroska": (".mka", "pcm_s16le", (("live", "1"),)),
    "webm": (".webm", "libopus", ()),
    "live webm": (".webm", "libopus", (("live", "1"),)),
    "ogg": (".ogg", "libopus", ()),
    "mp3": (".mp3", "mp3", ()),
    "mp4": (".m4a", "aac", (("movflags", "faststart"),)),
    "fragments": (".m4a", "aac", FRAGMENTS),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_is_ok_and_cut_is_not(tmp_path: Path, name: str) -> None:
    suffix, *_ = WHOLE[name]
    data = written(*WHOLE[name])
    assert outcome(tmp_path, suffix, data) is Outcome.OK
    found = {outcome(tmp_path, suffix, cut) for cut in cuts(data)}
    # of some formats, the beginning alone is not decoded
    assert found <= {Outcome.TRUNCATED, Outcome.UNDECODABLE, Outcome.NOT_AUDIO}
    assert Outcome.TRUNCATED in found


@pytest.mark.parametrize(("suffix", "codec"), [(".aac", "aac"), (".ac3", "ac3"), (".mp2", "mp2")])
def test_frames_alone_are_whole_wherever_they_end(tmp_path: Path, suffix: str, codec: str) -> None:
    data = written(suffix, codec)
    assert {outcome(tmp_path, suffix, cut) for cut in (data, *cuts(data))} == {Outcome.OK}


def test_amr_is_whole_wherever_it_ends(tmp_path: Path) -> None:
    data = written(".amr", "libopencore_amrnb", rate_hz=8000)
    assert {outcome(tmp_path, ".amr", cut) for cut in (data, *cuts(data))} == {Outcome.OK}


def mp3_with(frames: float | None = None, n_bytes: float | None = None) -> bytes:
    """An MP3 file whose header has other numbers, given in multiples of the right ones."""
    data = written(".mp3", "mp3")
    at = data.index(b"Info") + 8
    right = struct.unpack(">II", data[at : at + 8])
    for place, (times, value) in enumerate(zip((frames, n_bytes), right, strict=True)):
        if times is not None:
            data = patched(data, at + 4 * place, min(int(times * value), 0xFFFFFFFF), ">I")
    return data


ID3V1 = b"TAG" + bytes(125)
APE = b"APETAGEX" + struct.pack("<IIII8x", 2000, 32, 0, 0xA0000000)
LYRICS = b"LYRICSBEGIN" + b"x" * 50 + b"000061LYRICS200"
ENDS = (b"", ID3V1, APE, APE + ID3V1, LYRICS + ID3V1, bytes(3000), b"any bytes")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("frames", [0, 0.5, 1, 1.1, 2, 1e9])
@pytest.mark.parametrize("n_bytes", [None, 2])
def test_stale_numbers_of_an_mp3_do_not_count(
    tmp_path: Path, frames: float, n_bytes: float | None, end: bytes
) -> None:
    assert outcome(tmp_path, ".mp3", mp3_with(frames, n_bytes) + end) is Outcome.OK


def test_joined_mp3s_are_whole(tmp_path: Path) -> None:
    data = mp3_with()
    for joined in (data + data, data + ID3V1 + data, mp3_with(0) + data, data[400:] + data):
        assert outcome(tmp_path, ".mp3", joined) is Outcome.OK


def test_an_mp3_cut_amid_a_frame_is_truncated(tmp_path: Path) -> None:
    data = mp3_with()
    start = data.index(b"\xff\xfb", len(data) // 2)
    found = [outcome(tmp_path, ".mp3", data[: start + n]) for n in range(1, 10)]
    assert set(found) == {Outcome.TRUNCATED}
    assert outcome(tmp_path, ".mp3", data[:start]) is Outcome.OK  # as an editor of frames cuts


def flac_with(total: float | None = None, md5: bytes | None = None) -> bytes:
    """A FLAC file whose header has another number of samples, or another MD5."""
    data = written(".flac", "flac")
    numbers = int.from_bytes(data[18:26])
    right = numbers & ((1 << 36) - 1)
    new = right if total is None else int(right * total)
    data = data[:18] + (numbers - right + new).to_bytes(8) + data[26:]
    return data if md5 is None else data[:26] + md5 + data[42:]


@pytest.mark.parametrize("md5", [None, bytes(16)])
def test_flac_of_a_stream_is_whole(tmp_path: Path, md5: bytes | None) -> None:
    assert outcome(tmp_path, ".flac", flac_with(0, md5)) is Outcome.OK
    assert outcome(tmp_path, ".flac", flac_with(1, md5)) is Outcome.OK
    assert outcome(tmp_path, ".flac", flac_with(0.5, md5)) is Outcome.OK


def test_the_md5_of_flac_has_the_last_word(tmp_path: Path) -> None:
    assert outcome(tmp_path, ".flac", flac_with(3)) is Outcome.OK  # only the number is wrong
    assert outcome(tmp_path, ".flac", flac_with(3, bytes(16))) is Outcome.TRUNCATED
    assert outcome(tmp_path, ".flac", flac_with(md5=b"of another sound")) is Outcome.ALTERED
    assert {outcome(tmp_path, ".flac", cut) for cut in cuts(flac_with(0))} == {Outcome.ALTERED}


@pytest.mark.parametrize(("bits", "sample_format"), [(16, "s16"), (24, "s32")])
@pytest.mark.parametrize("channels", [1, 2, 8])
def test_the_md5_is_that_of_any_depth_and_channels(
    tmp_path: Path, bits: int, sample_format: str, channels: int
) -> None:
    path = tmp_path / "a.flac"
    samples = np.random.default_rng(0).normal(0, 0.1, (channels, 20000)).astype(np.float32)
    sounds.encode(path, "flac", samples, fmt=sample_format)
    data = path.read_bytes()
    assert (int.from_bytes(data[18:26]) >> 36 & 31) + 1 == bits
    assert any(data[26:42])
    assert outcome(tmp_path, ".flac", data) is not Outcome.ALTERED
    other = data[:26] + bytes(byte ^ 1 for byte in data[26:42]) + data[42:]
    assert outcome(tmp_path, ".flac", other) is Outcome.ALTERED


def ogg_page(data: bytes, flags: int) -> bytes:
    """A page with other flags, and the checksum that FFmpeg expects (RFC 3533, section 6)."""
    page = bytearray(data)
    page[5] = flags
    page[22:26] = bytes(4)
    checksum = 0
    for byte in page:
        checksum ^= byte << 24
        for _ in range(8):
            checksum = checksum << 1 ^ (0x104C11DB7 if checksum & 0x80000000 else 0)
    page[22:26] = checksum.to_bytes(4, "little")
    return bytes(page)


def test_ogg_without_an_end_mark_is_whole_with_a_note(tmp_path: Path) -> None:
    data = written(".ogg", "libopus")
    last = data.rfind(b"OggS")
    path = tmp_path / "a.ogg"
    for whole in (data[:last] + ogg_page(data[last:], 0), data[:last]):
        path.write_bytes(whole)
        inspection = inspect_recording(path)
        assert (inspection.outcome, inspection.notes) == (Outcome.OK, (Note.NO_END_MARK,))
    for n_bytes in (last + 10, last + 30, len(data) - 1):
        assert outcome(tmp_path, ".ogg", data[:n_bytes]) is Outcome.TRUNCATED
    path.write_bytes(data + bytes(100))
    assert inspect_recording(path).notes == ()


def with_other_duration(data: bytes) -> bytes:
    at = data.index(b"\x44\x89\x88") + 3
    return data[:at] + struct.pack(">d", 90_000.0) + data[at + 8 :]


def without_duration(data: bytes) -> bytes:
    at = data.index(b"\x44\x89\x88")
    return data[:at] + b"\xec\x89" + bytes(9) + data[at + 11 :]


@pytest.mark.parametrize("change", [with_other_duration, without_duration])
def test_the_duration_of_matroska_may_be_wrong_or_missing(
    tmp_path: Path, change: Callable[[bytes], bytes]
) -> None:
    data = change(written(".mka", "pcm_s16le"))
    assert outcome(tmp_path, ".mka", data) is Outcome.OK
    assert {outcome(tmp_path, ".mka", cut) for cut in cuts(data)} == {Outcome.TRUNCATED}


def test_durations_and_sizes_of_mp4_may_be_wrong(tmp_path: Path) -> None:
    data = written(*WHOLE["mp4"])
    duration, sound = data.index(b"mdhd") + 20, data.index(b"mdat")
    (right,) = struct.unpack(">I", data[duration : duration + 4])
    assert outcome(tmp_path, ".m4a", patched(data, duration, 3 * right, ">I")) is Outcome.OK
    for size in (0, len(data) - sound + 4 + 1000, 0xFFFFFFFF):
        assert outcome(tmp_path, ".m4a", patched(data, sound - 4, size, ">I")) is Outcome.OK
    assert outcome(tmp_path, ".m4a", data + struct.pack(">I", 5000) + b"free..") is Outcome.OK


def test_sizes_that_mean_unknown(tmp_path: Path) -> None:
    au, caf = written(".au", "pcm_s16be"), written(".caf", "pcm_s16le")
    au = patched(au, 8, 0xFFFFFFFF, ">I")
    caf = patched(caf, caf.index(b"data") + 4, -1, ">q")
    assert {outcome(tmp_path, ".au", cut) for cut in (au, *cuts(au))} == {Outcome.OK}
    assert {outcome(tmp_path, ".caf", cut) for cut in (caf, *cuts(caf))} == {Outcome.OK}
    rf64 = written(*WHOLE["rf64"])
    assert outcome(tmp_path, ".wav", b"BW64" + rf64[4:]) is Outcome.OK
    assert outcome(tmp_path, ".wav", rf64[:20] + bytes(24) + rf64[44:]) is Outcome.OK


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0x7FFFFFFF, 900, 10_000_000])
def test_size_of_an_aiff_file_does_not_count(tmp_path: Path, size: int) -> None:
    data = written(".aiff", "pcm_s16be")
    assert outcome(tmp_path, ".aiff", patched(data, 4, size, ">I")) is Outcome.OK
    for placeholder in (0xFFFFFFFF, 0x7FFFFFFF, 0x7FFFF008):
        odd = patched(data, data.index(b"SSND") + 4, placeholder, ">I")
        assert outcome(tmp_path, ".aiff", odd) is Outcome.OK


@pytest.mark.parametrize("name", WHOLE)
def test_nonsense_in_a_container_has_an_outcome(tmp_path: Path, name: str) -> None:
    suffix, *_ = WHOLE[name]
    data = written(*WHOLE[name])
    rng = np.random.default_rng(1)
    for _ in range(10):
        odd = bytearray(data)
        for at in rng.integers(0, 300, 6):
            odd[at] = int(rng.choice([0, 1, 255, int(rng.integers(256))]))
        assert outcome(tmp_path, suffix, bytes(odd)) in Outcome
