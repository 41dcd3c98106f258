"""A benchmark as a dataset that others load, play and score on.

Recordings are copied without their tags. ``docs/build.md`` says what is in the folder; nothing in
it depends on the time or the machine.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agl1k_core import audio, benchmarks, extras
from agl1k_core.audio import CopyNotWrittenError
from agl1k_core.benchmarks import FOLDER_INFO, OUT_OF_PLAY, TAGS, Benchmark, Clip
from agl1k_core.curation import analysis_rows
from agl1k_core.curation.collection import licence_refusal, own_info
from agl1k_core.curation.dataset_card import MAP, dataset_card, points_map
from agl1k_core.curation.dataset_files import LAYOUTS, RowWriter, row_writer
from agl1k_core.curation.dataset_rows import check_placeless, columns_of, in_no_order, row_of
from agl1k_core.curation.pushing import CARD
from agl1k_core.errors import Agl1kError
from agl1k_core.file_names import shown
from agl1k_core.files import make_folder, write_atomically

_NO_RECORDING = "It has no recording."


@dataclass(frozen=True)
class Exported:
    """A dataset that was written.

    Attributes
    ----------
    benchmark
        The clips in it.
    left_out
        Why clips are not in it, by key.
    silent
        Why clips are in it without sound, by key.
    """

    benchmark: Benchmark
    left_out: Mapping[str, str]
    silent: Mapping[str, str]


def export_dataset(
    benchmark: Benchmark,
    out: Path,
    *,
    layout: str = "parquet",
    with_truth: bool = True,
    name: str = "",
    copied: Callable[[], None] | None = None,
) -> Exported:
    """Write a benchmark as a dataset.

    Parameters
    ----------
    benchmark
        The benchmark.
    out
        A new or empty folder. It is written whole or not at all.
    layout
        One of ``LAYOUTS``: "parquet" or "audiofolder" for ``datasets``, "folder" for a benchmark
        folder.
    with_truth
        Whether the places are in it. Without them, it is the public copy of a sealed benchmark.
    name
        The dataset on the Hub, OWNER/NAME, for its card. Default: the name of the folder.
    copied
        Called after each clip.

    Raises
    ------
    FileRefusedError
        If places are to be secret, and keys or authors tell them.
    Agl1kError
        If the benchmark is sealed and its places would be written, there is nothing to write, or
        the folder cannot be written.
    """
    _check(out, benchmark, layout)
    if with_truth and benchmark.sealed:
        raise Agl1kError(f"{benchmark.name} is sealed: its places are secret. Add --without-truth.")
    refusals = {clip.key: licence_refusal(clip) for clip in benchmark.clips}
    left_out = {key: refusal for key, refusal in refusals.items() if refusal}
    clips = [clip for clip in benchmark.clips if clip.key not in left_out]
    if not clips:
        raise Agl1kError("No clip may be given away: the licences of all forbid it.")
    if not with_truth:
        check_placeless(clips, benchmark.name)
        clips = in_no_order(clips)
    kept = replace(benchmark, clips=tuple(clips))
    try:
        with _new_folder(out) as folder:
            silent = _write_rows(kept, folder, layout, with_truth, copied)
            done = Exported(kept, left_out, silent)
            _write_beside(done, folder, with_truth)
            if layout != "folder":
                _write_card(done, folder, name or out.name, with_truth)
    except OSError as error:
        raise Agl1kError(f"{shown(out)} cannot be written: {error.strerror}.") from None
    return done


def _check(out: Path, benchmark: Benchmark, layout: str) -> None:
    if layout not in LAYOUTS:
        raise Agl1kError(f"There is no format '{layout}'. Choose from: {', '.join(LAYOUTS)}.")
    extras.check("av")
    if layout == "parquet":
        extras.check("pyarrow")
    if os.path.lexists(out) and not (out.is_dir() and not any(out.iterdir())):
        raise Agl1kError(f"{shown(out)} is there already. Choose a new or an empty folder.")
    source = benchmark.audio_dir
    # not Path.resolve, which raises for links that lead to themselves
    if source and Path(os.path.realpath(out)).is_relative_to(os.path.realpath(source)):
        raise Agl1kError(f"{shown(out)} is inside the benchmark's folder. Choose another folder.")


@contextmanager
def _new_folder(out: Path) -> Iterator[Path]:
    """A folder that becomes ``out`` when the block ends, and is removed if the block raises."""
    make_folder(out.absolute().parent)
    part = out.with_name(f".{secrets.token_hex(8)}.part")
    try:
        part.mkdir()
        yield part
        if out.is_dir():
            out.rmdir()
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _write_rows(
    benchmark: Benchmark,
    folder: Path,
    layout: str,
    with_truth: bool,
    copied: Callable[[], None] | None,
) -> dict[str, str]:
    """Write the table and the recordings; returns why clips have no sound, by key."""
    silent: dict[str, str] = {}
    columns = columns_of(benchmark.clips, with_truth=with_truth)
    copies = folder / ".copies"
    copies.mkdir()
    with row_writer(layout, folder, columns) as writer:
        for clip in benchmark.clips:
            problem = _write_row(writer, benchmark, clip, copies, with_truth)
            silent |= {clip.key: problem} if problem else {}
            if copied:
                copied()
    copies.rmdir()
    return silent


def _write_row(
    writer: RowWriter, benchmark: Benchmark, clip: Clip, copies: Path, with_truth: bool
) -> str:
    """Write a clip; returns why it has no sound, or nothing."""
    copy, problem = _copy(benchmark, clip, copies)
    row = row_of(clip)
    if not with_truth:
        row["file"] = copy.name if copy else None
    writer.add(row, copy)
    return problem


def _copy(benchmark: Benchmark, clip: Clip, folder: Path) -> tuple[Path | None, str]:
    """A copy of a clip's recording without tags; else why there is none."""
    source = benchmark.audio_dir
    found = benchmarks.find_recording(benchmark, clip, source) if source else None
    if found is None:
        return None, _NO_RECORDING
    target = folder / benchmarks.recording_name(replace(clip, file_name=""))
    try:
        return audio.stripped_copy(found, target).path, ""
    except CopyNotWrittenError:
        raise
    except Agl1kError as error:
        return None, str(error)


