"""Everything around the code is correct: front matter, documents, container, dependencies."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import typer
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from agl1k_core import __version__, benchmarks, tagging
from agl1k_core.benchmarks import find_recording, read_tags
from agl1k_core.cli.main import app
from web.settings import Settings

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
#: What the hub's reference of Space settings allows for a thumbnail.
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def requirements() -> list[str]:
    lines = text_of("requirements.txt").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def pyproject() -> Mapping[str, Any]:
    return tomllib.loads(text_of("pyproject.toml"))


def of_extra(extra: str) -> list[str]:
    """What an extra installs, with that of the extras it names."""
    lines: list[str] = []
    for line in pyproject()["project"]["optional-dependencies"][extra]:
        requirement = Requirement(line)
        if requirement.name == "agl1k":
            named = re.findall(r"\w+", line.partition("[")[2])
            lines += [inner for name in named for inner in of_extra(name)]
        else:
            lines.append(line)
    return lines


# --- README, citation ---------------------------------------------------------------------------


def test_front_matter_makes_a_space() -> None:
    start, front, _ = text_of("README.md").split("---\n", 2)
    space = yaml.safe_load(front)
    assert start == ""
    assert (space["sdk"], space["license"]) == ("gradio", "apache-2.0")
    (gradio,) = [Requirement(line) for line in requirements() if line.startswith("gradio")]
    assert space["sdk_version"] in gradio.specifier
    assert space["python_version"] == "3.11"
    assert (ROOT / space["app_file"]).is_file()
    assert len(space["short_description"]) <= 60
    assert {space["colorFrom"], space["colorTo"]} <= COLOURS
    assert space["title"]
    assert space["emoji"]


def test_readme_names_every_command_and_option() -> None:
    readme = text_of("README.md")
    group: Any = typer.main.get_command(app)
    assert [name for name in group.commands if not re.search(rf"^\| `{name}\b", readme, re.M)] == []
    options = [
        option
        for command in (group, *group.commands.values())
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("-")
    ]
    assert len(options) > 10
    unnamed = [name for name in options if not re.search(rf"(?<![-\w]){name}(?![-\w])", readme)]
    assert unnamed == []


def test_citation_is_of_this_version_and_names_the_paper() -> None:
    citation = yaml.safe_load(text_of("CITATION.cff"))
    assert citation["version"] == __version__
    assert citation["license"] == pyproject()["project"]["license"] == "Apache-2.0"
    paper = citation["preferred-citation"]
    assert paper["title"] in text_of("README.md")
    assert paper["authors"][0]["family-names"] == "Zhang"


def test_changelog_knows_the_version() -> None:
    assert f"## [{__version__}]" in text_of("CHANGELOG.md") or (
        "## [Unreleased]" in text_of("CHANGELOG.md") and __version__ in text_of("CHANGELOG.md")
    )


def test_licence_is_whole() -> None:
    licence = text_of("LICENSE")
    assert "Version 2.0, January 2004" in licence
    assert "END OF TERMS AND CONDITIONS" in licence


# --- documents ----------------------------------------------------------------------------------


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_files_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", document.read_text("utf-8"))
    near = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in near if not (document.parent / link).exists()] == []


def test_the_index_lists_every_document() -> None:
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", text_of("docs/README.md")))
    assert listed == {path.name for path in ROOT.glob("docs/*.md")} - {"README.md"}


def test_the_design_sends_nobody_to_a_room_that_is_not_there() -> None:
    design = text_of("docs/design.md")
    named = set(re.findall(r"`((?:agl1k_core|store|web|ui|game|leaderboard|assets|scripts)/[^`]*)`",
                           design))  # fmt: skip
    for section in re.split(r"^### ", design, flags=re.MULTILINE)[1:]:
        package = section.split("\n", 1)[0]
        if (ROOT / package).is_dir():
            first_cells = re.findall(r"^\| (`.*?) \|", section, flags=re.MULTILINE)
            rooms = [room for cell in first_cells for room in re.findall(r"`([^`]+)`", cell)]
            assert rooms, package
            named |= {f"{package}/{room}" for room in rooms}
    assert len(named) > 60
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


# --- configuration ------------------------------------------------------------------------------


class Asked(Mapping[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given, self.names = given, set[str]()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self.given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)


def documented_variables() -> dict[str, tuple[str, str]]:
    """Variable -> (default, example), as the table has them."""
    rows = re.findall(
        r"^\| `([A-Z][A-Z0-9_]+)` \| (.*?) \| `(.*?)` \|",
        text_of("docs/configuration.md"),
        flags=re.MULTILINE,
    )
    return {name: (default, example) for name, default, example in rows}


def test_the_table_of_variables_is_complete_and_no_longer_than_that() -> None:
    env = Asked({})
    Settings.from_env(env)
    assert set(documented_variables()) == env.names


def test_documented_defaults_are_the_defaults() -> None:
    settings = Settings.from_env({})
    fields = {
        "PORT": settings.port,
        "AGL1K_HOST": settings.host,
        "AGL1K_BENCHMARK": settings.config.benchmark,
        "AGL1K_TABLE_URL": settings.config.table_url,
        "AGL1K_AUDIO_URL": settings.config.audio_url,
        "AGL1K_MAX_UPLOAD_MB": f"{settings.max_upload_mb:g}",
        "HF_ENDPOINT": settings.store.hub.endpoint,
        "AGL1K_HUB_INTERVAL_S": f"{settings.store.hub.interval_s:g}",
        "AGL1K_HUB_MAX_WAITING": settings.store.hub.max_waiting,
        "AGL1K_HUB_FLUSH_S": f"{settings.store.hub.flush_s:g}",
    }
    documented = documented_variables()
    assert {name: documented[name][0] for name in fields} == {
        name: f"`{value}`" for name, value in fields.items()
    }
    unset = {name for name, (default, _) in documented.items() if default == "none"}
    assert unset == {
        "AGL1K_ROOT_PATH", "AGL1K_TILES", "AGL1K_TRUSTED_PROXIES", "SPACE_ID",
        "AGL1K_HUB_DATASET", "AGL1K_HUB_TOKEN", "HF_TOKEN", "AGL1K_JUDGE_KEY",
        "AGL1K_METRICS_ADDRESS", "AGL1K_METRICS_TOKEN",
    }  # fmt: skip
    assert (settings.store.hub.dataset, settings.store.hub.token) == ("", "")
    assert (settings.root_path, settings.tiles) == ("", "")


def test_documented_examples_are_accepted() -> None:
    env = {name: example for name, (_, example) in documented_variables().items()}
    settings = Settings.from_env(env)
    assert (settings.port, settings.max_upload_mb) == (8080, 4.5)
    assert settings.secret == env["AGL1K_SECRET"]
    assert settings.metrics_address == ("127.0.0.1", 9100)


def test_only_the_settings_read_our_variables() -> None:
    packages = [ROOT / name for name in ("agl1k_core", "store", "web", "ui", "game", "leaderboard")]
    sources = [ROOT / "app.py", *(path for folder in packages for path in folder.rglob("*.py"))]
    readers = [
        path.name
        for path in sources
        if re.search(r"(environ|getenv)\W.*AGL1K_", path.read_text("utf-8"))
    ]
    assert readers == []


# --- the format of a benchmark folder -----------------------------------------------------------


def test_the_documented_benchmark_loads_as_the_document_says(tmp_path: Path) -> None:
    document = text_of("docs/benchmark-format.md")
    table, info, left_out, tags = re.findall(
        r"^```(?:csv|json)\n(.*?)^```", document, re.DOTALL | re.M
    )
    (tmp_path / "clips.csv").write_text(table, encoding="utf-8")
    (tmp_path / "benchmark.json").write_text(info, encoding="utf-8")
    (tmp_path / "out_of_play.csv").write_text(left_out, encoding="utf-8")
    (tmp_path / "tags.json").write_text(tags, encoding="utf-8")
    tree = re.search(r"^```\nmy-sounds/\n(.*?)^```", document, re.DOTALL | re.M)
    assert tree is not None
    files = [line.strip() for line in tree[1].splitlines()]
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()

    benchmark = benchmarks.read_folder(tmp_path)

    assert (benchmark.slug, benchmark.name, benchmark.version) == ("my-sounds", "My sounds", "2")
    assert benchmark.notice == json.loads(info)["notice"]
    assert [*benchmark.out_of_play] == [clip.key for clip in benchmark.clips[:2]]
    told = read_tags(tmp_path)
    assert (told.tagger, told.theta) == ({"name": "yamnet"}, 1.0)
    assert told.clips.keys() <= benchmark.index.keys()
    assert told.clips["harbour-01"].presence.keys() <= tagging.audioset_classes().keys()
    first = benchmark.clip("harbour-01")
    assert (first.city, first.country, first.continent) == ("Essaouira", "Morocco", "Africa")
    assert benchmark.country_codes == ("MA", "KR", "BR")
    assert list(benchmark.subsets["speech"]) == [True, False, False]
    found = [find_recording(benchmark, clip, tmp_path) for clip in benchmark.clips]
    assert [path.relative_to(tmp_path).as_posix() for path in found if path] == files[2:]


# --- container ----------------------------------------------------------------------------------

Instruction = tuple[str, str]


def instructions() -> list[Instruction]:
    whole = re.sub(r"\\\n\s*", "", text_of("Dockerfile"))
    lines = [line for line in whole.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines]


def arguments(name: str) -> list[str]:
    return [rest for word, rest in instructions() if word == name]


def test_the_image_copies_what_is_there_and_all_that_is_needed() -> None:
    copied = [word for rest in arguments("COPY") for word in shlex.split(rest)[:-1]]
    assert [name for name in copied if not (ROOT / name).exists()] == []
    packages = pyproject()["tool"]["importlinter"]["root_packages"]
    assert set(copied) == {"requirements.lock", "app.py", "LICENSE", "assets", *packages}


def test_the_builder_is_given_what_the_image_copies_and_no_more() -> None:
    lines = [line for line in text_of(".dockerignore").splitlines() if line[:1] not in ("", "#")]
    assert lines[0] == "*"
    let_through = {line[1:] for line in lines if line.startswith("!")}
    copied = {word for rest in arguments("COPY") for word in shlex.split(rest)[:-1]}
    assert let_through == copied


def test_the_image_installs_before_it_copies_code() -> None:
    words = [f"{word} {rest}" for word, rest in instructions()]
    install = next(i for i, line in enumerate(words) if "pip install" in line)
    assert words.index("COPY requirements.lock ./") < install
    assert all(i > install for i, line in enumerate(words) if "agl1k_core" in line)
    assert "--require-hashes" in words[install]


def test_the_image_runs_as_a_user_of_its_own_and_keeps_data_in_a_volume() -> None:
    (user,) = arguments("USER")
    assert user not in ("root", "0")
    assert any(f"useradd --uid 1000 --create-home {user}" in rest for rest in arguments("RUN"))
    (volume,) = map(json.loads, arguments("VOLUME"))
    environment = dict(
        word.split("=", 1) for rest in arguments("ENV") for word in shlex.split(rest)
    )
    assert environment["AGL1K_DATA"] == volume[0]
    assert environment["AGL1K_HOST"] == "0.0.0.0"
    assert arguments("EXPOSE") == [environment["PORT"]]
    (command,) = arguments("CMD")
    assert json.loads(command) == ["python", "app.py"]


@pytest.mark.server
def test_the_image_has_the_command_in_any_folder(tmp_path: Path) -> None:
    (made,) = [rest for rest in arguments("RUN") if "/usr/local/bin/agl1k" in rest]
    command = made.replace("/usr/local/bin", str(tmp_path))
    subprocess.run(["sh", "-c", command], check=True)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [tmp_path / "agl1k", "baseline", "--help"],
        cwd="/", env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "agl1k baseline" in done.stdout
    environment = [word for rest in arguments("ENV") for word in shlex.split(rest)]
    assert f"PYTHONPATH={arguments('WORKDIR')[0]}" in environment


class Healthy(BaseHTTPRequestHandler):
    """Answers 200 on /healthz, 404 elsewhere, and logs nothing."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        return


