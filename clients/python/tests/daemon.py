"""xferd as the tests run it."""
from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Optional

import xfer

PROGRAMS = Path(os.environ.get("XFER_PROGRAMS", Path(__file__).resolve().parents[3] / ".build/debug"))


class Daemon:
    """A daemon that keeps everything below a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = str(directory / "s")
        self.downloads = directory / "downloads"
        self.downloads.mkdir()
        self._state = directory / "state"
        self._log = directory / "log"
        self._process: Optional[subprocess.Popen[bytes]] = None
        (directory / "config.yaml").write_text(
            f"download:\n  dir: {self.downloads}\n  roots: [{self.downloads}]\n  reserve: 1Mi\n")

    def start(self) -> None:
        """Starts it and waits until it answers."""
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LC_ALL": "C.UTF-8"}
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                [PROGRAMS / "xferd", "--config", self.directory / "config.yaml", "--state-dir", self._state,
                 "--socket", self.socket, "--foreground-log"],
                env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while True:
            try:
                with xfer.Client(self.socket) as client:
                    client.daemon.status()
                return
            except xfer.XferError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"xferd does not start:\n{self._log.read_text()[-4000:]}") from None
                time.sleep(0.02)

    def kill(self) -> None:
        """SIGKILL, as in a crash."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM, as systemd does."""
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)
            self._process.wait(60)

    def trim_events(self, before: int) -> None:
        """Deletes events, as the daemon does when they are older than a day and too many."""
        with closing(sqlite3.connect(self._state / "xferd.sqlite")) as database, database:
            database.execute("DELETE FROM event WHERE seq < ?", (before,))

    def remove_database(self) -> None:
        """What follows is another database."""
        shutil.rmtree(self._state)
