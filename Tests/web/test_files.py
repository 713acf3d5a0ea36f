"""Published files on the user's own machine."""
from __future__ import annotations

from pathlib import Path

import pytest
import xfer

from daemon import Daemon
from page import Page
from site_server import SIZE, Site


def test_a_published_file_is_downloaded_by_a_link_for_one_use(
        page: Page, site: Site, daemon: Daemon, client: xfer.Client, received: Path) -> None:
    task = client.add(f"{site.url}/published.bin").id
    page.wait_for_state(task, "completed")
    page.select(task)
    page.click("Open file")
    file = received / "published.bin"
    page.until(lambda: file.exists() and file.stat().st_size == SIZE, "the file")
    assert page.browser.current_url == page.url


def test_a_file_that_was_deleted_says_so(page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    task = client.add(f"{site.url}/deleted.bin").id
    page.wait_for_state(task, "completed")
    (daemon.downloads / "deleted.bin").unlink()
    page.select(task)
    page.click("Open file")
    page.until(lambda: page.text("warned"), "a reason")
