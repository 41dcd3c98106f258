"""Keeping and rejecting clips: what the page shows, and what is in the folder afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import gradio as gr
import pytest

from agl1k_core import curation
from agl1k_core.errors import Agl1kError
from game.clips import ClipStore
from game.review import Review
from game.review_page import Parts, main, updates
from tests.support import raw_recordings as raw
from ui.player import ClipPlayer
from ui.worldmap import WorldMap

PARTS = Parts(
    gr.Textbox(), gr.HTML(), ClipPlayer(), WorldMap(readonly=True), gr.HTML(), gr.Textbox(),
    gr.HTML(),
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = raw.write_collection(tmp_path / "bench", 3, ())
    tags = {"clip-001": {"presence": {raw.SPEECH: 0.75, raw.BIRD: 0.5}, "localizability": 1.25}}
    (made / "tags.json").write_text(json.dumps({"tagger": None, "clips": tags}))
    return made


def test_a_decision_is_kept_at_once_and_the_next_follows(folder: Path) -> None:
    review = Review(folder)
    assert review.first() == "clip-000"
    assert review.decide("clip-000", "keep") == "clip-001"
    assert review.decide("clip-002", "reject") == "clip-001"
    assert curation.read_decisions(folder) == {"clip-000": "keep", "clip-002": "reject"}
    assert Review(folder).first() == "clip-001"
    assert review.decide("clip-001", "keep") == "clip-002"
    assert review.decide("clip-001", "reject") == "clip-002"
    assert "1 kept, 2 rejected, 0 to decide" in review.sheet("clip-000").status


def test_decisions_on_clips_that_left_the_folder_stay(folder: Path) -> None:
    curation.write_review(folder, {"gone": curation.Decision("reject", "too short")})
    Review(folder).decide("clip-000", "keep")
    assert curation.read_review(folder)["gone"] == curation.Decision("reject", "too short")


def test_the_last_decision_is_taken_back_first(folder: Path) -> None:
    review = Review(folder)
    with pytest.raises(Agl1kError, match="no decision to undo"):
        review.undo()
    review.decide("clip-000", "keep")
    review.note("clip-001", "  A dog barks.\nTwice. ")
    review.decide("clip-001", "reject")
    review.decide("clip-001", "keep")
    assert review.undo() == "clip-001"
    assert curation.read_decisions(folder) == {"clip-000": "keep", "clip-001": "reject"}
    assert (review.undo(), review.undo()) == ("clip-001", "clip-000")
    assert curation.read_decisions(folder) == {}
    assert curation.read_review(folder)["clip-001"].note == "A dog barks.\nTwice."
    with pytest.raises(Agl1kError, match="no decision to undo"):
        review.undo()


def test_notes_stay_with_their_clips(folder: Path) -> None:
    review = Review(folder)
    note = 'Wind, "rain" = ;,\n\nÉ'
    review.note("clip-002", note)
    assert review.sheet("clip-002").note == note
    assert "0 kept, 0 rejected, 3 to decide" in review.sheet("clip-002").status
    review.decide("clip-002", "reject")
    assert Review(folder).sheet("clip-002").note == note
    review.note("clip-002", "")
    assert curation.read_review(folder) == {"clip-002": curation.Decision("reject", "")}


def test_a_review_without_notes_is_read(folder: Path) -> None:
    (folder / "review.csv").write_text("key,decision\nclip-000,keep\n")
    review = Review(folder)
    assert review.sheet("clip-000").decision == "keep"
    review.note("clip-001", "later")
    assert (folder / "review.csv").read_text() == (
        "key,decision,note\nclip-000,keep,\nclip-001,,later\n"
    )


ANSWERS = [
    {"key": "clip-000", "latitude": 40.7, "longitude": -74, "city": "New York",
     "country": "USA", "reason": "<b>Sirens</b> and English."},
    {"key": "clip-001", "model_output": "I cannot determine the location."},
]  # fmt: skip


def test_a_model_s_answer_is_beside_the_truth(folder: Path, tmp_path: Path) -> None:
    answers = tmp_path / "mine.json"
    answers.write_text(json.dumps(ANSWERS))
    review = Review(folder, answers)
    first, second, third = (review.sheet(f"clip-00{n}") for n in range(3))
    assert first.answer is not None
    assert first.answer.point == (40.7, -74)
    assert first.answer.distance_km == pytest.approx(5739, rel=0.005)
    for part in ("31.50° N, 9.70° W", "40.70° N, 74.00° W", "New York", "mine.json",
                 "km apart", "of 5,000 points", "&lt;b&gt;Sirens&lt;/b&gt;"):  # fmt: skip
        assert part in first.facts
    assert "It declined to name a place" in second.facts
    assert "no answer for this clip" in third.facts
    assert "Answer" not in Review(folder).sheet("clip-000").facts


def test_a_prediction_file_that_cannot_be_read_is_refused(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "mine.json"
    answers.write_text('[{"key": "elsewhere"}]')
    assert main([str(folder), "--predictions", str(answers)]) == 1
    assert "mine.json was refused" in capsys.readouterr().err


def test_a_sheet_shows_place_and_tags(folder: Path) -> None:
    sheet = Review(folder).sheet("clip-001")
    assert sheet.place == (-1.3, 36.8)
    assert sheet.name == "Clip 2 of 3"
    for fact in ("Nairobi", "Kenya", "-1.3000, 36.8000", "Speech", "75 %", "Localizability 1.25"):
        assert fact in sheet.facts
    assert "No tags are known" in Review(folder).sheet("clip-000").facts


def test_steps_go_around(folder: Path) -> None:
    review = Review(folder)
    assert review.step("clip-000", -1) == "clip-002"
    assert review.step("clip-002", 1) == "clip-000"


def test_text_of_a_table_is_escaped(folder: Path) -> None:
    table = folder / "clips.csv"
    text = table.read_text().replace("recorded", "title")
    lines = text.splitlines()
    lines[1] += "<img src=x>"
    table.write_text("\n".join(lines) + "\n")
    assert "&lt;img src=x&gt;" in Review(folder).sheet("clip-000").facts


def test_addresses_lead_to_clips_only(folder: Path) -> None:
    review = Review(folder)
    found = review.resolve(review.sheet("clip-001").token)
    assert found is not None
    assert found[1] == "clip-001"
    assert review.resolve("clip-001") is None


@pytest.mark.server
def test_a_clip_without_sound_shows_a_message_and_can_be_decided_on(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "clip-001.wav").write_bytes(b"")
    review, clips = Review(folder), ClipStore(tmp_path / "cache")
    shown = updates(PARTS, review, clips, "clip-000", lambda now: review.decide(now, "keep"))
    clips.close()
    assert shown[PARTS.key] == "clip-001"
    assert "The file is empty" in shown[PARTS.message]


def test_a_clip_that_is_gone_leaves_the_page_as_it_is(folder: Path, tmp_path: Path) -> None:
    review, clips = Review(folder), ClipStore(tmp_path / "cache")
    shown = updates(PARTS, review, clips, "other", lambda now: review.decide(now, "keep"))
    clips.close()
    assert [*shown] == [PARTS.message]
    assert "no longer in the folder" in shown[PARTS.message]
    assert not (folder / "review.csv").exists()


def test_a_folder_without_a_benchmark_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 1
    assert "has no clips.csv" in capsys.readouterr().err


def test_decisions_that_cannot_be_read_are_refused(folder: Path) -> None:
    (folder / "review.csv").write_text("key,decision\nclip-000,perhaps\n")
    with pytest.raises(Agl1kError, match="are not decisions"):
        Review(folder)
