"""A call opens its round once: how many SQL statements each step of the game may take."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event

from agl1k_core.benchmarks import Benchmark
from game.answers import Answer, answer_of
from game.moves import Moves, Outcome, Wish
from game.rounds import Game
from store.database import Database
from ui.model_guess import Opponent

PIN = (12.5, -45.25)


class Statements:
    """Counts the statements of one call at a time, without those that begin transactions."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def note(self, _: object, __: object, statement: str, values: object, *___: object) -> None:
        if not statement.startswith("BEGIN"):
            self.found.append((statement, repr(values)))

    def of(self, act: Callable[[], Outcome]) -> tuple[Answer, tuple[int, int]]:
        """What a call shows, and how often it read and wrote."""
        self.found.clear()
        answer = answer_of(act(), fragments=True)
        assert len(set(self.found)) == len(self.found), "a statement is made twice in one call"
        reads = sum(statement.startswith("SELECT") for statement, _ in self.found)
        return answer, (reads, len(self.found) - reads)


@pytest.fixture
def statements(migrated: Database) -> Iterator[Statements]:
    counting = Statements()
    event.listen(migrated.engine, "before_cursor_execute", counting.note)
    yield counting
    event.remove(migrated.engine, "before_cursor_execute", counting.note)


@pytest.fixture
def moves(game: Game, toy: Benchmark) -> Moves:
    return Moves(game, [toy.slug])


@pytest.mark.parametrize("timer_s", [None, 30])
def test_reads_and_writes_of_a_free_round(
    moves: Moves, statements: Statements, timer_s: int | None
) -> None:
    first, opening = statements.of(lambda: moves.open(""))
    player = first.player
    screen, starting = statements.of(lambda: moves.start(player, Wish(timer_s=timer_s)))
    assert (opening, starting) == ((2, 2), (1, 2))
    for _ in range(5):
        _, reloading = statements.of(lambda: moves.open(player))
        assert reloading == (2, 0)
        shown = screen
        screen, answering = statements.of(lambda: moves.guess(player, shown.round, PIN))  # noqa: B023
        assert answering == (1, 1)
        screen, going_on = statements.of(lambda: moves.go_on(player, shown.round))  # noqa: B023
        assert going_on == (1, 1)
    assert screen.phase == "finished"
    _, reloading = statements.of(lambda: moves.open(player))
    assert reloading == (2, 0)
    _, again = statements.of(lambda: moves.again(player, screen.round))
    assert again == (2, 2)


def test_an_opponent_costs_no_statement(
    new_game: Callable[..., Game], toy: Benchmark, statements: Statements
) -> None:
    rival = Opponent("row", "Model", "scored", {clip.key: 1.0 for clip in toy.clips})
    moves = Moves(new_game(opponents=lambda benchmark, *, fresh: [rival]), [toy.slug])
    player = moves.open("").player
    screen, starting = statements.of(
        lambda: moves.start(player, Wish(mode="model", opponent="row"))
    )
    assert starting == (1, 2)
    screen, answering = statements.of(lambda: moves.guess(player, screen.round, PIN))
    assert screen.versus is not None
    assert answering == (1, 1)


def test_reads_and_writes_in_a_room(moves: Moves, statements: Statements) -> None:
    host = moves.open("").player
    first, opening = statements.of(lambda: moves.start(host, Wish(mode="room", nickname="A")))
    assert opening == (2, 6)
    assert first.room is not None
    wish = Wish(mode="room", code=first.room.code, nickname="B")
    player = moves.open("").player
    screen = answer_of(moves.start(player, wish))
    for _ in range(5):
        screen, answering = statements.of(lambda: moves.skip(player, screen.round))  # noqa: B023
        assert answering == (1, 1)
        screen, going_on = statements.of(lambda: moves.go_on(player, screen.round))  # noqa: B023
        assert going_on == (1, 1)


@pytest.mark.parametrize("mode", ["daily", "challenge"])
def test_reads_and_writes_of_rounds_that_others_play_too(
    moves: Moves, statements: Statements, mode: str
) -> None:
    done = moves.open("")
    for _ in range(5):
        moves.skip(done.player, done.view.token)
        done = moves.go_on(done.player, done.view.token)
    assert done.view.summary is not None
    wish = Wish(mode=mode, code=done.view.summary.code)
    moves.start(moves.open("").player, wish)  # a day's clips are looked up once
    player = moves.open("").player
    screen, starting = statements.of(lambda: moves.start(player, wish))
    assert starting == ((1, 2) if mode == "daily" else (3, 2))
    for _ in range(5):
        screen, answering = statements.of(lambda: moves.skip(player, screen.round))  # noqa: B023
        assert answering == ((1, 1) if mode == "daily" else (2, 1))
        screen, going_on = statements.of(lambda: moves.go_on(player, screen.round))  # noqa: B023
    assert screen.phase == "finished"
    assert going_on == (2, 1)  # a daily also asks for the streak
