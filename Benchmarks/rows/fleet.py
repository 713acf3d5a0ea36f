"""What a fleet's PostgreSQL carries: agents without engines claim tasks and end them at once."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

from harness import processes, rpc
from harness.daemon import Daemon
from harness.measure import Failed, Outcome, alternate
from harness.servers import Nginx, write_file

AGENTS = 8
# Figures, as fleet-bench names them, with what is asked of them.
ASKED = {
    "claims and ends by 64": 10_000, "claims and ends by 32, one limited host": 2_000, "adds singly": 1_000,
    "adds by 1,000": 30_000,
}


def fleet(bench):
    """Eight agents and the server on this machine, over a Unix socket."""
    count, hold = 10 * bench.many, 600 if bench.many >= 1_000_000 else 30
    outcome = Outcome(
        f"{AGENTS} simulated agents at one PostgreSQL, ten seconds a figure; all is durable when answered; {count:,} tasks "
        f"queued, then besides a snapshot held for {hold} s")
    program = bench.programs / "fleet-bench"
    if not program.exists():
        raise Failed(f"{program} is missing: swift build -c release --product fleet-bench")
    place = bench.new_directory("fleet", on_disk=True)
    with Server(place) as server:
        output = subprocess.run(
            [program, server.connection, str(AGENTS), "10", str(count), str(hold)], check=True, capture_output=True,
            text=True)
    shutil.rmtree(place)
    for line in output.stdout.splitlines():
        name, value = line.split("\t")
        outcome.add(name, "fleet", "" if name == "wrong" else "/s", float(value))
    base = outcome.median("claims and ends by 64", "fleet")
    queued = outcome.median("claims and ends by 64, all queued", "fleet")
    outcome.add("rate with all queued ÷ with few", "fleet", "", queued / base)
    slowest = min(outcome.find("with a snapshot held", "fleet").values)
    outcome.add("lowest rate with a snapshot held ÷ before", "fleet", "", slowest / queued)
    for name, least in ASKED.items():
        outcome.ask(name, tool="fleet", at_least=least)
    outcome.ask("rate with all queued ÷ with few", tool="fleet", at_least=0.5)
    outcome.ask("lowest rate with a snapshot held ÷ before", tool="fleet", at_least=0.5)
    outcome.ask("wrong", tool="fleet", at_most=0)
    outcome.notes.append("claims and ends: each task is claimed and ended; one of each is counted as one.")
    return outcome


def nodes(bench):
    """Real nodes: xferd, xfer-fleet and PostgreSQL on this machine, with the times of service."""
    outcome = Outcome(f"real nodes: {bench.count:,} files of 4 KiB through one, then a cancel, a kill and idling with two")
    memory = bench.new_directory("memory")
    place = bench.new_directory("fleet", on_disk=True)
    with Nginx(memory, memory / "served") as server, Server(place) as postgres:
        for number in range(bench.count):
            write_file(server.served / f"small-{number:06}", 4096)
        write_file(server.served / "slow", 64 << 20)
        urls = [server.url(f"small-{number:06}") for number in range(bench.count)]
        with Node(bench, postgres, "a", slots=200) as first:
            _fetch_small(bench, outcome, urls, first)
            with Node(bench, postgres, "b", slots=4) as second, Node(bench, postgres, "c", slots=1) as third:
                _look_at_idling(outcome, third)
                _cancel(bench, outcome, server, first, second)
                _take_over(outcome, server, first, second)
    shutil.rmtree(memory)
    shutil.rmtree(place, ignore_errors=True)
    outcome.ask_ratio("small files", "without a fleet", at_most=1.3)
    outcome.ask("cancel until the node's xferd has it", at_most=5, worst=True)
    outcome.ask("kill -9 of a node until another one has its task", at_most=45, worst=True)
    outcome.ask("wake-ups of an idle agent", at_most=1, worst=True)
    outcome.notes.append(
        "An idle agent beats every five seconds and is notified of work; each of its threads is counted.")
    return outcome


def _fetch_small(bench, outcome, urls, node):
    """The same files through xferd alone and through the agent; names differ from round to round."""
    def run(tool, number):
        client = node.client() if tool == "xfer" else node.daemon.client()
        with client:
            before = _completed(client)
            begin = time.monotonic()
            for first in range(0, len(urls), 10_000):
                client.call("task.add", tasks=[
                    {"url": url, "output": f"{tool[0]}{number}-{first + index}"}
                    for index, url in enumerate(urls[first:first + 10_000])])
            # Not more often: PostgreSQL counts the ended tasks one by one.
            processes.wait_until(lambda: _completed(client) - before >= len(urls), "small files", every=0.1)
            if number > 0:
                outcome.add("small files", tool, "s", time.monotonic() - begin)
            client.call("task.remove", filter={"state": "completed"})

    alternate(["xfer", "without a fleet"], min(bench.rounds, 3), run)


def _completed(client):
    return client.call("queue.stats")["counts"].get("completed", 0)


def _look_at_idling(outcome, node):
    time.sleep(20)
    outcome.add("wake-ups of an idle agent", "xfer", "a second", processes.wake_ups(node.pid, 10) / 10)
    outcome.add("memory of an idle agent", "xfer", "MB", processes.memory(node.pid))


def _cancel(bench, outcome, server, first, second):
    with first.client() as client, second.daemon.client() as local:
        for number in range(bench.rounds):
            task = {"url": server.url(f"counted/{1 << 20}/slow"), "output": f"cancelled-{number}"}
            (id,) = client.call("fleet.add", place="node:b", tasks=[task])["ids"]
            processes.wait_until(lambda: _states(local) == ["running"], "the node runs it", every=0.02)
            begin = time.monotonic()
            client.call("task.cancel", ids=[id])
            processes.wait_until(lambda: _states(local) in ([], ["cancelled"]), "the cancel is heard", every=0.005)
            outcome.add("cancel until the node's xferd has it", "xfer", "s", time.monotonic() - begin)
            processes.wait_until(lambda: _states(local) == [], "the node forgets it", every=0.02)


def _states(client):
    return [task["state"] for task in client.call("task.list", fields=["state"])["tasks"]]


def _take_over(outcome, server, first, second):
    """The agent and the xferd of a node are killed; its task has to run on the other one with the label."""
    with first.client() as client:
        client.call("fleet.drain", node="a")
        client.call("fleet.drain", node="c")
        task = {"url": server.url(f"counted/{1 << 20}/slow"), "output": "taken-over"}
        seq = _last_event(client)
        (id,) = client.call("fleet.add", place="any", tasks=[task])["ids"]
        with second.daemon.client() as local:
            processes.wait_until(lambda: _states(local) == ["running"], "the node runs it", every=0.02)
        client.call("fleet.undrain", node="c")
        begin = time.monotonic()
        second.kill()
        def holder():
            events = client.call("events.since", seq=seq, types=["task.started"], task_ids=[id])["events"]
            return [event.get("node") for event in events][-1:]
        processes.wait_until(lambda: holder() not in ([], ["b"]), "another node has it", seconds=90, every=0.05)
        outcome.add("kill -9 of a node until another one has its task", "xfer", "s", time.monotonic() - begin)


def _last_event(client):
    """The sequence number of the newest event: an answer reaches a part of them."""
    seq = 0
    while (last := client.call("events.since", seq=seq, types=["fleet.created"])["last_seq"]) > seq:
        seq = last
    return seq


class Node:
    """An xferd and its agent, as a context."""

    def __init__(self, bench, postgres, name, slots):
        self.daemon = Daemon(bench)
        self.socket = self.daemon.place / "fleet.sock"
        self.daemon.settings = (
            f'fleet: {{ database: "{postgres.connection}", node: {name}, slots: {slots}, socket: "{self.socket}", '
            f'daemon: "{self.daemon.socket}" }}')
        self.program = bench.programs / "xfer-fleet"
        self.agent = None

    @property
    def pid(self):
        return self.agent.pid

    def __enter__(self):
        self.daemon.start()
        arguments = ["--config", self.daemon.config, "--state-dir", self.daemon.place / "state"]
        subprocess.run([self.program, "migrate", *arguments], check=True, stdout=subprocess.DEVNULL)
        self.agent = processes.start([self.program, "run", *arguments, "--foreground-log"])
        processes.wait_until(self._answers, "xfer-fleet", self.agent, every=0.01)
        return self

    def __exit__(self, *arguments):
        processes.stop(self.agent)
        self.daemon.__exit__(*arguments)

    def kill(self):
        self.agent.send_signal(signal.SIGKILL)
        self.agent.wait()
        self.daemon.kill()

    def client(self):
        return rpc.Client(self.socket)

    def _answers(self):
        try:
            with self.client() as client:
                return any(node["state"] == "live" for node in client.call("fleet.nodes")["nodes"])
        except (OSError, Failed):
            return False


class Server:
    """A PostgreSQL of its own, with its default settings for durability."""

    def __init__(self, place):
        versions = sorted(
            (each for each in pathlib.Path("/usr/lib/postgresql").glob("*/bin") if (each / "postgres").exists()),
            key=lambda each: int(each.parent.name))
        if not versions:
            raise Failed("PostgreSQL is not installed")
        self.programs = versions[-1]
        self.place = place
        self.connection = f"host={place} port=5432 user=fleet dbname=postgres"

    def __enter__(self):
        # The directory of all rows is closed to others; the server's user has to pass through it.
        for directory in (self.place.parent, self.place):
            directory.chmod(0o755)
        if os.getuid() == 0:
            shutil.chown(self.place, "postgres", "postgres")
        self._run("initdb", "-D", self.place / "data", "-U", "fleet", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust")
        self.server = subprocess.Popen(
            self._command(
                "postgres", "-D", self.place / "data", "-k", self.place, "-c", "listen_addresses=", "-c",
                "shared_buffers=1GB", "-c", "max_wal_size=8GB"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        processes.wait_until(lambda: (self.place / ".s.PGSQL.5432").exists(), "PostgreSQL listens")
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()

    def _command(self, program, *arguments):
        command = [str(self.programs / program), *map(str, arguments)]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        return command

    def _run(self, program, *arguments):
        subprocess.run(self._command(program, *arguments), check=True, stdout=subprocess.DEVNULL, cwd="/")
