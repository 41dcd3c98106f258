"""Walking models: good, bad and confused ones, errors, and runs that are stopped and resumed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agl1k_core import wander
from agl1k_core.errors import Agl1kError
from agl1k_core.models import Endpoint, LocalModel, Message, Picture, RawReply, Reply, RunLimits
from agl1k_core.predictions import read_predictions
from agl1k_core.wander import Action, Graph, State, WalkRules, WalkSettings, read_step_answer
from tests.support.fake_endpoint import Fault, fake_endpoint
from tests.support.graphs import crossing, graph_of, street
from tests.support.model_runs import QUICK

#: What a scripted model says, from what it sees: the state as told by ``Seen``.
Script = Callable[[dict[str, Any]], str | Fault]


class Seen:
    """Panoramas whose pictures are the states themselves, so that a script knows where it is."""

    def draw(self, state: State) -> Picture:
        told = {
            "node": state.node.pano_id,
            "shown": round(state.shown_deg),
            "left": state.steps_left,
            "lat": state.node.lat,
            "lon": state.node.lon,
            "ways": {move.way: round(move.relative_deg) for move in state.moves},
        }
        return Picture(json.dumps(told).encode(), "image/png")


@dataclass
class Scripted:
    """A model in this process that follows a script, and remembers what it was asked."""

    script: Script
    asked: list[Sequence[Message]] = field(default_factory=list)
    stop_after: int | None = None

    def send(self, messages: Sequence[Message], *, max_tokens: int | None = None) -> RawReply:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise Agl1kError("The power failed.")
        self.asked.append(list(messages))
        said = self.script(seen_in(messages))
        if isinstance(said, Fault):
            return RawReply(said.status, json.dumps(said.body), None, 0.0)
        choice = {"message": {"content": said}, "finish_reason": "stop"}
        return RawReply(200, json.dumps({"choices": [choice]}), None, 0.0)

    def sentence(self, failure: object) -> str:
        return f"It failed: {failure}"


def seen_in(messages: Sequence[Message]) -> dict[str, Any]:
    pictures = [part for part in messages[-1].parts if isinstance(part, Picture)]
    found: dict[str, Any] = json.loads(pictures[-1].data)
    return found


def says(action: object, lat: float = 10.0, lon: float = 20.0, **more: object) -> str:
    told = {"reason": "r", "latitude": lat, "longitude": lon, "uncertain": "the signs", **more}
    return json.dumps({**told, "action": action})


def run(
    folder: Path,
    graphs: Sequence[Graph],
    script: Script,
    *,
    rules: WalkRules | None = None,
    model: Scripted | None = None,
    **limits: Any,
) -> tuple[Scripted, list[dict[str, Any]], str]:
    """A run's model, its walks, and why it stopped."""
    asked = model or Scripted(script)
    settings = WalkSettings("scripted", "here:ask", rules=rules or WalkRules())
    limited = RunLimits(patience=QUICK, concurrency=1, **limits)
    _, stopped = wander.run_walks(graphs, Seen(), asked, settings, folder, limited)
    lines = (folder / wander.WALKS).read_text("utf-8").splitlines()
    return asked, [json.loads(line) for line in lines], stopped


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return graph_of(tmp_path, crossing(), "cape")


def actions(walk: dict[str, Any]) -> list[object]:
    return [step["action"] for step in walk["steps"]]