@pytest.mark.server
def test_the_health_check_tells_a_healthy_server_from_none() -> None:
    (check,) = arguments("HEALTHCHECK")
    command = json.loads(check.split("CMD ", 1)[1])
    server = ThreadingHTTPServer(("127.0.0.1", 0), Healthy)
    env = {**os.environ, "PORT": str(server.server_port), "http_proxy": "http://127.0.0.1:9"}

    def exit_code() -> int:
        return subprocess.run(
            [sys.executable, *command[1:]], env=env, capture_output=True, check=False
        ).returncode

    thread = Thread(target=server.serve_forever)
    thread.start()
    healthy = exit_code()
    server.shutdown()
    thread.join()
    server.server_close()
    assert command[0] == "python"
    assert healthy == 0
    assert exit_code() != 0


# --- dependencies -------------------------------------------------------------------------------


def test_a_space_installs_the_science_and_the_app() -> None:
    assert requirements() == [*pyproject()["project"]["dependencies"], *of_extra("app")]


def locked() -> dict[str, list[tuple[Requirement, list[str]]]]:
    """By name, the versions that the image may install, each with its hashes."""
    pins: dict[str, list[tuple[Requirement, list[str]]]] = {}
    for entry in text_of("requirements.lock").replace("\\\n", " ").splitlines():
        pin, *hashes = re.split(r"\s+--hash=", entry.strip())
        requirement = Requirement(pin)
        pins.setdefault(canonicalize_name(requirement.name), []).append((requirement, hashes))
    return pins


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_pins_every_requirement_in_its_range_for_each_python(python: str) -> None:
    environment = {"python_version": python, "python_full_version": f"{python}.0"}
    for requirement in map(Requirement, requirements()):
        fitting = [
            pin
            for pin, _ in locked().get(canonicalize_name(requirement.name), [])
            if pin.marker is None or pin.marker.evaluate(environment)
        ]
        assert len(fitting) == 1, f"{requirement.name}: run make lock"
        (version,) = fitting[0].specifier
        assert version.operator == "=="
        assert version.version in requirement.specifier, f"{requirement.name}: run make lock"


