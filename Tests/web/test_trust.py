"""Trust policies on the page."""
from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest
import xfer
from selenium.webdriver.common.by import By

from daemon import Daemon
from page import Page
from tls import TLSServer, make_certificate


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TLSServer]:
    server = TLSServer(*make_certificate(tmp_path))
    yield server
    server.close()


@pytest.fixture
def daemon(tmp_path: Path, server: TLSServer) -> Iterator[Daemon]:
    """A daemon that trusts the server's certificate."""
    daemon = Daemon(tmp_path, f"trust: {{ ca_file: {tmp_path / 'tls.pem'} }}\n")
    daemon.start()
    yield daemon
    daemon.kill()


def test_a_server_is_pinned_with_the_key_that_was_shown(page: Page, server: TLSServer, client: xfer.Client) -> None:
    page.press("p")
    page.element("trust-form").find_element(By.NAME, "server").send_keys(server.address)
    page.click("Show certificates")
    page.wait_for_text("chain", "CN=web test")
    page.wait_for_text("verdict", "accepted")
    page.click("Pin the chosen keys")
    page.wait_for_text("policies", server.address)
    shown = page.browser.find_element(By.CSS_SELECTOR, "#chain code").text
    policy = client.policy.get(name="127.0.0.1").policy
    assert ([pin.pin for pin in policy.pins], policy.mode, policy.hosts) == ([shown], "public_key", [server.address])

    page.click("Test as a task")
    page.wait_for_text("stages", "policy 127.0.0.1 accepts")
    page.click("Remove", "#policies")
    page.until(lambda: server.address not in page.text("policies"), "the policy to vanish")


def test_a_server_that_cannot_be_reached_says_so(page: Page) -> None:
    page.press("p")
    page.element("trust-form").find_element(By.NAME, "server").send_keys("127.0.0.1:1")
    page.click("Show certificates")
    page.until(lambda: "unreachable" in page.text("verdict") or page.text("trust-error"), "a verdict")
