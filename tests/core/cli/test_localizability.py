"""``agl1k localizability``: from predictions with reasoning to a fit and a report."""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from agl1k_core.benchmarks import ClipTags, read_demo, tags_json
from agl1k_core.cli.main import app
from agl1k_core.localizability import Localizability
from tests.support import raw_recordings as raw
from tests.support import tagger_models
from tests.support.fake_judge_api import FakeApi, fake_api
from tests.support.waiting import eventually

SPEECH, RAIN, BELL, WIND = "/m/09x0r", "/m/06mb1", "/m/0395lw", "/m/03m9d0z"
NAMES = {SPEECH: "Speech", RAIN: "Rain", BELL: "Bell", WIND: "Wind"}
TAGGER = {"name": "tone", "weights_sha256": "abc", "threshold": 0.2}
#: The sounds in nine recordings, as shares of time.
PRESENCE = [
    {SPEECH: 0.5, RAIN: 0.25}, {SPEECH: 1.0}, {SPEECH: 0.25, BELL: 0.5}, {RAIN: 1.0, BELL: 0.25},
    {RAIN: 0.5}, {RAIN: 0.75, WIND: 0.25}, {SPEECH: 0.75, WIND: 0.5}, {BELL: 1.0}, {},
]  # fmt: skip
#: The recordings that the model placed within a degree.
NEAR = [True, True, True, False, False, False, True, False, True]


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with fake_api() as fake:
        yield fake


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A benchmark with tags and without recordings."""
    folder = tmp_path / "bench"
    folder.mkdir()
    rows: list[dict[str, object]] = [
        {"key": f"k{n}", "latitude": lat, "longitude": lon, "file": ""}
        for n, (lat, lon) in enumerate([*raw.PLACES, (10.0, 10.0)])
    ]
    raw.write_table(folder, rows)
    clips = {f"k{n}": ClipTags(presence) for n, presence in enumerate(PRESENCE)}
    (folder / "tags.json").write_text(tags_json(clips, TAGGER))
    return folder


@pytest.fixture
def predicted(bench: Path) -> Path:
    """A model's predictions: a degree off if ``NEAR``, else on the other side of the world."""
    records: list[dict[str, object]] = []
    for n, (row, near) in enumerate(zip(raw.read_csv(bench / "clips.csv"), NEAR, strict=True)):
        lat, lon = float(row["latitude"]), float(row["longitude"])
        heard = " and ".join(NAMES[name].lower() for name in PRESENCE[n])
        records.append(
            {
                "key": row["key"],
                "latitude": lat + 1 if near else -lat,
                "longitude": lon if near else lon - 180 * (1 if lon > 0 else -1),
                "reason": f"Clip {n}: I hear {heard or 'nothing'}.",
            }
        )
    path = bench.parent / "predicted.json"
    path.write_text(json.dumps(records))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["localizability", *map(str, arguments)])


def listed(body: dict[str, Any]) -> tuple[str, list[str]]:
    """The requested model, and the categories it should rate."""
    prompt = body["messages"][0]["content"]
    return body["model"], prompt.split("Categories:\n")[1].split("\n\nScale")[0].split("\n")


def two_minds(body: dict[str, Any]) -> str:
    """One model finds speech decisive, the other rates everything as moderate."""
    model, categories = listed(body)
    one = {name: 1.0 if name == "Speech" else 0.2 for name in categories}
    return json.dumps(one if model == "one" else dict.fromkeys(categories, 0.5))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def slope(pairs: list[tuple[float, float]]) -> float | None:
    x, y = np.array(pairs).reshape(-1, 2).T
    return float(x @ y / (x @ x)) if len(pairs) else None


