"""Links to the site as chats and feeds read them: one set of tags, and a picture for each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

import app as app_module
from web.settings import Settings

LINKS = ["", "daily=today", "challenge={code}", "tab=leaderboard&row=baseline-random",
         "challenge=nonsense", "daily=2199-01-01", "row=nobody", "tab=submit"]  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder: Path = tmp_path_factory.mktemp("app")
    with TestClient(app_module.create_app(Settings.from_env({"AGL1K_DATA": str(folder)}))) as own:
        yield own


@pytest.fixture(scope="module")
def code(client: TestClient) -> str:
    """The code of a finished round."""
    state = client.post("/api/play/open", json={}).json()
    while state["phase"] != "finished":
        tokens = {"player": state["player"], "round": state["round"]}
        move = "skip" if state["phase"] == "playing" else "next"
        state = client.post(f"/api/play/{move}", json=tokens).json()
    return str(state["summary"]["code"])


def tags_of(page: str) -> dict[str, str]:
    found = re.findall(
        r'<meta\s+(?:property|name)="((?:og|twitter):[^"]+)" content="([^"]*)"', page
    )
    assert len({name for name, _ in found}) == len(found)
    assert page.count("og:title") == page.count("twitter:card") == 1
    return dict(found)


@pytest.mark.parametrize("link", LINKS)
def test_each_link_has_one_set_of_tags_and_a_picture(
    client: TestClient, code: str, link: str
) -> None:
    page = client.get(f"/?{link.format(code=code)}", headers={"Host": "sounds.example"})
    tags = tags_of(page.text)
    assert "Gradio" not in str(tags)
    assert urlsplit(tags["og:image"]).netloc == "sounds.example"
    assert page.text.index("og:title") < page.text.index("<script type")
    picture = client.get(tags["og:image"].replace("&amp;", "&"))
    assert picture.headers["content-type"] == "image/png"
    assert picture.content.startswith(b"\x89PNG")


def test_links_differ_in_what_they_say(client: TestClient, code: str) -> None:
    def title(link: str) -> str:
        return tags_of(client.get(f"/?{link.format(code=code)}").text)["og:title"]

    home, daily, challenge, row, *others = map(title, LINKS)
    assert len({home, daily, challenge, row}) == 4
    assert set(others) == {home}
    assert challenge == "Somebody scored 0 points. Can you beat that?"


def test_a_link_under_a_path_has_its_address(tmp_path: Path) -> None:
    settings = Settings.from_env({"AGL1K_DATA": str(tmp_path), "AGL1K_ROOT_PATH": "/arena"})
    with TestClient(app_module.create_app(settings)) as client:
        tags = tags_of(client.get("/arena/", headers={"Host": "sounds.example"}).text)
        address = urlsplit(tags["og:image"])
        assert address.path == "/arena/card.png"
        assert client.get(address.path).status_code == 200
