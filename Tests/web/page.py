"""The page in a browser, as a user sees it."""
from __future__ import annotations

from pathlib import Path
from typing import Callable, Optional, TypeVar

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

PATIENCE = 90
Found = TypeVar("Found")


def chromium(*, downloads: Optional[Path] = None, accepts_any_certificate: bool = False) -> webdriver.Chrome:
    """A headless Chromium, for which every name is this machine's. Its sandbox needs a user who is not root."""
    options = webdriver.ChromeOptions()
    options.accept_insecure_certs = accepts_any_certificate
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--lang=en-US",
                     "--host-resolver-rules=MAP * 127.0.0.1"):
        options.add_argument(argument)
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService("/usr/bin/chromedriver"))
    browser.set_window_size(1280, 800)
    return browser


class Page:
    """One tab with the page."""

    def __init__(self, browser: WebDriver, url: str) -> None:
        self.browser = browser
        self.url = url

    def open(self, token: str) -> None:
        """Opens the page, types the token and waits for the queue."""
        self.browser.get(self.url)
        console: list[str] = []

        def is_shown() -> bool:
            console.extend(self.console())
            if any("ERR_NETWORK_CHANGED" in message for message in console):
                # Tests of other suites make interfaces, at which Chromium breaks off what it is loading.
                console.clear()
                self.browser.refresh()
            return self.element("token").is_displayed()

        try:
            self.until(is_shown, "#token")
            self.type_into("token", token, Keys.ENTER)
            self.wait_for_text("connection", "live")
        except TimeoutException as error:
            raise AssertionError(f"{error.msg}; the console says {console + self.console()}") from error

    def until(self, condition: Callable[[], Found], what: str, patience: float = PATIENCE) -> Found:
        """Waits until a condition holds. Rows come and go meanwhile."""
        wait = WebDriverWait(self.browser, patience, 0.05, [StaleElementReferenceException])
        return wait.until(lambda _: condition(), f"waited {patience} s for {what}")

    def element(self, name: str) -> WebElement:
        """The element with this id."""
        return self.browser.find_element(By.ID, name)

    def text(self, name: str) -> str:
        """The text of an element, hidden or not."""
        return str(self.element(name).get_property("textContent"))

    def wait_for_text(self, name: str, text: str) -> None:
        """Waits until the element with this id contains the text."""
        self.until(lambda: text in self.text(name), f"{text!r} in #{name}, which says {self.text(name)!r}")

    def type_into(self, name: str, *keys: str) -> None:
        """Types into the element with this id as soon as it is shown."""
        self.until(lambda: self.element(name).is_displayed(), f"#{name}")
        self.element(name).send_keys(*keys)

    def press(self, *keys: str) -> None:
        """Types with the focus in the list."""
        self.type_into("list", *keys)

    def row(self, task: int) -> WebElement:
        """The row of a task, as soon as it is there."""
        return self.until(lambda: self.rows(task), f"the row of task {task}")[0]

    def rows(self, task: int) -> list[WebElement]:
        """The rows of a task: one or none."""
        return self.browser.find_elements(By.ID, f"task-{task}")

    def state(self, task: int) -> str:
        """The state that the row of a task shows."""
        return str(self.row(task).get_attribute("data-state"))

    def wait_for_state(self, task: int, state: str) -> None:
        """Waits until the row of a task shows a state."""
        self.until(lambda: self.state(task) == state, f"task {task} to be {state}")

    def order(self) -> list[int]:
        """The ids of the rows, from top to bottom."""
        return [int(row.get_attribute("id").removeprefix("task-"))  # type: ignore[union-attr]
                for row in self.browser.find_elements(By.CSS_SELECTOR, ".row")]

    def select(self, task: int) -> None:
        """Clicks the row of a task."""
        def is_selected() -> bool:
            self.row(task).click()
            return self.row(task).get_attribute("aria-selected") == "true"
        self.until(is_selected, f"task {task} to be selected")

    def click(self, text: str, within: str = "body") -> None:
        """Clicks the button with this text, as soon as it can be clicked."""
        def is_clicked() -> bool:
            buttons = self.browser.find_elements(By.CSS_SELECTOR, f"{within} button")
            wanted = (each for each in buttons if each.text == text and each.is_displayed() and each.is_enabled())
            button = next(wanted, None)
            if button is not None:
                button.click()
            return button is not None
        self.until(is_clicked, f"a button {text!r}")

    def rates(self) -> list[str]:
        """The points of the plot of the total rate: one a second."""
        line = self.browser.find_element(By.CSS_SELECTOR, "svg.total .line").get_attribute("d") or ""
        return line.split("L")

    def dialog_is_closed(self) -> bool:
        """Whether no dialog is open."""
        return not self.browser.find_elements(By.CSS_SELECTOR, "dialog[open]")

    def console(self) -> list[str]:
        """The errors on the console since the last call. Firefox tells nothing."""
        if not isinstance(self.browser, webdriver.Chrome):
            return []
        entries = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def errors(self) -> list[str]:
        """The same, except connections that were refused."""
        return [message for message in self.console() if "net::ERR_" not in message]

    def heap_size(self) -> int:
        """Bytes that the page's scripts hold; 0 where the browser does not say."""
        if not isinstance(self.browser, webdriver.Chrome):
            return 0
        self.browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        return int(self.browser.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"])

    def nodes(self) -> int:
        """How many nodes the document has."""
        return int(self.browser.execute_script("return document.querySelectorAll('*').length"))
