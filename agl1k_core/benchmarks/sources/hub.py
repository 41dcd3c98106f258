"""Datasets of the Hugging Face Hub, or in its formats, brought into a folder of recordings.

``datasets`` streams the rows, so that memory does not grow with the dataset. Sound is not decoded:
its bytes become files, and the other columns a line of JSON each.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from tqdm import tqdm

from agl1k_core.benchmarks.model import Clip
from agl1k_core.benchmarks.out_of_play import OUT_OF_PLAY
from agl1k_core.benchmarks.recordings import AUDIO_SUFFIXES, recording_name
from agl1k_core.benchmarks.sources.columns import OURS, renamed_names
from agl1k_core.benchmarks.sources.documents import Document, Record
from agl1k_core.benchmarks.sources.readers import common
from agl1k_core.benchmarks.sources.values import is_nothing, text_of
from agl1k_core.benchmarks.tables import FOLDER_INFO
from agl1k_core.benchmarks.tags import TAGS
from agl1k_core.errors import Agl1kError, Problems
from agl1k_core.extras import Deferred
from agl1k_core.file_names import shown
from agl1k_core.files import json_lines, make_folder, replacing, write_atomically

if TYPE_CHECKING:
    import datasets
    import huggingface_hub
else:
    datasets = Deferred("datasets")
    huggingface_hub = Deferred("huggingface_hub")

#: Files of a benchmark folder that are read beside its table.
BESIDE = (FOLDER_INFO, OUT_OF_PLAY, TAGS)
_ROWS, _AUDIO = "rows.jsonl", "audio"
_OPTIONS = ("split", "config", "revision", "recordings")
#: Rows of Parquet in memory at once, each with its sound.
_BATCH = 8
_MAGIC = {b"RIFF": ".wav", b"fLaC": ".flac", b"OggS": ".ogg", b"ID3": ".mp3", b"\xff": ".mp3"}
#: Values of a card's licence that are none.
_NO_LICENCE = ("unknown", "other")


@dataclass(frozen=True, slots=True)
class DatasetName:
    """A dataset and what is wanted of it.

    Attributes
    ----------
    name
        ``OWNER/NAME``, or the path of a folder or a Parquet file.
    split, config, revision
        Which part and version; empty for the only one, or ``test``, and the newest.
    recordings
        Whether its sound is wanted.
    columns
        Their names of columns by ours.
    """

    name: str
    split: str = ""
    config: str = ""
    revision: str = ""
    recordings: bool = True
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path | None:
        """Where it is on this machine, if it is."""
        path = Path(self.name)
        return path if path.exists() else None

    @property
    def last(self) -> str:
        """Its name without the owner."""
        path = self.path
        return path.resolve().stem if path else self.name.rpartition("/")[2]


def dataset_name(text: str, columns: Mapping[str, str] | None = None) -> DatasetName:
    """What is wanted, from ``OWNER/NAME?split=test&latitude=lat``.

    Raises ``Agl1kError`` for an option that does not exist.

    Examples
    --------
    >>> found = dataset_name("ada/birds?split=test&latitude=lat&recordings=no")
    >>> found.name, found.split, found.columns, found.recordings
    ('ada/birds', 'test', {'latitude': 'lat'}, False)
    """
    name, _, query = text.partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = [option for option in options if option not in (*_OPTIONS, *OURS)]
    if unknown or options.get("recordings", "yes") not in ("yes", "no"):
        wrong = ", ".join(map(shown, unknown)) or f"recordings={shown(options['recordings'])}"
        raise Agl1kError(
            f"{wrong} is no option of a dataset. After '?', give split=, config=, revision=, "
            "recordings=no, or our columns by theirs, such as latitude=lat, joined by '&'."
        )
    return DatasetName(
        name,
        options.get("split", ""),
        options.get("config", ""),
        options.get("revision", ""),
        options.get("recordings") != "no",
        {ours: theirs for ours, theirs in options.items() if ours in OURS} | dict(columns or {}),
    )


def read_dataset(wanted: DatasetName, data_dir: Path) -> tuple[Document, Path]:
    """The rows of a dataset, and the folder of its recordings.

    They are brought once, and again if the dataset has changed.

    Parameters
    ----------
    wanted
        Which dataset.
    data_dir
        Where they are kept, in a folder ``datasets``.

    Raises
    ------
    Agl1kError
        If there is no such dataset, or it cannot be read; the message says why.
    """
    datasets.disable_progress_bars()
    state = _state(wanted)
    digest = hashlib.sha256(repr((wanted, state)).encode()).hexdigest()[:16]
    folder = data_dir / "datasets" / f"{wanted.last}-{digest}"
    if not (folder / _ROWS).is_file():
        _bring(wanted, state, folder)
    rows = json_lines(folder / _ROWS)
    records = [Record(row, number=number) for number, row in enumerate(rows, 1)]
    return Document(folder / _ROWS, tuple(records), Problems(shown(wanted.name))), folder / _AUDIO


def _state(wanted: DatasetName) -> str:
    """The commit of a dataset on the Hub; names, sizes and times of its files on this machine."""
    path = wanted.path
    if path is None:
        return _commit(wanted)
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    stats = [
        (str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in files if one.is_file()
    ]
    return repr(stats)


def _commit(wanted: DatasetName) -> str:
    if len(wanted.revision) == 40:
        return wanted.revision
    try:
        about = huggingface_hub.HfApi().dataset_info(wanted.name, revision=wanted.revision or None)
    except Agl1kError:
        raise
    except Exception as error:  # of many kinds: no such dataset, no access, no network
        raise _failure(wanted, error) from None
    return str(about.sha)


def _failure(wanted: DatasetName, error: Exception) -> Agl1kError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # huggingface_hub says what is missing after a line with the status
    telling = [line for line in lines if not re.match(r"\d{3} \w+ Error", line)]
    said = (telling or lines or [type(error).__name__])[0].partition(" for url")[0][:300]
    return Agl1kError(
        f"The dataset {shown(wanted.name)} cannot be read: {shown(said).rstrip('.')}. Check its "
        "name and options, the network, and your access (hf auth login)."
    )


def _bring(wanted: DatasetName, state: str, folder: Path) -> None:
    """Write the rows, and the recordings one by one; the rows come last, when all is there."""
    make_folder(folder / _AUDIO)
    try:
        own = _bring_beside(wanted, state, folder / _AUDIO)
        licence = "" if own else _licence(wanted)
        with replacing(folder / _ROWS) as part, part.open("w", encoding="utf-8") as file:
            for row in _rows(wanted, state):
                fields = _brought(row, wanted, folder / _AUDIO, own)
                if licence and is_nothing(common(Record(fields))["licence"]):
                    fields["licence"] = licence
                file.write(json.dumps(fields, default=str) + "\n")
    except Agl1kError:
        raise
    except Exception as error:  # also of the libraries that datasets uses
        raise _failure(wanted, error) from None
    finally:
        with suppress(OSError):  # they are not empty
            (folder / _AUDIO).rmdir()
            folder.rmdir()


def _bring_beside(wanted: DatasetName, state: str, folder: Path) -> bool:
    """Bring the files of a benchmark folder that are beside its table; whether it is one."""
    for name in BESIDE:
        content = _file_of(wanted, state, name)
        if content is not None:
            write_atomically(folder / name, content)
    return (folder / FOLDER_INFO).is_file()


def _file_of(wanted: DatasetName, state: str, name: str) -> bytes | None:
    if wanted.path:
        beside = wanted.path / name
        return beside.read_bytes() if beside.is_file() else None
    try:
        path = huggingface_hub.hf_hub_download(
            wanted.name, name, repo_type="dataset", revision=state
        )
    except huggingface_hub.errors.EntryNotFoundError:
        return None
    return Path(path).read_bytes()


def _licence(wanted: DatasetName) -> str:
    """The licence on the dataset's card, for rows without one of their own; empty if none is."""
    card = wanted.path / "README.md" if wanted.path else wanted.name
    if isinstance(card, Path) and not card.is_file():
        return ""
    try:
        found = huggingface_hub.DatasetCard.load(card).data.license
    except Exception:  # no card, or one that is no YAML
        return ""
    names = [str(name) for name in (found if isinstance(found, list) else [found]) if name]
    known = [name for name in names if name not in _NO_LICENCE]
    return ", ".join(name.upper() if name.startswith("cc") else name for name in known)


