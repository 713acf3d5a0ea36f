"""Firefox for Selenium without geckodriver, which Debian lacks: Selenium's commands go to Marionette, Firefox's own
protocol, whose commands are those of WebDriver under other names."""
from __future__ import annotations

import json
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Optional

from selenium import webdriver
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection

PROGRAM = Path("/usr/bin/firefox-esr")
PATIENCE = 120
# Selenium's names of commands whose names do not follow from Marionette's.
NAMES = {
    "clickElement": "ElementClick", "clearElement": "ElementClear", "sendKeysToElement": "ElementSendKeys",
    "findChildElement": "FindElement", "findChildElements": "FindElements", "get": "Navigate",
    "goBack": "Back", "goForward": "Forward", "getCurrentUrl": "GetCurrentURL", "screenshot": "TakeScreenshot",
    "w3cExecuteScript": "ExecuteScript", "w3cExecuteScriptAsync": "ExecuteAsyncScript",
    "w3cGetActiveElement": "GetActiveElement", "w3cGetCurrentWindowHandle": "GetWindowHandle",
    "w3cGetWindowHandles": "GetWindowHandles", "close": "CloseWindow", "actions": "PerformActions",
    "clearActionState": "ReleaseActions", "switchToFrame": "SwitchToFrame", "setTimeouts": "SetTimeouts",
}


class Marionette(RemoteConnection):
    """A Firefox with a profile of its own."""

    def __init__(self, preferences: dict[str, object]) -> None:
        super().__init__(client_config=ClientConfig("http://127.0.0.1"))
        self._profile = Path(tempfile.mkdtemp(prefix="firefox-"))
        preferences = {"marionette.port": 0, **preferences}
        (self._profile / "user.js").write_text(
            "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        self._process = subprocess.Popen(
            [PROGRAM, "--headless", "--marionette", "--no-remote", "--profile", self._profile],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket = socket.create_connection(("127.0.0.1", self._port()))
        self._stream = self._socket.makefile("rb")
        self._last = 0
        self._receive()

    def _port(self) -> int:
        """Where it listens, which it writes into its profile."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            try:
                return int((self._profile / "MarionetteActivePort").read_text())
            except (OSError, ValueError):
                time.sleep(0.05)
        self.end()
        raise AssertionError("Firefox does not start")

    def execute(self, command: str, params: dict[str, Any]) -> dict[str, Any]:
        """Carries a command of Selenium's out, and answers as a driver does."""
        if command == "quit":
            self.end()
            return {"value": None}
        name = NAMES.get(command, command[:1].upper() + command[1:])
        params = {name: value for name, value in params.items() if name != "sessionId"}
        if command == "newSession":
            params = params["capabilities"]["alwaysMatch"] | params["capabilities"]["firstMatch"][0]
        if command.startswith("findChildElement"):
            params["element"] = params.pop("id")
        if isinstance(frame := params.get("id"), dict):
            params = {"element": next(iter(frame.values()))}
        error, value = self._call(f"WebDriver:{name}", params)
        if error:
            return {"status": 500, "value": error}
        if command != "newSession" and isinstance(value, dict) and value.keys() == {"value"}:
            value = value["value"]
        return {"value": value}

    def _call(self, name: str, params: dict[str, Any]) -> tuple[Optional[dict[str, str]], Any]:
        self._last += 1
        message = json.dumps([0, self._last, name, params]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, number, error, value = self._receive()
        assert number == self._last
        return error, value

    def _receive(self) -> Any:
        digits = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox ended"
            digits += byte
        return json.loads(self._stream.read(int(digits)))

    def close(self) -> None:
        """There is no HTTP connection to close."""

    def end(self) -> None:
        """Ends Firefox."""
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)


def firefox(*, downloads: Optional[Path] = None, accepts_any_certificate: bool = False) -> webdriver.Remote:
    """A headless Firefox, for which every name is this machine's."""
    options = webdriver.FirefoxOptions()
    options.accept_insecure_certs = accepts_any_certificate
    preferences = {
        "intl.accept_languages": "en-US", "network.dns.native-is-localhost": True, "app.update.disabledForTesting": True,
        "browser.download.folderList": 2, "browser.download.dir": str(downloads or ""),
        "browser.helperApps.neverAsk.saveToDisk": "application/octet-stream", "browser.shell.checkDefaultBrowser": False,
        "datareporting.policy.dataSubmissionEnabled": False, "browser.download.alwaysOpenPanel": False,
    }
    return webdriver.Remote(Marionette(preferences), options=options)
