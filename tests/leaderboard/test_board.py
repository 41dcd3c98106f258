from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from agl1k_core import scoring
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.scoring import SCORER_VERSION, Evaluation, Rank
from leaderboard.board import PEOPLE_ID, Board
from leaderboard.query import KINDS, WEIGHTS, Query
from leaderboard.submit import withdraw
from leaderboard.view import ROWS_PER_PAGE, make_view, ordinal
from store.database import Database
from store.schema import submissions
from tests.support.toy_board import add_guesses, add_model, make_benchmark, make_board
from tests.support.waiting import PATIENCE_S, eventually

RANDOM = "baseline-random"


@pytest.fixture
def full(database: Database, toy: Benchmark) -> Board:
    """Two models that tie, one that is far better, the baselines, and people.

    By its clock scoring takes no time, so that people's guesses are always up to date.
    """
    board = make_board(database, lambda: toy, clock=lambda: 0.0)
    add_model(board, "Near", 0.1, weights="closed", organisation="Ärger & Söhne")
    add_model(board, "Twin A", 5.0, organisation="Lab")
    add_model(board, "Twin B", 5.0)
    add_guesses(board, "ann", [f"clip-{i:02d}" for i in range(20)], degrees_off=1.0)
    return board


def places(board: Board, query: Query) -> dict[str, Rank | None]:
    return {entry.row.model: entry.rank for entry in make_view(board, query).entries}


def test_an_empty_board_has_the_baselines(board: Board) -> None:
    rows = board.rows()
    assert {row.kind for row in rows} == {"baseline"}
    assert len(rows) == 3
    assert all(row.interval("distance_km") for row in rows)


def test_ranks_count_who_is_clearly_better(full: Board) -> None:
    ranks = places(full, Query())
    assert ranks["Near"] == Rank(1, 1, 1)
    # the same answers, so they count once
    assert ranks["Twin A"] == ranks["Twin B"] == Rank(2, 2, 2, tied=True)
    random = ranks["Random point"]
    assert random is not None
    assert random.place >= 3
    assert ranks["People"] == Rank(2, 2, 2)  # behind Near alone; it changes no model's rank


def test_people_with_few_clips_have_no_rank_and_the_reason(board: Board) -> None:
    add_guesses(board, "ann", [f"clip-{i:02d}" for i in range(5)])
    entry = next(e for e in make_view(board, Query()).entries if e.row.kind == "people")
    assert entry.rank is None
    assert "10 clips" in entry.why


def test_guesses_move_no_models_rank(full: Board) -> None:
    before = places(full, Query())
    add_guesses(full, "ben", [f"clip-{i:02d}" for i in range(40)], degrees_off=0.0)
    after = places(full, Query())
    people = full.row(PEOPLE_ID)
    assert people is not None
    assert people.n_guesses == 60
    assert after == before


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    search=st.sampled_from(["", "twin", "ÄRGER", "söhne near", "nobody", "a"]),
    kinds=st.sets(st.sampled_from(KINDS)),
    weights=st.sampled_from(("", *WEIGHTS)),
    coverage=st.integers(0, 100),
    sort=st.sampled_from(["", "model", "rank", "city_accuracy", "coverage", "organisation"]),
    reverse=st.booleans(),
)
def test_search_filters_and_order_move_no_rank(
    search: str, kinds: set[str], weights: str, coverage: int, sort: str, reverse: bool, full: Board
) -> None:
    everything = places(full, Query())
    query = Query(
        search=search,
        kinds=tuple(kinds),
        weights=weights,
        min_coverage=coverage,
        sort=sort,
        reverse=reverse,
    )
    view = make_view(full, query)
    assert len(view.entries) + view.n_hidden == len(everything)
    for entry in view.entries:
        assert entry.rank == everything[entry.row.model]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        (Query(search="twin"), {"Twin A", "Twin B"}),
        (Query(search="ärger"), {"Near"}),
        (Query(search="LAB twin"), {"Twin A"}),
        (Query(weights="closed"), {"Near"}),
        (Query(kinds=("people",)), {"People"}),
        (Query(kinds=("scored",), min_coverage=100), {"Near", "Twin A", "Twin B"}),
        (Query(kinds=("people",), min_coverage=51), set()),
    ],
)
def test_search_and_filters(full: Board, query: Query, models: set[str]) -> None:
    assert set(places(full, query)) == models


