"""Keyboard, screen readers, small screens, and long lists."""
from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

import axe_selenium_python
import pytest
import xfer
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from page import Page
from site_server import Site

AXE = Path(axe_selenium_python.__file__).parent / "node_modules/axe-core/axe.min.js"
# Each state of the page, and the key that opens it if it is a dialog.
STATES = ["list", "details", "?", "a", "L", "g", "p"]
# With XFER_SOAK as many as the page promises.
MANY = 100_000 if os.environ.get("XFER_SOAK") else 12_000


def test_a_task_is_added_watched_and_removed_by_keys_alone(page: Page, site: Site, client: xfer.Client) -> None:
    def keys(*typed: str) -> None:
        page.browser.switch_to.active_element.send_keys(*typed)

    keys("a")
    page.until(lambda: page.element("add-dialog").is_displayed(), "the dialog")
    keys(f"{site.url}/typed", Keys.TAB)
    while page.browser.switch_to.active_element.text != "Add":
        keys(Keys.TAB)
    keys(Keys.ENTER)
    page.until(page.dialog_is_closed, "the dialog to close")
    page.wait_for_state(1, "completed")
    keys(Keys.HOME, "o")
    page.wait_for_text("details-name", "typed")
    keys(Keys.DELETE)
    page.until(lambda: not page.dialog_is_closed(), "the question")
    keys(Keys.TAB)
    while page.browser.switch_to.active_element.text != "Remove":
        keys(Keys.TAB)
    keys(Keys.ENTER)
    page.until(lambda: not page.rows(1), "the row to vanish")
    assert client.task.list().tasks == []


def test_every_key_is_in_the_dialog(page: Page) -> None:
    page.press("?")
    page.wait_for_text("keys", "show the keys")
    assert page.element("keys-dialog").is_displayed()
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until(page.dialog_is_closed, "the dialog to close")


def test_the_focused_task_is_named_to_screen_readers(page: Page, site: Site, client: xfer.Client) -> None:
    client.queue.pause()
    older, newer = (client.add(f"{site.url}/{name}").id for name in "ab")
    page.row(newer)
    page.press(Keys.HOME)
    def named() -> str | None:
        return page.element("list").get_attribute("aria-activedescendant")

    page.until(lambda: named() == f"task-{newer}", "the first task")
    page.press(Keys.ARROW_DOWN)
    page.until(lambda: named() == f"task-{older}", "the second task")
    row = page.row(older)
    assert (row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("2", "2")


def needs_chromium(page: Page) -> None:
    """Skips the rest in a browser that cannot show the page as another device would."""
    if not isinstance(page.browser, webdriver.Chrome):
        pytest.skip("Chromium alone emulates devices")


@contextmanager
def state_of_page(page: Page, task: int, state: str) -> Iterator[None]:
    """The list, a task's details, or the dialog that a key opens."""
    if state == "details":
        page.select(task)
        page.press("o")
        page.wait_for_text("time-line", "failed")
    elif state != "list":
        page.press(state)
        page.until(lambda: not page.dialog_is_closed(), "the dialog")
    yield
    page.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    page.until(lambda: page.dialog_is_closed() and not page.element("details").is_displayed(), "the list alone")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_no_serious_finding(page: Page, site: Site, client: xfer.Client, scheme: str) -> None:
    needs_chromium(page)
    page.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    failed = client.add(f"{site.url}/missing?status=404", group="isos").id
    client.add(site.unending(), output="big")
    page.wait_for_state(failed, "failed")
    page.browser.execute_script(AXE.read_text())
    found = {}
    for state in STATES:
        with state_of_page(page, failed, state):
            found[state] = serious_findings(page)
    page.click("Log out")
    found["login"] = serious_findings(page)
    assert found == dict.fromkeys([*STATES, "login"], [])


def serious_findings(page: Page) -> list[tuple[str, list[str]]]:
    """Rules that the page breaks, and the elements that do."""
    violations = page.browser.execute_async_script("axe.run().then(({ violations }) => arguments[0](violations))")
    return [(each["id"], [node["html"] for node in each["nodes"]])
            for each in violations if each["impact"] in ("serious", "critical")]


def test_nothing_scrolls_sideways_at_360_pixels(page: Page, site: Site, client: xfer.Client) -> None:
    needs_chromium(page)
    task = client.add(f"{site.url}/{'long' * 50}?status=404", group="g" * 100).id
    page.wait_for_state(task, "failed")
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                 {"width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": True})
    found = {}
    try:
        for state in STATES:
            with state_of_page(page, task, state):
                found[state] = page.browser.execute_script("""
                    const shown = document.querySelector("dialog[open]") ?? document.documentElement;
                    return [document.documentElement.scrollWidth, shown.scrollWidth - shown.clientWidth]""")
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert found == dict.fromkeys(STATES, [360, 0])


def test_a_long_list_holds_only_what_is_in_sight(page: Page, site: Site, client: xfer.Client) -> None:
    client.queue.pause()
    for start in range(0, MANY, 4000):
        client.task.add(tasks=[{"url": f"{site.url}/{number}"} for number in range(start, min(start + 4000, MANY))])
    page.wait_for_text("views", f"All {MANY:,}")
    page.until(lambda: page.row(MANY), "the newest task")
    before = page.heap_size()
    page.press(Keys.END)
    page.until(lambda: page.rows(1) and "queued" in page.row(1).text, "the oldest task", patience=120)
    assert len(page.order()) < 60
    for place in range(0, 100, 5):
        page.browser.execute_script("arguments[0].scrollTop = arguments[0].scrollHeight * arguments[1] / 100",
                                    page.element("list"), place)
        expected = MANY * (100 - place) // 100
        page.until(lambda: any(abs(task - expected) < MANY // 50 for task in page.order())
                   and all("…" not in row.text for row in page.browser.find_elements(By.CSS_SELECTOR, ".row")),
                   f"the tasks about {expected}")
        assert len(page.order()) < 60
    # Ids and the last rows that were seen; not the tasks themselves.
    assert page.heap_size() - before < 3_000_000 + 40 * MANY
