"""What another user's calls take beside the worst guest: one that sends as much as it is allowed to."""

import contextlib
import json
import multiprocessing
import os
import pwd
import resource
import select
import signal
import statistics
import time

from harness import processes, rpc
from harness.daemon import Daemon
from harness.measure import Failed, Outcome

# Nothing listens there, and nothing asks: the queue is paused.
HELD = "http://127.0.0.1:9/queued/{:07}"
# A user whom Debian has, and whom nothing else uses.
GUEST = "games"
OWN_TASKS = 10_000
IDS = 1000
CALLS = ("daemon.status", "task.add", "task.list")


def guest(bench):
    """p50 and p99 of an operator's calls, alone and beside each load of a guest, and the daemon's memory."""
    outcome = Outcome(
        f"an operator's calls beside a guest that sends what it may; {bench.many:,} tasks in the queue")
    if os.geteuid() != 0:
        raise Failed("a guest is another user: only root can call as one")
    user = pwd.getpwnam(GUEST)
    with shared_daemon(bench, user) as (daemon, own):
        outcome.add("memory, before", "xfer", "MB", processes.memory(daemon.pid))
        _measure(bench, outcome, daemon, "alone")
        for name, load in _loads(own).items():
            with calling_as(user, daemon.socket, load) as answers:
                before = answers.value
                _measure(bench, outcome, daemon, f"beside {name}")
                outcome.add(f"memory, {name}", "xfer", "MB", processes.memory(daemon.pid))
                outcome.add(f"the guest's answers, {name}", "xfer", "", answers.value - before)
        time.sleep(5)
        outcome.add("memory, after", "xfer", "MB", processes.memory(daemon.pid))
    for name in _loads(own):
        for method in CALLS:
            outcome.ask(f"{method} p99, beside {name}", at_most=50)
    outcome.notes.append("The guest's own processor time is not the daemon's, but they share the machine.")
    return outcome


@contextlib.contextmanager
def shared_daemon(bench, user):
    """An operator's daemon with a long, paused queue that lets the guest in; gives the ids of some of the guest's tasks."""
    with Daemon(bench, f"access: {{ users: {{ {GUEST}: {{ roots: [/var/tmp], max_tasks: {OWN_TASKS} }} }} }}") as daemon:
        # The guest has to reach the socket.
        for directory in (daemon.place, daemon.place.parent):
            directory.chmod(0o711)
        with daemon.client() as client:
            client.call("queue.pause")
        daemon.fill(bench.many, lambda index: {"url": HELD.format(index)})
        daemon.fill(OWN_TASKS, lambda index: {
            "url": HELD.format(index), "owner": GUEST, "kind": "data"})
        with daemon.client() as client:
            own = [task["id"] for task in client.call(
                "task.list", filter={"owner": user.pw_uid}, limit=IDS, fields=["id"])["tasks"]]
        yield daemon, own


def _loads(own):
    """By name: the connections, the lines that each sends at first, and whether an answer is followed by the same call
    again. What is refused counts as answered."""
    def lines(count, method, params):
        return [rpc.request(method, params, number) for number in range(count)]
    return {
        "640 waits": (10, lines(64, "task.wait", {"ids": own, "timeout": 120}), True),
        "60 lists": (60, lines(1, "task.list", {"order": "queue", "limit": 1000}), True),
        "60 reads of events": (60, lines(1, "events.since", {"seq": 0, "types": ["task.failed"]}), True),
        "60 batches": (60, [_batch([rpc.request("task.get", {"id": id}, id) for id in own[:500]])], True),
        "900 subscriptions": (15, lines(60, "events.subscribe", {"since": 0}), False),
    }


def _batch(calls):
    return b"[" + b",".join(call.strip() for call in calls) + b"]\n"


def _measure(bench, outcome, daemon, when):
    for method, times in operator_calls(daemon, 100 * bench.rounds).items():
        outcome.add(f"{method} p50, {when}", "xfer", "ms", statistics.median(times))
        outcome.add(f"{method} p99, {when}", "xfer", "ms", statistics.quantiles(times, n=100)[98])


def operator_calls(daemon, rounds):
    """Calls one after the other, as an interface would. Answers the milliseconds of each call, by method."""
    took = {method: [] for method in CALLS}
    params = {
        "daemon.status": lambda _: {}, "task.list": lambda _: {"limit": 10},
        "task.add": lambda number: {"url": HELD.format(number), "kind": "data"},
    }
    with daemon.client() as client:
        for number in range(rounds):
            for method in CALLS:
                begin = time.monotonic()
                client.call(method, **params[method](number))
                took[method].append(1000 * (time.monotonic() - begin))
    return took


@contextlib.contextmanager
def calling_as(user, path, load):
    """A process of the user that keeps the load up; gives the number of answers so far."""
    context = multiprocessing.get_context("fork")
    answers, is_ready = context.Value("q", 0, lock=False), context.Event()
    process = context.Process(target=_call, args=(user, str(path), load, answers, is_ready), daemon=True)
    process.start()
    try:
        if not is_ready.wait(60):
            raise Failed("the guest does not reach xferd")
        # What comes first has come.
        time.sleep(1)
        yield answers
        if not process.is_alive():
            raise Failed("the guest's process has ended")
    finally:
        process.kill()
        process.join()


def _call(user, path, load, answers, is_ready):
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    count, lines, is_repeated = load
    clients = {}
    poll = select.epoll()

    def connect():
        client = rpc.Client(path)
        clients[client.socket.fileno()] = (client, bytearray())
        poll.register(client.socket, select.EPOLLIN)
        try:
            for line in lines:
                client.socket.sendall(line)
        except OSError:
            # Refused, or closed while it sent: that is seen below.
            pass

    for _ in range(count):
        connect()
    is_ready.set()
    while True:
        for descriptor, _ in poll.poll():
            client, rest = clients[descriptor]
            try:
                chunk = client.socket.recv(1 << 18)
                rest += chunk
                *whole, rest[:] = bytes(rest).split(b"\n")
                for line in whole:
                    if b'"method"' in line[:200]:
                        continue
                    answers.value += 1
                    if is_repeated:
                        client.socket.sendall(lines[_number(json.loads(line))])
            except OSError:
                chunk = b""
            if not chunk:
                # Closed by xferd, which a hostile client does not mind.
                poll.unregister(descriptor)
                del clients[descriptor]
                client.socket.close()
                connect()


def _number(answer):
    """Which of the lines an answer is for. A batch is the only one."""
    return answer.get("id") or 0 if isinstance(answer, dict) else 0
