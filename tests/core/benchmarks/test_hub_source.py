"""Datasets of the Hub, and Parquet on this machine, become clips with their recordings."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Audio, Features, Value
from typer.testing import CliRunner

from agl1k_core.benchmarks import Benchmark, find_recording, load_benchmark, read_columns
from agl1k_core.cli.main import app
from agl1k_core.config import Config
from agl1k_core.curation import open_collection
from agl1k_core.errors import Agl1kError, FileRefusedError
from tests.support import raw_recordings as raw
from tests.support.fake_hub import FakeHub
from tests.support.processes import run_python

CARD = "---\nlicense: cc-by-nc-4.0\n---\n# Birds\n"
TEXTS = ("key", "country", "licence", "recorded")


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config.from_env({"AGL1K_DATA": str(tmp_path / "data")})


def sound(folder: Path, seed: int = 1) -> bytes:
    return raw.write_sound(folder / f"{seed}.wav", seed, speech=True).read_bytes()


def row(folder: Path, number: int, **more: object) -> dict[str, object]:
    audio = {"bytes": sound(folder, number), "path": f"bird{number}.wav"}
    return {
        "key": f"b{number}",
        "latitude": 1.25 * number,
        "longitude": -70.5,
        "audio": audio,
    } | more


def parquet(rows: Sequence[dict[str, object]], audio: str = "audio") -> bytes:
    """Rows as ``datasets`` writes them, with a column of its ``Audio`` feature."""
    names = dict.fromkeys(name for row in rows for name in row)
    types = {n: Value("string") if n in TEXTS else Value("float64") for n in names}
    schema = Features({**types, audio: Audio()}).arrow_schema
    content = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), content)
    return content.getvalue()


def dataset(folder: Path, rows: Sequence[dict[str, object]], **more: str) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    (folder / "data" / "test-00000-of-00001.parquet").write_bytes(parquet(rows, **more))
    return folder


def recording(benchmark: Benchmark, key: str) -> bytes:
    assert benchmark.audio_dir
    path = find_recording(benchmark, benchmark.clip(key), benchmark.audio_dir)
    assert path
    return path.read_bytes()


# --- on this machine ----------------------------------------------------------------------------


def test_a_folder_of_parquet_with_our_columns_needs_no_option(
    tmp_path: Path, config: Config
) -> None:
    rows = [row(tmp_path, 1, human=0.5, animal=None, country="Peru", licence="CC BY-ND 4.0"),
            row(tmp_path, 2, recorded="2008-07-00", human=None)]  # fmt: skip
    benchmark = load_benchmark(dataset(tmp_path / "birds", rows), config)
    first, second = benchmark.clips
    assert (benchmark.slug, first.key, first.lat, first.lon) == ("birds", "b1", 1.25, -70.5)
    assert (first.country, first.licence, first.classes) == ("Peru", "CC BY-ND 4.0", {"human": 0.5})
    assert (second.licence, second.recorded, second.classes) == ("CC-BY-NC-4.0", "2008-07", {})
    assert second.country == "Colombia"
    assert recording(benchmark, "b2") == sound(tmp_path, 2)


def test_one_file_of_parquet_with_other_columns(tmp_path: Path, config: Config) -> None:
    rows = [{"lat_deg": 1.0, "lon_deg": 300.0, "latitude": 99.0, "clip": row(tmp_path, 1)["audio"]}]
    file = tmp_path / "one.parquet"
    file.write_bytes(parquet(rows, audio="clip"))
    options = "latitude=lat_deg&longitude=lon_deg&file=clip"
    (clip,) = load_benchmark(f"hub:{file}?{options}", config).clips
    assert (clip.key, clip.lat, clip.lon, clip.file_name) == ("bird1", 1, -60, "bird1.wav")
    columns = read_columns(options.replace("&", ","))
    collection = open_collection(file, None, config, columns=columns)
    assert [path and path.name for path in collection.files.values()] == ["bird1.wav"]
    with pytest.raises(Agl1kError, match=r"no column lat\. The columns are .*lat_deg"):
        load_benchmark(f"hub:{file}?latitude=lat", config)


def test_rows_without_key_or_name_or_sound(tmp_path: Path, config: Config) -> None:
    audio = row(tmp_path, 1)["audio"]
    assert isinstance(audio, dict)
    nameless: dict[str, object] = {"latitude": 1.0, "longitude": 2.0}
    rows: list[dict[str, object]] = [
        {**nameless, "audio": {"bytes": audio["bytes"], "path": None}},
        {**nameless, "audio": None},
        {**nameless, "audio": {"bytes": None, "path": "/etc/hostname"}},
        {**nameless, "latitude": None, "audio": audio},
    ]
    benchmark = load_benchmark(dataset(tmp_path / "birds", rows), config)
    assert [clip.key for clip in benchmark.clips] == ["row-000001", "row-000002", "hostname"]
    assert recording(benchmark, "row-000001") == audio["bytes"]
    assert benchmark.audio_dir
    assert not find_recording(benchmark, benchmark.clips[2], benchmark.audio_dir)
    assert "1 of 4 records have no place" in benchmark.remarks[0]


def test_every_wrong_row_is_listed(tmp_path: Path, config: Config) -> None:
    rows = [row(tmp_path, 1), row(tmp_path, 1), row(tmp_path, 3, latitude=99.0),
            row(tmp_path, 4, human=7.0)]  # fmt: skip
    with pytest.raises(FileRefusedError) as refused:
        load_benchmark(dataset(tmp_path / "birds", rows), config)
    places = [(one.record, one.field) for one in refused.value.problems]
    assert places == [(2, None), (3, "latitude"), (4, "human")]


def test_a_dataset_is_brought_again_if_it_has_changed(tmp_path: Path, config: Config) -> None:
    folder = dataset(tmp_path / "birds", [row(tmp_path, 1)])
    assert len(load_benchmark(folder, config)) == len(load_benchmark(folder, config)) == 1
    kept = sorted((tmp_path / "data" / "datasets").iterdir())
    assert len(kept) == 1
    (folder / "data" / "more.parquet").write_bytes(parquet([row(tmp_path, 2)]))
    with pytest.raises(Agl1kError, match="has no split 'train'") as refused:
        load_benchmark(f"hub:{folder}?split=train", config)
    assert "test" in str(refused.value)


def test_an_audiofolder_with_splits(tmp_path: Path, config: Config) -> None:
    for split, n in (("train", 1), ("test", 2)):
        folder = tmp_path / "birds" / split
        folder.mkdir(parents=True)
        for number in range(n):
            raw.write_sound(folder / f"{split}{number}.wav", number, speech=True)
        lines = [
            {"file_name": f"{split}{number}.wav", "latitude": 1, "longitude": 2 + number}
            for number in range(n)
        ]
        (folder / "metadata.jsonl").write_text("\n".join(map(json.dumps, lines)))
    benchmark = load_benchmark(tmp_path / "birds", config)
    assert [clip.key for clip in benchmark.clips] == ["test/test0", "test/test1"]
    assert recording(benchmark, "test/test1")
    other = load_benchmark(f"hub:{tmp_path / 'birds'}?split=train", config)
    assert [clip.key for clip in other.clips] == ["train/train0"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("hub:{}?nosuch=1", "nosuch is no option of a dataset"),
        ("hub:{}?recordings=maybe", "recordings=maybe is no option"),
        ("hub:{}/nosuch", "cannot be read"),
        ("{}/broken.parquet", "cannot be read"),
        ("{}/empty.parquet", "cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, config: Config, spec: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more PAR1")
    (tmp_path / "empty.parquet").touch()
    with pytest.raises(Agl1kError, match=message):
        load_benchmark(spec.format(tmp_path), config)
    assert not list((tmp_path / "data").rglob("*/*"))


def test_curate_names_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGL1K_DATA", str(tmp_path / "data"))
    rows = [{"lat": 1.0, "there": 2.0 + n, "sound": row(tmp_path, n)["audio"],
             "licence": "CC BY-ND 4.0" if n == 2 else None} for n in range(3)]  # fmt: skip
    folder = dataset(tmp_path / "birds", rows, audio="sound")
    out = tmp_path / "out"
    columns = "longitude=there,file=sound"
    arguments = ["curate", folder, "-o", out, "--columns", columns, "--tagger", "none"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--no-balance", "--workers", "1"])
    assert result.exit_code == 0, result.output
    made = load_benchmark(out)
    assert {clip.key: clip.licence for clip in made.clips} == {
        "bird0": "CC-BY-NC-4.0",
        "bird1": "CC-BY-NC-4.0",
    }
    reasons = {line["key"]: line["reason"] for line in raw.read_csv(out / "report.csv")}
    assert reasons["bird2"] == "licence"


def test_columns_are_named_in_any_table(tmp_path: Path, config: Config) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id;Breite;Laenge;Datei\na;1,5;2;a.wav\n")
    columns = read_columns("key=id,latitude=breite,longitude=laenge,file=datei")
    (clip,) = open_collection(table, None, config, columns=columns).benchmark.clips
    assert (clip.key, clip.lat, clip.lon, clip.file_name) == ("a", 1.5, 2, "a.wav")
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"Breite": 1, "lon": 2, "file_name": "a.wav", "latitude": "north"}\n')
    columns = read_columns("latitude=Breite")
    (clip,) = open_collection(lines, None, config, columns=columns).benchmark.clips
    assert (clip.key, clip.lat) == ("a", 1)
    with pytest.raises(Agl1kError, match="'nosuch=a' names no columns"):
        read_columns("nosuch=a")
    with pytest.raises(Agl1kError, match="'latitude' names no columns"):
        read_columns("latitude")


# --- on the Hub ---------------------------------------------------------------------------------

READ = """
import json, os, sys
from agl1k_core.benchmarks import find_recording, load_benchmark
from agl1k_core.errors import Agl1kError
found = []
for spec in sys.argv[1:]:
    try:
        made = load_benchmark(spec)
        sizes = [find_recording(made, clip, made.audio_dir) for clip in made.clips]
        sizes = [path.stat().st_size if path else 0 for path in sizes]
        found.append([[clip.key, clip.lat, clip.licence] for clip in made.clips] + [sizes])
    except Agl1kError as error:
        found.append(str(error))
