"""How fast tasks are taken: xfer's are on the disk when they are answered, aria2c's are in memory."""

import os
import shutil
import threading
import time

from harness import rpc
from harness.daemon import Daemon
from harness.measure import Outcome, alternate
from harness.tools import AriaServer

# Nothing listens there, and nothing asks: both queues are held.
HELD = "http://127.0.0.1:9/held"
PER_BATCH = 1000


def single(bench):
    """One add after the other on one connection, beside the disk itself."""
    count = bench.count // 5
    outcome = Outcome(f"{count:,} single adds, one after another on one connection; xfer's are durable when answered")
    with Daemon(bench) as daemon, AriaServer(bench) as aria, daemon.client() as client, aria.client() as http:
        client.call("queue.pause")
        line = rpc.request("task.add", {"url": HELD})
        message = http.message("aria2.addUri", [[HELD]])

        def run(tool, number):
            if tool == "disk":
                rate = _disk_rate(bench, count)
            elif tool == "xfer":
                rate = _rate(count, lambda: client.exchange(line))
            else:
                rate = _rate(count, lambda: http.exchange(message))
            if number > 0:
                outcome.add("rate", tool, "/s", rate)

        alternate(["disk", "xfer", "aria2c"], bench.rounds, run)
    outcome.ask_ratio("rate", "disk", at_least=0.7)
    outcome.notes.append("disk: 4 KiB appended to a file and fdatasync, again and again, beside xfer's database.")
    return outcome


def pipelined(bench):
    """All adds are sent at once on one connection, and their answers read."""
    count = bench.count * 2
    outcome = Outcome(f"{count:,} single adds pipelined on one connection; xfer's are durable when answered")
    with Daemon(bench) as daemon, AriaServer(bench) as aria, daemon.client() as client:
        client.call("queue.pause")
        lines = [rpc.request("task.add", {"url": HELD}, number) for number in range(count)]

        def run(tool, number):
            if tool == "xfer":
                rate = count / client.pipeline(lines, count)
            else:
                rate = _pipelined_aria(aria, count)
            if number > 0:
                outcome.add("rate", tool, "/s", rate)

        alternate(["xfer", "aria2c"], bench.rounds, run)
    outcome.ask("rate", at_least=15_000)
    return outcome


def batches(bench):
    """Many tasks in one call, several calls one after another."""
    # aria2c keeps 12 KB for each, in all rounds.
    count = bench.count * 2
    outcome = Outcome(f"{count:,} adds in calls of {PER_BATCH:,}, one after another; xfer's are durable when answered")
    with Daemon(bench) as daemon, AriaServer(bench) as aria, daemon.client() as client, aria.client() as http:
        client.call("queue.pause")
        lines = [
            rpc.request("task.add", {"tasks": [{"url": f"{HELD}/{first + index}"} for index in range(PER_BATCH)]})
            for first in range(0, count, PER_BATCH)]
        messages = [
            http.message("system.multicall", [[
                {"methodName": "aria2.addUri", "params": [[f"{HELD}/{first + index}"]]} for index in range(PER_BATCH)]])
            for first in range(0, count, PER_BATCH)]

        def run(tool, number):
            begin = time.monotonic()
            if tool == "xfer":
                for line in lines:
                    client.exchange(line)
            else:
                for message in messages:
                    http.exchange(message)
            if number > 0:
                outcome.add("rate", tool, "/s", count / (time.monotonic() - begin))

        alternate(["xfer", "aria2c"], bench.rounds, run)
    outcome.ask("rate", at_least=45_000)
    return outcome


def _rate(count, call):
    begin = time.monotonic()
    for _ in range(count):
        answer = call()
        if b'"error"' in answer:
            raise RuntimeError(answer[:300])
    return count / (time.monotonic() - begin)


def _disk_rate(bench, count):
    place = bench.new_directory("append", on_disk=True)
    block = os.urandom(4096)
    file = os.open(place / "file", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    begin = time.monotonic()
    for _ in range(count):
        os.write(file, block)
        os.fdatasync(file)
    took = time.monotonic() - begin
    os.close(file)
    shutil.rmtree(place)
    return count / took


def _pipelined_aria(aria, count):
    with aria.client() as http:
        data = http.message("aria2.addUri", [[HELD]]) * count
        sender = threading.Thread(target=http.socket.sendall, args=(data,), daemon=True)
        begin = time.monotonic()
        sender.start()
        answered, rest = 0, b""
        while answered < count:
            chunk = rest + http.socket.recv(1 << 18)
            answered += chunk.count(b"HTTP/1.1 200")
            # The next chunk may complete a status line that begins here.
            rest = chunk[-11:] if b"HTTP/1.1 200" not in chunk[-11:] else b""
        took = time.monotonic() - begin
        sender.join()
    return count / took
