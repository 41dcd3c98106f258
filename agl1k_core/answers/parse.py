"""One raw answer of a model -> a status, a point and place names; never raises.

In this order: the text as valid JSON; without its thinking, the last JSON object in it that places
the clip; a repaired object; lines and tables such as "Latitude: 48.85"; a pair of coordinates in
prose; and, if there is nothing of the kind, whether the text is a refusal or the message of a
failed call.
Every step is linear in the length of the text.
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
from agl1k_core.answers.refusals import is_failed_call, is_refusing_prose
from agl1k_core.answers.text import key_values, plain_latex, prose_fields

__all__ = ["Answer", "Status", "parse_answer"]

#: The end of an answer holds its conclusion; of a longer text only the end is read.
_LONGEST_TEXT = 200_000
_MOST_BRACKETS = 200
#: json_repair backtracks: what is longer has gone wrong in another way.
_LONGEST_REPAIR = 20_000
_THINKING = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning|analysis|scratchpad|reflection)(?: [^<>]{0,80})?>",
    re.IGNORECASE,
)
_OBJECT_START = re.compile(r"\{(?=\s{0,99}[\"}])|\[(?=\s{0,20}\{)")
#: Digits at the very end of a text that was cut off: 1 may have become 116.4.
_UNFINISHED_NUMBER = re.compile(r"\"?[-+]?(?<![\d.])\d{1,20}\.?$")
_OF_A_PLACE = re.compile(r"\b(?:locat|place|where|country|city|coordinates)", re.IGNORECASE)
_WORDS_WITHIN = ("answer", "response", "output", "text", "content", "message", "result", "refusal")


def parse_answer(text: object) -> Answer:
    """Read one answer: text, or an object that was read from JSON already. Never raises."""
    if isinstance(text, dict | list):
        return _from_tree(text, depth=0) or Answer(Status.UNPARSEABLE)
    if text is None or not isinstance(text, str):
        return Answer(Status.ERROR if text is None else Status.UNPARSEABLE)
    return _parse(text[-_LONGEST_TEXT:].strip().strip("\ufeff\x00").strip(), depth=0)


def _parse(text: str, depth: int) -> Answer:
    if not text:
        return Answer(Status.ERROR)
    tree = load_json(text)
    if isinstance(tree, dict | list):
        return _from_tree(tree, depth) or Answer(Status.UNPARSEABLE)
    if isinstance(tree, str) and depth < 2:
        return _parse(tree.strip(), depth + 1)
    spoken = without_thinking(text).strip()
    found = _from_objects(spoken, depth)
    if found is None:
        spoken = plain_latex(spoken)
        found = _from_broken_object(spoken) or _from_prose(spoken)
    return found


def load_json(text: str | bytes) -> object:
    """The value of a valid JSON text, control characters and NaN allowed; None if it is none."""
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def without_thinking(text: str) -> str:
    """What stands outside tags such as <think>; an unclosed one swallows the rest."""
    kept: list[str] = []
    depth, start = 0, 0
    for tag in _THINKING.finditer(text):
        closing = bool(tag[1])
        if closing and depth == 0:
            kept.clear()  # the opening tag was part of the prompt
        elif not closing and depth == 0:
            kept.append(text[start : tag.start()])
        depth = 0 if closing else 1
        start = tag.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)


def _from_tree(tree: dict[str, object] | list[object], depth: int) -> Answer | None:
    """The answer in an object; None if it holds no field of a place, no text and no error."""
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
    """Whether what stands under "error" are the words of a model that will not place the clip."""
    if not isinstance(told, str) or is_failed_call(told):
        return False
    return bool(_OF_A_PLACE.search(told)) and is_refusing_prose(told)


def _if_point(fields: Fields) -> Answer | None:
    return judge(fields, spoken=True) if places_something(fields) else None


def _texts_within(tree: object) -> Iterator[str]:
    """Texts under keys that APIs use for the answer itself, to a few levels."""
    level = [tree]
    for _ in range(5):
        items = [item for node in level if isinstance(node, dict) for item in node.items()]
        for key, value in items:
            if isinstance(value, str) and str(key).casefold() in _WORDS_WITHIN and value.strip():
                yield value.strip()
        level = [value for _, value in items if isinstance(value, dict | list)]
        level += [item for node in level if isinstance(node, list) for item in node[:8]]


def _from_objects(text: str, depth: int) -> Answer | None:
    """The last valid object in a text that places the clip; one with a point goes first."""
    best: Answer | None = None
    best_has_point = False
    for tree in embedded_objects(text):
        fields = find_fields(tree)
        has_point = "latitude" in fields and "longitude" in fields
        if places_something(fields) and (has_point or not best_has_point):
            best, best_has_point = judge(fields, spoken=True), has_point
    return best


def embedded_objects(text: str) -> Iterator[object]:
    """Valid JSON objects, and lists of them, that stand in a text, in their order."""
    decoder = json.JSONDecoder(strict=False)
    effort = 50 * len(text) + 10_000
    position = 0
    while match := _OBJECT_START.search(text, position):
        start = match.start()
        try:
            tree, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            position = start + 1
            effort -= error.pos  # the error itself counts lines up to there
        except (RecursionError, ValueError):
            return
        else:
            yield tree
        if effort < 0:
            return


def _from_broken_object(text: str) -> Answer | None:
    """The answer in JSON that is no valid JSON: repaired, or its keys and values one by one."""
    start = text.find("{")
    if start < 0:
        return None
    broken = _UNFINISHED_NUMBER.sub("", _last_fence(text) or text[start:])
    fields, pairs = find_fields(_repaired(broken)), key_values(broken)
    if not ("latitude" in fields and "longitude" in fields) or _lost_a_sign(fields, pairs):
        fields = {**fields, **pairs}
    return judge(fields, spoken=True) if places_something(fields) else None


def _lost_a_sign(repaired: Fields, pairs: Fields) -> bool:
    """Whether repairing ``2.35 W`` has dropped the hemisphere, and with it the sign."""
    for name in ("latitude", "longitude"):
        kept, written = read_angle(repaired[name]), read_angle(pairs.get(name))
        if kept and written and kept.degrees == -written.degrees != 0:
            return True
    return False


def _last_fence(text: str) -> str:
    """The last block between code fences that holds an object, or nothing."""
    blocks = [block for block in text.split("```")[1::2] if "{" in block]
    return blocks[-1][blocks[-1].index("{") :] if blocks else ""


def _repaired(broken: str) -> object:
    if len(broken) > _LONGEST_REPAIR or sum(map(broken.count, "{[")) > _MOST_BRACKETS:
        return None
    try:
        return json_repair.loads(broken, skip_json_loads=True)
    except Exception:  # a library's own failure on a model's text is no failure of ours
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
