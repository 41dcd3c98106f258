"""The HTTP client: its waits, what it retries, and proxies of the environment."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agl1k_core.errors import Agl1kError
from agl1k_core.http import (
    Patience,
    TransientError,
    host_of,
    network_errors,
    open_client,
    retry_after_s,
    retrying,
    timely,
)
from tests.support.hostile_server import HASTY, Fault, HostileServer


class Failing:
    """Fails as planned, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = [*errors]
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def waits_of(
    monkeypatch: pytest.MonkeyPatch, patience: Patience, *errors: Exception
) -> list[float]:
    """The waits between attempts, recorded instead of waited for."""
    waits: list[float] = []
    stop = threading.Event()
    monkeypatch.setattr(stop, "wait", lambda timeout: waits.append(timeout))
    assert retrying(patience, stop)(Failing(*errors)) == "done"
    return waits


def test_waits_double_with_some_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience(first_wait_s=1, longest_wait_s=3)
    waits = waits_of(monkeypatch, patience, *[TransientError("failed")] * 4)
    assert [wait // 1 for wait in waits[:2]] == [1, 2]
    assert all(3 <= wait <= 4 for wait in waits[2:])


def test_the_server_says_how_long_to_wait_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [TransientError("failed", retry_after_s=seconds) for seconds in (7, 0, 999)]
    assert waits_of(monkeypatch, Patience(longest_wait_s=60), *asked) == [7, 0, 60]


def test_attempts_end_with_the_last_error() -> None:
    failing = Failing(*[TransientError(str(number)) for number in range(9)])
    with pytest.raises(TransientError, match="3"):
        retrying(HASTY)(failing)
    assert failing.calls == HASTY.attempts


def test_other_errors_are_not_retried() -> None:
    failing = Failing(Agl1kError("final"))
    with pytest.raises(Agl1kError, match="final"):
        retrying(HASTY)(failing)
    assert failing.calls == 1


@pytest.mark.parametrize(("attempts", "tries"), [(1, "once"), (4, "4 times")])
def test_tries_in_words(attempts: int, tries: str) -> None:
    assert Patience(attempts=attempts).tries == tries


def asked_to_wait(text: str) -> float | None:
    return retry_after_s(httpx.Response(503, headers={"Retry-After": text}))


@given(st.integers(0, 999_999_999))
def test_retry_after_in_seconds(seconds: int) -> None:
    assert asked_to_wait(f" {seconds} ") == seconds


@given(st.integers(-100_000, 100_000))
def test_retry_after_as_a_date(seconds: int) -> None:
    when = datetime.now(UTC) + timedelta(seconds=seconds)
    waited = asked_to_wait(format_datetime(when, usegmt=True))
    assert waited == pytest.approx(max(0, seconds), abs=2)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_any_retry_after_is_a_wait_or_nothing(text: str) -> None:
    waited = asked_to_wait(text)
    assert waited is None or waited >= 0


@pytest.mark.parametrize("text", ["", "soon", "-1", "Sat, 99 Foo 2999 00:00:00 GMT", "1" * 10])
def test_a_retry_after_that_means_nothing(text: str) -> None:
    assert asked_to_wait(text) is None


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x", "x", "", "http://", "http://[::"])
def test_only_web_addresses_have_a_host(url: str) -> None:
    with pytest.raises(Agl1kError, match="not a web address"):
        host_of(url)
    assert host_of("https://example.org/a") == "example.org"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_this_machine_is_reached_without_a_proxy(
    server: HostileServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    url = server.put("/f", b"here")
    with open_client(HASTY) as http:
        assert http.get(url).content == b"here"
        with (
            pytest.raises(TransientError, match="could not be reached") as caught,
            network_errors(),
        ):
            http.get("http://example.invalid/")
    assert caught.value.unreachable
    assert server.requests[0].headers["user-agent"].startswith("agl1k/")


@pytest.mark.parametrize("proxy", ["nonsense://x", "http://[::"])
def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    with pytest.raises(Agl1kError, match=r"proxy that cannot be used.*HTTPS_PROXY"):
        open_client(HASTY)


def test_an_answer_that_drips_is_broken_off(server: HostileServer) -> None:
    url = server.put("/f", b"x" * 500, Fault(after_bytes=1, then="drip"))
    patience = Patience(attempt_s=0.1)
    with (
        open_client(patience) as http,
        http.stream("GET", url) as answer,
        pytest.raises(TransientError, match="too slow"),
    ):
        list(timely(answer.iter_raw(), patience))
