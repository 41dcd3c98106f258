"""Fetching the table and the recordings of a benchmark."""

from __future__ import annotations

import hashlib
import resource
from pathlib import Path

import pytest

from agl1k_core.benchmarks import (
    Benchmark,
    Clip,
    FetchOutcome,
    fetch_recording,
    fetch_recordings,
    find_recording,
    recording_name,
)
from agl1k_core.benchmarks.fetch import Fetched, archive_checksums, fetch_table
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from tests.support import sounds
from tests.support.hostile_server import HASTY, Fault, HostileServer, hostile_server


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return sounds.mp3(tmp_path_factory.mktemp("sound"))


def benchmark(url: str | None, **file_names: str) -> Benchmark:
    clips = tuple(Clip(key, 1.0, 2.0, file_name=name) for key, name in file_names.items())
    return Benchmark("test", "Test", "1", clips, audio_url=url and url + "/{key}/{file_name}")


def test_each_recording_has_an_outcome_of_its_own(
    server: HostileServer, tmp_path: Path, sound: bytes
) -> None:
    folder = tmp_path / "audio"
    folder.mkdir()
    (folder / "there.mp3").write_bytes(sound)
    (folder / "rotten.mp3").write_bytes(b"rotten")
    server.put("/fine/a.mp3", sound)
    server.put("/slow/b.mp3", sound, Fault(after_bytes=99, then="stall"))
    server.put("/busy/c.mp3", sound, *[Fault(status=503)] * 9)
    server.put("/page/d.mp3", b"<html>not a sound</html>")
    server.put("/rotten/r.mp3", sound)
    wanted = benchmark(
        server.url,
        fine="a.mp3",
        slow="b.mp3",
        busy="c.mp3",
        page="d.mp3",
        gone="e.mp3",
        there="f.mp3",
        rotten="r.mp3",
    )
    seen: list[Fetched] = []

    report = fetch_recordings(wanted, folder, progress=seen.append, patience=HASTY)

    outcomes = {result.key: result.outcome.value for result in report.results}
    assert outcomes == {
        "fine": "fetched",
        "slow": "fetched",
        "busy": "failed",
        "page": "failed",
        "gone": "failed",
        "there": "already there",
        "rotten": "fetched",
    }
    assert [*outcomes] == [clip.key for clip in wanted.clips]
    assert sorted(result.key for result in seen) == sorted(outcomes)
    assert (folder / "slow.mp3").read_bytes() == (folder / "rotten.mp3").read_bytes() == sound
    assert str(report).startswith("3 fetched, 1 already there, 3 failed.\n")
    assert "busy: 127.0.0.1 was tried 4 times and answered 503" in str(report)
    assert "page: 127.0.0.1 was tried 4 times and sent an unusable file" in str(report)
    assert "gone: 127.0.0.1 answered 404 Not Found" in str(report)
    assert not [*folder.glob("*.part*")]

    again = fetch_recordings(wanted, folder, patience=HASTY)
    assert len(again.of(FetchOutcome.PRESENT)) == 4


def test_clips_that_share_a_file_name_keep_their_own_sounds(
    server: HostileServer, tmp_path: Path, sound: bytes
) -> None:
    other = sounds.mp3(tmp_path, duration_s=1)
    server.put("/one/STE001.mp3", sound)
    server.put("/two/STE001.mp3", other)
    fetch_recordings(benchmark(server.url, one="STE001.mp3", two="STE001.mp3"), tmp_path / "audio")
    assert (tmp_path / "audio" / "one.mp3").read_bytes() == sound
    assert (tmp_path / "audio" / "two.mp3").read_bytes() == other


@pytest.mark.parametrize(
    ("key", "file_name", "path"),
    [
        ("a", "a b+c&d?#%.mp3", "/a/a%20b%2Bc%26d%3F%23%25.mp3"),
        ("a", "Tönen/音.mp3", "/a/T%C3%B6nen%2F%E9%9F%B3.mp3"),
        ("a/../b", "x.mp3", "/a%2F..%2Fb/x.mp3"),
        ("{file_name}", "{key}.mp3", "/%7Bfile_name%7D/%7Bkey%7D.mp3"),
    ],
)
def test_addresses_are_quoted(
    server: HostileServer, tmp_path: Path, sound: bytes, key: str, file_name: str, path: str
) -> None:
    server.put(path, sound)
    fetched = fetch_recording(benchmark(server.url, **{key: file_name}), key, tmp_path / "audio")
    assert fetched.parent == tmp_path / "audio"
    assert server.paths() == [path]


