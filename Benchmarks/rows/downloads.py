"""Whole downloads beside curl, aria2c and wget2: one big file, and many small ones."""

import shutil

from harness.daemon import Daemon
from harness.fetching import fetch_all
from harness.measure import Outcome
from harness.servers import Nginx, write_file
from harness.tools import PARALLEL, Aria, AriaSplit, Curl, Wget2, Xfer


def big(bench):
    size = bench.size << 20
    outcome = Outcome(f"one file of {bench.size:,} MiB over http, from and to memory")
    _one_file(bench, outcome, size, [Curl, Aria, AriaSplit, Wget2])
    outcome.ask_ratio("time", "curl", at_most=1.00)
    outcome.ask_ratio("time", "aria2c", at_most=0.8)
    outcome.ask_ratio("time", "aria2c -x8", at_most=0.8)
    return outcome


def tls(bench):
    outcome = Outcome(f"one file of {bench.size:,} MiB over TLS 1.3, from and to memory")
    _one_file(bench, outcome, bench.size << 20, [Curl, Aria, Wget2], is_secure=True)
    outcome.ask_ratio("time", "curl", at_most=1.05)
    return outcome


def small(bench):
    outcome = Outcome(f"{bench.count:,} files of 4 KiB over http, {PARALLEL} at a time, to memory; each a durable task")
    _small_files(bench, outcome, [Curl, Aria, Wget2], on_disk=False)
    outcome.ask_ratio("time", "aria2c", at_most=0.4)
    outcome.ask("peak memory", at_most=40, worst=True)
    return outcome


def small_on_disk(bench):
    outcome = Outcome(
        f"{bench.count:,} files of 4 KiB over http, {PARALLEL} at a time, to the disk; only xfer's are durable")
    _small_files(bench, outcome, [Aria], on_disk=True)
    outcome.ask_ratio("time", "aria2c", at_most=0.4)
    return outcome


def _one_file(bench, outcome, size, peers, is_secure=False):
    bench.require_memory(2 * size)
    memory = bench.new_directory("memory")
    settings = f'trust: {{ ca_file: "{memory}/authority.pem" }}' if is_secure else ""
    with Nginx(memory, memory / "served") as server, Daemon(bench, settings, roots=[memory]) as daemon:
        write_file(server.served / "big", size)
        urls = [server.tls_url("big") if is_secure else server.url("big")]
        tools = [tool for tool in [*(peer(bench) for peer in peers), Xfer(bench, daemon)] if tool.is_installed()]
        fetch_all(bench, outcome, tools, urls, memory / "out", [size], daemon, server.authority if is_secure else None)
    shutil.rmtree(memory)


def _small_files(bench, outcome, peers, on_disk):
    memory = bench.new_directory("memory")
    out = bench.new_directory("out", on_disk) / "files"
    with Nginx(memory, memory / "served") as server, Daemon(bench, roots=[out.parent]) as daemon:
        names = [f"small-{number:06}" for number in range(bench.count)]
        for name in names:
            write_file(server.served / name, 4096)
        urls = [server.url(name) for name in names]
        tools = [tool for tool in [*(peer(bench) for peer in peers), Xfer(bench, daemon)] if tool.is_installed()]
        fetch_all(bench, outcome, tools, urls, out, [4096] * len(urls), daemon)
    shutil.rmtree(memory)
    shutil.rmtree(out.parent)
