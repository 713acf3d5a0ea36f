"""Downloads over a line with delay, loss and a rate, beside the same peers with their defaults and at their best.

xferd has its defaults and is started anew before each run: it knows nothing of the server, and has no connection to it.
"""

import pathlib
import shutil
import tempfile
import threading
import time

from harness.daemon import Daemon
from harness.line import ADDRESS, Line, Quality
from harness.measure import Failed, Outcome
from harness.servers import Nginx, write_file
from harness.tools import Aria, Curl, Wget2, Xfer

SHORT, LONG, FAR = Quality(20), Quality(100, 0.005, 100), Quality(200, 0, 500)
LOSSY = Quality(100, 0.02, 50)
QUALITIES = [SHORT, LONG, FAR]


class Curl50(Curl):
    """With the number of transfers that it has by itself."""

    name = "curl -Z"
    parallel = 50


class Curl300(Curl):
    name = "curl -Z, 300"
    parallel = 300


class Aria5(Aria):
    """aria2's own number, one connection a host."""

    name = "aria2c -j5"

    def __init__(self, bench):
        super().__init__(bench, 5)


class Aria6(Aria):
    name = "aria2c -j6"

    def __init__(self, bench):
        super().__init__(bench, 6)


class Aria16(Aria):
    name = "aria2c -j16"


class Aria8(Aria):
    name = "aria2c -x8"
    connections = 8


class Wget5(Wget2):
    threads = 5


class Impolite(Xfer):
    name = "xfer, impolite"
    queue = "queue: { polite: false }"


class Split(Xfer):
    name = "xfer, auto segments"

    def __init__(self, bench, daemon):
        super().__init__(bench, daemon, "--segments", "auto")


def small(bench):
    outcome = Outcome("500 files of 20 KB over http, a line with delay")
    _over_lines(bench, outcome, [Curl50, Curl300, Aria5, Aria6, Aria16, Wget5], [Xfer, Impolite], 500, 20_000)
    for quality in QUALITIES:
        outcome.ask_ratio(f"time, {quality}", "aria2c -j6", at_most=1.0)
        outcome.ask_ratio(f"time, {quality}", "aria2c -j16", at_most=0.8, tool="xfer, impolite")
    return outcome


def small_http2(bench):
    outcome = Outcome("500 files of 20 KB over HTTP/2, a line with delay")
    _over_lines(
        bench, outcome, [Curl50, Curl300, Aria5, Aria16, Wget5], [Xfer], 500, 20_000, is_http2=True)
    for quality in QUALITIES:
        for peer in (Curl50.name, Curl300.name, Aria16.name, Wget5.name):
            outcome.ask_ratio(f"time, {quality}", peer, at_most=0.8)
    return outcome


def medium(bench):
    outcome = Outcome("20 files of 5 MB over http, a line with delay")
    _over_lines(bench, outcome, [Curl50, Aria5, Aria16, Wget5], [Xfer], 20, 5_000_000)
    for quality in QUALITIES:
        for peer in (Curl50.name, Aria5.name, Aria16.name):
            outcome.ask_ratio(f"time, {quality}", peer, at_most=1.05)
    return outcome


def large(bench):
    outcome = Outcome("one file of 200 MB over http, a line with delay")
    _over_lines(bench, outcome, [Curl50, Aria8], [Xfer, Split], 1, 200_000_000)
    for quality in QUALITIES:
        outcome.ask_ratio(f"time, {quality}", Curl50.name, at_most=1.05)
        # Over the long line the buffers of both ends limit each connection.
        outcome.ask_ratio(f"time, {quality}", "xfer", at_most=0.8 if quality is FAR else 1.05, tool=Split.name)
    return outcome


def hosts(bench):
    outcome = Outcome("20 files of 20 KB from each of 50 hosts over http, a line with delay")
    addresses = [f"10.99.1.{number + 1}" for number in range(50)]
    _over_lines(bench, outcome, [Curl50, Aria5, Aria16, Wget5], [Xfer], 1000, 20_000, hosts=addresses)
    for quality in QUALITIES:
        for peer in (Curl50.name, Aria16.name):
            outcome.ask_ratio(f"time, {quality}", peer, at_most=0.8)
    return outcome


def refusing(bench):
    """nginx refuses connections above a number, as many servers do."""
    outcome = Outcome(
        "50 files of 80 KB over http from a server that sends each at 60 kB a second and answers 429 above some "
        "connections, 100 ms")
    quality = Quality(100, 0, 100)
    for most in (1, 2, 8):
        settings = f"limit_conn_status 429; limit_conn all {most}; limit_rate 60k;"
        with _Place(bench, quality, settings=settings) as place:
            urls = place.write(50, 80_000)
            what = f"time, at most {most}"
            # As many as it accepts, but no more than is polite.
            fixed = min(most, 6)
            place.daemon.queue = f"queue: {{ max_active_per_host: {fixed}, max_active: {fixed} }}"
            name = f"xfer, fixed {fixed}"
            place.measure(outcome, what, [place.xfer(Xfer, name, keeps=True), place.xfer(Xfer)], urls, 80_000)
            outcome.ask_ratio(what, name, at_most=1.3)
    return outcome


