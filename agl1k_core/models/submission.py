"""Submits prediction files to a server's board, over the API of ``docs/leaderboard-api.md``."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from agl1k_core.errors import Agl1kError
from agl1k_core.http import (
    RETRIED_STATUSES,
    Patience,
    TransientError,
    host_of,
    network_errors,
    open_client,
    retry_after_s,
    retrying,
)
from agl1k_core.models.failures import words_of
from agl1k_core.models.provenance import bundled, provenance_beside
from agl1k_core.models.results import PREDICTIONS

_API = "gradio_api"
#: Names a try to publish; the server answers it once more if it is sent again.
_ATTEMPT = "Idempotency-Key"
PATIENCE = Patience(read_s=120.0, attempts=4, longest_wait_s=10.0)


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What a board shows about a model; see ``docs/leaderboard-api.md``.

    With a ``row`` and its ``key``, the file goes to that row: it ``replaces`` its files, or is
    another ``run``. Others may download it if it ``is_shared``.
    """

    model: str
    organisation: str = ""
    link: str = ""
    weights: str = ""
    prompt: str = ""
    model_date: str = ""
    is_shared: bool = True
    row: str = ""
    key: str = ""
    relation: str = ""


@dataclass(frozen=True)
class Submittable:
    """A prediction file as it is sent.

    Attributes
    ----------
    name, content
        The file's name, and its bytes: with its provenance in it if it has one.
    provenance
        How it came about, as ``agl1k run`` wrote it; None for other files.
    """

    name: str
    content: bytes
    provenance: Mapping[str, Any] | None = None

    @property
    def is_of_function(self) -> bool:
        """Whether a function in the process of the run answered, rather than an endpoint."""
        return self.provenance is not None and not self.provenance["endpoint"]["dialect"]

    def told(self, *path: str) -> str:
        """A text in the provenance; empty if it is not there."""
        value: Any = self.provenance
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value if isinstance(value, str) else ""


def submittable(path: Path) -> Submittable:
    """A prediction file, or that of a run's folder, with the provenance beside it.

    Raises ``Agl1kError`` if it cannot be read, or was changed after the run.
    """
    file = path / PREDICTIONS if path.is_dir() else path
    try:
        content = file.read_bytes()
    except OSError as error:
        raise Agl1kError(f"{file} cannot be read: {error.strerror}.") from None
    told = provenance_beside(file)
    if told is None:
        return Submittable(file.name, content)
    return Submittable(f"{file.stem}.json", bundled(file, told), told)


@dataclass
class BoardServer:
    """The API of a server's boards; use it in a ``with`` block.

    Parameters
    ----------
    address
        The server's address, such as ``http://127.0.0.1:7860``.
    patience
        How long to wait for an answer, and how often to try.
    """

    address: str
    patience: Patience = PATIENCE
    _client: httpx.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        try:
            self.host = host_of(self.address)
        except Agl1kError:
            raise Agl1kError(
                f"--server {self.address[:80]!r} is not a web address, such as "
                "http://127.0.0.1:7860."
            ) from None
        self._client = open_client(self.patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.close()

    def dry_run(self, file: Submittable, board: str) -> Mapping[str, Any]:
        """The report on a file, which is not stored; raises ``Agl1kError``."""
        report: Mapping[str, Any] = self._tried(self._dry_run, file, board)
        return report

    def publish(
        self, file: Submittable, board: str, card: ModelCard, attempt: str = ""
    ) -> Mapping[str, Any]:
        """Publish a file; the result has its id and the key that withdraws it.

        Trying again by the same ``attempt``, a random text, publishes nothing twice and has the
        same result. Raises ``Agl1kError``, which names the attempt if the file may be on the board.
        """
        attempt = attempt or secrets.token_urlsafe(24)
        uploaded = self._tried(self._upload, file)
        given = [uploaded, board, *astuple(card)]
        try:
            published: Mapping[str, Any] = retrying(self.patience)(
                self._call, "publish", given, {_ATTEMPT: attempt}
            )
        except TransientError as error:
            raise Agl1kError(
                f"{self.host} was tried {self.patience.tries} and {error}. {card.model!r} may be "
                f"on the board or not. Submit it again with --attempt {attempt} to publish it, or "
                "to have its withdrawal key if it is there."
            ) from None
        return published

    def _tried(self, act: Any, *given: Any) -> Any:
        try:
            return retrying(self.patience)(act, *given)
        except TransientError as error:
            advice = "Check --server and the network." if error.unreachable else "Try again later."
            raise Agl1kError(
                f"{self.host} was tried {self.patience.tries} and {error}. {advice}"
            ) from None

    def _dry_run(self, file: Submittable, board: str) -> Mapping[str, Any]:
        return self._call("dry_run", [self._upload(file), board])

    def _upload(self, file: Submittable) -> dict[str, Any]:
        sent = self._posted("upload", files={"files": (file.name, file.content)})
        if not isinstance(sent, list) or not sent or not isinstance(sent[0], str):
            raise Agl1kError(_not_a_board(self.address))
        kind = {"_type": "gradio.FileData"}
        return {"path": sent[0], "orig_name": file.name, "meta": kind}

    def _call(
        self, name: str, inputs: Sequence[object], headers: Mapping[str, str] | None = None
    ) -> Mapping[str, Any]:
        told = self._posted(f"run/{name}", json={"data": inputs}, headers=headers)
        outputs = told.get("data") if isinstance(told, Mapping) else None
        if not isinstance(outputs, list) or not outputs or not isinstance(outputs[0], Mapping):
            raise Agl1kError(_not_a_board(self.address))
        return outputs[0]

    def _posted(self, path: str, **content: Any) -> Any:
        url = f"{self.address.rstrip('/')}/{_API}/{path}"
        with network_errors():
            response = self._client.post(url, **content)
        told = _json(response)
        said = told.get("error") if isinstance(told, Mapping) else None
        # servers answer a call that went wrong, such as a refused file, with 500 and the reason
        is_refusal = response.status_code == 500 and isinstance(said, str)
        if response.status_code in RETRIED_STATUSES and not is_refusal:
            raise TransientError(
                f"answered {response.status_code}: {words_of(response.text)}",
                retry_after_s=retry_after_s(response),
            )
        if response.is_success:
            return told
        if response.status_code == 404 or not isinstance(said, str):
            raise Agl1kError(_not_a_board(self.address))
        raise Agl1kError(said)


def _json(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except ValueError:
        return None


def _not_a_board(address: str) -> str:
    return f"There is no board of AGL1K at {address}. Check --server."
