"""Decoding in another process: the same results, and a crash is an error like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agl1k_core import audio
from agl1k_core.errors import Agl1kError
from tests.support import sounds
from tests.support.processes import children, has_opened, is_running
from tests.support.waiting import eventually

pytestmark = pytest.mark.server


@pytest.fixture
def shelter() -> Iterator[audio.Shelter]:
    shelter = audio.Shelter()
    yield shelter
    shelter.close()


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    return sounds.endless(tmp_path / "endless.wav")


def test_results_are_those_of_this_process(tmp_path: Path, shelter: audio.Shelter) -> None:
    path = sounds.encode(tmp_path / "tönen 音\udcff.flac", "flac", sounds.tone(2, 2))
    shelter.check_beginning(path)
    assert shelter.outline(path, 20) == audio.outline(path, 20)
    copy = shelter.served_copy(path, tmp_path / "copy")
    assert copy == tmp_path / "copy.mp3"
    ours = audio.served_copy(path, tmp_path / "ours")
    assert copy.read_bytes() == ours.read_bytes()


def test_errors_are_those_of_this_process(tmp_path: Path, shelter: audio.Shelter) -> None:
    (tmp_path / "a.mp3").touch()
    with pytest.raises(Agl1kError, match="empty"):
        shelter.outline(tmp_path / "a.mp3")
    with pytest.raises(Agl1kError, match="No such file"):
        shelter.check_beginning(tmp_path / "b.mp3")
    with pytest.raises(Agl1kError, match="empty"):
        shelter.served_copy(tmp_path / "a.mp3", tmp_path / "copy")


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_costs_one_file(
    tmp_path: Path, shelter: audio.Shelter, endless: Path, number: signal.Signals
) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le")
    with ThreadPoolExecutor(1) as threads:
        before = children()
        crashing = threads.submit(shelter.outline, endless)
        eventually(lambda: any(has_opened(one, endless) for one in children() - before))
        for process in children() - before:
            os.kill(process, number)
        with pytest.raises(audio.CrashedError, match=r"crashed on this file\. Convert the file"):
            crashing.result()
    assert shelter.outline(path, 5) == audio.outline(path, 5)


def test_a_process_that_ended_between_two_files_is_replaced(
    tmp_path: Path, shelter: audio.Shelter
) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le")
    before = children()
    shelter.outline(path, 5)
    for process in children() - before:
        os.kill(process, signal.SIGKILL)
    eventually(lambda: not (children() - before))
    assert shelter.outline(path, 5) == audio.outline(path, 5)


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path, endless: Path) -> None:
    shelter = audio.Shelter(1, patience_s=1)
    with pytest.raises(audio.CrashedError, match=r"given up after 1 s\. Shorten or convert"):
        shelter.outline(endless)
    shelter.close()


def test_closing_ends_what_is_being_decoded(shelter: audio.Shelter, endless: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        before = children()
        decoding = threads.submit(shelter.outline, endless)
        eventually(lambda: children() - before)
        (process,) = children() - before
        shelter.close()
        with pytest.raises(Agl1kError, match="program is ending"):
            decoding.result()
    assert not is_running(process)
    with pytest.raises(Agl1kError, match="program is ending"):
        shelter.check_beginning(endless)


def test_threads_share_a_few_processes(tmp_path: Path, shelter: audio.Shelter) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le")
    expected = audio.outline(path, 5)
    before, seen = children(), set[int]()
    asked = threading.Barrier(8)

    def ask() -> object:
        asked.wait()
        found = shelter.outline(path, 5)
        seen.update(children() - before)
        return found

    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(ask) for _ in range(8)]
        assert all(answer.result() == expected for answer in answers)
    assert 1 <= len(seen) <= 2


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    path = sounds.encode(tmp_path / "a.wav", "pcm_s16le")
    script = (
        "import os, sys, pathlib\n"
        "from agl1k_core import audio\n"
        "from tests.support.processes import children\n"
        "audio.Shelter().check_beginning(pathlib.Path(sys.argv[1]))\n"
        "print(*children(), flush=True)\n"
        "os._exit(1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path],
        stdout=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    (process,) = map(int, done.stdout.split())
    eventually(lambda: not is_running(process))
