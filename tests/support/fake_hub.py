"""A small Hub for tests, in memory: dataset repositories that can be written, and faults on demand.

It supports what ``huggingface_hub`` and ``datasets`` need of the real one: repositories, uploads
through LFS, commits, trees, downloads, squashing, deletion of stored files.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from tests.support.served import served

WRITE, READ = "hf_fake_write", "hf_fake_read"
USER = "tester"
ATTRIBUTES = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
DATE = "2026-01-01T00:00:00.000Z"


@dataclass
class Fault:
    """Makes requests whose path contains ``path`` fail, ``times`` times.

    With ``after``, the request is carried out, but the client gets an error. ``status``
    0 changes nothing but the time: ``delay_s`` before the answer, ``drip_s`` between its bytes.
    """

    path: str = "/commit/"
    status: int = 500
    after: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0
    drip_s: float = 0
    times: int = 1


@dataclass(frozen=True)
class Blob:
    """A file of a revision; ``lfs`` says whether its bytes are stored separately."""

    data: bytes
    lfs: bool

    @property
    def oid(self) -> str:
        return hashlib.sha256(self.data).hexdigest() if self.lfs else _git_oid(self.data)


@dataclass(frozen=True)
class Commit:
    sha: str
    title: str
    files: Mapping[str, Blob]


@dataclass
class Repo:
    """A dataset repository; ``stored`` are the LFS bytes, which outlive the revisions."""

    commits: list[Commit] = field(default_factory=list)
    stored: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    branches: list[str] = field(default_factory=list)

    def add(self, title: str, files: Mapping[str, Blob]) -> Commit:
        made = hashlib.sha1(f"{title}{len(self.commits)}{sorted(files)}".encode()).hexdigest()
        self.commits.append(Commit(made, title, dict(files)))
        return self.commits[-1]

    @property
    def head(self) -> Commit:
        return self.commits[-1]

    def put(self, path: str, data: bytes) -> None:
        """Add a file as somebody else would."""
        self.add(f"put {path}", {**self.head.files, path: Blob(data, path.endswith(".parquet"))})


class FakeHub:
    """The Hub's content, the faults to come, and the requests that it received."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.renamed: dict[str, str] = {}
        self.uploads: dict[str, bytes] = {}
        self.faults: list[Fault] = []
        self.begun: list[str] = []
        self.requests: list[tuple[str, str, int]] = []
        self.endpoint = ""
        self._lock = threading.Lock()

    @property
    def storage(self) -> str:
        """Where large files are uploaded: as on the real Hub, another host."""
        return self.endpoint.replace("127.0.0.1", "localhost")

    def repo(self, name: str = "tester/plays") -> Repo:
        """The repository of a name, or what it was renamed to."""
        return self.repos[self.now_called(name)]

    def now_called(self, name: str) -> str:
        while name not in self.repos and name in self.renamed:
            name = self.renamed[name]
        return name

    def create(self, name: str = "tester/plays") -> Repo:
        repo = self.repos[name] = Repo()
        repo.add("initial commit", {".gitattributes": Blob(ATTRIBUTES, False)})
        return repo

    def rename(self, old: str, new: str) -> None:
        """Move a repository; requests to its old name are redirected, as on the real Hub."""
        self.repos[new] = self.repos.pop(old)
        self.renamed[old] = new

    def fail(self, **fault: Any) -> None:
        with self._lock:
            self.faults.append(Fault(**fault))

    def take_fault(self, path: str) -> Fault | None:
        with self._lock:
            fault = next((fault for fault in self.faults if fault.path in path), None)
            if fault is not None:
                fault.times -= 1
                if fault.times <= 0:
                    self.faults.remove(fault)
            return fault

    def commits(self) -> int:
        """How many commits were requested."""
        return sum("/commit/" in path for path in self.begun)


@contextmanager
def serving(hub: FakeHub, port: int = 0) -> Iterator[FakeHub]:
    """Serve the hub on a port of this machine until the block ends, and set ``hub.endpoint``."""
    with served(build_app(hub), port) as hub.endpoint:
        yield hub


