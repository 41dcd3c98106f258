"""The wheel contains the core, and works in an environment with nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from agl1k_core import __version__
from tests.support.hostile_server import hostile_server

ROOT = Path(__file__).parents[1]
# two columns of the published table share one name in its header
PUBLISHED_TABLE = """\
key,short_key,longitude,latitude,altitude,description,title,mp3name,mp3seconds,city,country,\
continent,human_sounds,animal,music,natural_sounds,channel_environment_and_background,\
sounds_of_things,source_ambiguous_sounds
a_1,1,17.08,-22.56,,d,t,a.mp3,2,Windhoek,Namibia,Africa,1,0,0,0,0,0.5,1,0
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a copy of this tree, built without network by the backend alone."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "requirements.txt", "README.md", "LICENSE", "app.py"):
        shutil.copy(ROOT / name, source)
    for folder in ("agl1k_core", "store", "assets"):
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, source / folder, ignore=unwanted)
    build = "import setuptools.build_meta as b; b.build_wheel('out')"
    done = subprocess.run(
        [sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (built,) = (source / "out").glob("*.whl")
    return built


def test_the_wheel_carries_the_science_and_nothing_else(wheel: Path) -> None:
    source = wheel.parents[1]
    files = {
        path.relative_to(source).as_posix()
        for path in (source / "agl1k_core").rglob("*")
        if path.is_file() and not fnmatch(path.name, ".*")
    }
    assert {
        "agl1k_core/py.typed",
        "agl1k_core/scoring/__init__.pyi",
        "agl1k_core/benchmarks/demo/clips.csv",
        "agl1k_core/benchmarks/demo/d01.mp3",
        "agl1k_core/places/data/countries.json",
    } <= files
    carried = zipfile.ZipFile(wheel).namelist()
    assert {name for name in carried if ".dist-info/" not in name} == files


def test_the_wheel_asks_for_the_science_and_has_the_command(wheel: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    archive = zipfile.ZipFile(wheel)
    inside = f"agl1k-{__version__}.dist-info"
    metadata = archive.read(f"{inside}/METADATA").decode()
    needed = re.findall(r"^Requires-Dist: (.*)$", metadata, flags=re.MULTILINE)
    plain = {Requirement(line) for line in needed if "extra ==" not in line}
    assert plain == set(map(Requirement, project["dependencies"]))
    assert "agl1k = agl1k_core.__main__:main" in archive.read(f"{inside}/entry_points.txt").decode()
    assert f"{inside}/licenses/LICENSE" in archive.namelist()


@dataclass(frozen=True)
class Installed:
    """A virtual environment with nothing but the wheel and its dependencies."""

    folder: Path

    def run(
        self, *command: str, cwd: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, by default away from the checkout."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            [self.folder / "bin" / command[0], *command[1:]],
            cwd=cwd or self.folder.parent / "away",
            env={**clean, "AGL1K_DATA": str(self.folder.parent / "data"), **env},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    (folder / "away").mkdir()
    venv.create(folder / "venv", with_pip=True)
    environment = Installed(folder / "venv")
    done = environment.run("pip", "install", "--disable-pip-version-check", str(wheel))
    assert done.returncode == 0, done.stderr[-2000:]
    return environment


@pytest.mark.slow
def test_the_wheel_alone_scores(installed: Installed) -> None:
    def agl1k(*arguments: str) -> str:
        done = installed.run("agl1k", *arguments)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    assert agl1k("--version").strip() == __version__
    agl1k("baseline", "random", "-o", "random.csv")
    agl1k("baseline", "median_location", "-o", "median.csv")
    assert "24 records" in agl1k("validate", "random.csv")
    assert json.loads(agl1k("score", "median.csv", "--json"))["n_clips"] == 24
    assert "distance_km" in agl1k("compare", "random.csv", "median.csv")


@pytest.mark.slow
def test_the_wheel_alone_fetches_the_table(installed: Installed) -> None:
    with hostile_server() as server:
        url = server.put("/table.csv", PUBLISHED_TABLE.encode())
        done = installed.run("agl1k", "fetch", AGL1K_TABLE_URL=url)
        assert done.returncode == 0, done.stderr
        assert "1 clips in" in done.stdout
        recordings = installed.run("agl1k", "fetch", "--recordings", AGL1K_TABLE_URL=url)
    assert recordings.returncode == 1
    assert "pip install 'agl1k[audio]'" in recordings.stderr


@pytest.mark.slow
def test_the_wheel_alone_brings_neither_web_nor_database_nor_decoder(installed: Installed) -> None:
    script = (
        "import agl1k_core, importlib.util as u;"
        "names = 'gradio sqlalchemy av plotly onnx matplotlib app store game'.split();"
        "print([name for name in names if u.find_spec(name)])"
    )
    done = installed.run("python", "-c", script)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (["filter", "a.mp3"], "pip install 'agl1k[audio]'"),
        (["tag", "a.mp3"], "pip install 'agl1k["),
        (["serve"], "needs a checkout"),
        (["admin", "status"], "needs a checkout"),
        (["review", "folder"], "needs a checkout"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_says_what_it_needs(
    installed: Installed, command: list[str], sentence: str
) -> None:
    recording = ROOT / "agl1k_core" / "benchmarks" / "demo" / "d01.mp3"
    shutil.copy(recording, installed.folder.parent / "away" / "a.mp3")
    done = installed.run("agl1k", *command)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", [["serve"], ["admin", "status"], ["review", "folder"]])
def test_in_a_checkout_a_command_says_which_extra_it_needs(
    installed: Installed, command: list[str]
) -> None:
    done = installed.run("agl1k", *command, cwd=ROOT)
    assert done.returncode == 1
    assert "pip install 'agl1k[app]'" in done.stderr


CLIENT = '''
"""A small client, typed strictly."""

from collections.abc import Mapping
from pathlib import Path
from typing import assert_type

import agl1k_core as ag
from agl1k_core.scoring import Interval


def mean_km(records: list[dict[str, object]], protocol: ag.Protocol) -> float:
    benchmark = ag.load_benchmark("demo")
    assert_type(benchmark, ag.Benchmark)
    assert_type(benchmark.clips, tuple[ag.Clip, ...])
    predictions = ag.read_predictions(records, benchmark)
    assert_type(predictions, ag.Predictions)
    evaluation = ag.evaluate(benchmark, predictions, protocol)
    assert_type(evaluation.intervals, Mapping[str, Interval])
    against = ag.evaluate(benchmark, ag.baseline(benchmark, "random"), "strict")
    assert_type(ag.compare(evaluation, against), ag.Comparison)
    answer = ag.parse_answer("48.86, 2.35")
    assert_type(answer.latitude, float | None)
    assert_type(answer.status, ag.Status)
    assert_type(ag.country_code("France"), str | None)
    ag.geoscore(ag.geodesic_km(48.86, 2.35, 0.0, 0.0))
    if not len(evaluation.table):
        raise ag.FileRefusedError("nothing", [ag.Problem("No clip", "Send one")])
    return evaluation.metrics["distance_km"]


def quiet(path: Path) -> dict[str, str]:
    measures = ag.audio.inspect_recording(path).measures
    return ag.audio.AcousticFilters().failures(measures) if measures else {}


def refused(path: Path) -> str:
    try:
        ag.read_predictions(path, ag.load_benchmark("demo"))
    except ag.Agl1kError as error:
        return str(error)
    return ""


print(round(mean_km([{"key": "demo_13", "latitude": 48.86, "longitude": 2.35}], ag.PAPER), 1))
'''
WRONG_CALL = 'import agl1k_core as ag\n\nag.evaluate("demo", ag.PAPER)\n'


@pytest.mark.slow
def test_a_client_of_the_public_api_runs_and_is_typed(installed: Installed) -> None:
    folder = installed.folder.parent / "away"
    (folder / "client.py").write_text(CLIENT)
    (folder / "wrong.py").write_text(WRONG_CALL)

    def checked(name: str) -> subprocess.CompletedProcess[str]:
        python = installed.folder / "bin" / "python"
        options = ["--strict", "--config-file=", f"--python-executable={python}"]
        clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "MYPYPATH")}
        command = [sys.executable, "-m", "mypy", *options, name]
        return subprocess.run(
            command, cwd=folder, env=clean, capture_output=True, text=True, check=False
        )

    done = installed.run("python", "client.py")
    assert done.stdout.strip() == "0.4", done.stderr
    assert "Success" in checked("client.py").stdout, checked("client.py").stdout
    wrong = checked("wrong.py")
    assert wrong.returncode == 1
    assert 'incompatible type "str"; expected "Benchmark"' in wrong.stdout
