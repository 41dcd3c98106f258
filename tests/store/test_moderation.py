"""Decisions of operators: logged, told, and in force at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agl1k_core.errors import Agl1kError
from store.admin import app
from store.database import Database
from store.guesses import Guess, GuessStore
from store.moderation import HiddenNicknames, ModerationLog, standing
from store.submissions import SubmissionStore
from tests.support.hub_help import submission

MakeGuess = Callable[..., Guess]


def test_the_last_decision_holds_and_all_are_kept(database: Database) -> None:
    log, store = ModerationLog(database), SubmissionStore(database)
    before = store.revision()
    log.decide("submission", "a", "hide", "copied\n from elsewhere")
    assert store.revision() != before
    log.decide("submission", "a", "restore", "it was not")
    log.decide("submission", "a", "verify", "confirmed by mail")
    log.decide("nickname", "a", "hide", "rude")
    actions = [(made.action, made.reason) for made in log.log("submission", "a")]
    assert actions == [
        ("hide", "copied from elsewhere"),
        ("restore", "it was not"),
        ("verify", "confirmed by mail"),
    ]
    held = log.standings("submission")["a"]
    assert held.is_shown
    assert held.verified is not None
    assert not log.standings("nickname")["a"].is_shown
    undone = [*log.log("submission", "a"), log.decide("submission", "a", "unverify", "left")]
    assert standing(undone).verified is None


@pytest.mark.parametrize("reason", ["", "  \n ", "x" * 501, "zero\0width"])
def test_a_decision_needs_a_reason(database: Database, reason: str) -> None:
    log = ModerationLog(database)
    with pytest.raises(Agl1kError, match="needs a reason"):
        log.decide("submission", "a", "hide", reason)
    assert log.log("submission") == []


def test_a_hidden_nickname_is_left_out_of_guesses_within_a_minute(
    database: Database, make_guess: MakeGuess
) -> None:
    now = [0.0]
    log = ModerationLog(database)
    store = GuessStore(database, is_hidden=HiddenNicknames(log, lambda: now[0]))
    assert store.record(make_guess(nickname="Rude")).nickname == "Rude"
    log.decide("nickname", "Rude", "hide", "rude")
    assert store.drop_nickname("Rude") == 1
    now[0] += 61
    assert store.record(make_guess(nickname="rude", position=1)).nickname == ""
    assert store.record(make_guess(nickname="RUDE", position=4)).nickname == ""
    assert store.record(make_guess(nickname="Kind", position=2)).nickname == "Kind"
    assert store.nicknames() == {"Kind": 1}
    log.decide("nickname", "Rude", "restore", "another meaning")
    now[0] += 61
    assert store.record(make_guess(nickname="Rude", position=3)).nickname == "Rude"


def test_held_submissions_are_held_from_the_start(database: Database) -> None:
    store = SubmissionStore(database)
    revision = store.revision()
    one = submission()
    store.publish(one, b"foo", hold="too good")
    assert store.revision() != revision
    found = store.moderation.standings("submission")[one.submission_id]
    assert not found.is_shown
    assert found.shown is not None
    assert found.shown.reason == "too good"


def test_removing_deletes_the_file_and_says_why(database: Database) -> None:
    store = SubmissionStore(database)
    one = submission()
    store.publish(one, b"foo")
    store.remove(one.submission_id, "the truth table itself")
    with pytest.raises(Agl1kError, match="There is no file"):
        store.file(one.submission_id)
    assert store.list(one.benchmark) == []
    with pytest.raises(Agl1kError, match="no submission unknown"):
        store.remove("unknown", "why")


def _run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, args)
    return result.exit_code, result.output


def test_the_commands_of_an_operator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"sqlite:///{tmp_path}/agl1k.db"
    monkeypatch.setenv("AGL1K_DATABASE", address)
    monkeypatch.setenv("COLUMNS", "200")
    with Database(address) as database:
        store = SubmissionStore(database)
        ids = "plain", "owned"
        store.publish(submission(submission_id=ids[0]), b"foo")
        store.publish(submission(submission_id=ids[1], owner="ada", model="Ear 2"), b"foo")
    assert _run("submissions", "hide", ids[0], "--reason", "spam")[0] == 0
    assert _run("submissions", "verify", ids[1], "--reason", "known")[0] == 0
    code, listed = _run("submissions", "list")
    assert code == 0
    assert "hidden" in listed
    assert "verified" in listed
    code, shown = _run("submissions", "show", ids[0])
    assert "state: hidden" in shown
    assert "hide: spam" in shown
    assert _run("submissions", "restore", ids[0], "--reason", "no spam")[0] == 0
    assert "state: shown" in _run("submissions", "show", ids[0])[1]
    code, refused = _run("submissions", "verify", ids[0], "--reason", "known")
    assert code == 1
    assert "not signed in" in refused
    assert _run("submissions", "remove", ids[0], "--reason", "spam after all")[0] == 0
    assert "state: removed" in _run("submissions", "show", ids[0])[1]
    assert _run("submissions", "hide", ids[0], "--reason", "spam")[0] == 1
    code, unknown = _run("submissions", "show", "nothing")
    assert code == 1
    assert "no submission nothing" in unknown
    assert _run("nicknames", "hide", "Rude", "--reason", "rude")[0] == 0
    assert "hidden Rude: rude" in _run("nicknames", "list")[1]
