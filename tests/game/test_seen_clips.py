"""A clip whose place a player has seen does not come again while others are left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agl1k_core.benchmarks import Benchmark
from game.answers import answer_of
from game.moves import Outcome
from game.picking import Filters
from game.presenter import CONTINENT_TOLD, DOES_NOT_COUNT
from game.rounds import Game
from game.views import RoundView
from tests.support.toy_game import make_benchmark, play, summary_of


def keys_of(view: RoundView) -> list[str]:
    return [reveal.key for reveal in summary_of(view).reveals]


def heard_note(view: RoundView) -> list[str]:
    return [note for note in view.notes if DOES_NOT_COUNT in note]


@pytest.mark.parametrize("n_clips", [5, 7, 12])
def test_one_identity_cannot_catalogue_a_small_pack_and_then_score(
    new_game: Callable[..., Game], n_clips: int
) -> None:
    game = new_game(benchmarks={"toy": make_benchmark(n_clips)})
    bot, seen = game.new_player(), set[str]()
    while len(seen) < n_clips:
        first = game.start_free(bot, "toy")
        assert not heard_note(first)
        finished = play(game, bot, first)
        assert not seen & {*keys_of(finished)}
        assert len(keys_of(finished)) == min(5, n_clips - len(seen))
        seen |= {*keys_of(finished)}
        assert not heard_note(finished)
    again = game.start_free(bot, "toy")
    [note] = heard_note(again)
    assert note.startswith("You have heard all clips of this benchmark.")
    assert again.n_clips == 5
    assert heard_note(game.view(again.token, bot)), "after a reload, too"
    assert heard_note(play(game, bot, again)), "and with the result"
    assert not heard_note(game.start_free(game.new_player(), "toy"))


def test_filters_are_named_if_only_their_clips_are_seen(game: Game) -> None:
    player, asia = game.new_player(), Filters(continent="Asia")
    for _ in range(2):
        play(game, player, game.start_free(player, "toy", asia))
    [note] = heard_note(game.start_free(player, "toy", asia))
    assert "all clips of this benchmark that fit your filters." in note
    assert not heard_note(game.start_free(player, "toy"))


def test_a_round_whose_continent_was_chosen_says_that_it_does_not_count(game: Game) -> None:
    player = game.new_player()
    first = game.start_free(player, "toy", Filters(continent="Asia"))
    assert CONTINENT_TOLD in first.notes
    finished = play(game, player, first)
    assert CONTINENT_TOLD in finished.notes
    code, friend = summary_of(finished).code, game.new_player()
    assert CONTINENT_TOLD in game.start_challenge(friend, code).notes
    assert CONTINENT_TOLD not in game.start_free(player, "toy", Filters("speech")).notes


@pytest.mark.parametrize("action", ["skip", "report_broken"])
def test_clips_ended_in_another_way_do_not_come_again_either(
    new_game: Callable[..., Game], action: str
) -> None:
    game = new_game(benchmarks={"toy": make_benchmark(10)})
    player = game.new_player()
    view, heard = game.start_free(player, "toy"), set[str]()
    while view.phase != "finished":
        found = game.resolve(view.clip_token)
        assert found
        heard.add(found[1])
        view = game.next_clip(getattr(game, action)(view.token, player).token, player)
    assert not heard & {*keys_of(play(game, player, game.start_free(player, "toy")))}


def test_a_challenge_of_such_a_round_says_nothing_of_that_to_others(
    new_game: Callable[..., Game],
) -> None:
    game = new_game(benchmarks={"toy": make_benchmark(5)})
    player, friend = game.new_player(), game.new_player()
    play(game, player, game.start_free(player, "toy"))
    offered = summary_of(play(game, player, game.start_free(player, "toy"))).code
    assert not heard_note(game.start_challenge(friend, offered))


def test_the_status_says_how_many_clips_there_are(game: Game, toy: Benchmark) -> None:
    player = game.new_player()
    answer = answer_of(Outcome(player, game.start_free(player, "toy")), fragments=True)
    assert f"Toy benchmark · {len(toy.in_play)} clips" in str(answer.fragments)
