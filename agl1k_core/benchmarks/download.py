"""Downloads one address into one file: resumed, retried, verified, and complete or absent.

Range and If-Range as in RFC 9110, sections 13 and 14; Repr-Digest and Content-Digest as in RFC
9530, Digest as in RFC 3230, Content-MD5 as in RFC 2616. Messages name the host and what it
answered, never the path: names of recordings contain the place.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from agl1k_core.errors import Agl1kError
from agl1k_core.http import (
    RETRIED_STATUSES,
    Patience,
    TransientError,
    host_of,
    network_errors,
    retry_after_s,
    retrying,
    timely,
)

_ALGORITHMS = {"md5": "md5", "sha": "sha1", "sha-1": "sha1", "sha1": "sha1", "sha-256": "sha256",
               "sha-512": "sha512"}  # fmt: skip
_STRONGEST_FIRST = ("sha512", "sha256", "sha1", "md5")


@dataclass(frozen=True, slots=True)
class Source:
    """An address, and what is known about the file there.

    ``checksums`` maps ``md5``, ``sha1``, ``sha256``, ``sha512`` to hex digests; ``check`` raises
    ``Agl1kError`` if the downloaded file is not the expected one.
    """

    url: str
    max_bytes: int
    checksums: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Path], object] | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """A downloaded file; ``verified_by`` names the strongest digest it matched, or is empty."""

    n_bytes: int
    verified_by: str = ""


class UnreachableError(Agl1kError):
    """No connection to the host; its other files cannot be fetched either."""


class FolderError(Agl1kError):
    """The folder cannot be written to, so no other file can be stored there either."""


def download(
    http: httpx.Client,
    source: Source,
    target: Path,
    *,
    patience: Patience,
    stop: threading.Event | None = None,
) -> Received:
    """Fetch ``source`` into ``target``, resuming a partial download in ``<target>.part``.

    ``stop`` ends it at the next chunk. Raises ``Agl1kError``; ``FolderError`` and
    ``UnreachableError`` if other files would fail as well.
    """
    host = host_of(source.url)
    stop = stop or threading.Event()
    try:
        return retrying(patience, stop)(_attempt, http, source, target, patience, stop)
    except TransientError as error:
        kind = UnreachableError if error.unreachable else Agl1kError
        raise kind(f"{host} was tried {patience.tries} and {error}. Try again later.") from None


def _attempt(
    http: httpx.Client, source: Source, target: Path, patience: Patience, stop: threading.Event
) -> Received:
    _refuse_stopped(stop)
    part = _Part(target)
    headers = {"Accept-Encoding": "identity", **part.range_headers()}
    with network_errors(), http.stream("GET", source.url, headers=headers) as answer:
        _refuse_status(answer, part, patience)
        digests = _digests_of(answer)
        part.start(answer)
        _receive(answer, part, source.max_bytes, patience, stop)
    verified_by = _verify(part, {**digests, **source.checksums}, source.check)
    return Received(part.finish(), verified_by)


def _refuse_status(answer: httpx.Response, part: _Part, patience: Patience) -> None:
    """Raise unless the answer contains the file, or the rest of it after ``part``."""
    status = answer.status_code
    if status == 200 or (status == 206 and part.continues_with(answer)):
        return
    answered = f"answered {status} {answer.reason_phrase}".strip()
    if status in (206, 416):
        part.discard()
        raise TransientError(f"{answered} with a part that was not requested", retry_after_s=0)
    if status not in RETRIED_STATUSES:
        raise Agl1kError(f"{answer.url.host} {answered}. The file is not available there.")
    wait_s = retry_after_s(answer)
    if wait_s is not None and wait_s > patience.longest_wait_s:
        raise Agl1kError(
            f"{answer.url.host} {answered} and asks to wait {wait_s:.0f} s. Try again after that."
        )
    raise TransientError(answered, retry_after_s=wait_s)


def _receive(
    answer: httpx.Response,
    part: _Part,
    max_bytes: int,
    patience: Patience,
    stop: threading.Event,
) -> None:
    too_large = Agl1kError(
        f"The file is larger than {max_bytes / 1e6:.0f} MB, so it was not fetched."
    )
    length = answer.headers.get("Content-Length", "")
    if length.isdecimal() and part.n_bytes() + int(length) > max_bytes:
        part.discard()
        raise too_large
    with _disk_errors(), part.path.open("ab") as file:
        for chunk in timely(answer.iter_raw(), patience):
            file.write(chunk)
            if file.tell() > max_bytes:
                part.discard()
                raise too_large
            _refuse_stopped(stop)


def _refuse_stopped(stop: threading.Event) -> None:
    if stop.is_set():
        raise Agl1kError("Stopped. The part that has arrived is kept; the next run resumes it.")


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FolderError(
            f"The folder cannot be written to: {error.strerror}. Free some space or choose another "
            "folder; the part that has arrived is kept."
        ) from None


def _digests_of(answer: httpx.Response) -> dict[str, str]:
    """Digests of the whole file in the answer's header: algorithm and hex."""
    fields = ["Digest", "Repr-Digest"] + ["Content-Digest"] * (answer.status_code == 200)
    pairs = [
        pair.split("=", 1)
        for name in fields
        for pair in answer.headers.get(name, "").split(",")
        if "=" in pair
    ]
    if answer.status_code == 200 and "Content-MD5" in answer.headers:
        pairs.append(["md5", answer.headers["Content-MD5"]])
    digests = {}
    for name, value in pairs:
        algorithm = _ALGORITHMS.get(name.strip().lower())
        try:
            digest = base64.b64decode(value.strip().strip(":"), validate=True)
        except binascii.Error:
            continue
        if algorithm and len(digest) == hashlib.new(algorithm).digest_size:
            digests[algorithm] = digest.hex()
    return digests


