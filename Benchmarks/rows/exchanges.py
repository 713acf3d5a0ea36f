"""Requests that carry something and end with an answer: webhooks and small uploads, beside a load generator."""

import json
import shutil
import time
from collections import Counter

from harness import processes, rpc
from harness.daemon import Daemon
from harness.measure import Failed, Outcome, alternate
from harness.servers import Nginx, write_file
from harness.tools import PARALLEL, Wrk

EVENT = {"event": "order.paid", "order": 4711, "customer": "ada", "note": "x" * 120}
SIZE = 4096


def exchanges(bench):
    """Each task is added by a call of its own; wrk makes the same requests and keeps nothing."""
    count = bench.count
    outcome = Outcome(
        f"{count:,} webhooks (POST, {len(_text(EVENT))} bytes of JSON) and as many uploads (PUT, {SIZE >> 10} KiB), "
        f"{PARALLEL} at a time; xfer's are durable tasks")
    memory = bench.new_directory("memory")
    with Nginx(memory, memory / "served") as server, Daemon(bench, roots=[memory]) as daemon:
        source = memory / "source"
        write_file(source, SIZE)
        webhook = Exchange("POST", len(_text(EVENT)), lambda name: {
            "url": server.url(f"accept/{name}"), "kind": "data", "method": "POST", "body": {"json": EVENT},
            "headers": {"Idempotency-Key": f'"{name}"'}, "retry_for": 3600})
        upload = Exchange("PUT", SIZE, lambda name: {
            "url": server.url(f"accept/{name}"), "kind": "upload", "source": str(source)})
        wrk = Wrk(bench)
        requests = {
            "webhooks": (webhook, {"Content-Type": "application/json", "Idempotency-Key": '"key"'}, _text(EVENT)),
            "uploads": (upload, {"Content-Type": "application/octet-stream"}, "x" * SIZE),
        }
        for what, (exchange, headers, body) in requests.items():
            def run(tool, number):
                if tool == "wrk":
                    rate, cpu = wrk.send(server.url("accept/load"), exchange.method, headers, body)
                else:
                    server.accepted.clear()
                    name = f"{what}-{number}"
                    rate, cpu = exchange.run(daemon, count, name)
                    _check(server, exchange, [f"/accept/{name}-{index}" for index in range(count)])
                if number > 0:
                    outcome.add(what, tool, "/s", rate)
                    outcome.add(f"processor time of {what}", tool, "ms each", 1000 * cpu)

            alternate(["xfer"] + ["wrk"] * wrk.is_installed(), bench.rounds, run)
        outcome.add("peak memory", "xfer", "MB", processes.memory(daemon.pid, "VmHWM"))
    shutil.rmtree(memory)
    outcome.notes.append(
        "xfer's rate is from the first call to the end of the last task. All calls are sent at once on one connection.")
    return outcome


class Exchange:
    """One kind of request, as tasks; `task(name)` has a name of its own each."""

    def __init__(self, method, length, task):
        self.method = method
        self.length = length
        self.task = task

    def run(self, daemon, count, name):
        """Answers exchanges per second, and processor seconds of xferd for each."""
        lines = [rpc.request("task.add", self.task(f"{name}-{number}"), number) for number in range(count)]
        with daemon.client() as client, daemon.client() as adder:
            before, cpu = _ended(client), processes.cpu_seconds(daemon.pid)
            begin = time.monotonic()
            adder.pipeline(lines, count)
            processes.wait_until(lambda: _ended(client) - before >= count, f"{count:,} tasks", seconds=300)
            took, cpu = time.monotonic() - begin, processes.cpu_seconds(daemon.pid) - cpu
            # Beyond history.max_count the ended tasks would not be counted.
            client.call("task.remove", filter={"state": ["completed"]})
        return count / took, cpu / count


def _ended(client):
    counts = client.call("queue.stats")["counts"]
    if counts.get("failed", 0):
        raise Failed("a task failed")
    return counts.get("completed", 0)


def _check(server, exchange, paths):
    """Each request was made once, as it was meant."""
    seen = sorted(server.accepted.take(len(paths)))
    meant = sorted((exchange.method, str(exchange.length), path) for path in paths)
    if seen != meant:
        more = sorted((Counter(seen) - Counter(meant)).elements())
        less = sorted((Counter(meant) - Counter(seen)).elements())
        raise Failed(f"{len(seen):,} requests came in place of {len(meant):,}: {more[:4]} too many, {less[:4]} missing")


def _text(value):
    return json.dumps(value, separators=(",", ":"))
