"""Statistics of a set of graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csgraph

from agl1k_core.places import PlaceLabel, label_points
from agl1k_core.wander.graph import Graph
from agl1k_core.wander.walks import FEWEST_STEPS, boundary, coverage, neighbours, steps_from_center

#: The walks between all pairs of nodes are not measured in graphs with more nodes.
MOST_FOR_PAIRS = 1000


@dataclass(frozen=True)
class GraphStatistics:
    """Numbers of a graph.

    Attributes
    ----------
    key
        The graph.
    n_nodes, n_edges
        How many nodes, and pairs of nodes with a way between them.
    mean_degree
        Neighbours of a node, on average: ``2 n_edges / n_nodes``.
    mean_steps, max_steps
        Of the shortest walks between all pairs of nodes, if there is one; None with more than
        `MOST_FOR_PAIRS` nodes.
    max_steps_from_center
        Of the shortest walks from the centre.
    n_boundary
        Nodes with at most one neighbour.
    n_unreachable
        Nodes that cannot be reached from the centre.
    coverage
        Steps from each node to the nearest boundary node, by ``pano_id``; None if there is none.
    center_coverage
        The same of the centre.
    city, country, continent
        The place of the centre, from the nearest populated place.
    """

    key: str
    n_nodes: int
    n_edges: int
    mean_degree: float
    mean_steps: float | None
    max_steps: int | None
    max_steps_from_center: int
    n_boundary: int
    n_unreachable: int
    coverage: Mapping[str, int | None]
    center_coverage: int | None
    city: str
    country: str
    continent: str


@dataclass(frozen=True)
class SetStatistics:
    """Numbers of a set of graphs; ``mean_degree`` is ``2 n_edges / n_nodes`` of all together.

    ``n_covered``: graphs whose centre is at least ten steps from the boundary.
    """

    graphs: tuple[GraphStatistics, ...]
    n_nodes: int
    n_edges: int
    mean_degree: float
    n_covered: int
    countries: Mapping[str, int]
    continents: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self)


def describe(graphs: Sequence[Graph]) -> SetStatistics:
    """Measure graphs.

    Parameters
    ----------
    graphs
        Graphs that were read.

    Returns
    -------
    SetStatistics
        Numbers of each, and of all. Boundary and coverage: Learning to Wander, equations 4 and 5.
    """
    centers = [graph.center for graph in graphs]
    labels = label_points([node.lat for node in centers], [node.lon for node in centers])
    found = tuple(_of_graph(graph, label) for graph, label in zip(graphs, labels, strict=True))
    n_nodes, n_edges = sum(one.n_nodes for one in found), sum(one.n_edges for one in found)
    return SetStatistics(
        graphs=found,
        n_nodes=n_nodes,
        n_edges=n_edges,
        mean_degree=2 * n_edges / n_nodes if n_nodes else float("nan"),
        n_covered=sum(_is_covered(one) for one in found),
        countries=dict(Counter(one.country for one in found).most_common()),
        continents=dict(Counter(one.continent for one in found).most_common()),
    )


def _is_covered(one: GraphStatistics) -> bool:
    return one.center_coverage is None or one.center_coverage >= FEWEST_STEPS


def _of_graph(graph: Graph, label: PlaceLabel) -> GraphStatistics:
    n_edges = int(neighbours(graph).sum()) // 2
    from_center, to_boundary = steps_from_center(graph), coverage(graph)
    reached = np.isfinite(from_center)
    mean_steps, max_steps = _between_pairs(graph)
    return GraphStatistics(
        key=graph.key,
        n_nodes=len(graph.nodes),
        n_edges=n_edges,
        mean_degree=2 * n_edges / len(graph.nodes),
        mean_steps=mean_steps,
        max_steps=max_steps,
        max_steps_from_center=int(from_center[reached].max()),
        n_boundary=len(boundary(graph)),
        n_unreachable=int((~reached).sum()),
        coverage={node.pano_id: _whole(to_boundary[node.matrix_id]) for node in graph.nodes},
        center_coverage=_whole(to_boundary[graph.center.matrix_id]),
        city=label.city,
        country=label.country,
        continent=label.continent,
    )


def _between_pairs(graph: Graph) -> tuple[float | None, int | None]:
    """Mean and greatest number of steps between two nodes."""
    if len(graph.nodes) > MOST_FOR_PAIRS:
        return None, None
    steps = csgraph.shortest_path(graph.links, method="D", unweighted=True)
    walks = steps[np.isfinite(steps) & ~np.eye(len(steps), dtype=np.bool_)]
    return (float(walks.mean()), int(walks.max())) if len(walks) else (None, None)


def _whole(steps: float) -> int | None:
    return int(steps) if np.isfinite(steps) else None
