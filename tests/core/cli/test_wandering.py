"""wander: every fault on stderr, statistics, scores and boards on stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from agl1k_core import wander
from agl1k_core.cli.main import app
from tests.support.fake_endpoint import FakeEndpoint, fake_endpoint
from tests.support.graphs import crossing, street, write
from tests.support.processes import ROOT
from tests.support.waiting import PATIENCE_S, eventually


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
    assert "2 graphs can be used, 1 cannot. Errors: 1, warnings: 1." in result.stdout
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


# --- run, propose, spread, trend

CHAT = """
import json

def chat(messages):
    assert any(part["type"] == "image" for part in messages[-1]["content"])
    text = messages[-1]["content"][-1]["text"]
    guess = {"latitude": 0.0009, "longitude": 0.0, "uncertain": "all"}
    action = "guess" if "2 steps are left" in text else "rotate"
    return json.dumps({**guess, "action": {"name": action, "degrees": 30}})
"""


@pytest.fixture
def walkable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three graphs with panoramas, and a model that turns twice before it guesses."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "walker_chat.py").write_text(CHAT)
    (tmp_path / "panoramas").mkdir()
    for number in range(3):
        prefix = f"g{number}n"
        write(tmp_path / "graphs", street(lat=0, lon=number, prefix=prefix), f"g{number}.json")
        for node in range(21):
            Image.new("RGB", (64, 32), (node, 0, 0)).save(
                tmp_path / f"panoramas/{prefix}{node}.png"
            )
    return tmp_path


def test_run_then_score(walkable: Path) -> None:
    arguments = ("graphs", "-p", "panoramas", "--python", "walker_chat:chat")
    result = run("run", *arguments, "-o", "acting")
    assert result.exit_code == 0, result.stderr
    assert "3 of 3 graphs answered" in result.stdout
    assert run("run", *arguments, "-o", "at-once", "--steps", 1).exit_code == 0
    scored = run("score", "acting", "-g", "graphs", "--against", "at-once")
    assert "acting: 3 graphs, 3 answered" in scored.stdout
    assert "Actions: rotate 6, move 0, back 0, guess 3, lost 0" in scored.stdout
    assert "acting less at-once" in scored.stdout
    told = json.loads(run("score", "acting", "-g", "graphs", "--json").stdout)
    assert told["actions"]["rotate"] == 6
    assert len(told["after"]) == 3
    assert told["metrics"]["street_recall"] == pytest.approx(1 / 3)
    resumed = run("run", *arguments, "-o", "acting", "--steps", 3)
    assert resumed.exit_code == 1
    assert "steps of a walk was 4, now it is 3" in resumed.stderr


def test_run_refuses_missing_panoramas_unless_they_are_skipped(walkable: Path) -> None:
    (walkable / "panoramas" / "g1n5.png").unlink()
    arguments = ("graphs", "-p", "panoramas", "--python", "walker_chat:chat", "-o", "run")
    refused = run("run", *arguments)
    assert refused.exit_code == 1
    assert "g1: 1 of the nodes have no panorama, such as g1n5" in refused.stderr
    assert not (walkable / "run").exists()
    assert "3 of 3 graphs answered" in run("run", *arguments, "--skip-broken").stdout
    told = run("validate", "graphs", "-p", "panoramas")
    assert "g1.json: warning: node g1n5: It has no panorama" in told.stderr
    # the centre's cannot be done without
    (walkable / "panoramas" / "g2n10.png").unlink()
    skipped = run("run", *arguments[:-1], "other", "--skip-broken")
    assert "g2: 1 of the nodes have no panorama, such as g2n10" in skipped.stderr
    assert "2 of 2 graphs answered" in skipped.stdout


def test_ways_to_nodes_without_a_panorama_are_closed(walkable: Path) -> None:
    graph = wander.read_graphs([walkable / "graphs"])[0]
    assert [move.target_id for move in wander.Environment(graph).state.moves] == ["g0n9", "g0n11"]
    closed = graph.closed_to({"g0n9"})
    assert [move.target_id for move in wander.Environment(closed).state.moves] == ["g0n11"]
    assert closed.nodes == graph.nodes


PROPOSE = """
def ask(audio, prompt):
    return '{"places": [{"latitude": 1, "longitude": 2}, {"latitude": 91, "longitude": 0}]}'
