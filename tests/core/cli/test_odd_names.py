"""Odd names, links that lead nowhere, pipes and sockets: each gets a line, in every locale."""

from __future__ import annotations

import csv
import io
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from agl1k_core.cli.main import app
from agl1k_core.file_names import named
from tests.support import raw_recordings as raw

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names"),
]

NAMES = [
    b"caf\xe9.wav", b"\xff\xfe.wav", "é.wav".encode(), "語".encode() * 83 + b".wav",
    b"x" * 251 + b".wav",
    b"new\nline.wav", b"cr\rx.wav", b"esc\x1b[31mred.wav", b"\x1b]0;title\x07.wav",
    "rtl\u202evaw.exe.wav".encode(), "nel\u0085.wav".encode(), "\ufeffbom.wav".encode(),
    b"'q\".wav", b"a,b;c.wav", b"[bold].wav", b"{0}%s.wav", b"lit\\xe9.wav",
    b"back\\slash.wav", b"-.wav", b"--csv.wav",
]  # fmt: skip
LOCALES = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C.UTF-8"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Sounds under odd names, each at a place of its own, and what is no file at all."""
    made = tmp_path_factory.mktemp("odd")
    rows: list[dict[str, object]] = []
    for number, name in enumerate(NAMES):
        raw.write_sound(made / "sound", number, speech=True)
        (made / "sound").rename(made / os.fsdecode(name))
        place = {"latitude": number, "longitude": 3 * number}
        row = {"key": f"k{number}", **place, "file": name.decode("utf-8", "backslashreplace")}
        rows.append(row)
    (made / "loop.wav").symlink_to("loop.wav")
    (made / "gone.wav").symlink_to("nothing.wav")
    (made / "self").symlink_to(".")
    (made / "device.wav").symlink_to("/dev/zero")
    os.mkfifo(made / "pipe.wav")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(made)
        listener.bind("socket.wav")
        os.chdir(here)
        rows += [
            {"key": name, "latitude": 1, "longitude": 1, "file": f"{name}.wav"}
            for name in ("loop", "pipe", "socket", "device")
        ]
        with (made / "clips.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [*rows[0]], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)
        yield made


SPECIAL = {
    "loop.wav": "unreadable",
    "gone.wav": "missing",
    "device.wav": "unreadable",
    "pipe.wav": "unreadable",
    "socket.wav": "unreadable",
}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_each_file_gets_one_line_with_its_full_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(folder.parent)
    result = run("filter", folder.name, "--workers", 1)
    assert result.exit_code == 0, result.output
    heading, *lines = result.stdout.removesuffix("\n").split("\n")
    assert len(lines) == len(NAMES) + len(SPECIAL)
    assert not any(ord(c) < 32 or c in "\x9b\u202e\ufeff" for c in "".join([heading, *lines]))
    for name in (r"caf\xe9.wav", r"new\nline.wav", r"esc\x1b[31mred.wav", "x" * 251 + ".wav"):
        assert any(line.endswith(f"  {folder.name}/{name}") for line in lines), name
    assert any("pipe.wav  unreadable: This is a pipe, not a file." in line for line in lines)
    assert "20 of 25 files pass the filters." in result.stderr


@pytest.mark.server
def test_csv_holds_every_name_in_every_locale(folder: Path) -> None:
    command = [sys.executable, "-m", "agl1k_core", "filter", str(folder), "--csv", "--workers", "1"]
    found = [
        subprocess.run(command, env={**os.environ, **locale}, capture_output=True)
        for locale in LOCALES
    ]
    for done in found:
        assert done.returncode == 0, done.stderr
        assert done.stdout == found[0].stdout
    rows = list(csv.DictReader(io.StringIO(found[0].stdout.decode(), newline="")))
    names = {Path(named(row["file"])).name: row["outcome"] for row in rows}
    assert names == {**{os.fsdecode(name): "ok" for name in NAMES}, **SPECIAL}


@pytest.mark.server
@pytest.mark.parametrize("locale", LOCALES, ids=["ascii", "latin-1", "utf-8"])
def test_files_with_odd_names_are_curated(
    folder: Path, tmp_path: Path, locale: dict[str, str]
) -> None:
    out = tmp_path / os.fsdecode(b"b\xe9nch")
    curate = [sys.executable, "-m", "agl1k_core", "curate"]
    command: list[str | Path] = [*curate, folder, "-o", out, "--workers=1"]
    for again in (False, True):
        done = subprocess.run(
            [*command, "--tagger", "none", "--no-balance"],
            env={**os.environ, **locale},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        assert b"20 clips in " in done.stdout, again
    report = {row["key"]: row for row in raw.read_csv(out / "report.csv")}
    decisions = [report[f"k{number}"]["decision"] for number in range(len(NAMES))]
    assert decisions == ["in"] * len(NAMES)
    assert {named(report[f"k{n}"]["file"]) for n in range(len(NAMES))} == {*map(os.fsdecode, NAMES)}
    assert {report[key]["outcome"] for key in ("loop", "pipe", "socket", "device")} == {"missing"}


def test_pictures_have_names_that_fit(folder: Path, tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    assert matplotlib
    from agl1k_core.tagging import save_timelines

    paths = [folder / os.fsdecode(name) for name in (NAMES[0], NAMES[4], NAMES[15])]
    save_timelines(paths, raw.ToneTagger(), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "001-caf\\xe9.png",
        f"002-{'x' * 60}.png",
        "003-{0}%s.png",
    ]


@pytest.mark.parametrize(
    "name", ["\x1b[31mred", "[/]", "new\nline", os.fsdecode(b"\xff"), "x" * 300, "loop.wav", ""]
)
@pytest.mark.parametrize(
    "command",
    [
        ["score"],
        ["validate"],
        ["compare"],
        ["filter"],
        ["curate", "-o", "out"],
        ["localizability", "fit", "-o", "out"],
        ["localizability", "report"],
        ["localizability", "rate", "-o", "out", "--judge", "word-match"],
        ["score", "pyproject.toml", "-b"],
        ["validate", "pyproject.toml", "-b"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_named_safely(
    folder: Path, command: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    (folder / "pyproject.toml").write_text("[]")
    given = [name, name] if command == ["compare"] else [name]
    result = run(*command, *given)
    (folder / "pyproject.toml").unlink()
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.output
    assert "\x1b" not in result.output
    assert "\udcff" not in result.output


@pytest.mark.parametrize(
    "name",
    [b"caf\xe9", b"new\nline", b"esc\x1b[31m", "rtl\u202e".encode(), b"[bold]", b"{0}%s",
     b"x" * 240, b"lit\\xe9", b"a,b;c", b"\x01", b"~", b"-o"],
)  # fmt: skip
def test_files_with_odd_names_are_read_and_written(
    tmp_path: Path, name: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = f"./{os.fsdecode(name)}"
    ratings = "key,error_km,class,presence,judge,rating\na,10,Speech,0.5,Ann,1\n"
    Path(f"{path}.r").write_text(ratings)
    for command in (
        ["baseline", "random", "-o", path],
        ["score", path],
        ["validate", path],
        ["compare", path, path],
        ["localizability", "fit", f"{path}.r", "-o", f"{path}.m"],
        ["localizability", "report", f"{path}.m", f"{path}.r"],
    ):
        result = run(*command)
        assert result.exit_code == 0, result.output
        assert not {"\x1b", "\x01", "\u202e"} & {*result.output}
        result.output.encode("utf-8")
