"""Clips that cannot be had."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.picking import Filters
from game.replacement import NOT_REPLACED, REPLACED
from game.rounds import Game
from tests.support.toy_game import Clock, current_clip, play


def test_a_lost_clip_is_replaced_and_noted(new_game: Callable[..., Game]) -> None:
    lost: set[str] = set()
    game = new_game(clip_ready=lambda benchmark, key: key not in lost)
    player = game.new_player()
    view = game.start_free(player, "toy", Filters("speech", ""))
    first = game.resolve(view.next_clip_token)
    assert first is not None
    lost.add(first[1])
    view = game.guess(view.token, player, 0, 0)
    old = view.next_clip_token
    view = game.next_clip(view.token, player)
    assert view.notes == (REPLACED,)
    assert view.clip_token != old
    assert game.resolve(old) is None
    clip = current_clip(game, view)
    assert clip.key != first[1]
    assert clip.has("human")
    for later in (game.view(view.token, player), game.start_clip(view.token, player)):
        assert (later.clip_token, later.notes) == (view.clip_token, (REPLACED,))
    assert game.skip(view.token, player).notes == ()


@pytest.mark.parametrize("error", [Agl1kError("gone"), OSError("disk")])
def test_a_failing_source_is_no_error_on_the_page(
    new_game: Callable[..., Game], toy: Benchmark, error: Exception
) -> None:
    tried: list[str] = []

    def ready(benchmark: Benchmark, key: str) -> None:
        tried.append(key)
        if len(tried) < 3:
            raise error

    game = new_game(clip_ready=ready)
    view = game.start_free(game.new_player(), "toy")
    assert view.notes == (REPLACED,)
    assert len(tried) == 3


def test_when_nothing_can_be_had_a_sentence_says_so(new_game: Callable[..., Game]) -> None:
    tried: list[str] = []

    def ready(benchmark: Benchmark, key: str) -> bool:
        tried.append(key)
        return False

    game = new_game(clip_ready=ready)
    player = game.new_player()
    with pytest.raises(Agl1kError, match="recordings of Toy benchmark cannot be had"):
        game.start_free(player, "toy")
    assert len(tried) == 6
    assert game.resume(player) is None


def test_in_the_middle_of_a_round_even_that_is_no_dead_end(
    new_game: Callable[..., Game],
) -> None:
    online = [True]
    game = new_game(clip_ready=lambda benchmark, key: online[0])
    player = game.new_player()
    view = game.guess(game.start_free(player, "toy").token, player, 0, 0)
    online[0] = False
    view = game.next_clip(view.token, player)
    assert (view.phase, view.notes) == ("playing", (NOT_REPLACED,))
    assert game.report_broken(view.token, player).phase == "revealed"


def test_what_was_lost_is_left_alone_for_a_while(
    new_game: Callable[..., Game], clock: Clock
) -> None:
    tried: list[str] = []
    bad = {f"secretkey{number:03d}" for number in range(0, 40, 2)}

    def ready(benchmark: Benchmark, key: str) -> bool:
        tried.append(key)
        return key not in bad

    game = new_game(clip_ready=ready)
    for _ in range(8):
        player = game.new_player()
        play(game, player, game.start_free(player, "toy"))
    failures = [key for key in tried if key in bad]
    assert len(failures) == len(set(failures))
    clock.forward(minutes=3)
    tried.clear()
    for _ in range(5):
        player = game.new_player()
        play(game, player, game.start_free(player, "toy"))
    assert bad & set(tried)


def test_coming_clips_are_fetched_ahead(new_game: Callable[..., Game]) -> None:
    ahead: list[int] = []
    game = new_game(prefetch=lambda benchmark, keys: ahead.append(len(keys)))
    player = game.new_player()
    play(game, player, game.start_free(player, "toy"))
    assert ahead == [4, 3, 2, 1, 0]


def test_free_rounds_keep_to_the_clips_at_hand(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    at_hand = {clip.key for clip in toy.clips[:6]}
    game = new_game(
        clips_at_hand=lambda benchmark: at_hand,
        clip_ready=lambda benchmark, key: key in at_hand,
    )
    for _ in range(5):
        player = game.new_player()
        view = game.start_free(player, toy.slug)
        assert view.notes == ()
        assert current_clip(game, view).key in at_hand


def test_stand_ins_at_hand_come_first(new_game: Callable[..., Game], toy: Benchmark) -> None:
    at_hand: list[str] = []
    game = new_game(
        clips_at_hand=lambda benchmark: at_hand or None,
        clip_ready=lambda benchmark, key: key in at_hand,
    )
    player = game.new_player()
    at_hand.append(toy.clips[-1].key)  # too few for a round, enough for a stand-in
    view = game.start_free(player, toy.slug)
    assert current_clip(game, view).key == toy.clips[-1].key


def test_a_short_round_goes_on_without_what_is_lost(new_game: Callable[..., Game]) -> None:
    """All four clips that fit are in the round, so that no other can stand in."""
    lost: set[str] = set()
    game = new_game(clip_ready=lambda benchmark, key: key not in lost)
    player, europe = game.new_player(), Filters("speech", "Europe")
    begun = game.start_free(player, "toy", europe)
    lost.add(current_clip(game, begun).key)
    view = game.view(begun.token, player)
    assert (view.phase, view.notes, view.n_clips) == ("playing", (NOT_REPLACED,), 4)
    done = play(game, player, game.report_broken(view.token, player))
    assert done.max_total == 15_000
    assert game.play_again(done.token, player).n_clips == 3, "what is known to be lost is left out"


def test_a_short_round_of_which_nothing_can_be_had_is_refused(
    new_game: Callable[..., Game],
) -> None:
    game = new_game(clip_ready=lambda benchmark, key: False)
    with pytest.raises(Agl1kError, match="recordings of Toy benchmark cannot be had"):
        game.start_free(game.new_player(), "toy", Filters("speech", "Europe"))
