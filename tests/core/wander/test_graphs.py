"""Files of graphs: what is read, what is written, and every fault by file and node."""

from __future__ import annotations

import gzip
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agl1k_core import wander
from agl1k_core.errors import Agl1kError
from agl1k_core.wander import Edge, Graph, GraphsRefusedError, Node
from tests.support.graphs import LAST, crossing, graph_of, street, write

Change = Callable[[dict[str, Any]], object]


def faults_in(path: Path, tolerance_deg: float = 1.0) -> list[str]:
    found = wander.inspect_graphs([path], tolerance_deg=tolerance_deg)
    return [str(fault) for one in found for fault in one.faults]


def test_a_matrix_of_another_size_is_told_once(tmp_path: Path) -> None:
    record = street()
    record["adjacency_matrix"] = street(20)["adjacency_matrix"]
    path = write(tmp_path, record)
    assert faults_in(path) == [
        f"{path}: error: adjacency_matrix has 20 rows and 20 columns, but there are 21 nodes. "
        "Give a row and a column for each node"
    ]


def test_a_good_graph_has_no_faults(tmp_path: Path) -> None:
    assert faults_in(write(tmp_path, street())) == []


def node(number: int, **values: Any) -> Change:
    return lambda record: record["nodes"][number].update(values)


def place(number: int, **values: Any) -> Change:
    return lambda record: record["nodes"][number]["coordinate"].update(values)


def way(start: int, end: int, value: Any) -> Change:
    def change(record: dict[str, Any]) -> None:
        record["adjacency_matrix"][start][end] = value

    return change


def row(number: int, value: Any) -> Change:
    return lambda record: record["adjacency_matrix"].__setitem__(number, value)


def drop_column(number: int) -> Change:
    return lambda record: record["adjacency_matrix"][number].pop()


def given_as(**values: Any) -> Change:
    return lambda record: record.update(values)


def without(name: str) -> Change:
    return lambda record: record.pop(name)


