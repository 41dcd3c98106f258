"""Which clips a benchmark's keeper leaves out of the game, and why; they still count on the board.

A table ``out_of_play.csv`` lists them by key, or all of a project by words that their titles or
descriptions contain: docs/benchmark-format.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from agl1k_core.benchmarks.csv_tables import TableRow, missing_column, read_rows
from agl1k_core.benchmarks.model import Clip
from agl1k_core.errors import Problem, Problems

OUT_OF_PLAY = "out_of_play.csv"
_COLUMNS = ("key", "project", "reason")


def read_out_of_play(
    clips: Iterable[Clip], folder: Path | None, slug: str = ""
) -> Mapping[str, str]:
    """The keys of the clips that are not played, each with the reason.

    Parameters
    ----------
    clips
        The clips of the benchmark.
    folder
        Where the keeper's list may be.
    slug
        The benchmark; those of this package have a list of their own.

    Raises
    ------
    FileRefusedError
        With every line that is wrong, or that fits no clip.
    """
    by_key = {clip.key: clip for clip in clips}
    ours = Path(str(files("agl1k_core.benchmarks") / "data" / f"{slug}_{OUT_OF_PLAY}"))
    found = _listed(ours, by_key, must_fit=False)
    return {**found, **(_listed(folder / OUT_OF_PLAY, by_key, must_fit=True) if folder else {})}


def _listed(path: Path, clips: Mapping[str, Clip], *, must_fit: bool) -> dict[str, str]:
    if not path.is_file():
        return {}
    problems = Problems(path.name)
    left_out: dict[str, str] = {}
    for row in read_rows(path, problems, _columns):
        keys = _keys(row, clips)
        if must_fit and not keys:
            row.problem("key", "no clip fits", "Correct the key or the project, or remove the line")
        left_out |= dict.fromkeys(keys, row.text("reason"))
    problems.raise_if_any()
    return left_out


def _keys(row: TableRow, clips: Mapping[str, Clip]) -> list[str]:
    key, project = row.text("key"), row.text("project").casefold()
    if bool(key) == bool(project):
        row.problem("key", "not one of a key and a project", "Give the one or the other")
    if not row.text("reason"):
        row.problem("reason", "it is empty", "Say why the clip is not played")
    if key:
        return [key] if key in clips else []
    return [one.key for one in clips.values() if project and project in _words(one)]


def _words(clip: Clip) -> str:
    return f"{clip.title}\n{clip.description}".casefold()


def _columns(header: list[str], first_width: int, problems: Problems) -> list[str]:
    for name in _COLUMNS:
        if name not in header:
            problems.add(missing_column(name, header, f"Name the columns {', '.join(_COLUMNS)}"))
    unknown = [name for name in header if name and name not in _COLUMNS]
    if unknown:
        found = f"unknown columns: {', '.join(unknown)}"
        problems.add(Problem(found, "Remove or rename them", line=1))
    return header
