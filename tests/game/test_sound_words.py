"""The sounds in a clip, as shares and in words, and never before the guess."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

import pytest

from agl1k_core.benchmarks import Benchmark, Clip, ClipTags, FolderTags
from game.rounds import Game
from game.screens import reveal_html
from game.sound_words import localizability_in_words, sounds_in_words, sounds_of
from game.views import Sounds
from tests.support.toy_game import play

SPEECH, CHIRP, WIND, FAINT = "/m/09x0r", "/m/07pggtn", "/m/03m9d0z", "/m/0838f"
CLIP = Clip("a", 1.0, 2.0, classes={"human": 0.3, "nature": 0.9, "animal": 0.0})


def test_tags_come_before_the_classes_of_the_table() -> None:
    presence = {SPEECH: 0.96, CHIRP: 0.4, WIND: 0.06, FAINT: 0.01}
    tags = FolderTags({"a": ClipTags(presence, 1.5)}, {"name": "yamnet"}, 1.0)
    sounds = sounds_of(CLIP, tags)
    heard = (("Speech", 0.96), ("Chirp, tweet", 0.4), ("Wind", 0.06))
    assert sounds == Sounds(heard, "YAMNet", 1.5, 1.0)
    assert sounds_in_words(sounds) == (
        "Heard all the time: Speech. Part of the time: Chirp, tweet. Now and then: Wind."
    )
    assert sounds_of(CLIP, FolderTags()) == Sounds((("Nature", 0.9), ("People", 0.3)))


def test_the_five_longest_are_shown() -> None:
    presence = {f"/m/{number}": number / 10 for number in range(1, 9)}
    sounds = sounds_of(CLIP, FolderTags({"a": ClipTags(presence)}))
    assert [name for name, _ in sounds.shares] == ["/m/8", "/m/7", "/m/6", "/m/5", "/m/4"]


def test_without_tags_nothing_is_shown() -> None:
    assert sounds_of(Clip("a", 1.0, 2.0), FolderTags()) == Sounds()
    assert sounds_in_words(Sounds()) == localizability_in_words(Sounds()) == ""


@pytest.mark.parametrize(
    ("score", "theta", "said"),
    [
        (1.234, 1.0, "Localizability 1.23, above 1: its sounds reveal the place."),
        (1.0, 1.0, "Localizability 1.00, not above 1: its sounds say little about the place."),
        (-0.5, 1.0, "Localizability -0.50, not above 1: its sounds mislead more than they help."),
        (0.5, None, "Localizability 0.50: the higher, the more its sounds reveal the place."),
        (0.0, 0.5, "Localizability 0.00, not above 0.5: its sounds say little about the place."),
    ],
)
def test_localizability_in_words(score: float, theta: float | None, said: str) -> None:
    assert localizability_in_words(Sounds((), "", score, theta)) == said


def test_tags_are_shown_with_the_place_and_never_before(
    new_game: Callable[..., Game], toy: Benchmark
) -> None:
    marks = {clip.key: f"mark of {clip.key}" for clip in toy.clips}
    clips = {key: ClipTags({mark: 0.5}, 1.23456) for key, mark in marks.items()}
    game = new_game(tags={"toy": FolderTags(clips, {"name": "tagger-x"}, 0.98765)})
    player = game.new_player()
    view = game.start_free(player, "toy")
    for position in range(view.n_clips):
        hidden = json.dumps(asdict(view))
        assert hidden.count("mark of") == position
        assert hidden.count("1.23456") == position
        view = game.guess(view.token, player, 0, 0)
        assert view.reveal is not None
        assert view.reveal.sounds == Sounds(
            ((marks[view.reveal.key], 0.5),), "tagger-x", 1.23456, 0.98765
        )
        page = reveal_html(view.reveal)
        assert f"{marks[view.reveal.key]} <span" in page
        assert "What tagger-x heard" in page
        assert "Localizability 1.23, above 0.98765" in page
        view = game.next_clip(view.token, player)


def test_a_class_of_the_table_is_shown_without_a_tagger(game: Game) -> None:
    player = game.new_player()
    view = game.guess(game.start_free(player, "toy").token, player, 0, 0)
    assert view.reveal is not None
    page = reveal_html(view.reveal)
    assert "Sounds, by share of time" in page
    assert 'style="--share: 31%"' in page
    assert "Localizability" not in page
    assert play(game, player, view).phase == "finished"


def test_names_from_a_file_cannot_be_markup(new_game: Callable[..., Game], toy: Benchmark) -> None:
    clips = {clip.key: ClipTags({"<b>": 0.5}) for clip in toy.clips}
    game = new_game(tags={"toy": FolderTags(clips, {"name": "<i>"})})
    player = game.new_player()
    view = game.guess(game.start_free(player, "toy").token, player, 0, 0)
    assert view.reveal is not None
    page = reveal_html(view.reveal)
    assert "<b>" not in page
    assert "<i>" not in page
