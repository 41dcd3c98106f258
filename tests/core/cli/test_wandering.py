"""wander: every fault on stderr, statistics, scores and boards on stdout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
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


# --- score and board


@pytest.fixture
def twelve(tmp_path: Path) -> Path:
    """Twelve graphs, guesses near their centres, and guesses 600 km away."""
    for number in range(12):
        write(tmp_path / "graphs", street(lat=number * 3, lon=number * 7), f"g{number}.json")
    for name, off in (("near", 0.01), ("far", 5.0)):
        records = [
            {"key": f"g{n}", "latitude": n * 3 + off + 9e-4 + n % 3 / 500, "longitude": n * 7}
            for n in range(12)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(records))
    return tmp_path


def test_score_shows_metrics_and_gains(twelve: Path) -> None:
    result = run(
        "score", twelve / "near.json", "-g", twelve / "graphs", "--against", twelve / "far.json"
    )
    assert result.exit_code == 0, result.stderr
    assert "near: 12 graphs, 12 answered" in result.stdout
    assert "near less far, graph by graph:" in result.stdout
    gain = next(line for line in result.stdout.splitlines()[15:] if line.startswith("distance_km"))
    assert gain.endswith("clear")
    assert "not clear" not in gain
    told = json.loads(run(
        "score", twelve / "near.json", "-g", twelve / "graphs", "--against", twelve / "far.json",
        "--scale-km", 1000, "--json",
    ).stdout)  # fmt: skip
    assert told["scale_km"] == 1000
    assert told["metrics"]["city_accuracy"] == 1
    assert told["gains"]["distance_km"]["difference"] == pytest.approx(-552, abs=2)


def test_score_of_guesses_of_other_graphs_names_them(twelve: Path) -> None:
    (twelve / "odd.json").write_text('[{"key": "nowhere", "latitude": 1, "longitude": 1}]')
    result = run("score", twelve / "odd.json", "-g", twelve / "graphs")
    assert result.exit_code == 1
    assert "nowhere" in result.stderr


def test_broken_graphs_are_refused_unless_they_are_skipped(twelve: Path) -> None:
    bad = street()
    bad["nodes"][3]["coordinate"]["lat"] = 95
    write(twelve / "graphs", bad, "bad.json")
    arguments = ("score", twelve / "near.json", "-g", twelve / "graphs")
    refused = run(*arguments)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "bad.json: error: node p3: lat is 95" in refused.stderr
    assert "12 graphs" in run(*arguments, "--skip-broken").stdout


def test_board_ranks_and_keeps_reported_rows_apart(twelve: Path) -> None:
    files = (twelve / "far.json", twelve / "near.json")
    result = run("board", *files, "-g", twelve / "graphs")
    own, reported = result.stdout.split("As reported in Learning to Wander")
    rows = [line.split()[:3] for line in own.splitlines()[2:4]]
    assert rows == [["1", "(1–1)", "near"], ["2", "(2–2)", "far"]]
    assert "o3 (acts)" in reported
    assert "near" not in reported
    told = json.loads(run("board", *files, "-g", twelve / "graphs", "--json").stdout)
    assert [row["rank"]["place"] for row in told["scored"]] == [1, 2]
    assert len(told["reported"]) == 35


def test_board_as_a_page_escapes_names(twelve: Path) -> None:
    odd = twelve / "<b>odd.json"
    odd.write_text((twelve / "near.json").read_text())
    page = twelve / "board.html"
    assert run("board", odd, "-g", twelve / "graphs", "-o", page).exit_code == 0
    text = page.read_text("utf-8")
    assert "&lt;b&gt;odd" in text
    assert "<b>odd" not in text
