"""A server that is honest but unlucky, for one job: each path has the answers to its first, second, … request."""

import collections
import contextlib
import hashlib
import http.server
import random
import socket
import ssl
import struct
import subprocess
import threading
import time
import urllib.parse

#: Two hosts for the programs, which are one server here.
HOST, OTHER_HOST = "127.0.0.1", "127.0.0.2"
SLICE = 1 << 16
#: Seconds between two bytes of a body that trickles.
TRICKLE = 0.25


class Exchange(http.server.BaseHTTPRequestHandler):
    server: "Listener"
    protocol_version = "HTTP/1.1"
    is_orderly = False

    def setup(self):
        # As nginx, a TLS port answers an http request with 400.
        self.is_plain = self.request.recv(1, socket.MSG_PEEK) != b"\x16"
        if self.server.context and not self.is_plain:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def do_GET(self):
        self.unlucky = self.server.unlucky
        if self.server.context and self.is_plain:
            self.page(400, b"<center>The plain HTTP request was sent to HTTPS port</center>")
            return
        target = urllib.parse.urlsplit(self.path)
        self.query = target.query
        self.number, answer = self.unlucky.next_answer(urllib.parse.unquote(target.path, "latin-1"))
        answer(self)

    do_HEAD = do_GET

    def finish(self):
        # Python closes a TLS connection without close_notify unless it is unwrapped.
        if self.is_orderly and not self.is_plain:
            self.connection.settimeout(1)
            with contextlib.suppress(OSError):
                self.connection.unwrap()
        super().finish()

    def log_message(self, *_):
        pass

    def page(self, status, body=b"", **fields):
        self.head(status, {"Content-Type": "text/html", "Content-Length": str(len(body)), **fields})
        self.send(body)

    def head(self, status, fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send(self, body):
        if self.command == "HEAD":
            return
        for first in range(0, len(body), SLICE):
            piece = body[first : first + SLICE]
            self.wfile.write(piece)
            self.unlucky.count_sent(len(piece))

    def requested_range(self, validators, size):
        """First byte and end of what is requested, and whether that is a part."""
        unit, _, numbers = self.headers.get("Range", "").partition("=")
        condition = self.headers.get("If-Range")
        if unit != "bytes" or condition and (condition.startswith("W/") or condition not in validators):
            return 0, size, False
        first, _, last = numbers.partition("-")
        return int(first), min(int(last) + 1, size) if last else size, True

    def send_file(
            self, content=None, tag='"1"', most=None, stop=None, end="close", framing="length", ranges=True,
            never_ends=False, closes=False, part_is_bare=False, pause=0, **fields):
        """Sends the file, or the part of it that is requested.

        It breaks off after `most` bytes or at the offset `stop`, with `never_ends` even behind the last byte: it closes
        the connection (over TLS without close_notify), resets it, trickles, stalls, or is held until the client is
        interrupted.
        """
        content = self.unlucky.content if content is None else content
        first, last, is_part = (
            self.requested_range((tag, fields.get("Last_Modified")), len(content)) if ranges else (0, len(content), False))
        if first >= len(content):
            self.page(416, Content_Range=f"bytes */{len(content)}")
            return
        count = min(last - first, most or len(content), max(0, (len(content) if stop is None else stop) - first))
        fields = {"Content-Type": "application/octet-stream", **fields}
        if tag:
            fields["ETag"] = tag
        if is_part and part_is_bare:
            fields.pop("ETag", None)
            fields.pop("Last_Modified", None)
        if is_part:
            fields["Content-Range"] = f"bytes {first}-{last - 1}/{len(content)}"
        fields |= {
            "length": {"Content-Length": str(last - first)}, "chunked": {"Transfer-Encoding": "chunked"},
            "close": {"Connection": "close"},
        }[framing]
        self.head(206 if is_part else 200, fields)
        is_chunked = framing == "chunked" and self.command != "HEAD"
        for start in range(first, first + count, SLICE):
            piece = content[start : min(start + SLICE, first + count)]
            if is_chunked:
                self.wfile.write(b"%x\r\n" % len(piece))
            self.send(piece)
            if is_chunked:
                self.wfile.write(b"\r\n")
            time.sleep(pause)
        self.close_connection |= closes
        if count < last - first or never_ends:
            self.break_off(end, content[first + count : last])
        elif is_chunked:
            self.wfile.write(b"0\r\n\r\n")
        elif framing == "close":
            self.is_orderly = True

    def break_off(self, end, rest):
        self.close_connection = True
        if end == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        elif end == "trickle":
            for byte in rest:
                self.send(bytes([byte]))
                time.sleep(TRICKLE)
        elif end in ("hold", "stall"):
            if end == "hold":
                self.unlucky.held.release()
            # Until the client closes.
            self.connection.recv(1)


class Listener(http.server.ThreadingHTTPServer):
    request_queue_size = 64

    def __init__(self, address, unlucky, context):
        self.unlucky = unlucky
        self.context = context
        super().__init__(address, Exchange)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request, client_address):
        # Clients leave, and speak TLS or none where the other is expected.
        pass