def build_app(hub: FakeHub) -> FastAPI:
    """The hub as ASGI."""
    app = FastAPI()
    app.state.hub = hub
    app.middleware("http")(_spoilt)
    app.exception_handler(HTTPException)(_told)
    app.get("/api/whoami-v2")(whoami)
    app.post("/api/repos/create")(create_repo)
    app.post("/api/validate-yaml")(validate_yaml)
    repo = "/api/datasets/{owner}/{name}"
    app.post(f"{repo}/preupload/{{rev}}")(preupload)
    app.post(f"{repo}/commit/{{rev}}")(commit)
    app.post(f"{repo}/super-squash/{{rev}}")(squash)
    app.post(f"{repo}/paths-info/{{rev}}")(paths_info)
    app.get(f"{repo}/tree/{{rev}}")(tree)
    app.get(f"{repo}/tree/{{rev}}/{{path:path}}")(tree)
    app.get(f"{repo}/refs")(refs)
    app.get(f"{repo}/lfs-files")(lfs_files)
    app.post(f"{repo}/lfs-files/batch")(delete_lfs_files)
    app.get(f"{repo}/xet-write-token/{{rev}}")(xet_token)
    app.get(f"{repo}/xet-read-token/{{rev}}")(xet_token)
    app.get(repo)(info)
    app.get(f"{repo}/revision/{{rev:path}}")(info)
    app.post("/datasets/{owner}/{name}.git/info/lfs/objects/batch")(lfs_batch)
    app.put("/stored/{oid}")(lfs_put)
    app.api_route("/datasets/{owner}/{name}/resolve/{rev}/{path:path}", methods=["GET", "HEAD"])(
        resolve
    )
    return app