# --- rows ----------------------------------------------------------------------------------------


def _rows(wanted: DatasetName, state: str) -> Iterator[dict[str, Any]]:
    """The rows, with sound as bytes; columns in lower case, renamed as wanted."""
    stream = _stream(wanted, state)
    names: dict[str, str] | None = None
    for number, row in enumerate(tqdm(stream, unit="row", disable=None), 1):
        lower = {name.casefold(): value for name, value in row.items()}
        names = renamed_names(lower, wanted.columns) if names is None else names
        yield {names.get(name, name): value for name, value in lower.items()} | {"row": number}


def _stream(wanted: DatasetName, state: str) -> Any:
    builder = _builder(wanted, state)
    if hasattr(builder.config, "batch_size"):
        builder.config.batch_size = _BATCH
    if getattr(builder, "BASE_FEATURE", None) is datasets.Audio:
        builder.BASE_FEATURE = _audio_as_path()
    splits = builder.as_streaming_dataset()
    stream = splits[_split(wanted, list(splits))]
    return stream.decode(False) if stream.features else stream


def _audio_as_path() -> type:
    """The feature ``Audio`` for the files of an audiofolder, without the torchcodec it asks for."""

    class AudioAsPath(datasets.Audio):  # type: ignore[misc]
        def encode_example(self, value: str) -> dict[str, Any]:
            return {"bytes": None, "path": value}

    return AudioAsPath


