"""Parses one raw answer of a model into a status, a point and place names; never raises.

These are tried in order: the text as valid JSON; the last JSON object outside its reasoning that
names a place; a repaired object; lines and tables such as "Latitude: 48.85"; a pair of coordinates
in prose. If none applies, the text may be a refusal or the message of a failed call.
Every step takes time linear in the length of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import json_repair
import msgspec

from agl1k_core import places
from agl1k_core.answers.coordinates import read_angle
from agl1k_core.answers.fields import Fields, find_fields, judge, places_something
from agl1k_core.answers.model import Answer, Status
from agl1k_core.answers.reasoning import is_reasoning, is_reasoning_part, without_reasoning
from agl1k_core.answers.refusals import is_failed_call, is_refusing_prose
from agl1k_core.answers.text import key_values, plain_latex, prose_fields

#: The conclusion is at the end of an answer, so only the end of a longer text is read.
_LONGEST_TEXT = 200_000
_MOST_BRACKETS = 200
#: json_repair backtracks; longer texts are not worth repairing.
_LONGEST_REPAIR = 20_000
_OBJECT_START = re.compile(r"\{(?=\s{0,99}[\"}])|\[(?=\s{0,20}\{)")
#: Digits at the very end of a truncated text: 1 may be the beginning of 116.4.
_UNFINISHED_NUMBER = re.compile(r"\"?[-+]?(?<![\d.])\d{1,20}\.?$")
_OF_A_PLACE = re.compile(r"\b(?:locat|place|where|country|city|coordinates)", re.IGNORECASE)
_WORDS_WITHIN = ("answer", "response", "output", "text", "content", "message", "result", "refusal")


def parse_answer(text: object) -> Answer:
    """Parse one answer of a model.

    Parameters
    ----------
    text : str, dict, list or None
        The raw answer, or an object already read from JSON. None means that there is no answer.

    Returns
    -------
    Answer
        Never raises: an answer that cannot be used has another status than ``answered``.

    Examples
    --------
    >>> import agl1k_core as ag
    >>> answer = ag.parse_answer('Gulls and French. {"latitude": 48.4, "longitude": "4.5 W"}')
    >>> str(answer.status), answer.latitude, answer.longitude
    ('answered', 48.4, -4.5)
    >>> str(ag.parse_answer("I cannot determine the location.").status)
    'refused'
    """
    if isinstance(text, dict | list):
        return _from_tree(text, depth=0) or Answer(Status.UNPARSEABLE)
    if text is None or not isinstance(text, str):
        return Answer(Status.ERROR if text is None else Status.UNPARSEABLE)
    if len(text) > _LONGEST_TEXT:
        text = without_reasoning(text)[-_LONGEST_TEXT:]
        if not text.strip():
            return Answer(Status.UNPARSEABLE)
    return _parse(text.strip().strip("\ufeff\x00").strip(), depth=0)


def _parse(text: str, depth: int) -> Answer:
    if not text:
        return Answer(Status.ERROR)
    tree = load_json(text)
    if isinstance(tree, dict | list):
        return _from_tree(tree, depth) or Answer(Status.UNPARSEABLE)
    if isinstance(tree, str) and depth < 2:
        return _parse(tree.strip(), depth + 1)
    spoken = without_reasoning(text).strip()
    found = _from_objects(spoken, depth)
    if found is None:
        spoken = plain_latex(spoken)
        found = _from_broken_object(spoken) or _from_prose(spoken)
    return found


def load_json(text: str | bytes) -> object:
    """The value of a JSON text, which may contain control characters and NaN; None if invalid."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _from_tree(tree: dict[str, object] | list[object], depth: int) -> Answer | None:
    """The answer in an object; None if it has no field of a place, no text and no error."""
    fields = find_fields(tree)
    if places_something(fields):
        return judge(fields, spoken=True)
    if depth < 3:
        for text in _texts_within(tree):
            answer = _parse(text, depth + 1)
            if answer.status is not Status.UNPARSEABLE:
                return answer
    if isinstance(tree, dict):
        told = next((tree[key] for key in ("error", "errors", "Error") if tree.get(key)), None)
        if told is not None:
            return Answer(Status.REFUSED if _declines(told) else Status.ERROR)
    if isinstance(tree, list) and len(tree) == 2:
        return _if_point(find_fields({"coordinates": tree}))
    return None


def _declines(told: object) -> bool:
    """Whether the value of "error" is the model's own refusal to name a place."""
    if not isinstance(told, str) or is_failed_call(told):
        return False
    return bool(_OF_A_PLACE.search(told)) and is_refusing_prose(told)


