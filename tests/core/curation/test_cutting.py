"""Long recordings become parts at quiet points, with their place and without their tags."""

from __future__ import annotations

import csv
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agl1k_core import audio, benchmarks
from agl1k_core.audio import quiet_cuts, stripped_copy
from agl1k_core.config import Config
from agl1k_core.curation import Cutting, cut_recordings, open_collection
from agl1k_core.errors import Agl1kError
from tests.support import raw_recordings as raw

PLACE = "Timbuktu 16.7666,-3.0026"
RATE_HZ = 44100

Wave = npt.NDArray[np.float32]


def wave(duration_s: float, pauses: tuple[float, ...] = ()) -> Wave:
    """Noise with half a second of silence after each time."""
    noise = np.random.default_rng(3).normal(size=round(duration_s * RATE_HZ)) * 0.1
    for pause in pauses:
        noise[round(pause * RATE_HZ) : round((pause + 0.5) * RATE_HZ)] *= 0.001
    return np.tile(noise, (2, 1)).astype(np.float32)


def write(path: Path, codec: str, samples: Wave) -> Path:
    with av.open(str(path), "w") as container:
        container.metadata.update(title=PLACE, comment=PLACE)
        rate_hz = 48000 if codec == "libopus" else RATE_HZ
        stream = container.add_stream(codec, rate=rate_hz, layout="stereo")
        assert isinstance(stream, av.AudioStream)
        for start in range(0, samples.shape[1], 65536):
            block = np.ascontiguousarray(samples[:, start : start + 65536])
            frame = av.AudioFrame.from_ndarray(block, format="fltp", layout="stereo")
            frame.sample_rate = RATE_HZ
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def collection_of(folder: Path, names: list[str], **columns: str) -> Path:
    rows = [
        {"key": Path(name).stem, "latitude": 16.7666, "longitude": -3.0026, "file": name, **columns}
        for name in names
    ]
    raw.write_table(folder, rows)
    return folder


def cut(source: Path, out: Path, min_s: float = 3, max_s: float = 10) -> dict[str, Cutting]:
    opened = open_collection(source, None, Config.from_env({}))
    return cut_recordings(opened, out, out.with_suffix(".work"), min_s=min_s, max_s=max_s)


def decoded(path: Path) -> Wave:
    with audio.open_recording(path) as recording:
        return np.concatenate(list(recording.blocks()), axis=1)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 3000),
    min_s=st.integers(1, 20),
    more_s=st.integers(0, 60),
    seed=st.integers(0, 99),
    silent=st.booleans(),
)
@example(n=108, min_s=1, more_s=0, seed=0, silent=False)
def test_parts_keep_within_the_limits(
    n: int, min_s: int, more_s: int, seed: int, silent: bool
) -> None:
    max_s = 2 * min_s + 2 + more_s
    power = np.zeros(n) if silent else np.random.default_rng(seed).random(n)
    cuts = quiet_cuts(power, min_s, max_s)
    ends = [Decimal(0), *(Decimal(str(cut)) for cut in cuts), Decimal(n) / 10]
    # exactly: 10.8 - 6.8 is more than 4 in binary
    lengths = [end - start for start, end in pairwise(ends)]
    if n / 10 <= max_s:
        assert cuts == []
    else:
        assert min(lengths) >= min_s
        assert max(lengths) <= max_s


def test_the_quietest_point_within_reach_is_chosen() -> None:
    power = np.ones(6000)
    power[1000:1006], power[1600:1606], power[3000:3006] = 0.1, 0.01, 0.05
    assert quiet_cuts(power, 30, 180)[:2] == pytest.approx([160.3, 300.3], abs=0.31)


@pytest.mark.parametrize(("min_s", "max_s"), [(30, 50), (0.5, 20), (-1, 9), (9, 3)])
def test_limits_without_a_choice_are_refused(min_s: float, max_s: float) -> None:
    with pytest.raises(Agl1kError, match="leave no choice"):
        quiet_cuts(np.ones(9), min_s, max_s)


@pytest.mark.parametrize(
    ("suffix", "codec"),
    [("wav", "pcm_s16le"), ("flac", "flac"), ("mp3", "libmp3lame"), ("m4a", "aac"),
     ("aac", "aac"), ("opus", "libopus"), ("mka", "aac"), ("aiff", "pcm_s16be"), ("ac3", "ac3")],
)  # fmt: skip
def test_parts_are_the_recording_without_tags(tmp_path: Path, suffix: str, codec: str) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    pauses = (7.0, 14.0, 21.5)
    write(folder / f"long.{suffix}", codec, wave(28, pauses))
    (cutting,) = cut(collection_of(folder, [f"long.{suffix}"]), tmp_path / "out").values()
    assert cutting.outcome == "cut"
    assert [piece.start_s for piece in cutting.pieces] == pytest.approx(
        [0, *(pause + 0.25 for pause in pauses)], abs=0.3
    )
    files = [tmp_path / "out" / piece.file for piece in cutting.pieces]
    assert not [path for path in files if PLACE.encode() in path.read_bytes()]
    assert sum(piece.duration_s for piece in cutting.pieces) == pytest.approx(28, abs=0.5)
    if suffix in ("wav", "flac", "aiff"):
        whole = decoded(folder / f"long.{suffix}")
        assert np.array_equal(np.concatenate([decoded(path) for path in files], axis=1), whole)


