"""The process of ``shelter``: reads requests from its input, decodes, and writes answers.

Each is a line of JSON. The process ends if nothing is asked for a while, or if the process that
asks has ended.
"""

from __future__ import annotations

import json
import os
import resource
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agl1k_core.audio import copies, decode, metadata
from agl1k_core.errors import Agl1kError

_IDLE_S = 60.0
_MAX_BYTES = 3 << 30


def main() -> None:
    """Answer requests until there are no more."""
    _limit_memory()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries may print
    for line in _lines():
        answers.write(json.dumps(_answer(json.loads(line))).encode() + b"\n")
        answers.flush()


def _limit_memory() -> None:
    with suppress(ValueError, OSError):  # a lower limit is set already
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_BYTES, _MAX_BYTES))
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _lines() -> Iterator[bytes]:
    while select.select([sys.stdin], [], [], _IDLE_S)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            return
        yield line


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": _RESULTS[request.pop("do")](**request)}
    except Agl1kError as error:
        return {"problem": str(error)}
    except MemoryError:
        return {"problem": "Decoding this file takes too much memory. Convert or shorten it."}
    except Exception as error:
        return {"bug": f"{type(error).__name__}: {error}"}


def _check_beginning(path: str) -> None:
    decode.check_beginning(Path(path))


def _served_copy(source: str, target: str) -> str:
    return str(copies.served_copy(Path(source), Path(target)))


def _outline(path: str, n: int) -> tuple[dict[str, Any], list[float]]:
    info, peaks = decode.outline(Path(path), n)
    return asdict(info), peaks


def _written_tags(path: str) -> dict[str, str]:
    return metadata.written_tags(Path(path))


_RESULTS: dict[str, Callable[..., Any]] = {
    "check_beginning": _check_beginning,
    "served_copy": _served_copy,
    "outline": _outline,
    "written_tags": _written_tags,
}

if __name__ == "__main__":
    main()
