"""From an object of the published format to a graph, with everything that is wrong with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from agl1k_core.wander.graph import NO_WAY, Edge, Graph, Node

#: Told what was found, what to do, and the node that it is about.
Tell = Callable[..., None]

_CIRCLE = 2 * math.pi + 1e-9
#: Within this is every number but infinity.
_ANY = 1e300
_RANGES = {
    "lat": (90.0, "Give degrees from -90 to 90"),
    "lon": (180.0, "Give degrees from -180 to 180"),
    "heading": (_CIRCLE, "Give radians from 0 to 2π"),
}
_GRAPH_FIELDS = ("center_pano_id", "nodes", "adjacency_matrix", "key")
_NODE_FIELDS = ("pano_id", "matrix_id")


@dataclass
class Draft:
    """A graph as far as it could be read; wrong numbers are NaN.

    ``is_whole`` tells whether each node has a row and a column of the matrix.
    """

    graph: Graph
    is_whole: bool = False


def read_record(record: object, key: str, tell: Tell) -> Draft:
    """Read an object, and tell everything that makes it unusable."""
    if not isinstance(record, dict):
        tell(f"This is {_kind(record)}, not a graph", _ASKED)
        return Draft(Graph(key, "", (), ()))
    for name in (name for name in _GRAPH_FIELDS if name not in (*record, "key")):
        tell(f"{name} is missing", _ASKED)
    raw = _list(record, "nodes", tell)
    reader = _Nodes(raw, tell)
    matrix = _list(record, "adjacency_matrix", tell)
    ways = _Ways(reader, tell)
    edges = tuple(ways.read(matrix)) if matrix is not None and raw is not None else ()
    more = {name: value for name, value in record.items() if name not in _GRAPH_FIELDS}
    graph = Graph(key, _center(record, reader, tell), tuple(reader.nodes), edges, more)
    return Draft(graph, reader.has_ids and matrix is not None and ways.is_usable)


_ASKED = "Give an object with center_pano_id, nodes and adjacency_matrix"


def _list(record: Mapping[str, Any], name: str, tell: Tell) -> list[Any] | None:
    value = record.get(name)
    if isinstance(value, list):
        return value
    if name in record:
        tell(f"{name} is {_kind(value)}", "Give a list")
    return None


def _center(record: Mapping[str, Any], reader: _Nodes, tell: Tell) -> str:
    center = record.get("center_pano_id")
    if isinstance(center, str) and center in reader.names:
        return center
    if "center_pano_id" in record:
        found = f"There is no node {center!r}, the center_pano_id" if isinstance(center, str) else (
            f"center_pano_id is {_kind(center)}"
        )  # fmt: skip
        tell(found, "Give the pano_id of one of the nodes")
    return ""


@dataclass
class _Nodes:
    """The nodes of a graph, and their names for messages."""

    raw: list[Any] | None
    tell: Tell
    nodes: list[Node] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    has_ids: bool = True

    def __post_init__(self) -> None:
        raw = self.raw or []
        if self.raw == []:
            self.tell("There are no nodes", "Give at least the centre")
        read = (self._node(position, value) for position, value in enumerate(raw))
        self.nodes = [node for node in read if node is not None]
        self._tell_twice(raw)
        self.has_ids = bool(raw) and len(self._by_number) == len(raw)

    def name(self, number: int) -> str:
        """The node of a row of the matrix, for messages."""
        found = self._by_number.get(number)
        return found if found is not None else f"of matrix_id {number}"

    def _node(self, position: int, value: Any) -> Node | None:
        name = f"number {position + 1}"
        if not isinstance(value, dict):
            self.tell(f"It is {_kind(value)}", "Give an object", node=name)
            return None
        if _is_name(value.get("pano_id")):
            name = value["pano_id"]
            self.names[name] += 1
        has_number, place = self._check_identity(name, value), self._place(name, value)
        if not has_number:
            return None
        lat, lon, heading = (place[key] for key in _RANGES)
        return Node(name, value["matrix_id"], lat, lon, heading, _more(value))

    def _check_identity(self, name: str, value: Mapping[str, Any]) -> bool:
        """Whether it has a row in the matrix."""
        count = len(self.raw or ())
        number = value.get("matrix_id")
        has_name, has_number = _is_name(value.get("pano_id")), _is_number_below(number, count)
        if not has_name:
            self.tell(_wrong(value, "pano_id"), "Give a text that is not empty", node=name)
        if not has_number:
            todo = f"Give a whole number from 0 to {count - 1}, as there are {count:,} nodes"
            self.tell(_wrong(value, "matrix_id"), todo, node=name)
        return has_number

    def _place(self, name: str, value: Mapping[str, Any]) -> dict[str, float]:
        """Its coordinates, NaN where they are wrong."""
        place = value.get("coordinate")
        if not isinstance(place, dict):
            todo = "Give an object with lat, lon and heading"
            self.tell(_wrong(value, "coordinate"), todo, node=name)
            return dict.fromkeys(_RANGES, math.nan)
        wrong = [key for key, (most, _) in _RANGES.items() if not _is_within(place.get(key), most)]
        for key in wrong:
            self.tell(_wrong(place, key), _RANGES[key][1], node=name)
        return {key: math.nan if key in wrong else place[key] for key in _RANGES}

    def _tell_twice(self, raw: Sequence[Any]) -> None:
        for name, times in self.names.items():
            if times > 1:
                self.tell(f"{times} nodes have this pano_id", "Keep one of them", node=name)
        by_number: dict[int, list[str]] = {}
        for value in raw:
            if isinstance(value, dict) and _is_number_below(value.get("matrix_id"), len(raw)):
                by_number.setdefault(value["matrix_id"], []).append(str(value.get("pano_id")))
        self._by_number = {number: names[0] for number, names in by_number.items()}
        for number, names in by_number.items():
            if len(names) > 1:
                others = ", ".join(names[1:])
                found = f"Its matrix_id {number} is also that of {others}"
                self.tell(found, "Number the nodes from 0, each once", node=names[0])


@dataclass
class _Ways:
    """The ways of a graph, from the rows of its matrix."""

    nodes: _Nodes
    tell: Tell
    is_usable: bool = True

    def read(self, matrix: Sequence[Any]) -> Iterator[Edge]:
        """The ways whose direction is usable."""
        count = len(self.nodes.raw or ())
        widths = {len(row) for row in matrix if isinstance(row, list)}
        if len(matrix) != count:
            columns = f" and {widths.pop():,} columns" if len(widths) == 1 else ""
            size = f"{len(matrix):,} rows{columns}"
            self._wrong(
                f"adjacency_matrix has {size}, but there are {count:,} nodes",
                "Give a row and a column for each node",
            )
            if columns:
                return  # each of its rows would be told again
        for start, row in enumerate(matrix[:count]):
            if isinstance(row, list) and len(row) == count:
                yield from self._row(start, row)
                continue
            what = f"{len(row):,} columns" if isinstance(row, list) else _kind(row)
            self._wrong(
                f"Its row of adjacency_matrix is {what}, but there are {count:,} nodes",
                "Give a list with a number for each node",
                node=self.nodes.name(start),
            )

    def _row(self, start: int, row: Sequence[Any]) -> Iterator[Edge]:
        wrong = []
        for end, value in enumerate(row):
            if value == NO_WAY and not isinstance(value, bool):
                continue
            if _is_within(value, _CIRCLE) and value >= 0:
                yield Edge(start, end, value)
            else:
                wrong.append((end, value))
                if _is_within(value, _ANY):
                    yield Edge(start, end, math.nan)
        for end, value in wrong:
            self.tell(
                f"Its direction to {self.nodes.name(end)} is {_shown(value)}",
                "Give radians from 0 to 2π, or -1 if there is no way",
                node=self.nodes.name(start),
            )

    def _wrong(self, found: str, todo: str, **where: str) -> None:
        self.is_usable = False
        self.tell(found, todo, **where)


def _more(value: Mapping[str, Any]) -> dict[str, Any]:
    """What a file says about a node besides what the format asks for."""
    more = {key: told for key, told in value.items() if key not in (*_NODE_FIELDS, "coordinate")}
    place = value.get("coordinate")
    besides = (
        {key: told for key, told in place.items() if key not in _RANGES}
        if isinstance(place, dict)
        else {}
    )
    return {**more, "coordinate": besides} if besides else more


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.strip() != ""


def _is_number_below(value: object, count: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _is_within(value: object, most: float) -> TypeGuard[float]:
    """Whether a value is a number from ``-most`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= most  # false for NaN


def _wrong(of: Mapping[str, Any], name: str) -> str:
    return f"{name} is {_shown(of[name])}" if name in of else f"{name} is missing"


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return _kind(value)
    return "null" if value is None else repr(value)[:60]


_KINDS: Mapping[type, str] = {
    dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
    float: "a number", type(None): "null",
}  # fmt: skip


def _kind(value: object) -> str:
    return _KINDS[type(value)]
