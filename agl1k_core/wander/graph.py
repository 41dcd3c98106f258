"""A place to walk through: panoramas, and the ways between them.

Conventions of the published format (Learning to Wander, section 3.3, and the authors' repository):
a node's ``heading`` is the compass direction of the middle of its panorama, and
``adjacency_matrix[i][j]`` that of the way from the node with ``matrix_id`` i to the one with j.
Both are in radians, clockwise from north; −1 means that there is no way. The place to guess is the
centre.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

IntArray = npt.NDArray[np.int64]

#: In the matrix, this means that there is no way.
NO_WAY = -1


@dataclass(frozen=True, slots=True)
class Node:
    """A panorama.

    Attributes
    ----------
    pano_id
        Identifies it within its graph.
    matrix_id
        Its row and column in the matrix.
    lat, lon
        Where it was taken, in degrees.
    heading_rad
        The compass direction of the middle of the panorama, in radians.
    more
        Whatever else the file says about it.
    """

    pano_id: str
    matrix_id: int
    lat: float
    lon: float
    heading_rad: float = 0.0
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def heading_deg(self) -> float:
        """The compass direction of the middle of the panorama, from 0 to 360."""
        return within_circle(math.degrees(self.heading_rad))


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one node to another; ``start`` and ``end`` are their ``matrix_id``."""

    start: int
    end: int
    direction_rad: float

    @property
    def direction_deg(self) -> float:
        """The compass direction in which it leaves, from 0 to 360."""
        return within_circle(math.degrees(self.direction_rad))


@dataclass(frozen=True)
class Graph:
    """Panoramas and the ways between them.

    Attributes
    ----------
    key
        Identifies the graph within a set: its file's name, or the ``key`` in the file.
    center_id
        ``pano_id`` of the node where one starts, whose place is to be guessed.
    nodes
        The nodes in the order of the file.
    edges
        The ways, by start and end.
    more
        Whatever else the file says about the graph.

    Examples
    --------
    >>> nodes = (Node("a", 0, 48.0, 2.0), Node("b", 1, 48.001, 2.0))
    >>> graph = Graph("paris", "a", nodes, (Edge(0, 1, 0.0), Edge(1, 0, math.pi)))
    >>> graph.center.lat, [graph.by_matrix_id[edge.end].pano_id for edge in graph.ways(0)]
    (48.0, ['b'])
    """

    key: str
    center_id: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    more: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Graph {self.key}: {len(self.nodes):,} nodes, {len(self.edges):,} ways>"

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """The node of each ``pano_id``."""
        return {node.pano_id: node for node in self.nodes}

    @cached_property
    def by_matrix_id(self) -> Mapping[int, Node]:
        """The node of each ``matrix_id``."""
        return {node.matrix_id: node for node in self.nodes}

    @property
    def center(self) -> Node:
        """The node where one starts, whose place is to be guessed."""
        return self.by_id[self.center_id]

    @cached_property
    def _ways(self) -> Mapping[int, tuple[Edge, ...]]:
        ways: dict[int, list[Edge]] = {}
        for edge in self.edges:
            ways.setdefault(edge.start, []).append(edge)
        return {start: tuple(sorted(of, key=lambda edge: edge.end)) for start, of in ways.items()}

    def ways(self, matrix_id: int) -> tuple[Edge, ...]:
        """The ways from a node, in the order of the nodes that they lead to."""
        return self._ways.get(matrix_id, ())

    def closed_to(self, pano_ids: Collection[str]) -> Graph:
        """The same graph without the ways to some nodes."""
        kept = (e for e in self.edges if self.by_matrix_id[e.end].pano_id not in pano_ids)
        return replace(self, edges=tuple(kept))

    @cached_property
    def links(self) -> csr_array:
        """1 where there is a way, shape ``(n_nodes, n_nodes)``, by ``matrix_id``."""
        ends = np.array([(edge.start, edge.end) for edge in self.edges], dtype=np.int64)
        start, end = ends.reshape(-1, 2).T
        shape = (len(self.nodes), len(self.nodes))
        return csr_array((np.ones(len(start)), (start, end)), shape=shape)

    def to_dict(self) -> dict[str, Any]:
        """The graph in the published format."""
        size = len(self.nodes)
        matrix: list[list[float]] = [[NO_WAY] * size for _ in range(size)]
        for edge in self.edges:
            matrix[edge.start][edge.end] = edge.direction_rad
        return {
            **self.more,
            "center_pano_id": self.center_id,
            "nodes": [_told(node) for node in self.nodes],
            "adjacency_matrix": matrix,
        }


def within_circle(degrees: float) -> float:
    """An angle as one from 0 to less than 360 degrees.

    Examples
    --------
    >>> within_circle(-90), within_circle(720.5), within_circle(-1e-20)
    (270.0, 0.5, 0.0)
    """
    return degrees % 360.0 % 360.0


def turn_to(degrees: float, heading_deg: float) -> float:
    """How far to turn right from a heading to a direction, from −180 to less than 180 degrees.

    Examples
    --------
    >>> turn_to(10, 350), turn_to(350, 10), turn_to(180, 0)
    (20.0, -20.0, -180.0)
    """
    return within_circle(degrees - heading_deg + 180.0) - 180.0


def _told(node: Node) -> dict[str, Any]:
    coordinate = {"lat": node.lat, "lon": node.lon, "heading": node.heading_rad}
    return {
        **{name: value for name, value in node.more.items() if name != "coordinate"},
        "pano_id": node.pano_id,
        "matrix_id": node.matrix_id,
        "coordinate": {**node.more.get("coordinate", {}), **coordinate},
    }