def test_everything_locked_has_hashes_and_no_registry_is_named() -> None:
    pins = [pin for found in locked().values() for pin in found]
    assert len(pins) > 60
    for _, hashes in pins:
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", found) for found in hashes)
    assert "://" not in text_of("requirements.lock")


def tracked() -> list[Path]:
    """The files of the repository; those below its folder if it is not a clone."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False
    ).stdout
    paths = [ROOT / name.decode() for name in listed.split(b"\0") if name]
    return [path for path in paths if path.is_file()] or pytest.skip("not a clone")


def test_no_file_needs_lfs_on_a_space_and_binary_ones_are_marked() -> None:
    files = tracked()
    assert [path.name for path in files if path.stat().st_size > 10 * 10**6] == []
    binary = {path.suffix for path in files if b"\0" in path.read_bytes()[:8000]}
    marked = set(re.findall(r"^\*(\.\w+) binary$", text_of(".gitattributes"), re.MULTILINE))
    assert binary
    assert binary == marked


def test_every_dependency_has_a_range_and_is_declared_once() -> None:
    project = pyproject()["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    declared = [
        requirement
        for group in groups
        for requirement in map(Requirement, group)
        if requirement.name != "agl1k"
    ]
    names = Counter(requirement.name.lower() for requirement in declared)
    assert [name for name, count in names.items() if count > 1] == []
    assert [str(requirement) for requirement in declared if not requirement.specifier] == []


def test_the_tests_bring_all_that_the_app_and_curation_need() -> None:
    assert {*of_extra("app"), *of_extra("curate")} <= {*of_extra("test")}


def test_every_extra_that_is_named_exists() -> None:
    extras = set(pyproject()["project"]["optional-dependencies"])
    documents = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]
    sources = [*documents, *(ROOT / "agl1k_core").rglob("*.py")]
    named = {
        (path.name, extra)
        for path in sources
        for group in re.findall(r"(?:agl1k|\.)\[([a-z,]+)\]", path.read_text("utf-8"))
        for extra in group.split(",")
    }
    assert len(named) > 5
    assert [pair for pair in named if pair[1] not in extras] == []
