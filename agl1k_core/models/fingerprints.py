"""Notices recordings that changed since they were asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError
from agl1k_core.files import sha256_of_file

_SHOWN = 5


def fingerprint(path: Path) -> list[Any]:
    """Size in bytes, time of the last change in ns, and SHA-256 of a file.

    Raises ``Agl1kError`` if it cannot be read.
    """
    try:
        stat = path.stat()
        return [stat.st_size, stat.st_mtime_ns, sha256_of_file(path)]
    except OSError as error:
        raise Agl1kError(f"The recording cannot be read: {error.strerror}.") from None


def refuse_changed(
    recordings: Mapping[str, Path | None], before: Mapping[str, Sequence[Any]]
) -> None:
    """Raise ``Agl1kError`` that names the clips whose recordings are not those of ``before``.

    Files with the same size and time are taken to be the same; others are hashed.
    """
    changed = list(_changed(recordings.items(), before))
    if changed:
        names = ", ".join(changed[:_SHOWN])
        more = f" and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        raise Agl1kError(
            f"The run cannot be resumed: the recordings of {len(changed)} clips that were asked "
            f"about have changed ({names}{more}). Restore them, or use another folder for a new "
            "run."
        )


def _changed(
    recordings: Iterable[tuple[str, Path | None]], before: Mapping[str, Sequence[Any]]
) -> Iterator[str]:
    for key, path in recordings:
        known = before.get(key)
        if not known or path is None or not path.is_file():
            continue
        stat = path.stat()
        if [stat.st_size, stat.st_mtime_ns] != list(known[:2]) and (
            stat.st_size != known[0] or sha256_of_file(path) != known[2]
        ):
            yield key
