"""A daemon and a web site for each test that asks for one."""
from __future__ import annotations

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Iterator

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from daemon import Daemon  # noqa: E402


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says why each test that passed at its second run had failed at its first."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.write_sep("_", f"first run of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


class Site(ThreadingHTTPServer):
    """`/N` is N bytes, which can be continued; `/slow` sends one chunk and waits until the test ends."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ended = threading.Event()
        self.headers: list[dict[str, str]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    server: Site
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(False)

    def do_GET(self) -> None:
        self.answer(True)

    def answer(self, has_body: bool) -> None:
        self.server.headers.append(dict(self.headers))
        name = self.path.strip("/").split(".")[0]
        if name == "missing":
            self.send_error(404)
            return
        body = b"x" * (1_000_000 if name == "slow" else int(name))
        start = 0
        if (part := self.headers.get("Range", "")).startswith("bytes="):
            start = int(part[6:].split("-")[0])
        self.send_response(206 if start else 200)
        self.send_header("ETag", '"1"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", "application/octet-stream")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        if not has_body:
            return
        if name == "slow" and not start:
            self.wfile.write(body[:100_000])
            self.wfile.flush()
            self.server.ended.wait()
            self.close_connection = True
            return
        self.wfile.write(body[start:])

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    daemon = Daemon(tmp_path)
    yield daemon
    daemon.end()


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.ended.set()
    site.shutdown()
