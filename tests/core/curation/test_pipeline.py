"""From a folder with broken files to a benchmark: outcomes, resuming, the written folder."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np
import pytest

from agl1k_core import audio, benchmarks
from agl1k_core.audio import AcousticFilters, NoRoomError
from agl1k_core.benchmarks import ClipTags, read_folder, read_tags
from agl1k_core.config import Config
from agl1k_core.curation import (
    Analyzer,
    Collection,
    Curated,
    Decision,
    Reason,
    Rules,
    SelectionRules,
    analysis,
    check_output,
    curate,
    open_collection,
    read_decisions,
    summary_lines,
    write_folder,
    write_review,
)
from agl1k_core.curation.analysis import CRASHED, FAILED, analyze_all
from agl1k_core.curation.pipeline import ROOT_OF_CLASS
from agl1k_core.errors import Agl1kError, FileRefusedError
from agl1k_core.localizability import Localizability
from agl1k_core.tagging import audioset
from tests.support import raw_recordings as raw
from tests.support import sounds

ANALYZER = Analyzer(AcousticFilters(), raw.ToneTagger)


def opened(folder: Path) -> Collection:
    return open_collection(folder, None, Config.from_env({}))


def curated(folder: Path, work: Path, rules: Rules | None = None, **others: object) -> Curated:
    arguments = {"workers": 0, **others}
    return curate(opened(folder), ANALYZER, rules or Rules(), work, **arguments)  # type: ignore[arg-type]


_hooked: list[list[str]] = []


def _note_open(event: str, arguments: tuple[object, ...]) -> None:
    for noted in _hooked if event == "open" else []:
        noted.append(str(arguments[0]))


sys.addaudithook(_note_open)


@contextmanager
def opened_paths() -> Iterator[list[str]]:
    """The paths of the files that Python opens in the block."""
    noted: list[str] = []
    _hooked.append(noted)
    yield noted
    _hooked.remove(noted)


def reasons(result: Curated) -> dict[str, Reason]:
    return {item.clip.key: item.verdict.reason for item in result.judged}


def model_of(slope: float, tagger: dict[str, object] | None = None) -> Localizability:
    return Localizability(
        categories=(raw.SPEECH, raw.BIRD),
        near_slope=np.array([slope, 1.0]),
        far_slope=np.array([np.nan, np.nan]),
        n_near=np.array([5, 5]),
        n_far=np.array([0, 0]),
        provenance={"tagger": tagger or ANALYZER.settings["tagger"], "data_sha256": "abc"},
    )


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return raw.write_collection(tmp_path_factory.mktemp("raw"))


@pytest.fixture(scope="module")
def result(forty: Path, tmp_path_factory: pytest.TempPathFactory) -> Curated:
    return curated(forty, tmp_path_factory.mktemp("work"))


def test_forty_files_eight_of_them_broken(result: Curated) -> None:
    broken = result.judged[32:]
    assert [item.analysis.outcome for item in broken] == [*raw.BROKEN.values()]
    assert all(item.verdict.reason is Reason.BROKEN for item in broken)
    assert all(item.verdict.detail.startswith(f"{item.analysis.outcome}: ") for item in broken)
    assert len(result.judged) == 40
    assert [item.verdict.reason for item in result.judged[:32]] == [Reason.SELECTED] * 32
    assert result.judged[0].analysis.notes == ("wrong_extension",)


def test_classes_are_those_heard(result: Curated) -> None:
    first, ninth = result.judged[0].clip, result.judged[8].clip
    assert (first.classes["human"], first.classes["animal"]) == (1, 0)
    assert (ninth.classes["human"], ninth.classes["animal"]) == (0, 1)
    assert first.duration_s == 2.0


def test_each_recording_is_decoded_once(
    forty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, opened_files, av_open = tmp_path / "raw", Counter[str](), av.open
    shutil.copytree(forty, folder)
    one = raw.sound(1, speech=True)
    opposite = np.concatenate([one, -one])
    sounds.encode(folder / "clip-001.wav", "pcm_s16le", opposite, rate_hz=raw.RATE_HZ)
    sounds.encode(folder / "clip-002.wav", "pcm_s16le", one / np.float32(1000), rate_hz=raw.RATE_HZ)

    def counting(file: str, **options: object) -> object:
        opened_files[Path(file.removeprefix("file:")).name] += 1
        return av_open(file, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(av, "open", counting)
    result = curated(folder, tmp_path / "work")
    assert result.judged[1].analysis.notes == ("phase_cancelling",)
    assert result.judged[1].analysis.tags["presence"] == {raw.SPEECH: 1.0}
    assert result.judged[2].verdict.reason is Reason.FILTER
    assert len(opened_files) == 38  # all but the empty and the missing file
    assert {*opened_files.values()} == {1}


@pytest.mark.parametrize("name", ["clips.csv", "raw.csv"])
def test_a_table_is_opened_once(forty: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(forty / "clips.csv", tmp_path / name)
    with opened_paths() as opened_files:
        collection = open_collection(tmp_path / name, forty, Config.from_env({}))
    assert opened_files.count(str(tmp_path / name)) == 1
    assert len(collection.files) == 40


def test_a_full_disk_is_not_a_fault_of_a_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = raw.write_sound(tmp_path / "a.wav", 1, speech=True, duration_s=25)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "no folder"))
    with pytest.raises(NoRoomError):
        Analyzer(make_tagger=raw.FineTagger).analyze(path)


def test_a_target_is_balanced_and_spread(forty: Path, result: Curated, tmp_path: Path) -> None:
    rules = Rules(SelectionRules(target=16))
    found = curated(forty, tmp_path, rules).chosen
    assert sum(item.clip.has("human") for item in found) == 8
    assert [*Counter(item.clip.country for item in found).values()] == [2] * 8


def test_processes_give_the_same(forty: Path, result: Curated, tmp_path: Path) -> None:
    assert curated(forty, tmp_path, workers=2).judged == result.judged


def test_an_interrupted_run_resumes_with_the_same_result(
    forty: Path, result: Curated, tmp_path: Path
) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 13:
            raise KeyboardInterrupt

    work, calls = tmp_path / "work", list[tuple[int, int]]()
    with pytest.raises(KeyboardInterrupt):
        curated(forty, work, progress=interrupt)
    (cache,) = work.glob("*.jsonl")
    # as if killed while writing: the last line is torn
    cache.write_bytes(cache.read_bytes()[:-25])
    again = curated(forty, work, progress=lambda done, total: calls.append((done, total)))
    assert again.judged == result.judged
    assert calls[0] == (12, 39)
    assert calls[-1] == (39, 39)
    calls.clear()
    curated(forty, work, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(39, 39)]  # the torn line damaged no other
    write_folder(again, tmp_path / "a")
    write_folder(result, tmp_path / "b", name="a")
    assert raw.contents(tmp_path / "a") == raw.contents(tmp_path / "b")


def test_a_changed_file_is_heard_anew(tmp_path: Path) -> None:
    folder, work = raw.write_collection(tmp_path / "raw", 4, ()), tmp_path / "work"
    curated(folder, work)
    raw.write_sound(folder / "clip-002.wav", 2, speech=False, duration_s=2.5)
    calls: list[int] = []
    again = curated(folder, work, progress=lambda done, total: calls.append(done))
    assert calls == [3, 4]
    assert again.judged[2].clip.duration_s == 2.5


def test_other_settings_have_another_cache(tmp_path: Path) -> None:
    folder, work = raw.write_collection(tmp_path / "raw", 2, ()), tmp_path / "work"
    curated(folder, work)
    strict = Analyzer(AcousticFilters(min_rms_energy=0.9), raw.ToneTagger)
    found = curate(opened(folder), strict, Rules(), work, workers=0)
    assert {*reasons(found).values()} == {Reason.FILTER}
    assert found.judged[0].verdict.detail.startswith(
        "It is too quiet: RMS energy without the mean 0.16"
    )
    assert len([*work.glob("*.jsonl")]) == 2


def test_two_runs_do_not_mix(tmp_path: Path) -> None:
    folder = raw.write_collection(tmp_path / "raw", 2, ())

    def meanwhile(done: int, total: int) -> None:
        with pytest.raises(Agl1kError, match="Another run uses"):
            curated(folder, tmp_path / "work")

    curated(folder, tmp_path / "work", progress=meanwhile)


def test_a_crash_costs_one_file(tmp_path: Path) -> None:
    paths = [raw.write_sound(tmp_path / f"{n}.wav", n, speech=True) for n in range(6)]
    paths[2] = raw.write_sound(tmp_path / "2.wav", 2, speech=True, duration_s=4)
    analyzer = Analyzer(make_tagger=raw.CrashingTagger)
    analyses = dict(analyze_all(paths, analyzer, workers=2))
    assert [analyses[path].outcome for path in paths] == ["ok", "ok", CRASHED, "ok", "ok", "ok"]


def test_an_unexpected_error_costs_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = raw.write_sound(tmp_path / "a.wav", 0, speech=True)
    monkeypatch.setattr(analysis, "inspect_recording", lambda *_: 1 / 0)
    found = Analyzer().analyze(path)
    assert (found.outcome, found.message) == (
        FAILED,
        "Unexpected ZeroDivisionError: division by zero",
    )


def test_copies_and_neighbours_are_out(tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    raw.write_sound(folder / "a.wav", 1, speech=True)
    shutil.copy(folder / "a.wav", folder / "copy.wav")
    for name, seed in (("near", 2), ("later", 3), ("far", 4)):
        raw.write_sound(folder / f"{name}.wav", seed, speech=False)
    raw.write_sound(folder / "stray.wav", 5, speech=False)
    at = {"a": (10, "2024-01-01"), "copy": (10, "2024-01-01"), "near": (10.001, "2024-01-01T05:00"),
          "later": (10.001, "2024-02-01"), "far": (30, "")}  # fmt: skip
    raw.write_table(folder, [
        {"key": key, "latitude": lat, "longitude": 10, "file": f"{key}.wav", "recorded": recorded}
        for key, (lat, recorded) in at.items()
    ])  # fmt: skip
    found = curated(folder, tmp_path / "work", Rules(SelectionRules(balanced=False)))
    counts = Counter(reasons(found).values())
    assert counts == {Reason.SELECTED: 3, Reason.SAME_RECORDING: 1, Reason.NEAR_DUPLICATE: 1} or (
        counts == {Reason.SELECTED: 3, Reason.NEAR_DUPLICATE: 2}
    )
    assert [path.name for path in found.collection.unlisted] == ["stray.wav"]
    write_folder(found, tmp_path / "out")
    rows = raw.read_csv(tmp_path / "out" / "report.csv")
    assert [row["reason"] for row in rows if not row["key"]] == ["no_line"]


@pytest.mark.server
def test_recordings_without_a_place_in_their_tags_are_reported(tmp_path: Path) -> None:
    wave = raw.sound(1, speech=True)
    places = {"good": "48.1 2.2", "odd": "999 3", "none": "Studio 5"}
    for name, place in places.items():
        path = tmp_path / "raw" / f"{name}.flac"
        path.parent.mkdir(exist_ok=True)
        tags = {"GEO_LOCATION": place, "LICENSE": "CC BY 4.0", "ARTIST": "Ada"}
        sounds.encode(path, "flac", wave, rate_hz=raw.RATE_HZ, metadata=tags)
    (tmp_path / "raw" / "empty.flac").touch()
    found = curated(tmp_path / "raw", tmp_path / "work", Rules(SelectionRules(balanced=False)))
    write_folder(found, tmp_path / "out")
    rows = {row["file"]: row for row in raw.read_csv(tmp_path / "out" / "report.csv")}
    assert rows["odd.flac"]["reason"] == rows["none.flac"]["reason"] == "no_place"
    assert (rows["empty.flac"]["reason"], rows["empty.flac"]["detail"]) == (
        "broken",
        "The file is empty. Fetch or copy it again.",
    )
    assert "geo_location is '999 3'" in rows["odd.flac"]["detail"]
    assert {
        "2 out: no place is known",
        "1 out: no recording, or a broken one",
    } <= {*summary_lines(found)}
    (clip,) = read_folder(tmp_path / "out").clips
    assert (clip.lat, clip.lon, clip.licence, clip.author) == (48.1, 2.2, "CC BY 4.0", "Ada")


def test_localizability_excludes_and_is_reported(forty: Path, tmp_path: Path) -> None:
    rules = Rules(SelectionRules(balanced=False))
    found = curated(forty, tmp_path / "work", rules, model=model_of(1.5))
    assert {item.localizability for item in found.chosen} == {1.5}
    assert Counter(reasons(found).values())[Reason.NOT_LOCALIZABLE] == 16
    assert found.judged[8].verdict.detail == "Its localizability of 1.000 is not above 1."
    write_folder(found, tmp_path / "out")
    assert "above 1, by a model fitted to" in (tmp_path / "out" / "summary.md").read_text()
    tags = read_tags(tmp_path / "out")
    assert (tags.tagger["name"], tags.theta) == ("tone", 1.0)
    assert {clip.localizability for clip in tags.clips.values()} == {1.5}


def test_without_a_model_the_summary_says_so(result: Curated, tmp_path: Path) -> None:
    write_folder(result, tmp_path / "out")
    assert "no fitted model was given" in (tmp_path / "out" / "summary.md").read_text()


def test_a_model_of_another_tagger_is_refused(forty: Path, tmp_path: Path) -> None:
    other = model_of(1.5, {"name": "yamnet", "weights_sha256": "x", "threshold": 0.2})
    with pytest.raises(Agl1kError, match=r"fitted to the tags of .*yamnet"):
        curated(forty, tmp_path, model=other)
    with pytest.raises(Agl1kError, match="needs tags"):
        curate(opened(forty), Analyzer(AcousticFilters()), Rules(), tmp_path, model=other)


def test_the_folder_is_a_benchmark(result: Curated, tmp_path: Path) -> None:
    out = tmp_path / "My sounds"
    write_folder(result, out)
    benchmark = benchmarks.read_folder(out)
    assert (benchmark.slug, len(benchmark)) == ("my-sounds", 32)
    subsets = {name: int(mask.sum()) for name, mask in benchmark.subsets.items()}
    assert (subsets["speech"], subsets["non_speech"], subsets["animal"]) == (16, 16, 16)
    assert (subsets["music"], subsets["nature"], subsets["things"]) == (0, 0, 0)
    rows = raw.read_csv(out / "report.csv")
    assert Counter(row["decision"] for row in rows) == {"in": 32, "out": 8}
    assert all((out / clip.file_name).is_file() for clip in benchmark.clips)
    assert read_tags(out).clips["clip-000"] == ClipTags({raw.SPEECH: 1.0})
    assert not [path for path in out.iterdir() if path.name.startswith(".")]


def test_tags_stay_behind_and_credits_come_along(tmp_path: Path) -> None:
    folder, work, out = raw.write_collection(tmp_path / "raw", 4, ()), tmp_path / "work", tmp_path
    place, rows = b"Timbuktu 16.7666,-3.0026", raw.read_csv(folder / "clips.csv")
    for number, row in enumerate(rows):
        path = folder / row["file"]
        chunk = b"LIST" + (12 + len(place)).to_bytes(4, "little") + b"INFOINAM"
        path.write_bytes(path.read_bytes() + chunk + len(place).to_bytes(4, "little") + place)
        row |= {"author": f"A. {number}", "licence": "CC-BY-4.0", "url": "https://example.org/1"}
        row["recorded"] = "2024-05-31T06:30"
    raw.write_table(folder, rows)  # type: ignore[arg-type]
    write_folder(curated(folder, work), out / "a")
    assert not [name for name, content in raw.contents(out / "a").items() if place in content]
    clips = benchmarks.read_folder(out / "a").clips
    assert [(clip.author, clip.licence, clip.url, clip.recorded) for clip in clips] == [
        (f"A. {number}", "CC-BY-4.0", "https://example.org/1", "2024-05-31T06:30")
        for number in range(4)
    ]
    assert {row["copy"] for row in raw.read_csv(out / "a" / "report.csv")} == {"copied"}


def test_copies_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, work, out = raw.write_collection(tmp_path / "raw", 4, ()), tmp_path / "work", tmp_path
    write_folder(curated(folder, work), out / "a")
    before = raw.contents(out / "a")
    made: list[Path] = []

    def noted(source: Path, target: Path) -> audio.StrippedCopy:
        made.append(source)
        return stripped(source, target)

    stripped = audio.stripped_copy
    monkeypatch.setattr(audio, "stripped_copy", noted)
    write_folder(curated(folder, work), out / "a")
    assert made == []
    # copies as earlier versions made them, with tags and the recording's time
    shutil.copy2(folder / "clip-001.wav", out / "a" / "clip-001.wav")
    write_folder(curated(folder, work), out / "a")
    assert [path.name for path in made] == ["clip-001.wav"]
    assert raw.contents(out / "a") == before


def test_a_clip_without_a_copy_is_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, work, out = raw.write_collection(tmp_path / "raw", 4, ()), tmp_path / "work", tmp_path
    result = curated(folder, work)
    (folder / "clip-002.wav").write_bytes(b"changed meanwhile")
    written = write_folder(result, out / "a")
    assert reasons(written)["clip-002"] is Reason.NOT_COPIED
    rows = {row["key"]: row for row in raw.read_csv(out / "a" / "report.csv")}
    assert (rows["clip-002"]["decision"], rows["clip-002"]["reason"]) == ("out", "not_copied")
    assert "not audio" in rows["clip-002"]["detail"]
    assert len(benchmarks.read_folder(out / "a")) == 3
    assert "no copy without tags" in (out / "a" / "summary.md").read_text("utf-8")


def test_a_person_s_decisions_count_in_the_next_run(forty: Path, tmp_path: Path) -> None:
    out, work = tmp_path / "out", tmp_path / "work"
    rules = Rules(SelectionRules(target=8))
    first = curated(forty, work, rules)
    write_folder(first, out)
    keys = [item.clip.key for item in first.chosen]
    write_review(out, {keys[0]: Decision("reject", "a siren"), keys[1]: Decision("keep")})
    decisions = read_decisions(out)
    second = curated(forty, work, rules, decisions=decisions)
    write_folder(second, out)
    assert reasons(second)[keys[0]] is Reason.REJECTED
    assert reasons(second)[keys[1]] is Reason.SELECTED
    assert len(second.chosen) == 8
    kept = {path.name for path in out.glob("clip-*")}
    assert kept == {clip.file_name for clip in benchmarks.read_folder(out).clips}
    assert read_decisions(out) == decisions
    report = {row["key"]: row for row in raw.read_csv(out / "report.csv")}
    assert [report[key]["review_note"] for key in keys[:2]] == ["a siren", ""]


def test_durations_can_be_limited(tmp_path: Path) -> None:
    folder = raw.write_collection(tmp_path / "raw", 2, ())
    for rules, word in ((Rules(min_duration_s=3), "shorter"), (Rules(max_duration_s=1), "longer")):
        found = curated(folder, tmp_path / "work", rules)
        assert {*reasons(found).values()} == {Reason.DURATION}
        assert word in found.judged[0].verdict.detail


def test_nothing_left_is_an_error_after_the_report(tmp_path: Path) -> None:
    folder = raw.write_collection(tmp_path / "raw", 0, ("empty", "text"))
    found = curated(folder, tmp_path / "work")
    with pytest.raises(Agl1kError, match=r"No clip is left\. .*report\.csv"):
        write_folder(found, tmp_path / "out")
    rows = raw.read_csv(tmp_path / "out" / "report.csv")
    assert [row["outcome"] for row in rows] == ["empty", "not_audio"]


def test_files_of_others_are_left_alone(forty: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(Agl1kError, match="contains files that curation did not write"):
        check_output(tmp_path, forty)
    with pytest.raises(Agl1kError, match="inside the folder of raw recordings"):
        check_output(forty / "out", forty)
    with pytest.raises(Agl1kError, match="is not a folder"):
        check_output(tmp_path / "mine.txt", forty)


def test_other_decisions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "review.csv").write_text("key,decision\na,perhaps\n")
    with pytest.raises(Agl1kError, match=r"1 lines are not decisions, such as .*perhaps"):
        read_decisions(tmp_path)


def test_a_table_of_any_name_away_from_its_recordings(forty: Path, tmp_path: Path) -> None:
    shutil.copy(forty / "clips.csv", tmp_path / "raw.csv")
    found = open_collection(tmp_path / "raw.csv", forty, Config.from_env({}))
    assert len([path for path in found.files.values() if path]) == 39
    with pytest.raises(Agl1kError, match=r"There is no .*nowhere"):
        open_collection(tmp_path / "nowhere", None, Config.from_env({}))


@pytest.mark.parametrize("recorded", ["2008-07-00", "2008-00-00", "2008-07", "2008"])
def test_a_date_without_a_day_is_no_time(tmp_path: Path, recorded: str) -> None:
    row = {"key": "a", "latitude": 1, "longitude": 1, "file": "", "recorded": recorded}
    raw.write_table(tmp_path, [row])
    assert opened(tmp_path).recorded == {}


def test_what_is_not_a_time_is_refused(tmp_path: Path) -> None:
    row = {"key": "a", "latitude": 1, "longitude": 1, "file": "", "recorded": "last summer"}
    raw.write_table(tmp_path, [row])
    with pytest.raises(FileRefusedError, match="'last summer' is not a time"):
        opened(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_work_folder_that_cannot_be_written(forty: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Agl1kError, match="cannot be written"):
        curated(forty, tmp_path / "work")


def test_classes_map_onto_roots() -> None:
    assert {*ROOT_OF_CLASS.values()} == {*audioset.AUDIOSET_ROOTS}
