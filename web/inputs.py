"""Checks on the values that callers send to the page's events, before Gradio sees them.

Gradio accepts any JSON for any component: it would fetch an address given as a file, and
fail with a traceback on most other invalid values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr

from web.uploads import Uploads, is_upload

NOT_UPLOADED = "This file was not uploaded here. Upload it, then try again."
_META = {"_type": "gradio.FileData"}
_NO_FILE = "This field takes no file."

#: Nothing here needs larger integers, and JSON in other languages cannot represent them.
_LARGEST = 2**53
_MOST_VALUES = 50_000


def problem_of(function: Any, inputs: Sequence[object]) -> str:
    """What is wrong with the values that a caller sent to a function; "" if nothing is."""
    if function.fn is None:
        return "This event runs in the browser only."
    if len(inputs) != len(function.inputs):
        names = ", ".join(str(getattr(block, "label", None) or "?") for block in function.inputs)
        return f"Send {len(function.inputs)} values ({names}), not {len(inputs)}."
    problems = map(_problem_of_one, function.inputs, inputs)
    return next(filter(None, problems), "")


def with_files(function: Any, inputs: Sequence[object], uploads: Uploads) -> list[object]:
    """The values with the paths of uploaded files; raises ``Agl1kError`` if one is gone."""
    return [
        {"path": str(uploads.find(value["path"])), "meta": _META}
        if isinstance(block, gr.File) and isinstance(value, dict)
        else value
        for block, value in zip(function.inputs, inputs, strict=True)
    ]


def _problem_of_one(block: Any, value: object) -> str:
    problem = _file_problem(value) if isinstance(block, gr.File) else _value_problem(value)
    if isinstance(block, gr.Dropdown | gr.Radio) and isinstance(value, list | dict):
        problem = problem or f"Choose one value for “{block.label}”."
    return problem


def _file_problem(value: object) -> str:
    if value is None:
        return ""
    path = value.get("path") if isinstance(value, dict) else None
    if not isinstance(path, str) or not is_upload(path):
        return NOT_UPLOADED
    return _value_problem({**value, "meta": None}) if isinstance(value, dict) else ""


def _value_problem(value: object) -> str:
    for number, part in enumerate(_parts(value)):
        if number > _MOST_VALUES:
            return "This value is too large: it has too many parts."
        if isinstance(part, int | float) and not abs(part) <= _LARGEST:
            return "A number is too large, or is not a number. Leave it out."
        if isinstance(part, dict) and _is_file(part):
            return _NO_FILE
    return ""


def _parts(value: object) -> Iterator[object]:
    """A value and everything in it; not recursive, because callers may nest deeply."""
    left = [value]
    while left:
        part = left.pop()
        yield part
        if isinstance(part, dict):
            left += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            left += part


def _is_file(part: Mapping[object, object]) -> bool:
    meta = part.get("meta")
    return isinstance(meta, dict) and "_type" in meta
