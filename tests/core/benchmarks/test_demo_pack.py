"""The committed demo pack, and whether its check finds problems in a pack."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agl1k_core import audio, benchmarks, places, tagging
from agl1k_core.benchmarks import CLASSES, Benchmark, read_tags, tags_json
from agl1k_core.errors import Agl1kError, FileRefusedError
from scripts import make_demo_pack
from scripts.demo_pack import check, pack, voice
from scripts.demo_pack.dsp import RATE, Sound
from scripts.demo_pack.scene import CEILING_DB, Scene, limit
from scripts.demo_pack.scenes import PLACES
from scripts.demo_pack.tags import write_tags
from tests.support import tagger_models

FOLDER = Path(__file__).parents[3] / "agl1k_core" / "benchmarks" / "demo"
SIX = {"Africa", "Asia", "Europe", "North America", "South America", "Oceania"}

Break = Callable[[Path], None]


@pytest.fixture(scope="module")
def demo() -> Benchmark:
    return benchmarks.load_benchmark("demo")


@pytest.fixture(scope="module")
def infos(demo: Benchmark) -> dict[str, audio.AudioInfo]:
    return {clip.key: audio.probe(FOLDER / clip.file_name) for clip in demo.clips}


# --- the committed pack ------------------------------------------------------------------------


def test_table_is_complete(demo: Benchmark) -> None:
    assert len(demo) == 24
    assert len({clip.key for clip in demo.clips}) == len({c.file_name for c in demo.clips}) == 24
    for clip in demo.clips:
        assert set(clip.classes) == set(CLASSES)
        assert clip.title
        assert any(word in clip.description.lower() for word in ("synthetic", "modelled"))


def test_pack_says_what_it_is(demo: Benchmark) -> None:
    info = json.loads((FOLDER / "benchmark.json").read_text("utf-8"))
    assert (info["slug"], info["version"], info["licence"]) == ("demo", "1", "CC0-1.0")
    assert (demo.slug, demo.name) == ("demo", "AGL1K demo pack")
    assert "synthetic" in demo.notice.lower()
    assert "not AGL1K" in demo.notice


def test_places_spread_over_the_world(demo: Benchmark) -> None:
    assert set(demo.continents) == SIX
    assert min(demo.continents.count(name) for name in SIX) >= 3
    assert len(set(demo.country_codes) - {""}) >= 20


def test_labels_are_the_geocoders(demo: Benchmark) -> None:
    labels = places.label_points(demo.lat, demo.lon)
    ours = [(clip.country, clip.continent) for clip in demo.clips]
    assert ours == [(label.country, label.continent) for label in labels]
    other = {c.key for c, label in zip(demo.clips, labels, strict=True) if c.city != label.city}
    assert other == {"demo_16"}  # published as the nearest place on a plane


def test_about_half_is_speech_on_every_continent(demo: Benchmark) -> None:
    speech = demo.subsets["speech"]
    assert 10 <= speech.sum() <= 14
    for continent in SIX:
        assert 0 < speech[demo.subsets[continent]].mean() < 1


def test_recordings_are_short_mono_mp3(demo: Benchmark, infos: dict[str, audio.AudioInfo]) -> None:
    for clip in demo.clips:
        info = infos[clip.key]
        assert (info.codec, info.channels) == ("mp3", 1)
        assert 32_000 <= info.sample_rate_hz <= 44_100
        assert 20 <= info.duration_s <= 40
        assert info.duration_s == pytest.approx(clip.duration_s, abs=0.15)


def test_pack_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 5_000_000


def test_no_file_reveals_its_place(demo: Benchmark) -> None:
    words = check.place_words(demo)
    assert {b"cairo", b"new zealand", b"zealand", b"oceania"} <= words
    for clip in demo.clips:
        content = (FOLDER / clip.file_name).read_bytes()
        assert content[:1] == b"\xff"
        assert content[-128:-125] != b"TAG"
        assert b"APETAGEX" not in content
        assert check.frames_end(content) == len(content)
        assert not [word for word in words if word in content.lower()]
        assert not [word for word in words if word in clip.file_name.encode()]


def test_numbers_do_not_run_by_continent(demo: Benchmark) -> None:
    changes = sum(a != b for a, b in zip(demo.continents, demo.continents[1:], strict=False))
    assert changes >= 15


def test_the_table_describes_the_scenes(demo: Benchmark) -> None:
    told = [(clip.lat, clip.lon, clip.title, clip.description) for clip in demo.clips]
    assert told == [(p.latitude, p.longitude, p.title, p.description) for p in PLACES]


def test_check_finds_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_demo_pack.main(["--check"]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "24 clips" in shown.out


def test_tags_are_yamnets(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    tagger = tagging.Yamnet(tagger_models.yamnet_models(pytestconfig))
    for name in ("clips.csv", "d02.mp3", "d13.mp3"):
        shutil.copy(FOLDER / name, tmp_path)
    write_rows(
        tmp_path, [row for row in read_rows(FOLDER) if row["file"] in ("d02.mp3", "d13.mp3")]
    )
    write_tags(tmp_path, tagger)
    committed, again = read_tags(FOLDER), read_tags(tmp_path)
    assert len(again.clips) == 2
    for key, tags in again.clips.items():
        # a window at the threshold may be on either side on another machine
        kept = committed.clips[key].presence
        assert {name: kept.get(name, 0) for name in tags.presence} == pytest.approx(
            tags.presence, abs=0.04
        )


# --- does the check find what is wrong? --------------------------------------------------------


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    """The first two clips as a pack of their own."""
    rows = read_rows(FOLDER)[:2]
    write_rows(tmp_path, rows)
    for row in rows:
        shutil.copy(FOLDER / row["file"], tmp_path)
    tags = read_tags(FOLDER)
    kept = {row["key"]: tags.clips[row["key"]] for row in rows}
    (tmp_path / "tags.json").write_text(tags_json(kept, tags.tagger))
    return tmp_path


def read_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "clips.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_rows(folder: Path, rows: list[dict[str, str]]) -> None:
    pack.write_table(folder / "clips.csv", rows)


def edit(**changes: str) -> Break:
    def apply(folder: Path) -> None:
        rows = read_rows(folder)
        rows[0] |= changes
        write_rows(folder, rows)

    return apply


def rewrite(change: Callable[[bytes], bytes]) -> Break:
    def apply(folder: Path) -> None:
        path = folder / read_rows(folder)[0]["file"]
        path.write_bytes(change(path.read_bytes()))

    return apply


def encode_first(samples: Sound) -> Break:
    def apply(folder: Path) -> None:
        pack.encode(samples, folder / read_rows(folder)[0]["file"])

    return apply


def same_sound_twice(folder: Path) -> None:
    first, second = read_rows(folder)
    shutil.copy(folder / first["file"], folder / second["file"])


ID3V1 = b"TAG" + b"\0" * 125
APE = b"APETAGEX" + b"\0" * 24
CLICK = np.eye(1, 25 * RATE)[0]


@pytest.mark.parametrize(
    ("break_it", "found"),
    [
        (rewrite(lambda content: b"ID3\x04" + content), "a tag or other bytes from byte 0"),
        (rewrite(lambda content: content + ID3V1), r"from byte \d+ on \(b'TAG"),
        (rewrite(lambda content: content + APE), r"from byte \d+ on \(b'APETAGEX"),
        (
            rewrite(lambda content: content + b"salvador"),
            "the file's bytes reveal the place: salvad",
        ),
        (rewrite(lambda content: content[: len(content) // 2]), "s long, not within"),
        (rewrite(lambda content: b""), "it cannot be decoded"),
        (edit(duration_s="29.5"), "s long, the table says 29.5"),
        (edit(city="Recife"), "labels .'Recife'.* but the geocoder says .'Salvador'"),
        (edit(file="salvador.mp3"), "the file name 'salvador.mp3' may reveal the place"),
        (edit(title=" "), "no title or no description"),
        (edit(**dict.fromkeys(CLASSES, "0")), "no sound class is present"),
        (encode_first(0.9 * np.sin(np.arange(25 * RATE) / 9)), "LUFS, the middle of the pack"),
        (encode_first(0.05 * CLICK), "its peak is -[23456]"),
        (same_sound_twice, "it sounds like"),
        (lambda folder: shutil.copy(folder / "d01.mp3", folder / "d77.mp3"), "d77.mp3 is not in"),
        (lambda folder: (folder / "tags.json").unlink(), "tags.json has other clips"),
        (edit(key="demo_77"), "tags.json has other clips"),
        (lambda folder: None, "2 clips where 24 are expected"),
        (lambda folder: None, "0 clips in Europe"),
    ],
)
def test_check_finds(pair: Path, break_it: Break, found: str) -> None:
    break_it(pair)
    problems, _ = check.check_pack(pair)
    assert any(re.search(found, str(problem)) for problem in problems), problems


def test_the_check_accepts_good_clips(pair: Path) -> None:
    problems, measured = check.check_pack(pair)
    assert not [problem for problem in problems if problem.clip or "tags" in str(problem)]
    assert len(measured) == 2


def test_a_repeated_key_is_refused(pair: Path) -> None:
    edit(key=read_rows(pair)[1]["key"])(pair)
    with pytest.raises(FileRefusedError, match="the key is already on line 2"):
        check.check_pack(pair)


@pytest.mark.parametrize("missing", [True, False])
def test_the_command_reports_problems(
    pair: Path, missing: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if missing:
        (pair / "clips.csv").unlink()
    assert make_demo_pack.main(["--check", "--folder", str(pair)]) == 1
    assert ("has no clips.csv" if missing else "2 clips where 24") in capsys.readouterr().err


# --- the workshop ------------------------------------------------------------------------------


def test_same_scene_gives_the_same_samples() -> None:
    forest = next(place for place in PLACES if place.name == "leticia forest")
    place = replace(forest, duration_s=6.0)
    first, second = place.render(), place.render()
    assert np.abs(first.samples).max() > 0.1
    np.testing.assert_array_equal(first.samples, second.samples)
    assert first.shares() == second.shares()


def test_shares_are_the_time_that_a_class_sounds() -> None:
    scene = Scene(20.0, np.random.default_rng(1))
    tone = np.sin(np.arange(20 * RATE) / 9)
    scene.bed("nature", tone, -20)
    scene.bed("things", tone, -20, [(0, 0), (4.99, 0), (5, 1), (9.99, 1), (10, 0), (20, 0)])
    scene.bed("animal", tone, -60)
    shares = scene.render().shares()
    assert shares["nature"] > 0.95
    assert shares["things"] == pytest.approx(0.25, abs=0.02)
    assert shares["animal"] == 0


@pytest.mark.parametrize("level", [0.1, 1.0, 20.0])
def test_limit_holds_every_peak(level: float) -> None:
    noise = level * np.random.default_rng(2).standard_normal(RATE)
    assert np.abs(limit(noise)).max() <= 10 ** (CEILING_DB / 20) + 1e-12


def test_limit_leaves_quiet_sound_alone() -> None:
    quiet = 0.1 * np.sin(np.arange(RATE) / 9)
    np.testing.assert_allclose(limit(quiet), quiet)


def test_speech_needs_espeak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Agl1kError, match="Install it: apt-get install espeak-ng"):
        voice.say(voice.Speaker("sw"), "Karibu")
