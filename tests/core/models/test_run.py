"""Whole runs against fake endpoints: every dialect, every fault, stopped and resumed."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError
from agl1k_core.models import Price, Prompt, Treatment, write_results
from agl1k_core.models.journal import open_journal, read_journal
from agl1k_core.predictions import read_predictions
from tests.support import sounds
from tests.support.fake_endpoint import FakeEndpoint, Fault, Heard, bad, fake_endpoint, text_in
from tests.support.model_runs import QUICK, Asked
from tests.support.waiting import eventually

Start = Callable[..., FakeEndpoint]
SOON = {"Retry-After": "0"}
N = 6


def records(asked: Asked, name: str = "predictions.jsonl") -> dict[str, dict[str, str]]:
    lines = (asked.folder / name).read_text().rstrip("\n").split("\n")
    return {record["key"]: record for record in map(json.loads, lines)}


def the_error(asked: Asked) -> str:
    """What is kept about the one clip without an answer."""
    (error,) = [record["error"] for record in records(asked).values() if "error" in record]
    return error


def refused(asked: Asked, fake: FakeEndpoint, **more: Any) -> str:
    """The sentence with which a run does not begin."""
    with pytest.raises(Agl1kError) as caught:
        asked.run(fake, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- dialects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["object", "string", "audio_url", "data_url"])
@pytest.mark.parametrize("way", [{}, {"streams_only": True}, {"refuses_stream": True}])
def test_every_dialect_is_found(
    endpoint: Start, asked: Asked, shape: str, way: dict[str, Any]
) -> None:
    fake = endpoint(shapes=(shape,), **way)
    result, stopped = asked.run(fake)
    assert stopped == ""
    found = result.provenance["endpoint"]["dialect"]
    assert (found["shape"], found["streamed"]) == (shape, bool(way.get("streams_only")))
    assert result.provenance["clips"]["answered"] == N
    assert any(shape in sentence for sentence in asked.told)


def test_the_dialect_that_is_heard_is_preferred_to_one_that_is_accepted(
    endpoint: Start, asked: Asked
) -> None:
    """Some servers accept a part that they do not know, and drop it."""
    shapes = ("object", "audio_url", "string", "data_url")
    fake = endpoint(shapes=shapes, heard_shapes=("audio_url",))
    result, _ = asked.run(fake)
    assert result.provenance["endpoint"]["dialect"]["shape"] == "audio_url"
    assert result.provenance["hearing_check"]["outcome"] == "passed"


def test_a_format_that_is_refused_is_replaced(endpoint: Start, asked: Asked) -> None:
    result, _ = asked.run(endpoint(formats=("mp3",)))
    assert result.provenance["audio"]["formats_sent"] == ["mp3"]
    assert result.provenance["clips"]["answered"] == N


def test_a_format_that_was_asked_for_is_not_replaced(endpoint: Start, asked: Asked) -> None:
    told = refused(asked, endpoint(formats=("mp3",)), treatment=Treatment("wav"))
    assert "Unsupported audio format" in told


@pytest.mark.parametrize(
    ("word", "sent"),
    [("max_tokens", "max_completion_tokens"), ("stream_options", "max_tokens")],
)
def test_parameters_that_an_endpoint_calls_otherwise(
    endpoint: Start, asked: Asked, word: str, sent: str
) -> None:
    def reject(body: dict[str, Any]) -> Fault | None:
        said = f"Unsupported parameter: '{word}' is not supported with this model."
        return bad(said) if word in body else None

    fake = endpoint(reject=reject, streams_only=True)
    result, _ = asked.run(fake, parameters={"max_tokens": 99})
    assert result.provenance["clips"]["answered"] == N
    assert all(body[sent] == 99 for body in fake.about_clips)


def test_parameters_are_sent_and_kept(endpoint: Start, asked: Asked) -> None:
    given: dict[str, float | int | None] = {"temperature": 0.0, "seed": 7, "max_tokens": 500}
    fake = endpoint()
    result, _ = asked.run(fake, parameters=given)
    assert all({**given, **body} == body for body in fake.about_clips)
    assert result.provenance["parameters"] == given


# --- hearing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [True, False])
def test_a_deaf_model_ends_the_run_before_the_first_clip(
    endpoint: Start, asked: Asked, tokens: bool
) -> None:
    fake = endpoint(hears=False, counts_tokens=tokens)
    told = refused(asked, fake)
    assert "does not hear" in told
    assert "--skip-hearing-check" in told
    assert fake.about_clips == []


def test_skipping_the_check_is_kept(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(hears=False)
    result, _ = asked.run(fake, skip_hearing_check=True)
    assert result.provenance["hearing_check"]["outcome"] == "skipped"
    assert len(fake.about_clips) == N


def test_the_check_is_made_once(endpoint: Start, asked: Asked) -> None:
    fake = endpoint()
    asked.run(fake, limit=2)
    n_probes = len(fake.requests) - len(fake.about_clips)
    asked.run(fake)
    assert len(fake.requests) - len(fake.about_clips) == n_probes
    assert len(fake.about_clips) == N


def test_a_check_that_was_skipped_is_made_when_it_is_not_skipped(
    endpoint: Start, asked: Asked
) -> None:
    fake = endpoint()
    asked.run(fake, limit=2, skip_hearing_check=True)
    result, _ = asked.run(fake)
    assert result.provenance["hearing_check"]["outcome"] == "passed"


def test_faults_while_probing_are_not_taken_for_a_dialect(endpoint: Start, asked: Asked) -> None:
    faults = iter([Fault(500, "oops"), Fault(200, b'{"choi'), None, Fault(429, {}, SOON)])
    fake = endpoint(reject=lambda body: next(faults, None))
    result, _ = asked.run(fake)
    assert result.provenance["endpoint"]["dialect"]["shape"] == "object"
    assert not result.provenance["endpoint"]["dialect"]["streamed"]
    assert result.provenance["hearing_check"]["outcome"] == "passed"


def test_without_the_check_the_first_dialect_that_is_accepted_is_taken(
    endpoint: Start, asked: Asked
) -> None:
    fake = endpoint(hears=False)
    asked.run(fake, skip_hearing_check=True)
    assert len(fake.requests) == N + 1


# --- one readable line --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "more", "words"),
    [
        ({"key": "right"}, {"key": "wrong"}, ["refuses the key", "401", "MY_KEY"]),
        ({"key": "right"}, {}, ["No key was sent", "--api-key-env"]),
        ({}, {"model": "other"}, ["has no model 'other'", "--model"]),
        ({"shapes": ()}, {}, ["sound in no way that is known"]),
        ({"reject": lambda body: bad("audio input is not supported", 500)}, {},
         ["takes no audio", "--without-audio"]),
        ({"reject": lambda body: bad("You exceeded your current quota", 429)}, {},
         ["no credit or quota left"]),
        ({"reject": lambda body: Fault(200, {"error": {"code": 402, "message": "no"}})}, {},
         ["no credit or quota left", "402"]),
        ({"reject": lambda body: bad("Unsupported value: 'temperature' does not support 0")},
         {"parameters": {"temperature": 0.0}}, ["refuses a parameter", "--temperature"]),
        ({"reject": lambda body: Fault(503, "overloaded", {"Retry-After": "0"})}, {},
         ["503", "Try again later"]),
    ],
)  # fmt: skip
def test_a_run_that_cannot_begin_says_why(
    endpoint: Start, asked: Asked, behaviour: Any, more: Any, words: list[str]
) -> None:
    told = refused(asked, endpoint(**behaviour), **more)
    assert [word for word in words if word not in told] == []


def test_a_wrong_address_and_no_network(endpoint: Start, asked: Asked) -> None:
    fake = endpoint()
    right = fake.url
    fake.url = right.replace("/v1", "/api")
    assert "--base-url" in refused(asked, fake)
    fake.url = "http://127.0.0.1:9/v1"
    assert "could not be reached. Check --base-url and the network." in refused(asked, fake)
    fake.url = "not an address"
    assert "is not a web address" in refused(asked, fake)


def test_the_key_is_stored_nowhere(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(key="sk-secret", wrap=lambda text: f"{text} sk-secret")
    asked.run(fake, key="sk-secret")
    files = [path for path in asked.folder.iterdir() if path.is_file()]
    assert len(files) >= 3
    assert [path.name for path in files if b"sk-secret" in path.read_bytes()] == []


# --- faults during a run ------------------------------------------------------------------------

DATE = {"Retry-After": format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)}
PASSING = [
    Fault(429, "slow down", SOON), Fault(429, {}, DATE), Fault(500, "oops"), Fault(503, ""),
    Fault(200, b'{"choices": [{"message": {"content": "Par'),
    Fault(200, {"choices": []}, cut=5), Fault(200, {"choices": None}),
    Fault(200, {"error": {"message": "Provider returned error", "code": 502}}),
    Fault(200, {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}),
]  # fmt: skip


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_tried_again(endpoint: Start, asked: Asked, fault: Fault) -> None:
    fake = endpoint(faults=[fault])
    result, stopped = asked.run(fake)
    assert stopped == ""
    assert result.provenance["clips"]["answered"] == N
    assert len(fake.about_clips) == N + 1
    assert set(fake.answered.values()) == {1}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (bad("Audio duration exceeds the maximum of 30 s"), "exceeds the maximum of 30 s"),
        (bad("your input was flagged by moderation", 403), "flagged"),
        (bad("cannot process this"), "cannot process this"),
        (Fault(200, {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}),
         "--max-tokens"),
        (Fault(200, {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}),
         "withheld"),
    ],
)  # fmt: skip
def test_what_is_final_is_not_tried_again(
    endpoint: Start, asked: Asked, fault: Fault, words: str
) -> None:
    fake = endpoint(faults=[fault])
    result, stopped = asked.run(fake, concurrency=1)
    assert (stopped, len(fake.about_clips)) == ("", N)
    assert words in the_error(asked)
    asked.run(fake)
    assert len(fake.about_clips) == N
    statuses = read_predictions(result.files[0], asked.benchmark).status
    assert [str(status) for status in statuses].count("error") == 1


def test_final_errors_are_asked_again_only_on_request(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(faults=[bad("cannot process this")])
    asked.run(fake)
    result, _ = asked.run(fake)
    assert result.provenance["clips"]["failed"] == 1
    result, _ = asked.run(fake, ask_failed=True)
    assert result.provenance["clips"]["failed"] == 0
    assert len(fake.about_clips) == N + 1


def test_an_endpoint_that_rejects_everything_ends_the_run(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(faults=[bad("cannot process this")] * N)
    _, stopped = asked.run(fake, concurrency=1)
    assert "5 clips in a row got no answer: the endpoint answered 400: cannot process" in stopped
    assert len(fake.about_clips) == 5


def test_a_clip_that_never_got_an_answer_is_asked_again_by_the_next_run(
    endpoint: Start, asked: Asked
) -> None:
    fake = endpoint(faults=[Fault(500, "oops")] * QUICK.attempts)
    result, _ = asked.run(fake, concurrency=1)
    assert (
        result.provenance["clips"] | {"failed": 1, "answered": N - 1}
        == (result.provenance["clips"])
    )
    assert "tried 3 times: it answered 500: oops" in the_error(asked)
    result, _ = asked.run(fake)
    assert result.provenance["clips"]["answered"] == N
    assert all("model_output" in record for record in records(asked).values())


def test_an_empty_answer_is_tried_once_more_and_then_is_what_it_is(
    endpoint: Start, asked: Asked
) -> None:
    empty = Fault(200, {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]})
    fake = endpoint(faults=[empty, empty])
    asked.run(fake, concurrency=1)
    assert len(fake.about_clips) == N + 1
    assert "empty" in the_error(asked)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (bad("insufficient_quota", 429), "no credit or quota left"),
        (Fault(402, {}), "no credit or quota left"),
        (Fault(401, {}), "refuses the key"),
        (bad("audio input is not supported", 500), "takes no audio"),
    ],
)
def test_what_ends_a_run_loses_nothing(
    endpoint: Start, asked: Asked, fault: Fault, words: str
) -> None:
    fake = endpoint(faults=[fault])
    fake.answer = lambda sound, prompt: "Paris, France: 48.9, 2.4"
    result, stopped = asked.run(fake, concurrency=1)
    assert words in stopped
    assert result.provenance["clips"]["asked"] == 0
    result, stopped = asked.run(fake, concurrency=1)
    assert (stopped, result.provenance["clips"]["answered"]) == ("", N)


@pytest.mark.server
def test_a_server_that_goes_away_ends_the_run(small: Benchmark, tmp_path: Path) -> None:
    asked = Asked(small, tmp_path / "run")
    with fake_endpoint() as fake:
        asked.run(fake, limit=1)
    _, stopped = asked.run(fake, concurrency=1)
    assert "5 clips in a row got no answer" in stopped
    assert "Check the network" in stopped
    port = int(fake.url.split(":")[2].partition("/")[0])
    with fake_endpoint(port) as fake:
        result, stopped = asked.run(fake)
    assert (stopped, result.provenance["clips"]["answered"]) == ("", N)


def test_a_stalled_answer_is_tried_again(endpoint: Start, asked: Asked) -> None:
    stalls = threading.Event()

    def delay_s(number: int) -> float:
        return 3.0 if number == 4 and not stalls.is_set() else 0.0

    hasty = dataclasses.replace(QUICK, read_s=1, attempt_s=2)
    result, _ = asked.run(endpoint(delay_s=delay_s), patience=hasty)
    assert result.provenance["clips"]["answered"] == N


def test_what_is_too_large_is_sent_smaller(endpoint: Start, asked: Asked) -> None:
    assert asked.benchmark.audio_dir
    wave = sounds.tone(15, 1, 16000)
    sounds.encode(asked.benchmark.audio_dir / "k4.wav", "pcm_s16le", wave, rate_hz=16000)
    result, _ = asked.run(endpoint(max_bytes=400_000))
    assert result.provenance["clips"]["answered"] == N
    assert result.provenance["audio"]["formats_sent"] == ["mp3", "wav"]


def test_a_broken_recording_costs_nothing_and_stops_nothing(endpoint: Start, asked: Asked) -> None:
    folder = asked.benchmark.audio_dir
    assert folder
    (folder / "k2.wav").write_bytes(b"hello")
    (folder / "k3.wav").unlink()
    fake = endpoint()
    result, stopped = asked.run(fake)
    assert (stopped, len(fake.about_clips)) == ("", N - 2)
    assert "not audio" in records(asked)["k2"]["error"]
    assert "k3" not in records(asked)
    assert any("k3" in sentence for sentence in asked.told)
    assert result.provenance["clips"]["failed"] == 1


def test_a_limit_counts_clips_that_have_a_recording(endpoint: Start, asked: Asked) -> None:
    folder = asked.benchmark.audio_dir
    assert folder
    (folder / "k0.wav").unlink()
    asked.run(endpoint(), limit=2)
    assert [*records(asked)] == ["k1", "k2"]
    for path in folder.glob("*.wav"):
        path.unlink()
    assert "6 of 6 clips have no recording in" in refused(asked, endpoint())


# --- answers as they are ------------------------------------------------------------------------


def test_raw_answers_are_kept_as_they_came(endpoint: Start, asked: Asked) -> None:
    raw = '<think>12.3, 45.6</think>\n```json\n{"latitude": 1, "longitude": 2}\n```\u2028"\\'
    result, _ = asked.run(endpoint(answer=lambda sound, prompt: raw))
    assert {record["model_output"] for record in records(asked).values()} == {raw}
    read = read_predictions(result.files[0], asked.benchmark)
    assert list(read.lat) == [1.0] * N


def test_statuses_are_apart(endpoint: Start, asked: Asked) -> None:
    said = iter(["I cannot determine the location.", "blue", '{"latitude": 1, "longitude": 2}'])

    def answer(sound: Heard | None, prompt: str) -> str:
        return next(said)

    fake = endpoint(answer=answer, faults=[bad("no")])
    result, _ = asked.run(fake, concurrency=1, limit=4)
    statuses = read_predictions(result.files[0], asked.benchmark).status
    assert sorted(map(str, statuses)) == ["answered", "error", "refused", "unparseable"]


def test_an_answer_cut_off_is_counted(endpoint: Start, asked: Asked) -> None:
    result, _ = asked.run(endpoint(finish="length"))
    assert result.provenance["clips"]["cut_off"] == N
    assert any("--max-tokens" in line for line in result.lines())


def test_truncation_is_kept_per_clip(endpoint: Start, asked: Asked) -> None:
    result, _ = asked.run(endpoint(), treatment=Treatment(max_seconds=1.0))
    assert result.provenance["clips"]["truncated"] == N - 2
    sent = {
        event["clip"]: event["sound"]
        for event in read_journal(asked.folder)
        if event["line"] == "reply"
    }
    assert (sent["k5"]["seconds"], sent["k5"]["of_seconds"], sent["k5"]["truncated"]) == (
        1.0, 3.0, True,
    )  # fmt: skip
    assert not sent["k0"]["truncated"]


# --- resuming -----------------------------------------------------------------------------------


def test_a_finished_run_asks_nothing_again(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(cost=0.01)
    first, _ = asked.run(fake)
    again, _ = asked.run(fake)
    assert len(fake.about_clips) == N
    assert asked.starts == [(0, N), (N, N)]
    assert again.provenance["cost"] == first.provenance["cost"]
    assert again.provenance["cost"]["usd"] == pytest.approx(fake.charged)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"parameters": {"temperature": 1.0}}, "temperature was not set, now it is 1.0"),
        ({"parameters": {"seed": 3}}, "seed was not set, now it is 3"),
        ({"settings": {"prompt": Prompt("Where?")}}, "prompt was"),
        ({"settings": {"control": "without-audio"}}, "control was not set"),
        ({"treatment": Treatment("mp3")}, "audio format was 'auto', now it is 'mp3'"),
        ({"treatment": Treatment(max_seconds=9)}, "maximum seconds was not set, now it is 9"),
    ],
)
def test_a_changed_setting_is_named(
    endpoint: Start, asked: Asked, changed: Any, words: str
) -> None:
    fake = endpoint()
    asked.run(fake, limit=1)
    told = refused(asked, fake, **changed)
    assert words in told
    assert "another folder" in told


def test_another_model_or_endpoint_is_named(endpoint: Start, asked: Asked) -> None:
    fake, other = endpoint(), endpoint(model="other")
    asked.run(fake, limit=1)
    told = refused(asked, other, model="other")
    assert "model was 'fake-model', now it is 'other'" in told
    assert "endpoint was" in told


def test_a_changed_benchmark_or_recording_is_named(
    endpoint: Start, asked: Asked, small: Benchmark
) -> None:
    fake = endpoint()
    asked.run(fake, limit=3)
    moved = dataclasses.replace(small.clips[0], lat=1.5)
    other = dataclasses.replace(small, clips=(moved, *small.clips[1:]))
    assert "benchmark's content was" in refused(asked, fake, benchmark=other)
    assert small.audio_dir
    path = small.audio_dir / "k1.wav"
    data = bytearray(path.read_bytes())
    path.write_bytes(data)  # touched, but the same
    asked.run(fake, limit=3)
    data[-1] ^= 1
    path.write_bytes(data)
    told = refused(asked, fake)
    assert "recordings of 1 clips" in told
    assert "k1" in told


def test_two_processes_in_one_folder_are_refused(endpoint: Start, asked: Asked) -> None:
    with open_journal(asked.folder):
        assert "Another process is running" in refused(asked, endpoint())


def test_a_torn_line_loses_only_itself(endpoint: Start, asked: Asked) -> None:
    fake = endpoint()
    asked.run(fake, limit=3)
    journal = asked.folder / "journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-30])
    result, _ = asked.run(fake)
    assert result.provenance["clips"]["answered"] == N
    assert len(fake.about_clips) == N + 1


def test_repeated_passes_are_apart(endpoint: Start, asked: Asked) -> None:
    number = iter(range(1000))
    lock = threading.Lock()

    def answer(sound: Heard | None, prompt: str) -> str:
        with lock:
            return f"answer {next(number)}"

    fake = endpoint(answer=answer)
    result, _ = asked.run(fake, repeat=3)
    assert [path.name for path in result.files] == [
        "predictions.jsonl", "predictions-2.jsonl", "predictions-3.jsonl",
    ]  # fmt: skip
    said = {r["model_output"] for path in result.files for r in records(asked, path.name).values()}
    assert len(said) == 3 * N
    asked.run(fake, repeat=3)
    assert len(fake.about_clips) == 3 * N


def test_rescoring_asks_nothing_and_writes_the_same(endpoint: Start, asked: Asked) -> None:
    result, _ = asked.run(endpoint(cost=0.5))
    before = {
        path.name: path.read_bytes() for path in (*result.files, asked.folder / "provenance.json")
    }
    for name in before:
        (asked.folder / name).unlink()
    write_results(asked.folder, asked.benchmark)
    assert {name: (asked.folder / name).read_bytes() for name in before} == before


def test_rescoring_another_folder_or_benchmark_is_refused(
    endpoint: Start, asked: Asked, tmp_path: Path, small: Benchmark
) -> None:
    with pytest.raises(Agl1kError, match="There is no run in"):
        write_results(tmp_path, small)
    asked.run(endpoint(), limit=1)
    other = dataclasses.replace(small, clips=small.clips[:3])
    with pytest.raises(Agl1kError, match="was about the benchmark small"):
        write_results(asked.folder, other)


# --- concurrency, rate, cost --------------------------------------------------------------------


def test_answers_out_of_order_find_their_clips(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(delay_s=lambda number: 0.05 * (N - number % N))
    result, _ = asked.run(fake, concurrency=N)
    alone, _ = Asked(asked.benchmark, asked.folder.with_name("alone")).run(fake, concurrency=1)
    assert result.files[0].read_bytes() == alone.files[0].read_bytes()


def test_as_many_questions_at_once_as_asked_for(endpoint: Start, asked: Asked) -> None:
    fake = endpoint()
    gate = threading.Barrier(3)

    def answer(sound: Heard | None, prompt: str) -> str:
        gate.wait(60)  # three at once, or a broken barrier
        return "48.9, 2.4"

    fake.answer = answer
    result, _ = asked.run(fake, concurrency=3)
    assert result.provenance["clips"]["answered"] == N
    assert fake.most_under_way == 3


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_cost_stays_within_its_limit_and_the_run_resumes(
    endpoint: Start, asked: Asked, concurrency: int
) -> None:
    fake = endpoint(cost=0.01)
    result, stopped = asked.run(fake, concurrency=concurrency, max_cost=0.07)
    assert "--max-cost" in stopped
    assert fake.charged <= 0.07 + 1e-9
    assert 1 <= result.provenance["clips"]["answered"] < N
    assert result.provenance["cost"]["usd"] == pytest.approx(fake.charged)
    result, stopped = asked.run(fake, concurrency=concurrency, max_cost=1.0)
    assert (stopped, result.provenance["clips"]["answered"]) == ("", N)
    assert result.provenance["cost"]["source"] == "reported by the endpoint"
    assert result.provenance["cost"]["usd"] == pytest.approx(fake.charged)


def test_failed_attempts_that_were_charged_count(endpoint: Start, asked: Asked) -> None:
    empty = {
        "choices": [{"message": {"content": ""}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.01},
    }
    fake = endpoint(cost=0.01, faults=[Fault(200, empty, charged=True)])
    result, _ = asked.run(fake)
    assert result.provenance["cost"]["usd"] == pytest.approx(fake.charged)


def test_a_price_makes_the_cost_if_the_endpoint_reports_none(endpoint: Start, asked: Asked) -> None:
    result, _ = asked.run(endpoint(), price=Price(2.0, 10.0))
    tokens, cost = result.provenance["tokens"], result.provenance["cost"]
    assert cost["usd"] == pytest.approx((2 * tokens["prompt"] + 10 * tokens["completion"]) / 1e6)
    assert cost["source"] == "from the price given"


def test_a_limit_on_the_cost_needs_a_cost(endpoint: Start, asked: Asked) -> None:
    _, stopped = asked.run(endpoint(), max_cost=1.0)
    assert "--price" in stopped


# --- controls -----------------------------------------------------------------------------------


def test_without_audio_only_the_prompt_is_sent(endpoint: Start, asked: Asked) -> None:
    fake = endpoint(hears=False, shapes=())
    result, _ = asked.run(fake, settings={"control": "without-audio"})
    assert result.provenance["control"] == "without-audio"
    assert result.provenance["hearing_check"]["outcome"] == "not needed"
    assert all(isinstance(body["messages"][0]["content"], str) for body in fake.about_clips)
    assert len(fake.about_clips) == N


def test_texts_take_the_place_of_sound(endpoint: Start, asked: Asked) -> None:
    texts = {clip.key: f"words about {clip.key}" for clip in asked.benchmark.clips}
    fake = endpoint(shapes=())
    asked.run(fake, settings={"control": "tags-only", "texts": texts})
    said = [text_in(body) for body in fake.about_clips]
    assert sorted(text.splitlines()[-1] for text in said) == sorted(texts.values())
    eventually(lambda: fake.under_way == 0)