# --- beside the table ----------------------------------------------------------------------------


def _write_beside(done: Exported, folder: Path, with_truth: bool) -> None:
    """Write ``benchmark.json``, and with places also what the game needs to know."""
    benchmark = done.benchmark
    _write_json(folder / FOLDER_INFO, _info(benchmark, with_truth))
    if not with_truth:
        return
    reasons = benchmark.out_of_play
    listed = [
        {"key": clip.key, "project": "", "reason": reasons[clip.key]}
        for clip in benchmark.clips
        if clip.key in reasons
    ]
    if listed:
        write_atomically(folder / OUT_OF_PLAY, analysis_rows.csv_text(listed))
    if benchmarks.read_tags(benchmark.audio_dir).clips and benchmark.audio_dir:
        tags = json.loads((benchmark.audio_dir / TAGS).read_text("utf-8-sig"))
        tags["clips"] = {key: told for key, told in tags["clips"].items() if key in benchmark}
        _write_json(folder / TAGS, tags)


def _info(benchmark: Benchmark, with_truth: bool) -> dict[str, Any]:
    """The content of ``benchmark.json``; a notice may tell places."""
    info: dict[str, Any] = {
        "slug": benchmark.slug,
        "name": benchmark.name,
        "version": benchmark.version,
    }
    if licence := _licence_of(benchmark):
        info["licence"] = licence
    if not with_truth:
        return {**info, "sealed": True}
    if benchmark.notice:
        info["notice"] = benchmark.notice
    return {**info, "titles": "show"} if benchmark.shows_titles else info


def _licence_of(benchmark: Benchmark) -> str:
    """The licence in the benchmark's own ``benchmark.json``; empty if there is none."""
    folder = benchmark.audio_dir
    return str(own_info(folder).get("licence") or "") if folder else ""


def _write_card(done: Exported, folder: Path, name: str, with_truth: bool) -> None:
    licence = _licence_of(done.benchmark)
    card = dataset_card(
        done.benchmark,
        name,
        licence=licence,
        parquet=(folder / "data").is_dir(),
        with_truth=with_truth,
        n_left_out=len(done.left_out),
        n_silent=len(done.silent),
    )
    write_atomically(folder / CARD, card)
    if with_truth:
        write_atomically(folder / MAP, points_map(done.benchmark))


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
