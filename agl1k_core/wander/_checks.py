"""Doubts about a graph that can be read: ways, reachability, coverage, coordinates."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph, csr_array
from scipy.spatial import cKDTree

from agl1k_core.places import EARTH_KM, unit_vectors
from agl1k_core.wander._records import Draft, Tell
from agl1k_core.wander.graph import Graph, turn_to
from agl1k_core.wander.walks import FEWEST_STEPS, coverage, steps_from_center

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: How far a way back may be from opposite to the way there.
OPPOSITE_WITHIN_DEG = 1.0
#: Nodes nearer than this are at the same place: there is no bearing from one to the other.
SAME_PLACE_M = 0.05


class Rules(NamedTuple):
    """What is doubted: the tolerance of ways back, and nodes that are not in ``panoramas``."""

    tolerance_deg: float = OPPOSITE_WITHIN_DEG
    panoramas: Container[str] | None = None


def check(draft: Draft, tell: Tell, rules: Rules) -> None:
    """Tell every doubt about what could be read of a graph."""
    graph = draft.graph
    _tell_coincident(graph, tell)
    if rules.panoramas is not None:
        _tell_missing(graph, tell, rules.panoramas)
    if not draft.is_whole:
        return
    _tell_returns(graph, tell, rules.tolerance_deg)
    if graph.center_id in graph.by_id:
        _tell_unreachable(graph, tell)
        _tell_coverage(graph, tell)


def _tell_missing(graph: Graph, tell: Tell, panoramas: Container[str]) -> None:
    for node in graph.nodes:
        if node.pano_id not in panoramas:
            tell("It has no panorama", "Add a file that is called by its id", node=node.pano_id)


def _tell_returns(graph: Graph, tell: Tell, tolerance_deg: float) -> None:
    directions = {(edge.start, edge.end): edge.direction_deg for edge in graph.edges}
    for (start, end), there in directions.items():
        here, name = _name(graph, start), _name(graph, end)
        back = directions.get((end, start))
        if start == end:
            tell("It has a way to itself", "Give -1 there", node=here)
        elif back is None:
            tell(f"There is no way back from {name}", "Give its direction in both", node=here)
        elif start < end and abs(turn_to(back, there + 180)) > tolerance_deg:
            tell(
                f"The way to {name} leaves at {there:.1f}°, the way back at {back:.1f}°",
                f"Give opposite directions; {tolerance_deg:g}° are tolerated",
                node=here,
            )


def _tell_unreachable(graph: Graph, tell: Tell) -> None:
    steps = steps_from_center(graph)
    for node in graph.nodes:
        if np.isinf(steps[node.matrix_id]):
            found = "There is no way to it from the centre"
            tell(found, "Leave it out, or give the missing way", node=node.pano_id)


def _tell_coverage(graph: Graph, tell: Tell) -> None:
    start = graph.center.matrix_id
    steps = coverage(graph)[start]
    if steps < FEWEST_STEPS:
        noun = "step" if steps == 1 else "steps"
        tell(
            f"The centre is {steps:.0f} {noun} from the boundary",
            f"The paper asks for at least {FEWEST_STEPS}",
            node=graph.center_id,
        )


def _tell_coincident(graph: Graph, tell: Tell) -> None:
    for group in _coincident(graph):
        names = [graph.nodes[position].pano_id for position in group]
        found = f"It is at the same place as {', '.join(names[1:])}"
        tell(found, "Keep one of them, as there is no bearing between them", node=names[0])


def _coincident(graph: Graph) -> Iterator[list[int]]:
    """Groups of nodes at the same place, by position."""
    degrees = np.array([(node.lat, node.lon) for node in graph.nodes]).reshape(-1, 2)
    known = np.flatnonzero(np.isfinite(degrees).all(axis=1))
    points = unit_vectors(*degrees[known].T)
    pairs = cKDTree(points * (1000 * EARTH_KM)).query_pairs(SAME_PLACE_M, output_type="ndarray")
    if len(pairs):
        size = len(known)
        near = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(size, size))
        _, group = csgraph.connected_components(near, directed=False)
        for number in dict.fromkeys(group[np.unique(pairs)].tolist()):
            yield known[group == number].tolist()


def _name(graph: Graph, matrix_id: int) -> str:
    return graph.by_matrix_id[matrix_id].pano_id
