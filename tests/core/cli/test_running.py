"""``agl1k run`` and ``rescore`` as commands; runs themselves are tested in tests/core/models."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import ClipTags, tags_json
from agl1k_core.cli.main import app
from tests.support.fake_endpoint import FakeEndpoint, fake_endpoint, text_in
from tests.support.model_runs import small_benchmark


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def api() -> Iterator[FakeEndpoint]:
    with fake_endpoint(cost=0.01) as fake:
        yield fake


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    small_benchmark(tmp_path / "bench", 3)
    return tmp_path / "bench"


def asked(fake: FakeEndpoint, bench: Path, *more: object) -> Result:
    output = bench.with_name("run")
    return run(
        "run", "--model", fake.model, "--base-url", fake.url, "-b", bench, "-o", output, *more
    )


def test_a_run_tells_what_it_found_and_did(api: FakeEndpoint, bench: Path) -> None:
    result = asked(api, bench, "--temperature", "0", "--max-tokens", "99", "--seed", "5")
    assert result.exit_code == 0, result.stderr
    assert "sound as object (wav), answers plain" in result.stderr
    assert "hears: it counted the beeps of 2 beacons" in result.stderr
    assert "3 of 3 clips answered" in result.stdout
    assert re.search(r"\$0\.07\d* \(reported by the endpoint\)", result.stdout)
    assert "3 answered" in result.stdout
    body = api.about_clips[0]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0, 99, 5)


@pytest.mark.server
def test_rescoring_needs_no_endpoint(bench: Path) -> None:
    with fake_endpoint() as fake:
        asked(fake, bench, "--repeat", "2")
    result = run("rescore", bench.with_name("run"))
    assert result.exit_code == 0, result.stderr
    assert "predictions.jsonl:" in result.stdout
    assert "predictions-2.jsonl:" in result.stdout
    assert re.search(r"Between the 2 passes:\nmetric +mean +std. dev.", result.stdout)
    assert re.search(r"distance_km .* to ", result.stdout)


def test_a_run_that_stops_early_fails_and_keeps_what_it_has(api: FakeEndpoint, bench: Path) -> None:
    result = asked(api, bench, "--max-cost", "0.05")
    assert result.exit_code == 1
    assert "1 of 1 clips answered" in result.stdout
    assert "--max-cost" in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--api-key-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
        (["--python", "a:b"], "--base-url or --python, not both"),
        (["--seed", "1", "--repeat", "2"], "the passes of --repeat would be the same"),
        (["--price", "3"], "is not two numbers"),
        (["--clip", "x"], "has no clip 'x'"),
        (["--prompt-file", "no-such-file"], "cannot be read"),
        (["--agent", "2", "--tags-only"], "--agent does not go with --tags-only"),
        (["--match-tokens", "."], "--match-tokens is for controls"),
        (["--agent", "2", "--match-tokens", "."], "answer at once: give --agent 0"),
        (["--match-tokens", ".", "--max-tokens", "9"], "Leave out --max-tokens"),
        (["--agent", "0", "--match-tokens", "."], "not from a run with --agent"),
        (["--without-audio", "--tags-only"], "Give only one of --without-audio, --tags-only"),
    ],
)
def test_wrong_options_are_explained(
    api: FakeEndpoint, bench: Path, options: list[str], words: str
) -> None:
    result = asked(api, bench, *options)
    assert result.exit_code == 1
    assert words in result.stderr
    assert api.requests == []


def test_a_model_must_be_named(tmp_path: Path) -> None:
    result = run("run", "-o", tmp_path / "run")
    assert result.exit_code == 1
    assert "Give --model and --base-url" in result.stderr


def test_parameters_of_endpoints_are_not_for_functions(tmp_path: Path) -> None:
    result = run("run", "-o", tmp_path / "run", "--python", "a:b", "--max-tokens", "9")
    assert result.exit_code == 1
    assert "--max-tokens: only for endpoints; set it in a:b" in result.stderr


@pytest.mark.server
def test_the_key_comes_from_the_variable(bench: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "right")
    with fake_endpoint(key="right") as fake:
        assert asked(fake, bench, "--api-key-env", "MY_KEY").exit_code == 0


def test_another_prompt_is_sent_and_kept(api: FakeEndpoint, bench: Path, tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text("Where was this?\n")
    assert asked(api, bench, "--prompt-file", path).exit_code == 0
    assert {text_in(body) for body in api.about_clips} == {"Where was this?"}
    told = json.loads((bench.with_name("run") / "provenance.json").read_text())["prompt"]
    assert (told["source"], told["text"]) == ("prompt.txt", "Where was this?")


def test_the_tags_of_a_folder_take_the_place_of_sound(api: FakeEndpoint, bench: Path) -> None:
    tags = {f"k{n}": ClipTags({"/m/06mb1": 0.5}) for n in range(3)}
    (bench / "tags.json").write_text(tags_json(tags, {"name": "yamnet"}))
    result = asked(api, bench, "--tags-only")
    assert result.exit_code == 0, result.stderr
    assert all("Rain: 50% of the time" in text_in(body) for body in api.about_clips)
    # a few clips first, then all of them, is still the same run
    assert asked(api, bench, "--tags-only", "--clip", "k1").exit_code == 0


def test_transcripts_take_the_place_of_sound(
    api: FakeEndpoint, bench: Path, tmp_path: Path
) -> None:
    path = tmp_path / "spoken.jsonl"
    path.write_text(json.dumps({"key": "k0", "text": "Guten Tag", "language": "German"}) + "\n")
    assert asked(api, bench, "--transcript-only", "--transcripts", path).exit_code == 0
    said = sorted(text_in(body).splitlines()[-1] for body in api.about_clips)
    assert said == ["Guten Tag", *["Transcript of the recording: there is no speech in it."] * 2]


def test_a_function_in_a_module(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_hook.py").write_text("def ask(audio, prompt):\n    return '48.9, 2.4'\n")
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "local"
    options = ["-b", bench, "-o", output, "--skip-hearing-check"]
    result = run("run", "--python", "my_hook:ask", *options)
    assert result.exit_code == 0, result.stderr
    assert "3 of 3 clips answered" in result.stdout
    assert "cost not reported" in result.stdout


def listens_again(body: Mapping[str, Any]) -> str:
    """Asks for one segment; the place is right only after that."""
    acted = len(body["messages"]) > 1
    place = {"latitude": 1.0, "longitude": 1.0 if acted else 90.0, "country": "France"}
    action = {"name": "commit"} if acted else {"name": "hear", "start_s": 0, "end_s": 0.5}
    return json.dumps({**place, "reason": "x", "uncertain": "y", "action": action})


@pytest.mark.server
def test_an_agent_and_its_control_are_compared(bench: Path, tmp_path: Path) -> None:
    with fake_endpoint(converse=listens_again) as fake:
        result = asked(fake, bench, "--agent", "2")
        assert result.exit_code == 0, result.stderr
        assert "2.0 answers a clip, with up to 2 actions" in result.stdout
        control = ["-b", bench, "-o", tmp_path / "control", "--model", fake.model,
                   "--base-url", fake.url, "--agent", "0"]  # fmt: skip
        fake.converse = None
        result = run("run", *control, "--match-tokens", bench.with_name("run"), "--repeat", "2")
        assert result.exit_code == 0, result.stderr
    assert {body["max_tokens"] for body in fake.about_clips if "max_tokens" in body} == {1000}
    files = [bench.with_name("run"), tmp_path / "control"]
    result = run("compare", *(folder / "predictions.jsonl" for folder in files), "-b", bench)
    assert result.exit_code == 0, result.stderr
    # a folder is the mean of its passes, which are alike here
    assert (
        run("compare", *files, "-b", bench).stdout.splitlines()[2:]
        == (result.stdout.splitlines()[2:])
    )
    (tmp_path / "control" / "predictions-2.jsonl").write_text("")
    assert run("compare", *files, "-b", bench).exit_code == 1
    assert "has no predictions of agl1k run" in run("compare", files[0], bench, "-b", bench).stderr
    result = run("rescore", bench.with_name("run"))
    table = result.stdout.partition("After so many actions")[2].splitlines()
    assert [line.split()[:2] for line in table[2:5]] == [["0", "3"], ["1", "3"], ["2", "0"]]
    assert re.search(r" 4,6\d\d\.\d +[\d,.]+ to 5,\d\d\d\.\d$", table[3])


@pytest.mark.server
def test_a_control_of_fewer_clips_and_of_another_model(bench: Path, tmp_path: Path) -> None:
    with fake_endpoint(converse=listens_again) as fake:
        assert asked(fake, bench, "--agent", "1", "--limit", "2").exit_code == 0
        more = ["-b", bench, "-o", tmp_path / "control", "--base-url", fake.url, "--agent", "0",
                "--match-tokens", bench.with_name("run")]  # fmt: skip
        result = run("run", *more, "--model", "other")
        assert "model is 'other', there it is 'fake-model'" in result.stderr
        result = run("run", *more, "--model", fake.model)
    assert "1 of 3 clips have no answer in" in result.stderr
    assert "2 of 2 clips answered" in result.stdout
