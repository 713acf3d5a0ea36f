"""A daemon, a site and a browser for each test."""
from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest
from selenium import webdriver

import xfer
from daemon import Daemon
from page import Page, chromium
from site_server import Site


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


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    """One browser for all tests: the page keeps nothing between two loads."""
    browser = chromium()
    yield browser
    browser.quit()


@pytest.fixture
def page_url(daemon: Daemon) -> str:
    """Where the page is."""
    return daemon.url


@pytest.fixture
def page(browser: webdriver.Chrome, daemon: Daemon, page_url: str) -> Iterator[Page]:
    """The page, connected with a token that may do everything."""
    browser.set_window_size(1280, 800)
    page = Page(browser, page_url)
    page.errors()
    page.open(daemon.token("operate"))
    yield page
    errors = page.errors()
    browser.get("about:blank")
    assert errors == []
