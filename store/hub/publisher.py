"""Pushes in the background: the game never waits for the Hub, and no acknowledged row is lost."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from agl1k_core.errors import Agl1kError
from store.database import Database
from store.hub import card
from store.hub.layout import KINDS, kind_of
from store.hub.lock import hub_lock
from store.hub.outbox import Backlog, Outbox, Shard
from store.hub.reading import read_back
from store.hub.remote import CARD, MAX_FILES_PER_COMMIT, HubError, Remote, Tree
from store.hub.removals import note_withdrawals
from store.hub.rewriting import join_days, take_out

log = logging.getLogger("agl1k.hub")

COMMITS_PER_HOUR = 120  # the Hub allows about 128 per repository
_REFRESH_S = 5.0

READING_BACK = (
    "This server is still restoring what was played before. Nothing is lost: try again in a moment."
)
FULL = (
    "No answers are accepted now, because the public dataset has been unreachable for too long. "
    "Nothing that was played is lost. Please come back later."
)
BEHIND = (
    "Answers are stored, but will be published late: the public dataset is currently unreachable."
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How often to push, when to warn, when to refuse, and how long to wait.

    At most ``max_rows`` rows may wait for the Hub; from half of it, or after ``late_s``, the page
    warns. A server with an empty database accepts no answers for ``answer_s``, in which the Hub
    should list its files, and then for at most ``read_back_s``, in which they are restored.
    """

    interval_s: float = 60
    max_rows: int = 100_000
    late_s: float = 3600
    answer_s: float = 10
    read_back_s: float = 600
    max_wait_s: float = 300


