"""A call opens its round once: how many SQL statements each step of the game may take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event

from agl1k_core.benchmarks import Benchmark
from game.handlers import Play
from game.moves import Wish
from game.rounds import Game
from game.screens import Screen
from store.database import Database

PIN = json.dumps({"latitude": 12.5, "longitude": -45.25})


class Statements:
    """Counts the statements of one call at a time, without those that begin transactions."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def note(self, _: object, __: object, statement: str, values: object, *___: object) -> None:
        if not statement.startswith("BEGIN"):
            self.found.append((statement, repr(values)))

    def of(self, act: Callable[[], Screen]) -> tuple[Screen, tuple[int, int]]:
        """What a call shows, and how often it read and wrote."""
        self.found.clear()
        screen = act()
        assert len(set(self.found)) == len(self.found), "a statement is made twice in one call"
        reads = sum(statement.startswith("SELECT") for statement, _ in self.found)
        return screen, (reads, len(self.found) - reads)


@pytest.fixture
def statements(migrated: Database) -> Iterator[Statements]:
    counting = Statements()
    event.listen(migrated.engine, "before_cursor_execute", counting.note)
    yield counting
    event.remove(migrated.engine, "before_cursor_execute", counting.note)


@pytest.fixture
def play(game: Game, toy: Benchmark) -> Play:
    return Play(game, [toy.slug])


@pytest.mark.parametrize("timer_s", [None, 30])
def test_reads_and_writes_of_a_free_round(
    play: Play, statements: Statements, timer_s: int | None
) -> None:
    first, opening = statements.of(lambda: play.open(""))
    player = first.player
    screen, starting = statements.of(lambda: play.start(player, Wish(timer_s=timer_s)))
    assert (opening, starting) == ((2, 2), (1, 2))
    for _ in range(5):
        _, reloading = statements.of(lambda: play.open(player))
        assert reloading == (2, 0)
        shown = screen
        screen, answering = statements.of(lambda: play.submit(player, str(shown.round), PIN))  # noqa: B023
        assert answering == (1, 1)
        screen, going_on = statements.of(lambda: play.go_on(player, str(shown.round), "http://x/"))  # noqa: B023
        assert going_on == (1, 1)
    assert screen.stage == "finished"
    _, reloading = statements.of(lambda: play.open(player, "http://x/"))
    assert reloading == (2, 0)
    _, again = statements.of(lambda: play.play_again(player, str(screen.round)))
    assert again == (2, 2)


@pytest.mark.parametrize("mode", ["daily", "challenge"])
def test_reads_and_writes_of_rounds_that_others_play_too(
    play: Play, statements: Statements, mode: str
) -> None:
    done = play.open("")
    for _ in range(5):
        play.skip(done.player, str(done.round))
        done = play.go_on(done.player, str(done.round))
    assert done.history_entry is not None
    wish = Wish(mode=mode, code=str(done.history_entry["code"]))
    player = play.open("").player
    screen, starting = statements.of(lambda: play.start(player, wish))
    assert starting == ((1, 2) if mode == "daily" else (3, 2))
    for _ in range(5):
        screen, answering = statements.of(lambda: play.skip(player, str(screen.round)))  # noqa: B023
        assert answering == ((1, 1) if mode == "daily" else (2, 1))
        screen, going_on = statements.of(lambda: play.go_on(player, str(screen.round)))  # noqa: B023
    assert screen.stage == "finished"
    assert going_on == (2, 1)  # a daily also asks for the streak
