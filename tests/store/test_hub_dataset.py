"""The dataset as users load it, from the first file on, and its page."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub import card
from store.hub.layout import GUESSES, KINDS, SKIPS, SUBMISSIONS, shard_name, to_parquet
from store.hub.publisher import Publisher
from store.hub.rewriting import join_days, take_out
from store.submissions import SubmissionStore
from tests.support.fake_hub import FakeHub
from tests.support.hub_help import NOW, ids_on, remote_to, rows_on, submission
from tests.support.processes import run_python

MakeGuess = Callable[..., Guess]


def load(hub: FakeHub, folder: Path, *configs: str, repo: str = "tester/plays") -> dict[str, Any]:
    environment = {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(folder),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    done = run_python("tests/support/load_published.py", repo, *configs, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: dict[str, Any], config: str, ids: list[str]) -> None:
    told = found[config]
    assert told["ids"] == told["streamed_ids"] == sorted(ids)
    declared = {
        field.name: str(field.type).replace("double", "float64") for field in KINDS[config].fields
    }
    assert told["types"] == told["streamed_types"] == declared


def test_the_first_file_can_be_loaded(hub: FakeHub, tmp_path: Path, make_guess: MakeGuess) -> None:
    """All its columns of numbers are None, from which no type can be inferred."""
    nothing = dict.fromkeys(["latitude", "longitude", "distance_km", "score", "seconds"])
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        guess = GuessStore(database).record(make_guess(**nothing))
        Publisher(database, remote_to(hub)).turn()
    found = load(hub, tmp_path / "home", "guesses")
    check(found, "guesses", [guess.guess_id])
    assert found["guesses"]["first"]["latitude"] == "None"


def test_files_of_two_servers_two_versions_and_joined_ones_can_be_loaded(
    hub: FakeHub, tmp_path: Path, make_guess: MakeGuess
) -> None:
    older = GUESSES.table([{**_row(make_guess()), "guess_id": "old"}]).drop_columns(["seconds"])
    content = to_parquet(older)
    # newer than what is joined: it remains a separate file
    hub.create().put(shard_name(GUESSES, "9998-01-01", "old-1-1", content), content)
    for name in ("a", "b"):
        with Database(f"sqlite:///{tmp_path / name}.db") as database:
            store, publisher = GuessStore(database), Publisher(database, remote_to(hub))
            for number in range(3):
                store.record(make_guess(round_id=f"{name}{number}"))
                store.record(make_guess(round_id=f"{name}s{number}", action="skip", score=0.0))
                publisher.turn()
            new = submission(submission_id=f"sub-{name}", model=name)
            SubmissionStore(database).publish(new, b"foo")
            publisher.turn()
    join_days(remote_to(hub), "9998-01-01")
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        GuessStore(database).record(make_guess(round_id="after"))
        Publisher(database, remote_to(hub)).turn()
    names = [name for name in hub.repo().head.files if "/guesses/" in name]
    assert len(names) == 3  # older, joined, and the one after
    found = load(hub, tmp_path / "home", "guesses", "skips", "submissions")
    check(found, "guesses", [row["guess_id"] for row in rows_on(hub, "guesses")])
    check(found, "skips", [row["guess_id"] for row in rows_on(hub, "skips")])
    check(found, "submissions", ["sub-a", "sub-b"])
    assert found["submissions"]["first"]["file"] == "b'foo'"
    assert len(ids_on(hub)) == 2 * 6 + 2


def test_a_thousand_files_of_two_servers_and_two_versions_can_be_loaded(
    hub: FakeHub, tmp_path: Path, make_guess: MakeGuess
) -> None:
    """From a folder: over the Hub the result is the same, but it takes minutes."""
    ids = [f"g{number:04d}" for number in range(1000)]
    row = _row(make_guess())
    for number, guess_id in enumerate(ids):
        table = GUESSES.table([{**row, "guess_id": guess_id}])
        content = to_parquet(table.drop_columns(["seconds"]) if number < 300 else table)
        origin = f"{'ab'[number % 2]}-{number}-{number}"
        name = shard_name(GUESSES, f"2026-03-{number // 100 + 1:02d}", origin, content)
        path = tmp_path / "plays" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    page = card.build("a/b", ["guesses"], card.Numbers({}, 0, 0, None, None), NOW)
    (tmp_path / "plays" / "README.md").write_text(page, encoding="utf-8")
    found = load(hub, tmp_path / "home", "guesses", repo=str(tmp_path / "plays"))
    check(found, "guesses", ids)


def newer(row: dict[str, object]) -> tuple[str, bytes]:
    """A file of a newer version that has another column."""
    grown = GUESSES.table([row]).append_column("heading", pa.array([90.0]))
    content = to_parquet(grown)
    return shard_name(GUESSES, "2026-01-01", f"new-{row['guess_id']}", content), content


def test_a_newer_server_next_to_this_one_keeps_its_column(
    hub: FakeHub, tmp_path: Path, make_guess: MakeGuess
) -> None:
    """The newer one published first; this one pushes, joins, removes rows, and reads."""
    page = card.build("tester/plays", ["guesses"], card.Numbers({}, 0, 0, None, None), NOW)
    last = "    dtype: timestamp[us, tz=UTC]\n"
    grown = page.replace(last, f"{last}  - name: heading\n    dtype: float64\n", 1)
    assert (card.is_newer(page), card.is_newer(grown)) == (False, True)
    hub.create().put("README.md", grown.encode())
    for number in range(3):
        player = "gone" if number == 2 else "stays"
        row = _row(make_guess(guess_id=f"new{number}", round_id=f"n{number}", player_id=player))
        hub.repo().put(*newer(row))
    with Database(f"sqlite:///{tmp_path / 'a.db'}") as database:
        publisher = Publisher(database, remote_to(hub))
        for number in range(2):
            GuessStore(database).record(make_guess(round_id=f"r{number}"))
            publisher.turn()
        assert len(GuessStore(database).of_benchmark("demo")) == 5
    take_out(remote_to(hub), "player_id", ["gone"])
    join_days(remote_to(hub), "9998-01-01")
    assert hub.repo().head.files["README.md"].data == grown.encode()
    [name] = [name for name in hub.repo().head.files if "2026-01-01" in name]
    rows = pq.read_table(io.BytesIO(hub.repo().head.files[name].data)).to_pylist()
    assert [(row["guess_id"], row["heading"]) for row in rows] == [("new0", 90.0), ("new1", 90.0)]
    found = load(hub, tmp_path / "home", "guesses")
    assert len(found["guesses"]["ids"]) == len(found["guesses"]["streamed_ids"]) == 4
    assert found["guesses"]["types"]["heading"] == "float64"


def _row(guess: Guess) -> dict[str, object]:
    return {name: getattr(guess, name) for name in GUESSES.schema.names}


def declared(page: str) -> dict[str, Any]:
    return dict(DatasetCard(page).data.__dict__)


def test_the_page_lists_its_columns_and_computed_numbers(
    hub: FakeHub, database: Database, make_guess: MakeGuess
) -> None:
    store, publisher = GuessStore(database), Publisher(database, remote_to(hub))
    for player in ("one", "two"):
        store.record(make_guess(round_id=player, player_id=player))
    publisher.turn()
    page = hub.repo().head.files["README.md"].data.decode()
    told = declared(page)
    assert [config["config_name"] for config in told["configs"]] == ["guesses"]
    store.record(make_guess(round_id="three", action="skip"))
    publisher.turn()
    page = hub.repo().head.files["README.md"].data.decode()
    told = declared(page)
    assert [config["config_name"] for config in told["configs"]] == ["guesses", "skips"]
    assert "3 players, 1 clips, taken from 2026-03-01 to 2026-03-01" in page
    assert "### `guesses`: where players placed the sound of a clip\n\n2 rows." in page
    for field in (*GUESSES.fields, *SKIPS.fields):
        assert f"| `{field.name}` | {field.type} | {field.about} |" in page
    for word in (
        "cc-by-4.0",
        "agl1k admin forget PLAYER_ID",
        "bibtex",
        "Copies that others have made",
    ):
        assert word in page


@pytest.mark.parametrize("kinds", [["guesses"], ["guesses", "submissions"], list(KINDS)])
def test_a_page_declares_what_it_says(kinds: list[str]) -> None:
    numbers = card.Numbers(dict.fromkeys(kinds, 1234), 5, 6, None, None)
    page = card.build("a/b", kinds, numbers, datetime(2026, 1, 2, tzinfo=UTC))
    assert card.is_ours(page)
    assert card.declares(page, kinds)
    assert not card.declares(page, [*kinds[1:]])
    assert not card.is_ours(card.declaration(kinds))
    assert "1,234 rows" in page


def test_a_newer_version_declares_its_column(
    hub: FakeHub, database: Database, make_guess: MakeGuess
) -> None:
    hub.create()
    stale = card.build("a/b", ["guesses"], card.Numbers({}, 0, 0, None, None), NOW)
    lacking = stale.replace("  - name: seconds\n    dtype: float64\n", "")
    assert lacking != stale
    hub.repo().put("README.md", lacking.encode())
    GuessStore(database).record(make_guess())
    Publisher(database, remote_to(hub)).turn()
    assert b"- name: seconds" in hub.repo().head.files["README.md"].data
    assert SUBMISSIONS.name not in hub.repo().head.files["README.md"].data.decode().split("---")[1]
