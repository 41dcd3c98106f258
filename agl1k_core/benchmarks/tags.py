"""What sounds in the clips of a benchmark's folder: the file ``tags.json``.

It lies beside the table, is optional, and no score depends on it. ``docs/benchmark-format.md`` has
its format; ``curated_folder`` and the demo pack's script write it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError, FileRefusedError, Problem

TAGS = "tags.json"
_MOST_SHOWN = 50


@dataclass(frozen=True, slots=True)
class ClipTags:
    """``presence``: AudioSet id -> share of time, 0 to 1, longest first; ``l_k``, or None."""

    presence: Mapping[str, float] = field(default_factory=dict)
    localizability: float | None = None


@dataclass(frozen=True)
class FolderTags:
    """Key -> what sounds in a clip.

    ``tagger`` is what ``localizability.tagger_of`` tells, empty where nothing is known; ``theta``
    is the threshold of the localizability model, None where there was none.
    """

    clips: Mapping[str, ClipTags] = field(default_factory=dict)
    tagger: Mapping[str, Any] = field(default_factory=dict)
    theta: float | None = None


def read_tags(folder: Path | None) -> FolderTags:
    """The tags of a folder; none where it has no ``tags.json``.

    Raises ``Agl1kError`` where the file cannot be read, ``FileRefusedError`` with all problems.
    """
    if folder is None or not (folder / TAGS).is_file():
        return FolderTags()
    try:
        data = json.loads((folder / TAGS).read_text("utf-8-sig"))
    except OSError as error:
        raise Agl1kError(f"{folder / TAGS} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise Agl1kError(f"{folder / TAGS} is no JSON: {error}. {_MEND}.") from None
    problems = list(_problems(data))
    if problems:
        raise FileRefusedError(str(folder / TAGS), problems[:_MOST_SHOWN], len(problems))
    return FolderTags(
        clips={key: _clip_tags(clip) for key, clip in data["clips"].items()},
        tagger=data.get("tagger") or {},
        theta=(data.get("localizability") or {}).get("theta"),
    )


def _clip_tags(clip: Mapping[str, Any]) -> ClipTags:
    longest_first = sorted(clip.get("presence", {}).items(), key=lambda pair: -pair[1])
    return ClipTags(dict(longest_first), clip.get("localizability"))


def tags_json(
    clips: Mapping[str, ClipTags],
    tagger: Mapping[str, Any] | None,
    localizability: Mapping[str, Any] | None = None,
) -> str:
    """The file's text. ``tagger`` and ``localizability`` tell where the numbers come from."""
    told = {
        key: {"presence": dict(tags.presence), "localizability": tags.localizability}
        for key, tags in clips.items()
    }
    data = {"tagger": tagger, "localizability": localizability, "clips": told}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


_MEND = "Run agl1k curate again, or remove the file"


def _problems(data: Any) -> Iterator[Problem]:
    if not isinstance(data, dict) or not isinstance(data.get("clips"), dict):
        yield Problem("it is no JSON object with an object 'clips'", _MEND)
        return
    for name, known in (("tagger", "name"), ("localizability", "theta")):
        value = data.get(name)
        if value is not None and not isinstance(value, dict):
            yield Problem(f"{value!r:.40} is neither an object nor null", _MEND, field=name)
        elif name == "localizability" and value and not _is_number(value.get(known)):
            yield Problem(f"{value.get(known)!r:.40} is no number", _MEND, field=f"{name}.{known}")
    for key, clip in data["clips"].items():
        yield from _clip_problems(key, clip)


def _clip_problems(key: str, clip: Any) -> Iterator[Problem]:
    presence = clip.get("presence", {}) if isinstance(clip, dict) else None
    if not isinstance(presence, dict):
        yield Problem("it is no object with an object 'presence'", _MEND, clip=key)
        return
    for class_id, share in presence.items():
        if not _is_number(share) or not 0 <= share <= 1:
            found, where = f"{share!r:.40} is no share from 0 to 1", f"presence.{class_id}"
            yield Problem(found, _MEND, clip=key, field=where)
    score = clip.get("localizability")
    if score is not None and not _is_number(score):
        yield Problem(f"{score!r:.40} is no number", _MEND, clip=key, field="localizability")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