ERRORS: list[tuple[Change, str]] = [
    (node(3, pano_id="p4"), "node p4: 2 nodes have this pano_id"),
    (node(3, pano_id=7), "node number 4: pano_id is 7"),
    (node(3, pano_id=" "), "node number 4: pano_id is ' '"),
    (node(3, matrix_id=4), "node p3: Its matrix_id 4 is also that of p4"),
    (node(3, matrix_id=21), "node p3: matrix_id is 21"),
    (node(3, matrix_id=-1), "node p3: matrix_id is -1"),
    (node(3, matrix_id=True), "node p3: matrix_id is True"),
    (node(3, matrix_id="3"), "node p3: matrix_id is '3'"),
    (node(3, matrix_id=3.5), "node p3: matrix_id is 3.5"),
    (node(3, coordinate=None), "node p3: coordinate is null"),
    (lambda record: record["nodes"][3].pop("coordinate"), "node p3: coordinate is missing"),
    (lambda record: record["nodes"][3].pop("pano_id"), "node number 4: pano_id is missing"),
    (place(3, lat=95), "node p3: lat is 95"),
    (place(3, lon=-180.5), "node p3: lon is -180.5"),
    (place(3, lat="48.8"), "node p3: lat is '48.8'"),
    (place(3, lat=math.nan), "node p3: lat is nan"),
    (place(3, lon=math.inf), "node p3: lon is inf"),
    (place(3, lon=10**400), "node p3: lon is 1000000000"),
    (way(3, 4, 10**400), "node p3: Its direction to p4 is 1000000000"),
    (place(3, heading=90), "node p3: heading is 90"),
    (place(3, heading=None), "node p3: heading is null"),
    (lambda record: record["nodes"][3]["coordinate"].pop("heading"), "node p3: heading is missing"),
    (lambda record: record["nodes"].__setitem__(3, [1]), "node number 4: It is a list"),
    (way(3, 4, 7.0), "node p3: Its direction to p4 is 7.0"),
    (way(3, 4, -0.5), "node p3: Its direction to p4 is -0.5"),
    (way(3, 4, math.nan), "node p3: Its direction to p4 is nan"),
    (way(3, 4, None), "node p3: Its direction to p4 is null"),
    (way(3, 4, "1"), "node p3: Its direction to p4 is '1'"),
    (way(3, 4, True), "node p3: Its direction to p4 is True"),
    (way(3, 4, [1]), "node p3: Its direction to p4 is a list"),
    (drop_column(3), "node p3: Its row of adjacency_matrix is 20 columns"),
    (row(3, 5), "node p3: Its row of adjacency_matrix is a number"),
    (lambda record: record["adjacency_matrix"].pop(), "adjacency_matrix has 20 rows and 21"),
    (given_as(adjacency_matrix={}), "adjacency_matrix is an object"),
    (without("adjacency_matrix"), "adjacency_matrix is missing"),
    (given_as(center_pano_id="gone"), "There is no node 'gone', the center_pano_id"),
    (given_as(center_pano_id=3), "center_pano_id is a number"),
    (without("center_pano_id"), "center_pano_id is missing"),
    (given_as(nodes=[]), "There are no nodes"),
    (given_as(nodes={}), "nodes is an object"),
    (without("nodes"), "nodes is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "told"), ERRORS, ids=[told for _, told in ERRORS])
def test_each_error_is_named_and_refused(tmp_path: Path, change: Change, told: str) -> None:
    record = street()
    change(record)
    path = write(tmp_path, record)
    expected = f"{path}: error: {told}"
    assert any(fault.startswith(expected) for fault in faults_in(path)), faults_in(path)
    with pytest.raises(GraphsRefusedError) as caught:
        wander.read_graphs([path])
    assert told in str(caught.value)


def unlink(start: int, end: int) -> Change:
    def change(record: dict[str, Any]) -> None:
        way(start, end, -1)(record)
        way(end, start, -1)(record)

    return change


WARNINGS: list[tuple[Change, list[str]]] = [
    (way(4, 3, math.pi + 0.1), ["node p3: The way to p4 leaves at 0.0°, the way back at 185.7°"]),
    (way(4, 3, -1), ["node p3: There is no way back from p4"]),
    (way(3, 3, 1.0), ["node p3: It has a way to itself"]),
    (
        unlink(18, 19),
        [
            "node p19: There is no way to it from the centre",
            "node p20: There is no way to it from the centre",
            "node p10: The centre is 8 steps from the boundary",
        ],
    ),
    (unlink(10, 11), ["node p10: The centre is 0 steps from the boundary"]),
    (place(3, lat=48.85 + 4 * 9e-5), ["node p3: It is at the same place as p4"]),
]


@pytest.mark.parametrize(("change", "told"), WARNINGS, ids=[told[0] for _, told in WARNINGS])
def test_each_doubt_is_a_warning(tmp_path: Path, change: Change, told: list[str]) -> None:
    record = street()
    change(record)
    path = write(tmp_path, record)
    found = faults_in(path)
    for one in told:
        assert any(fault.startswith(f"{path}: warning: {one}") for fault in found), found
    assert len(wander.read_graphs([path])) == 1


def test_all_faults_of_all_graphs_are_listed_at_once(tmp_path: Path) -> None:
    first = street()
    for change in (place(3, lat=95), unlink(18, 19), way(5, 6, 7.0), node(8, pano_id="p9")):
        change(first)
    write(tmp_path, first, "a.json")
    (tmp_path / "b.json").write_text("{")
    second = street()
    second["center_pano_id"] = "gone"
    write(tmp_path, second, "c.json")
    found = faults_in(tmp_path)
    assert [fault.split(": ")[0].rpartition("/")[2] for fault in found] == [
        "a.json", "a.json", "a.json", "a.json", "a.json", "a.json", "b.json", "c.json"
    ]  # fmt: skip
    assert "There is no way to it" in "".join(found)


def test_a_way_back_may_be_off_within_the_tolerance(tmp_path: Path) -> None:
    record = street()
    way(4, 3, math.pi + 0.1)(record)
    assert faults_in(write(tmp_path, record), tolerance_deg=6) == []


def test_a_ring_has_no_boundary(tmp_path: Path) -> None:
    record = street()
    way(LAST, 0, 0.0)(record)
    way(0, LAST, math.pi)(record)
    path = write(tmp_path, record)
    assert faults_in(path) == []
    assert wander.describe(wander.read_graphs([path])).graphs[0].center_coverage is None


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "The file has no graph"),
        (b"  \n", "The file has no graph"),
        (b"[]", "The file has no graph"),
        (b"{", "This is not JSON"),
        (b"\xff\xfe\xfa", "The file is not text in UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"3", "This is a number, not a graph"),
        (b'{"pano_id": "a", "neighbors": []}', "This is a node, not a graph"),
        (b"null", "This is null, not a graph"),
    ],
)
def test_files_that_are_no_graphs(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "place.json"
    path.write_bytes(data)
    assert told in faults_in(path)[0]
    with pytest.raises(Agl1kError, match=told):
        wander.read_graphs([path])


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert "cannot be opened: No such file" in faults_in(tmp_path / "none.json")[0]


def test_lines_are_named(tmp_path: Path) -> None:
    good, bad = json.dumps(street()), street(prefix="q")
    place(3, lat=95)(bad)
    path = tmp_path / "set.jsonl"
    path.write_text(f"{good}\n\n{json.dumps(bad)}\n{{broken\n")
    found = [str(fault) for one in wander.inspect_graphs([path]) for fault in one.faults]
    assert found[0].startswith(f"{path}: error: line 3, node q3: lat is 95")
    assert found[1].startswith(f"{path}: error: line 4: This line is not JSON")


def test_keys_come_from_files_and_lines(tmp_path: Path) -> None:
    write(tmp_path / "in" / "japan", street(prefix="a"), "kyoto.json")
    write(tmp_path / "in", street(prefix="b"), "paris.JSON")
    write(tmp_path / "in", {**street(prefix="c"), "key": "mine"}, "x.json")
    write(tmp_path / "in", [street(prefix="d"), street(prefix="e")], "two.json")
    (tmp_path / "in" / "z.json.gz").write_bytes(gzip.compress(json.dumps(street()).encode()))
    (tmp_path / "in" / ".hidden.json").write_text("{")
    (tmp_path / "in" / "pano.png").write_text("no graph")
    keys = [graph.key for graph in wander.read_graphs([tmp_path / "in"])]
    assert keys == ["japan/kyoto", "paris", "two-1", "two-2", "mine", "z"]


def test_two_graphs_of_one_key_are_refused(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a", street()), write(tmp_path / "b", street())
    with pytest.raises(GraphsRefusedError, match=r"The graph 'place' is also in .*a/place\.json"):
        wander.read_graphs([a, b])


def test_broken_graphs_can_be_skipped_but_not_broken_files(tmp_path: Path) -> None:
    bad = street()
    place(3, lat=95)(bad)
    write(tmp_path, bad, "bad.json")
    write(tmp_path, street(), "good.json")
    assert [g.key for g in wander.read_graphs([tmp_path], skip_broken=True)] == ["good"]
    (tmp_path / "worse.json").write_text("{")
    with pytest.raises(GraphsRefusedError, match="worse"):
        wander.read_graphs([tmp_path], skip_broken=True)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="There is no graph"):
        wander.read_graphs([tmp_path])


@pytest.mark.parametrize("name", ["set.jsonl", "folder"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    record = {**crossing(), "licence": "CC BY"}
    record["nodes"][2]["year"] = 2020
    record["nodes"][2]["coordinate"]["altitude"] = 12.5
    before = (graph_of(tmp_path, record, "a"), graph_of(tmp_path, street(), "b"))
    wander.write_graphs(before, tmp_path / "out" / name)
    after = wander.read_graphs([tmp_path / "out" / name])
    assert after == before
    assert after[0].to_dict() == record


def test_a_key_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    graph = graph_of(tmp_path, {**street(), "key": "../../x"})
    with pytest.raises(Agl1kError, match="is no name of a file"):
        wander.write_graphs([graph], tmp_path / "out")


def test_rows_and_columns_are_matrix_ids_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    record = crossing()
    record["nodes"].reverse()
    graph = graph_of(tmp_path, record)
    ends = [graph.by_matrix_id[edge.end].pano_id for edge in graph.ways(0)]
    assert ends == ["north", "east", "south", "west"]
    assert [edge.direction_deg for edge in graph.ways(0)] == pytest.approx([0, 90, 180, 270])


def test_statistics_of_a_crossing(tmp_path: Path) -> None:
    found = wander.describe([graph_of(tmp_path, crossing())])
    one = found.graphs[0]
    assert (one.n_nodes, one.n_edges, one.mean_degree, one.n_boundary) == (5, 4, 1.6, 4)
    assert (one.mean_steps, one.max_steps, one.max_steps_from_center) == (1.6, 2, 1)
    assert one.coverage == {"centre": 1, "north": 0, "east": 0, "south": 0, "west": 0}
    assert (one.country, one.continent) == ("South Africa", "Africa")
    assert found.countries == {"South Africa": 1}
    assert found.n_covered == 0


def test_the_edge_ratio_of_the_paper_is_the_mean_degree() -> None:
    # 32,741 nodes and 39,442 edges (section 3.1), "2.41" (section 3.5)
    assert round(2 * 39_442 / 32_741, 2) == 2.41


def test_thirty_thousand_nodes_in_one_graph() -> None:
    n = 30_000
    nodes = tuple(Node(str(i), i, i * 1e-4, 0.0) for i in range(n))
    edges = tuple(
        Edge(i, j, 0.0 if i < j else math.pi)
        for i in range(n)
        for j in (i - 1, i + 1)
        if 0 <= j < n
    )
    one = wander.describe([Graph("long", "100", nodes, edges)]).graphs[0]
    assert (one.n_edges, one.mean_steps, one.max_steps_from_center) == (n - 1, None, n - 101)
    assert one.center_coverage == 100


@given(st.integers(2, 12), st.data())
def test_coverage_agrees_with_a_search_by_hand(n: int, data: st.DataObject) -> None:
    links = data.draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    pairs = {(a, b) for a, b in links if a != b}
    edges = tuple(Edge(a, b, 0.0) for a, b in sorted(pairs))
    graph = Graph("g", "0", tuple(Node(str(i), i, 0.0, 0.0) for i in range(n)), edges)
    near = {i: {b for a, b in pairs if a == i} | {a for a, b in pairs if b == i} for i in range(n)}
    ends = {i for i in range(n) if len(near[i]) <= 1}
    assert wander.boundary(graph).tolist() == sorted(ends)
    assert wander.coverage(graph).tolist() == [steps_by_hand(pairs, i, ends) for i in range(n)]
    expected = [steps_by_hand(pairs, 0, {i}) for i in range(n)]
    assert wander.steps_from_center(graph).tolist() == expected


def steps_by_hand(pairs: set[tuple[int, int]], start: int, ends: set[int]) -> float:
    reached, steps = {start}, 0
    while not reached & ends:
        more = reached | {b for a, b in pairs if a in reached}
        if more == reached:
            return np.inf
        reached, steps = more, steps + 1
    return steps


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just("p3"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)  # fmt: skip


def places_in(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a tree."""
    found = [path] if path else []
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    return found + [inside for key in keys for inside in places_in(tree[key], (*path, key))]


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_whatever_is_in_a_file_is_told_or_can_be_walked(data: st.DataObject) -> None:
    record = street(5)
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(places_in(record)))
        parent = record
        for key in path:
            parent = parent[key]
        parent[last] = data.draw(JSON)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "place.json")
        path.write_text(json.dumps(record))
        (found,) = wander.inspect_graphs([path])
    if found.graph is None:
        assert any(fault.is_fatal for fault in found.faults)
        return
    assert not any(fault.is_fatal for fault in found.faults)
    assert wander.describe([found.graph]).n_nodes == 5
    walk = wander.Environment(found.graph, max_steps=9)
    while walk.state.moves and not walk.state.must_guess:
        walk.act(wander.Action("move", way=walk.state.moves[-1].way))
