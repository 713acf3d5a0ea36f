#!/usr/bin/python3
"""Clients that add, pause, resume, cancel, retry, move and remove the same few downloads for minutes, with few tasks remembered.

    churn.py [--seconds N] [--clients N] [--kills N] [--seed N]

Afterwards: no call ended with an internal error, every task that goes on comes to an end, the parts on disk are those of
tasks that are remembered, and once all tasks are removed no part and no temporary file is left. The server lies
(hostile_server.py). Prints the counts; exit status 1 when anything else was seen.
"""

import argparse
import collections
import os
import random
import sys
import threading
import time

from hostile_server import HostileServer
from xferd import CallFailed, Connection, Daemon, PATIENCE

VERBS = ["add"] * 6 + ["pause", "resume", "resume", "cancel", "cancel", "retry", "remove", "move", "update", "list"]
#: States of tasks that go on by themselves, and of those that wait for a client.
GOING, HELD = ["queued", "running"], ["paused", "waiting", "staged"]


class Churn:
    def __init__(self, options):
        self.options = options
        self.server = HostileServer(options.seed)
        self.daemon = Daemon(
            settings=["queue.max_active=16", "queue.max_active_per_host=16", "history.max_count=200", "download.reserve=0"]
        )
        self.ids = collections.deque(maxlen=400)
        self.counts = collections.Counter()
        self.problems = []
        self.ending = threading.Event()

    def problem(self, text):
        if len(self.problems) < 50:
            print("PROBLEM", text, flush=True)
        self.problems.append(text)

    def client(self, number):
        generator = random.Random(self.options.seed * 1000 + number)
        connection = None
        while not self.ending.is_set():
            try:
                connection = connection or Connection(self.daemon.socket)
                self.one_call(generator, connection)
            except CallFailed as error:
                self.counts[f"refused {error.code}"] += 1
                if error.code == -32603:
                    self.problem(error)
            except (ConnectionError, OSError, ValueError):
                # The daemon was killed, and is being started again.
                connection = None
                self.ending.wait(0.05)

    def one_call(self, generator, connection):
        verb = generator.choice(VERBS)
        self.counts[verb] += 1
        if verb == "add":
            path = f"/{generator.randrange(3) if generator.random() < 0.5 else generator.randrange(200)}"
            task = {"url": f"http://127.0.0.1:{self.server.port}{path}", "max_retries": generator.randrange(3)}
            if generator.random() < 0.2:
                task["segments"] = generator.choice([2, 4, "auto"])
            if generator.random() < 0.2:
                task["kind"] = "data"
            else:
                task["output"] = f"f{number_of_the_file()}"
            self.ids.extend(connection.call("task.add", {"tasks": [task]})["ids"])
            return
        if verb == "list":
            connection.call("task.list", {"limit": 100})
            return
        ids = [self.ids[generator.randrange(len(self.ids))] for _ in range(generator.randrange(1, 4))] if self.ids else [1]
        params = {"ids": sorted(set(ids))}
        if verb == "move":
            params["to"] = generator.choice(["top", "bottom"])
        if verb == "update":
            params = {"id": ids[0], "changes": {"priority": generator.choice(["low", "normal", "high"])}}
        connection.call(f"task.{verb}", params)

    def run(self):
        self.daemon.start()
        threads = [threading.Thread(target=self.client, args=(number,)) for number in range(self.options.clients)]
        for thread in threads:
            thread.start()
        for _ in range(self.options.kills + 1):
            time.sleep(self.options.seconds / (self.options.kills + 1))
            if not self.daemon.is_running:
                self.problem(f"xferd ended with {self.daemon.process.returncode}")
                break
            if self.counts["kills"] < self.options.kills:
                self.daemon.kill()
                self.counts["kills"] += 1
                self.daemon.start()
        self.ending.set()
        for thread in threads:
            thread.join()
        self.settle()
        self.check()
        self.counts["MiB resident"] = self.daemon.resident_bytes >> 20
        status = self.daemon.finish(self.counts, len(self.problems), f"{self.server.requests} requests")
        self.server.stop()
        return status

    def in_states(self, states):
        return [task["id"] for task in self.daemon.all("task.list", "tasks", {"filter": {"state": states}, "fields": ["id"]})]

    def settle(self):
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline:
            going, held = self.in_states(GOING), self.in_states(HELD)
            if not going and not held:
                return
            if held:
                self.daemon.call("task.resume", {"ids": held[:500]})
            time.sleep(0.2)
        self.problem(f"tasks do not end: {going} {held}")

    def parts(self):
        return [name for name in os.listdir(self.daemon.files) if name.startswith(".xfer-")]

    def check(self):
        tasks = self.daemon.all("task.list", "tasks", {"limit": 1000})
        for task in tasks:
            reason = (task.get("error") or {}).get("reason", "")
            self.counts[f"{task['state']} {reason}".strip()] += 1
            if reason == "internal_error":
                self.problem(f"task {task['id']}: {task['error']}")
        self.counts["parts kept"] = len(self.parts())
        # Tasks that failed and were cancelled keep their part, several of them one.
        if len(self.parts()) > len(tasks):
            self.problem(f"{len(self.parts())} parts of {len(tasks)} tasks")
        ids = [task["id"] for task in tasks]
        for start in range(0, len(ids), 500):
            self.daemon.call("task.remove", {"ids": ids[start : start + 500]})
        deadline = time.monotonic() + PATIENCE
        while self.parts() and time.monotonic() < deadline:
            time.sleep(0.1)
        if self.parts():
            self.problem(f"parts of no task: {self.parts()[:10]}")


numbers = iter(range(1 << 60))
numbers_lock = threading.Lock()


def number_of_the_file():
    with numbers_lock:
        return next(numbers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    sys.exit(Churn(options).run())


main()
