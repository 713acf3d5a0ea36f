"""A private xferd."""

import os
import pathlib
import shutil
import signal
import time

from . import processes
from .measure import Failed
from .rpc import Client


class Daemon:
    """xferd with state, socket and configuration below a directory of its own, as a context.

    `settings` are further lines of the configuration, `wrapper` a command that runs xferd. `parallel` is the limit of
    transfers at once, None for what xferd finds itself. State is on the disk, where a user's would be.
    """

    def __init__(self, bench, settings="", parallel=16, roots=(), wrapper=()):
        self.bench = bench
        self.place = bench.new_directory("xferd", on_disk=True)
        self.program = bench.programs / "xferd"
        self.xferctl = bench.programs / "xferctl"
        self.socket = self.place / "xferd.sock"
        self.config = self.place / "configuration" / "config.yaml"
        self.settings = settings
        limits = "" if parallel is None else f" max_active: {parallel}, max_active_per_host: {parallel} "
        self.queue = f"queue: {{{limits}}}"
        self.roots = [self.place, *roots]
        self.wrapper = list(wrapper)
        self.process = None

    @property
    def pid(self):
        return self.process.pid

    @property
    def environment(self):
        return {**os.environ, "XFERD_SOCKET": str(self.socket)}

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        processes.stop(self.process)
        shutil.rmtree(self.place, ignore_errors=True)

    def start(self):
        """Answers the seconds until the first answer."""
        roots = ", ".join(f'"{root}"' for root in self.roots)
        # In a directory of its own, which xferd watches: as a rule nothing is downloaded there.
        self.config.parent.mkdir(exist_ok=True)
        self.config.write_text(
            f'download: {{ dir: "{self.place}", roots: [{roots}], reserve: 1Mi }}\n'
            f"{self.queue}\n"
            f"log: {{ level: warning }}\n{self.settings}\n")
        begin = time.monotonic()
        self.process = processes.start(
            [*self.wrapper, self.program, "--config", self.config, "--state-dir", self.place / "state",
             "--socket", self.socket, "--foreground-log"])
        processes.wait_until(self._answers, "xferd", self.process, every=0.001)
        return time.monotonic() - begin

    def stop(self):
        processes.stop(self.process)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        self.stop()
        return self.start()

    def client(self):
        return Client(self.socket)

    def _answers(self):
        try:
            with self.client() as client:
                client.call("daemon.status")
            return True
        except (OSError, Failed):
            return False

    def counts(self):
        with self.client() as client:
            return client.call("daemon.status")["counts"]

    def fill(self, count, task):
        """Adds tasks, 10,000 at a time; `task(i)` says what task i is. Answers the seconds."""
        begin = time.monotonic()
        with self.client() as client:
            for first in range(0, count, 10_000):
                tasks = [task(index) for index in range(first, min(first + 10_000, count))]
                client.call("task.add", tasks=tasks)
        return time.monotonic() - begin

    def disk_bytes(self):
        return sum(path.stat().st_size for path in pathlib.Path(self.place / "state").glob("xferd.sqlite*"))
