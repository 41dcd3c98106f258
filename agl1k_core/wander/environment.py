"""Walking through a graph: turn, take a way, return to the start, and guess within some steps.

Conventions
-----------
* Headings and directions are compass directions in degrees, clockwise from north. Turning by a
  positive number is turning right.
* One arrives at a panorama looking at its middle, as in the authors' code: a move forgets earlier
  turns.
* Every action is a step, the guess included. After all but one step, only a guess is allowed.

``as_published=True`` keeps two habits of the authors' code, to compare with their numbers: after a
turn the picture shows what lies on the *other* side, while arrows and compass turn as they should;
and the columns of the matrix are taken in the order of the file's nodes, not by ``matrix_id``. What
that code does after an answer that it cannot read is the agent's affair, not the environment's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from agl1k_core.errors import Agl1kError
from agl1k_core.models import Picture
from agl1k_core.wander.graph import Edge, Graph, Node, turn_to, within_circle

#: Steps of a walk, the guess included (as in the authors' code).
MAX_STEPS = 4
#: The names of a node's ways, in the order of the nodes that they lead to; further ones are
#: numbered from 9.
COLOURS = ("red", "blue", "green", "yellow", "purple", "orange", "cyan", "white")

Kind = Literal["rotate", "move", "back", "guess"]


class ActionRefusedError(Agl1kError):
    """An action that is not possible; the walk is as it was before."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do.

    Attributes
    ----------
    kind
        ``rotate`` by ``degrees``, ``move`` along the way named ``way``, go ``back`` to the start,
        or ``guess`` the place ``lat``, ``lon``.
    degrees
        How far to turn right; left if negative.
    way
        The name of the way, such as ``"red"``.
    lat, lon
        The guess in degrees; None if the place was not named by coordinates.
    """

    kind: Kind
    degrees: float = 0.0
    way: str = ""
    lat: float | None = None
    lon: float | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """A way that one can take.

    Attributes
    ----------
    way
        Its name, such as ``"red"``.
    target_id
        ``pano_id`` of the node that it leads to.
    direction_deg
        The compass direction in which it leaves.
    relative_deg
        How far to turn right to look that way, from −180 to 180.
    """

    way: str
    target_id: str
    direction_deg: float
    relative_deg: float


@dataclass(frozen=True, slots=True)
class State:
    """Where one is, and what one can do.

    Attributes
    ----------
    node
        The panorama.
    heading_deg
        Where the compass says that one looks.
    shown_deg
        The compass direction in the middle of the picture; as ``heading_deg``, but not in an
        environment ``as_published``.
    moves
        The ways that one can take.
    steps_taken, steps_left
        Steps until now, and those that remain.
    must_guess
        Whether nothing but a guess is allowed.
    is_over
        Whether the guess was made.
    """

    node: Node
    heading_deg: float
    shown_deg: float
    moves: tuple[Move, ...]
    steps_taken: int
    steps_left: int
    must_guess: bool
    is_over: bool


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was taken: ``action`` led from ``before`` to ``after``.

    ``action`` is None if the step was lost to an answer that could not be read; ``note`` says why.
    """

    before: State
    action: Action | None
    after: State
    note: str = ""


class Panoramas(Protocol):
    """Makes the picture of a state: a view cut from the node's panorama, with arrows for moves.

    The view looks at the compass direction ``state.shown_deg``; the middle of the panorama is at
    ``state.node.heading_deg``. Arrows are drawn at ``move.relative_deg`` from the middle.
    """

    def draw(self, state: State) -> Picture:
        """Raises ``Agl1kError`` if there is no panorama of the node."""
        ...


