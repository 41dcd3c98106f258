"""Shortest walks through a graph: its boundary, and how far each node is from it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph

from agl1k_core.wander.graph import Graph

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

#: "at least ten steps" from the boundary (Learning to Wander, section 3.3).
FEWEST_STEPS = 10


def neighbours(graph: Graph) -> IntArray:
    """How many other nodes each is linked to, whichever way, by ``matrix_id``."""
    ends = ((edge.start, edge.end) for edge in graph.edges if edge.start != edge.end)
    pairs = {(start, end) if start < end else (end, start) for start, end in ends}
    linked = np.array(list(pairs), dtype=np.int64).ravel()
    return np.bincount(linked, minlength=len(graph.nodes))


def boundary(graph: Graph) -> IntArray:
    """The nodes with at most one neighbour (equation 4), by ``matrix_id``."""
    return np.flatnonzero(neighbours(graph) <= 1)


def coverage(graph: Graph) -> FloatArray:
    """Steps from each node to the nearest boundary node (equation 5), by ``matrix_id``.

    Infinite if none can be reached.
    """
    ends = boundary(graph)
    if not len(ends):
        return np.full(len(graph.nodes), np.inf)
    found = csgraph.dijkstra(graph.links.T.tocsr(), indices=ends, unweighted=True, min_only=True)
    return np.asarray(found, dtype=np.float64)


def steps_from_center(graph: Graph) -> FloatArray:
    """Steps from the centre to each node, by ``matrix_id``; infinite if there is no way."""
    start = graph.center.matrix_id
    found = csgraph.dijkstra(graph.links, indices=start, unweighted=True)
    return np.asarray(found, dtype=np.float64)
