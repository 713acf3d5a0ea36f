"""The page of a fleet: its queue, and its nodes."""
from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver

from fleet import SERVERS, Fleet
from page import Page
from site_server import Site

pytestmark = pytest.mark.skipif(not SERVERS, reason="PostgreSQL is missing")


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    """A fleet of one node."""
    fleet = Fleet(tmp_path)
    yield fleet
    fleet.stop()


@pytest.fixture
def page(browser: WebDriver, fleet: Fleet) -> Iterator[Page]:
    """Its page, connected with a token that may do everything."""
    browser.set_window_size(1280, 800)
    page = Page(browser, fleet.url)
    page.errors()
    page.open(fleet.token("operate"))
    yield page
    errors = page.errors()
    browser.get("about:blank")
    assert errors == []


def test_a_task_is_added_and_the_node_that_holds_it_is_shown(page: Page, site: Site) -> None:
    page.press("a")
    page.element("add-dialog").find_element(By.NAME, "urls").send_keys(f"{site.url}/typed")
    page.element("add-dialog").find_element(By.CSS_SELECTOR, "button[type=submit]").click()
    page.until(page.dialog_is_closed, "the dialog to close")
    page.wait_for_state(1, "completed")
    # What is of one daemon is not offered.
    assert not page.element("open-trust").is_displayed() and not page.element("open-limits").is_displayed()
    page.press("3")
    page.until(lambda: not page.rows(1), "the view of queued tasks")


def test_a_node_is_drained_and_undrained(page: Page) -> None:
    page.press("n")
    page.wait_for_text("nodes", "live")
    button = page.element("nodes").find_element(By.TAG_NAME, "button")
    assert button.get_attribute("aria-label") == "Drain node a"
    page.click("Drain", within="#nodes")
    page.wait_for_text("nodes", "drained: it may be stopped")
    # The button stays while the nodes are read again: one that is replaced under the pointer gets no click.
    assert button.get_attribute("aria-label") == "Undrain node a"
    page.click("Undrain", within="#nodes")
    page.until(lambda: "drained" not in page.element("nodes").text, "the node to take tasks again")
