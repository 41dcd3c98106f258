"""Addresses with which people and programs open the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from fastapi.testclient import TestClient

from web.addresses import UnderPath, ending_with_slash, named_tab, query_of


@pytest.mark.parametrize(
    ("address", "query"),
    [
        ("http://x/?tab=submit&tab=play", {"tab": ["submit", "play"]}),
        ("?daily=%32%30", {"daily": ["20"]}),
        ("http://[", {}),
        ("http://x/", {}),
        ("", {}),
        (None, {}),
        (["?a=b"], {"a": ["b']"]}),
        ("?a=" + "x" * 5000, {"a": ["x" * 1997]}),
    ],
)
def test_query(address: object, query: dict[str, list[str]]) -> None:
    assert query_of(address) == query


@pytest.mark.parametrize(
    ("address", "tab"),
    [("http://x/?tab=board", "board"), ("http://x/", ""), ("?tab=<b>", ""),
     ("http://[", ""), (None, ""), (7, "")],
)  # fmt: skip
def test_the_tab_that_an_address_names(address: object, tab: str) -> None:
    assert named_tab(address, ("play", "board")) == tab


@pytest.mark.parametrize(
    ("path", "asked", "answer"),
    [
        ("/arena", "/arena", "/arena/"), ("/arena", "/arena?tab=a&x=%20", "/arena/?tab=a&x=%20"),
        ("/a/b", "/a/b", "/a/b/"), ("/a", "/a/", "path /"), ("/a", "/a/x/y", "path /x/y"),
        ("/arena", "/", "path /"), ("/a", "/arenas", "path /arenas"), ("/a", "/x", "path /x"),
        ("", "/x", "path /x"), ("", "/", "path /"), ("/arena", "//evil", "path //evil"),
    ],
)  # fmt: skip
def test_a_proxy_may_remove_the_path_or_pass_it_on(path: str, asked: str, answer: str) -> None:
    app = FastAPI()
    app.add_middleware(UnderPath, path=path)

    @app.get("/{rest:path}")
    def where(request: Request) -> str:
        return f"path {request.url.path}"

    found = TestClient(app, base_url="http://x").get(f"http://x{asked}", follow_redirects=False)
    assert (found.headers.get("location") or found.json()) == answer


@pytest.mark.parametrize("outside", ["", "/arena"])
def test_mounted_files_are_found_whatever_counts_the_path_as_its_own(
    tmp_path: Path, outside: str
) -> None:
    (tmp_path / "a.txt").write_text("here")
    inside = FastAPI()
    inside.mount("/vendor", StaticFiles(directory=tmp_path))
    inside.add_middleware(UnderPath, path="/arena")
    outer = FastAPI()
    outer.mount(outside, inside)
    assert TestClient(outer).get("/arena/vendor/a.txt").text == "here"


def test_the_page_goes_on_to_its_address_with_a_slash() -> None:
    page = "<!doctype html><html><head><title>é</title></head><head>"
    changed = ending_with_slash(page.encode()).decode()
    script, _, rest = changed.removeprefix("<!doctype html><html><head>").partition("</script>")
    assert script.startswith("<script>if (!location.pathname.endsWith")
    assert rest == "<title>é</title></head><head>"
