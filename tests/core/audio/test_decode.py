"""Decoding, probing, outlines, and copies that keep only the sound."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from mutagen.apev2 import APEv2
from mutagen.id3 import APIC, COMM, ID3, TIT2, TXXX, USLT
from mutagen.mp4 import MP4, MP4Cover
from mutagen.wave import WAVE

from agl1k_core import audio
from agl1k_core.errors import Agl1kError
from tests.support import sounds

PLACE = "Rue Mellah, Essaouira"
SHARED = Path(__file__).parents[4] / "shared" / "agl1k" / "audio"


def peaks_of(path: Path, n: int = 200) -> list[float]:
    return audio.outline(path, n)[1]


def holds_place(data: bytes) -> bool:
    return any(PLACE.encode(code) in data for code in ("utf-8", "utf-16-le", "utf-16-be"))


def id3(path: Path, version: int = 4, **save: object) -> None:
    tags = ID3()
    for frame in (
        TIT2(encoding=1, text=PLACE),
        COMM(encoding=0, lang="eng", desc="", text=PLACE),
        USLT(encoding=2 if version == 4 else 1, lang="eng", desc="", text=PLACE),
        TXXX(encoding=3 if version == 4 else 0, desc="geo", text=PLACE),
        APIC(encoding=0, mime="image/png", type=3, desc=PLACE, data=PLACE.encode() * 5000),
    ):
        tags.add(frame)
    tags.save(path, v2_version=version, **save)


def with_id3v23(path: Path) -> None:
    id3(path, 3)


def with_id3v24(path: Path) -> None:
    id3(path, 4)


def with_id3v1(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"TAG" + PLACE.encode().ljust(125, b"\0"))


def with_apev2(path: Path) -> None:
    tags = APEv2()
    tags["Comment"] = PLACE
    tags["Cover Art (Front)"] = PLACE
    tags.save(path)


def with_ape_and_id3v1(path: Path) -> None:
    with_apev2(path)
    with_id3v1(path)


def with_lyrics3(path: Path) -> None:
    body = b"LYRICSBEGIN" + b"INF%05d" % len(PLACE) + PLACE.encode()
    path.write_bytes(path.read_bytes() + body + b"%06dLYRICS200" % len(body))
    with_id3v1(path)


def with_tag_in_mid_file(path: Path) -> None:
    other = path.with_name("other.mp3")
    other.write_bytes(path.read_bytes())
    with_id3v24(other)
    path.write_bytes(path.read_bytes() + other.read_bytes())


def with_rubbish_between_frames(path: Path) -> None:
    data = path.read_bytes()
    middle = data.index(b"\xff\xfb", len(data) // 2)
    path.write_bytes(data[:middle] + PLACE.encode() * 40 + data[middle:] + PLACE.encode())


def with_mp4_tags(path: Path) -> None:
    file = MP4(path)
    file["\xa9nam"] = file["\xa9cmt"] = PLACE
    file["----:com.apple.iTunes:LOCATION"] = PLACE.encode()
    file["covr"] = [MP4Cover(PLACE.encode() * 100, imageformat=MP4Cover.FORMAT_PNG)]
    file.save()


def with_riff_chunks(path: Path) -> None:
    text = PLACE.encode().ljust(64, b"\0")
    chunks = b"LIST" + (76).to_bytes(4, "little") + b"INFOINAM" + (64).to_bytes(4, "little") + text
    bext = text.ljust(602, b"\0")
    chunks += b"bext" + len(bext).to_bytes(4, "little") + bext
    data = path.read_bytes() + chunks
    path.write_bytes(data[:4] + (len(data) - 8).to_bytes(4, "little") + data[8:])
    file = WAVE(path)
    file.add_tags()
    file.tags.add(TIT2(encoding=1, text=PLACE))
    file.save()


def with_nothing_more(path: Path) -> None:
    pass


MP3_TAGS = [
    with_id3v23,
    with_id3v24,
    with_id3v1,
    with_apev2,
    with_ape_and_id3v1,
    with_lyrics3,
    with_tag_in_mid_file,
    with_rubbish_between_frames,
]
TAGGED = [
    *[("mp3", "mp3", tag, ".mp3") for tag in MP3_TAGS],
    ("m4a", "aac", with_mp4_tags, ".m4a"),
    ("wav", "pcm_s16le", with_riff_chunks, ".mp3"),
    ("ogg", "libopus", with_nothing_more, ".mp3"),
    ("flac", "flac", with_nothing_more, ".mp3"),
    ("mka", "aac", with_nothing_more, ".m4a"),
]


@pytest.mark.parametrize(("suffix", "codec", "tag", "becomes"), TAGGED)
def test_copy_holds_the_sound_and_no_tag(
    tmp_path: Path, suffix: str, codec: str, tag: Callable[[Path], None], becomes: str
) -> None:
    rate_hz = 48000
    metadata = {"title": PLACE, "comment": PLACE} if tag is with_nothing_more else {}
    source = tmp_path / f"source.{suffix}"
    sounds.encode(source, codec, sounds.tone(2, 2, rate_hz), rate_hz=rate_hz, metadata=metadata)
    tag(source)
    assert holds_place(source.read_bytes()), "the test's own tag is missing"
    duration_s = audio.probe(source).duration_s

    copy = audio.tag_free_copy(source, tmp_path / "copy")

    assert copy == tmp_path / f"copy{becomes}"
    assert not holds_place(copy.read_bytes())
    assert audio.probe(copy).duration_s == pytest.approx(duration_s, abs=0.1)
    with av.open(str(copy)) as container:
        assert not {*container.metadata} & {"title", "comment", "artist", "date", "genre"}
        assert [stream.type for stream in container.streams] == ["audio"]
        assert not container.chapters()
        assert container.duration is not None
        assert container.duration / av.time_base == pytest.approx(duration_s, abs=0.1)


def test_mp3_frames_are_copied_as_they_are(tmp_path: Path) -> None:
    source = tmp_path / "source.mp3"
    sounds.mp3(tmp_path, source.name)
    with_id3v24(source)
    copy = audio.tag_free_copy(source, tmp_path / "copy.mp3")
    assert source.read_bytes()[-8000:] == copy.read_bytes()[-8000:]
    assert b"Info" in copy.read_bytes()[:200] or b"Xing" in copy.read_bytes()[:200]


def test_copy_is_the_same_sound(tmp_path: Path) -> None:
    source = sounds.encode(tmp_path / "a.flac", "flac", sounds.tone(3))
    copy = audio.tag_free_copy(source, tmp_path / "copy")
    ours, theirs = peaks_of(source, 20), peaks_of(copy, 20)
    assert ours == pytest.approx(theirs, abs=0.06)


@pytest.mark.parametrize(("channels", "becomes"), [(1, 1), (2, 2), (4, 1), (6, 1)])
@pytest.mark.parametrize("rate_hz", [8000, 44100, 96000])
def test_any_rate_and_channels_become_mp3(
    tmp_path: Path, channels: int, becomes: int, rate_hz: int
) -> None:
    source = sounds.encode(
        tmp_path / "a.wav", "pcm_f32le", sounds.tone(1, channels, rate_hz), rate_hz=rate_hz
    )
    info = audio.probe(audio.tag_free_copy(source, tmp_path / "copy"))
    assert (info.channels, info.sample_rate_hz) == (becomes, min(rate_hz, 48000))
    assert info.duration_s == pytest.approx(1, abs=0.15)


def test_samples_that_are_not_finite_do_not_stop_a_copy(tmp_path: Path) -> None:
    samples = sounds.tone(1)
    samples[:, 1000:2000] = np.nan
    samples[:, 3000:3100] = np.inf
    source = sounds.encode(tmp_path / "a.wav", "pcm_f32le", samples)
    peaks = peaks_of(audio.tag_free_copy(source, tmp_path / "copy"))
    assert len(peaks) == 200
    assert max(peaks) == 1.0
    assert max(peaks_of(source)) == 1.0


@pytest.mark.parametrize(
    ("suffix", "codec"),
    [("mp3", "mp3"), ("wav", "pcm_u8"), ("wav", "pcm_s24le"), ("flac", "flac"), ("m4a", "aac")],
)
def test_probe_counts_decoded_samples(tmp_path: Path, suffix: str, codec: str) -> None:
    path = sounds.encode(tmp_path / f"a.{suffix}", codec, sounds.tone(1.5, 1))
    info = audio.probe(path)
    assert info.duration_s == pytest.approx(1.5, abs=0.06)
    assert (info.sample_rate_hz, info.channels, info.codec) == (44100, 1, codec)


def test_probe_reports_what_is_there_not_what_the_header_says(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", sounds.tone(4))
    path.write_bytes(path.read_bytes()[: 44 + 44100 * 4])
    assert audio.probe(path).duration_s == pytest.approx(1, abs=0.01)


def test_damage_in_the_middle_costs_a_little(tmp_path: Path) -> None:
    data = bytearray(sounds.mp3(tmp_path, duration_s=4))
    data[len(data) // 2 : len(data) // 2 + 500] = os.urandom(500)
    path = tmp_path / "damaged.mp3"
    path.write_bytes(data)
    assert 3 < audio.probe(path).duration_s < 4.1


def test_blocks_are_those_samples(tmp_path: Path) -> None:
    samples = sounds.tone(1)
    path = sounds.encode(tmp_path / "a.wav", "pcm_f32le", samples)
    with audio.open_recording(path) as recording:
        blocks = [*recording.blocks(5000)]
    assert all(block.shape[1] >= 5000 for block in blocks[:-1])
    assert blocks[0].dtype == np.float32
    np.testing.assert_array_equal(np.concatenate(blocks, axis=1), samples)


def test_rate_and_channels_stay_when_a_file_changes_them(tmp_path: Path) -> None:
    stereo = sounds.mp3(tmp_path)
    other = sounds.encode(tmp_path / "b.mp3", "mp3", sounds.tone(2, 1, 22050), rate_hz=22050)
    path = tmp_path / "both.mp3"
    path.write_bytes(stereo + other.read_bytes())
    with audio.open_recording(path) as recording:
        blocks = [*recording.blocks()]
        assert (recording.sample_rate_hz, recording.channels) == (44100, 2)
    assert {len(block) for block in blocks} == {2}
    assert sum(block.shape[1] for block in blocks) / 44100 == pytest.approx(4, abs=0.2)


def test_peaks_follow_the_loudness(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", sounds.tone(4))
    peaks = peaks_of(path, 10)
    assert peaks == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], abs=0.02)
    assert peaks == [round(peak, 2) for peak in peaks]


def test_peaks_of_silence_and_of_a_short_file(tmp_path: Path) -> None:
    silence = np.zeros((1, 44100), dtype=np.float32)
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", silence)
    assert peaks_of(path) == [0.0] * 200
    path = sounds.encode(tmp_path / "b.wav", "pcm_s16le", sounds.tone(0.01))
    peaks = peaks_of(path)
    assert len(peaks) == 200
    assert max(peaks) == 1.0


def picture(path: Path) -> None:
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=1)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        container.mux(stream.encode(av.VideoFrame(64, 64, "yuv420p")))
        container.mux(stream.encode(None))


def playlist(path: Path) -> None:
    sounds.mp3(path.parent, "segment.mp3")
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nsegment.mp3\n#EXT-X-ENDLIST\n")


def concat_script(path: Path) -> None:
    sounds.mp3(path.parent, "segment.mp3")
    path.write_text("ffconcat version 1.0\nfile segment.mp3\n")


def header_only(path: Path) -> None:
    path.write_bytes(sounds.encode(path, "flac", container_format="flac").read_bytes()[:60])


BROKEN: list[tuple[Callable[[Path], object], str]] = [
    (lambda path: path.touch(), "is empty"),
    (lambda path: path.write_text("<html>Not found</html>" * 100), "not audio in a known format"),
    (lambda path: path.write_bytes(b"ID3\x04\0\0\0\0\0\x0a" + b"\0" * 10), "not audio|No sound"),
    (lambda path: path.write_bytes(bytes(10000)), "not audio in a known format"),
    (picture, "no sound, only pictures"),
    (playlist, "not audio in a known format"),
    (concat_script, "not audio in a known format"),
    (header_only, "No sound could be decoded|not audio in a known format"),
    (lambda path: path.mkdir(), "cannot be read"),
    (lambda path: None, "cannot be read: No such file"),
]


@pytest.mark.parametrize(("write", "message"), BROKEN)
def test_a_broken_file_is_named_and_its_name_is_not(
    tmp_path: Path, write: Callable[[Path], object], message: str
) -> None:
    path = tmp_path / "RueMellahEssaouira.mp3"
    write(path)
    for use in (audio.probe, audio.outline, audio.check_beginning):
        with pytest.raises(Agl1kError, match=message) as caught:
            use(path)
        assert "Essaouira" not in str(caught.value)
    with pytest.raises(Agl1kError, match=message):
        audio.tag_free_copy(path, tmp_path / "copy")
    assert not [*tmp_path.glob("copy*")]
    assert not [*tmp_path.glob(".*")]


def test_a_full_disk_leaves_no_half_copy(tmp_path: Path) -> None:
    source = tmp_path / "Essaouira.mp3"
    sounds.mp3(tmp_path, source.name, 10)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(
            Agl1kError, match=r"cannot be written: File too large\. Free some space"
        ):
            audio.tag_free_copy(source, tmp_path / "copy")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["Essaouira.mp3"]


@pytest.mark.parametrize("name", ["tönen 音.mp3", "concat:a|b.mp3", "100%d?#.mp3", "http:x.mp3"])
def test_names_are_not_read_as_addresses(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds.encode(tmp_path / "plain.mp3", "mp3").rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    assert audio.probe(Path(name)).duration_s == pytest.approx(2, abs=0.1)
    assert audio.tag_free_copy(Path(name), Path("copy")) == Path("copy.mp3")


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real recordings are not here")
@pytest.mark.parametrize("path", sorted(SHARED.glob("*.mp3")), ids=lambda path: path.stem[:5])
def test_real_recordings_lose_their_tags(tmp_path: Path, path: Path) -> None:
    copy = audio.tag_free_copy(path, tmp_path / "copy")
    data = copy.read_bytes()
    words = (
        "Mellah",
        "Essaouira",
        "Morocco",
        "31.516",
        "9.766",
        "Gilli",
        "aporee",
        "Berlin",
        "Amsel",
    )
    for code in ("utf-8", "utf-16-le", "utf-16-be"):
        assert not [word for word in words if word.encode(code) in data]
    assert audio.probe(copy).duration_s == pytest.approx(audio.probe(path).duration_s, abs=0.06)


def test_tags_in_another_encoding_do_no_harm(tmp_path: Path) -> None:
    """Old recorders wrote their tags in Latin-1 or a Windows encoding without declaring it."""
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le", sounds.tone(1))
    title = "Café, Müllerstraße".encode("latin-1") + b"\0" * 2
    info = b"INFOINAM" + len(title).to_bytes(4, "little") + title
    listed = b"LIST" + len(info).to_bytes(4, "little") + info
    data = path.read_bytes() + listed
    path.write_bytes(data[:4] + (len(data) - 8).to_bytes(4, "little") + data[8:])
    with pytest.raises(UnicodeDecodeError), av.open(str(path)):
        pass
    assert audio.probe(path).duration_s == pytest.approx(1)
    copy = audio.tag_free_copy(path, tmp_path / "copy")
    assert b"Caf" not in copy.read_bytes()
