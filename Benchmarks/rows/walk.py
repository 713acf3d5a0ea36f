"""What an operator's calls take beside a guest that uses one method at one bound of its schema, and one beyond it, over 60
connections; and beside messages that take much memory when they are parsed."""

import json
import os
import pathlib
import pwd
import statistics
import time

from harness import processes, rpc
from harness.measure import Failed, Outcome
from .guest import GUEST, calling_as, operator_calls, shared_daemon

DOCUMENT = pathlib.Path(__file__).parents[2] / "rpc-schema" / "openrpc.json"
CONNECTIONS = 60
# Rounds of three calls beside each load, and beside one that was slow: 120 calls have a p99 that a single pause of the
# machine decides.
ROUNDS, ROUNDS_AGAIN = 40, 200
# Milliseconds that an operator's call may take.
BOUND = 50
# MB that one user may take.
GROWTH = 64
# Calls that a connection sends at a time.
IN_FLIGHT = 64
# The loads with the longest p99 are shown: there are more than 200.
SHOWN = 10
# Nothing else can be measured after it.
LEFT_OUT = {"daemon.shutdown"}
# These leave the guest fewer tasks for the loads after them.
LAST = {"task.cancel", "task.remove"}
# A text in a message has to leave room for the rest of it.
LONGEST_TEXT = 3 << 20


def walk(bench):
    """The operator's p50 and p99 and the daemon's memory, beside each bound of each method."""
    outcome = Outcome(f"an operator's calls beside each method at its bounds; {bench.many:,} tasks in the queue")
    if os.geteuid() != 0:
        raise Failed("a guest is another user: only root can call as one")
    user = pwd.getpwnam(GUEST)
    with shared_daemon(bench, user) as (daemon, own):
        def measure_beside(lines, rounds):
            before = processes.memory(daemon.pid)
            with calling_as(user, daemon.socket, (CONNECTIONS, lines, True)):
                p50, p99, during = _measure(daemon, rounds)
            return p50, p99, during - before

        alone = _measure(daemon, ROUNDS)
        outcome.add("memory, before", "xfer", "MB", alone[2])
        # The bounds come last: they end the guest's tasks.
        loads = _long_messages(own) | _bounds(own)
        beside = {name: measure_beside(lines, ROUNDS) for name, lines in loads.items()}
        again = [name for name, (_, p99, _) in beside.items() if p99 > BOUND]
        beside |= {name: measure_beside(loads[name], ROUNDS_AGAIN) for name in again}
        time.sleep(5)
        outcome.add("memory, after", "xfer", "MB", processes.memory(daemon.pid))
    outcome.add("loads", "xfer", "", len(beside))
    outcome.add("loads measured again", "xfer", "", len(again))
    largest = max(beside, key=lambda name: beside[name][2])
    outcome.add("largest growth of memory", "xfer", "MB", beside[largest][2])
    outcome.ask("largest growth of memory", at_most=GROWTH)
    outcome.notes.append(f"Memory grew most beside {largest}, against the moment before.")
    slowest = sorted(beside, key=lambda name: beside[name][1], reverse=True)[:SHOWN]
    for name, (p50, p99, _) in [("alone", alone), *((name, beside[name]) for name in slowest)]:
        outcome.add(f"p50, {name}", "xfer", "ms", p50)
        outcome.add(f"p99, {name}", "xfer", "ms", p99)
    for name in slowest:
        outcome.ask(f"p99, {name}", at_most=BOUND)
    return outcome


def _measure(daemon, rounds):
    """p50 and p99 of all calls together in milliseconds, and the daemon's memory in MB."""
    times = [time for took in operator_calls(daemon, rounds).values() for time in took]
    return statistics.median(times), statistics.quantiles(times, n=100)[98], processes.memory(daemon.pid)


def _bounds(own):
    """By name: the call of every parameter with a bound at its bound, in the parameters of the method's first example,
    and one beyond it; and of every method with those alone."""
    document = json.loads(DOCUMENT.read_text())
    loads = {}
    for method in sorted(document["methods"], key=lambda method: method["name"] in LAST):
        name = method["name"]
        if name in LEFT_OUT:
            continue
        examples = [{param["name"]: param["value"] for param in one["params"]} for one in method["examples"]]
        base = examples[0]
        loads[name] = [rpc.request(name, base, 0)]
        for param in method["params"]:
            schema = param["schema"]
            shown = next((one[param["name"]] for one in examples if param["name"] in one), None)
            value = _at_bound(schema, shown, document, own)
            if value is not None:
                # Of two parameters that exclude each other the example has one.
                rest = {} if param["required"] or name == "task.add" else base
                loads[f"{name} {param['name']}"] = [
                    rpc.request(name, {**rest, param["name"]: each}, number)
                    for number, each in enumerate([value, _beyond(value)])]
    return loads


def _beyond(value):
    """One more than a value at its bound."""
    if isinstance(value, str):
        return value + "a"
    return value + value[:1] if isinstance(value, list) else value + 1


def _long_messages(own):
    """By name: calls that take much memory when they are parsed, or as long as they wait."""
    def lines(count, method, params):
        return [rpc.request(method, params, number) for number in range(count)]

    def numbers(length):
        return {"id": [0] * (length // 3)}
    return {
        "calls of 4 KiB of numbers": lines(IN_FLIGHT, "task.get", numbers(4000)),
        "calls of 60 KiB of numbers": lines(IN_FLIGHT, "task.get", numbers(60_000)),
        "calls of 4 MB of numbers": lines(1, "task.get", numbers(4_000_000)),
        "calls of 3 MB of empty objects": lines(1, "task.get", {"id": [{}] * 750_000}),
        "waits that name a task 5,000 times": lines(IN_FLIGHT, "task.wait", {"ids": own[:1] * 5000, "timeout": 120}),
        "reads of whole tasks": lines(IN_FLIGHT, "task.get", {"id": own[0]}),
    }


def _at_bound(schema, example, document, own):
    """The largest value that the schema allows; None where it has no bound."""
    schema = _resolved(schema, document)
    if count := schema.get("maxItems"):
        if schema.get("items", {}).get("$ref", "").endswith("/TaskID"):
            return [own[index % len(own)] for index in range(count)]
        if not example:
            return None
        element = example[0] if isinstance(example, list) else example
        return [element] * min(count, LONGEST_TEXT // max(1, len(json.dumps(element)) + 2))
    if length := schema.get("maxLength"):
        return "a" * min(length, LONGEST_TEXT)
    if "maximum" in schema and schema.get("type") in ("integer", "number"):
        return schema["maximum"]
    return None


def _resolved(schema, document):
    """The schema with those that it refers to."""
    merged = dict(schema)
    for part in [schema] if "$ref" in schema else schema.get("allOf", []):
        if reference := part.get("$ref"):
            target = document["components"]["schemas"][reference.rsplit("/", 1)[1]]
            merged = {**_resolved(target, document), **merged}
    return merged
