"""``agl1k admin``: exit codes, output, and changes."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from agl1k_core.cli.main import app
from store.database import Database
from store.guesses import Guess, GuessStore
from store.hub.layout import KINDS
from tests.support.fake_hub import WRITE, FakeHub
from tests.support.hub_help import ids_on
from tests.support.processes import GuessWriter

MakeGuess = Callable[..., Guess]


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AGL1K_HUB_DATASET", "AGL1K_HUB_TOKEN", "HF_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))


@pytest.fixture
def published(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    monkeypatch.setenv("AGL1K_HUB_DATASET", "tester/plays")
    monkeypatch.setenv("AGL1K_HUB_TOKEN", WRITE)
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    return hub


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["admin", *map(str, arguments)])


def record(folder: Path, *guesses: Guess) -> None:
    with Database(f"sqlite:///{folder / 'data' / 'agl1k.db'}") as database:
        for guess in guesses:
            GuessStore(database).record(guess)


def test_help_names_the_commands() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in ("status", "push", "restore", "export", "forget"))
    assert run("nonsense").exit_code == 2


def test_a_life_of_a_dataset(
    published: FakeHub, tmp_path: Path, make_guess: MakeGuess, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path, make_guess(), make_guess(position=1, player_id="other", action="skip"))
    told = json.loads(run("status", "--json").stdout)
    assert (told["waiting_rows"], told["published_rows"]["guesses"]) == (2, 0)
    assert told["dataset"] == "tester/plays"
    pushed = run("push")
    assert pushed.exit_code == 0, pushed.stderr
    assert len(ids_on(published)) == 2
    assert json.loads(run("status", "--json").stdout)["waiting_rows"] == 0
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "new"))
    restored = run("restore")
    assert (restored.exit_code, restored.stdout) == (0, "2 rows read from 2 files\n")
    forgotten = run("forget", "other")
    assert forgotten.exit_code == 0, forgotten.stderr
    assert "Deleted here: 1 answers and 0 rounds" in forgotten.stdout
    assert "Deleted in the dataset: 1 answers" in forgotten.stdout
    assert "Copies that others have made" in forgotten.stdout
    assert len(ids_on(published)) == 1


def test_an_unreachable_hub_exits_with_1(
    tmp_path: Path, make_guess: MakeGuess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGL1K_HUB_DATASET", "tester/plays")
    monkeypatch.setenv("AGL1K_HUB_TOKEN", WRITE)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    record(tmp_path, make_guess())
    for command in (["push"], ["restore"], ["forget", "player-1"]):
        result = run(*command)
        assert result.exit_code == 1, command
        assert WRITE not in result.output
    assert "cannot be reached" in json.loads(run("status", "--json").stdout)["problems"][0]


def test_a_push_that_fails_exits_with_1_even_if_nothing_waits(
    published: FakeHub, tmp_path: Path, make_guess: MakeGuess
) -> None:
    record(tmp_path, make_guess())
    assert run("push").exit_code == 0
    published.fail(path="/api/datasets", status=507)
    result = run("push")
    assert result.exit_code == 1
    assert "The Hub answered with status 507 at 127.0.0.1" in result.stderr


def test_a_deleted_dataset_is_named_and_mended(
    published: FakeHub, tmp_path: Path, make_guess: MakeGuess
) -> None:
    record(tmp_path, *(make_guess(position=n, action=["guess", "skip"][n % 2]) for n in range(5)))
    assert run("push").exit_code == 0
    ids = ids_on(published)
    assert run("verify").exit_code == 0
    del published.repos["tester/plays"]
    told = json.loads(run("status", "--json").stdout)
    assert told["published_rows"] == dict.fromkeys(KINDS, 0)
    assert "does not exist" in told["problems"][0]
    result = run("verify")
    assert result.exit_code == 1
    assert "3 guesses called published here, but missing in the dataset: " in result.stdout
    assert all(row_id in result.stdout for row_id in ids)
    assert "Run: agl1k admin republish" in result.stderr
    mended = run("republish")
    assert mended.exit_code == 0, mended.stderr
    assert ids_on(published) == ids
    rows = json.loads(run("verify", "--json").stdout)["rows_there"]
    assert rows == json.loads(run("status", "--json").stdout)["published_rows"]
    assert (rows["guesses"], rows["skips"]) == (3, 2)


def test_status_claims_nothing_about_a_hub_that_cannot_be_reached(
    tmp_path: Path, published: FakeHub, make_guess: MakeGuess
) -> None:
    record(tmp_path, make_guess())
    assert run("push").exit_code == 0
    published.fail(path="/api/datasets", status=507)
    told = json.loads(run("status", "--json").stdout)
    assert told["published_rows"] is None
    assert "status 507" in told["problems"][0]


def test_without_a_dataset(tmp_path: Path, make_guess: MakeGuess) -> None:
    record(tmp_path, make_guess())
    for command in ("push", "restore"):
        result = run(command)
        assert result.exit_code == 1
        assert "No dataset is configured. Set AGL1K_HUB_DATASET" in result.stderr
    assert run("forget", "player-1").exit_code == 0
    assert json.loads(run("status", "--json").stdout)["waiting_rows"] == 0


def test_export_writes_what_would_be_published(tmp_path: Path, make_guess: MakeGuess) -> None:
    record(tmp_path, make_guess(nickname="Secret"), make_guess(position=1, action="broken"))
    folder = tmp_path / "out"
    result = run("export", folder)
    assert (result.exit_code, result.stdout) == (0, f"2 rows written to {folder}\n")
    files = sorted(folder.glob("data/*/*/*.parquet"))
    assert [file.parts[-3] for file in files] == ["guesses", "skips"]
    assert "Secret" not in str([pq.read_table(file).to_pylist() for file in files])
    assert "1 rows" in (folder / "README.md").read_text()
    again = run("export", folder)
    assert again.exit_code == 1
    assert "is not empty. Nothing was written" in again.stderr


@pytest.mark.server
def test_a_backup_of_a_database_in_use(tmp_path: Path) -> None:
    writer = GuessWriter(f"sqlite:///{tmp_path / 'data' / 'agl1k.db'}")
    acknowledged = writer.read(50)
    copy = tmp_path / "copy.db"
    result = run("backup", copy)
    writer.kill()
    assert (result.exit_code, f"bytes written to {copy}" in result.stdout) == (0, True)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert {file.name for file in tmp_path.iterdir()} == {"data", "copy.db"}
    with Database(f"sqlite:///{copy}") as database:
        stored = {guess.guess_id for guess in GuessStore(database).of_benchmark("demo")}
    assert set(acknowledged) <= stored


def test_a_backup_overwrites_nothing(tmp_path: Path, make_guess: MakeGuess) -> None:
    taken = tmp_path / "taken"
    missing = run("backup", taken)
    assert (missing.exit_code, "there is nothing to back up" in missing.stderr) == (1, True)
    assert not (tmp_path / "data").exists()
    record(tmp_path, make_guess())
    taken.write_bytes(b"other")
    result = run("backup", taken)
    assert (result.exit_code, taken.read_bytes()) == (1, b"other")
    assert "exists already. Nothing was written" in result.stderr
    nowhere = run("backup", tmp_path / "no" / "copy.db")
    assert (nowhere.exit_code, "No such file or directory" in nowhere.stderr) == (1, True)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data", "taken"]


def test_a_damaged_database_is_not_backed_up(tmp_path: Path, make_guess: MakeGuess) -> None:
    record(tmp_path, *(make_guess(position=position) for position in range(200)))
    file = tmp_path / "data" / "agl1k.db"
    content = bytearray(file.read_bytes())
    content[8192:32768] = b"\xa5" * 24576
    file.write_bytes(content)
    result = run("backup", tmp_path / "copy.db")
    assert (result.exit_code, "is damaged" in result.stderr) == (1, True)
    assert not (tmp_path / "copy.db").exists()


def test_a_backup_of_postgresql_is_left_to_pg_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGL1K_DATABASE", "postgresql://me:hush@db.example/arena")
    result = run("backup", tmp_path / "copy.db")
    assert result.exit_code == 1
    assert "pg_dump --format=custom" in result.stderr
    assert "me:***@db.example/arena" in result.stderr
    assert "hush" not in result.output
