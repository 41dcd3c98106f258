"""Asking for places: what is asked, what is kept, and what cannot be used."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

from agl1k_core import wander
from agl1k_core.models import Message, RawReply, RunLimits
from agl1k_core.wander import PosingSettings
from tests.support.model_runs import QUICK


class Poser:
    """A model that proposes places, and gets some answers wrong."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def send(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> RawReply:
        self.asked.append(messages[-1].text)
        found = re.search(r"Propose (\d+) places in (.+) that are (\w+)\.", messages[-1].text)
        assert found
        n, continent, level = int(found[1]), found[2], found[3]
        places: list[object] = [
            {
                "name": f"{continent} {i}",
                "latitude": 10 * i,
                "longitude": str(20 * i),
                "reason": level,
            }
            for i in range(n)
        ]
        said = json.dumps({"places": places})
        match continent, level:
            case "Asia", "hard":
                said = "I would rather not."
            case "Asia", "easy":
                places[0] = {"name": "nowhere", "latitude": 95, "longitude": 0}
                places[1] = "Paris"
                said = f"Here they are:\u2028\n```json\n{json.dumps({'places': places})}\n```"
        choice = {"message": {"content": said}, "finish_reason": "stop"}
        return RawReply(200, json.dumps({"choices": [choice]}), None, 0.0)

    def sentence(self, failure: object) -> str:
        return str(failure)


def test_places_are_asked_for_kept_and_resumed(tmp_path: Path) -> None:
    poser, settings = Poser(), PosingSettings("poser", "here:ask")
    limits = RunLimits(patience=QUICK, concurrency=1)
    found = wander.ask_for_places(poser, settings, tmp_path, limits)
    assert len(poser.asked) == len(set(poser.asked)) == 18
    assert len(found.places) == 72 - 4 - 2
    assert found.problems == (
        "Asia, hard: the answer has no list of places",
        "Asia, easy: place 1 has no coordinates that can be used",
        "Asia, easy: place 2 has no coordinates that can be used",
    )
    first = found.places[0]
    assert (first.continent, first.level, first.latitude, first.name) == (
        "Africa",
        "hard",
        0,
        "Africa 0",
    )
    rows = list(csv.DictReader(io.StringIO((tmp_path / wander.PLACES).read_text("utf-8"))))
    assert len(rows) == len(found.places)
    assert rows[-1]["longitude"] == "60.0"
    # the raw answers are kept, and nothing is asked again
    assert (tmp_path / "predictions.jsonl").read_text().count("\n") == 18
    again = Poser()
    assert wander.ask_for_places(again, settings, tmp_path, limits) == found
    assert again.asked == []


def test_six_continents_and_three_levels_of_four_make_72() -> None:
    texts = PosingSettings("m", "w").for_run().texts
    assert len(texts) * wander.PLACES_EACH == 72
    assert texts["north-america-easy"] == "Propose 4 places in North America that are easy."
