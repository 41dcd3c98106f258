"""Files that are not predictions, dropped on the Submit tab: each is explained."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import app as app_module
from tests.browser.conftest import running
from web.settings import Settings

KEY = "demo_01"
DROP = """([name, content]) => {
  const bytes = Uint8Array.from(atob(content), (char) => char.charCodeAt(0));
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([bytes], name));
  const target = document.querySelector('#agl-file input[type=file]').closest('button');
  for (const type of ['dragenter', 'dragover', 'drop'])
    target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
}"""


def _zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.json", "[]")
        archive.writestr("<img src=x>.json", "[]")
    return packed.getvalue()


BAD = [
    ("a.zip", _zipped(), "with 2 files: a.json, <img src=x>.json"),
    ("cut.gz", gzip.compress(b"[]")[:-3], "The gzip file has no end"),
    ("bomb.gz", gzip.compress(bytes(5_000_000)), "contains more than 1 MB"),
    ("a.exe", b"MZ\0\0" * 99, "binary"),
    ("empty.json", b"", "empty"),
    ("deep.json", b"[" * 200_000, "nested too deeply"),
    ("latin1.csv", b"key,latitude\n\xe9,1\n", "not UTF-8"),
    ("half.json", b'[{"key": "' + KEY.encode(), "is cut off"),
    ("page.json", b"<!doctype html><p>404", "names none of the columns"),
    ("twice.json", json.dumps([{"key": KEY}] * 2).encode(), "already in record 1"),
    ("other.json", json.dumps([{"key": "<img src=x onerror=alert(1)>"}]).encode(), "no such clip"),
    (
        "same.json",
        f'[{{"key": "{KEY}", "latitude": 1, "latitude": 2}}]'.encode(),
        "contains it twice",
    ),
    ("long.jsonl", b'{"key": "x"}\n' * 60_000, "many more than there are clips"),
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("files")
    settings = Settings.from_env({"AGL1K_DATA": str(folder), "AGL1K_MAX_UPLOAD_MB": "1"})
    with running(app_module.create_app(settings)) as address:
        yield f"{address}?tab=submit"


def _drop(page: Page, name: str, content: bytes) -> None:
    page.evaluate(DROP, [name, base64.b64encode(content).decode()])


def test_bad_files_are_explained_and_the_page_still_works(page: Page, url: str) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    page.goto(url)
    report, clear = page.locator("#agl-report"), page.get_by_role("button", name="Clear")
    for name, content, told in BAD:
        expect(page.locator("#agl-file input[type=file]")).to_be_attached()
        _drop(page, name, content)
        expect(report).to_contain_text(f"{name} was refused")
        expect(report).to_contain_text(told)
        expect(page.locator("#agl-form")).to_have_count(0)
        clear.first.click()
        expect(report).not_to_contain_text("refused")
    _drop(page, "large.json", b" " * 2**21)
    expect(page.locator(".toast-body").first).to_contain_text("maximum allowed size of 1.0 Mb")
    _drop(page, "good.json", json.dumps([{"key": KEY, "latitude": 1, "longitude": 2}]).encode())
    expect(report).to_contain_text("The file can be published")
    assert dialogs == []
