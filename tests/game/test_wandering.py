"""Playing through graphs: steps, stale pages, answers that survive, and nothing told too early."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from agl1k_core.errors import Agl1kError
from agl1k_core.predictions import read_predictions
from agl1k_core.wander import benchmark_of, read_graphs, score_guesses
from game.wandering import Scene, Wandering, read_answers
from tests.support.panoramas import write_set


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "set")


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def names(scene: Scene) -> list[str]:
    return [way.name for way in scene.ways]


def test_a_walk_is_played_to_its_end(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers)
    start, message = wandering.scene()
    assert (start.number, start.total, start.steps_left, message) == (1, 2, 4, "")
    assert start.middle_deg == pytest.approx(75)
    assert [(way.name, round(way.direction_deg)) for way in start.ways] == [("red", 20)]
    assert not start.can_return
    there, message = wandering.move(start.moment, "red")
    assert (there.steps_left, message, there.can_return) == (3, "", True)
    assert there.address != start.address
    assert names(there) == ["red", "blue"]
    back, _ = wandering.back(there.moment)
    assert (back.address, back.steps_left) == (start.address, 2)
    last, _ = wandering.move(back.moment, "red")
    assert (last.steps_left, names(last), last.can_return) == (1, [], False)
    refused, message = wandering.move(last.moment, "red")
    assert message == "This is the last step: only a guess is possible."
    assert refused.steps_left == 1
    over, message = wandering.guess(refused.moment, 50.0, 3.0)
    assert message == ""
    assert over.outcome is not None
    assert over.outcome.truth == (48.85, 2.35)
    assert (over.ways, over.n_guesses) == ((), 1)
    assert over.mean_score == over.outcome.score
    (stored,) = read_answers(answers)
    assert [(step["action"], step["pano_id"]) for step in stored["steps"]] == [
        ("move", "g0b"), ("back", "g0a"), ("move", "g0b")
    ]  # fmt: skip


def test_the_scores_are_those_of_agl1k_wander(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers, scale_km=2000)
    guesses = {"graph-0": (48.851, 2.351), "graph-1": (-12.0, 40.0)}
    for place in guesses.values():
        over, _ = wandering.guess(wandering.scene()[0].moment, *place)
        wandering.proceed(over.moment)
    benchmark = benchmark_of(read_graphs([folder]))
    scores = score_guesses(benchmark, read_predictions(answers, benchmark), scale_km=2000)
    stored = read_answers(answers)
    assert {one["key"]: (one["latitude"], one["longitude"]) for one in stored} == guesses
    assert [one["score"] for one in stored] == pytest.approx(list(scores.values["score"]))
    assert wandering.scene()[0].mean_score == pytest.approx(scores.metrics["score"])


def test_the_levels_at_which_a_guess_is_right(folder: Path, answers: Path) -> None:
    found = {}
    for name, place in {"near": (48.851, 2.351), "town": (48.75, 2.35), "land": (45.0, 3.0),
                        "sea": (0.0, 0.0)}.items():  # fmt: skip
        answers.unlink(missing_ok=True)
        wandering = Wandering(folder, answers)
        over, _ = wandering.guess(wandering.scene()[0].moment, *place)
        assert over.outcome is not None
        found[name] = over.outcome.right
    assert found == {
        "near": ("street", "city", "country"), "town": ("city", "country"), "land": ("country",),
        "sea": (),
    }  # fmt: skip


def test_answers_survive_a_restart_and_a_torn_line(folder: Path, answers: Path) -> None:
    first = Wandering(folder, answers)
    over, _ = first.guess(first.scene()[0].moment, 40.0, 3.0)
    assert over.outcome is not None
    with answers.open("a") as file:
        file.write('{"key": "graph-1", "lati')  # the process was killed
    again = Wandering(folder, answers)
    scene, _ = again.scene()
    assert (scene.number, scene.n_guesses, scene.outcome) == (2, 1, None)
    assert scene.mean_score == pytest.approx(over.outcome.score, abs=1e-4)
    done, _ = again.guess(scene.moment, -10.0, 30.0)
    assert [one["key"] for one in read_answers(answers)] == ["graph-0", "graph-1"]
    assert again.proceed(done.moment)[1] == "That was the last place."
    end = Wandering(folder, answers)
    scene, _ = end.scene()
    assert scene.n_guesses == 2
    assert scene.outcome is not None, "a finished set asks for no second guess"
    for refused in (end.guess(scene.moment, 1.0, 2.0), end.move(scene.moment, "red"),
                    end.back(scene.moment)):  # fmt: skip
        assert refused[1] == "The guess was made. Go on to the next place."
    assert len(answers.read_text().splitlines()) == 3


@pytest.mark.parametrize("line", ["hello", '{"key": "a"}', '{"key": "a", "latitude": 91}', "[1]",
                                  '{"key": "a", "latitude": "1", "longitude": 2}'])  # fmt: skip
def test_a_file_of_something_else_is_refused_and_kept(
    folder: Path, answers: Path, line: str
) -> None:
    answers.write_text(f"{line}\n")
    with pytest.raises(Agl1kError, match=r"answers\.jsonl, line 1: .*--answers"):
        Wandering(folder, answers)
    assert answers.read_text() == f"{line}\n"


def test_a_guess_that_cannot_be_stored_is_no_guess(folder: Path, tmp_path: Path) -> None:
    wandering = Wandering(folder, tmp_path / "nowhere" / "answers.jsonl")
    start, _ = wandering.scene()
    scene, message = wandering.guess(start.moment, 1.0, 2.0)
    assert "could not be stored" in message
    assert "No such file" in message
    assert (scene.outcome, scene.steps_left) == (None, 4)
    (tmp_path / "nowhere").mkdir()
    assert wandering.guess(scene.moment, 1.0, 2.0)[0].outcome is not None


def test_an_action_on_a_page_that_is_behind_does_nothing(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers)
    start, _ = wandering.scene()
    there, _ = wandering.move(start.moment, "red")
    for scene, message in (
        wandering.move(start.moment, "red"),
        wandering.guess(start.moment, 1.0, 2.0),
        wandering.back(start.moment),
    ):
        assert message == "This page was behind. Here is where you are now."
        assert scene == there
    over, _ = wandering.guess(there.moment, 1.0, 2.0)
    again, message = wandering.guess(over.moment, 3.0, 4.0)
    assert message == "The guess was made. Go on to the next place."
    assert again.outcome == over.outcome
    assert len(read_answers(answers)) == 1


def test_a_way_without_a_panorama_costs_no_step(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers)
    there, _ = wandering.move(wandering.scene()[0].moment, "red")
    scene, message = wandering.move(there.moment, "blue")
    assert message == "There is no panorama that way. It cost no step."
    assert scene == there
    assert "no way 'gold'" in wandering.move(there.moment, "gold")[1]


def test_the_next_place_waits_for_the_guess(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers)
    scene, message = wandering.proceed(wandering.scene()[0].moment)
    assert (scene.number, message) == (1, "Guess first.")


def test_nothing_in_a_scene_or_a_picture_tells_the_place(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers)
    scene, _ = wandering.scene()
    told = repr(scene)
    for secret in ("g0a", "graph-0", "48.85", "2.35", "Paris", "France"):
        assert secret not in told
    data = wandering.picture(scene.address)
    assert data is not None
    assert b"SECRETTOWN" in (folder / "g0a.jpg").read_bytes()
    assert b"SECRETTOWN" not in data
    assert not Image.open(io.BytesIO(data)).getexif()
    for guessed in ("g0a", "", "../g0a.jpg"):
        assert wandering.picture(guessed) is None
    other = Wandering(folder, answers)
    assert other.scene()[0].address != scene.address


def test_graphs_without_a_panorama_are_named_and_left_out(folder: Path, answers: Path) -> None:
    (folder / "g0a.jpg").unlink()
    wandering = Wandering(folder, answers)
    assert wandering.without_panorama == ["graph-0"]
    assert wandering.scene()[0].total == 1
    (folder / "g1a.jpg").unlink()
    with pytest.raises(Agl1kError, match="No graph's centre has a panorama"):
        Wandering(folder, answers)
    with pytest.raises(Agl1kError, match="--panoramas"):
        Wandering(folder, answers, panoramas=answers.parent)


def test_answers_are_predictions(folder: Path, answers: Path) -> None:
    wandering = Wandering(folder, answers)
    wandering.guess(wandering.scene()[0].moment, 10.0, 20.0)
    (line,) = answers.read_text().splitlines()
    assert json.loads(line)["key"] == "graph-0"
