"""The page is rendered once, for nobody, and sent to everybody under their own address."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import gradio as gr
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from web.gradio_adapter import gradio_apps
from web.page import Page, mount

SECRETS = {
    "Cookie": "session=telltale; access-token=telltale", "Authorization": "Bearer telltale",
    "User-Agent": "telltale", "Referer": "http://telltale.example/", "Accept-Language": "telltale",
    "X-Forwarded-For": "192.0.2.77", "X-Other": "telltale",
}  # fmt: skip
PATHS = ["/", "/?tab=telltale&page=telltale", "/config", "/config?deep_link=telltale",
         "/gradio_api/info", "/gradio_api/info?all_endpoints=True", "/theme.css"]  # fmt: skip


def _page() -> Page:
    page = Page()
    with page:
        text = gr.Textbox()
        text.submit(lambda given: given, text, text, api_name="say")
    return page


def _client(root_path: str = "", base: str = "http://first.example") -> TestClient:
    app = mount(FastAPI(), _page(), root_path=root_path or None)
    return TestClient(app, base_url=base)


def _root(text: str) -> str:
    [found] = re.findall(r'window\.gradio_config = .*?"root":"((?:\\.|[^"])*)"', text)
    return str(json.loads(f'"{found}"'))


def _counted(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often Gradio has rendered since."""
    from gradio import routes

    n, render = list[int](), routes.templates.TemplateResponse

    def counted(*args: object, **kwargs: object) -> object:
        n.append(1)
        return render(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(routes.templates, "TemplateResponse", counted)
    return lambda: len(n)


def test_it_is_rendered_once_for_all_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    client = _client()
    n_rendered = _counted(client, monkeypatch)
    for n in range(20):
        client.get(f"/?tab=leaderboard&n={n}", headers={"Host": f"host-{n}.example"})
        assert client.head("/").content == b""
    assert n_rendered() == 1


@pytest.mark.parametrize("path", PATHS)
def test_nothing_of_the_first_visitor_is_sent_to_the_second(path: str) -> None:
    client = _client()
    first = client.get(path, headers={**SECRETS, "Host": "telltale.example"})
    assert first.status_code == 200
    second = client.get(path, headers={"Host": "second.example"})
    assert "telltale" not in second.text + str(second.headers)
    assert "192.0.2.77" not in second.text
    if "all_endpoints" not in path and "css" not in path:
        assert "http://second.example" in second.text
        assert "http://telltale.example" in first.text


def test_an_answer_is_what_gradio_would_render_for_the_visitor() -> None:
    """Compared with the same page without this middleware."""
    ours, plain = FastAPI(), FastAPI()
    page = _page()
    mount(ours, page)
    gr.mount_gradio_app(plain, page, path="/", footer_links=[], ssr_mode=False, pwa=False)
    clients = [TestClient(app, base_url="https://seen.example:8443") for app in (ours, plain)]
    for path in (
        "/config",
        "/config?page=",
        "/gradio_api/info",
        "/gradio_api/info?all_endpoints=True",
    ):
        mine, theirs = (client.get(path).json() for client in clients)
        assert mine == theirs | {name: mine[name] for name in mine if name == "app_id"}, path


@pytest.mark.parametrize(
    ("headers", "root"),
    [
        ({}, "http://first.example"),
        ({"Host": "a.example:81"}, "http://a.example:81"),
        ({"X-Forwarded-Proto": "https"}, "https://first.example"),
        ({"X-Forwarded-Host": "b.example, c.example", "X-Forwarded-Proto": "https,http"},
         "https://b.example"),
        ({"X-Forwarded-Host": "[::1"}, ""),
    ],
)  # fmt: skip
def test_the_page_names_the_address_that_the_visitor_uses(
    headers: dict[str, str], root: str
) -> None:
    client = _client()
    client.get("/", headers={"Host": "other.example"})
    assert _root(client.get("/", headers=headers).text) == root
    assert client.get("/config", headers=headers).json()["root"] == root


def test_under_a_path() -> None:
    client = _client("/arena")
    assert _root(client.get("/").text) == "http://first.example/arena"
    assert _root(client.get("/", headers={"Host": "b.example"}).text) == "http://b.example/arena"


def test_an_address_cannot_break_out_of_its_script() -> None:
    client = _client()
    for host in ("a</script><b>", "a'b", "a&b", 'a"b'):
        page = client.get("/", headers={"X-Forwarded-Host": host}).text
        assert page.count("</script>") == client.get("/").text.count("</script>")
        assert "first.example" not in page
        assert _root(page).startswith("http://a")


def test_the_head_is_in_the_page_before_gradios_scripts_run() -> None:
    head = '<link rel="modulepreload" href="static/map.js">'
    client = TestClient(mount(FastAPI(), _page(), head=head))
    page = client.get("/").text
    assert page.count(head) == 1
    assert page.index(head) < page.index("</head>")
    assert "static/map.js" not in client.get("/config").text


def test_forms_and_revalidation() -> None:
    client = _client()
    for path in ("/", "/config", "/gradio_api/info"):
        page = client.get(path)
        assert (page.headers["content-encoding"], page.headers["cache-control"]) == (
            "br",
            "no-cache",
        )
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == page.content
        again = client.get(path, headers={"If-None-Match": page.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        elsewhere = {"If-None-Match": page.headers["etag"], "Host": "other.example"}
        assert client.get(path, headers=elsewhere).status_code == 200
    assert client.get("/theme.css?v=1").headers["cache-control"].endswith("immutable")
    assert client.get("/theme.css").headers["cache-control"] == "no-cache"


def test_a_page_that_cannot_be_rendered_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(_client().app, raise_server_exceptions=False)
    [inner] = gradio_apps(client.app)  # type: ignore[arg-type]
    whole = inner.get_blocks().config
    monkeypatch.setattr(inner.get_blocks(), "config", {})
    assert client.get("/").status_code >= 400
    monkeypatch.setattr(inner.get_blocks(), "config", whole)
    assert client.get("/").status_code == 200