@pytest.mark.parametrize("key", ["..", ".", ""])
def test_dots_are_not_part_of_an_address(server: HostileServer, tmp_path: Path, key: str) -> None:
    report = fetch_recordings(benchmark(server.url, **{key: "x.mp3"}), tmp_path)
    assert "cannot be part of an address" in report.results[0].reason
    assert server.requests == []


def test_only_requested_keys_are_fetched(
    server: HostileServer, tmp_path: Path, sound: bytes
) -> None:
    server.put("/b/b.mp3", sound)
    report = fetch_recordings(
        benchmark(server.url, a="a.mp3", b="b.mp3"), tmp_path, keys=["b", "b"]
    )
    assert [result.key for result in report.results] == ["b"]
    assert server.paths() == ["/b/b.mp3"]


def listing(name: str, **digests: str) -> bytes:
    inner = "".join(f"<{algorithm}>{digest}</{algorithm}>" for algorithm, digest in digests.items())
    return f'<files><file name="o.png"/><file name="{name}">{inner}</file></files>'.encode()


def test_checksums_of_an_archive_are_compared(
    server: HostileServer, tmp_path: Path, sound: bytes
) -> None:
    sha1, md5 = hashlib.sha1(sound).hexdigest(), hashlib.md5(sound).hexdigest()
    wanted = benchmark(server.url, good="a.mp3", bad="b.mp3", unlisted="c.mp3", md5="d.mp3")
    for clip in wanted.clips:
        server.put(f"/{clip.key}/{clip.file_name}", sound)
    server.put("/good/good_files.xml", listing("a.mp3", md5=md5, sha1=sha1))
    server.put("/bad/bad_files.xml", listing("b.mp3", sha1="0" * 40))
    server.put("/md5/md5_files.xml", listing("d.mp3", md5=md5))
    report = fetch_recordings(
        wanted, tmp_path, checksum_url=server.url + "/{key}/{key}_files.xml", patience=HASTY
    )
    assert {result.key: result.verified_by for result in report.of(FetchOutcome.FETCHED)} == {
        "good": "sha1",
        "unlisted": "",
        "md5": "md5",
    }
    assert "whose SHA1 is not the announced one" in report.of(FetchOutcome.FAILED)[0].reason
    assert not (tmp_path / "bad.mp3").exists()


@pytest.mark.parametrize(
    "xml", [b"", b"<files", b"<html/>", b"\xff", listing("other.mp3", md5="1")]
)
def test_a_listing_without_the_file_has_no_checksums(xml: bytes) -> None:
    assert archive_checksums(xml, "a.mp3") == {}


@pytest.mark.server
def test_an_unreachable_source_is_given_up(tmp_path: Path) -> None:
    with hostile_server() as server:
        names = {f"k{number}": "x.mp3" for number in range(60)}
        wanted = benchmark(server.url, **names)
    once = Patience(attempts=1)
    report = fetch_recordings(wanted, tmp_path, workers=2, patience=once)
    reasons = [result.reason for result in report.results]
    assert len(report.of(FetchOutcome.FAILED)) == 60
    assert sum(reason.startswith("not tried: 127.0.0.1 was tried once") for reason in reasons) >= 50