def test_a_model_that_acts_well(tmp_path: Path, graph: Graph) -> None:
    def script(seen: dict[str, Any]) -> str:
        if seen["left"] == 4:
            return says({"name": "rotate", "degrees": 60}, lat=1)
        if seen["left"] == 3:
            assert seen["shown"] == 90
            ahead = min(seen["ways"], key=lambda way: abs(seen["ways"][way]))
            return says({"name": "move", "way": ahead}, lat=2)
        assert seen["node"] == "east"
        return says({"name": "guess"}, seen["lat"], seen["lon"])

    model, (walk,), stopped = run(tmp_path / "run", [graph], script)
    assert stopped == ""
    assert actions(walk) == [
        {"name": "rotate", "degrees": 60.0}, {"name": "move", "way": "blue"}, {"name": "guess"}
    ]  # fmt: skip
    assert [step["node"] for step in walk["steps"]] == ["centre", "centre", "east"]
    assert [step["latitude"] for step in walk["steps"]][:2] == [1, 2]
    assert walk["steps"][0]["uncertain"] == "the signs"
    assert len(model.asked) == 3
    # the conversation goes on: prompt and picture, answer, picture, …
    roles = [message.role for message in model.asked[-1]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    benchmark = wander.benchmark_of([graph])
    found = read_predictions(tmp_path / "run" / "predictions.jsonl", benchmark)
    scored = wander.score_guesses(benchmark, found)
    assert scored.metrics["street_recall"] == 1


def test_an_answer_may_contain_other_separators_of_lines(tmp_path: Path, graph: Graph) -> None:
    said = says({"name": "guess"}) + "\u2028\x85\u2029"
    _, (walk,), stopped = run(tmp_path / "run", [graph], lambda seen: said)
    assert (stopped, actions(walk)) == ("", [{"name": "guess"}])


def test_answering_at_once_is_the_control(tmp_path: Path, graph: Graph) -> None:
    model, (walk,), _ = run(
        tmp_path / "run", [graph], lambda seen: says({"name": "rotate", "degrees": 9}),
        rules=WalkRules(max_steps=1),
    )  # fmt: skip
    assert actions(walk) == [{"name": "guess"}]
    assert "This is your last step" in str(model.asked[0][-1].parts)
    assert len(model.asked) == 1


def test_a_model_that_never_guesses_must_at_the_end(tmp_path: Path, graph: Graph) -> None:
    model, (walk,), _ = run(
        tmp_path / "run", [graph], lambda seen: says({"name": "rotate", "degrees": 90}, lat=7)
    )
    rotation = {"name": "rotate", "degrees": 90.0}
    assert actions(walk) == [rotation, rotation, rotation, {"name": "guess"}]
    assert walk["steps"][-1]["latitude"] == 7
    assert len(model.asked) == 4


BAD = [
    (says({"name": "move", "way": "purple"}), "There is no way 'purple' here"),
    (says({"name": "move"}), "The action move needs the name of a way."),
    (says({"name": "rotate", "degrees": "far"}), "The action rotate needs a number"),
    (says({"name": "rotate", "degrees": True}), "The action rotate needs a number"),
    (says({"name": "fly"}), "There is no action 'fly'"),
    (says(None), "It has no action"),
    (says({"name": "guess"}, lat=95), "A guess needs a latitude and a longitude"),
    ('{"action": {"name": "guess"}, "country": "Kenya"}', "A guess needs a latitude"),
    ("I go left, along the red arrow.", "It is not a JSON object."),
    ("Error 422: the field 'model' is required", "It is not a JSON object."),
    ("AI Error: {'error': {'message': 'image is required'}}", "It has no action"),
    ("I'm sorry, but I can't help with identifying locations.", "It is not a JSON object."),
    ("[]", "It is not a JSON object."),
    ('{"action": ["move", "red"]}', "It has no action"),
]


@pytest.mark.parametrize(("said", "told"), BAD, ids=[told for _, told in BAD])
def test_an_answer_that_cannot_be_done_loses_its_step(
    tmp_path: Path, graph: Graph, said: str, told: str
) -> None:
    def script(seen: dict[str, Any]) -> str:
        return said if seen["left"] == 4 else says({"name": "guess"}, 3, 4)

    model, (walk,), stopped = run(tmp_path / "run", [graph], script)
    assert stopped == ""
    assert actions(walk) == [None, {"name": "guess"}]
    assert told in walk["steps"][0]["note"]
    # the model is told, and sees the same place again
    again = model.asked[1][-1]
    assert told in str(again.parts)
    assert seen_in(model.asked[1])["node"] == "centre"
    assert walk["steps"][1]["latitude"] == 3


def test_refusals_and_nonsense_at_the_end_are_statuses(tmp_path: Path) -> None:
    said = {
        "a": "I'm sorry, I cannot determine the location.",
        "b": "Hm.",
        "c": says({"name": "guess"}),
    }
    graphs = [graph_of(tmp_path, street(1, prefix=key), key) for key in said]
    _, walks, _ = run(
        tmp_path / "run", graphs, lambda seen: said[seen["node"][0]], rules=WalkRules(max_steps=1)
    )
    assert [walk["steps"][-1]["status"] for walk in walks] == ["refused", "unparseable", "answered"]
    benchmark = wander.benchmark_of(graphs)
    read = read_predictions(tmp_path / "run" / "predictions.jsonl", benchmark)
    statuses = wander.score_guesses(benchmark, read).statuses
    assert {name: n for name, n in statuses.items() if n} == {
        "answered": 1, "refused": 1, "unparseable": 1
    }  # fmt: skip


def test_an_error_of_the_endpoint_is_a_status_and_no_action(tmp_path: Path) -> None:
    graphs = [graph_of(tmp_path, street(1, prefix=key), key) for key in "abc"]

    def script(seen: dict[str, Any]) -> str | Fault:
        if seen["node"] == "b0" and seen["left"] == 3:
            return Fault(400, {"error": {"message": "messages[2].image is required: move red"}})
        if seen["left"] == 4:
            return says({"name": "rotate", "degrees": 10})
        return says({"name": "guess"})

    _, walks, _ = run(tmp_path / "run", graphs, script)
    by_key = {walk["key"]: walk for walk in walks}
    assert actions(by_key["b"]) == [{"name": "rotate", "degrees": 10.0}]
    assert "is required" in by_key["b"]["error"]
    assert actions(by_key["c"])[-1] == {"name": "guess"}
    benchmark = wander.benchmark_of(graphs)
    read = read_predictions(tmp_path / "run" / "predictions.jsonl", benchmark)
    scored = wander.score_guesses(benchmark, read)
    assert (scored.statuses["answered"], scored.statuses["error"]) == (2, 1)


def test_a_broken_panorama_fails_its_graph_alone_and_is_tried_again(tmp_path: Path) -> None:
    graphs = [graph_of(tmp_path, street(1, prefix=key), key) for key in "abc"]
    seen, broken = Seen(), {"b0"}

    class Broken:
        def draw(self, state: State) -> Picture:
            if state.node.pano_id in broken:
                raise Agl1kError("b0.png cannot be read as a picture.")
            return seen.draw(state)

    settings, limits = WalkSettings("scripted", "here:ask"), RunLimits(patience=QUICK)
    model = Scripted(lambda seen: says({"name": "guess"}))
    for n_answered in (2, 3):
        result, stopped = wander.run_walks(
            graphs, Broken(), model, settings, tmp_path / "run", limits
        )
        assert (stopped, result.provenance["clips"]["answered"]) == ("", n_answered)
        walks = wander.read_walks(tmp_path / "run" / wander.WALKS)
        told = "b0.png cannot be read as a picture." if broken else ""
        assert [one.error for one in walks] == ["", told, ""]
        broken.clear()
    assert len(model.asked) == 3


def test_a_run_that_is_stopped_resumes_and_asks_nothing_twice(tmp_path: Path) -> None:
    graphs = [graph_of(tmp_path, street(3, prefix=key), key) for key in "abcd"]

    def script(seen: dict[str, Any]) -> str:
        if seen["left"] == 4:
            return says({"name": "move", "way": "red"})
        if seen["left"] == 3:
            return says({"name": "back"})
        return says({"name": "guess"}, seen["lat"], seen["lon"])

    asked: list[Sequence[Message]] = []
    for n_more in (2, 1, 5, None):
        model = Scripted(script, stop_after=n_more)
        _, walks, stopped = run(tmp_path / "run", graphs, script, model=model)
        asked += model.asked
        assert (stopped == "") == (n_more is None)
    assert len(asked) == 4 * 3
    questions = Counter((seen_in(m)["node"][0], seen_in(m)["left"]) for m in asked)
    assert set(questions.values()) == {1}
    assert all(len(walk["steps"]) == 3 for walk in walks)
    again = Scripted(script)
    run(tmp_path / "run", graphs, script, model=again)
    assert again.asked == []


def test_other_settings_or_graphs_do_not_resume(tmp_path: Path, graph: Graph) -> None:
    def script(seen: dict[str, Any]) -> str:
        return says({"name": "guess"})

    run(tmp_path / "run", [graph], script)
    for rules, told in (
        (WalkRules(max_steps=2), "steps of a walk was 4, now it is 2"),
        (WalkRules(as_published=True), "as published was"),
    ):
        with pytest.raises(Agl1kError, match=told):
            run(tmp_path / "run", [graph], script, rules=rules)
    moved = crossing()
    moved["adjacency_matrix"][0][1] = 0.1
    with pytest.raises(Agl1kError, match="graphs was"):
        run(tmp_path / "run", [graph_of(tmp_path / "moved", moved, "cape")], script)


def test_as_published_shows_the_other_side_after_a_turn(tmp_path: Path, graph: Graph) -> None:
    shown: list[int] = []

    def script(seen: dict[str, Any]) -> str:
        shown.append(seen["shown"])
        return says({"name": "rotate", "degrees": 90} if seen["left"] == 4 else {"name": "guess"})

    run(tmp_path / "ours", [graph], script)
    run(tmp_path / "theirs", [graph], script, rules=WalkRules(as_published=True))
    assert shown == [30, 120, 30, 300]


def test_the_model_is_not_told_where_it_is(tmp_path: Path, graph: Graph) -> None:
    model, _, _ = run(tmp_path / "run", [graph], lambda seen: says({"name": "back"}))
    words = " ".join(
        part for asked in model.asked for m in asked if m.role == "user"
        for part in m.parts if isinstance(part, str)
    )  # fmt: skip
    for secret in ("centre", 'north"', "-33.9", "18.4", "cape"):
        assert secret not in words


@pytest.mark.server
def test_an_endpoint_gets_pictures_as_data_urls(tmp_path: Path, graph: Graph) -> None:
    bodies: list[dict[str, Any]] = []

    def keep(body: dict[str, Any]) -> Fault | None:
        content = body["messages"][-1]["content"]
        if isinstance(content, list):
            bodies.append(body)
            choice = {"message": {"content": says({"name": "guess"})}, "finish_reason": "stop"}
            return Fault(200, {"choices": [choice], "usage": {"prompt_tokens": 5}})
        return None

    with fake_endpoint(answer=lambda sound, prompt: "ready") as fake:
        fake.reject = keep
        settings = WalkSettings("fake-model", fake.url)
        endpoint = Endpoint("fake-model", fake.url, patience=QUICK)
        result, stopped = wander.run_walks(
            [graph], Seen(), endpoint, settings, tmp_path / "run", RunLimits(patience=QUICK)
        )
        endpoint.close()
    assert stopped == ""
    (body,) = bodies
    url = body["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,")
    assert result.provenance["control"] == "views"
    assert result.provenance["clips"]["answered"] == 1


def test_a_function_that_takes_one_prompt_cannot_walk(tmp_path: Path, graph: Graph) -> None:
    def ask(audio: object, prompt: str) -> str:
        return ""

    settings = WalkSettings("x", "x:ask")
    with pytest.raises(Agl1kError, match="one argument"):
        wander.run_walks(
            [graph], Seen(), LocalModel(ask, "x:ask"), settings, tmp_path / "run", RunLimits()
        )


# --- reading answers


def replies() -> Iterator[tuple[str, Action | None]]:
    yield says({"name": "rotate", "degrees": -45}), Action("rotate", degrees=-45)
    yield says({"name": "Turn", "degrees": "+30°"}), Action("rotate", degrees=30)
    yield says("move", way="BLUE"), Action("move", way="blue")
    yield says({"name": "move_to_color", "way": " red "}), Action("move", way="red")
    yield says({"name": "move", "way": 9}), Action("move", way="9")
    yield says({"name": "back_to_original"}), Action("back")
    yield says({"name": "guess"}, 1, 190), None
    yield (
        f"<think>{says({'name': 'back'})}</think>{says({'name': 'guess'}, 1, 2)}",
        Action("guess", lat=1, lon=2),
    )
    yield f"```json\n{says({'name': 'back'})}\n```", Action("back")
    yield says({"name": "rotate", "degrees": 1e400}), None


@pytest.mark.parametrize(("said", "action"), list(replies()))
def test_answers_are_read(said: str, action: Action | None) -> None:
    assert read_step_answer(Reply(said)).action == action


def test_an_answer_that_was_cut_off_is_no_action() -> None:
    found = read_step_answer(Reply(says({"name": "back"}), finish="length"))
    assert found.action is None
    assert "cut off" in found.problem
