"""score, validate, baseline and compare: exit codes, stdout and stderr, the shape of --json."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agl1k_core import benchmarks, scoring
from agl1k_core.benchmarks import Benchmark, Clip
from agl1k_core.cli.error_map import error_map
from agl1k_core.cli.main import app
from agl1k_core.predictions import read_predictions

SHARED = Path(__file__).parents[4] / "shared" / "agl1k"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def perfect(tmp_path: Path) -> Path:
    clips = benchmarks.read_demo().clips
    records = [
        {"key": clip.key, "latitude": clip.lat, "longitude": clip.lon, "country": clip.country}
        for clip in clips
    ]
    path = tmp_path / "perfect.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_score_json_is_one_object_with_the_documented_names(perfect: Path) -> None:
    result = run("score", perfect, "--json")
    assert result.exit_code == 0, result.stderr
    told = json.loads(result.stdout)
    assert (told["benchmark"], told["protocol"], told["n_clips"]) == ("demo", "strict", 24)
    assert told["statuses"] == {
        "answered": 24, "refused": 0, "unparseable": 0, "error": 0, "missing": 0,
    }  # fmt: skip
    named = {
        "distance_km", "geoscore", "continent_accuracy", "country_accuracy", "city_accuracy",
        "reject_rate", "within_1km", "within_10km", "within_25km", "within_100km", "within_500km",
        "within_1000km", "distance_q25_km", "distance_q50_km", "distance_q75_km",
    }  # fmt: skip
    assert named <= told["metrics"].keys()
    assert told["metrics"].keys() == told["subsets"]["speech"].keys() == told["intervals"].keys()
    assert {"speech", "non_speech", "animal", "music", "nature", "things", "Europe"} <= told[
        "subsets"
    ].keys()
    assert told["metrics"]["distance_km"] < 1e-6
    assert told["metrics"]["country_accuracy"] == 1


def test_score_draws_a_map_that_needs_no_network(perfect: Path, tmp_path: Path) -> None:
    target = tmp_path / "errors.html"
    result = run("score", perfect, "--map", target)
    assert result.exit_code == 0, result.stderr
    page = target.read_text("utf-8")
    assert page.count("L.polyline(") == 24
    assert page.count("demo_07: 0 km off") == 3  # the line and both places
    loaded = re.findall(r"<(?:script|link)[^>]*?(?:src|href)=\"([^\"]*)", page)
    assert loaded
    assert all(address.startswith("data:text/") for address in loaded)


def test_a_key_stays_text_on_the_map() -> None:
    key = "`${alert(1)}`<b>\\"
    benchmark = Benchmark("one", "One", "1", (Clip(key, 1.0, 2.0, "Lagos", "Nigeria", "Africa"),))
    answers = read_predictions([{"key": key, "latitude": 3, "longitude": 4}], benchmark)
    page = error_map(scoring.evaluate(benchmark, answers))
    assert "&#96;&#36;{alert(1)}&#96;&lt;b&gt;&#92;: 314 km off" in page


def test_lines_on_the_map_take_the_short_way() -> None:
    clip = Clip("one", 1.0, 179.0, "Suva", "Fiji", "Oceania")
    benchmark = Benchmark("one", "One", "1", (clip,))
    answers = read_predictions([{"key": "one", "latitude": 3, "longitude": -179}], benchmark)
    page = error_map(scoring.evaluate(benchmark, answers))
    assert "[[1.0, 179.0], [3.0, 181.0]]" in page


def test_score_as_text(perfect: Path) -> None:
    result = run("score", perfect)
    assert result.exit_code == 0
    assert "24 answered" in result.stdout
    assert "geoscore" in result.stdout
    assert "5,000.0" in result.stdout


def test_a_refused_file_exits_with_1_and_lists_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('[{"key": "demo_01"}, {"key": "demo_01"}, {"key": "nowhere"}]')
    for command in ("score", "validate"):
        result = run(command, path)
        assert result.exit_code == 1
        assert "demo_01" in result.stderr
        assert "nowhere" in result.stderr
        assert "record 3" in result.stderr
        assert "Traceback" not in result.stderr


def test_what_was_not_understood_is_not_called_valid(tmp_path: Path) -> None:
    keys = [clip.key for clip in benchmarks.read_demo().clips]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([{"key": key, "prediction": "Paris"} for key in keys]))
    result = run("validate", path)
    assert result.exit_code == 1
    assert "Warning: mine.json: No record has a field that is read as an answer" in result.stderr
    assert "'prediction'" in result.stderr
    assert "valid" not in result.stdout
    scored = run("score", path)
    assert scored.exit_code == 0
    assert "No record has a field" in scored.stderr

    path.write_text(json.dumps([{"key": key, "model_output": "I cannot tell."} for key in keys]))
    result = run("validate", path)
    assert (result.exit_code, "can be read; see the warnings" in result.stdout) == (0, True)
    assert "24 of 24 records have no point" in result.stderr


def test_validate_summarises_what_was_read(perfect: Path) -> None:
    result = run("validate", perfect)
    assert result.exit_code == 0
    assert "valid prediction file: 24 records" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [["score"], ["score", "no-such-file"], ["baseline", "clever", "-o", "x"], ["nonsense"],
     ["score", __file__, "--protocol", "people"]],
)  # fmt: skip
def test_wrong_usage_exits_with_2(arguments: list[str]) -> None:
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("name", list(scoring.BASELINES))
def test_a_baseline_file_scores(name: str, tmp_path: Path) -> None:
    path = tmp_path / "baseline.csv"
    assert run("baseline", name, "-o", path).exit_code == 0
    result = run("score", path, "--json")
    assert json.loads(result.stdout)["statuses"]["answered"] == 24


def test_a_baseline_that_cannot_be_written(tmp_path: Path) -> None:
    result = run("baseline", "random", "-o", tmp_path / "no" / "file.csv")
    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


def test_compare_reports_the_paired_difference(perfect: Path, tmp_path: Path) -> None:
    path = tmp_path / "random.csv"
    run("baseline", "random", "-o", path)
    result = run("compare", perfect, path)
    assert result.exit_code == 0
    line = next(line for line in result.stdout.splitlines() if line.startswith("distance_km"))
    assert line.rstrip().endswith(" clear")
    assert "not clear" not in line


def test_unknown_benchmark_and_missing_table(perfect: Path) -> None:
    assert "agl1k fetch" in run("score", perfect, "-b", "agl1k").stderr
    result = run("score", perfect, "-b", "nowhere")
    assert result.exit_code == 1
    assert "There is no benchmark 'nowhere'" in result.stderr


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="the real AGL1K data is not beside this checkout")
def test_the_published_row_on_the_command_line() -> None:
    predictions, table = (
        SHARED / "predictions-qwen2.5-omni.json",
        SHARED / benchmarks.PUBLISHED_FILE,
    )
    result = run("score", predictions, "--benchmark", table, "--protocol", "paper", "--json")
    told = json.loads(result.stdout)
    assert round(told["metrics"]["distance_km"], 2) == 5476.83
    assert round(told["metrics"]["within_500km"], 4) == 0.1734
    assert round(told["metrics"]["within_1000km"], 4) == 0.2519


@pytest.mark.parametrize("how", ["plain", "gzip", "zip"])
@pytest.mark.parametrize("command", ["score", "validate", "compare"])
def test_a_file_may_be_packed_or_standard_input(
    perfect: Path, tmp_path: Path, command: str, how: str
) -> None:
    content = perfect.read_bytes()
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("answers/mine.json", content)
    packed = {"plain": content, "gzip": gzip.compress(content), "zip": zipped.getvalue()}[how]
    path = tmp_path / "packed"
    path.write_bytes(packed)
    others = [str(perfect)] if command == "compare" else []
    named = run(command, path, *others)
    piped = CliRunner().invoke(app, [command, "-", *others], input=packed)
    assert named.exit_code == piped.exit_code == 0, named.output + piped.output
    assert named.stdout.splitlines()[2:] == piped.stdout.splitlines()[2:]


def test_a_benchmark_may_be_standard_input(perfect: Path) -> None:
    folder = benchmarks.read_demo().audio_dir
    assert folder
    table = gzip.compress((folder / "clips.csv").read_bytes())
    result = CliRunner().invoke(app, ["score", str(perfect), "-b", "-", "--json"], input=table)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["statuses"]["answered"] == 24


def test_standard_input_is_given_for_one_file_only(perfect: Path) -> None:
    result = CliRunner().invoke(app, ["compare", "-", "-"], input=perfect.read_bytes())
    assert result.exit_code == 1
    assert "Standard input was read already. Give - for one file only" in result.stderr


def test_tables_have_a_line_per_row_however_narrow_the_terminal(perfect: Path) -> None:
    for command in (["score", str(perfect)], ["compare", str(perfect), str(perfect)]):
        narrow, wide = (
            CliRunner().invoke(app, command, env={"COLUMNS": columns}).stdout
            for columns in ("40", "400")
        )
        assert narrow == wide
        starts = [line.split(" ")[0] for line in narrow.splitlines()]
        assert {"distance_km", "implied_continent_accuracy"} <= {*starts}
    subsets = narrow_subsets(run("score", perfect).stdout)
    assert len(subsets) >= 8
    assert max(map(len, subsets)) <= 80


def narrow_subsets(shown: str) -> list[str]:
    lines = shown.splitlines()
    return lines[next(n for n, line in enumerate(lines) if line.startswith("subset")) :]
