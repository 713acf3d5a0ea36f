"""A daemon that goes away, and other tabs."""
from __future__ import annotations

import xfer
from selenium.webdriver.common.keys import Keys

from daemon import Daemon
from page import Page
from site_server import Site


def test_a_killed_daemon_is_told_and_nothing_is_lost(
        page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    running = client.add(f"{site.url}/big?rate=300000&size=3000000", output="big").id
    page.wait_for_state(running, "running")
    daemon.kill()
    page.wait_for_text("connection", "Not connected")
    assert page.rows(running), "what was known stays in sight"
    daemon.start()
    with daemon.client() as again:
        added = again.add(f"{site.url}/meanwhile").id
        page.wait_for_text("connection", "live")
        page.wait_for_state(added, "completed")
        page.wait_for_state(running, "completed")
        assert page.order() == [added, running]
    page.select(running)
    page.press("o")
    page.wait_for_text("time-line", "continues after a restart")
    # Each event once, whether it came live or was read afterwards.
    lines = page.browser.execute_script(
        "return [...document.querySelectorAll('#time-line li')].map((each) => each.dataset.seq)")
    assert len(lines) == len(set(lines))


def test_a_new_database_is_read_from_its_beginning(
        page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    old = [client.add(f"{site.url}/{name}").id for name in "abc"]
    page.wait_for_state(old[-1], "completed")
    daemon.kill()
    daemon.remove_database()
    daemon.start()
    page.wait_for_text("login-error", "refuses the token")
    assert all("401" in error for error in page.errors())
    page.element("token").clear()
    page.type_into("token", daemon.token("own"), Keys.ENTER)
    page.wait_for_text("connection", "live")
    with daemon.client() as again:
        task = again.add(f"{site.url}/new").id
        page.wait_for_state(task, "completed")
    assert page.order() == [task]


def test_what_one_tab_does_the_other_shows(page: Page, site: Site, daemon: Daemon, client: xfer.Client) -> None:
    task = client.add(site.unending(), output="big").id
    page.wait_for_state(task, "running")
    browser = page.browser
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    second = Page(browser, page.url)
    second.open(daemon.token("own"))
    second.select(task)
    second.click("Pause")
    second.wait_for_state(task, "paused")
    browser.close()
    browser.switch_to.window(first)
    page.wait_for_state(task, "paused")
