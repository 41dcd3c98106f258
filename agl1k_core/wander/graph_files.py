"""Files of graphs: one graph in a JSON file, many in JSON Lines, or a folder of either."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from agl1k_core.errors import Agl1kError, Problem
from agl1k_core.file_names import shown
from agl1k_core.files import make_folder, save_text
from agl1k_core.inputs import UnreadableFileError, name_of, read_unpacked
from agl1k_core.wander._checks import OPPOSITE_WITHIN_DEG, Rules, check
from agl1k_core.wander._records import Tell, read_record
from agl1k_core.wander.example import located
from agl1k_core.wander.faults import Fault, GraphsRefusedError
from agl1k_core.wander.graph import Graph

_LINES = (".jsonl", ".ndjson")
_SUFFIXES = (".json", *_LINES)
#: The field of an object that names its graph; otherwise the file does.
_KEY = "key"


class _Where(NamedTuple):
    """The place of a graph in a file of several, counted from 1."""

    record: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ReadGraph:
    """What was found of one graph, or of a file that has none.

    Attributes
    ----------
    source
        Its file.
    graph
        The graph, None if it cannot be used.
    faults
        Everything wrong with it.
    """

    source: str
    graph: Graph | None
    faults: tuple[Fault, ...]


def inspect_graphs(
    paths: Iterable[Path],
    *,
    tolerance_deg: float = OPPOSITE_WITHIN_DEG,
    panoramas: Container[str] | None = None,
) -> Iterator[ReadGraph]:
    """Read graphs one by one, and find everything that is wrong with them.

    Parameters
    ----------
    paths
        Files (JSON or JSON Lines, also packed), folders of them, ``-`` for standard input, or
        ``example`` for the example set.
    tolerance_deg
        How far a way back may be from opposite to the way there, in degrees.
    panoramas
        Those that there are, by id; None not to look for them.

    Yields
    ------
    ReadGraph
        One for each graph, and for each file that cannot be read.
    """
    used: dict[str, str] = {}
    rules = Rules(tolerance_deg, panoramas)
    for path, name in _files(paths):
        for found in _inspect_file(path, name, rules):
            yield _with_key_used_once(found, used)


def read_graphs(paths: Iterable[Path], *, skip_broken: bool = False) -> tuple[Graph, ...]:
    """Read graphs that can be used.

    Parameters
    ----------
    paths
        As for `inspect_graphs`.
    skip_broken
        Leave out graphs that cannot be used; files that cannot be read are still refused.

    Raises
    ------
    GraphsRefusedError
        If one cannot be used, with all errors of all of them.
    Agl1kError
        If there is none.
    """
    found = list(inspect_graphs(paths))
    errors = [fault for one in found for fault in one.faults if fault.is_fatal]
    if skip_broken:
        errors = [fault for fault in errors if not fault.graph]
    if errors:
        raise GraphsRefusedError(errors)
    graphs = tuple(one.graph for one in found if one.graph is not None)
    if not graphs:
        raise Agl1kError("There is no graph. Give a JSON file, JSON Lines, or a folder of them.")
    return graphs


def write_graphs(graphs: Sequence[Graph], path: Path) -> list[Path]:
    """Write graphs in the published format.

    Parameters
    ----------
    graphs
        The graphs.
    path
        A file whose name ends in ``.jsonl``, for one line per graph; else a folder, for one file
        per graph, named by its key.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    Agl1kError
        If a file cannot be written.
    """
    if path.suffix.casefold() in _LINES:
        told = ({_KEY: graph.key, **graph.to_dict()} for graph in graphs)
        return [_write(path, "".join(f"{_json(one)}\n" for one in told))]
    return [_write(_inside(path, graph.key), _json(graph.to_dict()) + "\n") for graph in graphs]


def _inside(folder: Path, key: str) -> Path:
    path = folder / f"{key}.json"
    if ".." in path.parts or not path.is_relative_to(folder):
        raise Agl1kError(f"The key {key!r} is no name of a file in {shown(folder)}. Give another.")
    return path


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write(path: Path, text: str) -> Path:
    make_folder(path.parent)
    save_text(path, text)
    return path


def _files(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Each file, and the name of its graph."""
    for path in map(located, paths):
        if not path.is_dir():
            yield path, _stem(Path(name_of(path)))
            continue
        for file in sorted(path.rglob("*")):
            inside = file.relative_to(path)
            is_hidden = any(part.startswith(".") for part in inside.parts)
            if _kind(file) in _SUFFIXES and not is_hidden and not file.is_dir():
                yield file, _stem(inside)


