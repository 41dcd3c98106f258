"""Copies of a recording are found by sound; other sound of the same kind is not."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import lfilter

from agl1k_core.audio import LANDMARK_RATE_HZ, Peaks, landmarks, mono_blocks
from agl1k_core.config import Config
from agl1k_core.curation import (
    Analyzer,
    Copy,
    Curated,
    Reason,
    Rules,
    SelectionRules,
    curate,
    find_copies,
    open_collection,
)
from tests.support import sounds

RATE_HZ = LANDMARK_RATE_HZ
Wave = npt.NDArray[np.float32]


def ambience(seed: int, duration_s: float = 12) -> Wave:
    """Noise like wind or water, without any tone."""
    noise = np.random.default_rng(seed).normal(size=round(duration_s * RATE_HZ))
    wave = lfilter([1], [1, -0.9], noise)
    return np.asarray(0.2 * wave / np.abs(wave).max(), np.float32)


def found(**waves: Wave) -> list[Copy]:
    marks = {key: landmarks([wave]) for key, wave in waves.items()}
    return find_copies(marks, {key: len(wave) / RATE_HZ for key, wave in waves.items()})


def encoded(folder: Path, wave: Wave, codec: str, suffix: str, rate_hz: int = RATE_HZ) -> Path:
    return sounds.encode(folder / f"copy{suffix}", codec, wave[np.newaxis], rate_hz=rate_hz)


@pytest.mark.parametrize(("codec", "suffix"), [("libmp3lame", ".mp3"), ("aac", ".m4a")])
def test_a_trimmed_and_quiet_copy_in_a_lossy_codec_is_found(
    tmp_path: Path, codec: str, suffix: str
) -> None:
    wave = ambience(1)
    path = encoded(tmp_path, 0.1 * wave[round(3.21 * RATE_HZ) :], codec, suffix)
    [copy] = found(a=wave, b=np.concatenate([*mono_blocks(path, RATE_HZ)]))
    assert (copy.a, copy.b) == ("a", "b")
    assert copy.offset_s == pytest.approx(3.2, abs=0.15)  # codecs add a delay
    assert copy.overlap_s == pytest.approx(8.8, abs=0.15)
    assert copy.share > 0.2


def test_a_short_clip_is_found_in_a_long_one() -> None:
    wave = ambience(2, 60)
    [copy] = found(long=wave, short=wave[40 * RATE_HZ : 45 * RATE_HZ])
    assert (copy.offset_s, copy.overlap_s) == (40, 5)
    assert copy.sentence("short").startswith("5.0 s of its 5.0 s are in long, offset 40.0 s, by ")
    assert copy.sentence("long").startswith("5.0 s of its 60.0 s are in short, offset -40.0 s, by ")


def test_other_sound_of_the_same_place_is_not_the_same() -> None:
    wave = ambience(3, 60)
    parts = {f"part{n}": wave[n * 12 * RATE_HZ : (n + 1) * 12 * RATE_HZ] for n in range(5)}
    assert found(**parts, other=ambience(4)) == []


def test_clips_that_share_only_a_few_seconds_are_not_the_same() -> None:
    wave = ambience(5, 20)
    assert found(a=wave[: 12 * RATE_HZ], b=wave[8 * RATE_HZ :]) == []


def test_a_common_jingle_does_not_make_clips_the_same() -> None:
    jingle = ambience(6, 3)
    a, b = (np.concatenate([jingle, ambience(seed)]) for seed in (7, 8))
    assert found(a=a, b=b) == []


def test_silence_and_steady_sound_match_nothing() -> None:
    t = np.arange(12 * RATE_HZ) / RATE_HZ
    tone = (0.5 * np.sin(2 * np.pi * 440 * t)).astype(np.float32)
    beeps = (tone * (t % 1 < 0.2)).astype(np.float32)
    nothing = np.zeros(12 * RATE_HZ, np.float32)
    rounding = (np.random.default_rng(9).integers(-1, 2, len(t)) / 32768).astype(np.float32)
    waves: dict[str, Wave] = {
        "tone": tone,
        "beeps": beeps,
        "nothing": nothing,
        "rounding": rounding,
    }
    again: dict[str, Wave] = {f"{name}2": np.roll(wave, 1) for name, wave in waves.items()}
    assert found(**waves, **again, ambience=ambience(10)) == []


def test_all_of_many_copies_are_connected() -> None:
    marks = landmarks([ambience(11)])
    keys = [f"{n:03}" for n in range(100)]
    copies = find_copies(dict.fromkeys(keys, marks), dict.fromkeys(keys, 12.0))
    reached = {keys[0]}
    for copy in copies:
        if copy.a in reached:
            reached.add(copy.b)
    assert reached == {*keys}


def test_the_order_of_clips_does_not_matter() -> None:
    wave = ambience(12)
    waves = {"a": wave, "b": wave[RATE_HZ:], "c": ambience(13)}
    assert found(**waves) == found(**dict(reversed(waves.items()))) != []


@pytest.mark.parametrize("cut", [1, 1000, 700_000])
def test_landmarks_do_not_depend_on_how_sound_is_cut_into_blocks(cut: int) -> None:
    wave = ambience(14, 80)
    if cut == 1:
        wave = wave[:3000]
    whole: Peaks = landmarks([wave])
    assert whole.tolist() == landmarks(np.split(wave, range(cut, len(wave), cut))).tolist()
    assert np.all(np.diff(whole.astype(np.int64)) > 0)


def collection(folder: Path, far: bool = False) -> Path:
    """A recording, a trimmed MP3 of it, and another recording of the same kind."""
    folder.mkdir()
    wave = ambience(15)
    sounds.encode(folder / "a.wav", "pcm_s16le", wave[np.newaxis], rate_hz=RATE_HZ)
    encoded(folder, 0.5 * wave[2 * RATE_HZ :], "libmp3lame", ".mp3")
    sounds.encode(folder / "c.wav", "pcm_s16le", ambience(16)[np.newaxis], rate_hz=RATE_HZ)
    rows = [("a", 10, "a.wav"), ("b", 50 if far else 10, "copy.mp3"), ("c", 10, "c.wav")]
    with (folder / "clips.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("key", "latitude", "file", "longitude")])
        csv.writer(file).writerows((*row, 20) for row in rows)
    return folder


def curated(folder: Path, work: Path, rules: Rules, workers: int = 0) -> Curated:
    opened = open_collection(folder, None, Config.from_env({}))
    return curate(opened, Analyzer(landmarks=True), rules, work, workers=workers)


def reasons(result: Curated) -> dict[str, Reason]:
    return {item.clip.key: item.verdict.reason for item in result.judged}


NEAR = SelectionRules(balanced=False, min_distance_km=0)


def test_curation_keeps_one_of_two_copies_and_names_the_other(tmp_path: Path) -> None:
    folder = collection(tmp_path / "raw")
    result = curated(folder, tmp_path / "work", Rules(NEAR))
    by_reason = sorted(reasons(result).values())
    assert by_reason == [Reason.SAME_RECORDING, Reason.SELECTED, Reason.SELECTED]
    assert reasons(result)["c"] is Reason.SELECTED
    [out] = [item for item in result.judged if not item.verdict.is_in]
    assert "; a hash of the keys decided between the two. 10." in out.verdict.detail
    assert result.judged[1].copy_of.startswith("10.")
    again = curated(folder, tmp_path / "work", Rules(NEAR), workers=2)  # from saved results
    assert again.judged == result.judged


def test_copies_can_be_only_reported(tmp_path: Path) -> None:
    folder = collection(tmp_path / "raw")
    result = curated(folder, tmp_path / "work", Rules(NEAR, copies="report"))
    assert {*reasons(result).values()} == {Reason.SELECTED}
    assert [bool(item.copy_of) for item in result.judged] == [True, True, False]


def test_copies_listed_at_two_places_have_none(tmp_path: Path) -> None:
    folder = collection(tmp_path / "raw", far=True)
    found_reasons = reasons(curated(folder, tmp_path / "work", Rules(NEAR)))
    assert found_reasons["a"] is found_reasons["b"] is Reason.CONTRADICTION
    assert found_reasons["c"] is Reason.SELECTED
