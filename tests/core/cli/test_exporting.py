"""agl1k export-dataset on the command line, and its way to the Hub and back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import read_demo
from agl1k_core.cli.main import app
from tests.support import raw_recordings as raw
from tests.support.fake_hub import READ, WRITE, FakeHub
from tests.support.processes import run_python


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export-dataset", *map(str, arguments)])


def pushed(
    hub: FakeHub, folder: Path, *arguments: object, token: str = WRITE
) -> subprocess.CompletedProcess[str]:
    environment = {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "AGL1K_HUB_TOKEN": token,
        "AGL1K_DATA": str(folder / "data"),
    }
    command = ("-m", "agl1k_core", "export-dataset", *map(str, arguments))
    return run_python(*command, env=environment)


def test_clips_that_are_left_out_or_silent_are_named(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    raw.write_sound(tmp_path / "in" / "a.wav", 1, speech=True)
    rows = [{"key": "a", "latitude": 1, "longitude": 2, "file": "a.wav", "licence": "CC BY 4.0"},
            {"key": "b\n", "latitude": 1, "longitude": 3, "file": "b.wav", "licence": ""},
            {"key": "c", "latitude": 1, "longitude": 4, "file": "c.wav",
             "licence": "CC BY-ND 4.0"}]  # fmt: skip
    raw.write_table(tmp_path / "in", [dict(row) for row in rows])
    result = run(tmp_path / "in", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "c: left out. Its licence, CC BY-ND 4.0, forbids derivatives." in result.stderr
    assert "b: without sound. It has no recording." in result.stderr
    assert "2 clips in" in result.stdout


def test_a_sealed_copy_says_what_the_server_needs(tmp_path: Path) -> None:
    result = run("demo", "-o", tmp_path / "out", "--without-truth", "--format", "folder")
    assert result.exit_code == 0, result.output
    assert '"sealed": true in benchmark.json' in result.stdout
    assert str(read_demo().audio_dir) in result.stdout


def test_a_wrong_push_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    for options, message in [
        (("--push", "noslash"), "not the name of a dataset"),
        (("--push", "ada/x", "--format", "folder"), "A benchmark folder is no dataset"),
    ]:
        result = run("demo", "-o", tmp_path / "out", *options)
        assert (result.exit_code, message in result.stderr) == (1, True)
    assert not (tmp_path / "out").exists()


SAME = """
import sys
from agl1k_core.benchmarks import find_recording, load_benchmark
demo, made = map(load_benchmark, ("demo", sys.argv[1]))
assert made.clips == demo.clips
assert made.content_hash == demo.content_hash
assert made.slug == demo.slug
assert all(find_recording(made, clip, made.audio_dir) for clip in made.clips)
"""


def test_a_dataset_goes_to_the_hub_and_comes_back(hub: FakeHub, tmp_path: Path) -> None:
    done = pushed(hub, tmp_path, "demo", "-o", tmp_path / "out", "--push", "tester/demo")
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"Pushed to {hub.endpoint}/datasets/tester/demo" in done.stdout
    files = hub.repo("tester/demo").head.files
    assert {"README.md", "map.svg", "benchmark.json", "tags.json"} < {*files}
    assert "data/test-00000-of-00001.parquet" in files
    assert b"hub:tester/demo" in files["README.md"].data
    environment = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf2"),
                   "HF_HUB_DISABLE_XET": "1", "AGL1K_DATA": str(tmp_path / "data")}  # fmt: skip
    back = run_python("-c", SAME, "hub:tester/demo", env=environment)
    assert back.returncode == 0, back.stderr[-3000:]


def test_another_push_removes_what_is_no_longer_there(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.create("tester/demo")
    repo.put("data/test-00001-of-00002.parquet", b"an earlier push")
    repo.put("eval.yaml", b"not ours")
    done = pushed(hub, tmp_path, "demo", "-o", tmp_path / "out", "--push", "tester/demo")
    assert done.returncode == 0, done.stderr[-3000:]
    files = hub.repo("tester/demo").head.files
    assert "eval.yaml" in files
    assert [name for name in files if name.startswith("data/")] == [
        "data/test-00000-of-00001.parquet"
    ]


def test_places_in_the_history_keep_a_sealed_copy_away(hub: FakeHub, tmp_path: Path) -> None:
    sealed = ("demo", "--without-truth", "--push", "tester/demo", "-o")
    done = pushed(hub, tmp_path, *sealed, tmp_path / "first")
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(hub.repo("tester/demo").head.files["benchmark.json"].data)
    assert told["sealed"] is True
    again = pushed(hub, tmp_path, *sealed, tmp_path / "second")
    assert again.returncode == 0, again.stderr[-3000:]
    hub.create("tester/open").put("data/train.parquet", b"with places")
    n_commits = len(hub.repo("tester/open").commits)
    done = pushed(hub, tmp_path, *sealed[:3], "tester/open", "-o", tmp_path / "third")
    assert done.returncode == 1
    assert "may hold the places" in done.stderr
    assert len(hub.repo("tester/open").commits) == n_commits


def test_a_refused_token_is_said_and_not_shown(hub: FakeHub, tmp_path: Path) -> None:
    for number, token in enumerate((READ, "hf_wrong")):
        out = tmp_path / f"out{number}"
        done = pushed(hub, tmp_path, "demo", "-o", out, "--push", "tester/demo", token=token)
        assert done.returncode == 1
        assert "AGL1K_HUB_TOKEN" in done.stderr
        assert str(out) in done.stderr
        assert "Traceback" not in done.stderr
        assert token not in done.stdout + done.stderr
