"""AriaNg, a page for aria2, against the daemon: over HTTP and over a WebSocket."""
from __future__ import annotations

import base64
from typing import Iterator

import pytest
import xfer
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from daemon import Daemon
from others import FileServer, OtherPage, checkout
from site_server import Site

REPOSITORY, COMMIT = "mayswind/AriaNg-DailyBuild", "d66580c37daa51c3a90ea3b9eaa72297f4352197"


def encoded(text: str) -> str:
    """As AriaNg's addresses have it."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


class AriaNg(OtherPage):
    """AriaNg in a browser."""

    def view(self, name: str) -> None:
        """Goes to a view by its address."""
        self.browser.get(f"{self.url}/#!/{name}")

    def connect(self, protocol: str, port: int, token: str) -> None:
        """Configures it by its address, and waits until it says that it is connected."""
        self.view(f"settings/rpc/set/{protocol}/127.0.0.1/{port}/jsonrpc/{encoded(token)}")
        # It reads its settings when it is loaded.
        self.until(lambda: "/settings/rpc" not in self.browser.current_url, "the settings to be kept")
        self.browser.refresh()
        self.wait_for_body("Connected")

    def choose_download(self) -> None:
        """Selects the only row. It is drawn anew every second."""
        def is_chosen() -> bool:
            if not self.shown("[data-gid][data-selected=true]"):
                for name in self.shown("[data-gid] .task-name"):
                    name.click()
            return bool(self.shown("[data-gid][data-selected=true]"))
        self.until(is_chosen, "the row to be selected")

    def confirm(self) -> bool:
        """Answers the question, which takes no click while it comes into sight."""
        for button in self.shown(".sweet-alert.visible button.confirm"):
            button.click()
        return True

    def command(self, title: str) -> None:
        """Clicks a symbol of the tool bar, which is disabled until its download is selected."""
        self.press_shown(f"li:not(.disabled) > a.toolbar[title={title}]")


@pytest.fixture(scope="session")
def aria_ng_files() -> Iterator[FileServer]:
    server = FileServer(checkout(REPOSITORY, COMMIT))
    yield server
    server.close()


@pytest.fixture(params=["http", "ws"])
def aria_ng(
        request: pytest.FixtureRequest, aria_ng_files: FileServer, browser: WebDriver,
        daemon: Daemon) -> Iterator[AriaNg]:
    daemon.allow_origin(aria_ng_files.url)
    browser.set_window_size(1280, 900)
    page = AriaNg(browser, aria_ng_files.url)
    page.view("downloading")
    browser.execute_script("localStorage.clear()")
    page.errors()
    page.connect(request.param, daemon.port, daemon.token("operate"))
    yield page
    errors = page.errors()
    browser.get("about:blank")
    assert errors == []


def state(client: xfer.Client) -> str:
    """The state of the only task."""
    return str(client.task.get(1).task.state)


def test_a_download_is_added_paused_resumed_and_removed(aria_ng: AriaNg, site: Site, daemon: Daemon) -> None:
    with daemon.client() as client:
        aria_ng.view("new/" + encoded(f"{site.url}/slow.iso?rate=200000&size=400000000"))
        aria_ng.until(lambda: client.task.list().tasks, "the download to be added")
        aria_ng.view("downloading")
        aria_ng.wait_for_body("slow.iso")
        aria_ng.until(lambda: aria_ng.shown(".progress-bar[aria-valuenow]:not([aria-valuenow='0'])"), "progress")
        aria_ng.wait_for_body("KB/s")
        aria_ng.choose_download()
        aria_ng.command("Pause")
        aria_ng.until(lambda: state(client) == "paused", "the pause")
        aria_ng.view("waiting")
        aria_ng.choose_download()
        aria_ng.command("Start")
        aria_ng.until(lambda: state(client) == "running", "the download to go on")
        aria_ng.view("downloading")
        aria_ng.choose_download()
        aria_ng.command("Delete")
        aria_ng.press_shown("a[ng-click='removeTasks()']")
        aria_ng.until(lambda: aria_ng.confirm() and state(client) == "cancelled", "the removal")
        aria_ng.view("stopped")
        aria_ng.wait_for_body("slow.iso")


def test_limits_and_settings_are_shown_and_changed(aria_ng: AriaNg, daemon: Daemon) -> None:
    with daemon.client() as client:
        aria_ng.view("settings/aria2/basic")
        field = aria_ng.until(
            lambda: aria_ng.shown("[data-option-key=max-concurrent-downloads] input"), "the settings")[0]
        field.clear()
        field.send_keys("3", Keys.TAB)
        aria_ng.until(lambda: client.queue.stats().limits.max_active == 3, "the setting to arrive")
        aria_ng.view("status")
        aria_ng.wait_for_body("1.37.0")
