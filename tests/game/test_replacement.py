"""Clips whose recordings are not available."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from game.picking import Filters
from game.replacement import NOT_REPLACED, REPLACED
from game.rounds import Game
from tests.support.toy_game import Clock, ToyClips, current_clip, play, started


def test_a_lost_clip_is_replaced_and_noted(new_game: Callable[..., Game]) -> None:
    lost: set[str] = set()
    game = new_game(clips=ToyClips(lambda benchmark, key: key not in lost))
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
    for later in (game.view(view.token, player), started(game, player, view)):
        assert (later.clip_token, later.notes) == (view.clip_token, (REPLACED,))
    assert game.skip(view.token, player).notes == ()


@pytest.mark.parametrize("error", [Agl1kError("gone"), OSError("disk")])
def test_a_failing_source_shows_no_error_on_the_page(
    new_game: Callable[..., Game], toy: Benchmark, error: Exception
) -> None:
    def is_there(benchmark: Benchmark, key: str) -> bool:
        if len(clips.asked) < 3:
            raise error
        return True

    clips = ToyClips(is_there)
    view = new_game(clips=clips).start_free(new_game().new_player(), "toy")
    assert view.notes == (REPLACED,)
    assert len(clips.asked) == 3


def test_if_nothing_is_available_there_is_a_message(new_game: Callable[..., Game]) -> None:
    clips = ToyClips(lambda benchmark, key: False)
    game = new_game(clips=clips)
    player = game.new_player()
    with pytest.raises(Agl1kError, match="recordings of Toy benchmark cannot be loaded"):
        game.start_free(player, "toy")
    assert len(clips.asked) == 6
    assert game.resume(player) is None


def test_in_the_middle_of_a_round_the_player_can_still_go_on(
    new_game: Callable[..., Game],
) -> None:
    online = [True]
    game = new_game(clips=ToyClips(lambda benchmark, key: online[0]))
    player = game.new_player()
    view = game.guess(game.start_free(player, "toy").token, player, 0, 0)
    online[0] = False
    view = game.next_clip(view.token, player)
    assert (view.phase, view.notes) == ("playing", (NOT_REPLACED,))
    assert game.report_broken(view.token, player).phase == "revealed"


def test_a_lost_clip_is_not_tried_again_for_a_while(
    new_game: Callable[..., Game], clock: Clock
) -> None:
    bad = {f"secretkey{number:03d}" for number in range(0, 40, 2)}
    clips = ToyClips(lambda benchmark, key: key not in bad)
    game = new_game(clips=clips)
    for _ in range(8):
        player = game.new_player()
        play(game, player, game.start_free(player, "toy"))
    failures = [key for key in clips.asked if key in bad]
    assert len(failures) == len(set(failures))
    clock.forward(minutes=3)
    clips.asked.clear()
    for _ in range(5):
        player = game.new_player()
        play(game, player, game.start_free(player, "toy"))
    assert bad & set(clips.asked)


def test_coming_clips_are_fetched_ahead(new_game: Callable[..., Game]) -> None:
    clips = ToyClips()
    game = new_game(clips=clips)
    player = game.new_player()
    play(game, player, game.start_free(player, "toy"))
    assert clips.ahead == [4, 3, 2, 1, 0]


def test_free_rounds_use_the_available_clips(new_game: Callable[..., Game], toy: Benchmark) -> None:
    on_disk = {clip.key for clip in toy.clips[:6]}
    game = new_game(clips=ToyClips(lambda benchmark, key: key in on_disk, on_disk))
    for _ in range(5):
        player = game.new_player()
        view = game.start_free(player, toy.slug)
        assert view.notes == ()
        assert current_clip(game, view).key in on_disk


def test_available_stand_ins_come_first(new_game: Callable[..., Game], toy: Benchmark) -> None:
    on_disk = [toy.clips[-1].key]  # too few for a round, enough for a stand-in
    game = new_game(clips=ToyClips(lambda benchmark, key: key in on_disk, on_disk))
    view = game.start_free(game.new_player(), toy.slug)
    assert current_clip(game, view).key == toy.clips[-1].key


def test_a_short_round_goes_on_without_what_is_lost(new_game: Callable[..., Game]) -> None:
    """All four clips that fit are in the round, so that no other can replace one."""
    lost: set[str] = set()
    game = new_game(clips=ToyClips(lambda benchmark, key: key not in lost))
    player, europe = game.new_player(), Filters("speech", "Europe")
    begun = game.start_free(player, "toy", europe)
    lost.add(current_clip(game, begun).key)
    view = game.view(begun.token, player)
    assert (view.phase, view.notes[1:], view.n_clips) == ("playing", (NOT_REPLACED,), 4)
    done = play(game, player, game.report_broken(view.token, player))
    assert done.max_total == 15_000
    assert game.play_again(done.token, player).n_clips == 3, "a clip known to be lost is left out"


def test_a_short_round_without_any_available_clip_is_refused(
    new_game: Callable[..., Game],
) -> None:
    game = new_game(clips=ToyClips(lambda benchmark, key: False))
    with pytest.raises(Agl1kError, match="recordings of Toy benchmark cannot be loaded"):
        game.start_free(game.new_player(), "toy", Filters("speech", "Europe"))
