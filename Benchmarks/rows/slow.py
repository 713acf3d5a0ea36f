"""Servers that give each connection little: segments, many transfers at once, and many who watch."""

import selectors
import shutil
import threading
import time

from harness import processes, rpc
from harness.daemon import Daemon
from harness.fetching import fetch_all
from harness.measure import Outcome
from harness.probe import Prober
from harness.servers import Nginx, free_port, write_file
from harness.tools import Aria, AriaSplit, Xfer


def slow_server(bench):
    size, rate = 64 << 20, 1_000_000
    outcome = Outcome("a server that gives each connection 1 MB/s, one file of 64 MiB, 8 segments")
    memory = bench.new_directory("memory")
    with Nginx(memory, memory / "served") as server, Daemon(bench, roots=[memory]) as daemon:
        write_file(server.served / "file", size)
        urls = [server.url(f"rate/{rate}/file")]
        tools = [AriaSplit(bench), Xfer(bench, daemon, "--segments", "8")]
        tools = [tool for tool in tools if tool.is_installed()]
        fetch_all(bench, outcome, tools, urls, memory / "out", [size], daemon, warm_up=False)
    shutil.rmtree(memory)
    outcome.ask_ratio("time", "aria2c -x8", at_most=1.0)
    return outcome


def thousand(bench):
    transfers, size, rate = 1000, 80 << 10, 8 << 10
    outcome = Outcome(f"{transfers:,} transfers at once, {rate >> 10} KiB/s each for ten seconds")
    memory = bench.new_directory("memory")
    out = memory / "out"
    with Nginx(memory, memory / "served") as server, Daemon(bench, parallel=transfers, roots=[memory]) as daemon:
        names = [f"slow-{number:04}" for number in range(transfers)]
        for name in names:
            write_file(server.served / name, size)
        urls = [server.url(f"rate/{rate}/{name}") for name in names]

        tools = [Aria(bench, parallel=transfers), Xfer(bench, daemon)]
        tools = [tool for tool in tools if tool.is_installed()]
        fetch_all(bench, outcome, tools, urls, out, [size] * transfers, daemon, warm_up=False)
    shutil.rmtree(memory)
    outcome.ask_ratio("processor time", "aria2c", at_most=1.0)
    outcome.ask_ratio("peak memory", "aria2c", at_most=1.0)
    peaks = outcome.find("peak memory", "xfer").values
    outcome.add("last peak ÷ first", "xfer", "", peaks[-1] / peaks[0])
    outcome.ask("last peak ÷ first", at_most=1.1)
    return outcome


def watchers(bench):
    """Progress for many clients: 8 transfers run, and connections that listen to them are added."""
    seconds, transfers = 8, 8
    outcome = Outcome(
        f"progress of {transfers} transfers for 0, 100 and 1,000 connections that watch, and for 1,000 WebSockets, "
        f"{seconds} s each")
    memory = bench.new_directory("memory")
    port = free_port()
    settings = (
        "rpc: { max_clients: 1100, max_clients_per_user: 1100 }\ngateway: { max_clients: 1100 }\n"
        f"listen: [ {{ address: '127.0.0.1:{port}' }} ]")
    with Nginx(memory, memory / "served") as server, Daemon(bench, settings, roots=[memory]) as daemon:
        write_file(server.served / "file", 1 << 20)
        daemon.fill(transfers, lambda index: {"url": server.url(f"rate/1000/file?{index}"), "dir": str(memory)})
        processes.wait_until(lambda: daemon.counts().get("running") == transfers, "the transfers")
        with daemon.client() as client:
            token = client.call("token.add", name="watcher", scope="read")["secret"]
        for tool, count in ((SOCKETS, 0), (SOCKETS, 100), (SOCKETS, 1000), (WEB_SOCKETS, 1000)):
            connect = daemon.client if tool == SOCKETS else lambda: rpc.WebSocket(port, token)
            with Watchers([connect() for _ in range(count)]) as audience:
                time.sleep(1)
                told, before = audience.messages, processes.cpu_seconds(daemon.pid)
                with Prober(daemon, adds=False) as prober:
                    time.sleep(seconds)
                cpu = processes.cpu_seconds(daemon.pid) - before
                outcome.add(f"processor time, {count:,} watching", tool, "% of a core", 100 * cpu / seconds)
                outcome.add(f"messages, {count:,} watching", tool, "/s", (audience.messages - told) / seconds)
                outcome.add(f"memory, {count:,} watching", tool, "MB", processes.memory(daemon.pid))
                for wait in prober.longest("daemon.status", 3):
                    outcome.add(f"longest waits for an answer, {count:,} watching", tool, "ms", wait)
        with daemon.client() as client:
            client.call("task.cancel", filter={"all": True})
    shutil.rmtree(memory)
    outcome.ask("longest waits for an answer, 1,000 watching", at_most=50)
    outcome.ask("processor time, 1,000 watching", at_most=50)
    for tool in (SOCKETS, WEB_SOCKETS):
        outcome.ask("messages, 1,000 watching", tool=tool, at_least=0.9 * 1000 * transfers)
    outcome.ask_ratio("processor time, 1,000 watching", SOCKETS, tool=WEB_SOCKETS, at_most=1.5)
    outcome.ask("longest waits for an answer, 1,000 watching", tool=WEB_SOCKETS, at_most=50)
    return outcome


# Who watches: processes of this machine on the Unix socket, and clients of the listener.
SOCKETS, WEB_SOCKETS = "xfer", "WebSockets"


class Watchers:
    """Clients that subscribe to progress; one thread reads them all and counts messages."""

    def __init__(self, clients):
        self.messages = 0
        self.selector = selectors.DefaultSelector()
        self.clients = clients
        self.is_over = False
        for client in self.clients:
            client.exchange(rpc.request("events.subscribe", {"types": ["task.progress"]}))
            self.selector.register(client.socket, selectors.EVENT_READ)
        self.thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()
        for client in self.clients:
            client.socket.close()
        self.selector.close()

    def _read(self):
        while not self.is_over:
            for key, _ in self.selector.select(timeout=0.1):
                self.messages += key.fileobj.recv(1 << 16).count(b'"jsonrpc"')
