"""Asking a daemon again and again while it works on something else."""

import threading
import time

from . import rpc

# Nothing listens there; the probing tasks are paused anyway.
URL = "http://127.0.0.1:9/probe"


class Prober:
    """Measures, every few milliseconds, how long `daemon.status` and an add take, as a context."""

    def __init__(self, daemon, adds=True, every=0.005):
        self.daemon = daemon
        self.every = every
        self.lines = {"daemon.status": rpc.request("daemon.status", {})}
        if adds:
            self.lines["task.add"] = rpc.request("task.add", {"url": URL, "paused": True, "label": "probe"})
        self.waits = {name: [] for name in self.lines}
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self._ask, args=each, daemon=True) for each in self.lines.items()]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def longest(self, name, count=1):
        """The longest waits, in ms."""
        return sorted(self.waits[name])[-count:] or [0.0]

    def _ask(self, name, line):
        with self.daemon.client() as client:
            while not self.is_over.wait(self.every):
                begin = time.monotonic()
                client.exchange(line)
                self.waits[name].append(1000 * (time.monotonic() - begin))
