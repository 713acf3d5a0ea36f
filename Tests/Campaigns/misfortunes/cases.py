"""What users of other programs have reported: honest servers, and what becomes of the same job."""

import dataclasses
import random

from unlucky_server import (
    OTHER_HOST, UnluckyServer, at_most, away, cached, cookie, expiring, file, location, page, ranged, redirect, rotating)

MIB = 1 << 20
SIZE = 3 * MIB
SEVERAL = tuple(f"/file{number}.iso" for number in range(6))
SIGN_IN = b"<html><title>Sign in</title><form method=post action=/login>Accept the terms</form></html>"

GOOD = file()
#: The connection ends in the middle of the file.
HALF = file(stop=SIZE // 2)
PORTAL = page(200, SIGN_IN)
EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
OLD = random.Random("old").randbytes(SIZE)
DATE = "Wed, 01 Jan 2025 00:00:00 GMT"
NODES = [f'"node-{number}"' for number in range(3)]

#: For servers that fall silent, and for those that dawdle: each program's own measure against it.
SILENCE = {
    "xfer": ["--idle-timeout", "3s"], "curl": ["--speed-limit", "1", "--speed-time", "3"], "wget": ["--timeout=3"],
    "aria2c": ["--timeout=3"],
}
LEAST_RATE = {
    "xfer": ["--min-rate", "10K", "--min-rate-time", "3s"], "curl": ["--speed-limit", "10000", "--speed-time", "3"],
    "aria2c": ["--lowest-speed-limit=10K"],
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A job of one or more URLs, and the answers that it gets."""

    #: The row of the issue.
    row: str
    name: str
    routes: dict
    size: int = SIZE
    paths: tuple = ("/file.iso",)
    #: The files without which the job has failed; None: those of all paths.
    expected: tuple | None = None
    #: The program names the file.
    is_named_by_server: bool = False
    #: Programs that verify a digest get it.
    has_digest: bool = False
    #: The path of the same bytes at another host, for programs that take several URLs.
    mirror: str | None = None
    scheme: str = "http"
    has_certificate: bool = False
    is_trusted: bool = True
    #: A name with ::1, where nothing answers, and 127.0.0.1.
    name_of_host: str | None = None
    is_silent_on_ipv6: bool = False
    uses_proxy: bool = False
    #: What is there under the file's name before the job.
    existing: bytes | None = None
    #: False where an early end with a reason is all that can be had.
    can_succeed: bool = True
    #: Why xfer declines what other programs take.
    declined: str = ""
    #: Further options of each program.
    options: dict = dataclasses.field(default_factory=dict)
    limit: float = 20

    def server(self, certificate):
        return UnluckyServer(
            self.routes, self.size, certificate if self.has_certificate else None, self.is_silent_on_ipv6)

    @property
    def names(self):
        return self.expected or tuple(path.rsplit("/", 1)[1].split("?")[0] for path in self.paths)


def one(row, name, *answers, **details):
    """A case with one file, and the answers to its requests."""
    routes = {"/file.iso": list(answers), "/login": [PORTAL], **details.pop("routes", {})}
    return Case(row, name, routes, **details)


CASES = [
    # Breaks.
    one("U1", "breaks each MiB", file(most=MIB), size=18 * MIB),
    one("U1", "resets each MiB", file(most=MIB, end="reset"), size=18 * MIB),
    one("U1", "18 interruptions by the user", file(most=MIB // 8, end="hold"), size=19 * MIB // 8),
    one("U1", "no answer twice, then the file", *[file(stop=0, end="reset")] * 2, GOOD),
    one("U1", "500, 502 and 504, then the file", page(500), page(502), page(504), GOOD),
    one("U1", "ranges are ignored after a break", HALF, file(ranges=False)),
    one("U1", "a new version after half", file(content=OLD, tag='"old"', stop=SIZE // 2), GOOD),
    one("U1", "no answer at all for two seconds after half", away(2, HALF), GOOD),
    one("U1", "breaks each MiB, only Last-Modified", file(most=MIB, tag=None, Last_Modified=DATE), size=6 * MIB),
    one("U1", "breaks each MiB, weak ETag and Last-Modified", file(most=MIB, tag='W/"1"', Last_Modified=DATE), size=6 * MIB,
        declined="a weak tag forbids If-Range with a date (RFC 9110 §13.1.5)"),
    one("U1", "breaks each MiB, ETag without quotes", file(most=MIB, tag="5f2a90c1"), size=6 * MIB),
    one("U1", "breaks each MiB, no validator, unsafe", file(most=MIB, tag=None), size=6 * MIB,
        options={"xfer": ["--resume", "unsafe"]}),
    one("U1", "breaks each MiB, no validator, with a digest", file(most=MIB, tag=None), size=6 * MIB, has_digest=True),
    one("U1", "breaks each MiB, no validator", file(most=MIB, tag=None), size=6 * MIB,
        declined="nothing shows that the rest is of the same version; --resume unsafe takes it"),
    one("U1", "breaks each MiB, no ETag with a part", file(most=MIB, part_is_bare=True), size=6 * MIB),
    one("U1", "breaks each MiB, no Last-Modified with a part", file(most=MIB, tag=None, part_is_bare=True, Last_Modified=DATE),
        size=6 * MIB),
    one("U1", "breaks each MiB, Accept-Ranges: none", file(most=MIB, Accept_Ranges="none"), size=6 * MIB),
    one("U1", "416 without a length for each range", HALF, ranged(page(416))),
    one("U1", "403 for each range", HALF, ranged(page(403))),
    one("U1", "500 for each range", HALF, ranged(page(500))),
    # Odd heads.
    one("U1", "Content-Encoding: gzip that nobody asked for", file(Content_Encoding="gzip")),
    one("U1", "Content-Encoding: binary", file(Content_Encoding="binary")),
    one("U1", "Content-Length beside chunks", file(framing="chunked", Content_Length=str(SIZE)),
        declined="an error by RFC 9112 §6.3"),
    one("U1", "Transfer-Encoding: identity", file(Transfer_Encoding="identity")),
    one("U1", "reset behind the last byte", file(never_ends=True, end="reset")),
    one("U5", "redirect to itself with a cookie", cookie()),
    one("U5", "redirect with a space", location("/a file.iso"), routes={"/a file.iso": [GOOD]}),
    one("U5", "redirect with raw UTF-8", location("/\u00c3\u00a9.iso"), routes={"/\u00c3\u00a9.iso": [GOOD]}),
    one("U5", "redirect with a relative name", location("other.iso"), routes={"/other.iso": [GOOD]}),
    Case("U5", "closes each connection without a word", dict.fromkeys(SEVERAL, [file(closes=True)]), paths=SEVERAL),
    # Something else in place of the rest.
    one("U2", "redirect to a sign-in page after half", HALF, *[redirect("/login")] * 2, GOOD),
    one("U2", "redirect to a sign-in page after half, with a digest", HALF, *[redirect("/login")] * 2, GOOD,
        has_digest=True),
    one("U2", "sign-in page after half", HALF, PORTAL, PORTAL, GOOD),
    one("U2", "511 after half", HALF, page(511, SIGN_IN), page(511, SIGN_IN), GOOD),
    one("U2", "sign-in page first", redirect("/login"), GOOD, options={"xfer": ["--reject-html"]}),
    one("U2", "sign-in page first, with a digest", redirect("/login"), GOOD, has_digest=True),
    one("U2", "empty 200 after half", HALF, page(200), page(200), GOOD),
    one("U2", "204 after half", HALF, page(204), GOOD),
    one("U2", "shorter copy after half", HALF, *[file(content=OLD[:MIB], tag=None, ranges=False)] * 2, GOOD),
    one("U2", "a JSON error after half", HALF, page(200, b'{"error": "quota"}', Content_Type="application/json"), GOOD),
    one("U2", "206 without Content-Range after half", HALF, page(206, OLD[:1000]), GOOD),
    # Ends of bodies.
    one("U3", "reset after half, no length", file(stop=SIZE // 2, framing="close", end="reset"), GOOD),
    one("U3", "closed after half, no length, with a digest", file(stop=SIZE // 2, framing="close"), GOOD, has_digest=True),
    one("U3", "closed after half, chunked", file(stop=SIZE // 2, framing="chunked"), GOOD),
    one("U3", "the last chunk is always missing", file(framing="chunked", never_ends=True)),
    one("U3", "the last chunk is always missing, with a digest", file(framing="chunked", never_ends=True), has_digest=True),
    one("U3", "TLS, after half no close_notify, no length", file(stop=SIZE // 2, framing="close"),
        file(framing="close"), scheme="https", has_certificate=True),
    one("U3", "TLS, never close_notify, no length, with a digest", file(framing="close", never_ends=True),
        scheme="https", has_certificate=True, has_digest=True),
    one("U3", "TLS, breaks each MiB", file(most=MIB), size=8 * MIB, scheme="https", has_certificate=True),
    # Addresses.
    one("U4", "::1 is silent", GOOD, name_of_host="unlucky.test", is_silent_on_ipv6=True, options=SILENCE),
    one("U4", "::1 refuses", GOOD, name_of_host="unlucky.test"),
    # Refusals that pass, and redirectors.
    one("U5", "403 twice after half", HALF, page(403), page(403), GOOD),
    one("U5", "404 twice after half", HALF, page(404), page(404), GOOD),
    one("U5", "redirector with one bad mirror", redirect("/gone/file.iso", OTHER_HOST),
        redirect("/good/file.iso", OTHER_HOST), routes={"/good/file.iso": [GOOD]}),
    one("U5", "redirector with one bad mirror after half", redirect("/good/file.iso", OTHER_HOST),
        redirect("/gone/file.iso", OTHER_HOST), redirect("/good/file.iso", OTHER_HOST),
        routes={"/good/file.iso": [HALF, GOOD]}),
    # Signed URLs, of which the user gets a new one.
    *(one("U6", f"expired: {label}", expiring(page(status, body)), paths=("/file.iso?X-Amz-Signature=old",))
      for label, status, body in [
          ("403 of S3", 403, EXPIRED), ("400 of GCS", 400, EXPIRED), ("410", 410, b""), ("404", 404, b"")]),
    # Nodes.
    one("U7", "nodes with other ETags break each MiB, with a digest", rotating(*(file(most=MIB, tag=tag) for tag in NODES)),
        size=6 * MIB, has_digest=True),
    one("U7", "nodes with other ETags break each MiB, unsafe", rotating(*(file(most=MIB, tag=tag) for tag in NODES)),
        size=6 * MIB, options={"xfer": ["--resume", "unsafe"]}),
    one("U7", "one node has the old version, with a digest", HALF, file(content=OLD, tag='"old"'), GOOD, has_digest=True),
    # Slow ones.
    one("U8", "stalls after half", file(stop=SIZE // 2, end="stall"), GOOD, options=SILENCE),
    one("U8", "trickles after half", file(stop=SIZE // 2, end="trickle"), GOOD, options=LEAST_RATE),
    one("U8", "trickling mirror beside a fast one", file(stop=MIB // 4, end="trickle"), mirror="/fast/file.iso",
        routes={"/fast/file.iso": [GOOD]}, options=LEAST_RATE | {"xfer": [*LEAST_RATE["xfer"], "--segments", "2"]}),
    # What cannot succeed: how soon is it said?
    one("U9", "certificate of an unknown authority", GOOD, scheme="https", has_certificate=True, is_trusted=False,
        can_succeed=False, limit=10),
    one("U16", "http to a TLS port", GOOD, has_certificate=True, can_succeed=False, limit=10),
    one("U16", "TLS to an http port", GOOD, scheme="https", can_succeed=False, limit=10),
    # Too many at once.
    one("U10", "429 twice without Retry-After", page(429), page(429), GOOD),
    *(Case("U10", f"two connections an address, else {status}",
           dict.fromkeys(SEVERAL, [at_most(2, page(status), pause=0.01)]), paths=SEVERAL) for status in (403, 503)),
    one("U11", "503 with Retry-After: 2", page(503, Retry_After="2"), GOOD),
    Case("U11", "503 with Retry-After: 1800 beside five others",
         {"/file0.iso": [page(503, Retry_After="1800")], **dict.fromkeys(SEVERAL[1:], [GOOD])}, paths=SEVERAL,
         expected=tuple(path[1:] for path in SEVERAL[1:])),
    one("U12", "a portal's 404 first", page(404, SIGN_IN), GOOD),
    # Names.
    Case("U13", "name of the last URL",
         {"/latest": [redirect("/tool-1.2.iso")], "/tool-1.2.iso": [GOOD]}, paths=("/latest",), expected=("tool-1.2.iso",),
         is_named_by_server=True),
    Case("U13", "name of Content-Disposition",
         {"/download.php": [file(Content_Disposition="attachment; filename=\"tool-1.2.iso\"")]},
         paths=("/download.php?id=7",), expected=("tool-1.2.iso",), is_named_by_server=True),
    # Digests and caches.
    one("U14", "stale cache, with a digest", cached({"content": OLD, "tag": '"old"'}), has_digest=True),
    one("U14", "wrong Content-MD5", file(Content_MD5="1B2M2Y8AsgTpgAmY7PhCfg=="),
        options={"xfer": ["--announced-digests", "ignore"]}),
    one("U15", "proxy answers 502 twice", page(502), page(502), GOOD, uses_proxy=True),
    one("W5", "corrupt file there, with a digest", GOOD, has_digest=True, existing=OLD,
        options={"xfer": ["--on-conflict", "overwrite"]}),
    one("W5", "corrupt file there, with a digest, and it is to stay", GOOD, has_digest=True, existing=OLD, can_succeed=False,
        options={"xfer": ["--on-conflict", "skip"], "wget": ["-nc"]}, limit=10),
]
