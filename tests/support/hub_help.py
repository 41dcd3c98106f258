"""Shared by the tests of the public dataset: a remote, the rows on the Hub, a submission."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from store.hub.layout import from_parquet, kind_of
from store.hub.remote import Remote
from store.submissions import Submission
from tests.support.fake_hub import WRITE, FakeHub

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def remote_to(hub: FakeHub, token: str = WRITE, **options: Any) -> Remote:
    return Remote("tester/plays", token, hub.endpoint, **options)


def rows_on(hub: FakeHub, kind: str) -> list[dict[str, Any]]:
    """Every row of a kind in the newest revision, with repetitions."""
    files = hub.repo().head.files
    mine = [name for name in files if (found := kind_of(name)) and found.name == kind]
    tables = [from_parquet(name, files[name].data) for name in mine]
    return [row for table in tables for row in table.to_pylist()]


def ids_on(hub: FakeHub) -> list[str]:
    return sorted(row["guess_id"] for kind in ("guesses", "skips") for row in rows_on(hub, kind))


def submission(**changed: Any) -> Submission:
    values: dict[str, Any] = {
        "submission_id": "sub-1", "benchmark": "demo", "benchmark_hash": "hash-1",
        "model": "Ear 1", "organisation": "Lab", "link": "", "weights": "open", "prompt": "",
        "model_date": "2026-01-01", "kind": "verified", "owner": "", "protocol": "strict",
        "scorer_version": "1", "file_name": "ear.json",
        "file_sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "file_bytes": 3, "evaluation": {"metrics": {"geoscore": 4321.5, "distance_km": None}},
        "created_utc": NOW,
    }  # fmt: skip
    return Submission(**values | changed)
