"""Tokens: who sees the page, and what it says about rights."""
from __future__ import annotations

import pytest
import xfer
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

from daemon import Daemon
from page import Page
from site_server import Site


@pytest.fixture
def logged_out(browser: WebDriver, page_url: str) -> Page:
    """The page before a token is typed."""
    page = Page(browser, page_url)
    browser.get(page_url)
    return page


def test_a_refused_token_asks_for_another_one(logged_out: Page, daemon: Daemon) -> None:
    logged_out.type_into("token", "xfer_" + "0" * 64, Keys.ENTER)
    logged_out.wait_for_text("login-error", "refuses the token")
    logged_out.element("token").clear()
    logged_out.type_into("token", daemon.token("read"), Keys.ENTER)
    logged_out.wait_for_text("connection", "live")


def test_a_token_in_the_address_connects_and_leaves_the_address_and_the_history(
        browser: WebDriver, page_url: str, daemon: Daemon) -> None:
    browser.get("about:blank")
    browser.get(f"{page_url}#token={daemon.token('read')}")
    Page(browser, page_url).wait_for_text("connection", "live")
    assert browser.current_url == page_url
    browser.back()
    browser.forward()
    assert browser.current_url == page_url


def test_the_token_is_stored_nowhere(page: Page) -> None:
    stored = page.browser.execute_script(
        "return [localStorage.length, sessionStorage.length, document.cookie, document.getElementById('token').value]")
    assert stored == [0, 0, "", ""]


def test_logging_out_ends_the_view_of_the_queue(page: Page) -> None:
    page.click("Log out")
    page.until(lambda: page.element("login").is_displayed(), "the form for a token")
    assert not page.element("queue").is_displayed()


def test_a_revoked_token_ends_the_session(logged_out: Page, daemon: Daemon) -> None:
    logged_out.open(daemon.token("own"))
    daemon.revoke("own")
    logged_out.wait_for_text("login-error", "refuses the token")


def test_a_token_that_only_reads_is_told_what_it_may_not_do(
        logged_out: Page, daemon: Daemon, client: xfer.Client, site: Site) -> None:
    task = client.add(site.unending(), output="big").id
    logged_out.open(daemon.token("read"))
    logged_out.select(task)
    logged_out.click("Pause")
    logged_out.wait_for_text("warned", "Not allowed with this token")
    assert client.task.get(task).task.state == "running"


def test_a_token_that_only_adds_adds(logged_out: Page, daemon: Daemon, client: xfer.Client, site: Site) -> None:
    logged_out.type_into("token", daemon.token("add"), Keys.ENTER)
    logged_out.wait_for_text("connection", "can add tasks")
    logged_out.click("Add", "header")
    logged_out.browser.switch_to.active_element.send_keys(f"{site.url}/small", Keys.CONTROL, Keys.ENTER)
    logged_out.click("Add", "#add-dialog")
    logged_out.wait_for_text("told", "Added task 1")
    assert client.task.wait(ids=[1], timeout=30).tasks[0].state == "completed"
