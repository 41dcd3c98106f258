"""Sorting misses by hand: what the page shows, and what is in the table afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agl1k_core.benchmarks import Benchmark, read_folder
from agl1k_core.causes import PERSON_TABLE, read_verdicts
from agl1k_core.errors import Agl1kError
from game.causes_page import main
from game.causes_review import CauseReview
from tests.support import raw_recordings as raw

B, G = "Bird Bias", "Educated Guess"


@pytest.fixture
def bench(tmp_path: Path) -> Benchmark:
    return read_folder(raw.write_collection(tmp_path / "bench", 4, ()))


def wrong(key: str, **fields: object) -> dict[str, Any]:
    return {"key": key, "latitude": 1, "longitude": 2, "country": "Ghana"} | fields


@pytest.fixture
def file(bench: Benchmark, tmp_path: Path) -> Path:
    """Two wrong countries, a refusal, and a right one."""
    said = "<think>Chile?</think>A <b>kiwi</b>: latitude 1, longitude 2, country: Ghana"
    records = [
        wrong("clip-000", reason="A bird that lives in Ghana."),
        {"key": "clip-001", "model_output": "I cannot tell."},
        {"key": "clip-002", "model_output": said},
        wrong("clip-003", country=bench.clip("clip-003").country),
    ]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(records))
    return path


def test_a_cause_is_stored_at_once_and_the_next_miss_follows(
    bench: Benchmark, file: Path, tmp_path: Path
) -> None:
    review = CauseReview(file, bench, tmp_path / "out")
    assert review.first() == "clip-000"
    assert review.decide("clip-000", B) == "clip-002"
    review.note("clip-000", "No doubt.")
    (stored,) = read_verdicts(tmp_path / "out" / PERSON_TABLE)
    assert (stored.key, stored.judge, stored.cause) == ("clip-000", "person", B)
    assert stored.answer == "No doubt."
    again = CauseReview(file, bench, tmp_path / "out")
    assert again.first() == "clip-002"
    assert again.sheet("clip-000").note == "No doubt."
    again.decide("clip-002", G)
    status = again.sheet("clip-002").status
    assert "Clip 2 of 2" in status
    assert "2 sorted, 0 to decide" in status
    again.undo()
    assert "1 sorted, 1 to decide" in again.sheet("clip-002").status


def test_all_that_the_model_said_stands_beside_the_truth(
    bench: Benchmark, file: Path, tmp_path: Path
) -> None:
    review = CauseReview(file, bench, tmp_path)
    assert "A bird that lives in Ghana." in review.sheet("clip-000").facts
    facts = review.sheet("clip-002").facts
    assert "&lt;think&gt;Chile?" in facts
    assert f"<td>{bench.clip('clip-002').country}</td><td>Ghana</td>" in facts


def test_only_misses_are_shown(bench: Benchmark, file: Path, tmp_path: Path) -> None:
    review = CauseReview(file, bench, tmp_path)
    assert [review.step("clip-000", by) for by in (0, 1, 2)] == ["clip-000", "clip-002", "clip-000"]
    for other in ("clip-001", "clip-003"):
        with pytest.raises(Agl1kError, match="Reload the page"):
            review.decide(other, B)
    assert not (tmp_path / PERSON_TABLE).exists()


def test_a_verdict_on_an_earlier_answer_is_kept_but_not_shown(
    bench: Benchmark, file: Path, tmp_path: Path
) -> None:
    CauseReview(file, bench, tmp_path).decide("clip-000", B)
    changed = json.loads(file.read_text())
    changed[0]["reason"] = "Another bird."
    file.write_text(json.dumps(changed))
    review = CauseReview(file, bench, tmp_path)
    assert review.sheet("clip-000").decision == ""
    review.decide("clip-002", G)
    stored = {verdict.key: verdict.cause for verdict in read_verdicts(tmp_path / PERSON_TABLE)}
    assert stored == {"clip-000": B, "clip-002": G}


def test_what_cannot_be_opened_is_told(
    bench: Benchmark, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(bench.audio_dir)
    assert main(["--benchmark", "nowhere", "--", str(file), str(tmp_path)]) == 1
    assert "There is no benchmark 'nowhere'" in capsys.readouterr().err
    file.write_text(json.dumps([wrong("clip-003", country=bench.clip("clip-003").country)]))
    assert main(["--benchmark", folder, "--", str(file), str(tmp_path)]) == 1
    assert "mine.json has no wrong country to sort." in capsys.readouterr().err
    (tmp_path / PERSON_TABLE).write_text("key,judge,cause\nclip-000,person,Weather\n")
    file.write_text(json.dumps([wrong("clip-000")]))
    assert main(["--benchmark", folder, "--", str(file), str(tmp_path)]) == 1
    assert "'Weather' is not a cause" in capsys.readouterr().err
