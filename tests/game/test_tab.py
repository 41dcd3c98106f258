"""Screens as Gradio updates, and the history that a browser keeps."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from game.countdown import running
from game.screens import Screen, Sound, history_html, message_html
from game.tab import Parts, lay_out, remembered, updates

ENTRY = {
    "finished_utc": "2026-11-28T10:00:00+00:00", "benchmark": "demo", "mode": "free", "label": "",
    "total": 1234, "max_total": 25000, "points": [], "code": "A",
}  # fmt: skip


@pytest.fixture
def parts() -> Parts:
    with gr.Blocks():
        return lay_out("", "", "")


def test_what_does_not_change_is_left_out(parts: Parts) -> None:
    found = updates(parts, Screen("p", message="Oh <no>"))
    assert set(found) == {parts.player, parts.message}
    assert found[parts.player] == "p"
    assert 'role="alert"' in found[parts.message]
    assert "Oh &lt;no&gt;" in found[parts.message]


def test_a_finished_round_changes_all_but_what_is_missing(parts: Parts) -> None:
    whole = Screen(
        "p", "r", "finished", "status", Sound("clip/x", (), 1.0, "Clip 1 of 5"), {"op": "reset"},
        "result", share="text", history_entry=ENTRY,
    )  # fmt: skip
    found = updates(parts, whole, [])
    assert set(found) == set(parts.all())
    assert found[parts.history] == [ENTRY]
    texts = [found[part] for part in (parts.round, parts.status, parts.result)]
    assert texts == ["r", "status", "result"]


@pytest.mark.parametrize(
    ("stage", "shown"),
    [
        ("playing", {"submit", "skip", "broken"}),
        ("revealed", {"go_on"}),
        ("finished", {"again"}),
        ("none", set()),
    ],
)
def test_each_stage_shows_its_buttons(parts: Parts, stage: Any, shown: set[str]) -> None:
    found = updates(parts, Screen("p", stage=stage))
    buttons = ("submit", "skip", "broken", "go_on", "again")
    assert {name for name in buttons if found[getattr(parts, name)]["visible"]} == shown
    assert all(found[part]["interactive"] for part in (parts.submit, parts.skip, parts.broken))


def test_before_the_first_clip_there_is_nothing_to_skip(parts: Parts) -> None:
    assert not parts.skip.interactive
    assert not parts.broken.interactive


@pytest.mark.parametrize(
    ("mode", "name"),
    [("free", "Play again"), ("daily", "Play a free round"), ("challenge", "Play a free round")],
)
def test_the_last_button_names_what_it_begins(parts: Parts, mode: str, name: str) -> None:
    found = updates(parts, Screen("p", stage="finished", mode=mode))
    assert found[parts.again]["value"] == name


def test_notes_are_not_alarms(parts: Parts) -> None:
    note = updates(parts, Screen("p", stage="playing", message="Replaced"))[parts.message]
    assert 'role="status"' in note
    assert "Replaced" in note
    assert message_html("") == ""


def test_a_round_isremembered_once() -> None:
    once = remembered([], ENTRY)
    assert remembered(once, ENTRY) == once
    assert len(remembered(once, {**ENTRY, "code": "B"})) == 2


@pytest.mark.parametrize("history", [None, "x", {"a": 1}, [1, None, "<script>"]])
def test_a_spoilt_history_is_ignored(history: object) -> None:
    assert remembered(history, None) == []
    assert "No finished rounds yet" in history_html([])


def test_history_is_escaped_and_newest_first() -> None:
    later = {**ENTRY, "total": 2000, "mode": "daily", "label": "<i>"}
    page = history_html([ENTRY, later, {"total": "many"}])
    assert "2 rounds, best 2,000" in page
    assert "&lt;i&gt;" in page
    assert page.index("2,000 of") < page.index("1,234 of")


def test_a_countdown_restarts_each_time() -> None:
    assert running(30)["seconds"] == 30
    assert running(30) != running(30)
    assert running(None)["seconds"] is None