def _builder(wanted: DatasetName, state: str) -> Any:
    path, config = wanted.path, wanted.config or None
    if path is None:
        return datasets.load_dataset_builder(wanted.name, config, revision=state)
    if path.is_dir():
        return datasets.load_dataset_builder(str(path), config)
    return datasets.load_dataset_builder("parquet", data_files={"test": str(path)})


def _split(wanted: DatasetName, splits: list[str]) -> str:
    """The split that is wanted: the named one, the only one, or the test split."""
    chosen = wanted.split or (splits[0] if len(splits) == 1 else "test")
    if chosen not in splits:
        raise Agl1kError(
            f"The dataset {shown(wanted.name)} has no split '{shown(chosen)}'. Choose one with "
            f"hub:{shown(wanted.name)}?split=NAME: {', '.join(map(shown, splits))}."
        )
    return chosen


# --- recordings ----------------------------------------------------------------------------------


class _Sound(NamedTuple):
    """Sound in a row: its bytes, or where they are, and the name of the file it was."""

    content: bytes | None
    path: str


def _brought(row: dict[str, Any], wanted: DatasetName, folder: Path, own: bool) -> dict[str, Any]:
    """The fields of a row, with the name of its recording, which is written to ``folder``.

    ``own``: the dataset is a benchmark folder, whose column ``file`` stays as it is.
    """
    number = row.pop("row")
    sounds = {name: _sound_of(value) for name, value in row.items()}
    fields = {name: _plain(value) for name, value in row.items() if sounds[name] is None}
    sound = next((one for _, one in sorted(sounds.items(), key=_in_order) if one), None)
    if sound:
        name = _name_in_dataset(sound.path, wanted)
        fields["file"] = (own and text_of(fields.get("file"))) or name
    fields["key"] = text_of(common(Record(fields))["key"]) or f"row-{number:06}"
    if sound and wanted.recordings:
        _write(sound, fields, wanted, folder)
    return fields


def _in_order(named: tuple[str, _Sound | None]) -> tuple[bool, str]:
    """A column that was named ``file`` first, then ``audio``."""
    name = named[0]
    return name != "file", "" if name == "audio" else name


def _sound_of(value: Any) -> _Sound | None:
    if isinstance(value, bytes):
        return _Sound(value, "")
    if isinstance(value, dict) and {"bytes", "path"} & {*value} and {*value} <= {"bytes", "path"}:
        return _Sound(value.get("bytes"), value.get("path") or "")
    return None


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _name_in_dataset(path: str, wanted: DatasetName) -> str:
    """The path of a file within its dataset; its name, if it says no more."""
    for mark in (f"hf://datasets/{wanted.name}@", f"{wanted.path and wanted.path.resolve()}/"):
        before, found, rest = path.partition(mark)
        if found and not before:
            return rest.partition("/")[2] if mark.startswith("hf:") else rest
    return PurePosixPath(path.replace("\\", "/")).name


def _write(sound: _Sound, fields: dict[str, Any], wanted: DatasetName, folder: Path) -> None:
    content = sound.content or _content_at(sound.path, wanted)
    if not content:
        fields["file"] = ""
        return
    if PurePosixPath(str(fields["file"])).suffix.lower() not in AUDIO_SUFFIXES:
        fields["file"] = f"{fields['file'] or fields['key']}{_suffix(content)}"
    clip = Clip(fields["key"], 0, 0, file_name=fields["file"])
    write_atomically(folder / recording_name(clip), content)


def _suffix(content: bytes) -> str:
    """The suffix that the first bytes of a recording call for."""
    if content[4:8] == b"ftyp":
        return ".m4a"
    return next((suffix for mark, suffix in _MAGIC.items() if content.startswith(mark)), ".mka")


def _content_at(path: str, wanted: DatasetName) -> bytes:
    """The bytes of a file of the dataset; none of a file elsewhere, whatever a row says."""
    if wanted.path is None:
        inside = path.rpartition("::")[2].startswith(f"hf://datasets/{wanted.name}@")
        return _remote(path) if inside else b""
    file, folder = Path(path).resolve(), wanted.path.resolve()
    return file.read_bytes() if file.is_relative_to(folder) and file.is_file() else b""


def _remote(path: str) -> bytes:
    from datasets.utils.file_utils import xopen

    with xopen(path, "rb") as file:
        content: bytes = file.read()
    return content
