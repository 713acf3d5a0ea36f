"""Whole downloads beside curl, aria2c and wget2: one big file, and many small ones."""

import hashlib
import random
import shutil

from harness.daemon import Daemon
from harness.fetching import fetch_all
from harness.measure import Outcome
from harness.servers import Nginx, write_file
from harness.tools import PARALLEL, Aria, AriaSplit, Curl, Wget2, Wget2Once, Xfer


def big(bench):
    size = bench.size << 20
    outcome = Outcome(f"one file of {bench.size:,} MiB over http, from and to memory")
    _one_file(bench, outcome, size, [Curl, Aria, AriaSplit, Wget2])
    outcome.ask_ratio("time", "curl", at_most=1.00)
    outcome.ask_ratio("time", "aria2c", at_most=0.8)
    outcome.ask_ratio("time", "aria2c -x8", at_most=0.8)
    outcome.ask_ratio("time", "wget2", at_most=1.0)
    return outcome


def tls(bench):
    outcome = Outcome(f"one file of {bench.size:,} MiB over TLS 1.3, from and to memory")
    _one_file(bench, outcome, bench.size << 20, [Curl, Aria, Wget2], is_secure=True)
    outcome.ask_ratio("time", "curl", at_most=1.05)
    return outcome


def small(bench):
    outcome = Outcome(f"{bench.count:,} files of 4 KiB over http, {PARALLEL} at a time, to memory; each a durable task")
    _small_files(bench, outcome, [Curl, Aria, Wget2], on_disk=False)
    outcome.ask_ratio("time", "aria2c", at_most=1.0)
    outcome.ask_ratio("processor time", "aria2c", at_most=1.5)
    outcome.ask("peak memory", at_most=40, worst=True)
    return outcome


def small_on_disk(bench):
    outcome = Outcome(
        f"{bench.count:,} files of 4 KiB over http, {PARALLEL} at a time, to the disk; only xfer's are durable")
    _small_files(bench, outcome, [Aria], on_disk=True)
    outcome.ask_ratio("time", "aria2c", at_most=0.3)
    outcome.ask_ratio("processor time", "aria2c", at_most=0.6)
    outcome.ask("peak memory", at_most=40, worst=True)
    return outcome


def small_overwriting(bench):
    outcome = Outcome(
        f"{bench.count:,} files of 4 KiB over http, {PARALLEL} at a time, to memory; xfer's may replace others")
    _small_files(bench, outcome, [Aria], False, lambda _: ["--on-conflict", "overwrite"])
    outcome.ask_ratio("time", "aria2c", at_most=1.25)
    return outcome


def small_verified(bench):
    outcome = Outcome(
        f"{bench.count:,} files of 4 KiB over http, {PARALLEL} at a time, to memory; xfer verifies SHA-256 digests")
    _small_files(bench, outcome, [Aria], False, _checksums)
    outcome.ask_ratio("time", "aria2c", at_most=1.25)
    return outcome


def _checksums(served):
    """The option for a list of the files' digests, which lies beside their directory."""
    files = [path for path in served.iterdir() if path.name.startswith("small-")]
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (served.parent / "SHA256SUMS").write_text("".join(lines))
    return ["--checksums", str(served.parent / "SHA256SUMS")]


def hosts(bench):
    """Each host has a hundred of the files, at no two places of the list together; connections are counted, too."""
    count = bench.count * 10
    addresses = [f"127.1.{number // 250}.{number % 250 + 1}" for number in range(bench.count // 10)]
    outcome = Outcome(
        f"{count:,} files of 4 KiB over http from {len(addresses):,} hosts in random order, {PARALLEL} at a time, to "
        "memory")
    bench.require_memory(2 * 4096 * count)
    memory = bench.new_directory("memory")
    with Nginx(memory, memory / "served", hosts=addresses) as server, Daemon(bench, roots=[memory]) as daemon:
        names = _write_small(server, count)
        urls = [server.url(name, addresses[index % len(addresses)]) for index, name in enumerate(names)]
        random.Random(7).shuffle(urls)
        tools = [tool for tool in [Aria(bench), Xfer(bench, daemon)] if tool.is_installed()]
        fetch_all(
            bench, outcome, tools, urls, memory / "out", [4096] * count, daemon, warm_up=False,
            rounds=min(bench.rounds, 3), server=server)
    shutil.rmtree(memory)
    outcome.notes.append("The hosts are addresses of the loopback interface, at one nginx.")
    return outcome


def http2(bench):
    """xferd as it is configured: requests share a connection where the server speaks HTTP/2."""
    outcome = Outcome(f"{bench.count:,} files of 4 KiB over HTTP/2 with TLS 1.3, {PARALLEL} at a time, to memory")
    memory = bench.new_directory("memory")
    settings = f'trust: {{ ca_file: "{memory}/authority.pem" }}'
    with Nginx(memory, memory / "served") as server, Daemon(bench, settings, roots=[memory]) as daemon:
        urls = [server.http2_url(name) for name in _write_small(server, bench.count)]
        peers = [Curl(bench), Wget2Once(bench), Xfer(bench, daemon, "--http2")]
        fetch_all(
            bench, outcome, [tool for tool in peers if tool.is_installed()], urls, memory / "out", [4096] * len(urls),
            daemon, server.authority, server=server)
    shutil.rmtree(memory)
    outcome.notes.append(
        "wget2 makes a connection for each thread: it has one. xferd still has its connection from the run before.")
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


def _small_files(bench, outcome, peers, on_disk, options=lambda _: []):
    """`options` answers those of xferctl for the directory of the files that are served."""
    memory = bench.new_directory("memory")
    out = bench.new_directory("out", on_disk) / "files"
    with Nginx(memory, memory / "served") as server, Daemon(bench, roots=[out.parent]) as daemon:
        urls = [server.url(name) for name in _write_small(server, bench.count)]
        xfer = Xfer(bench, daemon, *options(server.served))
        tools = [tool for tool in [*(peer(bench) for peer in peers), xfer] if tool.is_installed()]
        fetch_all(bench, outcome, tools, urls, out, [4096] * len(urls), daemon, keeps=on_disk)
    shutil.rmtree(memory)
    shutil.rmtree(out.parent)


def _write_small(server, count):
    """Answers the names of so many files of 4 KiB that the server has."""
    names = [f"small-{number:06}" for number in range(count)]
    for name in names:
        write_file(server.served / name, 4096)
    return names
