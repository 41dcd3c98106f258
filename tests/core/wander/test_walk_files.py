"""Files of walks: actions taken, and what each step gained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agl1k_core import wander
from agl1k_core.errors import Agl1kError
from agl1k_core.wander import Walked
from tests.support.graphs import graph_of, street


def step(name: str | None, lat: float | None = 0.0, status: str = "answered") -> dict[str, Any]:
    action = {"name": name} if name else None
    return {"action": action, "status": status, "latitude": lat, "longitude": 7.0}


WALKS = [
    Walked("a", (step("rotate", 10), step("move", 5), step("guess", 0))),
    Walked("b", (step(None, None, "unparseable"), step("guess", 1))),
    Walked("c", (step("guess", 2),)),
    Walked("d", (step("move", 3),), error="timed out"),
    Walked("e", (), error="timed out"),
]


def test_actions_are_counted_and_lost_steps_too() -> None:
    assert wander.actions_taken(WALKS) == {"rotate": 1, "move": 2, "back": 0, "guess": 3, "lost": 1}
    assert wander.still_walking(WALKS) == [4, 2, 1]


def test_scores_after_each_step(tmp_path: Path) -> None:
    graphs = [graph_of(tmp_path, street(1, lat=0, lon=7), key) for key in "abcdef"]
    on = wander.benchmark_of(graphs)
    after = wander.scores_after(WALKS, on)
    latitudes = [
        [10, None, 2, 3, None, None],
        [5, 1, 2, None, None, None],
        [0, 1, 2, None, None, None],
    ]
    degree_km = 110.6
    for one, expected in zip(after, latitudes, strict=True):
        km = [10_000 if lat is None else degree_km * lat for lat in expected]
        assert one.values["distance_km"] == pytest.approx(km, rel=0.01, abs=1e-6)
    gain = wander.gains(after[2], after[0])["distance_km"]
    assert gain.n_common == 6
    assert wander.scores_after([], on) == []


def test_words_may_contain_other_separators_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "walks.jsonl"
    steps = [{**step("guess"), "uncertain": "the signs\u2028the sun"}]
    told = {"key": "a", "error": "", "steps": steps}
    path.write_text(json.dumps(told, ensure_ascii=False) + "\n", "utf-8")
    assert wander.read_walks(path) == [Walked("a", tuple(steps))]


@pytest.mark.parametrize("text", ["{", "[]", '{"key": "a"}', "3"])
def test_other_files_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "walks.jsonl"
    path.write_text(text)
    with pytest.raises(Agl1kError, match="not a file of walks"):
        wander.read_walks(path)
    with pytest.raises(Agl1kError, match="cannot be read"):
        wander.read_walks(tmp_path / "none")
