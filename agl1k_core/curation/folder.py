"""The curated benchmark as a folder: recordings and table, and why each clip is in or out.

``clips.csv``, ``benchmark.json`` and the recordings are as in ``docs/benchmark-format.md``. Beside
them lie ``report.csv`` (every clip and its verdict), ``summary.md``, ``curation.json`` (how
it was made), ``tags.json`` (what sounds in each clip) and a person's decisions in ``review.csv``.
Nothing in it depends on the time or the machine, so the same run gives the same bytes.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from agl1k_core import __version__, audio, benchmarks, places
from agl1k_core.benchmarks import CLASSES, SUFFIXES, TAGS, ClipTags, recording_name, tags_json
from agl1k_core.curation import analysis_rows
from agl1k_core.curation.pipeline import KEEP, REJECT, Curated, Judged
from agl1k_core.curation.selection import Reason
from agl1k_core.curation.summary import summary_markdown
from agl1k_core.errors import Agl1kError

MARK, REPORT, SUMMARY = "curation.json", "report.csv", "summary.md"
REVIEW = "review.csv"
_MEASURES = ("rms_energy", "spectral_flatness", "clipping_ratio", "complexity_per_band")


def check_output(out: Path, recordings: Path) -> None:
    """Raise ``Agl1kError`` unless ``out`` is new, empty, or was written by curation before."""
    if out.exists() and not out.is_dir():
        raise Agl1kError(f"{out} is no folder. Name a new one.")
    if out.is_dir() and not (out / MARK).is_file() and any(out.iterdir()):
        raise Agl1kError(f"{out} holds files that curation did not write. Name a new folder.")
    if out.resolve().is_relative_to(recordings.resolve()):
        raise Agl1kError(f"{out} lies among the raw recordings. Name a folder elsewhere.")


def write_folder(
    curated: Curated, out: Path, *, name: str = "", copied: Callable[[], None] | None = None
) -> None:
    """Write the folder, or bring it up to date; ``copied`` is called after each recording.

    Raises ``Agl1kError`` where ``check_output`` does, where a file cannot be written, and, after
    the report is written, where no clip is left.
    """
    check_output(out, curated.collection.folder)
    try:
        _write(curated, out, name, copied)
    except OSError as error:
        raise Agl1kError(f"{out} cannot be written: {error.strerror}.") from None
    if not curated.chosen:
        raise Agl1kError(f"No clip is left. {out / REPORT} tells why for each.")


def _write(curated: Curated, out: Path, name: str, copied: Callable[[], None] | None) -> None:
    out.mkdir(parents=True, exist_ok=True)
    _replace(out / MARK, _json({"agl1k_version": __version__, **curated.provenance}))
    before = _files_of(out / benchmarks.FOLDER_TABLE)
    names = {item.clip.key: _copy(item, out, copied) for item in curated.chosen}
    if names:
        _replace(out / benchmarks.FOLDER_TABLE, _csv([_clip_row(i, names) for i in curated.chosen]))
    else:
        (out / benchmarks.FOLDER_TABLE).unlink(missing_ok=True)
    for stale in before - {*names.values()}:
        (out / stale).unlink(missing_ok=True)
    if not (out / benchmarks.FOLDER_INFO).exists():
        _replace(out / benchmarks.FOLDER_INFO, _json(_info(curated, out, name)))
    _replace(out / TAGS, _tags(curated))
    _replace(out / REPORT, _csv(_report_rows(curated)))
    _replace(out / SUMMARY, summary_markdown(curated))


def _copy(item: Judged, out: Path, copied: Callable[[], None] | None) -> str:
    """Copy a recording unless it is there already; its name in the folder."""
    assert item.path
    source = item.path
    name = recording_name(replace(item.clip, file_name=source.name))
    target, part = out / name, out / f".{name}.part"
    there = target.is_file() and _stamp(target) == _stamp(source)
    if source.suffix.lower() not in SUFFIXES:
        made = audio.tag_free_copy(source, out / f".{name}.mp3")
        name = Path(name).with_suffix(made.suffix).name
        made.replace(out / name)
    elif not there:
        shutil.copy2(source, part)
        part.replace(target)
    if copied:
        copied()
    return name


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _files_of(table: Path) -> set[str]:
    """Recordings that an earlier run put here, by its table."""
    if not table.is_file():
        return set()
    with table.open(encoding="utf-8", newline="") as file:
        names = {row.get("file") or "" for row in csv.DictReader(file)}
    return {name for name in names if name and "/" not in name and not name.startswith(".")}


def _clip_row(item: Judged, names: Mapping[str, str]) -> dict[str, Any]:
    clip = item.clip
    return {
        "key": clip.key,
        "latitude": clip.lat,
        "longitude": clip.lon,
        "file": names[clip.key],
        "city": clip.city,
        "country": clip.country,
        "continent": clip.continent,
        "title": clip.title,
        "description": clip.description,
        "duration_s": analysis_rows.number(clip.duration_s),
        **{name: analysis_rows.number(clip.classes.get(name)) for name in CLASSES},
    }


def _report_rows(curated: Curated) -> list[dict[str, Any]]:
    rows = [_report_row(item, curated) for item in curated.judged]
    empty = dict.fromkeys(rows[0], "") if rows else {}
    detail = "No line of the table is about this recording."
    about = {"decision": "out", "reason": str(Reason.NO_LINE), "detail": detail}
    for path in curated.collection.unlisted:
        name = path.relative_to(curated.collection.folder).as_posix()
        rows.append({**empty, **about, "file": name})
    return rows


def _report_row(item: Judged, curated: Curated) -> dict[str, Any]:
    clip, analysis, folder = item.clip, item.analysis, curated.collection.folder
    recorded = curated.collection.recorded.get(clip.key)
    return {
        "key": clip.key,
        "file": item.path.relative_to(folder).as_posix() if item.path else clip.file_name,
        "decision": "in" if item.verdict.is_in else "out",
        "reason": str(item.verdict.reason),
        "detail": item.verdict.detail,
        "outcome": analysis.outcome,
        "notes": " ".join(analysis.notes),
        "latitude": clip.lat,
        "longitude": clip.lon,
        "city": clip.city,
        "country": clip.country,
        "continent": clip.continent,
        "recorded": recorded.isoformat() if recorded else "",
        "duration_s": analysis_rows.number(analysis.duration_s),
        "localizability": analysis_rows.number(item.localizability),
        **{name: analysis_rows.number(analysis.measures.get(name)) for name in _MEASURES},
        **{name: analysis_rows.number(clip.classes.get(name)) for name in CLASSES},
        "tags": analysis_rows.top_tags(analysis),
        "sound_sha256": analysis.sound_sha256 or analysis.file_sha256,
    }


def _tags(curated: Curated) -> str:
    """What sounds in each clip that is in, and its localizability; see ``folder_tags``."""
    clips = {
        item.clip.key: ClipTags(item.analysis.tags.get("presence", {}), item.localizability)
        for item in curated.chosen
    }
    model = curated.provenance["localizability"]
    about = model and {
        "theta": model["theta"],
        "data_sha256": model["provenance"].get("data_sha256"),
    }
    return tags_json(clips, curated.provenance["tagger"], about)


def _info(curated: Curated, out: Path, name: str) -> dict[str, str]:
    """``benchmark.json`` of a new benchmark; one that is there already is a person's, and stays."""
    name = name or out.resolve().name
    slug = places.fold(name).replace(" ", "-")
    if slug in ("demo", benchmarks.PUBLISHED_SLUG):
        slug = f"{slug}-curated"
    source = curated.collection.folder / benchmarks.FOLDER_INFO
    about: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        about = json.loads(source.read_text("utf-8-sig"))
    kept = {field: str(about[field]) for field in ("notice", "licence") if about.get(field)}
    notice = {"notice": curated.collection.benchmark.notice}
    return {"slug": slug, "name": name, "version": "1", **notice, **kept}


