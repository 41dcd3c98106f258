"""The dataset repository on the Hub: every call ends, however the Hub behaves."""

from __future__ import annotations

import logging
import math
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    close_session,
    constants,
    get_session,
    set_client_factory,
)
from huggingface_hub.errors import (
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
)
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils import logging as hub_logging
from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]
from huggingface_hub.utils.tqdm import disable_progress_bars

from agl1k_core.errors import Agl1kError
from agl1k_core.http import retry_after_s
from store.hub.layout import kind_of

T = TypeVar("T")

MAX_FILES_PER_COMMIT = 50
_UPLOADED_FOR = timedelta(days=1)
_LONGEST_WAIT_S = 3600.0
_LISTING_S = 30.0  # an empty server waits for it before it accepts answers
CARD = "README.md"


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a revision with their sizes in bytes, and the hashes of large files."""

    revision: str
    files: Mapping[str, int] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()


class HubError(Agl1kError):
    """A call to the Hub failed; ``retry_after_s`` is how long the Hub asks to wait."""

    def __init__(
        self, message: str, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s


class Remote:
    """One dataset repository; creating the object does not use the network.

    Every method raises ``HubError`` if it does not succeed within ``deadline_s``. What it sent may
    have been applied nevertheless.
    """

    def __init__(
        self,
        repo: str,
        token: str | None,
        endpoint: str | None = None,
        *,
        timeout_s: float = 30,
        deadline_s: float = 180,
    ) -> None:
        self.repo = repo
        self._api = HfApi(endpoint=endpoint, token=token or False)
        self._host = _host_of(httpx2.URL(self._api.endpoint))
        self._deadline_s = deadline_s
        self._where: dict[str, Any] = {"repo_id": repo, "repo_type": "dataset"}
        _behave(timeout_s)

    @property
    def page(self) -> str:
        """The address of the dataset."""
        return f"{self._api.endpoint}/datasets/{self.repo}"

    def ensure(self) -> None:
        """Create the repository unless it exists."""

        def ensure() -> None:
            try:
                self._api.repo_info(**self._where)
            except RepositoryNotFoundError:
                self._api.create_repo(**self._where, exist_ok=True)

        self._call(ensure)

    def revision(self) -> str:
        """The newest revision; "" if the repository does not exist."""

        def revision() -> str:
            try:
                return str(self._api.repo_info(**self._where).sha)
            except RepositoryNotFoundError:
                return ""

        return self._call(revision, _LISTING_S)

    def tree(self) -> Tree:
        """All files of the newest revision; none if the repository does not exist."""

        def tree() -> Tree:
            try:
                sha = str(self._api.repo_info(**self._where).sha)
            except RepositoryNotFoundError:
                return Tree("")
            listed = self._api.list_repo_tree(**self._where, revision=sha, recursive=True)
            found = [file for file in listed if isinstance(file, RepoFile)]
            stored = frozenset(file.lfs.sha256 for file in found if file.lfs)
            return Tree(sha, {file.path: file.size for file in found}, stored)

        return self._call(tree, _LISTING_S)

    def read(self, revision: str, names: Sequence[str]) -> dict[str, bytes]:
        """The content of some files of a revision."""

        def read() -> dict[str, bytes]:
            with tempfile.TemporaryDirectory(prefix="agl1k-hub-") as folder:
                self._api.snapshot_download(
                    **self._where, revision=revision, allow_patterns=list(names), local_dir=folder
                )
                return {name: (Path(folder) / name).read_bytes() for name in names}

        return self._call(read) if names else {}

    def commit(
        self,
        message: str,
        add: Mapping[str, bytes],
        delete: Iterable[str] = (),
        parent: str | None = None,
    ) -> str:
        """Add and delete files in one commit; returns its hash.

        Files that exist with the same content are not changed. With ``parent``, the Hub refuses the
        commit (412) unless that is still the newest revision.
        """

        def commit() -> str:
            changes: list[Any] = [CommitOperationAdd(path, data) for path, data in add.items()]
            changes += [CommitOperationDelete(path) for path in delete]
            made = self._api.create_commit(
                **self._where, operations=changes, commit_message=message, parent_commit=parent
            )
            return str(made.oid)

        return self._call(commit)

    def squash(self) -> None:
        """Make the newest revision the only one of its branch."""
        self._call(lambda: self._api.super_squash_history(**self._where))

    def purge(self, deleted: Collection[str]) -> int:
        """Delete the stored bytes of ``deleted`` files, and of ours that are no longer in use.

        Recent uploads are kept: another server may be about to commit them. Returns the number of
        files whose bytes were deleted.
        """
        long_ago = datetime.now(UTC) - _UPLOADED_FOR

        def purge() -> int:
            listed = [
                file
                for file in self._api.list_lfs_files(**self._where)
                if file.filename in deleted
                or (kind_of(file.filename) and file.pushed_at < long_ago)
            ]
            kept = self.tree().stored  # listed last, so that nothing in use is missed
            gone = [file for file in listed if file.oid not in kept]
            self._api.permanently_delete_lfs_files(**self._where, lfs_files=gone)
            return len(gone)

        return self._call(purge)

    def other_refs(self) -> list[str]:
        """Names of branches, tags and pull requests other than the main branch."""

        def refs() -> list[str]:
            found = self._api.list_repo_refs(**self._where, include_pull_requests=True)
            groups = (found.branches, found.tags, found.converts, found.pull_requests or [])
            return [ref.ref for group in groups for ref in group if ref.name != "main"]

        return self._call(refs)

    def _call(self, act: Callable[[], T], most_s: float = math.inf) -> T:
        try:
            return within(min(self._deadline_s, most_s), act)
        except Agl1kError:
            raise
        except Exception as error:
            raise self._explained(error) from error

    def _explained(self, error: BaseException) -> HubError:
        """The error in words: host and status, never an address or a body, which may be signed."""
        cause = _cause(error)
        if isinstance(cause, TimeoutError):
            close_session()  # connections that hang must not be used again
        host = _host(cause) or self._host
        answer = getattr(cause, "response", None)
        if answer is None:
            return HubError(f"The Hub cannot be reached at {host} ({_why(cause)}). {_AGAIN}")
        status = answer.status_code
        known = _SENTENCES.get(status, _OTHER) if host == self._host or status == 429 else _OTHER
        sentence = known.format(status=status, repo=self.repo, host=host)
        return HubError(sentence, status, _asked_s(answer))


_AGAIN = "AGL1K will try again."
_OTHER = f"The Hub answered with status {{status}} at {{host}}. {_AGAIN}"
_SENTENCES = {
    401: "The Hub does not accept the token (401). Set AGL1K_HUB_TOKEN to a valid one.",
    403: "The token may not write to the dataset {repo} (403). Set AGL1K_HUB_TOKEN to one with "
    "write access to it.",
    404: "The Hub has no dataset {repo} that the token may read, or no such file in it (404).",
    412: "Someone else changed the dataset {repo} at the same time (412). AGL1K will try again.",
    429: "The Hub asks clients to wait (429): too many requests or commits. AGL1K will try again.",
}


def within(deadline_s: float, act: Callable[[], T]) -> T:
    """The result of ``act``; raises ``TimeoutError`` if it takes longer, and abandons its thread.

    The time-out of a connection is not enough: a server that sends single bytes never exceeds it.
    """
    outcome: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(act())
        except BaseException as error:  # raised again in the caller's thread
            errors.append(error)

    worker = threading.Thread(target=run, daemon=True, name="agl1k-hub-call")
    worker.start()
    worker.join(deadline_s)
    if errors:
        raise errors[0]
    if not outcome:
        raise TimeoutError(f"no answer within {deadline_s:g} s")
    return outcome[0]


def _behave(timeout_s: float) -> None:
    """Set time-outs, which the library lacks by default; no progress bars, no addresses in logs.

    Xet, the library's default way to store files, is switched off: its client has a network stack
    of its own, without these time-outs and hooks, and saves nothing on files as small as ours.
    Every repository also accepts Git LFS.
    """
    constants.HF_HUB_DISABLE_XET = True
    timeout = httpx2.Timeout(timeout_s, connect=min(timeout_s, 10))

    hooks = get_session().event_hooks  # they respect HF_HUB_OFFLINE

    def client() -> httpx2.Client:
        return httpx2.Client(event_hooks=hooks, follow_redirects=True, timeout=timeout)

    set_client_factory(client)
    disable_progress_bars()
    hub_logging.set_verbosity(logging.ERROR)


def _cause(error: BaseException) -> BaseException:
    """What failed: the library wraps it, when it uploads in threads or looks into its cache."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, (httpx2.HTTPError, OfflineModeIsEnabled, TimeoutError)):
            return seen
        seen = seen.__cause__ or seen.__context__
    return error


def _host(cause: BaseException) -> str:
    """The host that was asked, with its port; "" if no request was made."""
    answer = getattr(cause, "response", None)
    with suppress(RuntimeError):  # its request is not known
        if isinstance(cause, httpx2.HTTPError):
            request = cause.request if answer is None else answer.request
            return _host_of(request.url)
    return ""


def _host_of(url: httpx2.URL) -> str:
    return url.netloc.decode("ascii", "replace")


def _why(cause: BaseException) -> str:
    if isinstance(cause, OfflineModeIsEnabled):
        return "offline mode is on"
    reason = str(cause) if isinstance(cause, TimeoutError) else ""
    return reason or type(cause).__name__


def _asked_s(answer: httpx2.Response) -> float | None:
    """How long the Hub asks to wait, at most an hour: a wrong clock must not stop the pushes."""
    limit = parse_ratelimit_headers(answer.headers)
    waits = [retry_after_s(answer)]
    if limit is not None and limit.remaining == 0:
        waits.append(limit.reset_in_seconds)
    asked = [wait_s for wait_s in waits if wait_s is not None]
    return min(max(asked), _LONGEST_WAIT_S) if asked else None