def test_a_full_disk_ends_the_run_in_plain_words(
    server: HostileServer, tmp_path: Path, sound: bytes
) -> None:
    wanted = benchmark(server.url, **{f"k{number}": "x.mp3" for number in range(20)})
    for clip in wanted.clips:
        server.put(f"/{clip.key}/x.mp3", sound)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        report = fetch_recordings(wanted, tmp_path, workers=2, patience=HASTY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(report.of(FetchOutcome.FAILED)) == 20
    assert len(server.requests) <= 4
    assert "not tried: The folder cannot be written to: File too large. Free some space" in str(
        report
    )
    assert len(fetch_recordings(wanted, tmp_path, patience=HASTY).of(FetchOutcome.FETCHED)) == 20


def test_a_folder_that_cannot_be_written(server: HostileServer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Agl1kError, match=r"cannot be written to: .*Choose another one"):
        fetch_recordings(benchmark(server.url, a="a.mp3"), tmp_path / "file" / "audio")
    assert server.requests == []


def test_no_address_to_fetch_from(tmp_path: Path) -> None:
    with pytest.raises(Agl1kError, match="Benchmark test has no address"):
        fetch_recordings(benchmark(None, a="a.mp3"), tmp_path)
    with pytest.raises(Agl1kError, match="Benchmark test has no address"):
        fetch_recording(benchmark(None, a="a.mp3"), "a", tmp_path)


def test_an_interrupt_ends_the_run(server: HostileServer, tmp_path: Path, sound: bytes) -> None:
    def interrupt(_: Fetched) -> None:
        raise KeyboardInterrupt

    wanted = benchmark(server.url, **{f"k{number}": "x.mp3" for number in range(50)})
    for clip in wanted.clips:
        server.put(f"/{clip.key}/x.mp3", sound)
    with pytest.raises(KeyboardInterrupt):
        fetch_recordings(wanted, tmp_path, workers=1, progress=interrupt, patience=HASTY)
    assert len(server.requests) < 50


def test_only_a_table_replaces_the_table(server: HostileServer, tmp_path: Path) -> None:
    def check(path: Path) -> None:
        if not path.read_bytes().startswith(b"key,"):
            raise Agl1kError("The header is not a table's")

    target = tmp_path / "data" / "table.csv"
    url = server.put("/t.csv", b"key,latitude\na,1\n", Fault(status=502))
    assert fetch_table(url, target, check=check, patience=HASTY) == target
    server.put("/t.csv", b"<html>")
    with pytest.raises(Agl1kError, match="The header is not a table's"):
        fetch_table(url, target, check=check, patience=HASTY)
    assert target.read_bytes() == b"key,latitude\na,1\n"
    assert [path.name for path in target.parent.iterdir()] == ["table.csv"]


def test_two_fetches_do_not_share_a_folder(
    server: HostileServer, tmp_path: Path, sound: bytes
) -> None:
    wanted = benchmark(server.url, a="a.mp3")
    server.put("/a/a.mp3", sound)

    def at_once(_: Fetched) -> None:
        with pytest.raises(Agl1kError, match="Another fetch is filling this folder"):
            fetch_recordings(wanted, tmp_path, patience=HASTY)

    fetch_recordings(wanted, tmp_path, progress=at_once, patience=HASTY)


def test_names_and_where_they_are_found(tmp_path: Path) -> None:
    wanted = benchmark(None, a="x.mp3", b="STE001.mp3", c="ste001.MP3", d="Ü.ogg")
    clips = {clip.key: clip for clip in wanted.clips}

    def found(key: str) -> str | None:
        path = find_recording(wanted, clips[key], tmp_path)
        return path.relative_to(tmp_path).as_posix() if path else None

    assert [found(key) for key in "abcd"] == [None] * 4
    for name in ("x.mp3", "STE001.mp3", "U\u0308.ogg"):
        (tmp_path / name).touch()
    assert [found(key) for key in "abcd"] == ["x.mp3", None, None, "U\u0308.ogg"]
    for key in "bc":
        (tmp_path / key).mkdir()
        (tmp_path / key / clips[key].file_name).touch()
    assert [found(key) for key in "bc"] == ["b/STE001.mp3", "c/ste001.MP3"]
    for name in ("a.mp3", "b.flac"):
        (tmp_path / name).touch()
    assert [found(key) for key in "ab"] == ["a.mp3", "b.flac"]


@pytest.mark.parametrize("name", ["../outside.mp3", "/outside.mp3", "..\\outside.mp3", ".."])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.mp3").touch()
    folder = tmp_path / "audio"
    folder.mkdir()
    for wanted in (benchmark(None, a=name), benchmark(None, **{name: "x"})):
        assert find_recording(wanted, wanted.clips[0], folder) is None
        assert "/" not in recording_name(wanted.clips[0])


def test_recording_names_stay_apart() -> None:
    keys = ["a", "A", "a.", "a/b", "a b", "ä", "..", "", "con" * 90, "aporee_5201_6631"]
    names = {recording_name(Clip(key, 0, 0, file_name="x.FLAC")).casefold() for key in keys}
    assert len(names) == len(keys)
    assert "aporee_5201_6631.flac" in names
    assert all(name.endswith(".flac") and len(name) < 120 for name in names)
