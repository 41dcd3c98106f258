"""If an extra is missing, the error says which one to install."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from agl1k_core import audio, benchmarks
from agl1k_core.curation import Analyzer, analyze_all
from agl1k_core.errors import Agl1kError
from agl1k_core.extras import Deferred, check, need

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "agl1k_core" / "benchmarks" / "demo" / "d01.mp3"


def installs(extra: str) -> set[str]:
    """The packages of an extra, without those of the extras that it names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines: Iterable[str] = project["optional-dependencies"][extra]
    return {re.split(r"[^\w-]", line)[0].lower() for line in lines}


@pytest.mark.parametrize(
    "name",
    [
        "av",
        "plotly",
        "matplotlib.figure",
        "onnx",
        "onnxruntime",
        "gradio",
        "sqlalchemy",
        "datasets",
    ],
)
def test_the_extra_that_is_named_installs_the_module(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = name.partition(".")[0]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Agl1kError, match=rf"needs {package}, which is not installed") as error:
        need(name)
    (extra,) = re.findall(r"pip install 'agl1k\[(\w+)\]'", str(error.value))
    assert package in installs(extra)


def test_pillow_is_named_as_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Agl1kError, match=r"needs PIL.*agl1k\[wander\]"):
        need("PIL.Image")
    assert "pillow" in installs("wander")


def test_what_is_installed_passes() -> None:
    check("av")
    assert need("matplotlib.figure").Figure
    assert Deferred("av").open is need("av").open


@pytest.fixture
def _without_av(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)


@pytest.mark.usefixtures("_without_av")
def test_without_the_decoder_arrays_are_measured_and_recordings_are_not_read() -> None:
    assert audio.rms_energy(np.ones(16000), 16000) == 1
    with pytest.raises(Agl1kError, match=r"agl1k\[audio\]"), audio.open_recording(RECORDING):
        pass


@pytest.mark.usefixtures("_without_av")
def test_without_the_decoder_many_files_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match=r"agl1k\[audio\]"):
        list(analyze_all([RECORDING] * 3, Analyzer()))
    with pytest.raises(Agl1kError, match=r"agl1k\[audio\]"):
        benchmarks.fetch_recordings(benchmarks.load_benchmark("demo"), tmp_path)
