"""The curated benchmark as a folder: recordings and table, and why each clip is in or out.

``docs/benchmark-format.md`` describes ``clips.csv``, ``benchmark.json`` and the recordings. The
other files are ``report.csv`` (every clip and its verdict), ``summary.md``, ``curation.json``
(settings), ``tags.json`` (the sounds in each clip) and ``review.csv`` (a person's decisions).
Recordings are copied without their tags. Nothing depends on the time or the machine, so the same
run writes the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from agl1k_core import __version__, audio, benchmarks, places
from agl1k_core.audio import CopyKind, CopyNotWrittenError, StrippedCopy
from agl1k_core.benchmarks import (
    CLASSES,
    CREDITS,
    SUFFIXES,
    TAGS,
    ClipTags,
    recording_name,
    tags_json,
)
from agl1k_core.curation import analysis_rows
from agl1k_core.curation.collection import own_info, why_unlisted
from agl1k_core.curation.decisions import read_review
from agl1k_core.curation.pipeline import Curated, Judged
from agl1k_core.curation.selection import Reason, Verdict
from agl1k_core.curation.summary import summary_markdown
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import name_in, shown, written
from agl1k_core.files import write_atomically

MARK, REPORT, SUMMARY = "curation.json", "report.csv", "summary.md"
#: Times of copies begin on 2000-01-01; those of the recordings could help to place them.
_FIRST_TIME_S = 946_684_800
_MEASURES = (
    *("rms_energy", "rms_without_mean", "spectral_flatness", "clipping_ratio"),
    *("complexity_per_band", "level_variation_db"),
)


def check_output(out: Path, recordings: Path) -> None:
    """Raise ``Agl1kError`` unless ``out`` is new, empty, or was written by a curation."""
    if out.exists() and not out.is_dir():
        raise Agl1kError(f"{shown(out)} is not a folder. Choose a new folder.")
    if out.is_dir() and not (out / MARK).is_file() and any(out.iterdir()):
        raise Agl1kError(
            f"{shown(out)} contains files that curation did not write. Choose a new folder."
        )
    # not Path.resolve, which raises for links that lead to themselves
    if Path(os.path.realpath(out)).is_relative_to(os.path.realpath(recordings)):
        raise Agl1kError(
            f"{shown(out)} is inside the folder of raw recordings. Choose another folder."
        )


def write_folder(
    curated: Curated, out: Path, *, name: str = "", copied: Callable[[], None] | None = None
) -> Curated:
    """Write the folder of a benchmark, or update it.

    Parameters
    ----------
    curated
        The result of ``curate``.
    out
        The folder.
    name
        The name of a new benchmark. Default: the name of the folder.
    copied
        Called after each copied recording.

    Returns
    -------
    Curated
        The result, in which a clip is out if no copy of its recording could be made.

    Raises
    ------
    Agl1kError
        If ``check_output`` refuses the folder, a file cannot be written, or, after the report was
        written, no clip is left.
    """
    check_output(out, curated.collection.folder)
    try:
        done = _write(curated, out, name, copied)
    except OSError as error:
        raise Agl1kError(
            f"{shown(out)} cannot be written: {error.strerror}. Free some space, or choose another."
        ) from None
    if not done.chosen:
        raise Agl1kError(f"No clip is left. {shown(out / REPORT)} says why for each.")
    return done


def _write(curated: Curated, out: Path, name: str, copied: Callable[[], None] | None) -> Curated:
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / MARK, _json({"agl1k_version": __version__, **curated.provenance}))
    before = analysis_rows.recordings_in(out / benchmarks.FOLDER_TABLE)
    curated, copies = _copied(curated, out, copied)
    if copies:
        write_atomically(
            out / benchmarks.FOLDER_TABLE,
            analysis_rows.csv_text([_clip_row(i, copies) for i in curated.chosen]),
        )
    else:
        (out / benchmarks.FOLDER_TABLE).unlink(missing_ok=True)
    for stale in before - {copy.path.name for copy in copies.values()}:
        (out / stale).unlink(missing_ok=True)
    if not (out / benchmarks.FOLDER_INFO).exists():
        write_atomically(out / benchmarks.FOLDER_INFO, _json(_info(curated, out, name)))
    write_atomically(out / TAGS, _tags(curated))
    write_atomically(
        out / REPORT, analysis_rows.csv_text(_with_notes(_report_rows(curated, copies), out))
    )
    write_atomically(out / SUMMARY, summary_markdown(curated))
    return curated


def _copied(
    curated: Curated, out: Path, copied: Callable[[], None] | None
) -> tuple[Curated, dict[str, StrippedCopy]]:
    """Copy the recordings of the clips that are in; a clip without a copy is out."""
    copies: dict[str, StrippedCopy] = {}
    judged: list[Judged] = []
    for item in curated.judged:
        if item.verdict.is_in:
            try:
                copies[item.clip.key] = _copy(item, out)
            except CopyNotWrittenError:
                raise
            except Agl1kError as error:
                item = replace(item, verdict=Verdict(Reason.NOT_COPIED, str(error)))
            if copied:
                copied()
        judged.append(item)
    return replace(curated, judged=tuple(judged)), copies


def _copy(item: Judged, out: Path) -> StrippedCopy:
    """Copy a recording without its tags, unless an earlier run has done that."""
    assert item.path
    target = out / recording_name(replace(item.clip, file_name=""))
    for suffix, kind in product(SUFFIXES, CopyKind):
        path = target.with_suffix(suffix)
        if path.is_file() and path.stat().st_mtime_ns == _time_ns(item, kind):
            return StrippedCopy(path, kind)
    made = audio.stripped_copy(item.path, target)
    time_ns = _time_ns(item, made.kind)
    os.utime(made.path, ns=(time_ns, time_ns))
    return made


def _time_ns(item: Judged, kind: CopyKind) -> int:
    """The time that a copy gets: it tells a later run of which recording, and how, it was made."""
    of = int(item.analysis.file_sha256[:7], 16) * len(CopyKind) + [*CopyKind].index(kind)
    return (_FIRST_TIME_S + of) * 1_000_000_000


def _clip_row(item: Judged, copies: Mapping[str, StrippedCopy]) -> dict[str, Any]:
    clip = item.clip
    return {
        "key": clip.key,
        "latitude": clip.lat,
        "longitude": clip.lon,
        "file": copies[clip.key].path.name,
        "city": clip.city,
        "country": clip.country,
        "continent": clip.continent,
        "title": clip.title,
        "description": clip.description,
        **{name: getattr(clip, name) for name in CREDITS},
        "duration_s": analysis_rows.number(clip.duration_s),
        **{name: analysis_rows.number(clip.classes.get(name)) for name in CLASSES},
    }


def _report_rows(curated: Curated, copies: Mapping[str, StrippedCopy]) -> list[dict[str, Any]]:
    rows = [_report_row(item, curated, copies.get(item.clip.key)) for item in curated.judged]
    empty = dict.fromkeys(rows[0], "") if rows else {}
    for path in curated.collection.unlisted:
        reason, detail = why_unlisted(curated.collection, path)
        about = {"decision": "out", "reason": str(reason), "detail": detail}
        rows.append({**empty, **about, "file": name_in(curated.collection.folder, path)})
    return rows


def _with_notes(rows: list[dict[str, Any]], out: Path) -> list[dict[str, Any]]:
    """The rows of the report with what a person noted in review."""
    review = read_review(out)
    notes = {key: found.note for key, found in review.items()}
    return [{**row, "review_note": notes.get(row["key"], "")} for row in rows]


def _report_row(item: Judged, curated: Curated, copy: StrippedCopy | None) -> dict[str, Any]:
    clip, analysis = item.clip, item.analysis
    recorded = curated.collection.recorded.get(clip.key)
    return {
        "key": clip.key,
        "file": name_in(curated.collection.folder, item.path) if item.path else clip.file_name,
        "decision": "in" if item.verdict.is_in else "out",
        "reason": str(item.verdict.reason),
        "detail": item.verdict.detail,
        "copy": str(copy.kind) if copy else "",
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
        "copy_of": item.copy_of,
        "sound_sha256": analysis.sound_sha256 or analysis.file_sha256,
    }


def _tags(curated: Curated) -> str:
    """The text of ``tags.json``: the sounds in each selected clip, and its localizability."""
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
    """The content of ``benchmark.json`` for a new benchmark; an existing file is not changed."""
    name = name or written(Path(os.path.realpath(out)).name)
    slug = places.fold(name).replace(" ", "-")
    if slug in ("demo", benchmarks.PUBLISHED_SLUG):
        slug = f"{slug}-curated"
    about = own_info(curated.collection.folder)
    kept = {field: str(about[field]) for field in ("notice", "licence") if about.get(field)}
    notice = {"notice": curated.collection.benchmark.notice}
    return {"slug": slug, "name": name, "version": "1", **notice, **kept}


def _json(data: object) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