"""


def test_propose_shows_what_cannot_be_used_and_the_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "proposer_ask.py").write_text(PROPOSE)
    result = run("propose", "--python", "proposer_ask:ask", "-o", "places", "--places", 2, "--json")
    assert result.exit_code == 0, result.stderr
    assert "Africa, hard: place 2 has no coordinates" in result.stderr
    told = json.loads(result.stdout)
    assert (told["n"], told["occupancy"], told["nearest_km"]) == (18, 1 / 1536, 0)
    table = run("spread", "places/places.csv", "--rows", 1, "--columns", 2)
    assert "occupancy                          0.5000" in table.stdout


def test_trend_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    lines = ["hard,60", "hard,64", "medium,70", "medium,74", "Easy,82", "80,84"]
    path.write_text("\n".join(["level,score", *lines]))
    told = json.loads(run("trend", path, "--json").stdout)
    assert (told["df"], told["spearman"]) == ([2, 3], 1)
    assert told["slope"] == pytest.approx(0.35)
    assert "F(2, 3)" in run("trend", path).stdout


@pytest.mark.parametrize(
    ("command", "text", "told"),
    [
        ("spread", "lat,lon\n1,2", "there is no column 'latitude'"),
        ("spread", "latitude,longitude\n95,2", "is not a number from -90 to 90"),
        ("spread", "latitude,longitude\n5,", "not both given"),
        ("spread", "latitude,longitude\n", "no rows"),
        ("trend", "level,score\nhardest,2", "is not a number"),
        ("trend", "level,score\nhard,2", "at least three levels"),
    ],
)
def test_tables_that_cannot_be_measured(tmp_path: Path, command: str, text: str, told: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    result = run(command, path)
    assert result.exit_code == 1
    assert told in result.stderr


@pytest.mark.server
@pytest.mark.slow
def test_a_killed_run_resumes_without_asking_twice(walkable: Path) -> None:
    said = json.dumps({"latitude": 1, "longitude": 2, "action": {"name": "rotate", "degrees": 45}})
    with fake_endpoint(
        answer=lambda sound, prompt: "ready" if "word ready" in prompt else said,
        delay_s=lambda number: 0.05,
    ) as fake:
        command = [
            sys.executable, "-m", "agl1k_core", "wander", "run", str(walkable / "graphs"),
            "-p", str(walkable / "panoramas"), "-o", str(walkable / "run"),
            "--model", fake.model, "--base-url", fake.url, "--concurrency", "1",
        ]  # fmt: skip
        for _ in range(3):
            kill_after_two_more(fake, start(command))
        _, errors = start(command).communicate(timeout=PATIENCE_S)
    events = [
        json.loads(line) for line in (walkable / "run/journal.jsonl").read_text().splitlines()
    ]
    answered = Counter((e["clip"], e["step"]) for e in events if e["line"] == "reply")
    assert answered == Counter({(f"g{g}", s): 1 for g in range(3) for s in range(4)}), errors
    lines = (walkable / "run/walks.jsonl").read_text().splitlines()
    actions = [[step["action"]["name"] for step in json.loads(line)["steps"]] for line in lines]
    assert actions == [["rotate", "rotate", "rotate", "guess"]] * 3


def kill_after_two_more(fake: FakeEndpoint, process: subprocess.Popen[bytes]) -> None:
    """Kill a run once it has asked two more questions."""
    goal = len(fake.about_clips) + 2
    eventually(lambda: len(fake.about_clips) >= goal or process.poll() is not None)
    process.kill()
    process.communicate()
    eventually(lambda: fake.under_way == 0)


def start(command: list[str]) -> subprocess.Popen[bytes]:
    env = {**os.environ, "NO_PROXY": "127.0.0.1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