class Publisher:
    """Seals and pushes the rows of a ``Database`` to a ``Remote``, from ``start`` to ``stop``."""

    def __init__(
        self,
        database: Database,
        remote: Remote,
        limits: Limits = Limits(),
        rng: random.Random | None = None,
    ) -> None:
        self._database = database
        self.remote = remote
        self._limits = limits
        self._rng = rng or random.Random()
        self._outbox = Outbox(database)
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._end_at = 0.0
        self._thread: threading.Thread | None = None
        self._backlog = Backlog(0, 0, 0, None)
        self._admitted = 0
        self._closed_until = 0.0
        self._is_read_back = False
        self._tree = Tree("")
        self._page_is_old = False
        self._released = 0
        self._unreadable: set[str] = set()
        self._told: set[str] = set()
        self._failures = 0
        self._commits: deque[float] = deque()
        self._declared: set[str] | None = None
        self._joined_on = ""
        self._state = ""

    # Called by the app

    def start(self) -> None:
        """Start the thread. An empty database accepts no answers until it is restored."""
        self._backlog = self._outbox.backlog()
        if self._outbox.is_blank():
            self._closed_until = time.monotonic() + self._limits.answer_s
        self._thread = threading.Thread(target=self._run, daemon=True, name="agl1k-hub")
        self._thread.start()

    def stop(self, flush_s: float) -> Backlog:
        """Push what is left within ``flush_s``; log and return what is still waiting."""
        if self._thread is not None:
            self._end_at = time.monotonic() + flush_s
            self._ending.set()
            self._wake.set()
            self._thread.join(flush_s)
        left = self._outbox.backlog()
        if left:
            log.warning(
                "event=stopped pending_rows=%d pending_files=%d withdrawn=%d: they remain in the "
                "database and are pushed after the next start",
                left.rows, left.shards, left.withdrawn,
            )  # fmt: skip
        else:
            log.info("event=stopped pending_rows=0")
        return left

    def admit(self) -> None:
        """Raise ``Agl1kError`` with a sentence for the player if nothing may be stored."""
        if self.is_reading_back:
            raise Agl1kError(READING_BACK)
        if self.waiting_rows >= self._limits.max_rows:
            raise Agl1kError(FULL)
        self._admitted += 1

    @property
    def is_reading_back(self) -> bool:
        """Whether an empty database is still waiting for the published rows."""
        return time.monotonic() < self._closed_until

    @property
    def waiting_rows(self) -> int:
        """About how many rows the Hub never had; not those of a dataset that lost them."""
        return max(0, self._backlog.rows - self._released) + self._admitted

    def notice(self) -> str:
        """A sentence for the page if something is wrong, or ""."""
        if self.is_reading_back:
            return READING_BACK
        if self.waiting_rows >= self._limits.max_rows:
            return FULL
        return BEHIND if self._is_behind() else ""

    def problems(self) -> list[str]:
        """Why the app is not ready; empty if it is."""
        if self.is_reading_back:
            return ["the public dataset is being restored"]
        if self.waiting_rows >= self._limits.max_rows:
            return [f"{self.waiting_rows} rows wait for the Hub, which is the limit"]
        return []

    def _is_behind(self) -> bool:
        oldest = self._backlog.oldest_utc
        age_s = (datetime.now(UTC) - oldest).total_seconds() if oldest else 0
        return self.waiting_rows * 2 >= self._limits.max_rows or age_s > self._limits.late_s

    # The thread

    def _run(self) -> None:
        while not self._ending.is_set():
            self._rest(self.turn())
        while time.monotonic() < self._end_at:
            self.turn()
            if not self._backlog:
                return
            time.sleep(min(0.5, max(0.0, self._end_at - time.monotonic())))

    def _rest(self, wait_s: float) -> None:
        end = time.monotonic() + wait_s
        while not self._ending.is_set() and (left_s := end - time.monotonic()) > 0:
            self._wake.wait(min(left_s, _REFRESH_S))
            self._refresh()

    def push(self, wait_s: float = 0) -> bool:
        """Do everything that is due; False if another process is at it for longer than ``wait_s``.

        Raises ``Agl1kError`` if the Hub or the database fails; repeat the call then.
        """
        with hub_lock(self._database, wait_s) as mine:
            try:
                if mine:
                    self._work()
            except Exception:
                self._tree = Tree("")  # what was sent may have been applied: look again
                raise
        return mine

    def turn(self) -> float:
        """Push, and never raise; returns the number of seconds until the next turn."""
        try:
            self.push()
            self._failures = 0
        except Exception as error:
            self._refresh()
            return self._after(error)
        self._refresh()
        return self._limits.interval_s

    def _after(self, error: Exception) -> float:
        """The wait after an error: random, doubling up to a limit, at least what the Hub asks."""
        self._failures += 1
        self._closed_until = 0.0  # players have waited long enough; rows are restored later
        ceiling_s = min(self._limits.max_wait_s, 2.0 ** min(self._failures, 20))
        asked_s = error.retry_after_s if isinstance(error, HubError) else None
        wait_s = max(self._rng.uniform(0, ceiling_s), asked_s or 0.0)
        known = isinstance(error, Agl1kError)
        log.warning(
            "event=failed failures=%d retry_in_s=%.1f status=%s pending_rows=%d: %s",
            self._failures, wait_s, getattr(error, "status", None), self.waiting_rows,
            error if known else type(error).__name__, exc_info=None if known else error,
        )  # fmt: skip
        return wait_s

    def _refresh(self) -> None:
        try:
            self._admitted = 0
            self._backlog = self._outbox.backlog()
            self._released = min(self._released, self._backlog.rows)
        except Agl1kError as error:
            log.warning("event=failed: %s", error)
        state = {BEHIND: "behind", FULL: "full"}.get(self.notice(), "")
        if state and state != self._state:
            log.warning(
                "event=%s pending_rows=%d bound=%d: %s",
                state, self.waiting_rows, self._limits.max_rows, self.notice(),
            )  # fmt: skip
        self._state = state

    def _work(self) -> None:
        self._look()
        note_withdrawals(self._database)
        self._outbox.seal()
        self._push()
        self._take_withdrawn_out()
        today = datetime.now(UTC).date().isoformat()
        if self._joined_on != today and not self._ending.is_set():
            self._join(today)

    def _look(self) -> None:
        """Make the dataset if there is something for it, and read what has changed there."""
        if self._tree.revision and self.remote.revision() == self._tree.revision:
            return
        tree = self.remote.tree()
        if not tree.revision and not self._outbox.is_blank():
            self.remote.ensure()
            tree = self.remote.tree()
        if self.is_reading_back:
            self._closed_until = time.monotonic() + self._limits.read_back_s
        self._read_back(tree)
        self._tree, self._declared = tree, None

    def _read_back(self, tree: Tree) -> None:
        found = read_back(self._database, self.remote, tree, self._unreadable)
        self._unreadable.update(found.unreadable)
        self._closed_until = 0.0
        if found.files or not self._is_read_back:
            log.info("event=read_back files=%d rows=%d", found.files, found.rows)
        self._is_read_back = True
        if found.released:
            self._released += found.released
            self._page_is_old = True  # it counts rows that are gone
            log.warning(
                "event=missing rows=%d: the dataset does not have them any more; they are "
                "published again", found.released,
            )  # fmt: skip
        if found.removed:
            log.info("event=removed rows=%d: another server deleted them", found.removed)
        for problem in found.problems:
            if problem not in self._told:
                log.warning("event=read_back: %s", problem)
        self._told = set(found.problems) | self._told

    def _push(self) -> None:
        while self._tree.revision and (files := self._outbox.pending(MAX_FILES_PER_COMMIT)):
            content = {file.name: file.content for file in files}
            page = self._page_for(files)
            self._spend_commit()
            made = self.remote.commit(_message(files), content | page, parent=self._tree.revision)
            self._outbox.confirm(content)
            self._tree = _after(self._tree, made, content | page)
            self._page_is_old = False
            rows = sum(file.n_rows for file in files)
            log.info("event=pushed files=%d rows=%d commit=%s", len(files), rows, made)

    def _page_for(self, files: list[Shard]) -> dict[str, bytes]:
        """The dataset's page, if these files need one that declares more than the current page."""
        kinds = {kind.name for file in files if (kind := kind_of(file.name))}
        if not self._page_is_old and self._declared is not None and kinds <= self._declared:
            return {}
        pushing = [file.name for file in files]
        return self._page(kinds, pushing, anew=self._page_is_old)

    def _page(
        self, kinds: set[str], pushing: Sequence[str] = (), *, anew: bool = False
    ) -> dict[str, bytes]:
        tree = self._tree
        there = {kind.name for name in tree.files if (kind := kind_of(name))}
        self._declared = kinds | there
        old = ""
        if CARD in tree.files:
            old = self.remote.read(tree.revision, [CARD])[CARD].decode("utf-8", "replace")
            if not card.is_ours(old):
                log.warning(
                    "event=page: the dataset's README.md was not written by AGL1K and is left "
                    "unchanged. Delete it there to get one that declares the columns."
                )
                return {}
        is_right = card.declares(old, self._declared) and not anew
        if is_right or card.is_newer(old):  # a newer server's page declares more than ours
            return {}
        wanted = [name for name in KINDS if name in self._declared]
        numbers, now = card.count(self._database, pushing), datetime.now(UTC)
        return {CARD: card.build(self.remote.repo, wanted, numbers, now).encode()}

    def _take_withdrawn_out(self) -> None:
        ids = self._outbox.withdrawn()
        if not ids:
            return
        self._outbox.drop("submission_id", ids)
        self._spend_commit()
        gone = take_out(self.remote, "submission_id", ids)
        self._outbox.confirm(gone.deleted)  # the waiting files of these names were rewritten there
        self._outbox.taken_out(ids)
        self._tree = Tree("")
        log.info("event=withdrawn submissions=%d rows=%d", len(ids), len(gone.rows))

    def _join(self, today: str) -> None:
        """Once a day: read what others published, join files by day, update the page."""
        if self._outbox.nothing_published():
            return
        done = join_days(self.remote, today)
        self._look()
        page = self._page(set(), anew=bool(done.n_deleted))
        if page:
            self._spend_commit()
            self.remote.commit("Update the page", page)
            self._tree = Tree("")
        self._joined_on = today
        log.info("event=joined files=%d into=%d", done.n_deleted, len(done.made))

    def _spend_commit(self) -> None:
        """Stay below the Hub's hourly quota."""
        now = time.monotonic()
        while self._commits and self._commits[0] < now - 3600:
            self._commits.popleft()
        if len(self._commits) >= COMMITS_PER_HOUR:
            wait_s = self._commits[0] + 3600 - now
            raise HubError(
                "This hour's commits are used up; the rest is pushed later.", None, wait_s
            )
        self._commits.append(now)


def _after(tree: Tree, revision: str, sent: Mapping[str, bytes]) -> Tree:
    """The dataset after a commit; unknown if it may have changed nothing, and so proves nothing."""
    if tree.files.keys() & sent.keys() - {CARD}:
        return Tree("")
    sizes = {name: len(content) for name, content in sent.items()}
    return replace(tree, revision=revision, files={**tree.files, **sizes})


def _message(files: list[Shard]) -> str:
    rows = sum(file.n_rows for file in files)
    return f"Add {rows} rows in {len(files)} files"
