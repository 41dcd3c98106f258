"""One address into one file: resumed, timed out, tried again, verified, and there whole or not.

Range and If-Range as in RFC 9110, sections 13 and 14; Retry-After as in 10.2.3; Repr-Digest and
Content-Digest as in RFC 9530, Digest as in RFC 3230, Content-MD5 as in RFC 2616. Messages name
the host and what it answered, never the path: recordings' names hold the place.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.nap import sleep_using_event
from tenacity.wait import wait_exponential, wait_random

from agl1k_core import __version__
from agl1k_core.errors import Agl1kError

_TRANSIENT_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_ALGORITHMS = {"md5": "md5", "sha": "sha1", "sha-1": "sha1", "sha1": "sha1", "sha-256": "sha256",
               "sha-512": "sha512"}  # fmt: skip
_STRONGEST_FIRST = ("sha512", "sha256", "sha1", "md5")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait for what. A stall is ``read_s`` without a byte; an attempt that lasts
    longer than ``attempt_s`` is broken off and resumed."""

    connect_s: float = 10.0
    read_s: float = 20.0
    attempt_s: float = 300.0
    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Source:
    """An address and what is known of the file there.

    ``checksums`` maps ``md5``, ``sha1``, ``sha256``, ``sha512`` to hex digests; ``check`` raises
    ``Agl1kError`` if the file that came is not what it should be.
    """

    url: str
    max_bytes: int
    checksums: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[Path], object] | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """``verified_by`` names the strongest digest that the file was compared with, or is empty."""

    n_bytes: int
    verified_by: str = ""


class UnreachableError(Agl1kError):
    """No connection to the host at all; the next file of it will fare no better."""


class FolderError(Agl1kError):
    """The folder takes no file; the next one will fare no better."""


class _TransientError(Exception):
    """Worth another attempt; ``retry_after_s`` is what the server asked for."""

    def __init__(
        self, reason: str, *, retry_after_s: float | None = None, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s
        self.unreachable = unreachable


def client(patience: Patience) -> httpx.Client:
    """A client for ``download``, safe to share between threads; close it after use."""
    for name in ("httpx", "httpcore"):  # they log addresses, and with them the place
        logging.getLogger(name).setLevel(logging.WARNING)
    return httpx.Client(
        timeout=httpx.Timeout(patience.read_s, connect=patience.connect_s, pool=None),
        follow_redirects=True,
        max_redirects=5,
        headers={"User-Agent": f"agl1k/{__version__}", "Accept-Encoding": "identity"},
    )


def download(
    http: httpx.Client,
    source: Source,
    target: Path,
    *,
    patience: Patience,
    stop: threading.Event | None = None,
) -> Received:
    """Fetch ``source`` into ``target``; what an earlier try left in ``<target>.part`` is resumed.

    Raises ``Agl1kError``: ``FolderError`` and ``UnreachableError`` where the same is to be expected
    of the next file. ``stop`` breaks off at the next chunk.
    """
    host = _host(source.url)
    stop = stop or threading.Event()
    attempts = Retrying(
        stop=stop_after_attempt(patience.attempts),
        wait=_waiting(patience),
        retry=retry_if_exception_type(_TransientError),
        sleep=sleep_using_event(stop),
        reraise=True,
    )
    try:
        return attempts(_attempt, http, source, target, patience, stop)
    except _TransientError as error:
        kind = UnreachableError if error.unreachable else Agl1kError
        tries = "once" if patience.attempts == 1 else f"{patience.attempts} times"
        raise kind(f"{host} was tried {tries} and {error}. Try again later.") from None


def _host(url: str) -> str:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Agl1kError(
            "The source is no web address. Give one that begins with https:// or http://."
        )
    return parsed.host


def _waiting(patience: Patience) -> Callable[[RetryCallState], float]:
    growing = wait_exponential(patience.first_wait_s, max=patience.longest_wait_s)
    jitter = wait_random(0, patience.first_wait_s)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_s if isinstance(error, _TransientError) else None
        return growing(state) + jitter(state) if asked is None else asked

    return wait


def _attempt(
    http: httpx.Client, source: Source, target: Path, patience: Patience, stop: threading.Event
) -> Received:
    _refuse_stopped(stop)
    part = _Part(target)
    with _network_errors(), http.stream("GET", source.url, headers=part.range_headers()) as answer:
        _refuse_status(answer, part, patience)
        digests = _digests_told(answer)
        part.start(answer)
        _receive(answer, part, source.max_bytes, patience, stop)
    verified_by = _verify(part, {**digests, **source.checksums}, source.check)
    return Received(part.finish(), verified_by)


@contextmanager
def _network_errors() -> Iterator[None]:
    try:
        yield
    except httpx.ConnectError:
        raise _TransientError("could not be reached", unreachable=True) from None
    except httpx.ConnectTimeout:
        raise _TransientError("did not answer in time", unreachable=True) from None
    except httpx.TimeoutException:
        raise _TransientError("stalled") from None
    except (httpx.TooManyRedirects, httpx.UnsupportedProtocol):
        raise Agl1kError("The server leads elsewhere without end or to no web address.") from None
    except httpx.TransportError:
        raise _TransientError("broke off in the middle") from None


def _refuse_status(answer: httpx.Response, part: _Part, patience: Patience) -> None:
    """Raise unless the answer brings the file, whole or from where ``part`` ends."""
    status = answer.status_code
    if status == 200 or (status == 206 and part.continues_with(answer)):
        return
    told = f"answered {status} {answer.reason_phrase}".strip()
    if status in (206, 416):
        part.discard()
        raise _TransientError(f"{told} for another part than was asked for", retry_after_s=0)
    if status not in _TRANSIENT_STATUSES:
        raise Agl1kError(f"{answer.url.host} {told}. The file is not to be had there.")
    wait_s = _retry_after_s(answer.headers.get("Retry-After"))
    if wait_s is not None and wait_s > patience.longest_wait_s:
        raise Agl1kError(
            f"{answer.url.host} {told} and asks to wait {wait_s:.0f} s. Try again after that."
        )
    raise _TransientError(told, retry_after_s=wait_s)


def _retry_after_s(text: str | None) -> float | None:
    """Seconds, or the time until an HTTP date; None where there is neither."""
    if text is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}\s*", text):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _receive(
    answer: httpx.Response,
    part: _Part,
    max_bytes: int,
    patience: Patience,
    stop: threading.Event,
) -> None:
    too_large = Agl1kError(f"The file is larger than {max_bytes / 1e6:.0f} MB and was left.")
    length = answer.headers.get("Content-Length", "")
    if length.isdecimal() and part.n_bytes() + int(length) > max_bytes:
        part.discard()
        raise too_large
    deadline = time.monotonic() + patience.attempt_s
    with _disk_errors(), part.path.open("ab") as file:
        for chunk in answer.iter_raw():
            file.write(chunk)
            if file.tell() > max_bytes:
                part.discard()
                raise too_large
            _refuse_stopped(stop)
            if time.monotonic() > deadline:
                raise _TransientError("was too slow")


