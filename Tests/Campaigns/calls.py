#!/usr/bin/python3
"""Calls made from the RPC document at random: valid ones, ones at the ends of what a type holds, and wrong ones.

    calls.py [--calls N] [--seed N]

xferd answers each, with a result that the document describes or with an error that it names, never with an internal error;
it is the same process afterwards and has not grown without bound. Prints the counts; exit status 1 when anything else was
seen. Runs in a network namespace of its own, so that nothing leaves the machine.
"""

import argparse
import collections
import json
import os
import pathlib
import queue
import random
import socket
import subprocess
import sys
import threading
import time

import jsonschema

from xferd import PATIENCE, Connection, Daemon

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "rpc-schema/openrpc.json"
#: Ends the daemon, which is not what is tried here.
LEFT_OUT = {"daemon.shutdown"}
MOST_BYTES = 1 << 30

NUMBERS = [
    0, 1, -1, 2, 255, 256, 1000, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1,
    0.5, -0.0, 1e-300, 1e18, 1e19, 1e300, 10**40,
]
WORDS = [
    "", " ", "a", "*", "-", "--", "/", "..", "../..", "/etc/passwd", "\0", "a\0b", "\n", "\u202e", "é", "e\u0301", "😀", "%00",
    "%", "'", '"', "\\", "{}", "[]", "null", "NaN", "Infinity", "9223372036854775807", "9223372036854775808", "1e999",
    "http://127.0.0.1:1/", "http://[::1]:1/x?token=y", "https://user:pw@127.0.0.1:1/", "//127.0.0.1", "http://", "sha256/",
    "9999-12-31T23:59:59Z", "0000-00-00T00:00:00Z", "2999-01-01T00:00:00+23:59", "24:00-24:00", "22:00-06:00", "1M/1M",
    "Europe/Berlin", "../../etc/passwd", "x" * 255, "x" * 4096, "é" * 5000,
]


class ReadingConnection(Connection):
    """Reads all the time, into a queue: a server that waits until its answers are read does not read requests meanwhile."""

    def __init__(self, path, lines):
        super().__init__(path)
        self.lines = lines
        #: Calls without an answer: id, method, params.
        self.waiting = collections.deque()
        self.socket.settimeout(None)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            for line in self.file:
                self.lines.put((self, line))
        except (OSError, ValueError):
            pass
        self.lines.put((self, b""))

    def fill(self, calls):
        """Sends until sixteen calls wait for their answers."""
        while len(self.waiting) < 16:
            method, params = calls.next()
            self.waiting.append((self.send(method, params), method, params))

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)


