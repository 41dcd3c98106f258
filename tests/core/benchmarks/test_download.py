"""Downloads of one file from a server that misbehaves."""

from __future__ import annotations

import base64
import hashlib
import logging
import resource
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from agl1k_core.benchmarks import UnreachableError
from agl1k_core.benchmarks.download import FolderError, Received, Source, download
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience, open_client
from tests.support.hostile_server import HASTY, Fault, HostileServer, hostile_server

BODY = bytes(range(256)) * 400


def get(
    url: str,
    target: Path,
    *,
    patience: Patience = HASTY,
    max_bytes: int = 10**6,
    checksums: dict[str, str] | None = None,
) -> Received:
    with open_client(patience) as http:
        return download(http, Source(url, max_bytes, checksums or {}), target, patience=patience)


def sha256_digest(body: bytes) -> str:
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


def whole(tmp_path: Path) -> bool:
    """Whether the folder holds the complete file and nothing else."""
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    return files == {"file": BODY}


def test_a_file_is_downloaded(server: HostileServer, tmp_path: Path) -> None:
    received = get(server.put("/f", BODY), tmp_path / "file")
    assert received == Received(len(BODY), "")
    assert whole(tmp_path)


RESUMED = [
    Fault(after_bytes=30_000, then="close"),
    Fault(after_bytes=30_000, then="stall"),
]


@pytest.mark.parametrize("fault", RESUMED)
def test_a_broken_download_is_resumed(server: HostileServer, tmp_path: Path, fault: Fault) -> None:
    get(server.put("/f", BODY, fault), tmp_path / "file")
    assert whole(tmp_path)
    first, second = server.ranges()
    assert first is None
    assert second is not None
    assert 0 < int(second.removeprefix("bytes=").removesuffix("-")) <= 30_000


def test_a_killed_download_is_resumed_by_the_next_run(
    server: HostileServer, tmp_path: Path
) -> None:
    once = Patience(attempts=1)
    url = server.put("/f", BODY, RESUMED[0])
    with pytest.raises(
        Agl1kError, match=r"127\.0\.0\.1 was tried once and ended its response too early"
    ):
        get(url, tmp_path / "file", patience=once)
    assert not (tmp_path / "file").exists()
    get(url, tmp_path / "file", patience=once)
    assert whole(tmp_path)
    assert server.ranges()[1] is not None


@pytest.mark.parametrize(
    "second",
    [
        Fault(ignore_range=True),
        Fault(status=206, content_range="bytes 0-9/10"),
        Fault(status=206, content_range="nonsense"),
        Fault(status=206, headers={"ETag": '"another version"'}, body=b"x" * len(BODY)),
        Fault(status=416),
    ],
)
def test_a_server_that_cannot_resume_sends_the_whole_file(
    server: HostileServer, tmp_path: Path, second: Fault
) -> None:
    get(server.put("/f", BODY, RESUMED[0], second), tmp_path / "file")
    assert whole(tmp_path)


def test_a_file_that_has_changed_is_downloaded_again(server: HostileServer, tmp_path: Path) -> None:
    once = Patience(attempts=1)
    url = server.put("/f", b"old" * 20_000, RESUMED[0], headers={"ETag": '"old"'})
    with pytest.raises(Agl1kError):
        get(url, tmp_path / "file", patience=once)
    server.put("/f", BODY, headers={"ETag": '"new"'})
    get(url, tmp_path / "file", patience=once)
    assert whole(tmp_path)


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"weak"'}])
def test_an_unknown_version_is_not_resumed(
    server: HostileServer, tmp_path: Path, headers: dict[str, str]
) -> None:
    get(server.put("/f", BODY, RESUMED[0], headers=headers), tmp_path / "file")
    assert whole(tmp_path)
    assert server.ranges() == [None, None]


def test_last_modified_replaces_a_missing_etag(server: HostileServer, tmp_path: Path) -> None:
    headers = {"Last-Modified": "Wed, 21 Oct 2015 07:28:00 GMT"}
    get(server.put("/f", BODY, RESUMED[0], headers=headers), tmp_path / "file")
    assert whole(tmp_path)
    assert server.requests[1].headers["if-range"] == headers["Last-Modified"]


