"""A visitor's query of a board, and its form in an address; invalid input is ignored."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import date
from urllib.parse import parse_qsl, urlencode

from leaderboard.columns import COLUMN, DEFAULT_COLUMNS, RANKABLE, SUBSETS
from ui.names import JOINERS

KINDS = ("scored", "reported", "people", "baseline")
WEIGHTS = ("open", "closed")
SORTABLE = ("rank", "model", "kind", *COLUMN)
TAB = "leaderboard"

_CHOICES: Mapping[str, Collection[str]] = {
    "subset": SUBSETS,
    "rank_by": RANKABLE,
    "sort": SORTABLE,
    "kinds": KINDS,
    "weights": WEIGHTS,
    "columns": COLUMN,
}
_LONGEST_TEXT = 1000
_MOST_FIELDS = 200


@dataclass(frozen=True, slots=True)
class Query:
    """The state of a board's page.

    ``rank_by`` is the metric of the ranks; ``sort`` is "" for that metric. ``reverse`` reverses the
    order of a column (otherwise the best, or A, comes first). Empty ``kinds`` and
    ``weights`` show everything. ``min_coverage`` is a percentage, ``page`` counts from 1. ``row``
    is the opened row, ``other`` the one it is compared with, on the clips that both answered if
    ``answered``. ``latest`` leaves out all but the newest file of a model by the same people;
    ``as_of`` is a date, YYYY-MM-DD, and leaves out what was published after it. Both change ranks,
    unlike filters. ``tools`` adds people with and without tools for listening closely.
    """

    board: str = ""
    subset: str = "all"
    rank_by: str = "distance_km"
    sort: str = ""
    reverse: bool = False
    search: str = ""
    kinds: tuple[str, ...] = ()
    weights: str = ""
    min_coverage: int = 0
    latest: bool = False
    tools: bool = False
    as_of: str = ""
    columns: tuple[str, ...] = DEFAULT_COLUMNS
    intervals: bool = True
    page: int = 1
    row: str = ""
    other: str = ""
    answered: bool = False

    @property
    def sort_column(self) -> str:
        return self.sort or self.rank_by

    @property
    def filters(self) -> bool:
        """Whether a search or filter is set."""
        return bool(self.search or self.kinds or self.weights or self.min_coverage)


def parse(text: str) -> Query:
    """The query in an address, with or without "?"; invalid parts are ignored."""
    try:
        pairs = parse_qsl(text.lstrip("?"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        return Query()
    return from_mapping(dict(reversed(pairs)))


def from_mapping(given: Mapping[str, str]) -> Query:
    """The same from names and values."""
    return Query(
        board=_text(given, "board"),
        subset=_one_of(given, "subset", SUBSETS, "all"),
        rank_by=_one_of(given, "rank_by", RANKABLE, Query().rank_by),
        sort=_one_of(given, "sort", SORTABLE, ""),
        reverse=given.get("reverse") == "1",
        search=_text(given, "search"),
        kinds=_several(given, "kinds", KINDS),
        weights=_one_of(given, "weights", WEIGHTS, ""),
        min_coverage=_percentage(given.get("min_coverage", "")),
        latest=given.get("latest") == "1",
        tools=given.get("tools") == "1",
        as_of=_day(given.get("as_of", "")),
        columns=_several(given, "columns", COLUMN) or DEFAULT_COLUMNS,
        intervals=given.get("intervals") != "0",
        page=_page(given.get("page", "")),
        row=_text(given, "row"),
        other=_text(given, "other"),
        answered=given.get("answered") == "1",
    )


def complaints(given: Mapping[str, str]) -> list[str]:
    """Everything invalid in names and values, for programs; ``parse`` ignores it."""
    names = {field.name for field in fields(Query)}
    found = [f"{name!r} is not a parameter" for name in given if name not in names | {"tab"}]
    for name, known in _CHOICES.items():
        asked = [value for value in given.get(name, "").split(",") if value]
        wrong = [value for value in asked if value not in known]
        found += [
            f"{name} has no value {value[:40]!r}; choose from {', '.join(known)}" for value in wrong
        ]
    coverage = given.get("min_coverage", "")
    if coverage and not (_is_number(coverage) and int(coverage) <= 100):
        found.append(f"min_coverage is {coverage[:40]!r}; give a whole number from 0 to 100")
    if given.get("as_of", "") and not _day(given["as_of"]):
        found.append(f"as_of is {given['as_of'][:40]!r}; give a date as YYYY-MM-DD")
    for name in ("reverse", "intervals", "latest", "tools"):
        if given.get(name, "") not in ("", "0", "1"):
            found.append(f"{name} is {given[name][:40]!r}; give 0 or 1")
    return found


def to_text(query: Query) -> str:
    """The query for an address, without "?": only what differs from the default."""
    plain = Query()
    pairs = {"tab": TAB}
    for field in fields(query):
        value = getattr(query, field.name)
        if value != getattr(plain, field.name):
            pairs[field.name] = _written(value)
    return urlencode(pairs)


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def _text(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "")[:_LONGEST_TEXT]
    return "".join(letter for letter in text if letter.isprintable() or letter in JOINERS).strip()


def _one_of(given: Mapping[str, str], name: str, known: Collection[str], default: str) -> str:
    value = given.get(name, "")
    return value if value in known else default


def _several(given: Mapping[str, str], name: str, known: Collection[str]) -> tuple[str, ...]:
    """The known names in a comma-separated list, in the order of ``known``."""
    asked = set(given.get(name, "").split(","))
    return tuple(value for value in known if value in asked)


def _day(text: str) -> str:
    try:
        return text if len(text) == 10 and date.fromisoformat(text) else ""
    except ValueError:
        return ""


def _page(text: str) -> int:
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 5 else 1


def _percentage(text: str) -> int:
    return min(int(text), 100) if _is_number(text) else 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 4
