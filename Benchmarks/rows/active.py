"""What 10,000 transfers that run at once cost: after a kill, and for those who watch."""

import contextlib
import errno
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import termios
import time

from harness import processes
from harness.daemon import Daemon
from harness.measure import Failed, Outcome
from harness.servers import Nginx, write_file

# Open files that xferd counts for a download, and those that it keeps for its service, its clients and idle connections
# (`DescriptorRules.budget`).
FILES_EACH, FILES_BESIDE = 5, 48 + 256 + 1024
MOST = 10_000
# Seconds that a file takes: no transfer ends while the row is measured.
DURATION = 1200


@contextlib.contextmanager
def transfers(bench, rate, queued=0):
    """A daemon with as many transfers of `rate` bytes per second as may be, which run for the whole row.

    `queued` more tasks wait behind them.
    """
    wanted = min(bench.count, MOST)
    needed = FILES_EACH * wanted + FILES_BESIDE
    allowed = processes.allow_files(needed)
    count = min(wanted, (allowed - FILES_BESIDE) // FILES_EACH)
    notes = []
    if count < wanted:
        notes.append(f"{wanted:,} transfers need {needed:,} open files; the hard limit here is {allowed:,}.")
    bench.require_memory(2 * count * rate * DURATION)
    memory = bench.new_directory("memory")
    # After a kill new connections come while the server still has the former ones.
    connections = max(8192, 2 * count + 500)
    with Nginx(memory, memory / "served", connections=connections) as server, \
            Daemon(bench, parallel=count, roots=[memory]) as daemon:
        write_file(server.served / "slow", rate * DURATION)
        out = memory / "out"
        out.mkdir()
        with daemon.client() as client:
            client.call("queue.pause")
            daemon.fill(count + queued, lambda index: {
                "url": server.url(f"rate/{rate}/slow?{index}"), "dir": str(out), "output": f"slow-{index:07}"})
            client.call("queue.resume")
        active = Active(server, daemon, count, notes)
        active.wait()
        yield active
    shutil.rmtree(memory)


class Active:
    """Transfers that run at once."""

    def __init__(self, server, daemon, count, notes):
        self.server = server
        self.daemon = daemon
        self.count = count
        self.notes = notes

    def wait(self):
        """Waits until xferd runs them all and the server responds to each."""
        processes.wait_until(
            lambda: self.daemon.counts().get("running", 0) >= self.count
            and self.server.count_responding() >= self.count,
            f"{self.count:,} transfers", seconds=300, every=0.05)

    def ids(self):
        """Answers the tasks that run."""
        found, cursor = set(), {}
        with self.daemon.client() as client:
            while True:
                page = client.call("task.list", filter={"state": ["running"]}, fields=["id"], limit=1000, **cursor)
                found.update(task["id"] for task in page["tasks"])
                if page.get("next_cursor") is None:
                    return found
                cursor = {"cursor": page["next_cursor"]}

    def describe(self, id):
        """What is known of a task that does not run."""
        with self.daemon.client() as client:
            task = client.call("task.get", id=id)["task"]
        return ", ".join(f"{name} {task[name]}" for name in ("id", "state", "wait", "error", "attempts") if task.get(name))


def killed(bench):
    """kill -9 with a long queue and many transfers: what is asked of the start is in the row `million`."""
    with transfers(bench, rate=100, queued=bench.many) as active:
        outcome = Outcome(f"kill -9 with {bench.many:,} queued tasks and {active.count:,} that run")
        for _ in range(bench.rounds):
            before = active.ids()
            outcome.add("memory while they run", "xfer", "MB", processes.memory(active.daemon.pid))
            active.daemon.kill()
            begin = time.monotonic()
            outcome.add("start to first answer", "xfer", "s", active.daemon.start())
            active.wait()
            outcome.add("start until they run again", "xfer", "s", time.monotonic() - begin)
            outcome.add("processor time until then", "xfer", "s", processes.cpu_seconds(active.daemon.pid))
            others = before - active.ids()
            outcome.add("of them run again", "xfer", "", len(before) - len(others))
            if others:
                outcome.notes.append(f"{len(others):,} do not run again; one of them is {active.describe(min(others))}.")
            counts = active.daemon.counts()
            if sum(counts.values()) != active.count + bench.many or counts.get("failed", 0):
                raise Failed(f"tasks are lost or have failed: {counts}")
    outcome.notes += active.notes
    outcome.notes.append("They run again when the server responds to each of them.")
    return outcome


def watch(bench):
    """The whole queue on a terminal, beside the same daemon without it."""
    seconds = 5
    with transfers(bench, rate=1000) as active:
        outcome = Outcome(f"xferctl watch on a terminal of 120 × 40 beside {active.count:,} transfers, for {seconds} s")

        def share(pid, action):
            before = processes.cpu_seconds(pid)
            begin = time.monotonic()
            action()
            return 100 * (processes.cpu_seconds(pid) - before) / (time.monotonic() - begin)

        for _ in range(bench.rounds):
            without = share(active.daemon.pid, lambda: time.sleep(seconds))
            with Screen([active.daemon.xferctl, "watch"], active.daemon.environment) as screen:
                outcome.add("time to the first picture", "xfer", "ms", 1000 * screen.wait_for(rb"slow-[0-9]{7}"))
                seen, before = screen.count, processes.cpu_seconds(screen.pid)
                beside = share(active.daemon.pid, lambda: screen.read(seconds))
                screen.require_running()
                cpu = processes.cpu_seconds(screen.pid) - before
                outcome.add("processor time of xferctl", "xfer", "% of a core", 100 * cpu / seconds)
                outcome.add("written to the terminal", "xfer", "KB/s", (screen.count - seen) / seconds / 1000)
                outcome.add("memory of xferctl", "xfer", "MB", processes.memory(screen.pid))
            outcome.add("processor time of xferd without it", "xfer", "% of a core", without)
            outcome.add("processor time of xferd with it", "xfer", "% of a core", beside)
            outcome.add("processor time of xferd for it", "xfer", "% of a core", beside - without)
    outcome.notes += active.notes
    outcome.notes.append("The first picture is there when it shows a transfer by its name.")
    return outcome


class Screen:
    """A program on a pseudo terminal, as a context. What it draws is counted and thrown away."""

    def __init__(self, command, environment, columns=120, rows=40):
        self.begin = time.monotonic()
        self.terminal, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = processes.start(
            command, stdin=other, stdout=other, stderr=other, is_brief=True,
            env={**environment, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"})
        os.close(other)
        self.count = 0

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.write(self.terminal, b"q")
            # A program that draws a last time must not wait for a reader.
            self.read(10)
        finally:
            processes.stop(self.process)
            os.close(self.terminal)

    def wait_for(self, pattern, limit=60):
        """Answers the seconds from the program's start until it has drawn something that matches."""
        drawn = b""
        while not re.search(pattern, drawn):
            if time.monotonic() > self.begin + limit:
                raise Failed(f"nothing like {pattern} is drawn within {limit} s: {drawn[-300:]}")
            drawn += self._read(0.1)
            self.require_running()
        return time.monotonic() - self.begin

    def read(self, seconds):
        """Takes what is drawn in this time, or until the program has ended."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._read(left)
            if self.process.poll() is not None:
                return

    def require_running(self):
        if self.process.poll() is not None:
            raise Failed(f"the program on the terminal has ended with {self.process.returncode}")

    def _read(self, seconds):
        """What is drawn next; nothing if that takes longer, or if the program has ended."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return b""
        try:
            data = os.read(self.terminal, 1 << 16)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        self.count += len(data)
        return data
