#!/usr/bin/env python3
"""server.py LOG — serves files that are made up, slowly, and says what it was asked for.

GET /SIZE/RATE/NAME answers SIZE bytes that follow from NAME, at RATE bytes per second, with a strong validator and
ranges. The port is printed; LOG gets a line `NAME FIRST SENT` for each answer, with the first byte and the number of
bytes that were sent. `server.py --digest SIZE NAME` prints the SHA-256 of such a file.
"""
import hashlib
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BLOCK = 16384


def block(name: str, number: int) -> bytes:
    return hashlib.shake_128(f"{name}/{number}".encode()).digest(BLOCK)


def content(name: str, first: int, end: int):
    while first < end:
        part = block(name, first // BLOCK)[first % BLOCK:][:end - first]
        yield part
        first += len(part)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log = sys.stderr
    lock = threading.Lock()

    def do_GET(self) -> None:
        match = re.fullmatch(r"/(\d+)/(\d+)/([\w.-]+)", self.path)
        if match is None:
            self.send_error(404)
            return
        size, rate, name = int(match[1]), int(match[2]), match[3]
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        first = int(wanted[1]) if wanted else 0
        end = min(size, int(wanted[2]) + 1) if wanted and wanted[2] else size
        if first >= end and wanted:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{size}")
        self.send_header("Content-Length", str(end - first))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", f'"{name}-{size}"')
        self.end_headers()
        sent = 0
        begin = time.monotonic()
        try:
            for part in content(name, first, end):
                self.wfile.write(part)
                sent += len(part)
                time.sleep(max(0.0, sent / rate - (time.monotonic() - begin)))
        except OSError:
            pass
        with self.lock:
            print(name, first, sent, file=self.log, flush=True)

    def log_message(self, *_: object) -> None:
        pass


if sys.argv[1] == "--digest":
    digest = hashlib.sha256()
    for part in content(sys.argv[3], 0, int(sys.argv[2])):
        digest.update(part)
    print(digest.hexdigest())
else:
    Handler.log = open(sys.argv[1], "a", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
