#!/usr/bin/python3
"""Counts what xferd executes per small task, per add and per MiB, which depends little on the machine's mood.

    instructions.py [--programs DIRECTORY] [--update] [--rounds N]

xferd runs under valgrind's callgrind: once to start and stop, once to do one of each kind of work, and once for much of
each kind. The first of each kind is counted by itself: Swift looks up every conformance of a generic type once, which
costs as much as 200 MiB. The counts are compared with instructions.json; more than its tolerance above fails, and much
below asks for new figures (--update), which hold the gain.

On a machine with much other work small tasks end in smaller rounds, which cost up to a tenth more. So a figure that is too
high is measured up to three times, and the least counts: other work never makes it smaller.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from harness import processes, rpc
from harness.daemon import Daemon
from harness.measure import Failed
from harness.servers import Nginx, write_file

FILE = pathlib.Path(__file__).resolve().parent / "instructions.json"
TASKS, ADDS, MEBIBYTES = 400, 1000, 512
TOLERANCE = 0.10
MOST_ROUNDS = 3


class Ground:
    """What `Daemon` wants to be given."""

    def __init__(self, place, programs):
        self.place = place
        self.programs = place / "programs"
        self.programs.mkdir()
        # Valgrind 3.19 gives up on the debug information of Swift 6.3.
        subprocess.run(["strip", "-g", "-o", self.programs / "xferd", programs / "xferd"], check=True)
        self.preloaded = place / "openat2.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.preloaded, FILE.with_name("openat2.c")], check=True)

    def new_directory(self, name, on_disk=False):
        return pathlib.Path(tempfile.mkdtemp(prefix=name + "-", dir=self.place))


def main():
    arguments = parsed_arguments()
    if shutil.which("valgrind") is None:
        sys.exit("instructions.py: valgrind is not installed")
    processes.raise_file_limit()
    with tempfile.TemporaryDirectory(prefix="xfer-instructions-") as scratch:
        place = pathlib.Path(scratch)
        ground = Ground(place, arguments.programs)
        with Nginx(place, place / "served") as server:
            write_file(server.served / "small", 4096)
            write_file(server.served / "first", 16 << 20)
            write_file(server.served / "big", MEBIBYTES << 20)
            rounds = [measured(ground, server) for _ in range(arguments.rounds)]
            while not arguments.update and len(rounds) < MOST_ROUNDS and any(too_many(least(rounds)).values()):
                rounds.append(measured(ground, server))
    figures = least(rounds)
    for what in figures if len(rounds) > 1 else []:
        values = sorted(each[what] for each in rounds)
        print(f"{what}: {values[0]:,} to {values[-1]:,}, {100 * (values[-1] / values[0] - 1):.1f} % apart")
    if arguments.update:
        FILE.write_text(json.dumps({"tolerance": TOLERANCE, "instructions": figures}, indent=4) + "\n")
        print(f"wrote {FILE.name}")
    sys.exit(compare(figures))


def parsed_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path(".build/release"))
    parser.add_argument("--update", action="store_true", help="take the figures seen for the ones to hold")
    parser.add_argument("--rounds", type=int, default=1, help="the least of so many; says how far apart they are")
    arguments = parser.parse_args()
    arguments.programs = arguments.programs.resolve()
    return arguments


def least(rounds):
    """The least count of each kind of work."""
    return {what: min(each[what] for each in rounds) for what in rounds[0]}


def kept_figures():
    """What instructions.json holds."""
    return json.loads(FILE.read_text()) if FILE.exists() else {"tolerance": TOLERANCE, "instructions": {}}


def too_many(figures):
    """Whether the count of each kind of work with a figure is too high."""
    kept = kept_figures()
    return {
        what: figures[what] > limit * (1 + kept["tolerance"])
        for what, limit in kept["instructions"].items() if what in figures}


def compare(figures):
    """Says how the figures stand; 1 when one is too high."""
    kept, is_too_high = kept_figures(), too_many(figures)
    result = 0
    for what, count in figures.items():
        limit = kept["instructions"].get(what)
        if limit is None:
            verdict, result = "no figure to compare with: --update", 1
        elif is_too_high[what]:
            verdict, result = f"TOO MANY: {100 * (count / limit - 1):+.1f} % of {limit:,}", 1
        elif count < limit * (1 - kept["tolerance"]):
            verdict = f"ok, {100 * (count / limit - 1):+.1f} % of {limit:,}: UPDATE=1 keeps the gain"
        else:
            verdict = f"ok, {100 * (count / limit - 1):+.1f} % of {limit:,}"
        print(f"{count:>12,} instructions {what}: {verdict}")
    return result


def measured(ground, server):
    """Instructions by kind of work."""
    def first(client):
        fetch(client, [server.url("small")])
        fetch(client, [server.url("first")])
        add(client, 1)

    start = executed(ground, lambda client: None)
    begun = executed(ground, first)

    def per(count, work):
        def both(client):
            first(client)
            work(client)

        return (executed(ground, both) - begun) // count

    small = [server.url(f"small?{index}") for index in range(TASKS)]
    return {
        "to start and stop": start,
        "for the first of each": begun - start,
        "per small task": per(TASKS, lambda client: fetch(client, small)),
        "per add": per(ADDS, lambda client: add(client, ADDS)),
        "per MiB": per(MEBIBYTES, lambda client: fetch(client, [server.url("big")])),
    }


def fetch(client, urls):
    """Tasks in one call, and their end."""
    subscription = client.call("events.subscribe", types=["queue.idle"])["subscription"]
    tasks = [{"url": url, "output": str(index)} for index, url in enumerate(urls)]
    answer = json.loads(client.exchange(rpc.request("task.add", {"tasks": tasks})))
    if "error" in answer:
        raise Failed(str(answer["error"]))
    while b"queue.idle" not in client.line():
        pass
    client.call("events.unsubscribe", subscription=subscription)


def add(client, count):
    line = rpc.request("task.add", {"url": "http://127.0.0.1:9/held", "paused": True})
    for _ in range(count):
        client.exchange(line)


def executed(ground, work):
    """What a whole run of xferd executes, from its start over this work to its end."""
    log = ground.place / "callgrind.log"
    # Checkpoints come by bytes then, not by how long it takes.
    command = [
        "env", f"LD_PRELOAD={ground.preloaded}", "XFERD_DOWNLOAD_CHECKPOINT_INTERVAL=3600", "valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
        f"--log-file={log}"]
    with Daemon(ground, wrapper=command) as daemon:
        with daemon.client() as client:
            work(client)
        daemon.stop()
    total = re.search(r"Collected : (\d+)", log.read_text())
    if total is None:
        raise Failed(f"callgrind says no total: {log.read_text()[-1000:]}")
    return int(total[1])


if __name__ == "__main__":
    main()
