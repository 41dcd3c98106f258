"""Copies in a bounded cache, and the route that plays them without revealing the place."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from agl1k_core import audio
from agl1k_core.benchmarks import Benchmark, Clip, UnreachableError, fetch_recording
from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience
from game.clips import (
    NO_SOUND_NOW,
    NO_SUCH_SOUND,
    ClipStore,
    PreparedClip,
    clip_router,
)
from tests.support import sounds
from tests.support.hostile_server import Fault, hostile_server
from tests.support.processes import children
from tests.support.served import served
from tests.support.waiting import PATIENCE_S, eventually

pytestmark = pytest.mark.server  # copies are made in a process of their own

PLACE = "RueMellahEssaouira"


def benchmark(folder: Path | None = None, url: str | None = None, **names: str) -> Benchmark:
    clips = tuple(Clip(key, 31.5, -9.8, file_name=name) for key, name in names.items())
    return Benchmark("test", "Test", "1", clips, audio_dir=folder, audio_url=url)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    path = sounds.encode(folder / "a.mp3", "mp3", metadata={"title": PLACE, "comment": PLACE})
    assert PLACE.encode() in path.read_bytes()
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path: Path, sound: bytes) -> Path:
    folder = tmp_path / "audio"
    folder.mkdir()
    (folder / f"{PLACE}.mp3").write_bytes(sound)
    return folder


@pytest.fixture
def local(folder: Path) -> Benchmark:
    return benchmark(folder, aporee_1=f"{PLACE}.mp3")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ClipStore]:
    store = ClipStore(tmp_path / "cache", failure_lasts_s=0)
    yield store
    store.close()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_a_crash_of_the_decoder_costs_one_clip(
    tmp_path: Path, folder: Path, number: signal.Signals
) -> None:
    sounds.endless(folder / "endless.wav")
    local = benchmark(folder, crashing="endless.wav", other=f"{PLACE}.mp3")
    store = ClipStore(tmp_path / "cache", shelter=audio.Shelter())
    before = children()
    with ThreadPoolExecutor(1) as threads:
        preparing = threads.submit(store.prepare, local, "crashing")
        eventually(lambda: children() - before)
        while not preparing.done():  # the first child may be the one that starts the others
            for process in children() - before:
                with suppress(ProcessLookupError):
                    os.kill(process, number)
        with pytest.raises(Agl1kError, match=r"Clip crashing is not available: The decoder crash"):
            preparing.result()
    assert store.prepare(local, "other").duration_s == pytest.approx(2, abs=0.1)
    assert len([*(tmp_path / "cache").iterdir()]) == 2
    store.close()


class Fetcher:
    """Replaces the network: gives ``sound``, or raises what it was given."""

    def __init__(self, sound: bytes) -> None:
        self.sound = sound
        self.keys: list[str] = []
        self.error: Exception | None = None
        self.go = threading.Event()
        self.go.set()

    def __call__(self, benchmark: Benchmark, key: str, folder: Path) -> Path:
        self.keys.append(key)
        assert self.go.wait(20)
        if self.error:
            raise self.error
        path = folder / f"{PLACE}.mp3"
        path.write_bytes(self.sound)
        return path


def test_a_copy_reveals_nothing(store: ClipStore, local: Benchmark, tmp_path: Path) -> None:
    prepared = store.prepare(local, "aporee_1")
    assert prepared.duration_s == 2
    assert len(prepared.peaks) == 200
    assert max(prepared.peaks) == 1.0
    assert PLACE.encode() not in prepared.path.read_bytes()
    names = [path.name for path in (tmp_path / "cache").iterdir()]
    assert len(names) == 2
    for word in (PLACE, "aporee", "1", "test"):
        assert not [name for name in names if word in name.split(".")[0] and len(word) > 1]
    assert prepared.path.stat().st_mtime == 946_684_800


def test_a_copy_is_made_once_and_outlives_the_process(
    store: ClipStore, local: Benchmark, tmp_path: Path
) -> None:
    first = store.prepare(local, "aporee_1")
    number = first.path.stat().st_ino
    for again in (
        store.prepare(local, "aporee_1"),
        ClipStore(tmp_path / "cache").cached(local, "aporee_1"),
    ):
        assert again == first
    assert first.path.stat().st_ino == number


def test_a_recording_that_changed_is_copied_again(
    store: ClipStore, local: Benchmark, folder: Path
) -> None:
    store.prepare(local, "aporee_1")
    (folder / f"{PLACE}.mp3").write_bytes(sounds.mp3(folder, duration_s=3))
    assert store.cached(local, "aporee_1") is None
    assert store.prepare(local, "aporee_1").duration_s == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize("damage", ["truncate", "no json", "odd json", "gone", "older version"])
def test_a_damaged_cache_is_mended(store: ClipStore, local: Benchmark, damage: str) -> None:
    path = store.prepare(local, "aporee_1").path
    about = path.with_suffix(".json")
    match damage:
        case "truncate":
            path.write_bytes(path.read_bytes()[:100])
        case "no json":
            about.unlink()
        case "odd json":
            about.write_text("[1")
        case "gone":
            path.unlink()
        case "older version":
            about.write_text(about.read_text().replace('"made"', '"suffix"'))
            path.with_suffix(".m4a").touch()
    assert store.cached(local, "aporee_1") is None
    assert store.prepare(local, "aporee_1").duration_s == 2
    assert {each.suffix for each in path.parent.iterdir()} == {".mp3", ".json"}


def test_clips_that_share_a_file_name_never_get_each_others_sound(
    store: ClipStore, folder: Path, sound: bytes
) -> None:
    (folder / "STE001.mp3").write_bytes(sound)
    both = benchmark(folder, a="STE001.mp3", b="STE001.mp3")
    for key in "ab":
        with pytest.raises(Agl1kError, match=f"Clip {key} is not available"):
            store.prepare(both, key)
    (folder / "a.mp3").write_bytes(sounds.mp3(folder, duration_s=1))
    (folder / "b").mkdir()
    (folder / "b" / "STE001.mp3").write_bytes(sounds.mp3(folder, duration_s=3))
    assert store.prepare(both, "a").duration_s == pytest.approx(1, abs=0.1)
    assert store.prepare(both, "b").duration_s == pytest.approx(3, abs=0.1)


def test_the_same_key_in_two_benchmarks(store: ClipStore, tmp_path: Path) -> None:
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        sounds.mp3(folder, "a.mp3", number)
        source = Benchmark(
            f"b{number}", "B", "1", (Clip("a", 0, 0, file_name="a.mp3"),), audio_dir=folder
        )
        assert store.prepare(source, "a").duration_s == pytest.approx(number, abs=0.1)


@pytest.mark.server
def test_what_the_folder_lacks_is_fetched(tmp_path: Path, sound: bytes) -> None:
    with hostile_server() as server:
        server.put(
            f"/k/{PLACE}.mp3", sound, Fault(status=503), Fault(after_bytes=999, then="close")
        )
        source = benchmark(tmp_path, server.url + "/{key}/{file_name}", k=f"{PLACE}.mp3")
        hasty = Patience(first_wait_s=0.001)
        store = ClipStore(
            tmp_path / "cache", fetch=lambda *of: fetch_recording(*of, patience=hasty)
        )
        prepared = store.prepare(source, "k")
        assert store.prepare(source, "k") == prepared
        assert len(server.requests) == 3
    assert PLACE.encode() not in prepared.path.read_bytes()
    assert {path.suffix for path in (tmp_path / "cache").iterdir()} == {".mp3", ".json"}


def test_two_players_at_once_fetch_once(tmp_path: Path, sound: bytes) -> None:
    fetcher = Fetcher(sound)
    fetcher.go.clear()
    store = ClipStore(tmp_path / "cache", fetch=fetcher)
    source = benchmark(k="x.mp3", other="x.mp3")
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(store.prepare, source, "k") for _ in range(7)]
        other = pool.submit(store.prepare, source, "other")
        fetcher.go.set()
        prepared = {future.result().path for future in waiting}
    assert len(prepared) == 1
    assert other.result().path not in prepared
    assert sorted(fetcher.keys) == ["k", "other"]


def test_all_who_wait_get_the_failure(tmp_path: Path, sound: bytes) -> None:
    fetcher = Fetcher(sound)
    fetcher.error = Agl1kError("the host is away")
    fetcher.go.clear()
    store = ClipStore(tmp_path / "cache", fetch=fetcher)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(store.prepare, benchmark(k="x.mp3"), "k") for _ in range(4)]
        fetcher.go.set()
        for future in waiting:
            with pytest.raises(Agl1kError, match=r"Clip k is not available: the host is away"):
                future.result()
    assert fetcher.keys == ["k"]


def test_a_failure_lasts_for_a_while_and_no_longer(tmp_path: Path, sound: bytes) -> None:
    fetcher = Fetcher(sound)
    fetcher.error = Agl1kError("away")
    source = benchmark(k="x.mp3")
    for lasts_s, n_tries in ((60, 1), (0, 2)):
        fetcher.keys.clear()
        store = ClipStore(tmp_path / "cache", fetch=fetcher, failure_lasts_s=lasts_s)
        for _ in range(2):
            with pytest.raises(Agl1kError, match="away"):
                store.prepare(source, "k")
        assert len(fetcher.keys) == n_tries
    fetcher.error = None
    assert store.prepare(source, "k").duration_s > 1


def test_the_cause_of_many_failures_is_logged_once(
    tmp_path: Path, sound: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    fetcher = Fetcher(sound)
    store = ClipStore(tmp_path / "cache", fetch=fetcher, failure_lasts_s=0)
    keys = [f"clip{n}" for n in range(5)]
    source = benchmark(None, None, **{key: f"{key}.mp3" for key in keys})
    for reason in ("{} cannot be fetched: no network", "{} is too large"):
        for key in keys * 2:
            fetcher.error = Agl1kError(reason.format(key))
            with pytest.raises(Agl1kError, match=f"Clip {key} is not available: {key}"):
                store.prepare(source, key)
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "clip0 cannot be fetched: no network", "clip0 is too large",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (benchmark(k="x.mp3"), "has no address from which to fetch recordings"),
        (benchmark(j="x.mp3"), "has no clip k"),
    ],
)
def test_a_clip_that_cannot_be_found(store: ClipStore, source: Benchmark, message: str) -> None:
    with pytest.raises(Agl1kError, match=message):
        store.prepare(source, "k")


def test_failures_reveal_no_place(
    store: ClipStore, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (folder / f"{PLACE}.mp3").write_bytes(b"no sound")
    with pytest.raises(
        Agl1kError, match="Clip k is not available: The file is not audio"
    ) as caught:
        store.prepare(benchmark(folder, k=f"{PLACE}.mp3"), "k")
    assert PLACE not in str(caught.value) + caplog.text
    assert "Clip k of test is not available" in caplog.text


def test_a_cache_that_cannot_be_written(tmp_path: Path, local: Benchmark) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Agl1kError, match="cache of sounds cannot be written"):
        ClipStore(tmp_path / "file" / "cache").prepare(local, "aporee_1")


def test_the_cache_is_bounded_and_keeps_what_is_used(tmp_path: Path, sound: bytes) -> None:
    source = benchmark(a="x.mp3", b="x.mp3", c="x.mp3", d="x.mp3", e="x.mp3")
    unbounded = ClipStore(tmp_path / "all", fetch=Fetcher(sound))
    copies = {key: unbounded.prepare(source, key).path for key in "abcde"}
    limit = int(3.5 * copies["a"].stat().st_size)
    store = ClipStore(tmp_path / "cache", fetch=Fetcher(sound), max_bytes=limit, in_use_s=100)

    def age(key: str, seconds: float) -> None:
        path = store.prepare(source, key).path
        os.utime(path, (time.time() - seconds, path.stat().st_mtime))

    def kept() -> list[str]:
        names = {path.name for path in (tmp_path / "cache").iterdir()}
        clips = [key for key in "abcde" if copies[key].name in names]
        assert len(names) == 2 * len(clips)
        return clips

    for seconds, key in ((900, "a"), (1000, "b"), (800, "c")):
        age(key, seconds)
    store.prepare(source, "d")
    assert kept() == ["a", "c", "d"], "the one not used for longest goes, and only that"
    store.prepare(source, "a")
    store.prepare(source, "e")
    assert kept() == ["a", "d", "e"], "a was used again"
    store.prepare(source, "b")
    assert kept() == ["a", "b", "d", "e"], "all are in use"


def test_what_a_killed_process_left_is_cleared(tmp_path: Path, local: Benchmark) -> None:
    left, fresh = tmp_path / "cache" / "incoming-1", tmp_path / "cache" / "incoming-2"
    for path in (left, fresh):
        path.mkdir(parents=True)
        (path / "x.part").write_bytes(b"x")
    os.utime(left, (0, 0))
    ClipStore(tmp_path / "cache").prepare(local, "aporee_1")
    assert not left.exists()
    assert fresh.exists()


def test_prefetch_prepares_beforehand(tmp_path: Path, sound: bytes) -> None:
    fetcher = Fetcher(sound)
    store = ClipStore(tmp_path / "cache", fetch=fetcher)
    source = benchmark(a="x.mp3", b="x.mp3")
    store.prefetch(source, ["nowhere", "a", "b", "a"])
    eventually(lambda: store.cached(source, "a") and store.cached(source, "b"))
    assert sorted(fetcher.keys) == ["a", "b"]
    store.close()
    store.prefetch(source, ["a"])


def test_prefetch_never_blocks_and_ends(tmp_path: Path, sound: bytes) -> None:
    fetcher = Fetcher(sound)
    fetcher.go.clear()
    names = {f"k{number}": "x.mp3" for number in range(500)}
    store = ClipStore(tmp_path / "cache", fetch=fetcher)
    before = threading.active_count()
    store.prefetch(benchmark(None, None, **names), names)
    store.close()
    assert threading.active_count() <= before + 2
    fetcher.go.set()


# The route, over a real server


@contextmanager
def site_of(store: ClipStore, tokens: dict[str, tuple[Benchmark, str]]) -> Iterator[httpx.Client]:
    app = FastAPI()
    app.include_router(clip_router(store, tokens.get))
    with served(app) as url, httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
        yield client


@pytest.fixture
def site(store: ClipStore, local: Benchmark) -> Iterator[httpx.Client]:
    with site_of(store, {"7Jp-0-x_Y": (local, "aporee_1")}) as client:
        yield client


@pytest.fixture
def copy(store: ClipStore, local: Benchmark) -> bytes:
    return store.prepare(local, "aporee_1").path.read_bytes()


def test_the_route_sends_the_copy_and_no_word_more(site: httpx.Client, copy: bytes) -> None:
    answer = site.get("/clip/7Jp-0-x_Y")
    assert answer.status_code == 200
    assert answer.content == copy
    assert answer.headers["content-type"] == "audio/mpeg"
    assert answer.headers["cache-control"] == "private, max-age=3600"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["last-modified"] == "Sat, 01 Jan 2000 00:00:00 GMT"
    assert "content-disposition" not in answer.headers
    assert not [word for word in (PLACE, "aporee") if word in str(answer.headers)]


@pytest.mark.parametrize("lengths_s", [(2.02, 2.5, 2.98), (0.2, 0.99, 1.7)])
def test_lengths_in_milliseconds_cannot_be_matched(
    store: ClipStore, tmp_path: Path, lengths_s: tuple[float, ...]
) -> None:
    names = {f"k{number}": f"{number}.wav" for number in range(len(lengths_s))}
    for name, length_s in zip(names.values(), lengths_s, strict=True):
        sounds.encode(tmp_path / name, "pcm_s16le", sounds.tone(length_s))
    source = benchmark(tmp_path, **names)
    with site_of(store, {key: (source, key) for key in names}) as client:
        answers = [client.get(f"/clip/{key}") for key in names]
    told = [{**answer.headers, "date": ""} for answer in answers]
    assert told[0] == told[1] == told[2]
    assert len({answer.content for answer in answers}) == 3
    assert len({store.prepare(source, key).duration_s for key in names}) == 1


def test_head_gives_the_length(site: httpx.Client, copy: bytes) -> None:
    answer = site.head("/clip/7Jp-0-x_Y")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-length"] == str(len(copy))


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-", 0, None),
        ("bytes=0-1", 0, 2),
        ("bytes=5000-", 5000, None),
        ("bytes=100-199", 100, 200),
        ("bytes=-500", -500, None),
        ("bytes=100-99999999", 100, None),
    ],
)
def test_ranges(site: httpx.Client, copy: bytes, asked: str, start: int, end: int | None) -> None:
    answer = site.get("/clip/7Jp-0-x_Y", headers={"Range": asked})
    first = start % len(copy)
    assert answer.status_code == 206
    assert answer.content == copy[start:end]
    last = first + len(answer.content) - 1
    assert answer.headers["content-range"] == f"bytes {first}-{last}/{len(copy)}"
    assert answer.headers["content-type"] == "audio/mpeg"


def test_a_range_beyond_the_end(site: httpx.Client, copy: bytes) -> None:
    answer = site.get("/clip/7Jp-0-x_Y", headers={"Range": "bytes=99999999-"})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == f"bytes */{len(copy)}"


def test_a_browser_goes_on_only_with_the_same_copy(site: httpx.Client, copy: bytes) -> None:
    etag = site.head("/clip/7Jp-0-x_Y").headers["etag"]
    for etag_sent, status in ((etag, 206), ('"another"', 200)):
        headers = {"Range": "bytes=9-", "If-Range": etag_sent}
        assert site.get("/clip/7Jp-0-x_Y", headers=headers).status_code == status


@pytest.mark.parametrize(
    "token", ["nonsense", "aporee_1", "..%2F..%2Fetc%2Fpasswd", "%00", "a" * 5000]
)
def test_unknown_tokens(site: httpx.Client, token: str) -> None:
    answer = site.get(f"/clip/{token}")
    assert answer.status_code == 404
    if "%2F" not in token:
        assert answer.text == NO_SUCH_SOUND
        assert answer.headers["cache-control"] == "no-store"


def test_only_sounds_that_are_sent_are_noted(store: ClipStore, local: Benchmark) -> None:
    tokens = {"here": (local, "aporee_1"), "gone": (benchmark(other=PLACE), "other")}
    sent: list[str] = []
    app = FastAPI()
    app.include_router(clip_router(store, tokens.get, sent.append))
    with served(app) as url, httpx.Client(base_url=url, timeout=PATIENCE_S) as client:
        assert client.head("/clip/here").status_code == 200
        assert client.get("/clip/gone").status_code == 503
        assert client.get("/clip/unknown").status_code == 404
        assert sent == []
        client.get("/clip/here", headers={"Range": "bytes=0-1"})
    assert sent == ["here"]


@pytest.mark.server
def test_a_clip_that_cannot_be_had_is_said_in_plain_words(store: ClipStore) -> None:
    with site_of(store, {"t": (benchmark(aporee_1=PLACE), "aporee_1")}) as client:
        for answer in (client.get("/clip/t"), client.get("/clip/t", headers={"Range": "bytes=0-"})):
            assert (answer.status_code, answer.text) == (503, NO_SOUND_NOW)
            assert answer.headers["cache-control"] == "no-store"


@pytest.mark.server
def test_slow_clips_hold_up_nobody_else(tmp_path: Path, local: Benchmark, sound: bytes) -> None:
    fetcher = Fetcher(sound)
    fetcher.go.clear()
    store = ClipStore(tmp_path / "cache", fetch=fetcher)
    ready = store.prepare(local, "aporee_1")
    slow = benchmark(None, None, **{f"k{number}": "x.mp3" for number in range(60)})
    tokens = {key: (slow, key) for key in slow.index} | {"ready": (local, "aporee_1")}

    async def play(url: str) -> tuple[int, set[int]]:
        limits = httpx.Limits(max_connections=100)
        async with httpx.AsyncClient(
            base_url=url, trust_env=False, timeout=PATIENCE_S, limits=limits
        ) as client:
            waiting = [asyncio.create_task(client.get(f"/clip/{key}")) for key in slow.index]
            while len(fetcher.keys) < 8:
                await asyncio.sleep(0.01)
            answer = await client.get("/clip/ready")
            assert not any(task.done() for task in waiting)
            fetcher.go.set()
            return answer.status_code, {task.status_code for task in await asyncio.gather(*waiting)}

    with site_of(store, tokens) as client:
        assert asyncio.run(play(f"{client.base_url}")) == (200, {200})
    assert isinstance(ready, PreparedClip)


def test_a_source_that_cannot_be_reached_is_not_tried_again_immediately(
    tmp_path: Path, sound: bytes
) -> None:
    fetcher = Fetcher(sound)
    fetcher.error = UnreachableError("archive out of reach")
    store = ClipStore(tmp_path / "cache", fetch=fetcher, failure_lasts_s=60)
    far = benchmark(None, "http://127.0.0.1:9/{key}", a="a.mp3", b="b.mp3")
    for key in ("a", "b"):
        with pytest.raises(Agl1kError):
            store.prepare(far, key)
    assert fetcher.keys == ["a"]


def test_available_clips_are_listed_if_nothing_can_be_fetched(
    folder: Path, tmp_path: Path, sound: bytes
) -> None:
    fetcher = Fetcher(sound)
    store = ClipStore(tmp_path / "cache", fetch=fetcher, failure_lasts_s=60)
    names = {"here": f"{PLACE}.mp3", "cached": "c.mp3", "gone": "g.mp3"}
    assert store.available(benchmark(folder, **names)) == frozenset({"here"})
    mixed = benchmark(folder, "http://127.0.0.1:9/{key}", **names, more="m.mp3")
    store.prepare(mixed, "cached")
    assert store.available(mixed) is None
    fetcher.error = UnreachableError("archive out of reach")
    with pytest.raises(Agl1kError):
        store.prepare(mixed, "gone")
    assert store.available(mixed) == frozenset({"here", "cached"})
