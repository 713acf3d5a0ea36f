"""A web site that the daemon downloads from, as fast as the path says."""
from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

SIZE = 4 << 20


class Site:
    """Answers `/NAME?rate=…` with SIZE bytes at that rate, and `/NAME?status=…` with that status until `is_mended`.

    `type` is the media type of the answer. What is in `pages` is answered as HTML; `files` has the size and the rate of
    paths that have no query. A `POST` is redirected to the URL `target`.
    """

    def __init__(self) -> None:
        self.is_mended = False
        self.pages: dict[str, str] = {}
        self.files: dict[str, tuple[int, int]] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if self.path in site.pages:
                    return self._send_page(site.pages[self.path].encode())
                query = dict(parse_qsl(urlsplit(self.path).query))
                status = 200 if site.is_mended else int(query.get("status", 200))
                first = int(self.headers.get("Range", "bytes=0-")[len("bytes="):].split("-")[0])
                known_size, known_rate = site.files.get(self.path, (SIZE, 1 << 30))
                size = int(query.get("size", known_size)) if status == 200 else 0
                self.send_response(206 if first > 0 and status == 200 else status)
                self.send_header("Content-Type", query.get("type", "application/octet-stream"))
                self.send_header("ETag", '"1"')
                self.send_header("Accept-Ranges", "bytes")
                if first > 0:
                    self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
                self.send_header("Content-Length", str(max(0, size - first)))
                self.end_headers()
                self._send(max(0, size - first), int(query.get("rate", known_rate)))

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(307)
                self.send_header("Location", dict(parse_qsl(urlsplit(self.path).query))["target"])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def _send_page(self, content: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def _send(self, left: int, rate: int) -> None:
                portion = bytes(max(1, rate // 20))
                try:
                    while left > 0:
                        self.wfile.write(portion[:left])
                        left -= len(portion)
                        time.sleep(0.05)
                except OSError:
                    pass

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def unending(self, name: str = "big") -> str:
        """The URL of a file that takes longer than a test, however slow the machine is."""
        return f"{self.url}/{name}?rate=400000&size=200000000"

    def close(self) -> None:
        """Ends the site."""
        self._server.shutdown()
        self._server.server_close()
