from __future__ import annotations

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.columns import COLUMN, DEFAULT_COLUMNS, RANKABLE, SUBSETS
from leaderboard.query import KINDS, SORTABLE, WEIGHTS, Query, complaints, parse, to_text

_words = st.text(max_size=120).map(
    lambda text: "".join(letter for letter in text if letter.isprintable()).strip()
)


def in_order(known: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sets(st.sampled_from(known)).map(lambda c: tuple(name for name in known if name in c))


queries = st.builds(
    Query,
    board=_words,
    subset=st.sampled_from(list(SUBSETS)),
    rank_by=st.sampled_from(RANKABLE),
    sort=st.sampled_from(("", *SORTABLE)),
    reverse=st.booleans(),
    search=_words,
    kinds=in_order(KINDS),
    weights=st.sampled_from(("", *WEIGHTS)),
    min_coverage=st.integers(0, 100),
    columns=in_order(tuple(COLUMN)).map(lambda columns: columns or DEFAULT_COLUMNS),
    intervals=st.booleans(),
    page=st.integers(1, 9999),
    latest=st.booleans(),
    tools=st.booleans(),
    as_of=st.just("") | st.dates().map(str),
    answered=st.booleans(),
    row=_words,
    other=_words,
)


@given(queries)
def test_an_address_brings_back_its_query(query: Query) -> None:
    assert parse("?" + to_text(query)) == query


@pytest.mark.parametrize("name", ["👩\u200d👩\u200d👧\u200d👦" * 80, "می\u200cخواهم"])
def test_a_search_keeps_the_joiners_of_names(name: str) -> None:
    assert parse(to_text(Query(search=name))).search == name


@given(st.text())
def test_nonsense_never_raises_and_settles(text: str) -> None:
    query = parse(text)
    assert parse(to_text(query)) == query


@given(st.dictionaries(st.sampled_from([*Query.__dataclass_fields__]), st.text(max_size=300)))
def test_nonsense_in_known_parameters_settles(values: dict[str, str]) -> None:
    query = parse(urlencode(values, errors="ignore"))
    assert parse(to_text(query)) == query
    assert set(query.columns) <= set(COLUMN)
    assert 0 <= query.min_coverage <= 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", Query()),
        ("?tab=play&challenge=abc", Query()),
        ("subset=speech&sort=distance_km", Query(subset="speech", sort="distance_km")),
        ("subset=speach&rank_by=luck&min_coverage=-4&weights=ajar", Query()),
        ("min_coverage=9999", Query()),
        ("kinds=people,nobody,scored", Query(kinds=("scored", "people"))),
        ("search=%00%1b[31mx", Query(search="[31mx")),
        ("&".join(["x=1"] * 5000), Query()),
    ],
)
def test_examples(text: str, expected: Query) -> None:
    assert parse(text) == expected


def test_the_address_holds_only_what_differs() -> None:
    assert to_text(Query()) == "tab=leaderboard"
    assert to_text(Query(subset="speech", intervals=False)) == (
        "tab=leaderboard&subset=speech&intervals=0"
    )


def test_a_program_hears_of_every_misspelling() -> None:
    wrong = complaints({"subset": "speach", "colour": "red", "kinds": "scored,robot"})
    assert wrong[0] == "'colour' is not a parameter"
    assert wrong[1].startswith("subset has no value 'speach'; choose from all, speech")
    assert wrong[2].startswith("kinds has no value 'robot'")
    assert complaints({"tab": "leaderboard", "subset": "speech", "sort": ""}) == []
