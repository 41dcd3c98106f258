"""Recognises the shapes that other programs give answers in JSON, and names those it cannot read.

Beside a list of records and an object that maps clips to answers: tables by columns or by rows, as
pandas writes them; GeoJSON; and any of these inside an object that says what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from agl1k_core.predictions.records import ID_KEYS, KEYED, JsonObject, UnreadableError

#: Whether a value names a clip.
IsClip = Callable[[object], bool]

#: A record that is only a raw answer is read as if it were in this field.
_ANSWER = "answer"
_WRAPPERS = (
    "predictions", "results", "records", "data", "answers", "responses", "outputs", "samples",
    "logs", "items", "rows", "clips",
)  # fmt: skip
#: An object with more names is taken for one that maps clips to answers.
_MOST_NAMES = 1000
_TODO = (
    "Send a list of records, one per clip, each with the clip's key; see docs/prediction-format.md"
)
#: Names that an object has -> what it is.
_KNOWN = {
    ("choices", "model"): "one response of a chat API",
    ("results", "versions"): "a summary of an evaluation harness, with scores instead of answers",
    ("config", "results"): "a summary of an evaluation harness, with scores instead of answers",
    ("annotations", "categories"): "a COCO file",
    ("cells", "nbformat"): "a notebook",
    ("model_state", "epoch"): "a checkpoint",
}


def records_in(tree: object, is_clip: IsClip, depth: int = 0) -> list[object]:
    """The records of a JSON text; raises ``UnreadableError`` that names any other shape."""
    if isinstance(tree, list):
        return _of_list(tree, is_clip)
    if not isinstance(tree, dict):
        raise UnreadableError(
            "The JSON contains no records", "Send a list of objects, one per clip"
        )
    for read in (_of_geojson, _of_split, _of_columns):
        found = read(tree)
        if found is not None:
            return found
    if _is_by_columns_of_clips(tree, is_clip):
        return _from_columns_of_clips(cast("dict[str, dict[str, object]]", tree))
    if not any(map(is_clip, tree)) and not _is_one(tree, is_clip):
        inside = _wrapped(tree)
        if not isinstance(inside, list):
            _refuse_known(tree)
        if inside is not None and depth < 3:
            return records_in(inside, is_clip, depth + 1)
    if any(isinstance(tree.get(name), str | int) for name in ID_KEYS):
        return [tree]
    _refuse_other_objects(tree, is_clip)
    return [_keyed(clip, value) for clip, value in tree.items()]


def _is_one(tree: Mapping[str, object], is_clip: IsClip) -> bool:
    """Whether an object is the record of a clip."""
    return any(is_clip(tree.get(name)) for name in ID_KEYS)


def _keyed(clip: str, value: object) -> dict[str, object]:
    if isinstance(value, dict):
        value[KEYED] = clip
        return value
    return {KEYED: clip, _ANSWER: value}


def _of_list(items: list[object], is_clip: IsClip) -> list[object]:
    """Records of a list of lists, or of objects with one clip each; other lists as they are."""
    kinds = set(map(type, items))
    if kinds == {list}:
        return _of_rows(cast("list[list[object]]", items), is_clip)
    if kinds and kinds <= {dict, JsonObject}:
        objects = cast("list[dict[str, object]]", items)
        if all(len(item) == 1 and is_clip(next(iter(item))) for item in objects):
            return [_keyed(clip, value) for item in objects for clip, value in item.items()]
    return items


def _of_rows(rows: list[list[object]], is_clip: IsClip) -> list[object]:
    header, width = rows[0], len(rows[0])
    if any(str(name).casefold() in ID_KEYS for name in header):
        return _from_rows([str(name) for name in header], rows[1:])
    if all(len(row) == 2 and is_clip(row[0]) and isinstance(row[1], dict | str) for row in rows):
        return [_keyed(str(clip), value) for clip, value in rows]
    found = (
        f"The file is a table without a header: {len(rows):,} lists, the first of {width} values"
    )
    raise UnreadableError(found, "Put the names of the columns first, such as key and latitude")


def _from_rows(names: Sequence[str], rows: Sequence[object]) -> list[object]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or len(row) != len(names):
            n = len(row) if isinstance(row, list) else 0
            found = f"Row {number} of the table has {n} values, there are {len(names)} columns"
            raise UnreadableError(found, "Correct the row")
    return [dict(zip(names, cast("list[object]", row), strict=True)) for row in rows]


def _of_geojson(tree: Mapping[str, Any]) -> list[object] | None:
    features = tree.get("features") if tree.get("type") == "FeatureCollection" else None
    return list(map(_feature, features)) if isinstance(features, list) else None


def _feature(feature: object) -> object:
    if not isinstance(feature, dict):
        return feature
    properties = feature.get("properties")
    record: dict[str, object] = dict(properties) if isinstance(properties, dict) else {}
    if feature.get("id") is not None and not any(name in record for name in ID_KEYS):
        record["id"] = feature["id"]
    return {**record, "geometry": feature.get("geometry")}


def _of_split(tree: Mapping[str, Any]) -> list[object] | None:
    """pandas' orient "split": names of the columns, and rows, which the index may name."""
    names, rows, index = tree.get("columns"), tree.get("data"), tree.get("index")
    if not (isinstance(names, list) and isinstance(rows, list)):
        return None
    records = _from_rows(list(map(str, names)), rows)
    if isinstance(index, list) and len(index) == len(rows) and not {*map(str, names)} & {*ID_KEYS}:
        return [
            {KEYED: clip, **cast("dict[str, object]", record)}
            for clip, record in zip(index, records, strict=True)
        ]
    return records


