"""wander validate: every fault on stderr, statistics on stdout."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner, Result

from agl1k_core.cli.main import app
from tests.support.graphs import crossing, street, write


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["wander", *map(str, arguments)])


def test_validate_lists_faults_and_tells_statistics(tmp_path: Path) -> None:
    write(tmp_path, street(), "good.json")
    write(tmp_path, crossing(), "doubtful.json")
    bad = street()
    bad["nodes"][3]["coordinate"]["lat"] = 95
    write(tmp_path, bad, "bad.json")
    result = run("validate", tmp_path)
    assert result.exit_code == 1
    assert "bad.json: error: node p3: lat is 95. Give degrees from -90 to 90" in result.stderr
    assert "doubtful.json: warning: node centre: The centre is 1 step from" in result.stderr
    assert "2 graphs can be used, 1 cannot: 1 errors, 1 warnings." in result.stdout
    lines = dict(line.split("  ", 1) for line in result.stdout.splitlines() if "  " in line)
    assert lines["nodes"].strip() == "26"
    assert lines["mean degree"].strip() == "1.85"
    assert "1 of 2" in lines["centres at least 10 steps from the boundary"]
    assert "South Africa 1, France 1" in lines["countries"]


def test_validate_of_good_graphs_succeeds(tmp_path: Path) -> None:
    result = run("validate", write(tmp_path, street()))
    assert (result.exit_code, result.stderr) == (0, "")


def test_validate_as_json(tmp_path: Path) -> None:
    path = write(tmp_path, crossing())
    result = run("validate", path, "--json")
    told = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(f["file"], f["node"], f["severity"]) for f in told["faults"]] == [
        (str(path), "centre", "warning")
    ]
    assert told["statistics"]["graphs"][0]["coverage"]["centre"] == 1


def test_validate_without_any_graph_fails(tmp_path: Path) -> None:
    assert run("validate", tmp_path).exit_code == 1
    result = run("validate", tmp_path / "none.json")
    assert result.exit_code == 1
    assert "none.json: error: The file cannot be opened" in result.stderr
