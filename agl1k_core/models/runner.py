"""Asks a model about the clips of a benchmark, many at a time, and resumes where it was stopped."""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agl1k_core.errors import Agl1kError
from agl1k_core.http import Patience, TransientError, retrying
from agl1k_core.models.approaches import Approach, CannotAskError
from agl1k_core.models.conversations import Conversation, PassingError
from agl1k_core.models.endpoint import Model
from agl1k_core.models.failures import EndpointError, Failure, Scope, Trouble
from agl1k_core.models.fingerprints import fingerprint
from agl1k_core.models.history import History
from agl1k_core.models.journal import Journal
from agl1k_core.models.messages import Message, Sound
from agl1k_core.models.replies import Reply, Usage, read_reply, usage_within
from agl1k_core.models.sounds import Treatment, prepare
from agl1k_core.models.spending import Budget, Pace, Price, StoppedError, cost_of, size_s

#: So many clips in a row without an answer end a run.
_MOST_IN_A_ROW = 5
_PREPARERS = 2
_INTERRUPTED = "The run was interrupted. The same command resumes it."
#: Words about the size of a request rather than the duration of a recording.
_OF_SIZE = re.compile(r"\b(large|size|bytes|payload|body|[KM]i?B)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Task:
    """A clip to ask about in a pass; ``path`` is its recording, None if no sound is sent."""

    n_pass: int
    key: str
    path: Path | None


@dataclass
class Progress:
    """What the runner tells while it works: counts since the process began, tokens and cost."""

    n_done: int = 0
    n_failed: int = 0
    tokens: int = 0
    cost: float | None = None
    cost_source: str = ""


@dataclass
class Runner:
    """One process's share of a run.

    Parameters
    ----------
    model
        The model.
    approach
        How it is asked about a clip.
    journal, history
        The open journal, and what it said when it was opened.
    treatment
        How recordings are prepared.
    patience
        How long to wait for an answer, and how often to try.
    pace, budget, price
        What may be spent.
    probe_tokens
        The most tokens of an answer to ``probe``, if answers about clips have such a limit, so that
        an endpoint that calls it otherwise is noticed.
    keep_samples
        Whether the model needs samples rather than encoded sound.
    report
        Called after each clip, by one thread at a time.
    """

    model: Model
    approach: Approach
    journal: Journal
    history: History
    treatment: Treatment
    patience: Patience
    pace: Pace = field(default_factory=lambda: Pace(None))
    budget: Budget = field(default_factory=Budget)
    price: Price | None = None
    probe_tokens: int | None = None
    keep_samples: bool = False
    report: Callable[[Progress], object] = lambda progress: None

    def __post_init__(self) -> None:
        self.stop = threading.Event()
        self.progress = Progress()
        self._why = ""
        self._in_a_row = 0
        self._lock = threading.Lock()
        self._reporting = threading.Lock()
        for usage, seconds in self.history.usages:
            self.note(usage)
            self.budget.add(cost_of(usage, self.price)[0], seconds)

    def probe(self, messages: Sequence[Message]) -> Reply:
        """Ask something that is not about a clip, and keep the response.

        Raises ``EndpointError`` if there is no answer, ``TransientError`` if there is no response.
        """
        patience = replace(self.patience, attempts=min(3, self.patience.attempts))
        try:
            return retrying(patience, self.stop)(self._probed, messages)
        except PassingError as error:
            raise EndpointError(error.failure) from None

    def _probed(self, messages: Sequence[Message]) -> Reply:
        self.pace.wait(self.stop)
        raw = self.model.send(messages, max_tokens=self.probe_tokens)
        self.journal.append(
            "probe", status=raw.status, body=raw.body, seconds=raw.seconds,
            size_s=round(size_s(messages), 3),
        )  # fmt: skip
        usage = usage_within(raw)
        self.note(usage)
        self.budget.add(cost_of(usage, self.price)[0], size_s(messages))
        try:
            return read_reply(raw)
        except EndpointError as error:
            if error.failure.scope is Scope.MOMENT:
                raise PassingError(error.failure) from None
            raise

    def run(self, tasks: Sequence[Task], concurrency: int) -> str:
        """Ask about all clips; returns why it stopped early, or "" if it did not.

        After Ctrl-C, answers under way are still received and kept.
        """
        ready: queue.Queue[tuple[Task, Sound | None] | None] = queue.Queue(max(2, concurrency // 2))
        todo = iter(tasks)
        with ThreadPoolExecutor(_PREPARERS + concurrency + 1, thread_name_prefix="run") as pool:
            preparers = [pool.submit(self._prepare_all, todo, ready) for _ in range(_PREPARERS)]
            askers = [pool.submit(self._ask_all, ready) for _ in range(concurrency)]
            try:
                for future in preparers:
                    future.result()
                for _ in askers:
                    self._put(ready, None)
                for future in askers:
                    future.result()
            except BaseException as error:
                self._end(str(error) if isinstance(error, Agl1kError) else _INTERRUPTED)
                if not isinstance(error, Agl1kError | KeyboardInterrupt):
                    raise
        return self._why

    def _end(self, why: str) -> None:
        with self._lock:
            self._why = self._why or why
        self.stop.set()

    # --- preparing ------------------------------------------------------------------------------

    def _prepare_all(
        self, todo: Iterator[Task], ready: queue.Queue[tuple[Task, Sound | None] | None]
    ) -> None:
        while not self.stop.is_set():
            with self._lock:
                task = next(todo, None)
            if task is None:
                return
            try:
                sound = self._prepared(task, self.treatment)
            except Agl1kError as error:
                self._give_up(task, str(error), Scope.MOMENT)
            except BaseException as error:
                self._end(f"A recording could not be prepared: {error!r}.")
                raise
            else:
                self._put(ready, (task, sound))

    def _prepared(self, task: Task, treatment: Treatment) -> Sound | None:
        if task.path is None:
            return None
        self._keep_fingerprint(task.key, task.path)
        sound = prepare(task.path, treatment)
        return sound if self.keep_samples else replace(sound, samples=None)

    def _keep_fingerprint(self, key: str, path: Path) -> None:
        """Note which recording a clip had, so that a changed one is noticed later."""
        with self._lock:
            is_new = key not in self.history.recordings
            self.history.recordings.setdefault(key, [])
        if is_new:
            found = fingerprint(path)
            self.history.recordings[key] = found
            self.journal.append("recording", durable=False, clip=key, recording=found)

    def _put(self, ready: queue.Queue[Any], item: object) -> None:
        while not self.stop.is_set():
            try:
                ready.put(item, timeout=0.2)
            except queue.Full:
                continue
            return

    # --- asking ---------------------------------------------------------------------------------

    def _ask_all(self, ready: queue.Queue[tuple[Task, Sound | None] | None]) -> None:
        while not self.stop.is_set():
            try:
                item = ready.get(timeout=0.2)
            except queue.Empty:
                continue
            if item is None:
                return
            try:
                self._ask_about(*item)
            except Agl1kError as error:
                self._end(str(error))
            except BaseException as error:
                self._end(f"An answer could not be handled: {error!r}.")
                raise

    def _ask_about(self, task: Task, sound: Sound | None) -> None:
        try:
            self._converse(task, sound)
        except CannotAskError as error:
            self._give_up(task, str(error), Scope.MOMENT)
        except EndpointError as error:
            if error.failure.scope is Scope.RUN:
                raise StoppedError(self.model.sentence(error.failure)) from None
            self._give_up(task, str(error), Scope.CLIP)
            if error.failure.trouble is Trouble.REJECTED:
                self._count_failure(f"answered {error}", "Look at what it says")
        except TransientError as error:
            if self.stop.is_set():
                return
            self._give_up(task, f"tried {self.patience.tries}: it {error}", Scope.MOMENT)
            advice = "Check the network" if error.unreachable else "Try again later"
            self._count_failure(str(error), advice)
        else:
            self._report(failed=False)

    def _report(self, *, failed: bool) -> None:
        with self._reporting:
            if failed:
                self.progress.n_failed += 1
            else:
                self._in_a_row = 0
                self.progress.n_done += 1
            self.report(self.progress)

    def _converse(self, task: Task, sound: Sound | None) -> None:
        try:
            self._hold(task, sound)
        except EndpointError as error:
            smaller = self._smaller(task, sound, error.failure)
            if smaller is None:
                raise
            self._hold(task, smaller)

    def _hold(self, task: Task, sound: Sound | None) -> None:
        conversation = Conversation(self, task.n_pass, task.key)
        self.approach.converse(task.key, sound, conversation)
        conversation.close()

    def _smaller(self, task: Task, sound: Sound | None, failure: Failure) -> Sound | None:
        """The recording in a format that takes less room, if the request was too large."""
        too_large = failure.status == 413 or _OF_SIZE.search(failure.words)
        if (
            failure.trouble is not Trouble.TOO_LONG
            or not too_large
            or sound is None
            or sound.format != "wav"
        ):
            return None
        if "mp3" not in self.treatment.formats:
            return None
        return self._prepared(task, replace(self.treatment, format="mp3"))

    def _give_up(self, task: Task, words: str, scope: Scope) -> None:
        self.journal.append(
            "failed", n_pass=task.n_pass, clip=task.key, words=words, scope=scope.value
        )
        self._report(failed=True)

    def _count_failure(self, what: str, advice: str) -> None:
        with self._lock:
            self._in_a_row += 1
            too_many = self._in_a_row >= _MOST_IN_A_ROW
        if too_many:
            raise StoppedError(
                f"{_MOST_IN_A_ROW} clips in a row got no answer: the endpoint {what}. {advice}, "
                "then run the same command: it resumes."
            )

    def note(self, usage: Usage) -> None:
        """Count what a response took."""
        cost, source = cost_of(usage, self.price)
        with self._lock:
            progress = self.progress
            progress.tokens += (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
            if cost is not None:
                progress.cost = (progress.cost or 0.0) + cost
                progress.cost_source = source