print(json.dumps(found))
"""


def read_from(hub: FakeHub, folder: Path, *specs: str) -> list[Any]:
    environment = {
        "HF_ENDPOINT": hub.endpoint,
        "HF_HOME": str(folder / "hf"),
        "HF_HUB_DISABLE_XET": "1",
        "AGL1K_DATA": str(folder / "data"),
    }
    done = run_python("-c", READ, *specs, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[Any] = json.loads(done.stdout)
    return found


def test_a_dataset_of_the_hub(hub: FakeHub, tmp_path: Path) -> None:
    repo = hub.create("ada/birds")
    repo.put("data/test-00000-of-00001.parquet", parquet([row(tmp_path, 1), row(tmp_path, 2)]))
    repo.put("README.md", CARD.encode())
    folder = hub.create("ada/folder")
    folder.put("metadata.csv", b"file_name,latitude,longitude\nx/a.wav,1,2\n")
    folder.put("x/a.wav", sound(tmp_path))
    clips = [["b1", 1.25, "CC-BY-NC-4.0"], ["b2", 2.5, "CC-BY-NC-4.0"]]
    size = len(sound(tmp_path))
    hub.create("ada/text").put("a.txt", b"no table")
    odd = ("hub:ada/birds?revision=no", "hub:ada/birds?split=train", "hub:ada/text")
    found = read_from(
        hub,
        tmp_path,
        "hub:ada/birds",
        "hub:ada/folder",
        "hub:ada/birds?recordings=no",
        "hub:ada/no",
        *odd,
    )
    assert found[0] == [*clips, [size, size]]
    assert found[1] == [["x/a", 1.0, ""], [size]]
    assert found[2] == [*clips, [0, 0]]
    assert "The dataset ada/no cannot be read: Repository Not Found. Check its name" in found[3]
    assert "Revision Not Found" in found[4]
    assert "has no split 'train'" in found[5]
    assert "their fields are: " in found[6]
    before = len(hub.requests)
    assert read_from(hub, tmp_path, "hub:ada/birds") == found[:1]
    assert not any("resolve" in path for _, path, _ in hub.requests[before:])
