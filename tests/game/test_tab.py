"""The play tab's elements before its scripts run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agl1k_core.benchmarks import Benchmark
from game.moves import Moves
from game.rounds import Game
from game.screens import message_html
from game.tab import continent_choices, stage_options, tab_html

SCRIPTS = Path(__file__).parents[2] / "assets" / "play"


@pytest.fixture
def html(game: Game, toy: Benchmark) -> str:
    return tab_html(Moves(game, [toy.slug]), {toy.slug: "Toy <b>"}, toy.slug)


def test_every_element_that_the_scripts_look_for_is_there_once(html: str) -> None:
    script = (SCRIPTS / "stage.js").read_text("utf-8")
    named = re.search(r"const named = \[(.+)\];", script)
    assert named
    wanted = re.findall(r"'([\w-]+)'", named[1]) + re.findall(r"find\('([\w-]+)'\)", script)
    assert len(wanted) > 15
    for name in wanted:
        assert html.count(f'id="agl-{name}"') == 1, name


def test_every_field_that_the_chooser_reads_is_there(html: str) -> None:
    chooser = (SCRIPTS / "chooser.js").read_text("utf-8")
    read = set(re.findall(r"\b(\w+)\.value\b", chooser)) - {"name"}
    assert read >= {"benchmark", "speech", "continent", "timer", "code"}
    for name in read:
        assert f'name="{name}"' in html, name


def test_the_stage_is_the_root_of_its_elements(html: str) -> None:
    assert html.lstrip().startswith('<div class="agl-stage" id="agl-play">')


def test_the_map_of_the_stage_knows_the_tiles_of_the_operator() -> None:
    assert stage_options("t/{z}")["map"]["tiles"] == "t/{z}"


def test_what_waits_for_the_first_round_is_seen(html: str) -> None:
    assert "Where was this recorded?" in html
    assert 'class="agl-player"' in html
    assert "Loading the map…" in html
    assert re.search(r'id="agl-skip" disabled', html)
    assert re.search(r'id="agl-next" hidden', html)


def test_names_are_text_and_continents_belong_to_their_benchmark(html: str) -> None:
    assert "Toy &lt;b&gt; (40 clips)</option>" in html
    options = re.search(r'<template data-benchmark="toy">(.+)</template>', html)
    assert options
    assert '<option value="">Anywhere</option><option value="Africa">Africa</option>' in options[1]


def test_one_benchmark_is_not_asked_for(game: Game, toy: Benchmark) -> None:
    moves = Moves(game, [toy.slug])
    row = re.compile(r"<div hidden>\s*<label[^>]*><span>Clips from<")
    assert row.search(tab_html(moves, {"toy": "Toy"}, "toy"))


def test_continents_with_few_clips_say_how_many() -> None:
    choices = continent_choices({"Africa": 12, "Asia": 1, "Europe": 4})
    assert [label for label, _ in choices] == [
        "Anywhere", "Africa", "Asia (1 clip)", "Europe (4 clips)"
    ]  # fmt: skip


def test_messages_are_text() -> None:
    assert message_html("") == ""
    assert 'role="alert"' in message_html("Oh <no>")
    assert "Oh &lt;no&gt;" in message_html("Oh <no>")
    assert 'role="status"' in message_html("Replaced", is_error=False)