def test_sorting_puts_the_best_first_and_the_absent_last(full: Board) -> None:
    view = make_view(full, Query(sort="organisation"))
    names = [entry.row.organisation for entry in view.entries]
    assert names[:2] == ["Lab", "Ärger & Söhne"]
    assert set(names[2:]) == {""}
    backwards = make_view(full, Query(sort="organisation", reverse=True))
    assert [entry.row.organisation for entry in backwards.entries][:2] == names[1::-1]

    by_score = [e.row.value("geoscore") for e in make_view(full, Query(sort="geoscore")).entries]
    assert by_score == sorted(by_score, reverse=True)
    by_distance = [e.row.value("distance_km") for e in make_view(full, Query()).entries]
    assert by_distance == sorted(by_distance)


def test_ranks_follow_metric_and_subset(full: Board) -> None:
    assert full.ranks("country_accuracy", "all") != full.ranks("distance_km", "all")
    speech = full.ranks("distance_km", "speech")
    assert speech[RANDOM].place > 1
    assert full.ranks("distance_km", "music") == {}  # no clip there


def test_the_next_request_shows_what_was_published_or_withdrawn(board: Board) -> None:
    assert "Newcomer" not in places(board, Query())
    done = add_model(board, "Newcomer", 0.1)
    assert places(board, Query())["Newcomer"] == Rank(1, 1, 1)
    assert [guess.name for guess in board.model_guesses(["clip-00"])["clip-00"]] == ["Newcomer"]
    withdraw(board.submissions, done.submission.submission_id, done.withdraw_key)
    assert "Newcomer" not in places(board, Query())
    assert board.model_guesses(["clip-00"]) == {"clip-00": []}


def test_model_guesses_are_the_submitted_ones_nearest_first(full: Board) -> None:
    full.warm()
    found = full.model_guesses(["clip-00", "clip-01", "no such clip"])
    guesses = found["clip-00"]
    assert guesses[0].name == "Near"
    assert {guess.name for guess in guesses} == {"Near", "Twin A", "Twin B"}
    assert guesses[0].distance_km < guesses[1].distance_km
    assert guesses[0].lat == pytest.approx(48.86, abs=0.2)
    assert found["clip-01"][0].lat == pytest.approx(-1.28, abs=0.2)
    assert found["no such clip"] == []


