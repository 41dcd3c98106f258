from __future__ import annotations

import gzip
import hashlib
import json
import math
import random
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.submissions import Submission, SubmissionStore

FILE = json.dumps(
    [{"key": f"clip-{n}", "latitude": n, "longitude": n} for n in range(500)]
).encode()
NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def store(database: Database) -> SubmissionStore:
    return SubmissionStore(database)


def submission(file: bytes = FILE, **changed: Any) -> Submission:
    values: dict[str, Any] = {
        "submission_id": uuid.uuid4().hex,
        "benchmark": "demo",
        "benchmark_hash": "hash-1",
        "model": "<b>Model</b> ü",
        "organisation": "Org",
        "link": "https://example.org/model",
        "weights": "open",
        "prompt": "Where was this made?\nAnswer in JSON.",
        "model_date": "2026-01-31",
        "kind": "verified",
        "owner": "",
        "protocol": "strict",
        "scorer_version": "1",
        "file_name": "predictions.json",
        "file_sha256": hashlib.sha256(file).hexdigest(),
        "file_bytes": len(file),
        "evaluation": {"metrics": {"distance_km": 5479.44}, "subsets": {}, "n_clips": 24},
        "created_utc": NOW,
    }
    return Submission(**values | changed)


def test_an_empty_store(store: SubmissionStore) -> None:
    assert store.list("demo") == []
    assert store.get("none") is None
    assert store.withdraw("none", "key") is False
    assert store.withdraw("none", "") is False
    with pytest.raises(Agl1kError, match="There is no file for submission none"):
        store.file("none")


@pytest.mark.parametrize("file", [FILE, b"", bytes(range(256)) * 300], ids=["json", "empty", "any"])
def test_a_submission_is_read_back_unchanged(store: SubmissionStore, file: bytes) -> None:
    new = submission(file)
    store.publish(new, file)
    assert store.get(new.submission_id) == new
    assert store.list("demo") == [new]
    assert store.list("other") == []
    assert store.file(new.submission_id) == file


def test_the_file_is_kept_compressed(store: SubmissionStore, database: Database) -> None:
    store.publish(submission(), FILE)
    with database.read() as connection:
        kept = connection.execute(text("SELECT content_gzip FROM submission_files")).scalar_one()
    assert len(kept) < len(FILE) / 5
    assert gzip.decompress(kept) == FILE


def test_numbers_of_an_evaluation_are_read_back(store: SubmissionStore) -> None:
    numbers = {"exact": 0.1 + 0.2, "float64": np.float64(1 / 3), "absent": math.nan, "n": 2**40}
    new = submission(evaluation={"metrics": numbers, "per": {1: [np.int64(3), True, "ü\0"]}})
    store.publish(new, FILE)
    stored = store.get(new.submission_id)
    assert stored is not None
    assert stored.evaluation == {
        "metrics": {"exact": 0.1 + 0.2, "float64": 1 / 3, "absent": None, "n": 2**40},
        "per": {"1": [3, True, "ü\0"]},
    }


def test_a_row_that_does_not_match_its_file_is_refused(store: SubmissionStore) -> None:
    with pytest.raises(ValueError, match="file_bytes"):
        store.publish(submission(file_bytes=3), FILE)
    assert store.list("demo", include_withdrawn=True) == []


def test_the_same_file_for_the_same_model_is_refused(store: SubmissionStore) -> None:
    first = submission()
    store.publish(first, FILE)
    with pytest.raises(Agl1kError, match=f"already published .*{first.submission_id}.*2026-03-01"):
        store.publish(submission(), FILE)
    assert store.list("demo") == [first]


def test_the_same_file_may_be_published_for_something_else(store: SubmissionStore) -> None:
    other_file = FILE + b"\n"
    all_new = [
        submission(),
        submission(model="Another"),
        submission(benchmark="other"),
        submission(benchmark_hash="hash-2"),
    ]
    for new in all_new:
        store.publish(new, FILE)
    store.publish(submission(other_file), other_file)
    assert len(store.list("demo")) == 4


def test_an_id_is_taken_once(store: SubmissionStore) -> None:
    store.publish(submission(submission_id="s"), FILE)
    with pytest.raises(Agl1kError, match="Submission id s is taken"):
        store.publish(submission(submission_id="s", model="Another"), FILE)


def test_of_many_equal_submissions_one_is_published(store: SubmissionStore) -> None:
    gate = threading.Barrier(8)

    def publish(new: Submission) -> str:
        gate.wait()
        return store.publish(new, FILE)

    with ThreadPoolExecutor(8) as pool:
        calls = [pool.submit(publish, submission()) for _ in range(8)]
    refused = [str(call.exception()) for call in calls if call.exception()]
    assert len(refused) == 7
    assert all("already published" in told for told in refused)
    assert len(store.list("demo")) == 1