def _of_columns(tree: Mapping[str, object]) -> list[object] | None:
    """A table by columns: pandas' default, in which each is an object, or lists."""
    columns = {name: _cells(value) for name, value in tree.items()}
    filled = {name: cells for name, cells in columns.items() if cells is not None}
    ids = [name for name in filled if name.casefold() in ID_KEYS]
    names = f"{', '.join(list(columns)[:6])}{', …' if len(columns) > 6 else ''}"
    if not filled or len(filled) < len(columns) or len(filled) > _MOST_NAMES:
        return None
    if not ids:
        if not {"latitude", "longitude", "lat", "lon"} & {name.casefold() for name in filled}:
            return None
        found = f"The file is a table by columns: {names}. None of them names the clips"
        raise UnreadableError(found, f"Add a column with the clips' keys: {', '.join(ID_KEYS)}")
    lengths = {len(cells) for cells in filled.values()}
    if len(lengths) > 1:
        found = f"The file is a table by columns ({names}) with columns of different lengths"
        raise UnreadableError(found, "Give each clip a value in each column, or null")
    rows = zip(*filled.values(), strict=True)
    return [dict(zip(filled, row, strict=True)) for row in rows]


def _is_by_columns_of_clips(tree: Mapping[str, object], is_clip: IsClip) -> bool:
    """Whether each value maps clips to cells, as pandas writes a frame indexed by them."""
    columns = [value for value in tree.values() if isinstance(value, dict)]
    if not columns or len(columns) < len(tree) or any(map(is_clip, tree)):
        return False
    return any(map(is_clip, columns[0]))


def _from_columns_of_clips(columns: Mapping[str, Mapping[str, object]]) -> list[object]:
    clips = dict.fromkeys(clip for column in columns.values() for clip in column)
    return [
        {KEYED: clip, **{name: column.get(clip) for name, column in columns.items()}}
        for clip in clips
    ]


def _cells(column: object) -> list[object] | None:
    """The cells of a column; None if the value is none."""
    if isinstance(column, list):
        return column
    if isinstance(column, dict) and column and all(map(str.isdecimal, column)):
        return list(column.values())
    return None


def _wrapped(tree: Mapping[str, object]) -> object | None:
    """What an object with a name such as "predictions" contains; a list before an object."""
    for name in sorted(_WRAPPERS, key=lambda name: not isinstance(tree.get(name), list)):
        value = tree.get(name)
        some = list(value.values()) if isinstance(value, dict) else value
        if isinstance(some, list) and any(isinstance(item, dict | list) for item in some):
            return value
        if isinstance(value, dict) and name == "predictions":
            return value
    return None


def _refuse_other_objects(tree: Mapping[str, object], is_clip: IsClip) -> None:
    """Refuse an object that plainly does not map clips to answers."""
    if not tree:
        raise UnreadableError("The file contains no predictions: it is an empty object", _TODO)
    if len(tree) > _MOST_NAMES or any(map(is_clip, tree)):
        return
    kinds = {dict if isinstance(value, dict) else type(value) for value in tree.values()}
    if not kinds <= {dict, str, list, type(None)}:
        names = ", ".join(f"{str(name)[:40]!r}" for name in list(tree)[:6])
        found = f"The file is one object with the names {names}, of which none is a clip"
        raise UnreadableError(found, _TODO)


def _refuse_known(tree: Mapping[str, object]) -> None:
    """Refuse an object that is known not to contain answers."""
    for names, kind in _KNOWN.items():
        if {*names} <= tree.keys():
            raise UnreadableError(f"The file is {kind}", _TODO)
