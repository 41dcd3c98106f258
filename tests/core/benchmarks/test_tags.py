"""tags.json: reading it back, and the problems of a malformed file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agl1k_core.benchmarks import ClipTags, FolderTags, read_tags, tags_json
from agl1k_core.errors import Agl1kError, FileRefusedError

CLIPS = {"a": ClipTags({"/m/09x0r": 0.75, "/m/04rlf": 0.5}, 1.25), "b": ClipTags()}


def test_a_folder_without_tags_has_none(tmp_path: Path) -> None:
    assert read_tags(tmp_path) == read_tags(None) == FolderTags()


def test_tags_survive_their_file(tmp_path: Path) -> None:
    text = tags_json(CLIPS, {"name": "yamnet", "threshold": 0.2}, {"theta": 1.0})
    (tmp_path / "tags.json").write_text(text, "utf-8")
    assert read_tags(tmp_path) == FolderTags(CLIPS, {"name": "yamnet", "threshold": 0.2}, 1.0)
    (tmp_path / "tags.json").write_text(tags_json(CLIPS, None), "utf-8")
    assert read_tags(tmp_path) == FolderTags(CLIPS)


def test_the_longest_come_first(tmp_path: Path) -> None:
    data = {"clips": {"a": {"presence": {"/m/04rlf": 0.1, "/m/09x0r": 0.9}}}}
    (tmp_path / "tags.json").write_text(json.dumps(data))
    assert [*read_tags(tmp_path).clips["a"].presence] == ["/m/09x0r", "/m/04rlf"]


def test_all_problems_are_listed_at_once(tmp_path: Path) -> None:
    broken = {
        "tagger": "yamnet",
        "localizability": {"theta": "high"},
        "clips": {
            "a": {"presence": {"/m/09x0r": 1.5, "/m/04rlf": True}},
            "b": {"presence": [], "localizability": 1},
            "c": {"localizability": "much"},
            "d": 7,
        },
    }
    (tmp_path / "tags.json").write_text(json.dumps(broken))
    with pytest.raises(FileRefusedError) as caught:
        read_tags(tmp_path)
    told = str(caught.value)
    assert caught.value.total == 7
    for part in (
        "field tagger: 'yamnet' is neither",
        "field localizability.theta: 'high' is not a number",
        "clip a, field presence./m/09x0r: 1.5 is not a share",
        "clip a, field presence./m/04rlf: True is not a share",
        "clip b: it is not an object",
        "clip c, field localizability: 'much' is not a number",
        "clip d: it is not an object",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "not a JSON object with an object 'clips'"),
        (b'{"clips": {"a": {"localizability": 1' + b"0" * 400 + b"}}}", "0 is not a number"),
        (b'{"clips": {"a": {"localizability": NaN}}}', "nan is not a number"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "tags.json").write_bytes(content)
    with pytest.raises(Agl1kError, match=message):
        read_tags(tmp_path)