def test_withdrawing_hides_the_row_and_deletes_the_file(store: SubmissionStore) -> None:
    new = submission()
    key = store.publish(new, FILE)
    assert store.withdraw(new.submission_id, f" {key}\n"), "copied with blanks around it"
    assert store.list("demo") == []
    withdrawn = store.list("demo", include_withdrawn=True)
    assert [row.submission_id for row in withdrawn] == [new.submission_id]
    assert withdrawn[0].withdrawn_utc is not None
    with pytest.raises(Agl1kError, match="withdrawn"):
        store.file(new.submission_id)
    assert store.withdraw(new.submission_id, key), "again"
    assert store.list("demo", include_withdrawn=True) == withdrawn
    again = submission()
    store.publish(again, FILE)
    assert store.list("demo") == [again]


def test_a_withdrawn_file_is_not_left_on_the_disk(tmp_path: Path) -> None:
    content = random.Random(7).randbytes(20_000)
    new = submission(content)

    def on_disk() -> bool:
        files = [path.read_bytes() for path in tmp_path.iterdir()]
        pieces = [content[at : at + 64] for at in range(0, len(content), 500)]
        return any(piece in file for piece in pieces for file in files)

    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        store = SubmissionStore(database)
        key = store.publish(new, content)
        assert on_disk(), "random bytes do not shrink, so they can be found"
        assert store.withdraw(new.submission_id, key)
        assert not on_disk()


def test_only_its_own_key_withdraws(store: SubmissionStore) -> None:
    first, second = submission(), submission(model="Another")
    key = store.publish(first, FILE)
    other_key = store.publish(second, FILE)
    assert key != other_key
    for wrong in ("", "x", other_key, key[:-1], key + "x", key.swapcase(), "é\ud800"):
        assert store.withdraw(first.submission_id, wrong) is False
    assert store.list("demo") == [first, second]
    assert store.file(first.submission_id) == FILE


def test_its_owner_withdraws_without_the_key(store: SubmissionStore) -> None:
    owned, anonymous = submission(owner="ada"), submission(model="Another")
    for new in (owned, anonymous):
        store.publish(new, FILE)
    for nobody in ("", "Ada", "adam", "bob"):
        assert store.withdraw(owned.submission_id, "", nobody) is False
    for anybody in ("", "ada"):
        assert store.withdraw(anonymous.submission_id, "", anybody) is False
    assert store.withdraw("none", "", "ada") is False
    assert store.withdraw(owned.submission_id, "wrong", "ada") is True
    assert store.list("demo") == [anonymous]
    gone = store.get(owned.submission_id)
    assert gone is not None
    assert gone.owner == "", "the name goes, too"
    assert store.withdraw(owned.submission_id, "", "") is False


def test_the_key_itself_is_not_stored(store: SubmissionStore, database: Database) -> None:
    key = store.publish(submission(), FILE)
    assert len(key) >= 32
    with database.read() as connection:
        row = connection.execute(text("SELECT * FROM submissions")).one()
    assert key not in repr(row)


def test_the_revision_changes_with_every_change(store: SubmissionStore) -> None:
    revisions = [store.revision()]
    first = submission()
    key = store.publish(first, FILE)
    revisions.append(store.revision())
    store.publish(submission(model="Another"), FILE)
    revisions.append(store.revision())
    store.withdraw(first.submission_id, key)
    revisions.append(store.revision())
    assert len(set(revisions)) == 4
    store.withdraw(first.submission_id, key)
    store.withdraw(first.submission_id, "wrong")
    assert store.revision() == revisions[-1]


@pytest.mark.parametrize("changed", [{"weights": "half"}, {"kind": "reported"}])
def test_a_row_of_an_unknown_kind_is_refused(
    store: SubmissionStore, changed: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=f"ck_submissions_{next(iter(changed))}"):
        store.publish(submission(**changed), FILE)


def test_a_submission_that_is_sent_twice_is_stored_once(store: SubmissionStore) -> None:
    sent = submission(submission_id="s")
    assert store.publish(sent, FILE, new_key="a key") == "a key"
    assert store.publish(sent, FILE, new_key="a key") == "a key"
    assert len(store.everything()) == 1
    with pytest.raises(Agl1kError, match="Submission id s is taken"):
        store.publish(submission(submission_id="s", model="Other"), FILE, new_key="another")
    assert store.withdraw("s", "a key")
    with pytest.raises(Agl1kError, match="Submission id s is taken"):
        store.publish(sent, FILE, new_key="a key")
