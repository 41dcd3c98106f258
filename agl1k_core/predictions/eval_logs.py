"""The container of Inspect's logs, ``.eval``: a ZIP archive with one JSON file per sample.

Inspect packs them with Zstandard (method 93), which ``zipfile`` cannot read before Python 3.14.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence

from agl1k_core.extras import need
from agl1k_core.inputs import UnreadableFileError

_SAMPLE = re.compile(r"samples/[^/]+\.json")
_HEADERS = ("header.json", "_journal/start.json")
#: What a record of a log is read from; samples also repeat every recording that was sent.
_FIELDS = ("id", "epoch", "output", "error")
_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")
#: All samples together may grow to this size, or to so many times the log's own.
_LEAST_LIMIT, _TIMES = 2**28, 20
_DAMAGED = UnreadableFileError("The log of Inspect is damaged", "Write it again, or copy it again")


def eval_samples(data: bytes, max_bytes: int) -> list[object] | None:
    """The samples of an ``.eval`` log as records; None for anything else.

    Raises
    ------
    UnreadableFileError
        If it has no samples, is damaged, or a sample has more than ``max_bytes``.
    Agl1kError
        If it is packed with Zstandard, and pyarrow, which unpacks that, is not installed.
    """
    if not data.startswith(b"PK\x03\x04"):
        return None
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        return None
    entries = archive.infolist()
    if not {*_HEADERS} & {entry.filename for entry in entries}:
        return None
    samples = [entry for entry in entries if _SAMPLE.fullmatch(entry.filename)]
    if not samples:
        raise UnreadableFileError("The log of Inspect has no samples", "Run the evaluation again")
    return _read(data, archive, samples, max_bytes)


def _read(
    data: bytes, archive: zipfile.ZipFile, samples: Sequence[zipfile.ZipInfo], max_bytes: int
) -> list[object]:
    left = max(_LEAST_LIMIT, _TIMES * len(data))
    records: list[object] = []
    for entry in samples:
        most = min(left, max_bytes)
        content = _content(data, archive, entry, most)
        left -= len(content)
        if len(content) > most:
            raise UnreadableFileError("The log of Inspect is too large", "Send it without sound")
        records.append(_record(content))
    return records


def _content(data: bytes, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes:
    """The content of an entry, but at most one byte more than ``most``."""
    try:
        if entry.compress_type != _ZSTANDARD:
            with archive.open(entry) as file:
                return file.read(most + 1)
        packed = _packed(data, entry)
    except (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, OSError, EOFError):
        raise _DAMAGED from None
    arrow = need("pyarrow")
    try:
        with arrow.CompressedInputStream(arrow.BufferReader(packed), "zstd") as stream:
            return bytes(stream.read(most + 1))
    except OSError:
        raise _DAMAGED from None


def _packed(data: bytes, entry: zipfile.ZipInfo) -> bytes:
    """The packed bytes of an entry, which follow its local header."""
    signature, n_name, n_extra = _LOCAL_HEADER.unpack_from(data, entry.header_offset)
    if signature != b"PK\x03\x04":
        raise _DAMAGED
    start = entry.header_offset + _LOCAL_HEADER.size + n_name + n_extra
    return data[start : start + entry.compress_size]


def _record(content: bytes) -> dict[str, object]:
    try:
        sample = json.loads(content)
    except (ValueError, RecursionError):
        raise _DAMAGED from None
    if not isinstance(sample, dict):
        raise _DAMAGED
    return {name: sample.get(name) for name in _FIELDS}
