"""What a long queue costs: memory, restarts, single steps, and how long commands over all of it hold others up."""

import shutil
import statistics
import time

from harness import processes, rpc
from harness.daemon import Daemon
from harness.measure import Outcome, alternate
from harness.probe import Prober
from harness.servers import Nginx, write_file
from harness.tools import AriaServer

# Nothing listens there, and nothing asks: the queue is held.
HELD = "http://127.0.0.1:9/queued/{:07}"


def queued(bench):
    count = bench.count * 10
    outcome = Outcome(f"{count:,} queued tasks, none of which may start")
    listed = bench.place / "queued.urls"
    listed.write_text("".join(HELD.format(number) + "\n" for number in range(count)))
    with Daemon(bench) as daemon:
        with daemon.client() as client:
            client.call("queue.pause")
        daemon.fill(count, lambda index: {"url": HELD.format(index)})

        def run(tool, _):
            if tool == "xfer":
                outcome.add("restart to first answer", tool, "s", daemon.restart())
                time.sleep(1)
                outcome.add("memory", tool, "MB", processes.memory(daemon.pid))
                return
            begin = time.monotonic()
            with AriaServer(bench, "-i", listed) as aria:
                outcome.add("restart to first answer", tool, "s", time.monotonic() - begin)
                outcome.add("memory", tool, "MB", processes.memory(aria.pid))

        alternate(["xfer"] + ["aria2c"] * (shutil.which("aria2c") is not None), bench.rounds, run, warm_up=False)
    outcome.ask("memory", at_most=60)
    outcome.ask("restart to first answer", at_most=0.2)
    return outcome