def test_a_dripping_download_is_broken_off(server: HostileServer, tmp_path: Path) -> None:
    drip = Fault(after_bytes=1000, then="drip")
    url = server.put("/f", BODY, drip, drip)
    patience = Patience(attempt_s=0.2, attempts=2, first_wait_s=0.001)
    with pytest.raises(Agl1kError, match="tried 2 times and was too slow"):
        get(url, tmp_path / "file", patience=patience)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_passing_errors_are_retried(server: HostileServer, tmp_path: Path, status: int) -> None:
    get(server.put("/f", BODY, Fault(status=status), Fault(status=status)), tmp_path / "file")
    assert whole(tmp_path)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [401, 403, 404, 410, 204])
def test_a_final_answer_is_final(server: HostileServer, tmp_path: Path, status: int) -> None:
    url = server.put("/Rue%20Mellah.mp3", BODY, Fault(status=status))
    with pytest.raises(
        Agl1kError, match=f"127.0.0.1 answered {status} .*not available there"
    ) as caught:
        get(url, tmp_path / "file")
    assert "Mellah" not in str(caught.value)
    assert len(server.requests) == 1
    assert [*tmp_path.iterdir()] == []


def in_seconds(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize("retry_after", ["0", "-1", "soon", "Wed, 21 Oct 2015 07:28:00 GMT"])
def test_retry_after_is_read(server: HostileServer, tmp_path: Path, retry_after: str) -> None:
    fault = Fault(status=429, headers={"Retry-After": retry_after})
    get(server.put("/f", BODY, fault), tmp_path / "file")
    assert whole(tmp_path)


def test_retry_after_is_kept_to(
    server: HostileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def noted(self: threading.Event, timeout: float | None = None) -> bool:
        waits.append(timeout or 0)
        return False

    url = server.put(
        "/f",
        BODY,
        Fault(status=503, headers={"Retry-After": "17"}),
        Fault(status=429, headers={"Retry-After": in_seconds(30)}),
    )
    patience = Patience(first_wait_s=0.001, longest_wait_s=60)
    event = threading.Event()
    monkeypatch.setattr(event, "wait", noted.__get__(event))
    with open_client(patience) as http:
        download(http, Source(url, 10**6), tmp_path / "file", patience=patience, stop=event)
    assert waits[0] == 17
    assert waits[1] == pytest.approx(29.5, abs=1.5)


@pytest.mark.parametrize("as_date", [False, True])
def test_a_wait_that_is_too_long_is_reported(
    server: HostileServer, tmp_path: Path, as_date: bool
) -> None:
    retry_after = in_seconds(3600.5) if as_date else "3600"
    url = server.put("/f", BODY, Fault(status=429, headers={"Retry-After": retry_after}))
    with pytest.raises(Agl1kError, match=r"429 .* asks to wait 3[56]\d\d s\. Try again after"):
        get(url, tmp_path / "file")


def test_attempts_end(server: HostileServer, tmp_path: Path) -> None:
    url = server.put("/f", BODY, *[Fault(status=503)] * 9)
    with pytest.raises(Agl1kError, match=r"tried 4 times and answered 503 .*Try again later"):
        get(url, tmp_path / "file")
    assert len(server.requests) == 4


def test_a_length_that_is_too_large_is_noticed(server: HostileServer, tmp_path: Path) -> None:
    get(server.put("/f", BODY, Fault(content_length=len(BODY) + 99)), tmp_path / "file")
    assert whole(tmp_path)


@pytest.mark.parametrize("name", ["Digest", "Repr-Digest", "Content-Digest"])
def test_a_length_that_is_too_small_is_noticed_by_the_digest(
    server: HostileServer, tmp_path: Path, name: str
) -> None:
    digest = sha256_digest(BODY)
    headers = {
        "ETag": '"1"',
        name: f"sha-256=:{digest}:" if name != "Digest" else f"SHA-256={digest}",
    }
    url = server.put("/f", BODY, Fault(content_length=len(BODY) - 99), headers=headers)
    assert get(url, tmp_path / "file").verified_by == "sha256"
    assert whole(tmp_path)


def test_a_digest_of_the_whole_holds_for_a_resumed_file(
    server: HostileServer, tmp_path: Path
) -> None:
    headers = {
        "ETag": '"1"',
        "Repr-Digest": f"sha-256=:{sha256_digest(BODY)}:",
        "Content-MD5": base64.b64encode(hashlib.md5(BODY[7:]).digest()).decode(),
    }
    url = server.put("/f", BODY, RESUMED[0], headers=headers)
    assert get(url, tmp_path / "file").verified_by == "sha256"
    assert whole(tmp_path)


@pytest.mark.parametrize(
    ("algorithm", "digest"),
    [("md5", hashlib.md5(BODY).hexdigest()), ("sha1", hashlib.sha1(BODY).hexdigest().upper())],
)
def test_known_checksums_are_compared(
    server: HostileServer, tmp_path: Path, algorithm: str, digest: str
) -> None:
    url = server.put("/f", BODY, Fault(body=b"x" * len(BODY)))
    received = get(url, tmp_path / "file", checksums={algorithm: digest})
    assert received.verified_by == algorithm
    assert whole(tmp_path)


def test_a_wrong_file_never_takes_its_place(server: HostileServer, tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="sent a file whose SHA1 is not the announced one"):
        get(server.put("/f", BODY), tmp_path / "file", checksums={"sha1": "0" * 40})
    assert [*tmp_path.iterdir()] == []


def test_the_check_decides(server: HostileServer, tmp_path: Path) -> None:
    def check(path: Path) -> None:
        if path.read_bytes() != BODY:
            raise Agl1kError("It is a login page")

    url = server.put("/f", BODY, Fault(body=b"<html>log in</html>"))
    with open_client(HASTY) as http:
        source = Source(url, 10**6, check=check)
        download(http, source, tmp_path / "file", patience=HASTY)
        assert whole(tmp_path)
        server.put("/f", b"<html>log in</html>")
        with pytest.raises(Agl1kError, match=r"an unusable file .It is a login page"):
            download(http, source, tmp_path / "file", patience=HASTY)
    assert whole(tmp_path)


@pytest.mark.parametrize("content_length", [None, -1])
def test_a_file_that_is_too_large_is_not_fetched(
    server: HostileServer, tmp_path: Path, content_length: int | None
) -> None:
    url = server.put("/f", BODY, Fault(content_length=content_length))
    with pytest.raises(Agl1kError, match="larger than 0 MB, so it was not fetched"):
        get(url, tmp_path / "file", max_bytes=1000)
    assert [*tmp_path.iterdir()] == []


def test_redirects_are_followed(server: HostileServer, tmp_path: Path) -> None:
    there = server.put("/f", BODY)
    here = server.put("/g", b"", Fault(status=302, headers={"Location": there}))
    get(here, tmp_path / "file")
    assert whole(tmp_path)


@pytest.mark.parametrize("location", ["/g", "file:///etc/hostname", "ftp://127.0.0.1/f"])
def test_redirects_in_circles_or_off_the_web_are_refused(
    server: HostileServer, tmp_path: Path, location: str
) -> None:
    url = server.put("/g", b"", *[Fault(status=302, headers={"Location": location})] * 9)
    with pytest.raises(Agl1kError, match="redirects without end, or to no web address"):
        get(url, tmp_path / "file")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/y", "x", "", "http://", "data:,x"])
def test_only_web_addresses(tmp_path: Path, url: str) -> None:
    with pytest.raises(Agl1kError, match="not a web address"):
        get(url, tmp_path / "file")


def test_a_compressed_answer_is_not_stored(server: HostileServer, tmp_path: Path) -> None:
    url = server.put("/f", BODY, Fault(headers={"Content-Encoding": "gzip"}))
    with pytest.raises(Agl1kError, match="sent the file compressed"):
        get(url, tmp_path / "file")
    assert server.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.server
def test_an_unreachable_server_is_reported(tmp_path: Path) -> None:
    with hostile_server() as server:
        url = server.put("/f", BODY)
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1 was tried 4 times and could not be"):
        get(url, tmp_path / "file")


def test_a_full_disk_is_reported_and_the_part_is_kept(
    server: HostileServer, tmp_path: Path
) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(
            FolderError, match=r"cannot be written to: File too large\. Free some space"
        ):
            get(server.put("/f", BODY), tmp_path / "file")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(server.requests) == 1
    get(server.url + "/f", tmp_path / "file")
    assert whole(tmp_path)
    assert server.ranges()[1] == "bytes=20000-"


def test_a_stop_ends_the_download(server: HostileServer, tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    source = Source(server.put("/f", BODY), 10**6)
    with open_client(HASTY) as http, pytest.raises(Agl1kError, match="Stopped"):
        download(http, source, tmp_path / "file", patience=HASTY, stop=stop)
    assert server.requests == []


def test_addresses_are_not_logged(
    server: HostileServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    get(server.put("/RueMellah.mp3", BODY, Fault(status=503)), tmp_path / "file")
    assert "Mellah" not in caplog.text