def test_model_guesses_never_wait_for_scoring(full: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    submitted = full.submissions.list

    def slowly(*args: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return submitted(*args)

    monkeypatch.setattr(full.submissions, "list", slowly)
    assert full.model_guesses(["clip-00"]) == {"clip-00": []}
    assert begun.wait(PATIENCE_S), "scored in the background"
    assert full.model_guesses(["clip-00"]) == {"clip-00": []}
    go_on.set()
    eventually(lambda: full.model_guesses(["clip-00"])["clip-00"])


def test_what_another_process_publishes_is_among_the_model_guesses_soon(
    database: Database, full: Board, toy: Benchmark
) -> None:
    full.warm()
    add_model(make_board(database, lambda: toy), "New", 1.0)

    def named() -> list[str]:
        return [guess.name for guess in full.model_guesses(["clip-00"])["clip-00"]]

    eventually(lambda: "New" in named())


def test_of_many_model_guesses_the_nearest_the_median_and_the_farthest_are_shown(
    board: Board,
) -> None:
    for number in range(12):
        add_model(board, f"Model {number}", 1.0 + number)
    board.warm()
    shown = board.model_guesses(["clip-00"])["clip-00"]
    assert [guess.name for guess in shown] == [f"Model {n}" for n in (0, 1, 2, 3, 4, 5, 11)]
    assert {guess.n_models for guess in shown} == {12}


def test_numbers_of_an_older_scorer_are_computed_again(database: Database, full: Board) -> None:
    right = next(row for row in full.rows() if row.model == "Near")
    stored = full.submissions.get(right.row_id)
    assert stored is not None
    metrics = {**stored.evaluation["metrics"], "implied_city_accuracy": 0.123}
    old = update(submissions).where(submissions.c.submission_id == right.row_id)
    with database.write() as connection:
        old = old.values(scorer_version="0", evaluation={**stored.evaluation, "metrics": metrics})
        connection.execute(old)
    again = make_board(database, full_benchmark(full)).row(right.row_id)
    assert again is not None
    assert again.scorer_version == SCORER_VERSION
    assert again.value("implied_city_accuracy") == right.value("implied_city_accuracy") != 0.123
    assert again.interval("distance_km") == right.interval("distance_km") is not None


def full_benchmark(board: Board) -> Callable[[], Benchmark]:
    benchmark = board.benchmark
    assert benchmark is not None
    return lambda: benchmark


def test_scores_of_another_table_are_not_ranked(database: Database, full: Board) -> None:
    other = make_benchmark(39)
    changed = make_board(database, lambda: other)
    near = next(row for row in changed.rows() if row.model == "Near")
    assert near.value("geoscore") > 4000
    assert "another version" in changed.why_unranked(near)
    assert near.row_id not in changed.ranks("distance_km", "all")
    assert changed.scored(near.row_id) is None
    assert changed.row(PEOPLE_ID) is None


def test_without_its_table_the_board_shows_what_is_reported(absent: Board) -> None:
    view = make_view(absent, Query())
    assert {entry.row.kind for entry in view.entries} == {"reported"}
    assert len(view.entries) == 19
    assert view.entries[0].row.model == "Gemini 3 Pro"
    assert all(entry.rank is None and entry.why for entry in view.entries)
    assert "agl1k fetch" in absent.absence


def test_a_table_that_is_fetched_later_is_found(database: Database, toy: Benchmark) -> None:
    here = [False]

    def load() -> Benchmark:
        if not here[0]:
            raise Agl1kError("not yet")
        return toy

    board = make_board(database, load)
    assert board.rows() == ()
    here[0] = True
    assert len(board.rows()) == 3
    assert board.absence == ""


def test_reported_rows_never_take_a_rank(database: Database, toy: Benchmark) -> None:
    published = replace(toy, slug="agl1k")
    board = make_board(database, lambda: published, slug="agl1k")
    add_model(board, "Ours", 20.0)
    entries = make_view(board, Query()).entries
    assert {e.row.kind for e in entries if e.rank} == {"scored", "baseline"}
    ours = next(e.rank for e in entries if e.row.model == "Ours")
    assert ours is not None
    assert ours.place == 1


def test_the_best_is_told_apart_for_scored_and_reported_and_not_where_all_are_equal(
    database: Database, toy: Benchmark
) -> None:
    published = replace(toy, slug="agl1k")
    board = make_board(database, lambda: published, slug="agl1k")
    add_model(board, "Ours", 20.0)
    add_model(board, "Worse", 40.0)  # worse than the baselines, too, which do not count as models
    add_guesses(
        board, "ann", [f"clip-{i:02d}" for i in range(5)]
    )  # nor do people, who are exact but few
    best = make_view(board, Query(columns=("distance_km", "reject_rate", "coverage"))).best
    assert best[(False, "distance_km")] == 2180.57
    ours = next(row for row in board.rows() if row.model == "Ours")
    assert best[(True, "distance_km")] == ours.value("distance_km")
    assert (True, "reject_rate") not in best
    assert (True, "coverage") not in best


def test_while_a_new_file_is_scored_others_get_the_previous_board(
    database: Database, toy: Benchmark, full: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {row.model for row in full.rows()}
    add_model(make_board(database, lambda: toy), "New", 1.0)  # published by another process
    begun, go_on = threading.Event(), threading.Event()
    score = scoring.evaluate

    def slowly(*args: Any, **kwargs: Any) -> Evaluation:
        begun.set()
        assert go_on.wait(60)
        return score(*args, **kwargs)

    monkeypatch.setattr(scoring, "evaluate", slowly)
    first = threading.Thread(target=full.rows)
    first.start()
    assert begun.wait(60)
    assert {row.model for row in full.rows()} == before
    assert full.ranks("geoscore", "all")
    assert full.model_guesses(["clip-00"])["clip-00"]
    assert full.scored(RANDOM)
    go_on.set()
    first.join(60)
    assert {row.model for row in full.rows()} == before | {"New"}


def test_people_and_baselines_show_where_they_would_stand(board: Board) -> None:
    entries = make_view(board, Query()).entries
    assert [(entry.rank, entry.words) for entry in entries] == [(None, "baseline")] * 3
    assert all("No model" in entry.why for entry in entries)
    add_model(board, "Near", 0.1)
    ranks = places(board, Query())
    assert ranks["Near"] == Rank(1, 1, 1)
    assert ranks["Random point"] == Rank(2, 2, 2)


def test_a_baseline_that_the_paper_reports_is_one_row_with_both_numbers(
    database: Database, toy: Benchmark
) -> None:
    published = replace(toy, slug="agl1k")
    board = make_board(database, lambda: published, slug="agl1k")
    names = [row.model for row in board.rows()]
    assert len(names) == len(set(names))
    assert "RANDOM" not in names
    densest = board.row("baseline-densest-region")
    assert densest is not None
    assert densest.reported["all"]["distance_km"] == 3566.64
    assert "The Sonar Moment" in densest.note


def test_reported_rows_say_their_place_in_the_paper(database: Database, toy: Benchmark) -> None:
    published = replace(toy, slug="agl1k")
    board = make_board(database, lambda: published, slug="agl1k")

    def words(query: Query) -> dict[str, str]:
        return {entry.row.model: entry.words for entry in make_view(board, query).entries}

    assert words(Query())["Gemini 3 Pro"] == "1st in the paper"
    assert words(Query())["Gemini 2.5 Pro"] == "2nd in the paper"
    assert words(Query(rank_by="within_25km"))["Gemini 3 Pro"] == "not in the paper"
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th",
    ]  # fmt: skip


def test_a_partial_file_is_marked_and_not_best_in_refusals(board: Board) -> None:
    assert "coverage" not in make_view(board, Query()).columns
    add_model(board, "Whole", 2.0, refused=4)
    add_model(board, "Other", 2.0, refused=6)
    half = add_model(board, "Half", 1.0, first=20)
    view = make_view(board, Query())
    assert view.columns[0] == "coverage"
    row = board.row(half.submission.submission_id)
    assert row is not None
    assert row.is_partial
    assert row.value("reject_rate") == 0
    assert view.best[True, "reject_rate"] == pytest.approx(4 / 40)
    assert make_view(board, Query(columns=("geoscore",))).columns == ("geoscore",)


def test_rows_come_in_pages(board: Board) -> None:
    for i in range(ROWS_PER_PAGE):
        add_model(board, f"Model {i:02d}", 0.1 + i / 10)
    first, last = (make_view(board, Query(page=page)) for page in (1, 99))
    assert (first.n_pages, first.page, last.page) == (2, 1, 2)
    assert len(first.on_page) == ROWS_PER_PAGE
    assert [*first.on_page, *last.on_page] == list(first.entries)


def test_only_the_latest_file_of_a_model_counts_if_asked_for(board: Board) -> None:
    add_model(board, "Ours", 0.2, owner="ada")
    add_model(board, "ours", 9.0, owner="ada")
    add_model(board, "Ours", 3.0, owner="ben")
    found = {e.row.model: e for e in make_view(board, Query(latest=True)).entries}
    entries = [e for e in make_view(board, Query(latest=True)).entries if e.row.kind == "scored"]
    assert [(e.row.owner, e.rank.place if e.rank else None) for e in entries] == [
        ("ben", 1),
        ("ada", 2),
    ]
    assert len(found) == 5
    assert len(make_view(board, Query()).entries) == 6


def test_a_board_as_of_a_date(board: Board) -> None:
    add_model(board, "Early", 3.0)
    add_guesses(board, "ann", [f"clip-{i:02d}" for i in range(12)])
    before, after = (
        make_view(board, Query(as_of=day)).entries for day in ("2026-02-28", "2026-03-01")
    )
    assert [e.row.kind for e in before] == ["baseline"] * 3
    assert all(e.rank is None for e in before)
    assert {e.row.model for e in after if e.rank} >= {"Early"}
    assert "people" not in {e.row.kind for e in after}