def million(bench):
    sizes = (bench.many // 100, bench.many)
    outcome = Outcome(f"{sizes[0]:,} and {sizes[1]:,} queued tasks: what one step costs")
    memory = bench.new_directory("memory")
    with Nginx(memory, memory / "served") as server, Daemon(bench, roots=[memory]) as daemon:
        write_file(server.served / "small", 4096)
        (memory / "out").mkdir()
        with daemon.client() as client:
            client.call("queue.pause")
        filled = 0
        for size in sizes:
            first = filled
            took = daemon.fill(size - filled, lambda index: {
                "url": server.url(f"small?{first + index}"), "dir": str(memory / "out"), "output": str(first + index)})
            outcome.add(f"filling, {size:,}", "xfer", "/s", (size - filled) / took)
            filled = size
            _single_steps(bench, outcome, daemon, size)
        outcome.add("database", "xfer", "bytes a task", daemon.disk_bytes() / filled)
    shutil.rmtree(memory)
    outcome.ask(f"memory, {sizes[1]:,}", at_most=80)
    outcome.ask(f"restart to first answer, {sizes[1]:,}", at_most=0.3)
    for step in ("add", "pick to end", "page of 100", "count"):
        few, many = (outcome.median(f"{step}, processor time, {size:,}") for size in sizes)
        outcome.add(f"slope of {step}", "xfer", "×", many / few)
        outcome.ask(f"slope of {step}", at_most=2)
    outcome.notes.append(
        "Slope: processor time of one step at the larger size by that at the smaller one. Picked are files of 4 KiB, 16 at "
        "a time.")
    return outcome


def _single_steps(bench, outcome, daemon, size):
    def note(what, unit, values):
        for value in values:
            outcome.add(f"{what}, {size:,}", "xfer", unit, value)

    note("restart to first answer", "s", [daemon.restart() for _ in range(bench.rounds)])
    time.sleep(1)
    note("memory", "MB", [processes.memory(daemon.pid)])
    with daemon.client() as client:
        def note_calls(what, calls, tasks=1):
            """Each call's milliseconds per task, and the daemon's processor time."""
            before = processes.cpu_seconds(daemon.pid)
            values = list(calls)
            note(what, "ms", values)
            cpu = processes.cpu_seconds(daemon.pid) - before
            note(f"{what}, processor time", "ms", [1000 * cpu / len(values) / tasks])

        note_calls("add", _timed(client, "task.add", 300, url=HELD.format(0), paused=True))
        queued = {"state": ["queued"]}
        cursor = client.call("task.list", filter=queued, limit=min(1000, size // 2))["next_cursor"]
        note_calls("page of 100", _timed(client, "task.list", 100, filter=queued, limit=100, cursor=cursor))
        note_calls("count", _timed(client, "queue.stats", 300))
        count = min(1000, bench.many // 100 // (2 * bench.rounds))
        note_calls("pick to end", (_pick(daemon, client, count) for _ in range(bench.rounds)), tasks=count)
    note("memory after that", "MB", [processes.memory(daemon.pid)])
    note("of it not mapped from files", "MB", [processes.memory(daemon.pid, "RssAnon")])


def _timed(client, method, count, **params):
    line = rpc.request(method, params)
    for _ in range(count):
        begin = time.monotonic()
        client.exchange(line)
        yield 1000 * (time.monotonic() - begin)


def _pick(daemon, client, count):
    """Milliseconds per task from the queue to its published file."""
    before = daemon.counts().get("completed", 0)
    begin = time.monotonic()
    client.call("queue.resume")
    done = 0

    def is_done():
        nonlocal done
        done = client.call("queue.stats")["counts"].get("completed", 0) - before
        return done >= count

    processes.wait_until(is_done, f"{count:,} tasks that were picked", every=0.01)
    took = time.monotonic() - begin
    client.call("queue.pause")
    return 1000 * took / done


def steps(bench):
    """Commands over everything, while two others ask something every 5 ms."""
    count = bench.many
    outcome = Outcome(f"the longest answer to others while a command works through {count:,} tasks")
    with Daemon(bench) as daemon:
        with daemon.client() as client:
            client.call("queue.pause")
        for part in range(4):
            daemon.fill(count // 4, lambda index: {"url": HELD.format(index), "group": f"group {part}"})
        _while(outcome, daemon, "idle", lambda client: time.sleep(5))
        _while(outcome, daemon, "reading all pages", _read_all)
        _while(
            outcome, daemon, "a filter nothing matches", lambda client: _command(client, "task.list", kind=["upload"]))
        _while(outcome, daemon, "adding 1,000 at a time", _add_many)
        _while(outcome, daemon, "pausing a group", lambda client: client.call("group.pause", name="group 1"))
        _while(outcome, daemon, "pausing all", lambda client: _command(client, "task.pause", state=["queued"]))
        _while(outcome, daemon, "resuming all", lambda client: _command(client, "task.resume", state=["paused"]))
        _while(outcome, daemon, "cancelling all", lambda client: _command(client, "task.cancel", state=["queued"]))
        half, quarter = count // 2, count // 4
        _while(
            outcome, daemon, f"removing {half:,}",
            lambda client: _command(client, "task.remove", group=["group 0", "group 1"]))
        _while(outcome, daemon, f"removing {quarter:,} by lists", lambda client: _remove(client, quarter))
        daemon.settings = "history: { max_count: 1000 }"
        daemon.restart()
        _while(outcome, daemon, "trimming the history", lambda client: _trimmed(client, 1000))
    idle = outcome.median("status while idle")
    for figure in list(outcome.figures):
        if figure.what.startswith(("status", "add")) and figure.unit == "ms":
            outcome.ask(figure.what, at_most=30 if figure.what.startswith("add") else 50, worst=True)
    for what, share in (("pausing all", 1), ("resuming all", 1), ("cancelling all", 1), (f"removing {half:,}", 2)):
        outcome.ask(f"{what} takes", at_most=10 * count / 1_000_000 / share)
    outcome.notes.append(f"The machine's own share: {idle:.1f} ms while the daemon had nothing else to do.")
    return outcome


def _while(outcome, daemon, what, work):
    cpu, begin = processes.cpu_seconds(daemon.pid), time.monotonic()
    with daemon.client() as client, Prober(daemon) as prober:
        work(client)
        took = time.monotonic() - begin
        # xferd may still work after its answer.
        time.sleep(0.5)
    outcome.add(f"{what} takes", "xfer", "s", took)
    outcome.add(f"{what}, processor time with the asking", "xfer", "s", processes.cpu_seconds(daemon.pid) - cpu)
    for name, word in (("daemon.status", "status"), ("task.add", "add")):
        waits = prober.waits[name] or [0.0]
        outcome.add(f"{word} while {what}", "xfer", "ms", max(waits))
        outcome.add(f"99 in 100 of these: {word} while {what}", "xfer", "ms", _percentile(waits, 99))


def _percentile(values, percent):
    return statistics.quantiles(values, n=100)[percent - 1] if len(values) > 1 else values[0]


def _command(client, method, **restrictions):
    return client.call(method, filter=restrictions)


def _read_all(client):
    cursor = {}
    while True:
        page = client.call("task.list", filter={"state": ["queued"]}, limit=1000, fields=["id"], **cursor)
        if page.get("next_cursor") is None:
            return
        cursor = {"cursor": page["next_cursor"]}


def _add_many(client):
    for first in range(0, 50_000, 1000):
        client.call("task.add", tasks=[{"url": HELD.format(first + index)} for index in range(1000)])


def _remove(client, count):
    """By ids, 200 at a time, as a client does that keeps its own list: each call is all or nothing."""
    cursor, removed = {}, 0
    while removed < count:
        page = client.call("task.list", filter={"state": ["cancelled"]}, limit=200, fields=["id"], **cursor)
        client.call("task.remove", ids=[task["id"] for task in page["tasks"]])
        removed += len(page["tasks"])
        if page.get("next_cursor") is None:
            return
        cursor = {"cursor": page["next_cursor"]}


def _trimmed(client, left):
    while client.call("queue.stats")["counts"].get("cancelled", 0) > left:
        time.sleep(0.05)