# --- decisions -------------------------------------------------------------------------------


def read_decisions(out: Path) -> dict[str, str]:
    """Key -> ``keep`` or ``reject``, as a person decided; raises ``Agl1kError`` for other words."""
    path = out / REVIEW
    if not path.is_file():
        return {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        raise Agl1kError(f"{path} cannot be read: {error}.") from None
    odd = [row for row in rows if not row.get("key") or row.get("decision") not in (KEEP, REJECT)]
    if odd:
        raise Agl1kError(
            f"{path}: {len(odd)} lines decide nothing, such as {odd[0]}. "
            f"Write a key and {KEEP} or {REJECT}, or remove the line."
        )
    return {row["key"]: row["decision"] for row in rows}


def write_decisions(out: Path, decisions: Mapping[str, str]) -> None:
    """Keep a person's decisions; raises ``Agl1kError`` where the folder cannot be written."""
    rows = [{"key": key, "decision": decision} for key, decision in sorted(decisions.items())]
    try:
        _replace(out / REVIEW, _csv(rows) if rows else "key,decision\n")
    except OSError as error:
        raise Agl1kError(f"{out / REVIEW} cannot be written: {error.strerror}.") from None


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    if rows:
        analysis_rows.write_csv(text, rows)
    return text.getvalue()


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