def _verify(part: _Part, digests: Mapping[str, str], check: Callable[[Path], object] | None) -> str:
    """Compare with the strongest digest, then ``check``; a file that fails is discarded."""
    algorithm = next((name for name in _STRONGEST_FIRST if name in digests), "")
    try:
        if algorithm and part.digest(algorithm) != digests[algorithm].lower():
            raise TransientError(f"sent a file whose {algorithm.upper()} is not the announced one")
        if check:
            check(part.path)
    except Agl1kError as error:
        part.discard()
        raise TransientError(f"sent an unusable file ({error})") from None
    except TransientError:
        part.discard()
        raise
    return algorithm


class _Part:
    """The incomplete file ``<target>.part`` and, beside it, the version that it belongs to."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self._version = target.with_name(f"{target.name}.part.version")

    def n_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def range_headers(self) -> dict[str, str]:
        """Headers that ask for the rest, if its version is known."""
        version = self._version.read_text("latin-1") if self._version.exists() else ""
        if not (version and self.n_bytes()):
            return {}
        return {"Range": f"bytes={self.n_bytes()}-", "If-Range": version}

    def continues_with(self, answer: httpx.Response) -> bool:
        """Whether the answer is the rest of the same version: some servers ignore If-Range."""
        found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
        version = self._version.read_text("latin-1") if self._version.exists() else ""
        versions = [
            answer.headers[name] for name in ("ETag", "Last-Modified") if name in answer.headers
        ]
        same = not versions or version in versions
        return found is not None and int(found[1]) == self.n_bytes() and same

    def start(self, answer: httpx.Response) -> None:
        """Prepare for the body; raises ``Agl1kError`` if it is compressed nevertheless."""
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise Agl1kError(
                f"{answer.url.host} sent the file compressed, which was not requested."
            )
        if answer.status_code == 206:
            return
        self.discard()
        etag = answer.headers.get("ETag", "")
        strong = "" if etag.startswith("W/") else etag
        version = strong or answer.headers.get("Last-Modified", "")
        with _disk_errors():
            self.path.write_bytes(b"")
            if version:
                self._version.write_text(version, "latin-1")

    def digest(self, algorithm: str) -> str:
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, algorithm).hexdigest()

    def discard(self) -> None:
        with _disk_errors():
            self.path.unlink(missing_ok=True)
            self._version.unlink(missing_ok=True)

    def finish(self) -> int:
        n_bytes = self.n_bytes()
        with _disk_errors():
            self.path.replace(self.target)
            self._version.unlink(missing_ok=True)
        return n_bytes
