"""Screens as Gradio updates, and the history that a browser keeps."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from game.countdown import running
from game.screens import Screen, history_html, message_html
from game.tab import _lay_out, _Parts, _remembered, _updates

ENTRY = {
    "finished_utc": "2026-11-28T10:00:00+00:00", "benchmark": "demo", "mode": "free", "label": "",
    "total": 1234, "max_total": 25000, "points": [], "code": "A",
}  # fmt: skip


def test_updates_are_in_the_order_of_the_parts() -> None:
    names = list(_Parts.__annotations__)
    updates = dict(zip(names, _updates(Screen("p", message="Oh <no>"), []), strict=True))
    skip = gr.skip()
    left_alone = set(names) - {"player", "message", "history", "history_list"}
    assert all(updates[name] == skip for name in left_alone)
    assert updates["player"] == "p"
    assert 'role="alert"' in updates["message"]
    assert "Oh &lt;no&gt;" in updates["message"]


@pytest.mark.parametrize(
    ("stage", "shown"),
    [
        ("playing", {"submit", "skip", "broken"}),
        ("revealed", {"go_on"}),
        ("finished", {"again"}),
        ("none", set()),
    ],
)
def test_each_stage_shows_its_buttons(stage: Any, shown: set[str]) -> None:
    names = list(_Parts.__annotations__)
    updates = dict(zip(names, _updates(Screen("p", stage=stage), []), strict=True))
    buttons = ("submit", "skip", "broken", "go_on", "again")
    assert {name for name in buttons if updates[name]["visible"]} == shown
    assert all(updates[name]["interactive"] for name in ("submit", "skip", "broken"))


def test_before_the_first_clip_there_is_nothing_to_skip() -> None:
    with gr.Blocks():
        parts = _lay_out("", "", "")
    assert not parts.skip.interactive
    assert not parts.broken.interactive


@pytest.mark.parametrize(
    ("mode", "name"),
    [("free", "Play again"), ("daily", "Play a free round"), ("challenge", "Play a free round")],
)
def test_the_last_button_says_what_it_begins(mode: str, name: str) -> None:
    names = list(_Parts.__annotations__)
    updates = dict(zip(names, _updates(Screen("p", stage="finished", mode=mode), []), strict=True))
    assert updates["again"]["value"] == name


def test_notes_are_not_alarms() -> None:
    updates = _updates(Screen("p", stage="playing", message="Replaced"), [])
    assert any(isinstance(u, str) and 'role="status"' in u and "Replaced" in u for u in updates)
    assert message_html("") == ""


def test_a_round_is_remembered_once() -> None:
    once = _remembered([], ENTRY)
    assert _remembered(once, ENTRY) == once
    assert len(_remembered(once, {**ENTRY, "code": "B"})) == 2


@pytest.mark.parametrize("history", [None, "x", {"a": 1}, [1, None, "<script>"]])
def test_a_spoilt_history_is_no_error(history: object) -> None:
    assert _remembered(history, None) == []
    assert "No finished rounds yet" in history_html([])


def test_history_is_escaped_and_newest_first() -> None:
    later = {**ENTRY, "total": 2000, "mode": "daily", "label": "<i>"}
    page = history_html([ENTRY, later, {"total": "many"}])
    assert "2 rounds, best 2,000" in page
    assert "&lt;i&gt;" in page
    assert page.index("2,000 of") < page.index("1,234 of")


def test_a_countdown_starts_anew_each_time() -> None:
    assert running(30)["seconds"] == 30
    assert running(30) != running(30)
    assert running(None)["seconds"] is None
