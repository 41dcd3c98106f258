"""Requests over unreliable networks: one client, and retries that respect Retry-After.

Retry-After as in RFC 9110, section 10.2.3. Messages name the host and its answer, never the
path: names of recordings contain the place.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.nap import sleep, sleep_using_event
from tenacity.wait import wait_exponential, wait_random

from agl1k_core import __version__
from agl1k_core.errors import Agl1kError

#: Temporary statuses; some APIs answer 529 when they are overloaded.
RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

_THIS_MACHINE = ("all://localhost", "all://127.0.0.1", "all://[::1]")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait, and how often to try.

    An answer has stalled after ``read_s`` without a byte; an attempt is aborted after
    ``attempt_s``. Waits between attempts double from ``first_wait_s`` up to ``longest_wait_s``.
    """

    connect_s: float = 10.0
    read_s: float = 20.0
    attempt_s: float = 300.0
    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0

    @property
    def tries(self) -> str:
        """The number of tries, in words."""
        return "once" if self.attempts == 1 else f"{self.attempts} times"


class TransientError(Exception):
    """A failure worth another attempt; the text continues "the host …".

    ``retry_after_s`` is the wait that the server asked for; ``unreachable`` means that there was no
    connection at all.
    """

    def __init__(
        self, reason: str, *, retry_after_s: float | None = None, unreachable: bool = False
    ) -> None:
        super().__init__(reason)
        self.retry_after_s = retry_after_s
        self.unreachable = unreachable


def open_client(patience: Patience) -> httpx.Client:
    """A client that threads may share; close it after use.

    The proxy of the environment is used, except for addresses of this machine. Raises
    ``Agl1kError`` if that proxy is not usable.
    """
    for name in ("httpx", "httpcore"):  # they log addresses, which contain the place
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        return httpx.Client(
            timeout=httpx.Timeout(patience.read_s, connect=patience.connect_s, pool=None),
            follow_redirects=True,
            max_redirects=5,
            headers={"User-Agent": f"agl1k/{__version__}"},
            mounts=dict.fromkeys(_THIS_MACHINE),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise Agl1kError(
            f"The environment sets a proxy that cannot be used: {error} Correct or unset "
            "HTTP_PROXY, HTTPS_PROXY and ALL_PROXY."
        ) from None


def retrying(patience: Patience, stop: threading.Event | None = None) -> Retrying:
    """Calls a function again after each ``TransientError``; the last one is raised.

    ``stop`` ends a wait when it is set.
    """
    return Retrying(
        stop=stop_after_attempt(patience.attempts),
        wait=_Wait(patience),
        retry=retry_if_exception_type(TransientError),
        sleep=sleep_using_event(stop) if stop else sleep,
        reraise=True,
    )


class _Wait:
    """As long as the server asks, or else twice as long each time."""

    def __init__(self, patience: Patience) -> None:
        self._longest_s = patience.longest_wait_s
        self._growing = wait_exponential(patience.first_wait_s, max=patience.longest_wait_s)
        self._jitter = wait_random(0, patience.first_wait_s)

    def __call__(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after_s if isinstance(error, TransientError) else None
        if asked is None:
            return self._growing(state) + self._jitter(state)
        return min(asked, self._longest_s)


class Answer(Protocol):
    """What is needed of an HTTP client's answer to read its headers."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers, found by name in any case."""


def retry_after_s(answer: Answer) -> float | None:
    """How long the server asks to wait, in seconds or until a date; None if it does not say."""
    text = answer.headers.get("Retry-After", "")
    if re.fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", text):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def host_of(url: str) -> str:
    """The host of a web address; raises ``Agl1kError`` for anything else."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise Agl1kError(
            "The source is not a web address. Give one that begins with https:// or http://."
        )
    return parsed.host


@contextmanager
def network_errors() -> Iterator[None]:
    """Turn httpx's errors into ``TransientError``, or ``Agl1kError`` if a retry cannot help."""
    try:
        yield
    except httpx.ProxyError:
        raise TransientError("could not be reached through the proxy", unreachable=True) from None
    except httpx.ConnectError:
        raise TransientError("could not be reached", unreachable=True) from None
    except httpx.ConnectTimeout:
        raise TransientError("did not answer in time", unreachable=True) from None
    except httpx.TimeoutException:
        raise TransientError("stalled") from None
    except (httpx.TooManyRedirects, httpx.UnsupportedProtocol):
        raise Agl1kError("The server redirects without end, or to no web address.") from None
    except (httpx.TransportError, httpx.DecodingError):
        raise TransientError("ended its response too early") from None


def whole_body(chunks: Iterator[bytes], patience: Patience, most_bytes: int) -> bytes:
    """The body of an answer; raises ``TransientError`` if it is too long or takes too long."""
    parts: list[bytes] = []
    n_bytes = 0
    for part in timely(chunks, patience):
        parts.append(part)
        n_bytes += len(part)
        if n_bytes > most_bytes:
            raise TransientError(f"sent more than {most_bytes // 10**6} MB")
    return b"".join(parts)


def timely(chunks: Iterator[bytes], patience: Patience) -> Iterator[bytes]:
    """The chunks of an answer; raises ``TransientError`` once they take longer than an attempt."""
    deadline = time.monotonic() + patience.attempt_s
    for chunk in chunks:
        yield chunk
        if time.monotonic() > deadline:
            raise TransientError("was too slow")