async def _spoilt(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    hub: FakeHub = request.app.state.hub
    hub.begun.append(request.url.path)
    fault = hub.take_fault(request.url.path) or Fault(status=0)
    await asyncio.sleep(fault.delay_s)
    moved = _moved(hub, request)
    if moved and not fault.status:
        answer = Response(status_code=307, headers={"Location": moved})
    elif fault.status == 0 or fault.after:
        answer = await call_next(request)
    if fault.status:
        answer = _error(fault.status, "injected fault", **fault.headers)
    if fault.drip_s:
        answer = StreamingResponse(_drip(fault.drip_s), answer.status_code)
    hub.requests.append((request.method, request.url.path, answer.status_code))
    return answer


def _moved(hub: FakeHub, request: Request) -> str:
    """The address of a request to a renamed repository; "" if it was not renamed."""
    found = re.search(r"/datasets/([^/]+/[^/.]+)", request.url.path)
    new = hub.now_called(found[1]) if found else ""
    if found is None or found[1] == new:
        return ""
    return str(request.url).replace(f"/datasets/{found[1]}", f"/datasets/{new}", 1)


async def _drip(pause_s: float) -> AsyncIterator[bytes]:
    while True:
        yield b" "
        await asyncio.sleep(pause_s)


def _told(_: Request, error: HTTPException) -> Response:
    return _error(error.status_code, str(error.detail), **(error.headers or {}))


def _error(status: int, message: str, **headers: str) -> JSONResponse:
    return JSONResponse({"error": message}, status, {"X-Error-Message": message, **headers})


def _refuse(status: int, message: str, code: str = "") -> HTTPException:
    return HTTPException(status, message, {"X-Error-Code": code} if code else None)


def _git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _needs_write(request: Request) -> None:
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    if token != WRITE:
        raise _refuse(403 if token == READ else 401, "a token with write access is needed")


def _repo(request: Request, owner: str, name: str) -> Repo:
    hub: FakeHub = request.app.state.hub
    repo = hub.repos.get(f"{owner}/{name}")
    if repo is None:
        raise _refuse(404, "Repository not found", "RepoNotFound")
    return repo


def _revision(repo: Repo, rev: str) -> Commit:
    if unquote(rev) in ("main", "refs/heads/main"):
        return repo.head
    for made in repo.commits:
        if made.sha == rev:
            return made
    raise _refuse(404, "Invalid rev id", "RevisionNotFound")


def whoami() -> dict[str, Any]:
    return {"type": "user", "id": "0", "name": USER, "fullname": USER, "orgs": []}


async def validate_yaml() -> dict[str, Any]:
    return {"errors": [], "warnings": []}


async def create_repo(request: Request) -> Response:
    _needs_write(request)
    hub: FakeHub = request.app.state.hub
    asked = await request.json()
    name = f"{asked.get('organization') or USER}/{asked['name']}"
    url = f"{hub.endpoint}/datasets/{name}"
    if name in hub.repos:
        return JSONResponse({"error": "You already created this dataset repo", "url": url}, 409)
    hub.create(name)
    return JSONResponse({"url": url, "name": name, "id": "1"})


async def preupload(request: Request, owner: str, name: str, rev: str) -> dict[str, Any]:
    _needs_write(request)
    known = _revision(_repo(request, owner, name), rev).files

    def mode(file: dict[str, Any]) -> dict[str, Any]:
        path = file["path"]
        lfs = path.endswith(".parquet") or file["size"] > 10 * 2**20
        told = {"path": path, "uploadMode": "lfs" if lfs else "regular", "shouldIgnore": False}
        return told | ({"oid": known[path].oid} if path in known else {})

    return {"files": [mode(file) for file in (await request.json())["files"]]}


async def lfs_batch(request: Request) -> dict[str, Any]:
    hub: FakeHub = request.app.state.hub
    objects = []
    for wanted in (await request.json())["objects"]:
        told = {"oid": wanted["oid"], "size": wanted["size"], "authenticated": True}
        if wanted["oid"] not in hub.uploads:
            href = f"{hub.storage}/stored/{wanted['oid']}"
            told["actions"] = {"upload": {"href": href, "header": {}}}
        objects.append(told)
    return {"transfer": "basic", "objects": objects}


async def lfs_put(request: Request, oid: str) -> Response:
    data = await request.body()
    if hashlib.sha256(data).hexdigest() != oid:
        return Response(status_code=400)
    request.app.state.hub.uploads[oid] = data
    return Response(headers={"ETag": f'"{oid}"'})


async def commit(request: Request, owner: str, name: str, rev: str) -> dict[str, Any]:
    _needs_write(request)
    hub: FakeHub = request.app.state.hub
    repo = _repo(request, owner, name)
    lines = [json.loads(line) for line in (await request.body()).splitlines()]
    header = lines[0]["value"]
    if header.get("parentCommit") not in (None, repo.head.sha):
        raise _refuse(412, "A commit has happened since. Please refresh and try again.")
    files = dict(repo.head.files)
    for line in lines[1:]:
        _apply(hub, repo, files, line["key"], line["value"])
    made = repo.add(header["summary"], files)
    url = f"{hub.endpoint}/datasets/{owner}/{name}/commit/{made.sha}"
    return {"success": True, "commitOid": made.sha, "commitUrl": url, "hookOutput": ""}


def _apply(
    hub: FakeHub, repo: Repo, files: dict[str, Blob], change: str, value: dict[str, Any]
) -> None:
    path = value["path"]
    if change == "file":
        files[path] = Blob(base64.b64decode(value["content"]), False)
    elif change == "lfsFile":
        if value["oid"] not in hub.uploads:
            raise _refuse(400, "LFS object missing")
        files[path] = Blob(hub.uploads[value["oid"]], True)
        repo.stored[value["oid"]] = (path, files[path].data)
    elif files.pop(path, None) is None:
        raise _refuse(404, "A file with this name doesn't exist", "EntryNotFound")


def squash(request: Request, owner: str, name: str, rev: str) -> dict[str, Any]:
    _needs_write(request)
    repo = _repo(request, owner, name)
    files = _revision(repo, rev).files
    repo.commits.clear()
    repo.add("Super-squash", files)
    return {}


def lfs_files(request: Request, owner: str, name: str) -> list[dict[str, Any]]:
    _needs_write(request)
    stored = _repo(request, owner, name).stored
    return [
        {"fileOid": oid, "oid": oid, "filename": path, "size": len(data), "pushedAt": DATE}
        for oid, (path, data) in stored.items()
    ]


async def delete_lfs_files(request: Request, owner: str, name: str) -> dict[str, Any]:
    _needs_write(request)
    hub: FakeHub = request.app.state.hub
    for oid in (await request.json())["deletions"]["sha"]:
        _repo(request, owner, name).stored.pop(oid, None)
        hub.uploads.pop(oid, None)
    return {}


def xet_token() -> Response:
    """The Hub offers Xet for every large file; this one then fails whoever accepts the offer."""
    return _error(500, "Xet must not be used")


def info(request: Request, owner: str, name: str, rev: str = "main") -> dict[str, Any]:
    made = _revision(_repo(request, owner, name), rev)
    return {
        "_id": "1", "id": f"{owner}/{name}", "author": owner, "sha": made.sha, "private": False,
        "gated": False, "disabled": False, "lastModified": DATE, "createdAt": DATE, "tags": [],
        "downloads": 0, "likes": 0, "siblings": [{"rfilename": path} for path in made.files],
    }  # fmt: skip


def refs(request: Request, owner: str, name: str) -> dict[str, Any]:
    repo = _repo(request, owner, name)
    branches = [
        {"name": branch, "ref": f"refs/heads/{branch}", "targetCommit": repo.head.sha}
        for branch in ("main", *repo.branches)
    ]
    return {"branches": branches, "converts": [], "tags": [], "pullRequests": []}


def _entry(path: str, blob: Blob) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "file", "path": path, "size": len(blob.data)}
    told["oid"] = _git_oid(blob.data)
    if blob.lfs:
        told["lfs"] = {"oid": blob.oid, "size": len(blob.data), "pointerSize": 134}
    return told