def dead(bench):
    outcome = Outcome("20 files of 20 KB from a good host behind 60 that answer nothing, 20 ms")
    with _Place(bench, SHORT) as place:
        good = place.write(20, 20_000)
        silent = [f"http://10.99.9.{number + 1}/file" for number in range(60)]
        place.daemon.restart()
        out = place.directory()
        with place.daemon.client() as client:
            begin = time.monotonic()
            client.call("task.add", tasks=[{"url": url, "dir": str(out)} for url in [*silent, *good]])
            while len([path for path in out.iterdir() if path.stat().st_size == 20_000]) < len(good):
                if time.monotonic() - begin > 120:
                    raise Failed("the good host's files did not come within two minutes")
                time.sleep(0.05)
        outcome.add("time", "xfer", "s", time.monotonic() - begin)
    outcome.ask("time", at_most=10)
    return outcome


def day(bench):
    """A bad day on a transatlantic line: jitter, then many losses, then no line, then another address."""
    count, size = 3000, 100_000
    outcome = Outcome(
        f"{count:,} files of 100 KB over a line of 100 ms with 10 ms of jitter and 50 Mbit/s: after 5 s a minute of 20 % "
        "loss, a minute without the line, then another address")
    good = Quality(100, 0.001, 50, jitter=10)
    bench.require_memory(3 * count * size)
    with _Place(bench, good) as place:
        urls = place.write(count, size)
        out = place.directory()
        tool = place.xfer(Xfer)
        phases = [
            (5, lambda: place.line.set(Quality(100, 0.2, 50, jitter=10))), (65, lambda: place.line.set(Quality(loss=1))),
            (125, lambda: place.line.set(good)), (130, place.line.move)]
        timers = [threading.Timer(after, change) for after, change in phases]
        for timer in timers:
            timer.start()
        try:
            took, _, _ = tool.fetch(urls, out)
        finally:
            for timer in timers:
                timer.cancel()
        if [path.stat().st_size for path in out.iterdir()] != [size] * count:
            raise Failed("not everything arrived")
        outcome.add("time", "xfer", "s", took)
    outcome.ask("time", at_most=240)
    outcome.notes.append("Without the two bad minutes the line needs 48 s for the bytes alone.")
    return outcome


def _over_lines(bench, outcome, peers, own, count, size, is_http2=False, hosts=()):
    bench.require_memory(3 * count * size)
    for quality in QUALITIES:
        with _Place(bench, quality, hosts) as place:
            urls = place.write(count, size, is_http2)
            tools = [place.peer(peer) for peer in peers] + [place.xfer(each) for each in own]
            tools = [tool for tool in tools if tool.is_installed()]
            place.measure(outcome, f"time, {quality}", tools, urls, size, is_http2)


class _Place:
    """A line with nginx at its far end and xferd at its near end, as a context."""

    def __init__(self, bench, quality, hosts=(), settings=""):
        self.bench = bench
        self.memory = bench.new_directory("line")
        self.hosts = hosts
        self.line = Line(bench, quality, hosts)
        self.settings = settings
        self.open = []

    def __enter__(self):
        try:
            line = self._enter(self.line)
            self.server = self._enter(Nginx(
                self.memory, self.memory / "served", self.hosts, address=ADDRESS, wrapper=line.far,
                settings=self.settings))
            trust = f'trust: {{ ca_file: "{self.memory}/authority.pem" }}'
            self.daemon = self._enter(
                Daemon(self.bench, trust, parallel=None, roots=[self.memory], wrapper=line.near))
        except BaseException:
            self.__exit__()
            raise
        return self

    def _enter(self, context):
        entered = context.__enter__()
        self.open.append(context)
        return entered

    def __exit__(self, *_):
        while self.open:
            self.open.pop().__exit__(None, None, None)
        shutil.rmtree(self.memory, ignore_errors=True)

    def directory(self):
        return pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.memory))

    def write(self, count, size, is_http2=False):
        names = [f"file{number:05}" for number in range(count)]
        for name in names:
            write_file(self.server.served / name, size)
        if is_http2:
            return [self.server.http2_url(name) for name in names]
        return [
            self.server.url(name, self.hosts[number % len(self.hosts)] if self.hosts else None)
            for number, name in enumerate(names)]

    def peer(self, kind):
        tool = kind(self.bench)
        tool.wrapper = self.line.near
        return tool

    def xfer(self, kind, name=None, keeps=False):
        tool = kind(self.bench, self.daemon)
        tool.name = name or tool.name
        # The limits of the daemon; `keeps` those that it has.
        tool.queue = self.daemon.queue if keeps else getattr(kind, "queue", "queue: {}")
        return tool

    def measure(self, outcome, what, tools, urls, size, is_secure=False):
        rounds = min(self.bench.rounds, 3)
        for number in range(rounds):
            shift = number % len(tools)
            for tool in tools[shift:] + tools[:shift]:
                if isinstance(tool, Xfer):
                    self.daemon.queue = tool.queue
                    self.daemon.restart()
                out = self.directory()
                self.server.count_connections()
                # aria2c speaks HTTP/1.1 alone.
                ports = (f":{self.server.http2_port}/", f":{self.server.tls_port}/")
                fetched = [url.replace(*ports) for url in urls] if isinstance(tool, Aria) else urls
                took, _, _ = tool.fetch(fetched, out, self.server.authority if is_secure else None)
                if [path.stat().st_size for path in out.iterdir()] != [size] * len(urls):
                    raise Failed(f"{tool.name} did not fetch everything")
                shutil.rmtree(out)
                outcome.add(what, tool.name, "s", took)
                outcome.add(what.replace("time", "connections"), tool.name, "", self.server.count_connections())
