"""The page over TLS: a cookie in place of a token in memory."""
from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Callable, Iterator

import pytest
from selenium.webdriver.remote.webdriver import WebDriver

from daemon import Daemon, free_port
from page import Page
from site_server import Site
from tls import make_certificate


@pytest.fixture
def tls_port() -> int:
    return free_port()


@pytest.fixture
def daemon(tmp_path: Path, tls_port: int) -> Iterator[Daemon]:
    """A daemon with a listener over TLS, too."""
    certificate, key = make_certificate(tmp_path)
    tls = f"{{ certificate: {certificate}, key: {key} }}"
    daemon = Daemon(tmp_path, f'  - {{ address: "127.0.0.1:{tls_port}", tls: {tls} }}\n')
    daemon.start()
    yield daemon
    daemon.kill()


@pytest.fixture
def secure(daemon: Daemon, tls_port: int, launch: Callable[..., WebDriver]) -> Iterator[Page]:
    """The page over TLS, connected."""
    browser = launch(accepts_any_certificate=True)
    page = Page(browser, f"https://127.0.0.1:{tls_port}/")
    page.open(daemon.token("own"))
    yield page
    browser.quit()


def test_a_reload_stays_connected_by_a_cookie_that_scripts_cannot_read(secure: Page) -> None:
    secure.browser.refresh()
    secure.wait_for_text("connection", "live")
    assert secure.browser.execute_script("return [document.cookie, localStorage.length]") == ["", 0]
    [cookie] = secure.browser.get_cookies()
    assert cookie["name"].startswith("__Host-")
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")


def test_logging_out_ends_the_session(secure: Page) -> None:
    [cookie] = secure.browser.get_cookies()
    secure.click("Log out")
    secure.until(lambda: secure.element("login").is_displayed(), "the form for a token")
    secure.browser.refresh()
    secure.until(lambda: secure.element("login").is_displayed(), "the form for a token")
    # A copy of the cookie is worth nothing afterwards.
    assert status_with_cookie(secure.url, cookie) == "401"


def test_logging_out_ends_what_other_tabs_follow(secure: Page) -> None:
    first = secure.browser.current_window_handle
    secure.browser.switch_to.new_window("tab")
    secure.browser.get(secure.url)
    secure.wait_for_text("connection", "live")
    other = secure.browser.current_window_handle
    secure.browser.switch_to.window(first)
    secure.click("Log out")
    secure.until(lambda: secure.element("login").is_displayed(), "the form for a token")
    secure.browser.switch_to.window(other)
    secure.until(lambda: secure.element("login").is_displayed(), "the form in the other tab")


def test_a_revoked_token_ends_the_session(secure: Page, daemon: Daemon) -> None:
    daemon.revoke("own")
    secure.until(lambda: secure.element("login").is_displayed(), "the form for a token")


def test_a_stolen_cookie_is_worth_nothing_to_a_page_of_another_origin(secure: Page, site: Site) -> None:
    site.pages["/stranger"] = "<!DOCTYPE html><title>stranger</title>"
    secure.browser.get(f"{site.url}/stranger")
    found = secure.browser.execute_async_script("""
        const [target, done] = arguments;
        const params = { url: "http://127.0.0.1:1/stolen" };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "task.add", params });
        fetch(target + "rpc", { method: "POST", credentials: "include", mode: "no-cors", body })
            .then(() => fetch(target + "rpc", { method: "POST", credentials: "include", body }))
            .then((answer) => answer.text()).then(done, () => done(null));
        """, secure.url)
    assert found is None
    secure.browser.get(secure.url)
    secure.wait_for_text("connection", "live")
    secure.wait_for_text("empty", "No tasks yet")


def status_with_cookie(url: str, cookie: dict[str, str]) -> str:
    """The status of a call with the cookie, made by no browser."""
    message = '{"jsonrpc":"2.0","id":1,"method":"daemon.status"}'
    answer = subprocess.run(
        ["curl", "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-b", f"{cookie['name']}={cookie['value']}",
         "-H", "Content-Type: application/json", "-d", message, f"{url}rpc"],
        check=True, stdout=subprocess.PIPE, text=True)
    return answer.stdout
