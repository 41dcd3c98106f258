"""Reads a judge's answer: how much each category contributed.

Answers are paid for, so everything is read whose meaning is plain: JSON after reasoning, in prose,
in code fences or under another key, with small mistakes, names in other capitals, numbers as text
or as the words of the scale. What is left out is rated 0; what cannot be understood is refused.
"""

from __future__ import annotations

import html
import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import json_repair

from agl1k_core.answers import without_reasoning
from agl1k_core.errors import Agl1kError

#: The five levels: none, minor, moderate, significant, the main one.
LEVELS = (0.0, 0.2, 0.5, 0.8, 1.0)
#: Where the next level begins: between the bands of the paper's prompt (0.1 to 0.3 is minor, …).
_BOUNDS = (0.05, 0.35, 0.65, 0.95)
_WORDS = {
    "none": 0.0, "not mentioned": 0.0, "not relevant": 0.0, "irrelevant": 0.0,
    "minor": 0.2, "low": 0.2, "moderate": 0.5, "medium": 0.5, "significant": 0.8, "high": 0.8,
    "primary": 1.0, "dominant": 1.0, "main": 1.0, "main clue": 1.0, "the main clue": 1.0,
}  # fmt: skip
#: Keys of objects that rate one category each, and of the number in such an object.
_NAME_KEYS = ("category", "name", "class", "label", "sound", "sound_category", "key")
_VALUE_KEYS = (
    "rating", "score", "contribution", "value", "level", "contribution_score",
    "contribution_level", "weight",
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?(?:\d{1,9}(?:[.,]\d{0,20})?|[.,]\d{1,20})")
#: What stands between a category and its rating in a line.
_BETWEEN = re.compile(r"\s*[:=|\t→]\s*|\s+[-–—]{1,2}>?\s+")
_DEEPEST, _LONGEST, _MOST_OBJECTS = 5, 100_000, 200
#: json_repair backtracks; longer texts are not worth repairing.
_LONGEST_REPAIR = 20_000

Pairs = list[tuple[str, object]]


def level(value: float) -> float:
    """The level in whose band a value lies."""
    return LEVELS[bisect_right(_BOUNDS, value)]


def parse_ratings(
    text: str, categories: Sequence[str], *, five_levels: bool = True
) -> dict[str, float]:
    """The contribution of each category in a judge's answer; categories it left out are 0.

    Parameters
    ----------
    text
        The answer. The last object in it that rates categories counts.
    categories
        The categories that were to be rated.
    five_levels
        Whether to round to ``LEVELS``.

    Raises
    ------
    Agl1kError
        That names everything that is wrong.

    Examples
    --------
    >>> parse_ratings('<think>Hm.</think>So: {"bird": "0.8",}', ["Bird", "Speech"])
    {'Bird': 0.8, 'Speech': 0.0}
    """
    names = _Names(categories)
    objects = objects_or_lines(said_in(text))
    rated = [pairs for found in objects if (pairs := _rated_pairs(found, names))]
    if rated:
        with_numbers = [*filter(_has_number, rated)]
        return _checked((with_numbers or rated)[-1], names, five_levels)
    if any(map(_is_empty, objects)):
        return dict.fromkeys(categories, 0.0)
    raise Agl1kError(f"The judge's answer rates none of the categories. It begins {text[:80]!r}.")


def said_in(text: str) -> str:
    """An answer without its reasoning; only the end of a very long one."""
    return without_reasoning(text)[-_LONGEST:]


def objects_or_lines(said: str) -> list[object]:
    """The JSON objects in a text; without any, its lines such as ``name: value``, if it has any."""
    return [*_objects(said)] or [lines for lines in [_lines(said)] if lines]


def _has_number(pairs: Pairs) -> bool:
    return any(_number(value) is not None for _, value in pairs)


def _checked(pairs: Pairs, names: _Names, five_levels: bool) -> dict[str, float]:
    """The ratings, once all of them are understood."""
    problems: list[str] = []
    rated: dict[str, float] = {}
    for key, value in pairs:
        name, number = names.find(key), _number(value)
        if value is None or (name is None and number is None):
            continue  # left out, or a remark
        if name is None:
            problems += names.confusions(key, {other for other, _ in pairs})
        elif number is None:
            problems.append(f"{key!r} is rated {value!r:.40}, which is not a number from 0 to 1")
        elif rated.setdefault(name, number) != number:
            problems.append(f"{name!r} is rated twice")
    if problems:
        raise Agl1kError(f"The judge's answer cannot be used: {'; '.join(problems)}.")
    found = {name: level(value) if five_levels else value for name, value in rated.items()}
    return {name: found.get(name, 0.0) for name in names.categories}


# --- names ---------------------------------------------------------------------------------------


class _Names:
    """The categories, by everything that judges call them."""

    def __init__(self, categories: Sequence[str]) -> None:
        self.categories = categories
        self._by_fold = _unique((_fold(name), name) for name in categories)
        self._by_part = _unique((_fold(part), name) for name in categories for part in _parts(name))

    def find(self, key: str) -> str | None:
        """The category that a key names; None if there is none or several."""
        if key in self.categories:
            return key
        folded = _fold(key)
        return self._by_fold.get(folded) or self._by_part.get(folded)

    def confusions(self, key: str, others: set[str]) -> list[str]:
        """A problem if a key that is no category may mean one that is not rated by its name.

        Any other key is a sound that was not asked for, and does no harm.
        """
        rated = {self.find(other) for other in others}
        words = _stems(key)
        if any(words & _stems(name) for name in self.categories if name not in rated):
            return [f"{key!r} is not one of the categories"]
        return []


def _unique(pairs: Iterator[tuple[str, str]]) -> dict[str, str]:
    """The names by their folds, without those that several names share."""
    known = {*pairs}
    counts = Counter(fold for fold, _ in known)
    return {fold: name for fold, name in known if fold and counts[fold] == 1}


def _fold(name: str) -> str:
    """The words of a name in singular, without a number before it."""
    plain = re.sub(r"\A\s*\d{1,3}[.)]\s", "", html.unescape(name)).casefold()
    return " ".join(_singular(word) for word in re.findall(r"[^\W_]+", plain))


def _singular(word: str) -> str:
    return word[:-1] if re.fullmatch(r"\w{2,}[^s]s", word) else word


def _parts(name: str) -> list[str]:
    bare = re.sub(r"\(.*?\)", "", name)
    return [bare, *bare.split(",")]


def _stems(name: str) -> set[str]:
    """The words of a name, without their endings."""
    return {_singular(word)[:5] for word in re.findall(r"[^\W_]{3,}", name.casefold())}


# --- numbers -------------------------------------------------------------------------------------


def _number(value: object) -> float | None:
    """A rating from 0 to 1; None if it is anything else."""
    if isinstance(value, str):
        value = _number_in(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= 1 else None


def _number_in(text: str) -> float | None:
    """The rating in a text such as ``0.8``, ``0,8``, ``80 %``, ``0.7-0.9`` or ``minor``."""
    bare = text.strip().casefold().rstrip(".")
    if bare in _WORDS:
        return _WORDS[bare]
    numbers = [float(found.replace(",", ".")) for found in _NUMBER.findall(_without_words(bare))]
    rest = _NUMBER.sub("", _without_words(bare)).strip()
    if len(numbers) == 1 and rest in ("", "%", "percent"):
        return numbers[0] / 100 if rest else numbers[0]
    if len(numbers) == 2 and rest in ("/", "out of", "of") and numbers[1] in (1, 10, 100):
        return numbers[0] / numbers[1]
    if len(numbers) == 1 and re.match(rf"{_NUMBER.pattern}[\s:;,(–—-]+[^\d%/]+\Z", bare):
        return numbers[0]  # and a remark
    if len(numbers) == 2 and rest in ("-", "–", "to") and numbers[0] <= numbers[1] <= 1:
        return math.fsum(numbers) / 2
    return None


def _without_words(text: str) -> str:
    """A number without the words that explain it, as in ``0.8 (significant)``."""
    bare = re.sub(r"\(.*?\)", "", text).strip()
    for word in _WORDS:
        bare = re.sub(rf"\A{word}\b[\s:=-]*|[\s:=-]*\b{word}\Z", "", bare)
    return re.sub(r"(?<=\d)-(?=\d)", " - ", bare).strip()


# --- objects -------------------------------------------------------------------------------------


class Members(Pairs):
    """An object's members as written, so that a repeated name is noticed."""


def _rated_pairs(found: object, names: _Names, depth: int = 0) -> Pairs:
    """Names and values of the ratings in an object, at whatever depth; none without any."""
    if isinstance(found, Members):
        pairs = [(key, _value_in(value)) for key, value in found]
        if any(names.find(key) and not _is_nested(value) for key, value in pairs):
            return pairs
        one = _one_rating(found)
        if one and names.find(one[0]):
            return [one]
    if depth == _DEEPEST:
        return []
    if isinstance(found, str) and "{" in found:
        found = [*_objects(found)]
    if not isinstance(found, list):
        return []
    inner = [value for _, value in found] if isinstance(found, Members) else found
    parts = [part for value in inner if (part := _rated_pairs(value, names, depth + 1))]
    return [pair for part in parts for pair in part]


def _is_nested(value: object) -> bool:
    return isinstance(value, list)


def _value_in(value: object) -> object:
    """The number in an object such as ``{"score": 0.8, "reason": "…"}``; else the value."""
    if isinstance(value, list) and not isinstance(value, Members) and len(value) == 1:
        return value[0]
    if isinstance(value, Members):
        folded = {key.casefold().replace(" ", "_"): inner for key, inner in value}
        return next((folded[key] for key in _VALUE_KEYS if key in folded), value)
    return value


def _one_rating(found: Members) -> tuple[str, object] | None:
    """Name and value in an object such as ``{"category": "Bird", "rating": 0.8}``."""
    folded = {key.casefold().replace(" ", "_"): value for key, value in found}
    name = next((folded[key] for key in _NAME_KEYS if isinstance(folded.get(key), str)), None)
    value = next((folded[key] for key in _VALUE_KEYS if key in folded), None)
    return (name, value) if isinstance(name, str) and value is not None else None


def _objects(text: str) -> Iterator[object]:
    """The JSON objects and lists in a text, in order; broken ones are repaired.

    Objects with nothing but commas and spaces between them are parts of one answer.
    """
    together: list[object] = []
    position, n_found = 0, 0
    while (start := _next_start(text, position)) >= 0 and n_found < _MOST_OBJECTS:
        if together and text[position:start].strip(" ,;\r\n\t"):
            yield _joined(together)
            together = []
        tree, position = _decoded(text, start)
        together += [] if tree is None else [tree]
        n_found += 1
    if together:
        yield _joined(together)


def _joined(trees: list[object]) -> object:
    return trees[0] if len(trees) == 1 else trees


def _is_empty(found: object) -> bool:
    """Whether an object rates nothing, as ``{}`` and ``{"ratings": {}}`` do."""
    return found == [] or (isinstance(found, Members) and len(found) == 1 and found[0][1] == [])


def _lines(text: str) -> Members:
    """Lines such as ``- **Bird**: 0.8``, ``Bird - 0.8`` and ``| Bird | 0.8 |``."""
    pairs = (_BETWEEN.split(line.strip(" -*•|\t"), maxsplit=1) for line in text.split("\n"))
    return Members(
        (pair[0].strip('*`" '), pair[1].strip('*`" ,')) for pair in pairs if len(pair) == 2
    )


def _next_start(text: str, position: int) -> int:
    match = re.compile(r"\{|\[(?=\s*\{)").search(text, position)
    return match.start() if match else -1


def _decoded(text: str, start: int) -> tuple[object, int]:
    """The object or list that begins at ``start``, None if there is none, and where it ends."""
    decoder = json.JSONDecoder(object_pairs_hook=Members, strict=False)
    try:
        return decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    end = _end_of(text, start)
    return _repaired(text[start:end]), end


def _end_of(text: str, start: int) -> int:
    """Where brackets that open at ``start`` are closed, or else the end of the text."""
    depth = 0
    for match in re.compile(r"[\[{\]}]").finditer(text, start):
        depth += 1 if match[0] in "[{" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _repaired(broken: str) -> object:
    if len(broken) > _LONGEST_REPAIR or sum(map(broken.count, "{[")) > 200:
        return None
    try:
        tree = json_repair.loads(broken, skip_json_loads=True)
    except Exception:  # a model's text may crash the library, but must not crash us
        return None
    return _as_pairs(tree) or None


def _as_pairs(tree: object) -> object:
    if isinstance(tree, Mapping):
        return Members((str(key), _as_pairs(value)) for key, value in tree.items())
    if isinstance(tree, list):
        return [_as_pairs(value) for value in tree]
    return tree