def _folder(path: str) -> dict[str, Any]:
    return {"type": "directory", "path": path, "size": 0, "oid": _git_oid(path.encode())}


def tree(
    request: Request,
    owner: str,
    name: str,
    rev: str,
    path: str = "",
    recursive: bool = False,
    limit: int = 1000,
    cursor: int = 0,
) -> Response:
    files = _revision(_repo(request, owner, name), rev).files
    under = f"{unquote(path).rstrip('/')}/" if path else ""
    found: dict[str, dict[str, Any]] = {}
    for file, blob in sorted(files.items()):
        if not file.startswith(under):
            continue
        parts = file.removeprefix(under).split("/")
        for depth in range(1, len(parts) if recursive else min(2, len(parts))):
            folder = under + "/".join(parts[:depth])
            found.setdefault(folder, _folder(folder))
        if recursive or len(parts) == 1:
            found[file] = _entry(file, blob)
    if path and not found:
        raise _refuse(404, f"{path} does not exist", "EntryNotFound")
    page, more = [*found.values()][cursor : cursor + limit], cursor + limit < len(found)
    following = request.url.include_query_params(cursor=cursor + limit)
    return JSONResponse(page, headers={"Link": f'<{following}>; rel="next"'} if more else None)


async def paths_info(request: Request, owner: str, name: str, rev: str) -> list[dict[str, Any]]:
    files = _revision(_repo(request, owner, name), rev).files
    if "json" in request.headers.get("content-type", ""):
        paths = (await request.json())["paths"]
    else:
        paths = [str(path) for path in (await request.form()).getlist("paths")]
    found = []
    for path in [paths] if isinstance(paths, str) else paths:
        if path in files:
            found.append(_entry(path, files[path]))
        elif any(file.startswith(f"{path.rstrip('/')}/") for file in files):
            found.append(_folder(path))
    return found


def resolve(request: Request, owner: str, name: str, rev: str, path: str) -> Response:
    made = _revision(_repo(request, owner, name), rev)
    blob = made.files.get(path)
    if blob is None:
        raise _refuse(404, "Entry not found", "EntryNotFound")
    headers = {"X-Repo-Commit": made.sha, "ETag": f'"{blob.oid}"', "Accept-Ranges": "bytes"}
    if blob.lfs:
        headers |= {"X-Linked-Etag": f'"{blob.oid}"', "X-Linked-Size": str(len(blob.data))}
        route = f"/api/datasets/{owner}/{name}/xet-read-token/{made.sha}"
        headers |= {"X-Xet-Hash": blob.oid, "X-Xet-Refresh-Route": route}
    if request.method == "HEAD":
        return Response(headers={**headers, "Content-Length": str(len(blob.data))})
    data, status = blob.data, 200
    if wanted := request.headers.get("range"):
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        start = int(first or 0)
        end = min(int(last) if last else len(data) - 1, len(data) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(data)}"
        data, status = data[start : end + 1], 206
    return Response(data, status, headers, "application/octet-stream")
