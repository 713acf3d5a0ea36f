"""The page in Firefox: what a browser could do otherwise than Chromium. Only with XFER_SOAK.

Marionette is Firefox's own remote protocol, which needs no further program.
"""
from __future__ import annotations

import os
from typing import Any, Callable, Iterator

import pytest
import xfer

from daemon import Daemon
from site_server import Site

FIREFOX = "/usr/bin/firefox-esr"
pytestmark = pytest.mark.skipif(
    not os.environ.get("XFER_SOAK") or not os.path.exists(FIREFOX), reason="make soak runs Firefox")


@pytest.fixture
def firefox() -> Iterator[Any]:
    """A headless Firefox."""
    marionette_driver = pytest.importorskip("marionette_driver.marionette")
    firefox = marionette_driver.Marionette(bin=FIREFOX, headless=True)
    firefox.start_session()
    yield firefox
    firefox.cleanup()


def test_firefox_shows_commands_and_recovers(
        firefox: Any, daemon: Daemon, page_url: str, site: Site, client: xfer.Client) -> None:
    from marionette_driver import By, Wait
    failed = client.add(f"{site.url}/missing?status=404").id
    running = client.add(f"{site.url}/big?rate=400000", output="big").id

    def text(name: str) -> str:
        return str(firefox.find_element(By.ID, name).text)

    def until(condition: Callable[[], bool]) -> None:
        Wait(firefox, timeout=30).until(lambda _: condition())

    firefox.navigate(f"{page_url}#token={daemon.token('operate')}")
    until(lambda: text("connection") == "live")
    until(lambda: "404" in text(f"task-{failed}"))
    until(lambda: "kB/s" in text(f"task-{running}"))
    firefox.find_element(By.ID, f"task-{running}").click()
    firefox.find_element(By.ID, "list").send_keys(" ")
    until(lambda: firefox.find_element(By.ID, f"task-{running}").get_attribute("data-state") == "paused")
    firefox.find_element(By.ID, "list").send_keys("o")
    until(lambda: "paused at" in text("time-line"))
    daemon.kill()
    until(lambda: "Not connected" in text("connection"))
    daemon.start()
    until(lambda: text("connection") == "live")
