"""A model that listens again, scripted: what it is sent is measured in the sound itself."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from agl1k_core.benchmarks import Benchmark, read_folder
from agl1k_core.errors import Agl1kError
from agl1k_core.models import (
    AgentPlan,
    KnownPresences,
    LocalModel,
    Prompt,
    RunLimits,
    RunResult,
    RunSettings,
    agent_prompt,
    answers_after,
    matched_budgets,
    refuse_unmatched,
    run_model,
    still_asking,
    write_results,
)
from agl1k_core.models.journal import read_journal
from agl1k_core.predictions import read_predictions
from tests.support import sounds
from tests.support.fake_endpoint import (
    FakeEndpoint,
    Fault,
    Heard,
    bad,
    pictures_in,
    sounds_in,
    text_in,
)
from tests.support.model_runs import QUICK, Asked
from tests.support.raw_recordings import write_table

Start = Callable[..., FakeEndpoint]
Json = dict[str, Any]
Wave = npt.NDArray[np.float32]
RATE_HZ, DURATION_S = 16000, 6.0
TAGS = KnownPresences({f"k{n}": {"/m/06mb1": 0.5} for n in range(3)}, "tagger toy")


def wave_of(number: int) -> Wave:
    """A low and a high tone and some noise; each clip has other noise."""
    t = np.arange(round(DURATION_S * RATE_HZ)) / RATE_HZ
    noise = np.random.default_rng(number).standard_normal(len(t))
    tones = 0.02 * np.sin(2 * np.pi * 440 * t) + 0.02 * np.sin(2 * np.pi * 3000 * t)
    wave: Wave = (tones + 0.0005 * noise).astype(np.float32)
    return wave


@pytest.fixture
def clips(tmp_path: Path) -> Benchmark:
    folder = tmp_path / "clips"
    folder.mkdir()
    rows: list[dict[str, object]] = []
    for number in range(3):
        name = f"k{number}.wav"
        sounds.encode(folder / name, "pcm_s16le", wave_of(number)[np.newaxis], rate_hz=RATE_HZ)
        place = {"latitude": 10 * number, "longitude": 10, "city": "Here"}
        rows.append({"key": f"k{number}", "file": name, **place, "country": "France",
                     "continent": "Europe"})  # fmt: skip
    write_table(folder, rows)
    return read_folder(folder)


@pytest.fixture
def run(clips: Benchmark, tmp_path: Path) -> Asked:
    return Asked(clips, tmp_path / "run")


def agent(steps: int, prompt: Prompt | None = None, **more: Any) -> dict[str, Any]:
    """Settings of a run."""
    plan = AgentPlan(steps, TAGS, **more)
    return {"agent": plan, "prompt": prompt or agent_prompt()}


def says(action: object, latitude: float = 1.0, **more: object) -> str:
    answer = {
        "reason": "I heard bells.", "city": "Lyon", "country": "France", "continent": "Europe",
        "longitude": 4.8, "latitude": latitude, "uncertain": "the language", "action": action,
    }  # fmt: skip
    return json.dumps({**answer, **more})


def act(name: str, start_s: object = 1, end_s: object = 3, **more: object) -> Json:
    return {"name": name, "start_s": start_s, "end_s": end_s, **more}


COMMIT = {"name": "commit"}


def step_of(body: Json) -> int:
    return sum(message["role"] == "assistant" for message in body["messages"])


def scripted(*answers: str) -> Callable[[Json], str]:
    """Answers each conversation alike, step by step; the last answer again and again."""
    return lambda body: answers[min(step_of(body), len(answers) - 1)]


def all_sounds(body: Json) -> list[Heard]:
    return [sound for turn in body["messages"] for sound in sounds_in({"messages": [turn]})]


def records(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def level_at(wave: Wave, hz: float) -> float:
    middle = wave[len(wave) // 4 : -len(wave) // 4]
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle)))) / len(middle) * 4
    near = np.abs(np.fft.rfftfreq(len(middle), 1 / RATE_HZ) - hz) < 20
    return float(spectrum[near].max())


# --- what is sent -------------------------------------------------------------------------------


def sent_after(endpoint: Start, run: Asked, action: Json) -> tuple[Json, Wave]:
    """The request after an action, and the sound in its last message."""
    fake = endpoint(converse=scripted(says(action), says(COMMIT)))
    _, stopped = run.run(fake, settings=agent(3), limit=1)
    assert stopped == ""
    first, second = fake.about_clips
    assert len(sounds_in(first)) == 1
    (heard,) = sounds_in(second)
    samples, rate_hz = heard.samples()
    assert rate_hz == RATE_HZ
    return second, samples


def test_a_segment_is_sent_as_it_is(endpoint: Start, run: Asked) -> None:
    body, samples = sent_after(endpoint, run, act("hear", 1.5, 2.75))
    assert len(samples) == 1.25 * RATE_HZ
    assert np.allclose(samples, wave_of(0)[24000:44000], atol=1e-4)
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert "The segment from 1.5 to 2.75 s: 1.2 s of sound" in text_in(body)
    assert "You may take 2 more actions" in text_in(body)


def test_slowed_sound_takes_longer_at_the_same_pitch(endpoint: Start, run: Asked) -> None:
    body, samples = sent_after(endpoint, run, act("slow_down", factor=1.5))
    assert len(samples) == 3 * RATE_HZ
    assert level_at(samples, 3000) > 0.01
    assert level_at(samples, 2000) < 0.002
    assert "slowed down 1.5 times: 3.0 s" in text_in(body)


def test_a_band_has_only_its_frequencies(endpoint: Start, run: Asked) -> None:
    _, samples = sent_after(endpoint, run, act("band-pass", low_hz=2000, high_hz=4000))
    assert len(samples) == 2 * RATE_HZ
    assert level_at(samples, 3000) == pytest.approx(0.02, rel=0.1)
    assert level_at(samples, 440) < 0.0005


def test_boosted_sound_is_louder_and_not_clipped(endpoint: Start, run: Asked) -> None:
    _, samples = sent_after(endpoint, run, act("boost", gain_db=20))
    before = wave_of(0)[RATE_HZ : 3 * RATE_HZ]
    assert np.sqrt(np.mean(samples**2)) == pytest.approx(10 * np.sqrt(np.mean(before**2)), rel=0.01)
    _, samples = sent_after(endpoint, Asked(run.benchmark, run.folder.with_name("b")),
                            act("boost", gain_db=40))  # fmt: skip
    assert 0.8 < np.abs(samples).max() < 0.9


def test_a_spectrogram_is_sent_as_a_picture(endpoint: Start, run: Asked) -> None:
    fake = endpoint(converse=scripted(says(act("spectrogram")), says(COMMIT)))
    run.run(fake, settings=agent(3), limit=1)
    body = fake.about_clips[1]
    assert sounds_in(body) == []
    (png,) = pictures_in(body)
    assert Image.open(io.BytesIO(png)).size == (900, 450)
    (_, step) = records(run.folder / "steps.jsonl")
    assert step["sent"]["format"] == "png"


def test_events_are_listed_in_words(endpoint: Start, run: Asked) -> None:
    fake = endpoint(converse=scripted(says("events"), says(COMMIT)))
    run.run(fake, settings=agent(3), limit=1)
    assert "- Rain: 50% of the time" in text_in(fake.about_clips[1])


def test_old_sound_leaves_the_conversation_and_the_recording_stays(
    endpoint: Start, run: Asked
) -> None:
    actions = [act("hear", n / 10, n / 10 + 0.5) for n in range(5)]
    actions[3:3] = [act("spectrogram"), act("spectrogram", 2, 4)]
    fake = endpoint(converse=scripted(*map(says, actions), says(COMMIT)))
    run.run(fake, settings=agent(9), limit=1)
    counts = [len(all_sounds(body)) for body in fake.about_clips]
    assert counts == [1, 2, 3, 3, 3, 3, 3, 3]
    last = fake.about_clips[-1]
    assert [round(len(sound.samples()[0]) / RATE_HZ, 1) for sound in all_sounds(last)] == [
        6.0, 0.5, 0.5,
    ]  # fmt: skip
    pictures = [len(pictures_in({"messages": [turn]})) for turn in last["messages"]]
    assert sum(pictures) == 1
    assert json.dumps(last).count("no longer attached") == 4


def test_the_models_reasoning_is_not_sent_back(endpoint: Start, run: Asked) -> None:
    thinking = "<think>secret plan</think>" + says(act("hear"))
    fake = endpoint(converse=scripted(thinking, says(COMMIT)))
    run.run(fake, settings=agent(2), limit=1)
    answered = fake.about_clips[1]["messages"][1]
    assert answered == {"role": "assistant", "content": says(act("hear"))}


# --- answers that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Lyon, France: 45.8, 4.8", "It is not a JSON object"),
        ("I cannot determine the location.", "It is not a JSON object"),
        (says(None), "It has no action"),
        (says({"name": "teleport"}), "There is no action 'teleport'. The actions are: hear, slow"),
        (says(act("hear", 5, 99)), "is not within the recording, which lasts from 0 to 6.00 s"),
        (says(act("hear", -1, 2)), "is not within the recording"),
        (says(act("hear", 3, 2)), "is not within the recording"),
        (says(act("hear", "soon", None)), "needs a number for start_s and end_s"),
        (says(act("hear", float("nan"), 2)), "needs a number for start_s"),
        (says(act("hear", True, 2)), "needs a number for start_s"),
        (says(act("slow_down", factor=9)), "A factor of 9 is out of range"),
        (says(act("slow_down")), "needs a number for factor"),
        (says(act("band_pass", low_hz=9, high_hz=1)), "The band from 9 to 1 Hz is out of range"),
        (says(act("boost", gain_db=99)), "A gain of 99 dB is out of range"),
        (says(act("hear", 10**400, 2)), "needs a number for start_s"),
        ("[" * 3000, "It is not a JSON object"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told_and_counts_as_a_step(
    endpoint: Start, run: Asked, answer: str, words: str
) -> None:
    fake = endpoint(converse=scripted(answer, says(COMMIT, 7)))
    result, stopped = run.run(fake, settings=agent(1), limit=1)
    assert (stopped, len(fake.about_clips)) == ("", 2)
    assert words in text_in(fake.about_clips[1])
    assert "You have no action left" in text_in(fake.about_clips[1])
    assert sounds_in(fake.about_clips[1]) == []
    assert list(read_predictions(result.files[0], run.benchmark).lat) == [7.0]


def test_too_long_a_sound_is_told(endpoint: Start, run: Asked, clips: Benchmark) -> None:
    assert clips.audio_dir
    wave = np.tile(wave_of(0), 12)[np.newaxis]
    sounds.encode(clips.audio_dir / "k0.wav", "pcm_s16le", wave, rate_hz=RATE_HZ)
    asks = [act("hear", 0, 70), act("slow_down", 0, 40, factor=2), act("hear", 0, 60)]
    fake = endpoint(converse=scripted(*map(says, asks), says(COMMIT)))
    run.run(fake, settings=agent(5), limit=1)
    told = [text_in(body) for body in fake.about_clips[1:]]
    assert "would last 70.0 s. Ask for at most 60 s" in told[0]
    assert "would last 80.0 s" in told[1]
    assert len(sounds_in(fake.about_clips[3])) == 1


def test_an_answer_that_is_cut_off_is_told(endpoint: Start, run: Asked) -> None:
    fake = endpoint(converse=scripted(says(act("hear"))), finish="length")
    run.run(fake, settings=agent(1), limit=1)
    assert "cut off by the limit on tokens" in text_in(fake.about_clips[1])


def test_a_model_that_never_commits_is_ended(endpoint: Start, run: Asked) -> None:
    fake = endpoint(converse=lambda body: says(act("hear"), latitude=step_of(body)))
    result, stopped = run.run(fake, settings=agent(3))
    assert (stopped, len(fake.about_clips)) == ("", 3 * 4)
    assert list(read_predictions(result.files[0], run.benchmark).lat) == [3.0] * 3
    assert "commit to your final answer now" in text_in(fake.about_clips[-1])
    assert len(records(run.folder / "steps.jsonl")) == 12


def test_parse_errors_refusals_and_errors_are_statuses(endpoint: Start, run: Asked) -> None:
    def converse(body: Json) -> str:
        if step_of(body) == 0:
            return says(act("hear"))
        return {"k0": "blue", "k1": "I cannot determine the location."}[clip_of(body)]

    def reject(body: Json) -> Fault | None:
        asked_again = len(body["messages"]) > 1 and clip_of(body) == "k2"
        return bad("cannot process this") if asked_again else None

    result, _ = run.run(endpoint(converse=converse, reject=reject), settings=agent(2))
    read = read_predictions(result.files[0], run.benchmark)
    assert [str(status) for status in read.status] == ["unparseable", "refused", "error"]
    steps = records(run.folder / "steps.jsonl")
    assert [step["status"] for step in steps if step["key"] == "k1"] == [
        "answered", "refused", "refused",
    ]  # fmt: skip
    assert {step["action"] and step["action"]["name"] for step in steps} == {"hear", None}


def clip_of(body: Json) -> str:
    """The clip that a conversation is about, by its recording."""
    samples, _ = all_sounds(body)[0].samples()
    errors = [float(np.abs(samples - wave_of(n)).max()) for n in range(3)]
    return f"k{int(np.argmin(errors))}"


# --- pictures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [({"takes_pictures": False}, "refused"), ({"sees": False}, "not seen")],
)
def test_a_model_that_does_not_see_is_offered_no_spectrogram(
    endpoint: Start, run: Asked, behaviour: Any, outcome: str
) -> None:
    fake = endpoint(converse=scripted(says(act("spectrogram")), says(COMMIT)), **behaviour)
    result, _ = run.run(fake, settings=agent(2), limit=1)
    assert "Not available: spectrogram." in text_in(fake.about_clips[0])
    assert "The action spectrogram is not available" in text_in(fake.about_clips[1])
    told = result.provenance["agent"]
    assert told["seeing_check"]["outcome"] == outcome
    assert "spectrogram" not in told["actions_offered"]
    assert any("Spectrograms are not offered" in sentence for sentence in run.told)


def test_without_a_tagger_no_events_are_offered(endpoint: Start, run: Asked) -> None:
    fake = endpoint(converse=scripted(says("events"), says(COMMIT)))
    settings = {"agent": AgentPlan(2), "prompt": agent_prompt()}
    run.run(fake, settings=settings, limit=1)
    assert "Not available: events." in text_in(fake.about_clips[0])
    assert "The action events is not available" in text_in(fake.about_clips[1])


def test_a_deaf_model_is_no_agent(endpoint: Start, run: Asked) -> None:
    fake = endpoint(hears=False)
    with pytest.raises(Agl1kError, match="does not hear"):
        run.run(fake, settings=agent(2))
    assert fake.about_clips == []


# --- what is kept -------------------------------------------------------------------------------


def test_every_step_is_kept(endpoint: Start, run: Asked) -> None:
    answers = [says(act("hear")), "blue", says(act("boost", gain_db=6)), says(COMMIT)]
    fake = endpoint(converse=scripted(*answers), cost=0.25)
    result, _ = run.run(fake, settings=agent(5), limit=1)
    steps = records(run.folder / "steps.jsonl")
    assert [step["action"]["name"] if step["action"] else None for step in steps] == [
        "hear", None, "boost", "commit",
    ]  # fmt: skip
    assert steps[0]["action"] == {"name": "hear", "start_s": 1.0, "end_s": 3.0}
    assert {step["reason"] for step in steps} == {"I heard bells.", ""}
    assert [step["cost_usd"] for step in steps] == [0.25] * 4
    assert all(step["completion_tokens"] == 60 for step in steps)
    digests = [sounds_in(body)[0].sha256 if sounds_in(body) else None for body in fake.about_clips]
    assert [step["sent"] and step["sent"]["sha256"] for step in steps] == digests
    replies = [event for event in read_journal(run.folder) if event["line"] == "reply"]
    assert [event.get("about", {}).get("action") for event in replies[1:]] == [
        {"name": "hear", "start_s": 1.0, "end_s": 3.0}, None,
        {"name": "boost", "start_s": 1.0, "end_s": 3.0, "gain_db": 6.0},
    ]  # fmt: skip
    assert replies[3]["about"]["sent"]["sha256"] == digests[3]
    assert replies[2]["about"]["problem"] == "It is not a JSON object."
    told = result.provenance["agent"]
    assert told["answers_by_action"] == {"boost": 1, "commit": 1, "hear": 1, "none": 1}
    assert result.provenance["prompt"]["sha256"] == agent_prompt().sha256
    assert result.provenance["cost"]["usd"] == pytest.approx(fake.charged)


def test_reasons_may_be_lists(endpoint: Start, run: Asked) -> None:
    fake = endpoint(converse=scripted(says(COMMIT, reason=["bells", "rain"], uncertain=None)))
    run.run(fake, settings=agent(1), limit=1)
    (step,) = records(run.folder / "steps.jsonl")
    assert (step["reason"], step["uncertain"]) == ('["bells", "rain"]', "")


def test_rescoring_writes_the_same_steps(endpoint: Start, run: Asked) -> None:
    run.run(endpoint(converse=scripted(says(act("hear")), says(COMMIT))), settings=agent(2),
            repeat=2)  # fmt: skip
    names = ["predictions.jsonl", "steps.jsonl", "steps-2.jsonl", "provenance.json"]
    before = {name: (run.folder / name).read_bytes() for name in names}
    for name in names:
        (run.folder / name).unlink()
    write_results(run.folder, run.benchmark)
    assert {name: (run.folder / name).read_bytes() for name in names} == before


def test_answers_after_fewer_actions_can_be_scored(endpoint: Start, run: Asked) -> None:
    def converse(body: Json) -> str:
        number, step = int(clip_of(body)[1]), step_of(body)
        return says(COMMIT if step == number else act("hear"), latitude=10 * number + step)

    run.run(endpoint(converse=converse), settings=agent(2))
    after = [read_predictions(part, run.benchmark).lat for part in
             answers_after(run.folder, run.benchmark)]  # fmt: skip
    assert [list(lat) for lat in after] == [[0, 10, 20], [0, 11, 21], [0, 11, 22]]
    assert list(still_asking(run.folder)) == [3, 2, 1]


# --- resuming and money -------------------------------------------------------------------------


def asked_steps(fake: FakeEndpoint) -> Counter[tuple[str, int]]:
    return Counter((clip_of(body), step_of(body)) for body in fake.about_clips)


@pytest.mark.parametrize("n_paid", [1, 2, 4, 5])
def test_a_run_that_stops_within_a_conversation_pays_no_step_twice(
    endpoint: Start, run: Asked, n_paid: int
) -> None:
    """The cap lets the probes and so many answers through."""
    fake = endpoint(converse=scripted(says(act("hear")), says(act("boost", gain_db=9)),
                                      says(COMMIT)), cost=0.01)  # fmt: skip
    n_probes = probes_of(endpoint, run)
    cap = 0.01 * (n_probes + n_paid)
    _, stopped = run.run(fake, settings=agent(4), concurrency=1, max_cost=cap)
    assert "--max-cost" in stopped
    assert fake.charged <= cap + 1e-9
    assert len(fake.about_clips) == n_paid
    result, stopped = run.run(fake, settings=agent(4), concurrency=2, max_cost=10)
    assert stopped == ""
    assert asked_steps(fake) == {(f"k{n}", step): 1 for n in range(3) for step in range(3)}
    assert result.provenance["clips"]["answered"] == 3
    assert result.provenance["cost"]["usd"] == pytest.approx(fake.charged)


def probes_of(endpoint: Start, run: Asked) -> int:
    """How many requests a run makes before the first clip."""
    fake = endpoint(converse=scripted(says(COMMIT)))
    Asked(run.benchmark, run.folder.with_name("probes")).run(fake, settings=agent(1), limit=1)
    return len(fake.requests) - len(fake.about_clips)


def test_a_process_killed_before_it_concluded_pays_nothing_again(
    endpoint: Start, run: Asked
) -> None:
    """The commit is on disk, but not yet the line that concludes the conversation."""
    fake = endpoint(converse=scripted(says(act("hear")), says(COMMIT)))
    run.run(fake, settings=agent(3), limit=1)
    journal = run.folder / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert json.loads(lines[-1])["line"] == "answer"
    journal.write_bytes(b"".join(lines[:-1]))
    result, _ = run.run(fake, settings=agent(3), limit=1)
    assert len(fake.about_clips) == 2
    assert result.provenance["clips"]["answered"] == 1


def test_a_failed_step_is_tried_again_alone(endpoint: Start, run: Asked) -> None:
    faults = [Fault(500, "oops"), Fault(429, {}, {"Retry-After": "0"})]
    fake = endpoint(converse=scripted(says(act("hear")), says(COMMIT)), faults=faults)
    result, _ = run.run(fake, settings=agent(2), limit=1)
    assert len(fake.about_clips) == 4
    assert result.provenance["clips"]["answered"] == 1


def test_smaller_sound_does_not_pay_for_earlier_steps_again(endpoint: Start, run: Asked) -> None:
    """The recording alone fits, the recording and a segment do not; as MP3 both do."""
    fake = endpoint(converse=scripted(says(act("hear", 0, 6)), says(COMMIT)), max_bytes=300_000)
    result, stopped = run.run(fake, settings=agent(2), limit=1)
    assert (stopped, result.provenance["clips"]["answered"]) == ("", 1)
    assert [step_of(body) for body in fake.about_clips] == [0, 1]
    assert [sound.format for sound in all_sounds(fake.about_clips[1])] == ["mp3", "mp3"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (agent(3), "agent steps was 2, now it is 3"),
        ({}, "agent steps was 2, now it is not set"),
        (agent(2, Prompt("Where?")), "prompt was"),
        ({"agent": AgentPlan(2), "prompt": agent_prompt()}, "tagger of events was 'tagger toy'"),
        (agent(2, budgets={"k0": 99}), "token budgets was not set"),
    ],
)
def test_a_changed_setting_is_named(
    endpoint: Start, run: Asked, changed: dict[str, Any], words: str
) -> None:
    fake = endpoint(converse=scripted(says(COMMIT)))
    run.run(fake, settings=agent(2), limit=1)
    with pytest.raises(Agl1kError, match=words):
        run.run(fake, settings=changed)


def test_an_agent_needs_sound(endpoint: Start, run: Asked) -> None:
    with pytest.raises(Agl1kError, match="--agent does not go with --without-audio"):
        run.run(endpoint(), settings={**agent(2), "control": "without-audio"})


# --- the control --------------------------------------------------------------------------------


def agent_run(endpoint: Start, run: Asked, **more: Any) -> RunResult:
    """The clips take one, two and three answers, of 600 tokens each."""

    def converse(body: Json) -> str:
        return says(COMMIT if step_of(body) == int(clip_of(body)[1]) else act("hear"))

    fake = endpoint(converse=converse, completion_tokens=600)
    return run.run(fake, settings=agent(3), **more)[0]


def test_the_control_gets_the_tokens_of_the_agent(
    endpoint: Start, run: Asked, tmp_path: Path
) -> None:
    agent_run(endpoint, run, repeat=2)
    for path in (run.folder, run.folder / "predictions.jsonl"):
        budgets, told = matched_budgets(path)
        assert budgets == {"k0": 1000, "k1": 1200, "k2": 1800}
    fake = endpoint(converse=scripted(says(COMMIT)))
    control = Asked(run.benchmark, tmp_path / "control")
    settings = {"agent": AgentPlan(0, None, budgets, told), "prompt": agent_prompt()}
    result, _ = control.run(fake, settings=settings, repeat=2)
    limits = {clip_of(body): body["max_tokens"] for body in fake.about_clips}
    assert (limits, len(fake.about_clips)) == (budgets, 6)
    text = text_in(fake.about_clips[0])
    assert text.startswith(agent_prompt().text)
    assert "You have no action left: commit" in text
    assert f"up to {limits[clip_of(fake.about_clips[0])]} tokens" in text
    told = result.provenance["agent"]
    assert (told["steps"], told["token_budgets"]["mean"]) == (0, 1333.3)
    assert told["seeing_check"] is None


def test_an_endpoint_that_calls_the_limit_otherwise_is_noticed(endpoint: Start, run: Asked) -> None:
    def reject(body: Json) -> Fault | None:
        said = "Unsupported parameter: 'max_tokens' is not supported with this model."
        return bad(said) if "max_tokens" in body else None

    fake = endpoint(converse=scripted(says(COMMIT)), reject=reject)
    run.run(fake, settings={"agent": AgentPlan(0, None, {"k0": 1234})}, limit=1)
    assert [body["max_completion_tokens"] for body in fake.about_clips] == [1234]


def test_the_budget_is_at_least_the_limit_of_one_answer(endpoint: Start, run: Asked) -> None:
    agent_run(endpoint, run, parameters={"max_tokens": 1500})
    assert matched_budgets(run.folder)[0] == {"k0": 1500, "k1": 1500, "k2": 1800}


def test_what_cannot_be_matched_is_refused(endpoint: Start, run: Asked, tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="not from a run with --agent"):
        matched_budgets(tmp_path)
    Asked(run.benchmark, tmp_path / "plain").run(endpoint(), limit=1)
    with pytest.raises(Agl1kError, match="not from a run with --agent"):
        matched_budgets(tmp_path / "plain")
    silent = Asked(run.benchmark, tmp_path / "silent")
    fake = endpoint(converse=scripted(says(COMMIT)), completion_tokens=None)
    silent.run(fake, settings=agent(1), limit=1)
    with pytest.raises(Agl1kError, match="reported no tokens for k0"):
        matched_budgets(silent.folder)


def test_a_control_differs_only_in_acting(endpoint: Start, run: Asked) -> None:
    agent_run(endpoint, run)
    settings = RunSettings("fake-model", "http://elsewhere", agent_prompt(), agent=AgentPlan(0))
    refuse_unmatched(run.folder, settings.identity(run.benchmark))
    other = RunSettings("other", "http://elsewhere", Prompt("Where?"), agent=AgentPlan(0))
    with pytest.raises(Agl1kError, match="model is 'other', there it is 'fake-model'; prompt is"):
        refuse_unmatched(run.folder, other.identity(run.benchmark))


# --- models in this process ---------------------------------------------------------------------


def chat(messages: Sequence[Json]) -> str:
    """Hears beeps, sees nothing, asks for one segment, and tells how long that is."""
    parts = messages[-1]["content"]
    heard = [part["audio"] for part in parts if part["type"] == "audio"]
    if "beeps" in parts[-1]["text"]:
        blocks = (
            heard[0][: len(heard[0]) // 800 * 800].reshape(-1, 800) if heard else np.zeros((2, 1))
        )
        loud = np.abs(blocks).max(axis=1) > 0.1
        return str(np.count_nonzero(loud[1:] & ~loud[:-1]))
    if "bars" in parts[-1]["text"]:
        return "0"
    if len(messages) == 1:
        return says(act("hear", 1, 3.5))
    return says(COMMIT, latitude=len(heard[0]) / RATE_HZ)


def run_locally(on: Benchmark, folder: Path, ask: Callable[..., str], steps: int) -> RunResult:
    settings = RunSettings("mine", "mine:ask", agent_prompt(), agent=AgentPlan(steps))
    limits = RunLimits(patience=QUICK)
    return run_model(on, LocalModel(ask, "mine:ask"), settings, folder, limits)[0]


def test_a_function_that_takes_a_conversation_listens_again(
    clips: Benchmark, tmp_path: Path
) -> None:
    result = run_locally(clips, tmp_path / "run", chat, 2)
    assert list(read_predictions(result.files[0], clips).lat) == [2.5] * 3


def test_a_function_of_one_question_is_refused_as_agent(clips: Benchmark, tmp_path: Path) -> None:
    def ask(audio: object, prompt: str) -> str:
        return chat([{"role": "user", "content": [
            *([] if audio is None else [{"type": "audio", "audio": audio}]),
            {"type": "text", "text": prompt},
        ]}])  # fmt: skip

    with pytest.raises(Agl1kError, match=r"mine:ask takes one recording and one prompt.*chat"):
        run_locally(clips, tmp_path / "run", ask, 2)
    # a control answers one question
    result = run_locally(clips, tmp_path / "control", ask, 0)
    assert result.provenance["clips"]["answered"] == 3
