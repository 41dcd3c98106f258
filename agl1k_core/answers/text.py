"""Fields in text that is not JSON: "Latitude: 48.85", tables with a header, LaTeX, ranked lists.

Every step takes time linear in the length of the text.
"""

from __future__ import annotations

import csv
import re
from itertools import pairwise

from agl1k_core.answers.coordinates import WKT_POINT, pair_in_prose, tidy
from agl1k_core.answers.fields import FIELD_WORDS, Fields, field_of_key, find_fields
from agl1k_core.answers.model import LABELS

_LONGEST_LINE = 2000
_DRESS = r"[\"'*_`).]{0,4}"
_LAT, _LON = "lat(?:itude)?", "(?:long(?:itude)?|lon|lng)"


def _words(*names: str) -> str:
    """Words of other languages, longest first, because one may be the beginning of another."""
    words = sorted({word for name in names for word in FIELD_WORDS[name]}, key=len, reverse=True)
    return "|".join(re.escape(word) for word in words)


_KEY = re.compile(
    rf"(?:(?<![^\W_])(?<!true[_ ])(?P<key>"
    rf"{_LAT}\s?[/,]\s?{_LON}|{_LON}\s?[/,]\s?{_LAT}|{_LAT}|{_LON}"
    rf"|{_words('latitude', 'longitude')})"
    r"|(?:^|[\n,;{|•.，、；。،]|(?<=\s)\*\*)[\s\"'*_`#>|-]{0,8}(?:\d{1,2}[.)]\s)?[\s\"'*_`]{0,4}"
    r"(?:predicted[_ ]|estimated[_ ]|most likely |likely |best guess )?"
    r"(?P<label>city|town|country|continent|coordinates?|location|position|gps"
    rf"|(?:{_words('city', 'country', 'continent')})(?={_DRESS}\s?[:=：|]))"
    r"(?:[_ ]name|[_ ]coordinates)?)"
    rf"{_DRESS}(?:\s?\([^()\n]{{0,24}}\))?[\s*_`]{{0,4}}"
    r"(?:[:=：|]|\s[–—]\s|\b(?:is|of|at)\b|(?=[\s~≈]{0,2}[-+−]?\d))[\s*_`]{0,6}",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(latitude|longitude|lat|lon|lng|city|country|continent|coordinates)>", re.I)
_QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.){0,300})\"")
#: Up to a quotation mark that is not the sign for seconds.
_BARE = re.compile(r"(?:[^\n\r;{}\"|<]|(?<=[\d'])\"){0,120}")
#: A bracket ends a coordinate unless it contains the hemisphere, as in "33.87 (S)".
_COORDINATE_END = re.compile(
    r",(?=\D)|,$|\s(?:and\b|[—–])|[\])]|(?<=[\d°NSEW])\s?\((?!(?:north|south|east|west|[nsew])\))",
    re.IGNORECASE,
)
_RANGE = re.compile(r"(?:between|from|zwischen|entre|tra)\s", re.IGNORECASE)
_LABEL_END = re.compile(r"\.(?:\s|$)|[,，、،]$|[({\[。]")
_RULE = re.compile(r"[\s|:+=-]+")
_ITEM = re.compile(
    r"^[\s#*_`>-]{0,12}(?:(?:candidate|guess|option|rank|choice|prediction|possibility)\s?#?)?"
    r"(\d{1,2})[*_`]{0,3}[.):]",
    re.IGNORECASE | re.MULTILINE,
)
_LATEX = re.compile(r"\\(?:text|boxed|math|circ|degree|approx|[(\[])|\$[^$\n]{1,200}\$")
_LATEX_DEGREE = re.compile(r"\^?\{?\s?\\(?:circ|degree)\b\}?")
_LATEX_COMMAND = re.compile(
    r"\\(?:(?:text\w{0,9}|math\w{0,9}|boxed|mbox|fbox)\s?(?=\{)"
    r"|q?quad\b|left\b|right\b|[,;:!()\[\] ])"
)