def _if_point(fields: Fields) -> Answer | None:
    return judge(fields, spoken=True) if places_something(fields) else None


def _texts_within(tree: object) -> Iterator[str]:
    """Texts under keys that APIs use for the answer itself, a few levels deep."""
    level = tree[:8] if isinstance(tree, list) else [tree]
    for _ in range(8):
        nodes = [node for node in level if isinstance(node, dict) and not is_reasoning_part(node)]
        items = [item for node in nodes for item in node.items() if not is_reasoning(str(item[0]))]
        for key, value in items:
            if isinstance(value, str) and str(key).casefold() in _WORDS_WITHIN and value.strip():
                yield value.strip()
        level = [value for _, value in items if isinstance(value, dict | list)]
        level += [item for node in level if isinstance(node, list) for item in node[:8]]


def _from_objects(text: str, depth: int) -> Answer | None:
    """The last valid object in a text that names a place; objects with a point are preferred."""
    best: Answer | None = None
    best_has_point = False
    for tree in embedded_objects(text):
        fields = find_fields(tree)
        has_point = "latitude" in fields and "longitude" in fields
        if places_something(fields) and (has_point or not best_has_point):
            best, best_has_point = judge(fields, spoken=True), has_point
    return best


def embedded_objects(text: str) -> Iterator[object]:
    """Valid JSON objects in a text, and lists of them, in order."""
    decoder = json.JSONDecoder(strict=False)
    effort = 50 * len(text) + 10_000
    position = 0
    while match := _OBJECT_START.search(text, position):
        start = match.start()
        try:
            tree, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            position = start + 1
            effort -= error.pos  # creating the error counts all lines before it
        except (RecursionError, ValueError):
            return
        else:
            yield tree
        if effort < 0:
            return


def objects_in(text: str) -> list[dict[str, object]]:
    """The JSON objects in an answer outside its reasoning, in order.

    If none is valid, the one that is not is repaired, as far as that can be done.

    Examples
    --------
    >>> objects_in('<think>{"a": 1}</think> I choose {"b": 2}.')
    [{'b': 2}]
    >>> objects_in("{'b': 2,}")
    [{'b': 2}]
    """
    spoken = without_reasoning(text)[-_LONGEST_TEXT:]
    found = [tree for tree in embedded_objects(spoken) if isinstance(tree, dict)]
    if found or "{" not in spoken:
        return found
    repaired = _repaired(_last_fence(spoken) or spoken[spoken.index("{") :])
    return [repaired] if isinstance(repaired, dict) and repaired else []


def _from_broken_object(text: str) -> Answer | None:
    """The answer in invalid JSON: from the repaired object, or key by key."""
    start = text.find("{")
    if start < 0:
        return None
    broken = _UNFINISHED_NUMBER.sub("", _last_fence(text) or text[start:])
    fields, pairs = find_fields(_repaired(broken)), key_values(broken)
    if not ("latitude" in fields and "longitude" in fields) or _lost_a_sign(fields, pairs):
        fields = {**fields, **pairs}
    return judge(fields, spoken=True) if places_something(fields) else None


def _lost_a_sign(repaired: Fields, pairs: Fields) -> bool:
    """Whether repairing ``2.35 W`` dropped the hemisphere and thereby the sign."""
    for name in ("latitude", "longitude"):
        kept, written = read_angle(repaired[name]), read_angle(pairs.get(name))
        if kept and written and kept.degrees == -written.degrees != 0:
            return True
    return False


def _last_fence(text: str) -> str:
    """The object in the last code fence that has one, or ""."""
    blocks = [block for block in text.split("```")[1::2] if "{" in block]
    return blocks[-1][blocks[-1].index("{") :] if blocks else ""


def _repaired(broken: str) -> object:
    if len(broken) > _LONGEST_REPAIR or sum(map(broken.count, "{[")) > _MOST_BRACKETS:
        return None
    try:
        return json_repair.loads(broken, skip_json_loads=True)
    except Exception:  # a model's text may crash the library, but must not crash us
        return None


def _from_prose(text: str) -> Answer:
    fields = prose_fields(text)
    if places_something(fields):
        answer = judge(fields, spoken=True)
        if answer.status is not Status.UNPARSEABLE or any(
            getattr(answer, name) for name in ("city", "country", "continent")
        ):
            return answer
    if is_failed_call(text):
        return Answer(Status.ERROR)
    if places.is_refusal(text) or is_refusing_prose(text):
        return Answer(Status.REFUSED, reason=text)
    return Answer(Status.UNPARSEABLE)
