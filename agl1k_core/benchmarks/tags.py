"""The sounds in the clips of a benchmark folder: the file ``tags.json``.

It is beside the table, is optional, and no score depends on it. ``docs/benchmark-format.md``
documents it; ``agl1k curate`` and the demo pack's script write it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

from agl1k_core.errors import Agl1kError, Problem, Problems
from agl1k_core.file_names import shown

TAGS = "tags.json"
_TODO = "Run agl1k curate again, or remove the file"


@dataclass(frozen=True, slots=True)
class ClipTags:
    """The sounds in a clip.

    Attributes
    ----------
    presence
        Share of time, 0 to 1, of each AudioSet id, the longest first.
    localizability
        The clip's ``l_k``, None without a model.
    """

    presence: Mapping[str, float] = field(default_factory=dict)
    localizability: float | None = None


@dataclass(frozen=True)
class FolderTags:
    """The sounds in the clips of a folder.

    Attributes
    ----------
    clips
        Tags by the clip's key.
    tagger
        Backend, weights and threshold, see ``localizability.tagger_of``; empty if unknown.
    theta
        Threshold of the localizability model, None without one.
    """

    clips: Mapping[str, ClipTags] = field(default_factory=dict)
    tagger: Mapping[str, Any] = field(default_factory=dict)
    theta: float | None = None


def read_tags(folder: Path | None) -> FolderTags:
    """Read the tags of a benchmark folder.

    Returns
    -------
    FolderTags
        Empty if there is no folder, or no ``tags.json`` in it.

    Raises
    ------
    Agl1kError
        If the file cannot be read or is not JSON.
    FileRefusedError
        With all problems of its content.

    Examples
    --------
    >>> from agl1k_core.benchmarks import load_benchmark
    >>> tags = read_tags(load_benchmark("demo").audio_dir)
    >>> tags.tagger["name"]
    'yamnet'
    >>> len(tags.clips)
    24
    """
    if folder is None or not (folder / TAGS).is_file():
        return FolderTags()
    data = _read_json(folder / TAGS)
    problems = Problems(str(folder / TAGS))
    _check(data, problems)
    problems.raise_if_any()
    return FolderTags(
        clips={key: _clip_tags(clip) for key, clip in data["clips"].items()},
        tagger=data.get("tagger") or {},
        theta=(data.get("localizability") or {}).get("theta"),
    )


def tags_json(
    clips: Mapping[str, ClipTags],
    tagger: Mapping[str, Any] | None,
    localizability: Mapping[str, Any] | None = None,
) -> str:
    """The text of ``tags.json``; ``tagger`` and ``localizability`` say where numbers come from."""
    rows = {
        key: {"presence": dict(tags.presence), "localizability": tags.localizability}
        for key, tags in clips.items()
    }
    data = {"tagger": tagger, "localizability": localizability, "clips": rows}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise Agl1kError(f"{shown(path)} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise Agl1kError(f"{shown(path)} is not JSON: {error}. {_TODO}.") from None


def _clip_tags(clip: Mapping[str, Any]) -> ClipTags:
    longest_first = sorted(clip.get("presence", {}).items(), key=lambda pair: -pair[1])
    return ClipTags(dict(longest_first), clip.get("localizability"))


def _check(data: Any, problems: Problems) -> None:
    if not isinstance(data, dict) or not isinstance(data.get("clips"), dict):
        problems.add(Problem("it is not a JSON object with an object 'clips'", _TODO))
        return
    for name in ("tagger", "localizability"):
        if not isinstance(data.get(name), (dict, NoneType)):
            found = f"{data[name]!r:.40} is neither an object nor null"
            problems.add(Problem(found, _TODO, field=name))
    model = data.get("localizability")
    if isinstance(model, dict) and model and not _is_number(model.get("theta")):
        found = f"{model.get('theta')!r:.40} is not a number"
        problems.add(Problem(found, _TODO, field="localizability.theta"))
    for key, clip in data["clips"].items():
        _check_clip(key, clip, problems)


def _check_clip(key: str, clip: Any, problems: Problems) -> None:
    presence = clip.get("presence", {}) if isinstance(clip, dict) else None
    if not isinstance(presence, dict):
        problems.add(Problem("it is not an object with an object 'presence'", _TODO, clip=key))
        return
    for class_id, share in presence.items():
        if not _is_number(share) or not 0 <= share <= 1:
            found, name = f"{share!r:.40} is not a share from 0 to 1", f"presence.{class_id}"
            problems.add(Problem(found, _TODO, clip=key, field=name))
    score = clip.get("localizability")
    if score is not None and not _is_number(score):
        found = f"{score!r:.40} is not a number"
        problems.add(Problem(found, _TODO, clip=key, field="localizability"))


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max
