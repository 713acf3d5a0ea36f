"""A fleet of one node with a listener: PostgreSQL, xferd and xfer-fleet, below a directory."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Optional

from daemon import PROGRAMS, Daemon, free_port

SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))


class Fleet:
    """The node `a`; its agent listens on loopback."""

    def __init__(self, directory: Path) -> None:
        # A socket's path has room for 107 bytes.
        self._server = directory / "pg"
        self._server.mkdir(mode=0o700)
        for path in [directory, *directory.parents][:3]:
            path.chmod(path.stat().st_mode | 0o011)
        self._account = "postgres" if os.getuid() == 0 else None
        if self._account:
            shutil.chown(self._server, self._account, self._account)
        self._run_server("initdb", "-D", str(self._server / "data"), "-U", "xfer", "--auth=trust", "--no-sync")
        self._run_server(
            "pg_ctl", "-D", str(self._server / "data"), "-w", "-l", str(self._server / "log"),
            "-o", f"-k {self._server} -c listen_addresses=", "start")
        self._run_server("createdb", "-h", str(self._server), "-U", "xfer", "xfer")
        self.port = free_port()
        self._socket = directory / "f"
        self._log = directory / "fleet.log"
        self.daemon = Daemon(directory, f"""
fleet:
  database: "host={self._server} user=xfer dbname=xfer"
  node: a
  socket: {self._socket}
  daemon: {directory / "s"}
  listen: [{{ address: "127.0.0.1:{self.port}" }}]
""")
        self.daemon.start()
        self._agent: Optional[subprocess.Popen[bytes]] = None
        self._start()

    @property
    def url(self) -> str:
        """Where the agent's listener is."""
        return f"http://127.0.0.1:{self.port}/"

    def _start(self) -> None:
        command: list[str | Path] = [
            PROGRAMS / "xfer-fleet", "migrate", "--config", self.daemon.directory / "config.yaml",
            "--state-dir", self.daemon.directory / "state"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        command[1] = "run"
        with open(self._log, "ab") as log:
            self._agent = subprocess.Popen(
                [*command, "--foreground-log"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while subprocess.run(
                [PROGRAMS / "xferctl", "fleet", "nodes", "--socket", self._socket], check=False,
                capture_output=True, text=True).stdout.find("live") < 0:
            assert self._agent.poll() is None and time.monotonic() < end, self._log.read_text()[-4000:]
            time.sleep(0.05)

    def token(self, scope: str) -> str:
        """A new token of the fleet, with the name of its scope."""
        return subprocess.run(
            [PROGRAMS / "xferctl", "token", "add", scope, "--scope", scope, "--socket", self._socket], check=True,
            stdout=subprocess.PIPE, text=True).stdout.strip()

    def stop(self) -> None:
        """Ends the agent, the daemon and the server."""
        if self._agent is not None:
            self._agent.terminate()
            self._agent.wait(60)
        self.daemon.kill()
        self._run_server("pg_ctl", "-D", str(self._server / "data"), "-m", "immediate", "stop")

    def _run_server(self, program: str, *words: str) -> None:
        user = ["runuser", "-u", self._account, "--"] if self._account else []
        subprocess.run(
            [*user, str(SERVERS[-1] / program), *words], check=True, cwd="/", stdout=subprocess.DEVNULL)
