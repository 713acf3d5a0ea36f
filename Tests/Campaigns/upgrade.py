#!/usr/bin/python3
"""Transfers of a release are finished by today's program.

    upgrade.py --old DIRECTORY --new DIRECTORY [--transfers N]

The xferd of DIRECTORY --old runs N downloads, each fifth in segments. It stops, and the one of --new goes on with the same
state. Each transfer ends with the bytes of its source, and few of them are sent twice. Then --old refuses the state with 78
if --new migrated it, and leaves it as it is. Prints how many bytes went over the network; exit status 1 when one of these
does not hold.
"""

import argparse
import collections
import hashlib
import pathlib
import subprocess
import sys
import time

from xferd import Daemon

SERVER = pathlib.Path(__file__).resolve().parents[1] / "debian/server.py"
SIZE, RATE = 4_000_000, 80_000
#: Bytes of each transfer that the server may send twice: what lay in sockets, and what came after the last checkpoint.
SENT_TWICE = 1_000_000
PATIENCE = 600
DAMAGE = 78


class Server:
    """Tests/debian/server.py as a process of its own."""

    def __init__(self, directory):
        self.log = directory / "server.log"
        self.process = subprocess.Popen([sys.executable, SERVER, self.log], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/{SIZE}/{RATE}/{name}"

    def sent(self):
        """Bytes that were sent of each file."""
        sent = collections.Counter()
        for line in self.log.read_text().splitlines():
            name, _, count = line.split()
            sent[name] += int(count)
        return sent

    def stop(self):
        self.process.kill()
        self.process.wait()


def digest(name):
    command = [sys.executable, SERVER, "--digest", str(SIZE), name]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def tasks(daemon):
    return daemon.all("task.list", "tasks", {"fields": ["id", "state", "progress", "error"]})


def wait_until(daemon, what, holds):
    deadline = time.monotonic() + PATIENCE
    while not holds(tasks(daemon)):
        if time.monotonic() > deadline:
            raise RuntimeError(f"{what}: expected within {PATIENCE} seconds, the tasks are {tasks(daemon)}")
        time.sleep(0.2)


def version(directory):
    return subprocess.run([directory / "xferd", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--old", type=pathlib.Path, required=True)
    options.add_argument("--new", type=pathlib.Path, required=True)
    options.add_argument("--transfers", type=int, default=50)
    options = options.parse_args()
    names = [f"file{number}" for number in range(options.transfers)]
    problems = []

    places = 2 * options.transfers
    limits = [f"queue.max_active={places}", f"queue.max_active_per_host={places}", "download.reserve=1Mi"]
    daemon = Daemon(settings=limits)
    server = Server(daemon.directory)
    daemon.programs = options.old
    daemon.start()
    for number, name in enumerate(names):
        task = {"url": server.url(name)}
        if number % 5 == 0:
            task["segments"] = 3
        daemon.call("task.add", task)
    wait_until(
        daemon, "all transfers run",
        lambda rows: all(row["state"] == "running" and row["progress"]["received"] > SIZE / 10 for row in rows))
    store = daemon.call("daemon.status")["store_id"]
    before = {row["id"]: row["progress"]["received"] for row in tasks(daemon)}
    if daemon.stop() != 0:
        problems.append("SIGTERM did not end the old program with 0")

    daemon.programs = options.new
    daemon.start()
    if daemon.call("daemon.status")["store_id"] != store:
        problems.append("the database has another store_id")
    lost = sum(before[row["id"]] - row["progress"]["received"] for row in tasks(daemon))
    wait_until(
        daemon, "all transfers end",
        lambda rows: all(row["state"] in ("completed", "failed", "cancelled") for row in rows))
    for row in tasks(daemon):
        if row["state"] != "completed":
            problems.append(f"task {row['id']} is {row['state']}: {row.get('error')}")
    daemon.stop()
    server.stop()

    sent = server.sent()
    for name in names:
        file = daemon.files / name
        if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != digest(name):
            problems.append(f"{name} has other bytes than its source")
        if sent[name] > SIZE + SENT_TWICE:
            problems.append(f"{name}: {sent[name]} bytes were sent, expected {SIZE + SENT_TWICE} at most")

    # The way back is a backup: the old program takes the state as it is, or refuses it.
    daemon.programs = options.old
    status, output = daemon.once("--check-database")
    if status not in (0, DAMAGE):
        problems.append(f"the old program's --check-database ended with {status}: {output}")

    for problem in problems:
        print("PROBLEM", problem)
    print(
        f"{options.transfers} transfers of {version(options.old)} ended with {version(options.new)}: "
        f"{max(lost, 0)} bytes were received again, {sum(sent.values()) - SIZE * len(names)} sent twice, "
        f"{len(problems)} problems")
    if problems:
        print(f"kept: {daemon.directory}")
        return 1
    daemon.remove()
    return 0


if __name__ == "__main__":
    sys.exit(main())
