"""Walking: where one is after each action, which ways there are, and where the steps go."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core import wander
from agl1k_core.wander import Action, ActionRefusedError, Edge, Environment, Graph, Node
from tests.support.graphs import crossing, graph_of


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return graph_of(tmp_path, crossing())


GUESS = Action("guess", lat=1.0, lon=2.0)


def relative(walk: Environment) -> dict[str, float]:
    return {move.target_id: round(move.relative_deg, 6) for move in walk.state.moves}


def test_one_starts_at_the_centre_and_looks_at_the_middle_of_the_panorama(graph: Graph) -> None:
    state = Environment(graph).state
    assert (state.node.pano_id, state.steps_taken, state.steps_left) == ("centre", 0, 4)
    assert state.heading_deg == state.shown_deg == pytest.approx(30)
    assert [move.way for move in state.moves] == ["red", "blue", "green", "yellow"]


def test_turning_right_shows_what_lies_to_the_right(graph: Graph) -> None:
    walk = Environment(graph)
    assert relative(walk) == {"north": -30, "east": 60, "south": 150, "west": -120}
    state = walk.act(Action("rotate", degrees=90))
    assert state.heading_deg == state.shown_deg == pytest.approx(120)
    assert relative(walk) == {"north": -120, "east": -30, "south": 60, "west": 150}


def test_as_published_the_picture_turns_the_wrong_way(graph: Graph) -> None:
    walk = Environment(graph, as_published=True)
    state = walk.act(Action("rotate", degrees=90))
    assert state.heading_deg == pytest.approx(120)  # of the arrows and the compass
    assert state.shown_deg == pytest.approx(300)  # 30 − 90
    assert relative(walk) == {"north": -120, "east": -30, "south": 60, "west": 150}


@given(st.floats(0, 2 * math.pi), st.integers(-720, 720))
def test_as_published_is_the_middle_of_the_authors_rolled_picture(
    heading_rad: float, degrees: int
) -> None:
    # their picture: the panorama's columns rolled by width · rotation / 360 (roll_panorama)
    width = 3600
    bearings = math.degrees(heading_rad) + (np.arange(width) - width // 2) * 360 / width
    rolled = np.roll(bearings, int(width * (degrees % 360) / 360))
    node = Node("a", 0, 0.0, 0.0, heading_rad)
    walk = Environment(Graph("g", "a", (node,), ()), as_published=True)
    state = walk.act(Action("rotate", degrees=degrees))
    apart = wander.turn_to(state.shown_deg, float(rolled[width // 2]))
    assert apart == pytest.approx(0, abs=1e-6)


def test_as_published_columns_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    record = crossing()
    record["nodes"] = [record["nodes"][i] for i in (0, 4, 3, 2, 1)]
    graph = graph_of(tmp_path, record)
    ours, theirs = Environment(graph), Environment(graph, as_published=True)
    assert [move.target_id for move in ours.state.moves] == ["north", "east", "south", "west"]
    assert [move.target_id for move in theirs.state.moves] == ["west", "south", "east", "north"]
    directions = [move.direction_deg for move in theirs.state.moves]
    assert directions == pytest.approx([0, 90, 180, 270])


def test_a_move_forgets_the_turn_and_back_leads_to_the_start(graph: Graph) -> None:
    walk = Environment(graph)
    walk.act(Action("rotate", degrees=45))
    state = walk.act(Action("move", way="blue"))
    assert state.node.pano_id == "east"
    assert state.heading_deg == pytest.approx(30)
    assert relative(walk) == {"centre": -120}
    assert walk.act(Action("back")).node.pano_id == "centre"


def test_back_leads_to_the_start_rather_than_one_node_back(tmp_path: Path) -> None:
    nodes = tuple(Node(name, i, i * 1e-4, 0.0) for i, name in enumerate("abc"))
    edges = (Edge(0, 1, 0.0), Edge(1, 2, 0.0), Edge(1, 0, math.pi), Edge(2, 1, math.pi))
    walk = Environment(Graph("g", "a", nodes, edges), max_steps=9)
    walk.act(Action("move", way="red"))
    walk.act(Action("move", way="blue"))
    assert walk.state.node.pano_id == "c"
    assert walk.act(Action("back")).node.pano_id == "a"


def test_the_last_step_can_only_be_a_guess(graph: Graph) -> None:
    walk = Environment(graph)
    for _ in range(3):
        assert not walk.state.must_guess
        walk.act(Action("rotate", degrees=10))
    assert walk.state.must_guess
    with pytest.raises(ActionRefusedError, match="only a guess"):
        walk.act(Action("move", way="red"))
    with pytest.raises(ActionRefusedError, match="No step but the guess"):
        walk.lose_step("unreadable")
    state = walk.act(GUESS)
    assert (state.is_over, state.steps_taken, state.steps_left) == (True, 4, 0)
    assert walk.guess == GUESS
    for action in (GUESS, Action("back")):
        with pytest.raises(ActionRefusedError, match="the walk is over"):
            walk.act(action)


def test_one_step_is_a_guess_at_once(graph: Graph) -> None:
    walk = Environment(graph, max_steps=1)
    assert walk.state.must_guess
    assert walk.act(GUESS).is_over


def test_a_guess_may_come_early(graph: Graph) -> None:
    walk = Environment(graph)
    assert walk.guess is None
    assert walk.act(GUESS).steps_taken == 1


@pytest.mark.parametrize(
    "action",
    [
        Action("move", way="purple"),
        Action("move", way=""),
        Action("move", way="required"),
        Action("rotate", degrees=math.nan),
        Action("rotate", degrees=math.inf),
        Action("guess", lat=91, lon=0),
        Action("guess", lat=0, lon=math.nan),
        Action("guess", lat=1.0),
    ],
)
def test_impossible_actions_change_nothing(graph: Graph, action: Action) -> None:
    walk = Environment(graph)
    before = walk.state
    with pytest.raises(ActionRefusedError):
        walk.act(action)
    assert walk.state == before
    assert walk.history == []


def test_every_step_is_kept_lost_ones_too(graph: Graph) -> None:
    walk = Environment(graph)
    actions = [Action("rotate", degrees=-90), None, Action("move", way="green"), GUESS]
    for action in actions:
        walk.act(action) if action else walk.lose_step("not JSON")
    assert [step.action for step in walk.history] == actions
    assert [step.note for step in walk.history] == ["", "not JSON", "", ""]
    assert [step.before for step in walk.history][1:] == [s.after for s in walk.history][:-1]
    assert walk.history[1].after.node == walk.history[1].before.node


def test_more_than_eight_ways_have_names(tmp_path: Path) -> None:
    nodes = tuple(Node(str(i), i, i * 1e-4, 0.0) for i in range(11))
    edges = tuple(Edge(0, i, i / 2) for i in range(1, 11))
    walk = Environment(Graph("g", "0", nodes, edges))
    assert [move.way for move in walk.state.moves][-3:] == ["white", "9", "10"]
    assert walk.act(Action("move", way="10")).node.pano_id == "10"


def test_a_walk_needs_a_step(graph: Graph) -> None:
    with pytest.raises(ValueError, match="at least 1 step"):
        Environment(graph, max_steps=0)


degrees = st.floats(-1e6, 1e6)


@given(degrees, degrees)
def test_turns_add_up(first: float, second: float) -> None:
    walk = Environment(Graph("g", "a", (Node("a", 0, 0.0, 0.0, 1.0),), ()), max_steps=9)
    walk.act(Action("rotate", degrees=first))
    state = walk.act(Action("rotate", degrees=second))
    expected = math.degrees(1.0) + first + second
    assert math.cos(math.radians(state.heading_deg - expected)) == pytest.approx(1, abs=1e-9)
    assert 0 <= state.heading_deg < 360


@given(st.floats(0, 360), st.floats(0, 360))
def test_turning_by_the_relative_direction_faces_it(direction: float, heading: float) -> None:
    turn = wander.turn_to(direction, heading)
    assert -180 <= turn < 180
    apart = math.radians(heading + turn - direction)
    assert math.cos(apart) == pytest.approx(1, abs=1e-9)
