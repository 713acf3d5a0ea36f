"""A daemon, a site and a browser for each test."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Callable, Iterator

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

import xfer
from daemon import Daemon
from firefox import PROGRAM, firefox
from page import Page, chromium
from site_server import Site


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says why each test that passed at its second run had failed at its first."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_sep("_", f"first run of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture
def daemon(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Daemon]:
    """A daemon of the test's own; its parameter are settings."""
    daemon = Daemon(tmp_path, getattr(request, "param", ""))
    daemon.start()
    yield daemon
    daemon.kill()


@pytest.fixture
def client(daemon: Daemon) -> Iterator[xfer.Client]:
    """A client beside the page, for what the page is to show and what it changed."""
    with daemon.client() as client:
        yield client


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site on a loopback port."""
    site = Site()
    yield site
    site.close()


@pytest.fixture(scope="session", params=["chromium", *(["firefox"] if os.environ.get("XFER_SOAK") else [])])
def launch(request: pytest.FixtureRequest) -> Callable[..., WebDriver]:
    """What starts a browser: Chromium, and with XFER_SOAK Firefox, too."""
    if request.param == "chromium":
        return chromium
    if not PROGRAM.exists():
        pytest.skip(f"{PROGRAM} is missing")
    return firefox


@pytest.fixture(scope="session")
def received(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the browser puts what it downloads."""
    return tmp_path_factory.mktemp("received")


@pytest.fixture(scope="session")
def browser(launch: Callable[..., WebDriver], received: Path) -> Iterator[WebDriver]:
    """One browser for all tests: the page keeps nothing between two loads."""
    browser = launch(downloads=received)
    yield browser
    browser.quit()


@pytest.fixture
def page_url(daemon: Daemon) -> str:
    """Where the page is."""
    return daemon.url


@pytest.fixture
def page(browser: WebDriver, daemon: Daemon, page_url: str) -> Iterator[Page]:
    """The page, connected with a token that may do everything."""
    browser.set_window_size(1280, 800)
    page = Page(browser, page_url)
    page.errors()
    page.open(daemon.token("operate"))
    yield page
    errors = page.errors()
    browser.get("about:blank")
    assert errors == []
