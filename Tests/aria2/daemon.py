"""An xferd of a test's own, with a listener."""
from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import Any, Callable, TypeVar

PROGRAMS = Path(os.environ["XFER_PROGRAMS"])
PATIENCE = 90.0
Value = TypeVar("Value")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(what: str, attempt: Callable[[], Value]) -> Value:
    """Asks until the answer is true."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if value := attempt():
                return value
        except OSError:
            pass
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


class Daemon:
    """Started at once; `end` kills it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.socket = str(home / "s")
        self.downloads = home / "downloads"
        self.downloads.mkdir()
        settings = {
            "download.dir": str(self.downloads), "download.roots": f"[{str(self.downloads)!r}]",
            "listen": f"[{{address: '127.0.0.1:{self.port}'}}]",
        }
        words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        with open(home / "log", "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAMS / "xferd", "--state-dir", home / "state", "--socket", self.socket, "--foreground-log",
                 *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until("xferd listens", lambda: socket.create_connection(("127.0.0.1", self.port)).close() is None)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Calls a method over the Unix socket."""
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(self.socket)
            client.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
            with client.makefile() as lines:
                return json.loads(lines.readline())["result"]

    def token(self, scope: str) -> str:
        return str(self.call("token.add", {"name": scope, "scope": scope})["secret"])

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