@dataclass
class Environment:
    """A walk through a graph.

    Parameters
    ----------
    graph
        Where to walk.
    max_steps
        How many steps there are, the guess included.
    as_published
        Whether to keep the habits of the authors' code; see the module's docstring.

    Examples
    --------
    >>> nodes = (Node("a", 0, 48.0, 2.0), Node("b", 1, 48.001, 2.0))
    >>> graph = Graph("paris", "a", nodes, (Edge(0, 1, 0.0), Edge(1, 0, math.pi)))
    >>> walk = Environment(graph)
    >>> state = walk.act(Action("rotate", degrees=90))
    >>> state.heading_deg, [(move.way, move.relative_deg) for move in state.moves]
    (90.0, [('red', -90.0)])
    >>> walk.act(Action("move", way="red")).node.pano_id
    'b'
    """

    graph: Graph
    max_steps: int = MAX_STEPS
    as_published: bool = False
    state: State = field(init=False)
    history: list[Step] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.max_steps < 1:
            raise ValueError(f"a walk needs at least 1 step, not {self.max_steps}")
        self._turned_deg = 0.0
        self.state = self._state(self.graph.center, steps_taken=0)

    @property
    def guess(self) -> Action | None:
        """The guess, None before it was made."""
        action = self.history[-1].action if self.history else None
        return action if action is not None and action.kind == "guess" else None

    def act(self, action: Action) -> State:
        """Do something.

        Returns
        -------
        State
            The state afterwards.

        Raises
        ------
        ActionRefusedError
            If it is not possible now. Nothing has changed then, and no step was taken.
        """
        self._refuse_impossible(action)
        node = self.state.node
        if action.kind == "rotate":
            self._turned_deg = within_circle(self._turned_deg + action.degrees)
        elif action.kind == "move":
            node, self._turned_deg = self.graph.by_id[self._named(action.way).target_id], 0.0
        elif action.kind == "back":
            node, self._turned_deg = self.graph.center, 0.0
        return self._take(node, action)

    def lose_step(self, note: str) -> State:
        """Take a step in which nothing is done, because of what ``note`` says.

        Raises ``ActionRefusedError`` if no step but the guess is left.
        """
        self._refuse_over()
        if self.state.must_guess:
            raise ActionRefusedError("No step but the guess is left.")
        return self._take(self.state.node, None, note)

    def _take(self, node: Node, action: Action | None, note: str = "") -> State:
        before = self.state
        is_over = action is not None and action.kind == "guess"
        self.state = self._state(node, before.steps_taken + 1, is_over=is_over)
        self.history.append(Step(before, action, self.state, note))
        return self.state

    def _state(self, node: Node, steps_taken: int, *, is_over: bool = False) -> State:
        heading = within_circle(node.heading_deg + self._turned_deg)
        shown = within_circle(node.heading_deg - self._turned_deg)
        left = 0 if is_over else self.max_steps - steps_taken
        return State(
            node=node,
            heading_deg=heading,
            shown_deg=shown if self.as_published else heading,
            moves=self._moves(node, heading),
            steps_taken=steps_taken,
            steps_left=left,
            must_guess=left == 1,
            is_over=is_over,
        )

    def _moves(self, node: Node, heading_deg: float) -> tuple[Move, ...]:
        return tuple(
            Move(
                name_of_way(position),
                target.pano_id,
                edge.direction_deg,
                turn_to(edge.direction_deg, heading_deg),
            )
            for position, (edge, target) in enumerate(self._targets(node))
        )

    def _targets(self, node: Node) -> Sequence[tuple[Edge, Node]]:
        """The ways from a node, and where they lead."""
        nodes = self.graph.nodes if self.as_published else self.graph.by_matrix_id
        return [(edge, nodes[edge.end]) for edge in self.graph.ways(node.matrix_id)]

    # --- refusing

    def _refuse_impossible(self, action: Action) -> None:
        self._refuse_over()
        if action.kind == "guess":
            _refuse_no_place(action)
        elif self.state.must_guess:
            raise ActionRefusedError("This is the last step: only a guess is possible.")
        elif action.kind == "move":
            self._named(action.way)
        elif action.kind == "rotate" and not math.isfinite(action.degrees):
            raise ActionRefusedError("A turn needs a number of degrees.")

    def _refuse_over(self) -> None:
        if self.state.is_over:
            raise ActionRefusedError("The guess was made: the walk is over.")

    def _named(self, way: str) -> Move:
        for move in self.state.moves:
            if move.way == way:
                return move
        ways = ", ".join(move.way for move in self.state.moves) or "none"
        raise ActionRefusedError(f"There is no way {way!r} here. The ways are: {ways}.")


def name_of_way(position: int) -> str:
    """The name of a node's way by its position.

    Examples
    --------
    >>> name_of_way(0), name_of_way(7), name_of_way(8)
    ('red', 'white', '9')
    """
    return COLOURS[position] if position < len(COLOURS) else str(position + 1)


def _refuse_no_place(action: Action) -> None:
    lat, lon = action.lat, action.lon
    if lat is None and lon is None:
        return
    if lat is None or lon is None or not (abs(lat) <= 90 and abs(lon) <= 180):
        raise ActionRefusedError("The guess is not a place: give lat -90 to 90, lon -180 to 180.")
