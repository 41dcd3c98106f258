"""Reports on files that were looked at lately."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agl1k_core.benchmarks import Benchmark
from leaderboard.reports import RecentReports, Report


def report_on(data: bytes) -> Report:
    return Report("x.json", len(data), "", "toy")


def test_a_report_is_found_by_file_and_benchmark(toy: Benchmark) -> None:
    recent, report = RecentReports(), report_on(b"file")
    recent.put(b"file", toy, report)
    assert recent.get(bytes(bytearray(b"file")), toy) is report
    assert recent.get(b"File", toy) is None
    assert recent.get(b"file", replace(toy, clips=toy.clips[:9])) is None


@pytest.mark.parametrize(("files", "n_bytes", "left"), [(3, 100, b"cde"), (9, 2, b"de")])
def test_the_oldest_go_first(toy: Benchmark, files: int, n_bytes: int, left: bytes) -> None:
    recent = RecentReports(files, n_bytes)
    everything = [bytes([letter]) for letter in b"abcde"]
    for data in everything:
        recent.put(data, toy, report_on(data))
    assert b"".join(data for data in everything if recent.get(data, toy)) == left


def test_a_file_larger_than_all_may_be_is_not_kept(toy: Benchmark) -> None:
    recent = RecentReports(9, 3)
    recent.put(b"large", toy, report_on(b"large"))
    assert recent.get(b"large", toy) is None
