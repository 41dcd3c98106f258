"""Kill a server that plays and publishes, again and again, while the Hub misbehaves; then count.

``python -m tests.support.hub_kills --kills 50 --database sqlite:///kills.db``
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from store.database import Database
from store.guesses import GuessStore
from store.hub.comparing import compare
from store.hub.outbox import Outbox
from store.hub.publisher import Publisher
from store.hub.rewriting import join_days
from tests.support.fake_hub import FakeHub, serving
from tests.support.hub_help import ids_on, remote_to
from tests.support.processes import GuessWriter
from tests.support.waiting import eventually

FAULTS: list[dict[str, Any]] = [
    {"status": 412},
    {"status": 429, "headers": {"Retry-After": "1"}},
    {"status": 500},
    {"status": 500, "after": True},
    {"status": 503, "after": True},
    {"status": 0, "delay_s": 5},
    {"status": 200, "drip_s": 0.1},
    {"status": 500, "path": "/tree/"},
    {"status": 500, "path": "/stored/"},
]


STRIKES = ("delete", "make again", "empty", "rename")


@dataclass(frozen=True)
class Outcome:
    """Counts of acknowledged, published, lost and repeated rows."""

    kills: int
    faults: int
    commits: int
    acknowledged: int
    published: int
    lost: int
    doubled: int
    doubled_after_joining: int
    published_but_not_stored: int
    waiting: int
    differing: int


def kill_often(urls: list[str], n_kills: int, seed: int = 0) -> Outcome:
    """Run a writer for each database, killed ``n_kills`` times; then let the rest be pushed.

    Before every second kill the dataset is deleted, emptied, made again or renamed.
    """
    rng, hub, acknowledged = random.Random(seed), FakeHub(), list[str]()
    n_faults = 0
    with serving(hub):
        for _ in range(n_kills):
            faults = rng.choices(FAULTS, k=2)
            n_faults += len(faults)
            for fault in faults:
                hub.fail(**fault)
            writers = [GuessWriter(url, hub.endpoint) for url in urls]
            for writer in writers:
                acknowledged += writer.read(rng.randrange(50, 300))
            _wait_for_a_commit(hub, rng.choice([0, 10, 10, 10]))
            if rng.random() < 0.5:
                _strike(hub, rng.choice(STRIKES))
                _wait_for_a_commit(hub, rng.choice([0, 1, 10]))
            time.sleep(rng.uniform(0, 0.3))  # some are killed during a request, some after
            for writer in writers:
                acknowledged += writer.kill()
        hub.faults.clear()
        return _counted(hub, urls, acknowledged, n_kills, n_faults)


def _strike(hub: FakeHub, how: str) -> None:
    """Do what people do to datasets."""
    name = hub.now_called("tester/plays")
    if name not in hub.repos:
        return
    if how == "rename":
        hub.rename(name, f"tester/plays-{len(hub.renamed) + 1}")
    elif how == "empty":
        attributes = hub.repos[name].head.files[".gitattributes"]
        hub.repos[name].add("empty", {".gitattributes": attributes})
    else:
        del hub.repos[name]
        if how == "make again":
            hub.create(name)


def _wait_for_a_commit(hub: FakeHub, at_most_s: float) -> None:
    before, end = hub.commits(), time.monotonic() + at_most_s
    while hub.commits() == before and time.monotonic() < end:
        time.sleep(0.01)


def _counted(
    hub: FakeHub, urls: list[str], acknowledged: list[str], n_kills: int, n_faults: int
) -> Outcome:
    stored: set[str] = set()
    waiting = differing = 0
    for url in urls * 2:  # twice: each reads what the other published
        with Database(url) as database:
            eventually(Publisher(database, remote_to(hub)).push)
    for url in urls:
        with Database(url) as database:
            differing += len(compare(database, remote_to(hub)).by_name())
            waiting += Outbox(database).backlog().rows
            stored |= {guess.guess_id for guess in GuessStore(database).of_benchmark("demo")}
    published = Counter(ids_on(hub))
    n_commits = hub.commits()
    join_days(remote_to(hub), "9999-01-01")
    joined = Counter(ids_on(hub))
    return Outcome(
        kills=n_kills * len(urls),
        faults=n_faults,
        commits=n_commits,
        acknowledged=len(acknowledged),
        published=len(published),
        lost=len(set(acknowledged) - published.keys()) + len(published.keys() ^ joined.keys()),
        doubled=sum(n > 1 for n in published.values()),
        doubled_after_joining=sum(n > 1 for n in joined.values()),
        published_but_not_stored=len(published.keys() - stored),
        waiting=waiting,
        differing=differing,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--database", action="append", required=True)
    wanted = parser.parse_args()
    print(json.dumps(asdict(kill_often(wanted.database, wanted.kills))))  # noqa: T201
