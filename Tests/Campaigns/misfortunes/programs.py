"""The programs side by side, each as a user runs it: once, and again when it has failed."""

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from unlucky_server import HOST, OTHER_HOST

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from xferd import PROGRAMS, Daemon  # noqa: E402

#: How often a user runs a program that fails.
MOST_RUNS = 3
#: Seconds between two looks at a program.
INTERVAL = 0.01


@dataclasses.dataclass
class Result:
    row: str
    case: str
    program: str
    #: "right", "wrong": published as complete with other bytes, "misnamed", or "nothing".
    outcome: str
    seconds: float
    requests: int
    #: Bytes of bodies that were sent.
    sent: int
    runs: int
    #: How the last run ended; None: it had not when the time was up.
    status: int | None
    #: What xfer says of its tasks.
    explanation: str = ""
    #: The directory with xferd's log, if it is kept.
    kept: str = ""

    @property
    def survives(self):
        return self.outcome == "right"


class Job:
    """A case for one program."""

    def __init__(self, case, server, certificate, place):
        self.case = case
        self.server = server
        self.certificate = certificate if case.is_trusted else None
        self.place = place

    @property
    def urls(self):
        host = "files.test" if self.case.uses_proxy else f"{self.case.name_of_host or HOST}:{self.server.port}"
        urls = [f"{self.case.scheme}://{host}{path}" for path in self.case.paths]
        return [url.replace("=old", "=new") for url in urls] if self.server.expired.is_set() else urls

    @property
    def mirrors(self):
        return [f"http://{OTHER_HOST}:{self.server.port}{self.case.mirror}"] if self.case.mirror else []

    @property
    def proxy(self):
        return f"http://{HOST}:{self.server.port}" if self.case.uses_proxy else None

    @property
    def output(self):
        """The name that the user gives to the file."""
        return None if self.case.is_named_by_server or len(self.case.paths) > 1 else self.case.names[0]

    @property
    def wrapper(self):
        """Runs a program where the name has its addresses: in a mount namespace with another /etc/hosts."""
        if not self.case.name_of_host:
            return []
        hosts = self.place.with_name("hosts")
        hosts.write_text(f"::1 {self.case.name_of_host}\n{HOST} {self.case.name_of_host}\n")
        namespace = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
        return [*namespace, "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', str(hosts)]

    @property
    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        return {**kept, "HOME": str(self.place.parent)}

    def is_right(self, name):
        path = self.place / name
        return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == self.server.digest


class Program:
    """A program that does a case's job; `run` is called once."""

    name = ""

    def __init__(self, case, certificate):
        self.case = case
        self.certificate = certificate

    def options(self):
        return self.case.options.get(self.name, [])

    def start(self):
        return subprocess.Popen(
            [str(word) for word in [*self.job.wrapper, *self.command()]], cwd=self.job.place, env=self.job.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def command(self):
        raise NotImplementedError

    def run(self):
        """Runs the program until it has ended well, has failed too often, or the time is up."""
        with tempfile.TemporaryDirectory(prefix="misfortunes-") as scratch, self.case.server(self.certificate) as server:
            place = pathlib.Path(scratch) / "files"
            place.mkdir()
            with self.prepared(Job(self.case, server, self.certificate, place)):
                if self.case.existing:
                    (self.job.place / self.case.names[0]).write_bytes(self.case.existing)
                begin = time.monotonic()
                runs, status = self.watch(begin + self.case.limit)
                seconds = time.monotonic() - begin
                result = Result(
                    self.case.row, self.case.name, self.name, self.outcome(status), seconds, server.requests, server.sent,
                    runs, status)
                self.explain(result)
                return result

    @contextlib.contextmanager
    def prepared(self, job):
        self.job = job
        yield

    def watch(self, deadline):
        runs, is_renewed, server = 1, False, self.job.server
        process = self.start()
        try:
            while time.monotonic() < deadline and not self.is_done_beside():
                if server.held.acquire(blocking=False):
                    process = self.interrupt(process)
                elif server.expired.is_set() and not is_renewed:
                    is_renewed = True
                    process = self.renew(process)
                elif process.poll() is None:
                    time.sleep(INTERVAL)
                elif process.returncode == 0 or runs == MOST_RUNS:
                    break
                else:
                    runs += 1
                    process = self.again()
            return runs, process.poll()
        finally:
            end(process, signal.SIGTERM)

    def is_done_beside(self):
        """Whether all is there that can be expected: the others go on for longer than the case lasts."""
        return self.case.expected and len(self.case.paths) > len(self.case.expected) and self.is_right()

    def interrupt(self, process):
        end(process, signal.SIGINT)
        return self.start()

    def renew(self, process):
        """The user has a new URL for the same file."""
        end(process, signal.SIGINT)
        return self.start()

    def again(self):
        return self.start()

    def is_right(self):
        return all(self.job.is_right(name) for name in self.case.names)

    def outcome(self, status):
        if self.is_right():
            return "right"
        if any(self.job.is_right(path.name) for path in self.published()) and len(self.case.names) == 1:
            return "misnamed"
        return "wrong" if status == 0 else "nothing"

    def published(self):
        return [path for path in self.job.place.iterdir() if not path.name.startswith(".")]

    def explain(self, result):
        pass


class Curl(Program):
    name = "curl"

    def command(self):
        job = self.job
        command = ["curl", "-q", "-sS", "-f", "-L", "--retry", "10", "--retry-all-errors", *self.options()]
        command += ["--cacert", job.certificate] if job.certificate else []
        command += ["-x", job.proxy] if job.proxy else []
        command += ["-Z"] if len(job.urls) > 1 else []
        if self.case.is_named_by_server:
            # curl refuses these with -C.
            return [*command, "-O", "-J", *job.urls]
        return [*command, "-C", "-", *(word for url in job.urls for word in self.named(url))]

    def named(self, url):
        return ["-o", self.job.output, url] if self.job.output else ["-O", url]


class Wget(Program):
    name = "wget"

    def command(self):
        job = self.job
        command = ["wget", "--no-config", "--no-hsts", "-q", "-c", *self.options()]
        command += [f"--ca-certificate={job.certificate}"] if job.certificate else []
        command += ["-e", f"http_proxy={job.proxy}"] if job.proxy else []
        command += ["-O", job.output] if job.output else []
        return [*command, *job.urls]


class Aria(Program):
    name = "aria2c"

    def command(self):
        job = self.job
        command = ["aria2c", "--no-conf", "-q", "-c", *self.options()]
        command += [f"--ca-certificate={job.certificate}"] if job.certificate else []
        command += [f"--http-proxy={job.proxy}"] if job.proxy else []
        command += [f"--checksum=sha-256={job.server.digest}"] if self.case.has_digest else []
        command += ["-o", job.output] if job.output else []
        command += ["-Z"] if len(job.urls) > 1 else []
        return [*command, *job.urls, *job.mirrors]


class Xfer(Program):
    """A fresh xferd, and xferctl that adds the tasks and waits for them."""

    name = "xfer"

    @contextlib.contextmanager
    def prepared(self, job):
        settings = ["download.reserve=0"]
        if job.certificate:
            settings.append(f"trust.ca_file={job.certificate}")
        self.daemon = Daemon(settings=settings)
        job.place = self.daemon.files
        self.job = job
        self.keeps = True
        try:
            self.daemon.start([*job.wrapper])
            yield
        finally:
            if self.daemon.process and self.daemon.is_running:
                self.daemon.kill()
            if not self.keeps:
                self.daemon.remove()

    def xferctl(self, verb, *words):
        return [PROGRAMS / "xferctl", verb, "--socket", self.daemon.socket, *words]

    def start(self):
        job = self.job
        place = ["-o", job.place / job.output] if job.output else ["-d", job.place]
        digest = ["--checksum", f"sha-256={job.server.digest}"] if self.case.has_digest else []
        mirrors = [word for url in job.mirrors for word in ("--mirror", url)]
        proxy = ["--proxy", job.proxy] if job.proxy else []
        words = [*place, *digest, *mirrors, *proxy, *self.options(), *job.urls]
        subprocess.run(
            self.xferctl("add", "-q", *words), env=job.environment, check=True, stdout=subprocess.DEVNULL)
        self.ids = [task["id"] for task in self.tasks()]
        return self.wait()

    def command(self):
        return self.xferctl("wait", "-q", ",".join(map(str, self.ids)))

    def wait(self):
        return super().start()

    def tasks(self):
        return self.daemon.all("task.list", "tasks")

    def interrupt(self, process):
        self.daemon.call("task.pause", {"ids": self.ids})
        self.daemon.call("task.resume", {"ids": self.ids})
        return process

    def renew(self, process):
        end = time.monotonic() + self.case.limit
        while self.tasks()[0]["state"] not in ("waiting", "failed") and time.monotonic() < end:
            time.sleep(INTERVAL)
        self.daemon.call("task.set_source", {"id": self.ids[0], "url": self.job.urls[0]})
        return self.wait() if process.poll() is not None else process

    def again(self):
        failed = [task["id"] for task in self.tasks() if task["state"] == "failed"]
        self.daemon.call("task.retry", {"ids": failed})
        return self.wait()

    def outcome(self, status):
        is_published_wrong = any(
            not self.job.is_right(path.name) and path.read_bytes() != self.case.existing for path in self.published())
        return "wrong" if is_published_wrong else super().outcome(status)

    def explain(self, result):
        for task in self.tasks():
            error = (task.get("error") or {}).get("message") or ""
            wait = (task.get("wait") or {}).get("reason") or ""
            result.explanation += f"{task['id']} {task['state']} {wait} {error}\n"
        self.keeps = not result.survives
        if self.keeps:
            result.kept = str(self.daemon.directory)


def end(process, by):
    """Ends a program, which may take its time to write down how far it is."""
    if process.poll() is None:
        process.send_signal(by)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


PROGRAMS_BESIDE = [Xfer, Curl, Wget, Aria]


def missing():
    return [program for program in ("curl", "wget", "aria2c", "openssl", "unshare") if shutil.which(program) is None]
