"""A round against a row of the board: its total grows with the player's answers, never before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, UnavailableError
from game.answers import answer_of, rivals_of
from game.guessing import points_at
from game.moves import NO_OPPONENT, Moves, Wish
from game.refusals import NotFoundError
from game.reveal import share_text
from game.rounds import Game
from game.screens import result_html, status_html
from game.versus import GONE, SCORING
from tests.support.toy_game import ToyClips, play, summary_of
from ui.model_guess import Opponent

#: Kilometres that occur in an answer for no other reason.
KM = 1234.5678


class Board:
    """Opponents that can change."""

    def __init__(self, *rows: Opponent) -> None:
        self.rows: Sequence[Opponent] | None = rows
        self.asked: list[bool] = []

    def __call__(self, benchmark: Benchmark, /, *, fresh: bool) -> Sequence[Opponent] | None:
        self.asked.append(fresh)
        return self.rows


def opponent(keys: Sequence[str], name: str = "gemini-3") -> Opponent:
    return Opponent("row-1", name, "scored", {key: KM + n for n, key in enumerate(keys)})


@pytest.fixture
def keys(toy: Benchmark) -> list[str]:
    return [clip.key for clip in toy.clips]


@pytest.fixture
def board(keys: list[str]) -> Board:
    return Board(opponent(keys[:20]))


@pytest.fixture
def game(new_game: Callable[..., Game], board: Board) -> Game:
    return new_game(opponents=board)


@pytest.fixture
def moves(game: Game, toy: Benchmark) -> Moves:
    return Moves(game, [toy.slug])


WISH = Wish(mode="model", opponent="row-1")


def test_its_total_counts_the_clips_that_the_player_has_answered(
    moves: Moves, game: Game, board: Board, keys: list[str]
) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    assert state.mode == "model"
    expected = 0
    for _ in range(5):
        assert state.versus is not None
        assert state.versus.total == expected
        assert len(state.versus.points) == state.position
        key = game.resolve(state.clip_token)[1]  # type: ignore[index]
        assert key in keys[:20], "the opponent has answered it"
        state = moves.guess(player, state.token, (1.0, 2.0)).view
        expected += points_at(KM + keys.index(key))
        assert state.versus is not None
        assert (state.versus.name, state.versus.total) == ("gemini-3", expected)
        state = moves.go_on(player, state.token).view
    summary = summary_of(state)
    line = f"Me {summary.total:,} · gemini-3 {expected:,}"
    assert line in share_text(summary).splitlines()
    assert summary.history_entry()["versus"] == {"name": "gemini-3", "total": expected}


def test_nothing_about_an_open_clip_is_sent(moves: Moves, game: Game, keys: list[str]) -> None:
    """Two opponents that differ in the open clips only lead to the same answers."""
    player = game.new_player()
    state = moves.start(player, WISH)
    packed = msgspec.json.encode(answer_of(state, fragments=True)).decode()
    assert "1234" not in packed
    assert state.view.versus is not None
    assert state.view.versus.points == ()
    listed = msgspec.json.encode(rivals_of(moves.opponents())).decode()
    assert not [key for key in keys if key in listed]


def test_what_an_open_clip_would_bring_does_not_change_an_answer(
    moves: Moves, game: Game, board: Board, keys: list[str]
) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    first = game.resolve(state.clip_token)[1]  # type: ignore[index]
    state = moves.guess(player, state.token, (1.0, 2.0)).view
    state = moves.go_on(player, state.token).view
    before = answer_of(moves.state(player))
    others = {key: KM if key == first else 1.0 for key in keys[:20]}
    others[first] = KM + keys.index(first)
    board.rows = [Opponent("row-1", "gemini-3", "scored", others)]
    assert answer_of(moves.state(player)) == before


def test_a_broken_clip_counts_for_neither_and_a_skipped_one_for_both(
    moves: Moves, game: Game
) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    state = moves.broken(player, state.token).view
    assert state.versus is not None
    assert (state.versus.points, state.versus.total) == ((None,), 0)
    state = moves.go_on(player, state.token).view
    state = moves.skip(player, state.token).view
    assert state.versus is not None
    assert (state.versus.total or 0) > 0
    assert state.total == 0


def test_a_friend_plays_the_same_clips_against_the_same_opponent(moves: Moves, game: Game) -> None:
    player, friend = game.new_player(), game.new_player()
    done = summary_of(play(game, player, moves.start(player, WISH).view))
    view = play(game, friend, moves.start(friend, Wish(mode="challenge", code=done.code)).view)
    assert view.mode == "challenge"
    assert view.versus == done.versus
    assert f"· gemini-3 {done.versus.total:,}" in share_text(summary_of(view))  # type: ignore[union-attr]


def test_a_row_that_is_gone_ends_the_comparison_and_not_the_round(
    moves: Moves, game: Game, board: Board
) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    state = moves.guess(player, state.token, (1.0, 2.0)).view
    board.rows = ()
    state = moves.go_on(player, state.token).view
    done = play(game, player, state)
    assert done.versus is not None
    assert (done.versus.name, done.versus.total, done.versus.note) == ("", None, GONE)
    assert "gemini" not in msgspec.json.encode(answer_of(moves.state(player))).decode()
    assert "versus" not in summary_of(done).history_entry()
    with pytest.raises(NotFoundError, match="Choose another one"):
        moves.again(player, done.token)


def test_while_rows_are_scored_a_round_goes_on_and_a_new_one_waits(
    moves: Moves, game: Game, board: Board
) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    board.rows = None
    state = moves.guess(player, state.token, (1.0, 2.0)).view
    assert state.versus is not None
    assert (state.versus.total, state.versus.note) == (None, SCORING)
    with pytest.raises(UnavailableError, match="Try again"):
        moves.start(player, WISH)
    with pytest.raises(UnavailableError, match="Try again"):
        moves.opponents()


def test_a_clip_that_replaces_another_is_one_that_the_opponent_answered(
    new_game: Callable[..., Game], toy: Benchmark, keys: list[str]
) -> None:
    for lost in keys[:8]:
        clips = ToyClips(lambda _, key, lost=lost: key != lost)  # type: ignore[misc]
        game = new_game(opponents=Board(opponent(keys[:8])), clips=clips)
        player = game.new_player()
        view = game.start_free(player, toy.slug, opponent="row-1", begin=True)
        played = {reveal.key for reveal in play(game, player, view).reveals}
        assert played <= {*keys[:8]} - {lost}


def test_the_same_again_is_against_the_same_opponent(moves: Moves, game: Game) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    assert moves.again(player, state.token).view.versus == state.versus


def test_looking_for_new_rows_is_left_to_the_start_of_a_round(
    moves: Moves, game: Game, board: Board
) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    assert True in board.asked
    board.asked.clear()
    moves.guess(player, state.token, (1.0, 2.0))
    assert board.asked == [False]


@pytest.mark.parametrize(
    ("wish", "error", "sentence"),
    [
        (Wish(mode="model"), Agl1kError, NO_OPPONENT),
        (Wish(mode="model", opponent="row-9"), NotFoundError, "no such opponent on the board"),
        (
            Wish(mode="model", opponent="row-1", continent="Oceania"),
            Agl1kError,
            "gemini-3 has answered no clip from Oceania",
        ),
    ],
)
def test_what_cannot_be_played_is_refused(
    moves: Moves, game: Game, board: Board, keys: list[str], wish: Wish, error: type, sentence: str
) -> None:
    board.rows = [opponent(keys[:4])]
    with pytest.raises(error, match=sentence):
        moves.start(game.new_player(), wish)


def test_an_ordinary_round_has_no_opponent(moves: Moves, game: Game, board: Board) -> None:
    view = moves.start(game.new_player(), Wish(opponent="row-1")).view
    assert (view.mode, view.versus) == ("free", None)


def test_how_it_stands_in_words(moves: Moves, game: Game, board: Board) -> None:
    player = game.new_player()
    state = moves.start(player, WISH).view
    assert "Its points show after yours." in status_html(state)
    state = moves.skip(player, state.token).view
    assert "agl-versus" not in status_html(state)
    assert state.versus is not None
    theirs = state.versus.total or 0
    assert f"This clip brought it {theirs:,}. You are {theirs:,} behind." in result_html(state)
    state = moves.go_on(player, state.token).view
    assert f"<br>You are {theirs:,} behind." in status_html(state)
    state = moves.broken(player, state.token).view
    assert "This clip counts for neither." in result_html(state)
    board.rows = [Opponent("row-1", "<b>", "scored", {})]
    assert "A draw." in result_html(moves.state(player).view)
    status = status_html(moves.state(player).view)
    assert "Against &lt;b&gt;" in status
    board.rows = ()
    assert GONE in result_html(moves.state(player).view)
    status = status_html(moves.state(player).view)
    assert "<strong>Against a model</strong>" in status
