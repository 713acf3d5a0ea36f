#!/usr/bin/python3
"""Tasks against a server that lies, beside verbs of other clients, and kills at random moments and system calls.

    hostile.py [--tasks N] [--kills N] [--seed N]

Afterwards: every task that was answered is there, what is published is one whole version of its content
(hostile_server.py), no part of a download is left that no task names, xferd ended only when it was killed, and event
numbers have no gap. Prints the counts; exit status 1 when anything else was seen.
"""

import argparse
import collections
import json
import os
import random
import shutil
import sys
import time

from hostile_server import RELUCTANT, UNASKED, HostileServer, versions
from xferd import CallFailed, Daemon, PATIENCE

#: System calls of a download's way to its file, at one of which strace(1) kills.
CALLS = ["pwrite64", "fdatasync", "fsync", "renameat2", "openat", "unlinkat", "epoll_wait", "linkat", "ftruncate"]
TERMINAL = {"completed", "failed", "cancelled", "skipped"}


class Campaign:
    def __init__(self, options):
        self.random = random.Random(options.seed)
        self.options = options
        self.server = HostileServer(options.seed)
        self.daemon = Daemon(
            settings=[
                "queue.max_active=32", "queue.max_active_per_host=32", "history.max_count=1000000",
                "download.reserve=0", "events.max_count=10000000",
            ]
        )
        self.answered = {}
        self.counts = collections.Counter()
        self.problems = []

    def problem(self, text):
        if len(self.problems) < 50:
            print("PROBLEM", text, flush=True)
        self.problems.append(text)

    def run(self):
        self.start()
        rounds = self.options.kills + 1
        for number in range(rounds):
            share = self.options.tasks * (number + 1) // rounds - self.options.tasks * number // rounds
            self.add(share)
            if number < self.options.kills:
                self.kill_somewhere()
        self.settle()
        self.check()
        status = self.daemon.finish(self.counts, len(self.problems), f"{len(self.answered)} tasks, {self.server.requests} requests")
        self.server.stop()
        return status

    def start(self):
        wrapper = []
        if self.options.kills and shutil.which("strace") and self.random.random() < 0.5:
            call, count = self.random.choice(CALLS), self.random.randrange(1, 400)
            # -D: the process that is started is xferd itself.
            wrapper = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}"]
            wrapper += ["-e", f"inject={call}:signal=KILL:when={count}"]
        for _ in range(20):
            try:
                self.daemon.start(wrapper)
                return
            except (RuntimeError, ConnectionError) as error:
                # A kill that was meant for later may come during the start.
                if not wrapper or self.daemon.process.returncode != -9:
                    raise
                self.counts["killed while starting"] += 1
                wrapper = []
        raise RuntimeError("xferd cannot be started")

    def add(self, count):
        while count > 0:
            tasks = [self.new_task() for _ in range(min(count, self.random.randrange(1, 60)))]
            try:
                ids = self.daemon.call("task.add", {"tasks": tasks})["ids"]
            except (ConnectionError, OSError, ValueError):
                self.killed()
                continue
            for task_id, task in zip(ids, tasks):
                self.answered[task_id] = task
            count -= len(tasks)
            self.meddle()

    def new_task(self):
        # Few paths, so that tasks share transfers.
        path = f"/{self.random.randrange(max(10, self.options.tasks // 4))}"
        host = RELUCTANT if self.random.random() < 0.02 else "127.0.0.1"
        task = {
            "url": f"http://{host}:{self.server.port}{path}", "max_retries": self.random.randrange(4),
            "retry_failed": True,
        }
        kind = self.random.random()
        if kind < 0.15:
            task["kind"] = "data"
        else:
            task["output"] = f"f{len(self.answered)}-{self.random.randrange(10**9)}"
            if kind < 0.25:
                task["segments"] = self.random.choice([2, 4, "auto"])
            elif kind < 0.3:
                task["finalize"] = "manual"
        return task

    def meddle(self):
        if self.random.random() < 0.5 or not self.answered:
            return
        ids = self.random.sample(list(self.answered), min(len(self.answered), self.random.randrange(1, 8)))
        verb = self.random.choice(["pause", "resume", "cancel", "retry", "pause", "resume", "move", "list"])
        try:
            if verb == "list":
                self.daemon.call("task.list", {"limit": 50})
            elif verb == "move":
                self.daemon.call("task.move", {"ids": ids, "to": self.random.choice(["top", "bottom"])})
            else:
                self.daemon.call(f"task.{verb}", {"ids": ids})
            self.counts[f"verb {verb}"] += 1
        except CallFailed as error:
            if error.code == -32603:
                self.problem(f"{verb}: {error}")
            self.counts[f"refused {verb} {error.code}"] += 1
        except (ConnectionError, OSError, ValueError):
            self.killed()

    def kill_somewhere(self):
        """Whatever is under way; under strace the kill may have come already."""
        deadline = time.monotonic() + self.random.random() * 0.5
        while time.monotonic() < deadline and self.daemon.is_running:
            time.sleep(0.002)
        if self.daemon.is_running:
            self.daemon.process.kill()
        self.killed()

    def killed(self):
        status = self.daemon.ended()
        if status != -9:
            self.problem(f"xferd ended with {status}")
        self.counts["kills"] += 1
        self.start()

    def settle(self):
        """Everything that is held goes on until it has ended."""
        self.daemon.stop()
        self.options.kills = 0
        self.start()
        deadline = time.monotonic() + PATIENCE + self.options.tasks / 20
        while time.monotonic() < deadline:
            rest = {state: self.daemon.all("task.list", "tasks", {"filter": {"state": [state]}, "fields": ["id", "url"]})
                    for state in ["queued", "running", "waiting", "paused", "staged"]}
            ids = [task["id"] for task in rest["paused"] + rest["waiting"]]
            staged = [task["id"] for task in rest["staged"]]
            for start in range(0, len(ids), 500):
                self.daemon.call("task.resume", {"ids": ids[start : start + 500]})
            for task_id in staged:
                try:
                    self.daemon.call("task.commit", {"ids": [task_id]})
                except CallFailed as error:
                    self.counts[f"refused commit {error.code}"] += 1
            if not any(rest.values()):
                return
            # Their host may ask for an hour.
            late = [task["id"] for tasks in rest.values() for task in tasks if RELUCTANT in task["url"]]
            if len(late) == sum(map(len, rest.values())):
                self.daemon.call("task.cancel", {"ids": late})
                self.counts["cancelled for their host's patience"] += len(late)
            time.sleep(0.2)
        self.problem("tasks do not end: " + json.dumps({state: len(tasks) for state, tasks in rest.items()}))

    def check(self):
        tasks = {task["id"]: task for task in self.daemon.all("task.list", "tasks", {"limit": 1000})}
        for task_id in self.answered.keys() - tasks.keys():
            self.problem(f"task {task_id} was answered and is not there")
        named = set()
        # These tasks got the unrequested answer (no content has three bytes).
        # The next request on the connection got theirs.
        late = {task["url"] for task in tasks.values() if task["state"] == "completed" and task.get("total") == len(UNASKED)}
        answers_too_late = [whole for url in late for whole in versions("/" + url.rsplit("/", 1)[1])]
        for task_id, task in tasks.items():
            state = task["state"]
            reason = (task.get("error") or {}).get("reason", "")
            self.counts[f"{state} {reason}".strip()] += 1
            if reason == "internal_error":
                self.problem(f"task {task_id}: {task['error']}")
            if task.get("final_path"):
                named.add(os.path.basename(task["final_path"]))
            # A kill lost the answers to the other adds.
            if state != "completed" or task_id not in self.answered:
                continue
            # Where it was redirected to, another content is the right one. After a kill between the last byte and the end, the
            # record does not say whether it was.
            paths = {"/" + url.rsplit("/", 1)[1] for url in (task.get("final_url"), task["url"]) if url}
            if not task.get("final_url"):
                paths.add("/")
            if task.get("final_path"):
                try:
                    with open(task["final_path"], "rb") as file:
                        bytes_found = file.read()
                except OSError as error:
                    self.problem(f"task {task_id} is completed: {error}")
                    continue
                if bytes_found == UNASKED:
                    # It came between the check of the idle connection and the request: no client can tell.
                    self.counts["published an unasked answer"] += 1
                elif bytes_found in answers_too_late:
                    self.counts["published the answer to the request before"] += 1
                elif not any(bytes_found in versions(path) for path in paths):
                    self.problem(f"task {task_id} published {len(bytes_found)} bytes that are no version of {paths}")
        for name in os.listdir(self.daemon.files):
            if name.startswith(".xfer-"):
                self.counts["parts kept"] += 1
            elif name not in named:
                self.problem(f"{name} is published and no completed task's")
        if self.counts["published an unasked answer"] > len(tasks) / 1000:
            self.problem("unasked answers are published more often than by chance")
        self.check_events()

    def check_events(self):
        last = 0
        while True:
            events = self.daemon.call("events.since", {"seq": last, "limit": 1000})["events"]
            for event in events:
                if event["seq"] != last + 1:
                    self.problem(f"event {event['seq']} after {last}")
                last = event["seq"]
            if not events:
                break
        self.counts["events"] = last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    sys.exit(Campaign(options).run())


main()
