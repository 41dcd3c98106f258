"""Copies without tags: the answer is planted in every way and must not be found in the copy."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from mutagen.aiff import AIFF
from mutagen.apev2 import APEv2
from mutagen.flac import FLAC, Picture
from mutagen.id3 import APIC, CHAP, CTOC, ID3, TIT2, TXXX, CTOCFlags
from mutagen.mp4 import MP4, MP4Cover
from mutagen.oggopus import OggOpus
from mutagen.oggvorbis import OggVorbis

from agl1k_core import audio
from agl1k_core.audio import CopyKind, stripped_copy
from agl1k_core.errors import Agl1kError

PLACE = "Essaouira 31.5125,-9.7700"
PLANTED = (PLACE.encode(), PLACE.encode("utf-16-le"), PLACE.encode("utf-16-be"))

Array = np.ndarray[Any, Any]


def holds_place(content: bytes) -> bool:
    return any(text in content for text in PLANTED)


def make(path: Path, codec: str, container_format: str, **stream_options: Any) -> Path:
    """Two seconds of noise, tagged by FFmpeg in every way that the format knows."""
    rate_hz = 48000 if codec == "libopus" else 44100
    noise = np.random.default_rng(1).normal(scale=0.1, size=(2, 2 * rate_hz)).astype(np.float32)
    with av.open(str(path), "w", format=container_format) as container:
        names = ("title", "artist", "comment", "description", "location", "copyright", "lyrics")
        container.metadata.update(dict.fromkeys(names, PLACE))
        stream = container.add_stream(codec, rate=rate_hz, layout="stereo", **stream_options)
        assert isinstance(stream, av.AudioStream)
        stream.metadata["title"] = stream.metadata["handler_name"] = PLACE
        for start in range(0, noise.shape[1], 4096):
            block = np.ascontiguousarray(noise[:, start : start + 4096])
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="stereo")
            frame.sample_rate = rate_hz
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def chunk(name: bytes, body: bytes, order: str = "little") -> bytes:
    return name + len(body).to_bytes(4, order) + body + bytes(len(body) % 2)  # type: ignore[arg-type]


def nothing_more(path: Path) -> None:
    pass


def riff_chunks(path: Path) -> None:
    """What field recorders and editors write around the sound."""
    text = PLACE.encode()
    info = b"INFO" + b"".join(chunk(name, text) for name in (b"INAM", b"ICMT", b"IARL", b"ISBJ"))
    cue = (1).to_bytes(4, "little") + bytes(24)
    labels = b"adtl" + chunk(b"labl", bytes(4) + text) + chunk(b"note", bytes(4) + text)
    before = chunk(b"bext", text.ljust(602, b"\0") + text) + chunk(b"iXML", text)
    after = chunk(b"LIST", info) + chunk(b"cue ", cue) + chunk(b"LIST", labels)
    after += chunk(b"guan", b"GUANO|Version: 1.0\nLoc Position: " + text) + chunk(b"_PMX", text)
    after += chunk(b"axml", text) + chunk(b"cart", text) + chunk(b"PEAK", text)
    data = path.read_bytes()
    start = data.index(b"fmt ")
    data = data[:start] + before + data[start:] + after
    path.write_bytes(data[:4] + (len(data) - 8).to_bytes(4, "little") + data[8:])


def aiff_chunks(path: Path) -> None:
    text = PLACE.encode()
    extra = b"".join(chunk(name, text, "big") for name in (b"NAME", b"AUTH", b"ANNO", b"APPL"))
    data = path.read_bytes() + extra
    path.write_bytes(data[:4] + (len(data) - 8).to_bytes(4, "big") + data[8:])
    file = AIFF(path)
    file.add_tags()
    file.tags.add(TIT2(encoding=1, text=PLACE))
    file.save()


def id3(path: Path) -> None:
    tags = ID3()
    tags.add(TIT2(encoding=1, text=PLACE))
    tags.add(TXXX(encoding=3, desc="location", text=PLACE))
    tags.add(APIC(encoding=3, mime="image/png", type=3, desc=PLACE, data=PLACE.encode() * 90))
    title = [TIT2(encoding=3, text=[PLACE])]
    tags.add(CHAP(element_id="a", start_time=0, end_time=900, sub_frames=title))
    flags = CTOCFlags.TOP_LEVEL
    tags.add(CTOC(element_id="t", flags=flags, child_element_ids=["a"], sub_frames=title))
    tags.save(path, v1=0)


def trailing_tags(path: Path) -> None:
    tags = APEv2()
    tags["Comment"] = PLACE
    tags.save(path)
    path.write_bytes(path.read_bytes() + b"TAG" + PLACE.encode().ljust(125))


def id3v1(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"TAG" + PLACE.encode().ljust(125))


def flac_blocks(path: Path) -> None:
    file = FLAC(path)
    picture = Picture()
    picture.data, picture.desc = PLACE.encode() * 100, PLACE
    file.add_picture(picture)
    file["location"] = PLACE
    file.save()


def mp4_atoms(path: Path) -> None:
    file = MP4(path)
    file["\xa9nam"] = file["\xa9xyz"] = PLACE
    file["----:com.apple.iTunes:LOCATION"] = PLACE.encode()
    file["covr"] = [MP4Cover(PLACE.encode() * 100, imageformat=MP4Cover.FORMAT_PNG)]
    file.save()
    text = PLACE.encode()
    xyz = len(text).to_bytes(2) + b"\x15\xc7" + text
    loci = bytes(6) + text + bytes(14) + text + b"\0" + text + b"\0"
    udta = chunk_of_mp4(b"\xa9xyz", xyz) + chunk_of_mp4(b"loci", loci)
    path.write_bytes(path.read_bytes() + chunk_of_mp4(b"udta", udta) + chunk_of_mp4(b"uuid", text))


def chunk_of_mp4(name: bytes, body: bytes) -> bytes:
    return (len(body) + 8).to_bytes(4) + name + body


def opus_comments(path: Path) -> None:
    file = OggOpus(path)
    file["location"] = file["metadata_block_picture"] = PLACE
    file.save()


def vorbis_comments(path: Path) -> None:
    file = OggVorbis(path)
    file["location"] = PLACE
    file.save()


EXPERIMENTAL = {"options": {"strict": "-2"}}
#: Suffix, codec, FFmpeg's format, further tags, suffix of the copy.
COPIED: list[tuple[str, str, str, Callable[[Path], None], str]] = [
    ("mp3", "libmp3lame", "mp3", id3, ".mp3"),
    ("mp3", "libmp3lame", "mp3", trailing_tags, ".mp3"),
    ("m4a", "aac", "mp4", mp4_atoms, ".m4a"),
    ("m4a", "aac", "mp4", id3v1, ".m4a"),
    ("3gp", "aac", "3gp", nothing_more, ".m4a"),
    ("mov", "alac", "mov", nothing_more, ".m4a"),
    ("m4a", "alac", "ipod", mp4_atoms, ".m4a"),
    ("aac", "aac", "adts", id3, ".aac"),
    ("aac", "aac", "adts", trailing_tags, ".aac"),
    ("flac", "flac", "flac", flac_blocks, ".flac"),
    ("flac", "flac", "flac", id3, ".flac"),
    ("flac", "flac", "flac", id3v1, ".flac"),
    ("wav", "pcm_s16le", "wav", riff_chunks, ".wav"),
    ("wav", "pcm_s24le", "wav", riff_chunks, ".wav"),
    ("wav", "pcm_f32le", "wav", riff_chunks, ".wav"),
    ("wav", "pcm_mulaw", "wav", riff_chunks, ".wav"),
    ("wav", "adpcm_ms", "wav", riff_chunks, ".wav"),
    ("wav", "pcm_s16le", "wav", id3v1, ".wav"),
    ("w64", "pcm_s24le", "w64", nothing_more, ".wav"),
    ("caf", "pcm_s16le", "caf", nothing_more, ".wav"),
    ("opus", "libopus", "opus", opus_comments, ".opus"),
    ("ogg", "libopus", "ogg", opus_comments, ".ogg"),
    ("ogg", "vorbis", "ogg", vorbis_comments, ".ogg"),
    ("mka", "aac", "matroska", nothing_more, ".mka"),
    ("mka", "libmp3lame", "matroska", nothing_more, ".mka"),
    ("mka", "vorbis", "matroska", nothing_more, ".mka"),
    ("webm", "libopus", "webm", nothing_more, ".mka"),
]
LOSSLESS: list[tuple[str, str, str, Callable[[Path], None], str]] = [
    ("aiff", "pcm_s16be", "aiff", aiff_chunks, ".wav"),
    ("aiff", "pcm_s24be", "aiff", aiff_chunks, ".wav"),
    ("au", "pcm_s16be", "au", nothing_more, ".wav"),
    ("wv", "wavpack", "wv", trailing_tags, ".wav"),
    ("tta", "tta", "tta", trailing_tags, ".wav"),
]
ENCODED: list[tuple[str, str, str, Callable[[Path], None], str]] = [
    ("ac3", "ac3", "ac3", id3v1, ".mp3"),
    ("mp2", "mp2", "mp2", trailing_tags, ".mp3"),
]


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        *[(case, CopyKind.COPIED) for case in COPIED],
        *[(case, CopyKind.LOSSLESS) for case in LOSSLESS],
        *[(case, CopyKind.ENCODED) for case in ENCODED],
    ],
)
def test_the_sound_is_copied_and_no_tag(
    tmp_path: Path, case: tuple[str, str, str, Callable[[Path], None], str], kind: CopyKind
) -> None:
    suffix, codec, container_format, plant, becomes = case
    options = EXPERIMENTAL if codec == "vorbis" else {}
    source = make(tmp_path / f"source.{suffix}", codec, container_format, **options)
    plant(source)
    if (suffix, plant) not in {("w64", nothing_more), ("au", nothing_more)}:
        assert holds_place(source.read_bytes()), "nothing was planted"

    copy = stripped_copy(source, tmp_path / "copy")

    assert (copy.kind, copy.path) == (kind, tmp_path / f"copy{becomes}")
    assert not holds_place(copy.path.read_bytes())
    if kind is not CopyKind.ENCODED:
        assert np.array_equal(samples(source), samples(copy.path))
    if kind is CopyKind.COPIED and suffix == becomes[1:]:
        assert packets(source)[:-1] == packets(copy.path)[:-1]  # tags follow the last one
    with av.open(str(copy.path)) as container:
        assert [stream.type for stream in container.streams] == ["audio"]
        assert not container.chapters()


def samples(path: Path) -> Array:
    with audio.open_recording(path) as recording:
        return np.concatenate(list(recording.blocks()), axis=1)


def packets(path: Path) -> list[str]:
    with av.open(str(path)) as container:
        found = container.demux(container.streams.audio[0])
        return [hashlib.sha256(bytes(packet)).hexdigest() for packet in found if packet.size]


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    for codec, container_format in (("aac", "mp4"), ("libopus", "matroska"), ("libmp3lame", "mp3")):
        source = make(tmp_path / "source", codec, container_format)
        one, other = (stripped_copy(source, tmp_path / name).path for name in ("one", "other"))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("n_channels", [1, 2, 3, 6, 8, 9, 16, 24, 64])
def test_any_number_of_channels(tmp_path: Path, n_channels: int) -> None:
    from scipy.io import wavfile

    noise = np.random.default_rng(0).integers(-9000, 9000, (3000, n_channels), dtype=np.int16)
    wavfile.write(tmp_path / "a.wav", 48000, noise)
    riff_chunks(tmp_path / "a.wav")
    copy = stripped_copy(tmp_path / "a.wav", tmp_path / "copy")
    assert copy.kind is CopyKind.COPIED
    assert noise.tobytes() in copy.path.read_bytes()


def test_pictures_and_other_streams_stay_behind(tmp_path: Path) -> None:
    source = tmp_path / "film.mka"
    sound = make(tmp_path / "sound.mka", "aac", "matroska")
    with av.open(str(source), "w", format="matroska") as film, av.open(str(sound)) as inside:
        copy = film.add_stream_from_template(inside.streams.audio[0])
        video = film.add_stream("mpeg4", rate=5)
        assert isinstance(video, av.VideoStream)
        video.width = video.height = 64
        video.pix_fmt = "yuv420p"
        video.metadata["title"] = PLACE
        for _ in range(10):
            frame = av.VideoFrame.from_ndarray(np.zeros((64, 64, 3), np.uint8), format="rgb24")
            film.mux(video.encode(frame))
        film.mux(video.encode(None))
        for packet in inside.demux(inside.streams.audio[0]):
            if packet.size:
                packet.stream = copy
                film.mux(packet)
    stripped = stripped_copy(source, tmp_path / "copy").path
    assert not holds_place(stripped.read_bytes())
    with av.open(str(stripped)) as container:
        assert [stream.type for stream in container.streams] == ["audio"]


def test_comments_in_a_codec_s_header(tmp_path: Path) -> None:
    """Matroska keeps Vorbis's comments in the header of the codec."""
    ogg = make(tmp_path / "a.ogg", "vorbis", "ogg", **EXPERIMENTAL)
    source = tmp_path / "source.mka"
    with av.open(str(ogg)) as inside, av.open(str(source), "w", format="matroska") as outside:
        stream = inside.streams.audio[0]
        copy = outside.add_stream_from_template(stream)
        copy.codec_context.extradata = with_comment(stream.codec_context.extradata or b"")
        for packet in inside.demux(stream):
            if packet.size:
                packet.stream = copy
                outside.mux(packet)
    assert holds_place(source.read_bytes())
    stripped = stripped_copy(source, tmp_path / "copy")
    assert stripped.kind is CopyKind.COPIED
    assert not holds_place(stripped.path.read_bytes())
    assert np.array_equal(samples(source), samples(stripped.path))


