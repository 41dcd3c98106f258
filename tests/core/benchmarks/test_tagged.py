"""Recordings with the place in their own tags become clips; the others are named with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutagen.flac import FLAC
from mutagen.id3 import COMM, ID3, TXXX
from mutagen.mp4 import MP4
from mutagen.oggopus import OggOpus

from agl1k_core.benchmarks import load_benchmark
from agl1k_core.errors import Agl1kError
from tests.support import raw_recordings as raw
from tests.support import sounds

pytestmark = pytest.mark.server  # FFmpeg reads tags in a process of its own

AUDIOMOTH = (
    "Recorded at 19:17:30 19/02/2023 (UTC{}) by AudioMoth 247475055F1F4C0A at medium gain while "
    "battery was 4.2V and temperature was 21.5C."
)
BEXT = (
    b"Dawn at the pond".ljust(256, b"\0")
    + b"Zoom F3".ljust(32, b"\0")
    + bytes(32)
    + b"2021-05-04"
    + b"05:06:07"
    + bytes(8 + 2 + 64 + 190)
)
IXML = (
    "<?xml version='1.0' encoding='UTF-8'?><BWFXML><IXML_VERSION>3.01</IXML_VERSION><LOCATION>"
    "<LOCATION_NAME>Human Made Location</LOCATION_NAME><LOCATION_GPS>{}</LOCATION_GPS></LOCATION>"
    "</BWFXML>"
)


def wav(path: Path, *chunks: tuple[str, bytes]) -> Path:
    """A WAV file with sound and these chunks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = raw.write_sound(path, 1, speech=True).read_bytes()
    body = content[content.index(b"fmt ") :]
    extra = sounds.riff(*chunks)[12:]
    path.write_bytes(
        b"RIFF" + (4 + len(extra + body)).to_bytes(4, "little") + b"WAVE" + extra + body
    )
    return path


def guano(path: Path, text: str) -> Path:
    return wav(path, ("guan", f"GUANO|Version: 1.0\n{text}\n".encode()))


def encoded(path: Path, codec: str, rate_hz: int = raw.RATE_HZ, **more: dict[str, str]) -> Path:
    wave = raw.sound(1, speech=True)
    return sounds.encode(path, codec, wave, rate_hz=rate_hz, metadata=more.get("metadata"))


def point_of(folder: Path) -> tuple[float, float]:
    (clip,) = load_benchmark(folder).clips
    return clip.lat, clip.lon


# --- tags of each kind --------------------------------------------------------------------------


def test_guano(tmp_path: Path) -> None:
    guano(
        tmp_path / "sub" / "SM5_20230101_120000.wav",
        "Timestamp: 2022-06-30T21:04:05-03:00\nLoc Position: -22.9068 316.8271\nMake: Titley",
    )
    (clip,) = load_benchmark(tmp_path).clips
    assert (clip.key, clip.file_name) == (
        "sub/SM5_20230101_120000",
        "sub/SM5_20230101_120000.wav",
    )
    assert (clip.lat, clip.lon) == pytest.approx((-22.9068, -43.1729))
    assert clip.recorded == "2022-06-30T21:04:05-03:00"
    assert clip.country == "Brazil"


def test_bext_and_ixml(tmp_path: Path) -> None:
    wav(
        tmp_path / "F3-001.WAV",
        ("bext", BEXT),
        ("iXML", IXML.format("47.756787, -123.729977").encode() + b"\0\0"),
    )
    (clip,) = load_benchmark(tmp_path).clips
    assert (clip.lat, clip.lon) == (47.756787, -123.729977)
    assert clip.recorded == "2021-05-04T05:06:07"