def _refuse_stopped(stop: threading.Event) -> None:
    if stop.is_set():
        raise Agl1kError("Stopped. What has come is kept and resumed the next time.")


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FolderError(
            f"The folder takes no file: {error.strerror}. Make room or choose another folder; "
            "what has come is kept."
        ) from None


def _digests_told(answer: httpx.Response) -> dict[str, str]:
    """Digests of the whole file from the answer's header, in hex by algorithm."""
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
    """Compare with the strongest digest known, then ``check``; what fails is discarded."""
    algorithm = next((name for name in _STRONGEST_FIRST if name in digests), "")
    try:
        if algorithm and part.digest(algorithm) != digests[algorithm].lower():
            raise _TransientError(f"sent a file whose {algorithm.upper()} is not the one told")
        if check:
            check(part.path)
    except Agl1kError as error:
        part.discard()
        raise _TransientError(f"sent no usable file ({error})") from None
    except _TransientError:
        part.discard()
        raise
    return algorithm


class _Part:
    """The file while it comes: ``<target>.part``, and beside it which version of it that is."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self._version = target.with_name(f"{target.name}.part.version")

    def n_bytes(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def range_headers(self) -> dict[str, str]:
        """Ask for the rest, if it is known of which version; else anew."""
        version = self._version.read_text("latin-1") if self._version.exists() else ""
        if not (version and self.n_bytes()):
            return {}
        return {"Range": f"bytes={self.n_bytes()}-", "If-Range": version}

    def continues_with(self, answer: httpx.Response) -> bool:
        """Whether the answer is the rest of the same version; some servers heed no If-Range."""
        found = re.match(r"bytes (\d+)-", answer.headers.get("Content-Range", ""))
        version = self._version.read_text("latin-1") if self._version.exists() else ""
        told = [
            answer.headers[name] for name in ("ETag", "Last-Modified") if name in answer.headers
        ]
        same = not told or version in told
        return found is not None and int(found[1]) == self.n_bytes() and same

    def start(self, answer: httpx.Response) -> None:
        """Make ready for the body; raises ``Agl1kError`` where it comes compressed all the same."""
        if answer.headers.get("Content-Encoding", "identity") != "identity":
            raise Agl1kError(f"{answer.url.host} sent the file in an encoding not asked for.")
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