def test_from_predictions_to_a_report(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    api.judge = two_minds
    judges = ["--judge", f"one@{api.url}", "--judge", f"two@{api.url}", "--judge", "word-match"]
    table, model_file = tmp_path / "ratings.csv", tmp_path / "model.json"
    rated = run("rate", predicted, "-b", bench, "-o", table, *judges)
    assert rated.exit_code == 0, rated.output
    assert "9 of 9 records can be rated." in rated.stderr
    assert (
        "of the 8 with known sounds, one rated 8, two rated 8, word-match rated 8" in rated.stdout
    )
    assert len(api.requests) == 16, "no request is made for a recording without any class"
    rows = rows_of(table)
    assert {row["judge"] for row in rows if row["id"]} == {"one", "two", "word-match"}
    assert rows[-1]["key"] == "k8"
    assert (rows[-1]["id"], rows[-1]["judge"]) == ("", "")

    fitted = run("fit", table, "-o", model_file, "--theta", 0.25)
    assert fitted.exit_code == 0, fitted.output
    model = Localizability.load(model_file)
    assert model.provenance["tagger"] == TAGGER
    assert model.provenance["judges"] == ["one", "two", "word-match"]
    assert (model.provenance["n_near"], model.provenance["n_far"]) == (5, 4)
    said = {"Speech": (1 + 0.5 + 0.2) / 3}  # word-match: named once
    for place, category in enumerate(model.categories):
        mean = said.get(NAMES[category], (0.2 + 0.5 + 0.2) / 3)
        for slopes, side in ((model.near_slope, True), (model.far_slope, False)):
            pairs = [
                (presence[category], mean)
                for presence, near in zip(PRESENCE, NEAR, strict=True)
                if near is side and category in presence
            ]
            expected = slope(pairs)
            found = slopes[place]
            assert np.isnan(found) if expected is None else found == pytest.approx(expected)

    page = tmp_path / "report.html"
    told = run("report", model_file, table, "-b", bench, "-o", page, "--json")
    assert told.exit_code == 0, told.output
    numbers = json.loads(told.stdout)
    assert numbers["n_scored"] == 9
    pair = next(p for p in numbers["agreement"] if {p["judge"], p["other_judge"]} == {"one", "two"})
    a, b = (
        np.array([
            [(1.0 if name == SPEECH else 0.2) if judge == "one" else 0.5 if name in presence else 0
             for name in sorted(NAMES)]
            for presence in PRESENCE
        ]) * np.array([[name in presence for name in sorted(NAMES)] for presence in PRESENCE])
        for judge in ("one", "two")
    )  # fmt: skip
    some = a.any(axis=1)
    cosine = (
        (a * b).sum(1)[some] / np.linalg.norm(a, axis=1)[some] / np.linalg.norm(b, axis=1)[some]
    )
    assert pair["cosine"] == pytest.approx(cosine.mean())
    assert pair["pearson"] == pytest.approx(np.corrcoef(a.sum(0), b.sum(0))[0, 1])
    assert pair["top_10_overlap"] == 1
    assert sum(row["n"] for row in numbers["by_continent"]) == 9
    assert numbers["scores"]["k8"] == 0
    html = page.read_text("utf-8")
    for heading in ("Top categories", "Examples", "Agreement between judges", "By continent"):
        assert f"<h2>{heading}</h2>" in html
    assert html.count('class="plotly-graph-div"') == 4
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=", html), "it fetches something"


def test_a_second_run_asks_nothing_and_gives_the_same(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    api.judge = two_minds
    command = ["rate", predicted, "-b", bench, "--judge", f"one@{api.url}"]
    work = ["--work", tmp_path / "work"]
    assert run(*command, *work, "-o", tmp_path / "a.csv").exit_code == 0
    asked = len(api.requests)
    assert run(*command, *work, "-o", tmp_path / "b.csv").exit_code == 0
    assert len(api.requests) == asked
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_keys_come_from_the_environment(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.judge = two_minds
    monkeypatch.setenv("AGL1K_JUDGE_KEY", "common")
    monkeypatch.setenv("OTHER", "own")
    judges = ["--judge", f"one@{api.url}", "--judge", f"vendor/two@{api.url},OTHER"]
    result = run("rate", predicted, "-b", bench, "-o", tmp_path / "r.csv", *judges)
    assert result.exit_code == 0, result.output
    keys = {request["body"]["model"]: request["key"] for request in api.requests}
    assert keys == {"one": "Bearer common", "vendor/two": "Bearer own"}
    written = "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    assert "common" not in written
    assert "own" not in written.replace("unknown", "")


def test_all_problems_with_judges_are_listed(bench: Path, predicted: Path) -> None:
    specs = ["gpt", "a@ftp://x", "b@http://x/v1,NOT_SET", "word-match", "word-match"]
    judges = [part for spec in specs for part in ("--judge", spec)]
    result = run("rate", predicted, "-b", bench, "-o", bench.parent / "r.csv", *judges)
    assert result.exit_code == 1
    for part in ("no judge 'gpt'", "no judge 'a@ftp://x'", "NOT_SET, which is not set",
                 "Several judges have the name word-match"):  # fmt: skip
        assert part in result.stderr
    assert run("rate", predicted, "-b", bench, "-o", "r.csv").exit_code == 2, "no judge"


def test_a_judge_that_never_answers_is_given_up(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    api.will(401)
    table = tmp_path / "r.csv"
    judges = ["--judge", f"one@{api.url}", "--judge", "word-match", "--threads", 1]
    result = run("rate", predicted, "-b", bench, "-o", table, *judges)
    assert result.exit_code == 1
    assert len(api.requests) == 5
    assert "Check the key" in result.stderr
    assert "no longer asked after 5 failures" in " ".join(result.stderr.split()) or (
        "more ratings that failed" in result.stderr
    )
    assert "one rated nothing, so nothing was written" in result.stderr
    assert not table.exists()


def test_a_failed_rating_is_missing(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    def stumbles(body: dict[str, Any]) -> object:
        return 400 if "Clip 1:" in body["messages"][0]["content"] else two_minds(body)

    api.judge = stumbles
    table = tmp_path / "r.csv"
    judges = ["--judge", f"one@{api.url}", "--judge", f"two@{api.url}"]
    result = run("rate", predicted, "-b", bench, "-o", table, *judges, "--attempts", 1)
    assert result.exit_code == 0, result.output
    assert "k1: one: the server answered 400" in result.stderr
    assert "one rated 7, two rated 7" in result.stdout
    assert {row["key"] for row in rows_of(table) if row["id"] and not row["rating"]} == {"k1"}
    assert run("fit", table, "-o", tmp_path / "m.json").exit_code == 0
    speech = Localizability.load(tmp_path / "m.json")
    assert dict(zip(speech.categories, speech.n_near, strict=True))[SPEECH] == 3


def test_answers_with_reasoning_and_small_mistakes_are_rated(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    api.judge = lambda body: f"<think>Hm, {{}}.</think>So: {{'ratings': {two_minds(body)},}}"
    result = run(
        "rate", predicted, "-b", bench, "-o", tmp_path / "r.csv", "--judge", f"one@{api.url}"
    )
    assert result.exit_code == 0, result.output
    assert "one rated 8" in result.stdout
    assert len(api.requests) == 8


def test_a_refused_temperature_is_named(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    def cool(body: dict[str, Any]) -> object:
        if "temperature" in body:
            return (400, {"error": {"message": "'temperature' is not supported"}}, {})
        return two_minds(body)

    api.judge = cool
    command = ["rate", predicted, "-b", bench, "-o", tmp_path / "r.csv", "--threads", 1]
    result = run(*command, "--judge", f"one@{api.url}", "--temperature", 0.5)
    assert result.exit_code == 0, result.output
    assert "one refuses the temperature 0.5, so it was asked without." in result.stderr
    assert len(api.requests) == 9


def test_a_slow_judge_is_given_up_after_the_timeout(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    ended = threading.Event()

    def slow(body: dict[str, Any]) -> object:
        ended.wait(60)
        return two_minds(body)

    api.judge = slow
    command = ["rate", predicted, "-b", bench, "-o", tmp_path / "r.csv", "--attempts", 1]
    result = run(*command, "--judge", f"one@{api.url}", "--timeout", 0.2)
    ended.set()
    assert result.exit_code == 1
    assert "one was tried once and stalled. Its limit is 0.2 s; allow more with --timeout" in (
        result.stderr
    )


def test_the_prompt_may_be_a_file(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    api.judge = two_minds
    prompt = tmp_path / "prompt.txt"
    prompt.write_text('Rate Categories:\n{categories}\n\nas {"Speech": 0.8}.')
    command = ["rate", predicted, "-b", bench, "-o", tmp_path / "r.csv"]
    result = run(*command, "--judge", f"one@{api.url}", "--prompt-file", prompt)
    assert result.exit_code == 0, result.output
    sent = [request["body"]["messages"][0]["content"] for request in api.requests]
    assert all(text.startswith("Rate Categories:\n") for text in sent)
    assert any(text.endswith("Clip 1: I hear speech.\n") for text in sent)
    prompt.write_text("Rate.")
    refused = run(*command, "--judge", f"one@{api.url}", "--prompt-file", prompt)
    assert refused.exit_code == 1
    assert "prompt.txt does not say where the categories go" in refused.stderr


@pytest.mark.server
@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_does_not_wait_for_the_judges(
    bench: Path, predicted: Path, api: FakeApi, tmp_path: Path
) -> None:
    ended = threading.Event()

    def answers_once(body: dict[str, Any]) -> object:
        if len(api.requests) > 1:
            ended.wait(120)
        return two_minds(body)

    api.judge = answers_once
    work = tmp_path / "work"
    options = ["rate", predicted, "-b", bench, "-o", tmp_path / "r.csv", "--work", work,
               "--judge", f"one@{api.url}", "--threads", "4"]  # fmt: skip
    command = [sys.executable, "-m", "agl1k_core", "localizability", *map(str, options)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        eventually(lambda: len(api.requests) == 5 and [*work.rglob("*.json")] != [])
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)  # the judges would answer after two minutes
    finally:
        ended.set()
        process.kill()
    assert process.returncode == 130
    assert "The answers so far are kept" in told
    assert "Traceback" not in told
    assert not (tmp_path / "r.csv").exists()
    api.judge = two_minds
    asked = len(api.requests)
    again = run(*options)
    assert again.exit_code == 0, again.output
    assert len(api.requests) <= asked + 7


def test_what_cannot_be_rated_is_left_out_and_counted(bench: Path, tmp_path: Path) -> None:
    records = [
        {"key": "k0", "latitude": 1, "longitude": 2, "reason": "speech"},
        {"key": "k1", "latitude": 1, "longitude": 2},
        {"key": "k2", "latitude": "Unknown", "longitude": "Unknown", "reason": "no idea"},
        {"key": "k3", "latitude": 1, "longitude": 2, "reason": "rain"},
    ]
    tags = json.loads((bench / "tags.json").read_text())
    del tags["clips"]["k3"]
    (bench / "tags.json").write_text(json.dumps(tags))
    file = tmp_path / "p.json"
    file.write_text(json.dumps(records))
    command = ["rate", file, "-b", bench, "-o", tmp_path / "r.csv", "--judge", "word-match"]
    result = run(*command)
    assert result.exit_code == 0, result.output
    told = " ".join(result.stderr.split())
    assert "1 of 4 records can be rated" in told
    for part in ("1 with no reasoning", "1 with no usable point", "1 with no tags"):
        assert part in told
    file.write_text(json.dumps(records[1:]))
    nothing = run(*command)
    assert nothing.exit_code == 1
    assert "There is nothing to rate" in nothing.stderr


def test_without_tags_the_recordings_are_analyzed_as_in_curation(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models").symlink_to(tagger_models.yamnet_models(pytestconfig))
    demo = read_demo().audio_dir
    assert demo
    folder = tmp_path / "raw"
    folder.mkdir()
    rows = raw.read_csv(demo / "clips.csv")[:2]
    raw.write_table(
        folder, [{k: row[k] for k in ("key", "latitude", "longitude", "file")} for row in rows]
    )
    for row in rows:
        shutil.copy(demo / row["file"], folder)
    said = "Speech over waves, water and a stream: water decides."
    records = [
        {name: row[name] for name in ("key", "latitude", "longitude")} | {"reason": said}
        for row in rows
    ]
    file, table, model = (tmp_path / name for name in ("p.json", "r.csv", "m.json"))
    file.write_text(json.dumps(records))
    work = ["--work", tmp_path / "work", "--workers", 1]
    rated = run("rate", file, "-b", folder, "-o", table, "--judge", "word-match", *work)
    assert rated.exit_code == 0, rated.output
    assert "/m/0838f" in {row["id"] for row in rows_of(table)}, "water"
    assert run("fit", table, "-o", model, "--theta", 0).exit_code == 0
    out = tmp_path / "bench"
    curated = CliRunner().invoke(
        app,
        [
            "curate",
            *map(str, [folder, "-o", out, "--no-balance", "--localizability", model, *work]),
        ],
    )
    assert curated.exit_code == 0, curated.output
    assert "by a model fitted to 2 recordings" in curated.stdout
    report = run("report", model, "-b", out, "--json")
    told = json.loads(report.stdout)
    scores = {
        k: c["localizability"]
        for k, c in json.loads((out / "tags.json").read_text())["clips"].items()
    }
    assert told["scores"] == pytest.approx(scores)


HEAD = "key,error_km,class,presence,judge,rating\n"


def test_a_table_may_be_written_by_hand(tmp_path: Path) -> None:
    table, more = tmp_path / "r.csv", tmp_path / "more.csv"
    table.write_text(HEAD + "a,10,Speech,0.5,Ann,1\na,10,Rain,1,Ann,0\nb,5000,Rain,1,Ann,0.75\n")
    more.write_text(HEAD + "a,10,Speech,0.5,Bob,0.5\n")
    result = run("fit", table, more, "-o", tmp_path / "m.json", "--alpha", 0.5, "--gamma-km", 100)
    assert result.exit_code == 0, result.output
    model = Localizability.load(tmp_path / "m.json")
    assert dict(model.positive) == pytest.approx({SPEECH: 1.5})
    assert dict(model.negative) == pytest.approx({RAIN: 0.75})
    assert model.provenance["judges"] == ["Ann", "Bob"]
    assert "Speech" in result.stdout
    shown = run("report", tmp_path / "m.json", table, more)
    assert "Ann    Bob" in shown.stdout


def test_tables_and_models_may_be_packed_or_standard_input(tmp_path: Path) -> None:
    table, model = tmp_path / "r.csv.gz", tmp_path / "m.json"
    table.write_bytes(gzip.compress((HEAD + "a,10,Speech,0.5,Ann,1\n").encode()))
    assert run("fit", table, "-o", model).exit_code == 0
    packed = gzip.compress(model.read_bytes())
    command = ["localizability", "report", "-", str(table), "--json"]
    shown = CliRunner().invoke(app, command, input=packed)
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["n_positive"] == 1


def test_all_problems_with_tables_are_listed(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"{name}.csv" for name in ("first", "second", "third"))
    first.write_text(
        HEAD
        + "a,-1,Speech,0.5,Ann,1\n"  # an error below 0
        + "b,1,Cow bells,0.5,Ann,1\n"  # no such class
        + "c,1,Rain,1.5,Ann,2\n"  # presence, rating
        + "d,1,Rain,0.5,Ann,1\nd,2,Rain,0.75,Ann,1\n"  # differ; twice
        + ",1,Rain,,,x\n"  # no key, presence, judge, rating
        + "e,1\n"  # too few fields
        + "f,1,Rain,0.5,Ann,\n"  # allowed: the judge failed
    )
    second.write_text("key,rating\na,1\n")
    third.write_text(HEAD + "f,1,Rain,0.5,Bob,1\n")
    result = run("fit", first, second, third, "-o", tmp_path / "m.json")
    assert result.exit_code == 1
    for part in (
        "first.csv was refused: 12 problems",
        "line 2, clip a, field error_km: '-1' is not a number of 0 or more",
        "field class: AudioSet has no class 'Cow bells'",
        "line 4, clip c, field presence: '1.5' is not a number from 0 to 1",
        "line 4, clip c, field rating: '2' is not a number from 0 to 1",
        "line 6, clip d, field error_km: 2 here, 1 before",
        "line 6, clip d, field presence: 0.75 here, 0.5 before",
        "line 6, clip d, field judge: Ann has already rated /m/06mb1",
        "line 7, field key: it is empty",
        "line 7, field judge: it is empty",
        "line 7, field presence: it is empty",
        "line 8: 2 fields where 6 are expected",
        "second.csv was refused: 4 problems",
        "there is no column 'error_km'",
        "there is no column id (or class)",
    ):
        assert part in result.stderr, part
    assert "third.csv" not in result.stderr
    assert not (tmp_path / "m.json").exists()


def test_tables_of_two_taggers_are_refused(tmp_path: Path) -> None:
    head = HEAD.strip() + ",tagger,weights_sha256,threshold\n"
    for name, tagger in (("a", "yamnet"), ("b", "efficientat")):
        (tmp_path / f"{name}.csv").write_text(head + f"{name},1,Rain,0.5,Ann,1,{tagger},x,0.2\n")
    result = run("fit", tmp_path / "a.csv", tmp_path / "b.csv", "-o", tmp_path / "m.json")
    assert result.exit_code == 1
    assert "field tagger" in result.stderr
    assert run("fit", tmp_path / "a.csv", "-o", tmp_path / "m.json").exit_code == 0
    other = run("report", tmp_path / "m.json", tmp_path / "b.csv")
    assert other.exit_code == 1
    assert "fitted to the tags of" in other.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "The file is empty"),
        (HEAD, "No recording has a distance error"),
        (HEAD + "a,,Rain,0.5,Ann,1\n", "No recording has a distance error"),
        ("\x00\xff", "The file is binary"),
    ],
)
def test_nothing_to_fit_to_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "r.csv").write_text(content)
    result = run("fit", tmp_path / "r.csv", "-o", tmp_path / "m.json")
    assert result.exit_code == 1
    assert message in result.stderr


def test_slopes_from_few_recordings_are_named_and_left_out(tmp_path: Path) -> None:
    table, model = tmp_path / "r.csv", tmp_path / "m.json"
    table.write_text(
        HEAD + "a,10,Rain,0.08,Ann,1\na,10,Speech,0.5,Ann,0.5\nb,20,Speech,0.5,Ann,0.5\n"
    )
    loose = run("fit", table, "-o", model)
    assert dict(Localizability.load(model).positive) == pytest.approx({RAIN: 12.5, SPEECH: 1.0})
    assert "1 categories in P or N rest on a single recording each, such as Rain" in loose.stderr
    strict = run("fit", table, "-o", model, "--min-recordings", 2)
    assert dict(Localizability.load(model).positive) == pytest.approx({SPEECH: 1.0})
    assert "single recording" not in strict.stderr
    assert "from at least 2 recordings" in strict.stdout
    report = json.loads(run("report", model, "--json").stdout)
    assert (report["min_recordings"], report["n_positive"]) == (2, 1)


def test_a_model_that_does_not_know_its_tagger_is_reported(bench: Path, tmp_path: Path) -> None:
    table, model = tmp_path / "r.csv", tmp_path / "m.json"
    table.write_text(HEAD + "a,10,Speech,0.5,Ann,0.5\n")
    said = "The model does not know its tagger"
    assert said in run("fit", table, "-o", model).stderr
    assert said in run("report", model).stderr
    curate = [
        "curate",
        bench,
        "-o",
        tmp_path / "out",
        "--tagger",
        "none",
        "--localizability",
        model,
    ]
    assert said in CliRunner().invoke(app, [*map(str, curate)]).stderr
    head = HEAD.strip() + ",tagger,weights_sha256,threshold\n"
    table.write_text(head + "a,10,Speech,0.5,Ann,0.5,tone,abc,0.2\n")
    assert said not in run("fit", table, "-o", model).stderr


def test_a_fit_without_positive_categories_says_so(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text(HEAD + "a,10,Rain,1,Ann,0.1\n")
    result = run("fit", tmp_path / "r.csv", "-o", tmp_path / "m.json")
    assert result.exit_code == 0
    assert "no recording can be localizable" in result.stderr
