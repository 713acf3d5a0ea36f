"""A line with delay, loss and a rate between two network namespaces: the tools are at its near end, nginx at its far end.

It needs root, ip(8), /dev/net/tun and a C compiler. The forwarding program is `line.c`.
"""

import dataclasses
import os
import pathlib
import shutil
import subprocess

from . import processes
from .measure import Failed

SOURCE = pathlib.Path(__file__).with_name("line.c")
ADDRESS = "10.99.0.2"


@dataclasses.dataclass(frozen=True)
class Quality:
    """Milliseconds of a round trip, the share of lost packets, Mbit/s, and milliseconds of jitter and in the queue."""

    round_trip: float = 20
    loss: float = 0.0
    rate: float = 500
    jitter: float = 0.0
    queue: float = 100

    def __str__(self):
        loss = f", {100 * self.loss:g} % loss" if self.loss else ""
        return f"{self.round_trip:g} ms{loss}, {self.rate:g} Mbit/s"


class Line:
    """The line, as a context; `near` and `far` are commands that run a program at an end of it."""

    def __init__(self, bench, quality, hosts=()):
        self.bench = bench
        self.quality = quality
        self.hosts = hosts
        self.spaces = [f"xfer-bench-{end}-{os.getpid()}" for end in ("near", "far")]
        self.near, self.far = ([shutil.which("ip") or "/usr/sbin/ip", "netns", "exec", name] for name in self.spaces)
        self.process = None

    def __enter__(self):
        if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
            raise Failed("a line needs root and /dev/net/tun")
        program = self._compiled()
        try:
            for name in self.spaces:
                self._ip("netns", "add", name)
            self.process = processes.start(
                [program, *self.spaces], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self._expect("up")
            for host in self.hosts:
                self._run(*self.far, "ip", "address", "add", f"{host}/32", "dev", "line")
            self.set(self.quality)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        processes.stop(self.process)
        for name in self.spaces:
            subprocess.run([self.near[0], "netns", "delete", name], capture_output=True)

    def set(self, quality):
        """Changes the line while it is in use."""
        self.process.stdin.write(
            f"{quality.round_trip / 2} {quality.jitter} {quality.loss} {quality.rate * 1e6} {quality.queue}\n")
        self.process.stdin.flush()
        self._expect("set")

    def move(self):
        """Gives the near end another address; connections from the old one are lost."""
        self._run(*self.near, "ip", "address", "delete", "10.99.0.1/16", "dev", "line")
        self._run(*self.near, "ip", "address", "add", "10.99.0.3/16", "dev", "line")

    def _expect(self, word):
        if (line := self.process.stdout.readline().strip()) != word:
            raise Failed(f"the line could not be made: {line or 'it has ended'}")

    def _compiled(self):
        program = self.bench.place / "line"
        if not program.exists():
            compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
            if compiler is None:
                raise Failed("a line needs a C compiler")
            self._run(compiler, "-O2", "-o", str(program), str(SOURCE))
        return program

    def _ip(self, *words):
        self._run(self.near[0], *words)

    @staticmethod
    def _run(*command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