def with_comment(header: bytes) -> bytes:
    """Vorbis's headers in Xiph lacing, with the place in the comment header."""
    setup = header.index(b"\x05vorbis")
    first = header[header.index(b"\x01vorbis") :][:30]
    text = b"LOCATION=" + PLACE.encode()
    comments = b"\x03vorbis" + bytes(4) + (1).to_bytes(4, "little")
    comments += len(text).to_bytes(4, "little") + text + b"\x01"
    return b"\x02" + bytes([len(first), len(comments)]) + first + comments + header[setup:]


@pytest.mark.parametrize(
    ("suffix", "codec", "container_format", "kind"),
    [
        ("opus", "libopus", "opus", CopyKind.ENCODED),
        ("ogg", "vorbis", "ogg", CopyKind.ENCODED),
        ("flac", "flac", "flac", CopyKind.COPIED),
        ("mka", "aac", "matroska", CopyKind.COPIED),
        ("aac", "aac", "adts", CopyKind.COPIED),
    ],
)
def test_files_joined_to_one(
    tmp_path: Path, suffix: str, codec: str, container_format: str, kind: CopyKind
) -> None:
    """The second one has tags in the middle of the sound; a chain of Ogg cannot do without them."""
    options = EXPERIMENTAL if codec == "vorbis" else {}
    source = make(tmp_path / f"source.{suffix}", codec, container_format, **options)
    source.write_bytes(source.read_bytes() * 2)
    copy = stripped_copy(source, tmp_path / "copy")
    assert copy.kind is kind
    assert not holds_place(copy.path.read_bytes())
    if kind is CopyKind.COPIED:
        assert np.array_equal(samples(source), samples(copy.path))
    assert audio.probe(copy.path).duration_s == pytest.approx(4, abs=0.2)


def test_what_is_no_recording_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a.mp3").write_text(PLACE * 100)
    with pytest.raises(Agl1kError, match="not audio"):
        stripped_copy(tmp_path / "a.mp3", tmp_path / "copy")
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp3"]


def test_real_recordings(tmp_path: Path) -> None:
    found = sorted(Path("../shared/agl1k").rglob("*.mp3"))
    if not found:
        pytest.skip("the real recordings are not here")
    for source in found[:2]:
        copy = stripped_copy(source, tmp_path / "copy")
        assert copy.kind is CopyKind.COPIED
        assert np.array_equal(samples(source), samples(copy.path))
