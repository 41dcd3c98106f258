"""``agl1k publish-hub``: its files against the Hub's formats and the Hub's own reader."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml  # type: ignore[import-untyped]
from huggingface_hub import parse_eval_result_entries
from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import read_demo
from agl1k_core.cli.main import app
from agl1k_core.predictions import read_predictions
from agl1k_core.scoring import evaluate
from tests.support.fake_endpoint import fake_endpoint

SCHEMAS = json.loads((Path(__file__).parents[2] / "cases" / "hub_eval_schemas.json").read_text())
TARGET = ["--dataset", "someone/agl1k", "--model-repo", "maker/some-model", "--dry-run"]
#: A name that YAML needs to have escaped.
NAME = 'Answers: "mine" 🎧\x85'


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    path = tmp_path / "mine.json"
    records = [{"key": "demo_01", "latitude": -13, "longitude": -38, "country": "Brazil"}]
    path.write_text(json.dumps(records))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["publish-hub", *map(str, arguments)])


def written(folder: Path) -> tuple[Any, Any]:
    """eval.yaml and the results, once both are as the Hub wants them."""
    benchmark = yaml.safe_load((folder / "dataset" / "eval.yaml").read_text())
    results = yaml.safe_load((folder / "model" / ".eval_results" / "agl1k.yaml").read_text())
    jsonschema.validate(benchmark, SCHEMAS["eval.yaml"])
    jsonschema.validate(results, SCHEMAS["eval_results"])
    return benchmark, results


def test_the_files_are_as_the_hub_wants_them(predicted: Path, tmp_path: Path) -> None:
    source = ["--source-url", "https://example.org/a?b=1", "--source-name", NAME]
    done = run(predicted, "-b", "demo", *TARGET, "--revision", "0" * 40, *source)
    assert done.exit_code == 0, done.output
    benchmark, results = written(tmp_path / "mine.json.hub")
    tasks = [task["id"] for task in benchmark["tasks"]]
    entries = parse_eval_result_entries(results)
    assert [entry.task_id for entry in entries] == tasks
    demo = read_demo()
    metrics = evaluate(demo, read_predictions(predicted, demo), intervals=False).metrics
    assert [entry.value for entry in entries] == [
        pytest.approx(metrics[t], abs=1e-4) for t in tasks
    ]
    assert {(entry.dataset_id, entry.dataset_revision) for entry in entries} == {
        ("someone/agl1k", "0" * 40)
    }
    assert entries[0].source_url == "https://example.org/a?b=1"
    assert entries[0].source_name == NAME
    assert "1 of 24 clips answered" in str(entries[0].notes)


def test_the_commands_that_push_are_printed_and_not_run(predicted: Path, tmp_path: Path) -> None:
    done = run(predicted, "-b", "demo", *TARGET, "-o", tmp_path / "out of here")
    assert "Nothing was pushed." in done.stdout
    commands = [shlex.split(line) for line in done.stdout.splitlines() if line.startswith("hf ")]
    assert [command[2] for command in commands] == ["someone/agl1k", "maker/some-model"]
    assert all(Path(command[3]).is_file() for command in commands)
    assert [command[4] for command in commands] == ["eval.yaml", ".eval_results/agl1k.yaml"]


@pytest.mark.server
def test_a_run_brings_its_benchmark_date_and_control(tmp_path: Path) -> None:
    with fake_endpoint() as fake:
        folder = tmp_path / "run"
        options = ["--model", fake.model, "--base-url", fake.url, "-b", "demo"]
        asked = CliRunner().invoke(
            app, ["run", *options, "-o", str(folder), "--limit", "2", "--without-audio"]
        )
        assert asked.exit_code == 0, asked.output
    unnamed = run(folder, "--dataset", "someone/agl1k", "--dry-run")
    assert f"--model-repo {fake.model!r} is not the name of a repository" in unnamed.stderr
    done = run(folder, *TARGET)
    assert done.exit_code == 0, done.output
    _, results = written(tmp_path / "run.hub")
    ended = json.loads((folder / "provenance.json").read_text())["ended"]
    assert results[0]["date"][:19] == ended[:19]
    assert "control: without-audio" in results[0]["notes"]


def test_everything_that_the_hub_would_refuse_is_told(predicted: Path, tmp_path: Path) -> None:
    refused = run(predicted, "-b", "demo", "--dataset", "agl1k", "--dry-run", "--revision", "main",
                  "--source-name", "x")  # fmt: skip
    assert refused.exit_code == 1
    for part in ("--dataset 'agl1k'", "--model-repo ''", "--revision 'main'", "needs --source-url"):
        assert part in refused.stderr
    assert not (tmp_path / "mine.json.hub").exists()
    assert "agl1k does not push to the Hub" in run(predicted, *TARGET[:4]).stderr
