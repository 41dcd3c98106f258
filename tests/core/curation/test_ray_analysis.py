"""Analysis on a Ray cluster of two workers gives the same results as without."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agl1k_core import curation
from agl1k_core.audio import AcousticFilters
from agl1k_core.benchmarks import recordings_in
from agl1k_core.curation import Analyzer, analyze_on_ray
from agl1k_core.curation.analysis import CRASHED
from agl1k_core.errors import Agl1kError
from tests.support import raw_recordings as raw


@pytest.mark.slow
def test_two_workers_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (the extra 'ray')")
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    folder = raw.write_collection(tmp_path / "raw", 16)
    crashing = raw.write_sound(folder / "crash.wav", 1, speech=True, duration_s=4)
    paths, _ = recordings_in([folder])
    analyzer = Analyzer(AcousticFilters(), raw.CrashingTagger)
    with_ray = dict(analyze_on_ray(paths, analyzer, workers=2))
    without = dict(curation.analyze_all(paths, analyzer, workers=2))
    assert with_ray == without
    assert with_ray.keys() == {*paths}
    assert with_ray[crashing].outcome == CRASHED
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"  # no usage is reported


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Agl1kError, match=r"Ray is not installed.*leave out --ray"):
        list(analyze_on_ray([Path("a.wav")], Analyzer()))


def test_no_files_need_no_cluster() -> None:
    assert list(analyze_on_ray([], Analyzer())) == []
