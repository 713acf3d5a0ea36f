"""xferd with a listener on loopback, as the page's tests run it."""
from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Optional

import xfer

PROGRAMS = Path(os.environ.get("XFER_PROGRAMS", Path(__file__).resolve().parents[2] / ".build/debug"))


class Daemon:
    """A daemon that keeps everything below a directory, and listens on the same port after a restart."""

    def __init__(self, directory: Path, settings: str = "") -> None:
        self.directory = directory
        self.socket = str(directory / "s")
        self.downloads = directory / "downloads"
        self.downloads.mkdir()
        self.port = free_port()
        self._log = directory / "log"
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._settings = settings
        self._configure("[]")

    def _configure(self, origins: str) -> None:
        (self.directory / "config.yaml").write_text(
            f"download:\n  dir: {self.downloads}\n  roots: [{self.downloads}]\n  reserve: 1Mi\n"
            f'listen:\n  - {{ address: "127.0.0.1:{self.port}", origins: {origins} }}\n{self._settings}')

    def allow_origin(self, origin: str) -> None:
        """Lets pages of another origin call, from a restart on."""
        self._configure(f'["{origin}"]')
        self.kill()
        self.start()

    def start(self) -> None:
        """Starts it and waits until it answers."""
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [PROGRAMS / "xferd", "--config", self.directory / "config.yaml",
                 "--state-dir", self.directory / "state", "--socket", self.socket, "--foreground-log"],
                env={"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while True:
            try:
                with self.client() as client:
                    client.daemon.status()
                return
            except xfer.XferError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"xferd does not start:\n{self._log.read_text()[-4000:]}") from None
                time.sleep(0.02)

    @property
    def url(self) -> str:
        """Where its listener is."""
        return f"http://127.0.0.1:{self.port}/"

    def kill(self) -> None:
        """SIGKILL, as in a crash."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(60)

    def remove_database(self) -> None:
        """What follows is another database, without tokens."""
        shutil.rmtree(self.directory / "state")

    def client(self) -> xfer.Client:
        """A client on the Unix socket."""
        return xfer.Client(self.socket)

    def token(self, scope: str) -> str:
        """A new token, with the name of its scope."""
        return self._command("token", "add", scope, "--scope", scope).strip()

    def revoke(self, name: str) -> None:
        """Ends a token."""
        self._command("token", "revoke", name)

    def _command(self, *words: str) -> str:
        command: list[str] = [str(PROGRAMS / "xferctl"), *words, "--socket", self.socket]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def free_port() -> int:
    """A port of loopback that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