@pytest.mark.parametrize("text", [
    "<?xml version='1.0' encoding='UTF-16'?>".encode("utf-16") + "{}\0".encode("utf-16-le"),
    b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8'?>{}",
    b"{}\r\n\0\0",
    "\ufeff<?xml version='1.0' encoding='UTF-16'?>{}".encode("utf-16-le") + b"\0",
])  # fmt: skip
def test_ixml_in_other_encodings_and_behind_the_sound(tmp_path: Path, text: bytes) -> None:
    encoding = "utf-16-le" if text.startswith(b"\xff\xfe") else "utf-8"
    body = IXML.format("1.5, 2.5").partition("?>")[2].encode(encoding)
    path = wav(tmp_path / "a.wav")
    content = path.read_bytes()
    content += sounds.riff(("iXML", text.replace("{}".encode(encoding), body)))[12:]
    path.write_bytes(b"RIFF" + (len(content) - 8).to_bytes(4, "little") + content[8:])
    assert point_of(tmp_path) == (1.5, 2.5)


def test_a_description_of_bext(tmp_path: Path) -> None:
    text = b"sTAKE=3 geo:48.1,-2.2;u=20".ljust(256, b"\0")
    wav(tmp_path / "a.wav", ("bext", text + BEXT[256:]))
    assert point_of(tmp_path) == (48.1, -2.2)


def test_id3(tmp_path: Path) -> None:
    path = encoded(tmp_path / "a.mp3", "mp3")
    tags = ID3()
    tags.add(TXXX(encoding=3, desc="GPSLatitude", text="48.85"))
    tags.add(TXXX(encoding=3, desc="GPSLatitudeRef", text="S"))
    tags.add(TXXX(encoding=3, desc="GPSLongitude", text="2.35"))
    tags.add(TXXX(encoding=3, desc="license", text="http://creativecommons.org/licenses/by/4.0/"))
    tags.save(path)
    (clip,) = load_benchmark(tmp_path).clips
    assert (clip.lat, clip.lon, clip.licence) == (-48.85, 2.35, "CC BY 4.0")


def test_a_comment_of_id3(tmp_path: Path) -> None:
    path = encoded(tmp_path / "a.mp3", "mp3")
    tags = ID3()
    text = "Recorded in the harbour, 48°51'24\"N 2°21'3\"W"
    tags.add(COMM(encoding=3, lang="eng", desc="", text=text))
    tags.save(path)
    assert point_of(tmp_path) == pytest.approx((48.856667, -2.350833))


@pytest.mark.parametrize(
    "tags",
    [
        {"LOCATION": "Porto, Rua 24", "GEO_LOCATION": "41.15;-8.61"},
        {"LATITUDE": "41.15", "LONGITUDE": "-8.61", "LOCATION": "Porto"},
        {"LOCATION": "+41.15-008.61/", "GPS": "on"},
        {"GPS": "on", "LATITUDE": "41.15", "LONGITUDE": "-8.61"},
        {"LATITUDE": "41,15", "LONGITUDE": "−8,61"},
        {"COMMENT": "41.15, -8.61"},
    ],
)
def test_vorbis_comments(tmp_path: Path, tags: dict[str, str]) -> None:
    flac = FLAC(encoded(tmp_path / "a.flac", "flac"))
    flac.update(tags)
    flac.save()
    opus = OggOpus(encoded(tmp_path / "b.opus", "opus", 48000))
    opus.update(tags)
    opus.save()
    clips = load_benchmark(tmp_path).clips
    assert [(clip.lat, clip.lon) for clip in clips] == [(41.15, -8.61)] * 2


def test_phones(tmp_path: Path) -> None:
    mp4 = MP4(encoded(tmp_path / "a.m4a", "aac"))
    mp4["\xa9xyz"] = "+48.8577-002.2950+035.1/"
    mp4.save()
    names = {
        "com.apple.quicktime.location.ISO6709": "+48.8577-002.2950+035.1/",
        "com.apple.quicktime.creationdate": "2024-05-31T06:30:00+0200",
    }
    wave = raw.sound(1, speech=True)
    mux = {"movflags": "use_metadata_tags"}
    sounds.encode(tmp_path / "b.mov", "aac", wave, rate_hz=16000, metadata=names, mux=mux)
    (tmp_path / "b.mov").rename(tmp_path / "b.m4a")
    first, second = load_benchmark(tmp_path).clips
    assert (first.lat, first.lon) == (second.lat, second.lon) == (48.8577, -2.295)
    assert second.recorded == "2024-05-31T06:30:00+0200"


