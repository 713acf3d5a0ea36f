"""webui-aria2, a page for aria2, against the daemon: it asks for everything by `system.multicall` over a WebSocket."""
from __future__ import annotations

from typing import Iterator
from urllib.parse import urlencode

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

from daemon import Daemon
from others import FileServer, OtherPage, checkout
from site_server import Site

REPOSITORY, COMMIT = "ziahamza/webui-aria2", "109903f0e2774cf948698cd95a01f77f33d7dd2c"


@pytest.fixture
def webui(browser: WebDriver, daemon: Daemon) -> Iterator[OtherPage]:
    server = FileServer(checkout(REPOSITORY, COMMIT) / "docs")
    daemon.allow_origin(server.url)
    page = OtherPage(browser, server.url)
    page.errors()
    place = {"host": "127.0.0.1", "port": daemon.port, "path": "/jsonrpc", "token": daemon.token("own")}
    browser.get(f"{server.url}/#!/?{urlencode(place)}")
    yield page
    # The page asks for an icon above its own directory, which its server does not serve.
    errors = [error for error in page.errors() if "/favicon.ico " not in error]
    browser.get("about:blank")
    server.close()
    assert errors == []


def test_a_download_is_added_paused_resumed_and_removed(webui: OtherPage, site: Site, daemon: Daemon) -> None:
    def has(state: str) -> bool:
        return [task.state for task in client.task.list().tasks] == [state]

    with daemon.client() as client:
        webui.press_shown("a.dropdown-toggle:has(+ * [ng-click='addUris()'])")
        webui.press_shown("[ng-click='addUris()']")
        webui.until(lambda: webui.shown(".modal textarea"), "the form")[0].send_keys(
            f"{site.url}/slow.iso?rate=200000&size=400000000")
        webui.press_shown(".modal-footer .btn-primary")
        webui.until(lambda: has("running"), "the download to run")
        webui.wait_for_body("slow.iso")
        webui.press_shown("[data-gid] [ng-click='pause(download)']")
        webui.until(lambda: has("paused"), "the pause")
        webui.press_shown("[data-gid] [ng-click='resume(download)']")
        webui.until(lambda: has("running"), "the download to go on")
        # Its question is the browser's own.
        webui.browser.execute_script("window.confirm = () => true")
        webui.press_shown("[data-gid] [ng-click='remove(download)']")
        webui.until(lambda: has("cancelled"), "the removal")