def prose_fields(text: str) -> Fields:
    """The fields in lines, a table or prose; for a ranked list, those of its first item."""
    table = _table_fields(text)
    if table:
        return table
    text = _TAG.sub(r"\n\1: ", text)
    text = WKT_POINT.sub(r"\nlon/lat: \1, \2\n", text)
    return _line_fields(_first_ranked(text) or text)


def plain_latex(text: str) -> str:
    """The text without LaTeX markup; unchanged if it has none."""
    if not _LATEX.search(text):
        return text
    text = _LATEX_COMMAND.sub(" ", _LATEX_DEGREE.sub("°", text)).replace("\\approx", "≈")
    return text.replace("$", " ") if '"' in text else re.sub(r"[${}]", " ", text)


def key_values(text: str) -> Fields:
    """Fields in lines such as "**Country:** France" or "Lat = 48.85"; the last one counts."""
    fields: Fields = {}
    keys = list(_KEY.finditer(text))
    ends = [key.start() for key in keys[1:]] + [len(text)]
    for match, end in zip(keys, ends, strict=False):  # without keys, split into one piece
        key = match["key"] or match["label"]
        name = field_of_key(key)
        quoted = _QUOTED.match(text, match.end())
        value = quoted[1] if quoted else _bare(text[match.end() : end])
        if not value.strip():
            continue
        if name in ("latitude", "longitude"):
            fields[name] = _coordinate_text(value)
        elif name in LABELS:
            label = value if quoted else _LABEL_END.split(value, maxsplit=1)[0]
            fields[name] = label.strip(" *_`.,")
        else:
            fields |= find_fields({key: value.strip(" *_`.")})
    return fields


def _line_fields(text: str) -> Fields:
    fields = key_values(text)
    if not ("latitude" in fields and "longitude" in fields):
        pair = pair_in_prose(text)
        fields |= {"latitude": pair[0], "longitude": pair[1]} if pair else {}
    return fields


def _bare(rest: str) -> str:
    match = _BARE.match(rest)
    return match[0] if match else ""


def _coordinate_text(value: str) -> str:
    """The coordinate at the start of the rest of a line; a range, which is no point, is kept."""
    text = tidy(value).strip(" *_`(")
    return text if _RANGE.match(text) else _COORDINATE_END.split(text, maxsplit=1)[0].strip()


def _table_fields(text: str) -> Fields:
    """The first row below a header that names both coordinates."""
    names: list[str | None] = []
    for line in text.splitlines():
        cells = _cells(line)
        if names and len(cells) == len(names):
            found = zip(names, cells, strict=True)
            return {name: cell for name, cell in found if name in (*LABELS, *_POINT) and cell}
        if names and _RULE.fullmatch(line):
            continue
        names = [field_of_key(cell) for cell in cells] if len(cells) > 1 else []
        names = names if set(_POINT) <= {*names} else []
    return {}


_POINT = ("latitude", "longitude")


def _cells(line: str) -> list[str]:
    line = line.strip()
    if not line or len(line) > _LONGEST_LINE or _RULE.fullmatch(line):
        return []
    mark = next((mark for mark in "|\t;," if mark in line), None)
    if mark is None:
        return []
    row = line.strip("|").split("|") if mark == "|" else next(csv.reader([line], delimiter=mark))
    return [cell.strip(" \t*_`\"'") for cell in row]


def _first_ranked(text: str) -> str | None:
    """The first item of a numbered list if each item, and nothing around the list, has a point."""
    marks = [match for match in _ITEM.finditer(text) if len(match[1]) < 3]
    if len(marks) < 2 or [int(mark[1]) for mark in marks] != [*range(1, len(marks) + 1)]:
        return None
    starts = [0, *(mark.start() for mark in marks), len(text)]
    before, *items = [text[a:b] for a, b in pairwise(starts)]
    *others, last = items
    last, _, after = last.strip().partition("\n\n")
    if _holds_point(before) or _holds_point(after):
        return None
    return items[0] if all(_holds_point(item) for item in (*others, last)) else None


def _holds_point(text: str) -> bool:
    fields = _line_fields(text)
    return "latitude" in fields and "longitude" in fields
