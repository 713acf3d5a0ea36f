"""What the daemon costs while nothing happens, a command's length, and what a kill wastes."""

import random
import shutil
import subprocess
import time

from harness import processes
from harness.daemon import Daemon
from harness.measure import Failed, Outcome
from harness.servers import Nginx, write_file

CHECKPOINT = 16 << 20


def idle(bench):
    """A daemon that has just started, and one that has worked."""
    outcome = Outcome("a daemon with nothing to do, ten seconds long")
    memory = bench.new_directory("memory")
    with Nginx(memory, memory / "served") as server:
        write_file(server.served / "small", 4096)
        for _ in range(bench.rounds):
            with Daemon(bench) as daemon:
                _watch_idle(outcome, daemon, "just started")
        with Daemon(bench) as daemon:
            daemon.fill(1000, lambda index: {"url": server.url(f"small?{index}"), "output": str(index)})
            processes.wait_until(lambda: daemon.counts().get("completed") == 1000, "1,000 small files")
            _watch_idle(outcome, daemon, "after 1,000 files")
    shutil.rmtree(memory)
    outcome.ask("wake-ups, just started", at_most=0, worst=True)
    outcome.ask("memory, just started", at_most=25, worst=True)
    outcome.notes.append("Without systemd there is no watchdog to answer: no wake-up is due at all.")
    return outcome


def _watch_idle(outcome, daemon, when):
    # What the start leaves to do, threads that end for want of work and connections that are kept a while are no idling.
    time.sleep(20)
    cpu = processes.cpu_seconds(daemon.pid)
    outcome.add(f"wake-ups, {when}", "xfer", "in 10 s", processes.wake_ups(daemon.pid, 10))
    outcome.add(f"processor time, {when}", "xfer", "ms", 1000 * (processes.cpu_seconds(daemon.pid) - cpu))
    outcome.add(f"memory, {when}", "xfer", "MB", processes.memory(daemon.pid))
    outcome.add(f"of it not mapped from files, {when}", "xfer", "MB", processes.memory(daemon.pid, "RssAnon"))


def status(bench):
    """xferctl status from fork to end; /bin/true shows what of it is this benchmark's own."""
    outcome = Outcome("xferctl status as a whole process")
    with Daemon(bench) as daemon:
        errors = bench.place / "status.errors"
        for number in range(20 * bench.rounds + 5):
            for name, command in (("xferctl status", [daemon.xferctl, "status"]), ("/bin/true", ["/bin/true"])):
                took, _, peak = processes.timed(
                    command, errors=errors, env=daemon.environment, is_brief=True)
                if number >= 5:
                    outcome.add("time", name, "ms", took * 1000)
                    if name != "/bin/true":
                        outcome.add("peak memory", name, "MB", peak)
    outcome.ask("time", tool="xferctl status", at_most=15)
    return outcome


def kill(bench):
    """kill -9 in the middle of several transfers; the server counts what it sent in all."""
    tasks, size, rate = 4, 96 << 20, 24 << 20
    outcome = Outcome(f"{tasks} transfers of {size >> 20} MiB at {rate >> 20} MiB/s each, xferd killed in between")
    randomness = random.Random(7)
    for _ in range(bench.rounds):
        memory = bench.new_directory("memory")
        bench.require_memory(2 * tasks * size)
        with Nginx(memory, memory / "served") as server, Daemon(bench, roots=[memory]) as daemon:
            for number in range(tasks):
                write_file(server.served / f"file-{number}", size)
            (memory / "out").mkdir()
            daemon.fill(
                tasks,
                lambda index: {"url": server.url(f"counted/{rate}/file-{index}"), "dir": str(memory / "out")})
            time.sleep(randomness.uniform(1.2, 3))
            daemon.kill()
            daemon.start()
            processes.wait_until(lambda: daemon.counts().get("completed") == tasks, "the rest after the kill")
            # A request is in the log when it has ended.
            processes.wait_until(lambda: server.bytes_sent() >= tasks * size, "nginx's log")
            if sorted(path.stat().st_size for path in (memory / "out").iterdir()) != [size] * tasks:
                raise Failed("not every file is whole")
            again = server.bytes_sent() - tasks * size
            outcome.add("fetched again per task", "xfer", "MiB", again / tasks / (1 << 20))
        shutil.rmtree(memory)
    outcome.ask("fetched again per task", at_most=CHECKPOINT >> 20, worst=True)
    outcome.notes.append(
        "download.checkpoint_bytes is 16 MiB, as it is unless configured. Counted is what the server handed to its "
        "socket, so what had not been read yet when xferd was killed is in it.")
    return outcome


def completion(bench):
    """What a shell waits for at the tabulator key, beside a long queue."""
    count = bench.count * 10
    outcome = Outcome(f"xferctl complete as a whole process, beside {count:,} tasks")
    asked = {
        "a verb": ["pau"], "an option": ["add", "--on"], "an id": ["pause", ""], "a group": ["list", "--group", ""],
        "a label": ["list", "--label", ""], "a method": ["rpc", "task."],
    }
    with Daemon(bench) as daemon:
        with daemon.client() as client:
            client.call("queue.pause")
        daemon.fill(count, lambda index: {
            "url": f"http://127.0.0.1:9/{index:07}", "group": f"group {index % 100}", "label": f"label {index % 1000}"})
        errors = bench.place / "completion.errors"
        for what, words in asked.items():
            command = [daemon.xferctl, "complete", "zsh", "--", *words]
            seen = subprocess.run(command, env=daemon.environment, stdout=subprocess.PIPE, text=True, check=True)
            if len(seen.stdout.splitlines()) < 2:
                raise Failed(f"nothing is offered for {what}")
            for _ in range(4 * bench.rounds):
                took, _, _ = processes.timed(command, errors=errors, env=daemon.environment, is_brief=True)
                outcome.add(what, "xfer", "ms", took * 1000)
            outcome.ask(what, at_most=100)
    return outcome