def test_audiomoth(tmp_path: Path) -> None:
    comment = AUDIOMOTH.format("+2:30").encode() + b"\0"
    info = b"INFO" + b"ICMT" + len(comment).to_bytes(4, "little") + comment
    position = b"GUANO|Version:1.0\nLoc Position:50.9 -1.4"
    wav(tmp_path / "5E90A1B2.WAV", ("LIST", info), ("guan", position))
    (clip,) = load_benchmark(tmp_path).clips
    assert clip.recorded == "2023-02-19T19:17:30+02:30"


# --- what is odd --------------------------------------------------------------------------------


def test_every_file_has_an_outcome(tmp_path: Path) -> None:
    guano(tmp_path / "good.wav", "Loc Position: 1 2")
    for number, place in enumerate(["999 3", "0.0 0.0", "north", "48.1", "NaN NaN"]):
        guano(tmp_path / f"odd{number}.wav", f"Loc Position: {place}")
    guano(tmp_path / "none.wav", "Loc Position:\nMake: x")
    wav(tmp_path / "xml.wav", ("iXML", b"<BWFXML><LOCATION>&bomb;"))
    wav(tmp_path / "deep.wav", ("iXML", b"<a>" * 50_000 + b"</a>" * 50_000))
    wav(tmp_path / "bytes.wav", ("guan", b"\xff\xfe\x00Loc Position"), ("iXML", b""))
    for kind in ("empty", "text", "header", "film"):
        raw.write_broken(tmp_path / f"{kind}.wav", kind)
    (tmp_path / "dead.wav").symlink_to(tmp_path / "nowhere.wav")
    benchmark = load_benchmark(tmp_path)
    assert [clip.key for clip in benchmark.clips] == ["good"]
    left_out = {name.partition(".")[0]: about for name, about in benchmark.left_out.items()}
    reasons = {name: about.detail for name, about in left_out.items()}
    assert len(reasons) == 14
    assert "'999 3', not a latitude and a longitude" in reasons["odd0"]
    assert "know no place" in reasons["odd1"]
    for name in ("odd2", "odd3", "odd4"):
        assert "not a latitude and a longitude" in reasons[name]
    for name in ("none", "xml", "bytes", "deep"):
        assert reasons[name] == "No place is in the tags"
    assert "empty" in reasons["empty"]
    assert "not audio" in reasons["text"]
    assert "No such file" in reasons["dead"]
    broken = {name for name, about in left_out.items() if about.is_broken}
    assert broken == {"empty", "text", "header", "film", "dead"}
    assert "4 of 15 recordings left out. No place is in the tags: bytes.wav, deep.wav" in "\n".join(
        benchmark.remarks
    )


def test_recordings_with_one_name_have_keys_of_their_own(tmp_path: Path) -> None:
    for name in ("a.wav", "a.WAV", "b/a.wav"):
        guano(tmp_path / name, "Loc Position: 1 2")
    assert [clip.key for clip in load_benchmark(tmp_path).clips] == ["a.WAV", "a.wav", "b/a"]


def test_a_folder_without_any_place_is_refused(tmp_path: Path) -> None:
    wav(tmp_path / "a.wav")
    with pytest.raises(
        Agl1kError, match=r"has no clips.csv, and none of its recordings .*\n1 of 1 .* a\.wav"
    ):
        load_benchmark(tmp_path)


def test_a_table_is_read_before_tags_unless_those_are_wanted(tmp_path: Path) -> None:
    guano(tmp_path / "a.wav", "Loc Position: 1 2")
    raw.write_table(tmp_path, [{"key": "a", "latitude": 3, "longitude": 4, "file": "a.wav"}])
    assert point_of(tmp_path) == (3, 4)
    (clip,) = load_benchmark(f"tags:{tmp_path}").clips
    assert (clip.lat, clip.lon) == (1, 2)
    with pytest.raises(Agl1kError, match="is no folder"):
        load_benchmark(f"tags:{tmp_path / 'clips.csv'}")
    (tmp_path / "clips.csv").unlink()
    with pytest.raises(Agl1kError, match=r"has no clips\.csv"):
        load_benchmark(f"aporee:{tmp_path}")
