"""A server that lies about versions of known contents, at random but from a seed. A test can recognise a right file.

Each path has two versions of a content that follows from its name. Whatever the server answers, a client that publishes
anything but one of the two as a whole has been deceived.
"""

import asyncio
import hashlib
import random
import threading
import zlib


def content(path, version):
    """1 byte to 256 KiB, from the path and the version alone."""
    generator = random.Random(f"{path} {version}")
    return generator.randbytes(generator.choice([1, 5, 4096, 65_536, 100_000, 262_144]))


def versions(path):
    return [content(path, 0), content(path, 1)]


#: The content of answers without a request.
UNASKED = b"bad"

#: The host that asks for longer waits than the campaign lasts: its tasks wait as long as a host may ask for.
RELUCTANT = "127.0.0.2"


class HostileServer:
    """Listens on loopback, in a thread of its own. `requests` counts what was asked."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.requests = 0
        self.changed = set()
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,), daemon=True)
        self.thread.start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        start = self.loop.run_until_complete
        server = start(asyncio.start_server(self.serve, "127.0.0.1", 0, backlog=1024))
        self.port = server.sockets[0].getsockname()[1]
        self.reluctant = start(asyncio.start_server(self.serve, RELUCTANT, self.port, backlog=1024))
        ready.set()
        self.loop.run_forever()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    async def serve(self, reader, writer):
        try:
            while await self.answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()

    async def answer(self, reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        self.requests += 1
        # One lie in two answers, so that tasks end.
        lie = self.random.choice(LIES) if self.random.random() < 0.5 else honest
        if self.random.random() < 0.02:
            self.changed.add(path)
        version = 1 if path in self.changed else 0
        reply = Reply(path, version, fields, self.random)
        lie(reply)
        writer.write(reply.head_bytes())
        for piece in reply.pieces:
            writer.write(piece)
            await writer.drain()
            if reply.pause:
                await asyncio.sleep(reply.pause)
        if reply.reset:
            writer.transport.abort()
            return False
        return not reply.closes


class Reply:
    def __init__(self, path, version, request, generator):
        self.random = generator
        self.whole = content(path, version)
        self.status = "200 OK"
        self.fields = [("ETag", '"%s"' % hashlib.sha256(self.whole).hexdigest()[:16])]
        self.first = 0
        self.last = len(self.whole) - 1
        self.is_reluctant = request.get("host", "").startswith(RELUCTANT)
        asked = request.get("range", "")
        match = request.get("if-range")
        self.is_partial = asked.startswith("bytes=") and (match is None or match == self.fields[0][1])
        if self.is_partial:
            first, _, last = asked[6:].partition("-")
            if int(first) >= len(self.whole):
                self.status, self.is_partial = "416 Range Not Satisfiable", False
                self.fields.append(("Content-Range", f"bytes */{len(self.whole)}"))
                self.body = b""
            else:
                self.first = int(first)
                self.last = min(int(last), self.last) if last else self.last
                self.status = "206 Partial Content"
                self.fields.append(("Content-Range", f"bytes {self.first}-{self.last}/{len(self.whole)}"))
                self.body = self.whole[self.first : self.last + 1]
        else:
            self.body = self.whole
        self.length = len(self.body)
        self.raw_head = None
        self.pieces = [self.body]
        self.closes = self.reset = False
        self.pause = 0

    def set(self, name, value):
        self.fields = [field for field in self.fields if field[0] != name] + [(name, value)]

    def cut(self):
        """Fewer bytes than announced, then the end of the connection."""
        self.pieces = [self.body[: self.random.randrange(len(self.body) + 1)]]
        self.closes = True

    def head_bytes(self):
        if self.raw_head is not None:
            return self.raw_head
        fields = list(self.fields)
        if self.length is not None:
            fields.append(("Content-Length", str(self.length)))
        return (f"HTTP/1.1 {self.status}\r\n" + "".join(f"{n}: {v}\r\n" for n, v in fields) + "\r\n").encode("latin-1")


def honest(reply):
    pass


def breaks_off(reply):
    reply.cut()
    reply.reset = reply.random.random() < 0.5


def errs(reply):
    reply.status = reply.random.choice(["500 x", "502 x", "503 x", "429 x", "408 x", "425 x", "423 x"])
    reply.pieces, reply.length = [b"sorry"], 5
    if reply.random.random() < 0.3:
        times = ["0", "-1", "x"]
        if reply.is_reluctant:
            times = ["99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"]
        reply.set("Retry-After", reply.random.choice(times))


def lies_about_the_range(reply):
    numbers = [0, 1, len(reply.whole) - 1, len(reply.whole), 2**31, 2**62, 2**63 - 2, 2**63 - 1, 2**63, 2**64]
    first, last, total = (reply.random.choice(numbers) for _ in range(3))
    # Never the truth of a body that is not sent: the body breaks off.
    reply.status = "206 Partial Content"
    reply.set("Content-Range", reply.random.choice([f"bytes {first}-{last}/{total}", f"bytes */{total}", "bytes", "x"]))
    reply.length = None
    reply.cut()


def lies_about_the_length(reply):
    reply.raw_head = (
        f"HTTP/1.1 200 OK\r\nETag: {dict(reply.fields)['ETag']}\r\n"
        + reply.random.choice(
            [
                f"Content-Length: {len(reply.whole) + 1}\r\nContent-Length: {len(reply.whole)}\r\n",
                f"Content-Length: {2**63}\r\n", f"Content-Length: {2**64}\r\n", "Content-Length: -1\r\n",
                "Content-Length: 0x5\r\n", "Content-Length: 5 5\r\n", "Content-Length: 1, 2\r\n",
            ]
        )
        + "\r\n"
    ).encode()
    reply.cut()


def mangles_chunks(reply):
    size = reply.random.choice(["ffffffffffffffff", "7fffffffffffffff", "-1", "g", "", "0" * 100_000])
    coding = reply.random.choice(["chunked", "xchunked", "gzip", "gzip, chunked", "chunked, chunked"])
    reply.set("Transfer-Encoding", coding)
    reply.length = None
    reply.pieces = [f"{size}\r\n".encode(), reply.body[:10]]
    reply.closes = True


def sends_garbage(reply):
    reply.raw_head = reply.random.choice(
        [
            reply.random.randbytes(300), b"HTTP/1.1 200 " + b"x" * 150_000 + b"\r\n\r\n", b"HTTP/1.1 999999 x\r\n\r\n",
            b"HTTP/9.9 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 2000 + b"\r\n", b"\r\n\r\n", b"",
        ]
    )
    reply.pieces, reply.closes = [], True


def repeats_interim_answers(reply):
    reply.raw_head = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100 + reply.head_bytes()


def sends_a_coding_nobody_asked_for(reply):
    reply.set("Content-Encoding", reply.random.choice(["gzip", "br", "zstd", "deflate", "x"]))
    packed = zlib.compress(reply.body)
    reply.pieces, reply.length, reply.closes = [packed[: len(packed) // 2]], len(packed), True


def redirects_in_a_circle(reply):
    reply.status = "302 Found"
    reply.set("Location", reply.random.choice(["", "/", "//", "http://127.0.0.1:1/", "file:///etc/passwd", "/" * 5000]))
    reply.pieces, reply.length = [], 0


def says_more_than_it_announced(reply):
    reply.pieces = [reply.body, b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n" + UNASKED]
    reply.closes = reply.random.random() < 0.5


def changes_its_tag(reply):
    reply.set("ETag", reply.random.choice(['"other"', 'W/"weak"', "", '"', "x" * 70_000]))
    if reply.is_partial:
        reply.cut()


def sends_a_part_unasked(reply):
    if not reply.is_partial and len(reply.whole) > 1:
        half = len(reply.whole) // 2
        reply.status = "206 Partial Content"
        reply.set("Content-Range", f"bytes 0-{half - 1}/{len(reply.whole)}")
        reply.pieces, reply.length = [reply.whole[:half]], half


def sends_several_parts(reply):
    reply.status = "206 Partial Content"
    reply.fields = [f for f in reply.fields if f[0] != "Content-Range"]
    reply.set("Content-Type", "multipart/byteranges; boundary=b")
    reply.pieces, reply.length, reply.closes = [b"--b\r\n"], None, True


def dawdles(reply):
    size = max(1, len(reply.body) // 5)
    reply.pieces = [reply.body[i : i + size] for i in range(0, len(reply.body), size)]
    reply.pause = 0.01


LIES = [
    breaks_off, breaks_off, errs, lies_about_the_range, lies_about_the_length, mangles_chunks, sends_garbage,
    repeats_interim_answers, sends_a_coding_nobody_asked_for, redirects_in_a_circle, says_more_than_it_announced,
    changes_its_tag, sends_a_part_unasked, sends_several_parts, dawdles,
]
