"""What a browser may know, and when: nothing of a clip before its answer is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace

import pytest

from agl1k_core.benchmarks import Benchmark, Clip
from game.rounds import Game
from game.tokens import Tokens
from game.views import Outline
from store.guesses import GuessStore
from tests.support.toy_game import SECRET, current_clip, play, started, summary_of


def leaks(view: object, clip: Clip) -> list[str]:
    """The secrets of a clip that are in a view, once everything in it is written out."""
    text = json.dumps(asdict(view), ensure_ascii=False)  # type: ignore[call-overload]
    secrets = [clip.key, clip.title, clip.file_name, clip.description, clip.city, clip.country]
    secrets += [str(clip.lat), str(clip.lon), clip.continent, "human", "animal"]
    secrets += [str(clip.classes["animal"]), clip.author, clip.url, clip.recorded.replace("T", " ")]
    return [secret for secret in secrets if secret.casefold() in text.casefold()]


@pytest.mark.parametrize("timer_s", [None, 30])
@pytest.mark.parametrize("mode", ["free", "daily", "challenge"])
def test_no_view_reveals_a_clip_before_its_guess(
    new_game: Callable[..., Game], toy: Benchmark, mode: str, timer_s: int
) -> None:
    game = new_game(benchmarks={toy.slug: replace(toy, shows_titles=True)})
    player = game.new_player()
    if mode == "challenge":
        other = game.new_player()
        done = play(game, other, game.start_free(other, "toy", timer_s=timer_s))
        view = game.start_challenge(player, summary_of(done).code)
    elif mode == "daily":
        view = game.start_daily(player, "toy")
    else:
        view = game.start_free(player, "toy", timer_s=timer_s)
    assert view.mode == mode
    revealed: set[str] = set()
    for _ in range(5):
        clip = current_clip(game, view)
        views = [view, game.view(view.token, player), started(game, player, view)]
        views += [resumed for resumed in [game.resume(player)] if resumed]
        for each in views:
            # Earlier clips may share words such as the continent with this one, and no number.
            assert set(leaks(each, clip)) <= revealed
        view = game.guess(view.token, player, 0, 0)
        own = {clip.key, clip.title, clip.city, str(clip.classes["animal"]), clip.author, clip.url}
        assert own <= {*leaks(view, clip)}
        revealed |= {clip.continent, "human", "animal"} if view.reveals else set()
        view = game.next_clip(view.token, player)


def test_a_reveal_says_nothing_about_the_next_clip(game: Game) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    ahead = game.resolve(view.next_clip_token)
    assert ahead is not None
    view = game.guess(view.token, player, 0, 0)
    clip = ahead[0].clip(ahead[1])
    assert set(leaks(view, clip)) <= {clip.continent, "animal"}, "as the clip before may be, too"


def test_sounds_are_heard_only_when_it_is_their_turn(game: Game) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy")
    tokens = [view.clip_token]
    for position in range(4):
        assert view.next_clip_token is not None
        assert game.resolve(view.next_clip_token) is not None
        tokens.append(view.next_clip_token)
        view = game.guess(view.token, player, 0, 0)
        view = game.next_clip(view.token, player)
        assert view.clip_token == tokens[position + 1]
    assert view.next_clip_token is None
    again = game.start_free(player, "toy")
    late = Tokens(SECRET).clip(str(again.clip_token).split("-")[0], 2, "secretkey000")
    assert game.resolve(late) is None
    assert all(game.resolve(token) is not None for token in tokens)


def test_a_timer_hides_the_next_sound(game: Game, guess_store: GuessStore) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30)
    assert view.next_clip_token is None
    round_id = str(view.clip_token).split("-")[0]
    round_ = guess_store.round(round_id)
    assert round_ is not None
    ahead = Tokens(SECRET).clip(round_id, 1, round_.clip_keys[1])
    assert game.resolve(ahead) is None
    view = game.guess(view.token, player, 0, 0)
    assert game.resolve(ahead) is None
    assert game.next_clip(view.token, player).clip_token == ahead
    assert game.resolve(ahead) is not None


def test_the_outline_of_a_sound_starts_no_time(game: Game) -> None:
    player = game.new_player()
    view = game.start_free(player, "toy", timer_s=30)
    assert view.outline == Outline((0.1, 0.9), 21)
    assert not game.view(view.token, player).started
    assert game.resolve(view.clip_token) is not None
    assert game.view(view.token, player).started


def test_sound_addresses_cannot_be_compared_or_made_up(game: Game) -> None:
    player, other = game.new_player(), game.new_player()
    mine, theirs = game.start_daily(player, "toy"), game.start_daily(other, "toy")
    assert current_clip(game, mine) == current_clip(game, theirs)
    a, b = (str(view.clip_token).split("-", 2) for view in (mine, theirs))
    assert a[0] != b[0]
    assert a[2] != b[2]
    for forged in ("-".join([a[0], "0", b[2]]), "-".join([a[0], "1", a[2]]), a[0], "x", None, 5):
        assert game.resolve(forged) is None


def test_sound_addresses_survive_a_restart(new_game: Callable[..., Game]) -> None:
    before = new_game()
    view = before.start_free(before.new_player(), "toy")
    assert new_game().resolve(view.clip_token) == before.resolve(view.clip_token)