@pytest.mark.parametrize(("suffix", "codec"), [("mp3", "libmp3lame"), ("m4a", "aac")])
def test_no_packet_is_lost_or_doubled(tmp_path: Path, suffix: str, codec: str) -> None:
    source = write(tmp_path / f"a.{suffix}", codec, wave(9))
    copies = audio.stripped_parts(source, tmp_path / "part", [2.5, 6.1])
    assert [path.name for path in copies] == [f"part-00{n}.{suffix}" for n in (1, 2, 3)]
    whole = stripped_copy(source, tmp_path / "whole").path
    assert [packet for copy in copies for packet in packets(copy)] == packets(whole)


def packets(path: Path) -> list[bytes]:
    with av.open(str(path)) as container:
        return [bytes(packet) for packet in container.demux(audio=0) if packet.size]


def test_the_folder_is_a_table_with_places_and_credits(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    write(folder / "long.wav", "pcm_s16le", wave(21, (6.0, 13.0)))
    write(folder / "whole.wav", "pcm_s16le", wave(5))
    write(folder / "short.wav", "pcm_s16le", wave(1))
    (folder / "broken.wav").write_text("no sound")
    names = ["long.wav", "whole.wav", "short.wav", "broken.wav", "gone.wav"]
    source = collection_of(
        folder, names, author="Ann", licence="CC0", url="https://u.org/1",
        recorded="2024-05-31T06:30", title="Port",
    )  # fmt: skip
    done = cut(source, tmp_path / "out")
    outcomes = ["cut", "whole", "too_short", "not_cut", "missing"]
    assert [cutting.outcome for cutting in done.values()] == outcomes
    report = raw.read_csv(tmp_path / "out" / "cuts.csv")
    assert [row["outcome"] for row in report] == outcomes
    assert "not audio" in report[3]["message"]
    clips = benchmarks.read_folder(tmp_path / "out").clips
    assert [clip.key for clip in clips] == ["long-001", "long-002", "long-003", "whole"]
    assert {
        (clip.lat, clip.lon, clip.author, clip.licence, clip.url, clip.title) for clip in clips
    } == {(16.7666, -3.0026, "Ann", "CC0", "https://u.org/1", "Port")}
    assert clips[0].recorded == clips[3].recorded == "2024-05-31T06:30"
    assert clips[1].recorded == "2024-05-31T06:30:06+00:00"
    opened = open_collection(tmp_path / "out", None, Config.from_env({}))
    assert all(opened.files.values())
    assert not opened.unlisted


def test_a_second_run_cuts_nothing_and_a_third_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "raw", tmp_path / "out"
    folder.mkdir()
    for name in ("a.mp3", "b.mp3"):
        write(folder / name, "libmp3lame", wave(14, (7.0,)))
    source = collection_of(folder, ["a.mp3", "b.mp3"])
    done = cut(source, out)
    before = raw.contents(out)
    times = {path.name: path.stat().st_mtime_ns for path in out.glob("*.mp3")}
    assert cut(source, out) == done
    assert {path.name: path.stat().st_mtime_ns for path in out.glob("*.mp3")} == times
    (out / done["b"].pieces[0].file).unlink()
    cut(source, out)
    assert raw.contents(out) == before
    changed = {p.name for p in out.glob("*.mp3") if p.stat().st_mtime_ns != times[p.name]}
    assert changed == {piece.file for piece in done["b"].pieces}


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    folder, out = tmp_path / "raw", tmp_path / "out"
    folder.mkdir()
    out.mkdir()
    (out / "diary.txt").write_text("mine")
    write(folder / "a.wav", "pcm_s16le", wave(5))
    source = collection_of(folder, ["a.wav"])
    with pytest.raises(Agl1kError, match="files of others"):
        cut(source, out)
    with pytest.raises(Agl1kError, match="inside the folder"):
        cut(source, folder / "parts")


def test_nothing_left_is_an_error_after_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    write(folder / "a.wav", "pcm_s16le", wave(1))
    with pytest.raises(Agl1kError, match=r"Nothing was cut\. .*cuts\.csv says why"):
        cut(collection_of(folder, ["a.wav"]), tmp_path / "out")
    with (tmp_path / "out" / "cuts.csv").open() as file:
        assert next(csv.DictReader(file))["outcome"] == "too_short"
