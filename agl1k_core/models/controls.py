"""Texts that take the place of sound, in controls that tell hearing from guessing.

A model that scores as well with the names of the sounds, or with a transcript, as with the
recording has not shown that it hears more than those. ``agl1k compare`` gives the difference with
an interval.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agl1k_core import tagging
from agl1k_core.benchmarks import Benchmark
from agl1k_core.errors import Agl1kError, Problem, Problems

#: Sounds that are present for less than this share of the time are left out.
_LEAST_SHARE = 0.01
_MOST_SOUNDS = 20
_INSTEAD = "You do not get the recording itself. Use the following as if you had heard it."


@dataclass(frozen=True, slots=True)
class Transcript:
    """The speech in a clip: its words and its language, each empty if there is none."""

    text: str = ""
    language: str = ""


def tag_texts(
    keys: Iterable[str],
    presences: Mapping[str, Mapping[str, float]],
    transcripts: Mapping[str, Transcript] | None = None,
) -> dict[str, str]:
    """What a tagger found in each clip, and the spoken language if it is known, as text.

    Parameters
    ----------
    keys
        The clips.
    presences
        Share of time, 0 to 1, of each AudioSet id, by clip.
    transcripts
        For the spoken language; its words are not used.

    Raises
    ------
    Agl1kError
        If a clip has not been tagged.
    """
    keys = list(keys)
    missing = [key for key in keys if key not in presences]
    if missing:
        raise Agl1kError(
            f"{len(missing)} of {len(keys)} clips have no tags, such as {missing[0]}. Fetch their "
            "recordings, or add them to the benchmark's tags.json."
        )
    languages = {key: item.language for key, item in (transcripts or {}).items()}
    return {key: _tag_text(presences[key], languages.get(key, "")) for key in keys}


def _tag_text(presence: Mapping[str, float], language: str) -> str:
    heard = sound_lines(presence) or "- nothing that a tagger knows"
    spoken = f"\n\nSpoken language: {language}" if language else ""
    return f"{_INSTEAD}\n\nSounds in the recording, found by a tagger:\n{heard}{spoken}"


def sound_lines(presence: Mapping[str, float]) -> str:
    """The sounds that are present longest, one per line; empty if there is none."""
    loudest = sorted(presence.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_SOUNDS]
    lines = [
        f"- {tagging.class_name(class_id)}: {share:.0%} of the time"
        for class_id, share in loudest
        if share >= _LEAST_SHARE
    ]
    return "\n".join(lines)


def transcript_texts(keys: Iterable[str], transcripts: Mapping[str, Transcript]) -> dict[str, str]:
    """The transcript of each clip as text; a clip without one has no speech."""
    return {key: _transcript_text(transcripts.get(key, Transcript())) for key in keys}


def _transcript_text(transcript: Transcript) -> str:
    if not transcript.text.strip():
        return f"{_INSTEAD}\n\nTranscript of the recording: there is no speech in it."
    language = f" (language: {transcript.language})" if transcript.language else ""
    return f"{_INSTEAD}\n\nTranscript of the recording{language}:\n{transcript.text.strip()}"


def read_transcripts(path: Path, benchmark: Benchmark) -> dict[str, Transcript]:
    """Transcripts from JSON Lines with ``key``, ``text`` and, optionally, ``language``.

    Raises
    ------
    FileRefusedError
        With every problem: lines that are not such objects, unknown or repeated clips.
    Agl1kError
        If the file cannot be read.
    """
    problems = Problems(path.name)
    found: dict[str, Transcript] = {}
    for number, line in enumerate(_lines(path), 1):
        record = _record(line)
        key = record.get("key") if record else None
        if record is None or not isinstance(key, str) or not _is_transcript(record):
            todo = "Write one object per line with key, text and, if known, language"
            problems.add(Problem("It is not a transcript", todo, line=number))
        elif key not in benchmark:
            found_text = f"The benchmark {benchmark.slug} has no such clip"
            problems.add(Problem(found_text, "Check the key", line=number, clip=key[:80]))
        elif key in found:
            problems.add(Problem("The clip is there twice", "Keep one", line=number, clip=key))
        else:
            found[key] = Transcript(record["text"], record.get("language") or "")
    problems.raise_if_any()
    return found


def _lines(path: Path) -> list[bytes]:
    try:
        content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise Agl1kError(f"{path} cannot be read: {error.strerror}.") from None
    return [line for line in content.split(b"\n") if line.strip()]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _is_transcript(record: Mapping[str, Any]) -> bool:
    language = record.get("language")
    return isinstance(record.get("text"), str) and isinstance(language, str | None)
