"""A web site that the daemon downloads from."""
from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CONTENT = bytes(range(256)) * 256


class Site:
    """Answers /file with CONTENT, /text with JSON, /held after `release`, all else with 404."""

    def __init__(self) -> None:
        self._held = threading.Event()
        self._released = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                body, status = b"no such page", 404
                if self.path.startswith("/held"):
                    site._held.set()
                    site._released.wait(60)
                if self.path.startswith(("/file", "/held")):
                    body, status = CONTENT, 200
                elif self.path == "/text":
                    body, status = '{"name": "Grüße"}'.encode(), 200
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def await_held(self) -> None:
        """Returns when a request for /held has come."""
        assert self._held.wait(60)

    def release(self) -> None:
        """Lets the answers of /held go."""
        self._released.set()

    def close(self) -> None:
        """Ends the site."""
        self.release()
        self._server.shutdown()
        self._server.server_close()
