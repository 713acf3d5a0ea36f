"""A real xferd for campaigns: started, called over its socket, killed, started again."""

import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PROGRAMS = pathlib.Path(os.environ.get("XFER_PROGRAMS", pathlib.Path(__file__).resolve().parents[2] / ".build/debug"))

#: Seconds after which a daemon that neither answers nor ends has hung.
PATIENCE = 120


class CallFailed(Exception):
    """An error answer (JSON-RPC 2.0 §5.1)."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.code = error["code"]
        self.error = error


class Connection:
    """One client: a message a line."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")
        self.next_id = 0

    def send(self, method, params=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        return self.next_id

    def receive(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("xferd closed the connection")
        return json.loads(line)

    def call(self, method, params=None):
        wanted = self.send(method, params)
        while True:
            answer = self.receive()
            if answer.get("id") == wanted and "method" not in answer:
                break
        if "error" in answer:
            raise CallFailed(answer["error"])
        return answer["result"]

    def close(self):
        self.file.close()
        self.socket.close()


class Daemon:
    """An instance in a directory of its own, which is removed at the end."""

    def __init__(self, settings=(), wrapper=()):
        #: Where its program is; another one may go on with the same state.
        self.programs = PROGRAMS
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="xfer-campaign-", dir=os.environ.get("XFER_TEST_TMP")))
        self.files = self.directory / "files"
        self.files.mkdir()
        self.state = self.directory / "state"
        self.socket = self.directory / "s.sock"
        self.log = open(self.directory / "log", "ab")
        self.settings = [f"download.dir={self.files}", f'download.roots=["{self.files}"]', *settings]
        self.process = None
        self.connection = None

    @property
    def arguments(self):
        arguments = [self.programs / "xferd", "--state-dir", self.state, "--socket", self.socket, "--foreground-log"]
        for setting in self.settings:
            arguments += ["--set", setting]
        return arguments

    @property
    def environment(self):
        return dict(os.environ, HOME=str(self.directory), SWIFT_BACKTRACE="enable=no")

    def once(self, option):
        """Runs xferd with an option that ends it: the exit status, and what it printed."""
        result = subprocess.run(
            [*self.arguments, option], env=self.environment, capture_output=True, text=True, timeout=PATIENCE
        )
        return result.returncode, result.stdout + result.stderr

    def start(self, wrapper=()):
        self.process = subprocess.Popen(
            [*wrapper, *self.arguments], env=self.environment, stdout=self.log, stderr=self.log
        )
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"xferd ended with {self.process.returncode} while starting; see {self.directory}/log")
            try:
                self.connection = Connection(self.socket)
                self.connection.call("daemon.status")
                return self
            except (FileNotFoundError, ConnectionError, OSError):
                time.sleep(0.01)
        raise RuntimeError("xferd does not answer")

    def call(self, method, params=None):
        return self.connection.call(method, params)

    def all(self, method, key, params=None):
        """Every page of a listing."""
        rows, cursor = [], None
        while True:
            page = self.call(method, {**(params or {}), **({"cursor": cursor} if cursor else {})})
            rows += page[key]
            cursor = page.get("next_cursor")
            if not cursor:
                return rows

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def resident_bytes(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.ended()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self):
        status = self.process.wait(timeout=PATIENCE)
        if self.connection:
            self.connection.close()
            self.connection = None
        return status

    def finish(self, counts, problems, summary):
        """Ends a campaign: prints what was counted, and keeps the directory where there were problems. The exit status."""
        status = self.stop()
        if status != 0:
            print("PROBLEM", f"SIGTERM ended xferd with {status}")
            problems = problems + 1
        for name, count in sorted(counts.items()):
            print(f"{name}: {count}")
        print(f"{summary}, {problems} problems")
        if problems:
            print(f"kept: {self.directory}")
            return 1
        self.remove()
        return 0

    def remove(self):
        if self.process and self.is_running:
            self.kill()
        self.log.close()
        shutil.rmtree(self.directory)

    def log_text(self):
        return (self.directory / "log").read_text(errors="replace")