def _kind(path: Path) -> str:
    """The suffix of a file, that of packing left out."""
    unpacked = path.with_suffix("") if path.suffix.casefold() in (".gz", ".zip") else path
    return unpacked.suffix.casefold()


def _stem(path: Path) -> str:
    name = path.as_posix()
    for suffix in path.suffixes[::-1]:
        if suffix.casefold() not in (*_SUFFIXES, ".gz", ".zip"):
            break
        name = name.removesuffix(suffix)
    return name


def _inspect_file(path: Path, name: str, rules: Rules) -> Iterator[ReadGraph]:
    source = shown(path)
    try:
        records = list(_records(read_unpacked(path), path))
    except UnreadableFileError as error:
        records = [(_Where(), error.problem)]
    if not records:
        records = [(_Where(), Problem("The file has no graph", "Leave it out, or fill it"))]
    for where, record in records:
        if _is_only_a_node(record):
            record = Problem(
                "This is a node, not a graph, as in LostBench's files",
                "Give the format of WanderBench: see docs/wander.md",
                *where,
            )
        if isinstance(record, Problem):
            yield ReadGraph(source, None, (Fault(source, record),))
            continue
        key = "-".join([name, *(str(number) for number in where if number)])
        yield _inspect_record(source, record, key, where, rules)


def _is_only_a_node(record: object) -> bool:
    return isinstance(record, dict) and "pano_id" in record and "nodes" not in record


def _records(data: bytes, path: Path) -> Iterator[tuple[_Where, object]]:
    """The objects of a file and where they are, or a problem in the place of one."""
    try:
        whole = json.loads(data)
    except UnicodeDecodeError:
        yield _Where(), Problem("The file is not text in UTF-8", "Save it as UTF-8")
    except RecursionError:
        yield _Where(), Problem("It is nested too deeply", "Give one graph")
    except ValueError as error:
        if _kind(path) in _LINES or _is_in_lines(data):
            yield from _lines(data)
        elif data.strip():
            yield _Where(), Problem(f"This is not JSON: {error}", "Repair the file")
    else:
        if isinstance(whole, list):
            yield from ((_Where(record=n), one) for n, one in enumerate(whole, 1))
        else:
            yield _Where(line=1 if _kind(path) in _LINES else None), whole


def _is_in_lines(data: bytes) -> bool:
    """Whether the first line is an object of its own."""
    first = data.lstrip().partition(b"\n")[0]
    return isinstance(_decoded(first, 1), dict)


def _lines(data: bytes) -> Iterator[tuple[_Where, object]]:
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield _Where(line=number), _decoded(line, number)


def _decoded(line: bytes, number: int) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return Problem(f"This line is not JSON: {error}", "Repair or remove it", line=number)


def _inspect_record(
    source: str, record: object, key: str, where: _Where, rules: Rules
) -> ReadGraph:
    told = record.get(_KEY) if isinstance(record, dict) else None
    key = told if isinstance(told, str) and told.strip() else key
    faults: list[Fault] = []

    def tell_as(is_fatal: bool) -> Tell:
        def tell(found: str, todo: str, node: str | None = None) -> None:
            faults.append(Fault(source, Problem(found, todo, *where, node=node), key, is_fatal))

        return tell

    draft = read_record(record, key, tell_as(True))
    is_usable = not faults
    check(draft, tell_as(False), rules)
    return ReadGraph(source, draft.graph if is_usable else None, tuple(faults))


def _with_key_used_once(found: ReadGraph, used: dict[str, str]) -> ReadGraph:
    """The same graph, refused if an earlier one has its key."""
    if found.graph is None:
        return found
    key = found.graph.key
    if key not in used:
        used[key] = found.source
        return found
    twice = Problem(f"The graph {key!r} is also in {used[key]}", "Give each graph a key of its own")
    return ReadGraph(found.source, None, (*found.faults, Fault(found.source, twice, key)))