class Calls:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.document = json.loads(DOCUMENT.read_text())
        self.schemas = self.document["components"]["schemas"]
        self.methods = [method for method in self.document["methods"] if method["name"] not in LEFT_OUT]
        self.codes = {error["code"] for error in self.document["components"]["errors"].values()}
        self.validators = {}

    def next(self):
        method = self.random.choice(self.methods)
        if self.random.random() < 0.1 and method["examples"]:
            example = self.random.choice(method["examples"])
            params = {param["name"]: param["value"] for param in example["params"]}
        else:
            params = {}
            for param in method["params"]:
                if param["required"] or self.random.random() < 0.3:
                    params[param["name"]] = self.value(param["schema"], 0)
        if self.random.random() < 0.05:
            params = self.any_value(2)
        elif isinstance(params, dict) and self.random.random() < 0.05:
            params[self.word()] = self.any_value(1)
        if method["name"] == "task.wait" and isinstance(params, dict) and isinstance(params.get("timeout", 1), (int, float)):
            # All sixteen calls would wait for the longest.
            params["timeout"] = self.random.choice([0, 0.01, 0.2, -1])
        return method["name"], params

    def value(self, schema, depth):
        """Makes a value that fits the schema nine times out of ten."""
        if depth > 8 or self.random.random() < 0.1 / (depth + 1):
            return self.any_value(2)
        if "$ref" in schema:
            return self.value(self.schemas[schema["$ref"].rsplit("/", 1)[1]], depth)
        for key in ("allOf", "anyOf", "oneOf"):
            if key in schema:
                return self.value(self.random.choice(schema[key]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if schema.get("examples") and self.random.random() < 0.4:
            return self.random.choice(schema["examples"])
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self.random.choice(kind)
        if kind == "object":
            members = schema.get("properties", {})
            share = min(1, 4 / max(1, len(members)))
            found = {
                name: self.value(member, depth + 1)
                for name, member in members.items()
                if name in schema.get("required", []) or self.random.random() < share
            }
            extra = schema.get("additionalProperties")
            if isinstance(extra, dict):
                found[self.word()] = self.value(extra, depth + 1)
            return found
        if kind == "array":
            count = self.random.choice([0, 1, 1, 2, 3, 20])
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(count)]
        if kind in ("integer", "number"):
            bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
            if bounds and self.random.random() < 0.6:
                return self.random.choice(bounds) + self.random.choice([-1, 0, 0, 0, 1])
            return self.random.choice([self.random.randrange(100), self.random.choice(NUMBERS)])
        if kind == "boolean":
            return self.random.random() < 0.5
        if kind == "null":
            return None
        return self.word() if kind == "string" else self.any_value(2)

    def word(self):
        return self.random.choice(WORDS)

    def any_value(self, depth):
        kind = self.random.randrange(7 if depth else 5)
        if kind == 0:
            return self.random.choice(NUMBERS)
        if kind in (1, 2):
            return self.word()
        if kind == 3:
            return self.random.choice([True, False, None])
        if kind == 4:
            return self.random.randrange(50)
        if kind == 5:
            return [self.any_value(depth - 1) for _ in range(self.random.randrange(4))]
        return {self.word(): self.any_value(depth - 1) for _ in range(self.random.randrange(4))}

    def complaint(self, method, answer):
        """What is wrong with an answer; None when nothing is."""
        if "error" in answer:
            code = answer["error"]["code"]
            if code == -32603:
                return "an internal error"
            if code not in self.codes and not -32700 <= code <= -32600:
                return f"the code {code} is not in the document"
            return None
        if self.random.random() > 0.05:
            return None
        if method not in self.validators:
            described = next(entry for entry in self.methods if entry["name"] == method)
            schema = {**described["result"]["schema"], "components": self.document["components"]}
            self.validators[method] = jsonschema.Draft7Validator(schema)
        fault = next(self.validators[method].iter_errors(answer["result"]), None)
        return fault and f"the result is not as described: {fault.message[:200]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--in-namespace", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.in_namespace:
        os.execvp("unshare", ["unshare", "--net", "--", sys.executable, *sys.argv, "--in-namespace"])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print(f"seed {options.seed}", flush=True)

    calls = Calls(options.seed)
    daemon = Daemon(settings=["queue.retry_for=1"]).start()
    lines = queue.SimpleQueue()
    connections = [ReadingConnection(daemon.socket, lines) for _ in range(8)]
    counts, problems, answered, largest = collections.Counter(), 0, 0, 0
    for connection in connections:
        connection.fill(calls)
    while answered < options.calls:
        try:
            connection, line = lines.get(timeout=PATIENCE)
            answer = json.loads(line)
        except (queue.Empty, ValueError) as error:
            under_way = [list(connection.waiting) for connection in connections]
            print("PROBLEM", repr(error), "the calls under way:", json.dumps(under_way)[:4000])
            print(f"xferd ended with {daemon.process.poll()}; {answered} calls answered; kept: {daemon.directory}")
            sys.exit(1)
        if "id" not in answer:
            continue
        call = next((entry for entry in connection.waiting if entry[0] == answer["id"]), connection.waiting[0])
        connection.waiting.remove(call)
        answered += 1
        counts[answer["error"]["code"] if "error" in answer else "results"] += 1
        complaint = calls.complaint(call[1], answer)
        if complaint:
            problems += 1
            if problems <= 30:
                print("PROBLEM", complaint, json.dumps(call)[:1500], json.dumps(answer)[:500], flush=True)
        if answered % 1000 == 0:
            largest = max(largest, daemon.resident_bytes)
        connection.fill(calls)
    if largest > MOST_BYTES:
        print("PROBLEM", f"{largest} bytes resident")
        problems += 1
    for connection in connections:
        connection.close()
    status = daemon.stop()
    if status != 0:
        print("PROBLEM", f"SIGTERM ended xferd with {status}")
        problems += 1
    print(f"{answered} calls, {dict(counts)}, at most {largest >> 20} MiB resident, {problems} problems")
    daemon.remove()
    sys.exit(1 if problems else 0)


main()