class UnluckyServer:
    """`routes` has a list of answers for each path; the last one is repeated. A context."""

    def __init__(self, routes, size, certificate=None, is_silent_on_ipv6=False):
        self.routes = routes
        self.content = random.Random(size).randbytes(size)
        self.digest = hashlib.sha256(self.content).hexdigest()
        self.numbers: collections.Counter[str] = collections.Counter()
        self.requests = self.sent = self.serving = 0
        self.lock = threading.Lock()
        #: Released for each answer that is held until the client is interrupted.
        self.held = threading.Semaphore(0)
        #: Set when the URL was refused because it has expired.
        self.expired = threading.Event()
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        self.port = 0
        self.listen()
        # Connections are made, and nobody accepts them.
        self.silent = is_silent_on_ipv6 and socket.create_server(("::1", self.port), family=socket.AF_INET6)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        if self.silent:
            self.silent.close()

    def listen(self):
        self.listeners = []
        for host in (HOST, OTHER_HOST):
            self.listeners.append(Listener((host, self.port), self, self.context))
            self.port = self.listeners[0].server_address[1]

    def close(self):
        for listener in self.listeners:
            listener.shutdown()
            listener.socket.close()

    def next_answer(self, path):
        """The request's number among those for the path, from 1, and its answer."""
        with self.lock:
            self.requests += 1
            self.numbers[path] += 1
            answers = self.routes.get(path, [page(404)])
            return self.numbers[path], answers[min(self.numbers[path], len(answers)) - 1]

    def count_sent(self, count):
        with self.lock:
            self.sent += count

    def begin_serving(self, most):
        """False if as many requests are being served as may be at a time."""
        with self.lock:
            if self.serving >= most:
                return False
            self.serving += 1
            return True

    def end_serving(self):
        with self.lock:
            self.serving -= 1


def file(**how):
    return lambda exchange: exchange.send_file(**how)


def page(status, body=b"", **fields):
    return lambda exchange: exchange.page(status, body, **fields)


def redirect(path, host=HOST):
    return lambda exchange: exchange.page(302, Location=f"http://{host}:{exchange.unlucky.port}{path}")


def location(reference):
    return page(302, Location=reference)


def ranged(refusal):
    """The refusal for each request of a part, and else the file."""
    return lambda exchange: (refusal if "Range" in exchange.headers else file())(exchange)


def cookie():
    """The file for requests with the cookie; the others get the cookie and are sent back."""

    def answer(exchange):
        if "seen=1" in exchange.headers.get("Cookie", ""):
            exchange.send_file()
        else:
            exchange.page(302, Location=exchange.path, Set_Cookie="seen=1; Path=/")

    return answer


def away(seconds, last):
    """The last answer of a server that goes away for a time."""

    def answer(exchange):
        last(exchange)
        exchange.unlucky.close()
        threading.Timer(seconds, exchange.unlucky.listen).start()

    return answer


def rotating(*answers):
    """Nodes behind one name, in turns."""
    return lambda exchange: answers[(exchange.number - 1) % len(answers)](exchange)


def expiring(refusal):
    """Half of the file, then the refusal, until the query of the URL is new."""

    def answer(exchange):
        if "new" in exchange.query:
            exchange.send_file()
        elif exchange.number == 1:
            exchange.send_file(stop=len(exchange.unlucky.content) // 2)
        else:
            refusal(exchange)
            exchange.unlucky.expired.set()

    return answer


def at_most(count, refusal, **how):
    """So many requests at a time, of one client."""

    def answer(exchange):
        if not exchange.unlucky.begin_serving(count):
            refusal(exchange)
            return
        try:
            exchange.send_file(**how)
        finally:
            exchange.unlucky.end_serving()

    return answer


def cached(stale):
    """A cache on the way that has an old version, and asks the origin only if it has to."""

    def answer(exchange):
        passes = "no-cache" in exchange.headers.get("Cache-Control", "") + exchange.headers.get("Pragma", "")
        exchange.send_file(**({} if passes else stale))

    return answer


def make_certificate(path):
    """A certificate of the server that is its own authority, with its key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=unlucky",
         "-addext", f"subjectAltName=IP:{HOST}", "-keyout", path, "-out", path.with_suffix(".crt")],
        check=True, capture_output=True)
    with open(path, "a") as key:
        key.write(path.with_suffix(".crt").read_text())
