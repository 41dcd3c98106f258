"""The fake Hub does what clients of the real one rely on, and fails on demand."""

from __future__ import annotations

from typing import Any

import pytest
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.support.fake_hub import READ, WRITE, FakeHub

REPO = "tester/plays"
IT: dict[str, Any] = {"repo_id": REPO, "repo_type": "dataset"}


@pytest.fixture
def api(hub: FakeHub) -> HfApi:
    api = HfApi(endpoint=hub.endpoint, token=WRITE)
    api.create_repo(**IT)
    return api


def add(api: HfApi, files: dict[str, bytes], **options: Any) -> str:
    operations = [CommitOperationAdd(path, data) for path, data in files.items()]
    made = api.create_commit(**IT, operations=operations, commit_message="add", **options)
    return str(made.oid)


def read(api: HfApi, path: str, tmp_path: Any) -> bytes:
    with open(api.hf_hub_download(**IT, filename=path, local_dir=tmp_path), "rb") as file:  # noqa: PTH123
        return file.read()


def test_a_repository_is_created_once(hub: FakeHub, api: HfApi) -> None:
    api.create_repo(**IT, exist_ok=True)
    with pytest.raises(HfHubHTTPError, match="already created"):
        api.create_repo(**IT)
    assert api.repo_info(**IT).sha == hub.repo().head.sha
    with pytest.raises(RepositoryNotFoundError):
        api.repo_info("tester/other", repo_type="dataset")


@pytest.mark.parametrize(("token", "status"), [(READ, 403), (False, 401)])
def test_only_a_token_with_write_access_writes(
    hub: FakeHub, api: HfApi, token: Any, status: int
) -> None:
    other = HfApi(endpoint=hub.endpoint, token=token)
    with pytest.raises(HfHubHTTPError) as error:
        add(other, {"a.txt": b"a"})
    assert error.value.response.status_code == status
    assert "a.txt" not in hub.repo().head.files


def test_files_are_added_listed_read_and_deleted(hub: FakeHub, api: HfApi, tmp_path: Any) -> None:
    files = {"a.txt": b"text", "data/b.parquet": b"PAR1 large", "data/x/c.parquet": b"PAR1 c"}
    add(api, files)
    listed = {item.path for item in api.list_repo_tree(**IT, recursive=True)}
    assert listed == {".gitattributes", "data", "data/x", *files}
    assert hub.repo().head.files["data/b.parquet"].lfs
    assert not hub.repo().head.files["a.txt"].lfs
    for path, data in files.items():
        assert read(api, path, tmp_path) == data
    delete = [CommitOperationDelete("a.txt")]
    api.create_commit(**IT, operations=delete, commit_message="delete")
    with pytest.raises(EntryNotFoundError):
        api.hf_hub_download(**IT, filename="a.txt", local_dir=tmp_path / "other")
    with pytest.raises(HfHubHTTPError, match="doesn't exist"):
        api.create_commit(**IT, operations=[CommitOperationDelete("a.txt")], commit_message="again")


def test_the_same_bytes_again_make_no_commit(hub: FakeHub, api: HfApi) -> None:
    add(api, {"data/b.parquet": b"PAR1"})
    n_commits = len(hub.repo().commits)
    add(api, {"data/b.parquet": b"PAR1"})
    assert len(hub.repo().commits) == n_commits


def test_a_stale_parent_is_refused(hub: FakeHub, api: HfApi) -> None:
    parent = add(api, {"a.txt": b"1"})
    add(api, {"a.txt": b"2"}, parent_commit=parent)
    with pytest.raises(HfHubHTTPError, match="commit has happened since") as error:
        add(api, {"a.txt": b"3"}, parent_commit=parent)
    assert error.value.response.status_code == 412


def test_squashing_leaves_one_revision_and_purging_no_bytes(hub: FakeHub, api: HfApi) -> None:
    first = add(api, {"data/b.parquet": b"PAR1 one"})
    add(api, {"data/b.parquet": b"PAR1 two"})
    api.super_squash_history(**IT)
    assert len(hub.repo().commits) == 1
    with pytest.raises(RevisionNotFoundError):
        api.repo_info(**IT, revision=first)
    assert len(hub.repo().stored) == 2
    api.permanently_delete_lfs_files(**IT, lfs_files=list(api.list_lfs_files(**IT)))
    assert not hub.repo().stored
    assert not hub.uploads


def test_a_long_tree_comes_in_pages(hub: FakeHub, api: HfApi) -> None:
    for number in range(1005):
        hub.repo().head.files[f"data/{number:04}.txt"] = hub.repo().head.files[".gitattributes"]  # type: ignore[index]
    assert len(list(api.list_repo_tree(**IT, path_in_repo="data"))) == 1005


@pytest.mark.parametrize("after", [False, True])
def test_a_fault_spoils_one_request_before_or_after_it_was_done(
    hub: FakeHub, api: HfApi, after: bool
) -> None:
    hub.fail(status=500, after=after)
    with pytest.raises(HfHubHTTPError, match="injected fault"):
        add(api, {"a.txt": b"a"})
    assert ("a.txt" in hub.repo().head.files) == after
    add(api, {"b.txt": b"b"})
    assert "b.txt" in hub.repo().head.files


def test_a_fault_sends_its_headers(hub: FakeHub, api: HfApi) -> None:
    hub.fail(status=429, headers={"Retry-After": "7"})
    with pytest.raises(HfHubHTTPError) as error:
        add(api, {"a.txt": b"a"})
    assert error.value.response.headers["Retry-After"] == "7"
