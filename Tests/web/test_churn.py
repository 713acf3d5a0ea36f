"""The page beside a queue that never rests. Only with XFER_SOAK; XFER_CHURN_MINUTES says how long (60)."""
from __future__ import annotations

import os
import threading
import time

import pytest
import xfer
from selenium import webdriver

from daemon import Daemon
from page import Page
from site_server import Site

MINUTES = float(os.environ.get("XFER_CHURN_MINUTES", "60"))
# What a page that keeps nothing of ended tasks may grow by: a task that was seen is an id in a set.
ALLOWED_BYTES, BYTES_PER_TASK = 3_000_000, 100

pytestmark = pytest.mark.skipif(not os.environ.get("XFER_SOAK"), reason="make soak lets the queue churn")


class Churn(threading.Thread):
    """Adds, pauses, cancels and removes tasks until `is_over`, and counts them."""

    def __init__(self, daemon: Daemon, site: Site) -> None:
        super().__init__(daemon=True)
        self._daemon, self._site = daemon, site
        self.tasks = 0
        self.is_over = threading.Event()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            with self._daemon.client() as client:
                while not self.is_over.wait(0.05):
                    self._churn(client)
        except xfer.XferError as error:
            self.error = error

    def _churn(self, client: xfer.Client) -> None:
        urls = ["a?size=20000", "b?status=404", "slow?rate=20000&size=4000000"]
        ids = [client.add(f"{self._site.url}/{url}", output=f"{self.tasks}-{number}").id
               for number, url in enumerate(urls)]
        self.tasks += len(ids)
        client.task.pause(ids=ids[2:])
        client.task.wait(ids=ids[:2], timeout=30)
        client.task.cancel(ids=ids[2:])
        # Some stay, so that the list is long; most leave.
        if self.tasks % 30:
            client.task.remove(ids=ids)


def test_the_page_does_not_grow_while_tasks_come_and_go(page: Page, site: Site, daemon: Daemon) -> None:
    if not isinstance(page.browser, webdriver.Chrome):
        pytest.skip("Chromium alone says what the page holds")
    churn = Churn(daemon, site)
    churn.start()
    # What the page builds once is there after some time: code, and five minutes of rates.
    begin = time.monotonic()
    warm_up = min(300.0, MINUTES * 60 / 5)
    figures: list[tuple[float, int, int, int]] = []
    while (passed := time.monotonic() - begin) < MINUTES * 60:
        time.sleep(min(20.0, MINUTES * 60 - passed + 0.1))
        bytes_held, nodes = page.heap_size(), page.nodes()
        figures.append((time.monotonic() - begin, churn.tasks, bytes_held, nodes))
        print(f"{figures[-1][0]:7.0f} s {churn.tasks:7} tasks {bytes_held / 1e6:7.2f} MB {nodes:6} nodes", flush=True)
        assert churn.error is None, churn.error
    churn.is_over.set()
    churn.join(60)
    _, before, held, nodes = next(figure for figure in figures if figure[0] >= warm_up)
    _, after, held_last, nodes_last = figures[-1]
    assert after > before
    assert held_last - held < ALLOWED_BYTES + BYTES_PER_TASK * (after - before), figures
    assert nodes_last < 2 * nodes, figures
    page.wait_for_text("connection", "live")
