"""Front-ends of aria2 that are pages of static files: fetched when they are tested, and no part of this project."""
from __future__ import annotations

import functools
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from page import Page

CACHE = Path(__file__).resolve().parents[2] / ".build/front-ends"
PATIENCE = 120


def checkout(repository: str, commit: str) -> Path:
    """The files of a commit, or the test is skipped. Where GitHub is out of reach, git's `url.….insteadOf` names
    another place, for example by GIT_CONFIG_COUNT; the commit's id says that the files are the same."""
    place = CACHE / f"{repository.replace('/', '-')}-{commit[:12]}"
    if not (place / "complete").exists():
        def git(*words: str) -> None:
            subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, text=True, timeout=PATIENCE)
        place.mkdir(parents=True, exist_ok=True)
        try:
            git("init", "--quiet")
            git("fetch", "--quiet", "--depth", "1", f"https://github.com/{repository}", commit)
            git("checkout", "--quiet", "--force", "FETCH_HEAD")
        except subprocess.TimeoutExpired:
            pytest.skip(f"{repository} did not come from GitHub within {PATIENCE} s")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"{repository} cannot be had from GitHub: {error.stderr.strip()[-300:]}")
        (place / "complete").touch()
    return place


class FileServer:
    """Serves a directory on a port of its own, so that a browser keeps nothing of it for the next test."""

    def __init__(self, directory: Path) -> None:
        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(directory)))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Ends the server."""
        self._server.shutdown()
        self._server.server_close()


class OtherPage(Page):
    """A page of another project in a browser."""

    def wait_for_body(self, text: str) -> None:
        """Waits until the page shows the text."""
        self.until(lambda: text in self.browser.find_element(By.TAG_NAME, "body").text, f"{text!r} to be shown")

    def shown(self, selector: str) -> list[WebElement]:
        """The elements that are displayed."""
        return [each for each in self.browser.find_elements(By.CSS_SELECTOR, selector) if each.is_displayed()]

    def press_shown(self, selector: str) -> None:
        """Clicks the element as soon as one is displayed."""
        def is_pressed() -> bool:
            elements = self.shown(selector)
            if elements:
                elements[0].click()
            return bool(elements)
        self.until(is_pressed, selector)
