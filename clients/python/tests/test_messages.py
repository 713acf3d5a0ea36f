"""What needs no daemon: addresses, times, HTTP, records, the generator."""
from __future__ import annotations

import os
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import pytest

from xfer import _calls, _http, _server, records, rpc_errors
from xfer._values import UNSET, UnknownEvent, encode, parse_time
from xfer.errors import HTTPStatusError, ProtocolError, RPCError, UnavailableError

PROJECT = Path(__file__).resolve().parents[3]


def test_the_socket_is_found_as_xferctl_finds_it() -> None:
    def found(environment: "dict[str, str]") -> "list[str | None]":
        return [server.socket for server in _server.locate(environment, 1000)]

    assert found({"XFERD_SOCKET": "/a/s", "XDG_RUNTIME_DIR": "/b"}) == ["/a/s"]
    assert found({"XFERD_SOCKET": "", "XDG_RUNTIME_DIR": "/b"}) == ["/b/xferd.sock", "/run/xferd/xferd.sock"]
    assert found({"HOME": "/h", "XDG_RUNTIME_DIR": "/b"}) == [
        "/h/.local/state/xferd/xferd.sock", "/b/xferd.sock", "/run/xferd/xferd.sock"]
    assert found({"XFERD_STATE_DIR": "/s", "XDG_RUNTIME_DIR": "/b"})[0] == "/s/xferd.sock"
    assert found({"XDG_RUNTIME_DIR": "relative"}) == ["/run/user/1000/xferd.sock", "/run/xferd/xferd.sock"]


@pytest.mark.parametrize("address, text, authority", [
    ("/run/s", "/run/s", "localhost"),
    ("unix:///run/a%20b", "/run/a b", "localhost"),
    ("http+unix:///run/s", "/run/s", "localhost"),
    ("https://xfer.example", "https://xfer.example", "xfer.example"),
    ("https://xfer.example:6801/base/", "https://xfer.example:6801/base", "xfer.example:6801"),
    ("http://[::1]:6800", "http://[::1]:6800", "[::1]:6800"),
])
def test_addresses_are_read(address: str, text: str, authority: str) -> None:
    server = _server.parse_server(address)
    assert (str(server), server.authority) == (text, authority)


@pytest.mark.parametrize("address", [
    "", "relative", "unix://host/s", "ftp://a", "http://", "https://u:p@a", "http://a:x", "http://a:70000",
    "http://a?b",
])
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="server: .*expected a path"):
        _server.parse_server(address)


@pytest.mark.parametrize("host, is_private", [
    ("127.0.0.1", True), ("127.9.9.9", True), ("[::1]", True), ("localhost", True), ("192.0.2.1", False),
    ("localhost.example", False),
])
def test_only_loopback_is_private_without_tls(host: str, is_private: bool) -> None:
    assert _server.parse_server(f"http://{host}:6800").is_private is is_private


def test_times_are_read_with_any_precision() -> None:
    assert parse_time("2026-01-02T22:00:00Z") == datetime(2026, 1, 2, 22, tzinfo=timezone.utc)
    assert parse_time("2026-01-02T22:00:00.1234567Z").microsecond == 123456
    assert parse_time("2026-01-03T00:00:00+02:00") == datetime(2026, 1, 2, 22, tzinfo=timezone.utc)
    with pytest.raises(ValueError, match="expected a time"):
        parse_time("yesterday")


def test_parameters_are_encoded() -> None:
    moment = datetime(2026, 1, 2, 22, 0, 0, 5000, timezone.utc)
    assert encode({"a": UNSET, "b": None, "c": [moment], "d": {"e": Path("/f")}}) == {
        "b": None, "c": ["2026-01-02T22:00:00.005Z"], "d": {"e": "/f"}}
    for value in (float("nan"), b"bytes", "\udc80"):
        with pytest.raises(ValueError, match="task.add: the parameters cannot be written as JSON"):
            _calls.encode_call("task.add", {"meta": value}, 1)


def test_an_answer_is_an_error_of_its_code() -> None:
    with pytest.raises(rpc_errors.ConflictError):
        error = {"code": -32005, "message": "taken", "data": {"reason": "key_reused"}}
        _calls.decode_answer("task.add", {"error": error})
    with pytest.raises(RPCError) as caught:
        _calls.decode_answer("task.add", {"error": {"code": -1, "message": "later version", "data": 7}})
    assert (type(caught.value), caught.value.reason) == (RPCError, None)
    broken: "list[dict[str, object]]" = [{}, {"error": {}}, {"error": {"code": "x", "message": ""}}]
    for answer in broken:
        with pytest.raises(ProtocolError):
            _calls.decode_answer("task.add", answer)


def test_unknown_fields_and_events_are_ignored_and_missing_fields_are_not() -> None:
    wire = {"type": "task.invented", "time": "2026-01-02T22:00:00Z", "seq": 7, "task_id": 1, "colour": "red"}
    event = records.decode_event(wire)
    assert isinstance(event, UnknownEvent) and event.fields["colour"] == "red"
    known = records.decode_event({**wire, "type": "task.removed", "owner": 0})
    assert isinstance(known, records.TaskRemovedEvent)
    with pytest.raises(ProtocolError, match="owner"):
        _calls.decode_result("event", {**wire, "type": "task.removed"}, records.decode_event)


def whole_response(*parts: bytes) -> _http.ResponseReader:
    reader = _http.ResponseReader()
    for part in parts:
        reader.feed(part)
    return reader


@pytest.mark.parametrize("response, is_kept", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody", True),
    (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 4\r\nConnection: close\r\n\r\nbody", False),
    (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nbod\r\n1;x=y\r\ny\r\n0\r\nA: b\r\n\r\n", True),
])
def test_responses_are_read_however_they_are_cut(response: bytes, is_kept: bool) -> None:
    for cut in range(1, len(response)):
        reader = whole_response(response[:cut], response[cut:])
        assert (reader.is_complete, reader.take_body(), reader.keeps_connection) == (True, b"body", is_kept)
    single = whole_response(*(response[index:index + 1] for index in range(len(response))))
    assert single.take_body() == b"body"


def test_a_response_until_the_end_of_the_connection_is_read() -> None:
    reader = whole_response(b"HTTP/1.1 200 OK\r\n\r\nbo", b"dy")
    assert not reader.is_complete
    reader.feed(b"")
    assert (reader.is_complete, reader.take_body(), reader.keeps_connection) == (True, b"body", False)


@pytest.mark.parametrize("response", [
    b"SMTP ready\r\n\r\n", b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 20000,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFF\r\n",
])
def test_a_response_that_breaks_http_is_refused(response: bytes) -> None:
    with pytest.raises(ProtocolError):
        whole_response(response)


def test_a_response_that_ends_early_is_a_lost_connection() -> None:
    with pytest.raises(ConnectionError):
        whole_response(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbo", b"")


def test_an_answer_without_json_rpc_is_an_error_of_its_status() -> None:
    with pytest.raises(UnavailableError, match="503: starting"):
        _http.decode_response(whole_response(b"HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nstarting\n"))
    with pytest.raises(HTTPStatusError):
        _http.decode_response(whole_response(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
    large = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"large"},"id":null}'
    head = b"HTTP/1.1 413 No\r\nContent-Length: %d\r\n\r\n" % len(large)
    answer = _http.decode_response(whole_response(head, large))
    assert answer["error"]["code"] == -32600


def test_server_sent_events_are_read_however_they_are_cut() -> None:
    stream = b': xferd\n\nid: 1\nevent: a\ndata: {"seq":1}\n\ndata: {"seq":\ndata: 2}\r\n\r\n'
    for cut in range(1, len(stream)):
        reader = _http.EventStreamReader()
        assert reader.feed(stream[:cut]) + reader.feed(stream[cut:]) == [{"seq": 1}, {"seq": 2}]


def test_the_generated_files_are_what_the_document_says(tmp_path: Path) -> None:
    generator = PROJECT / "scripts/generate-python-client"
    subprocess.run([generator, "--check"], check=True)
    for name in ("scripts", "rpc-schema"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    shutil.copytree(PROJECT / "clients/python/src", tmp_path / "clients/python/src")
    document = tmp_path / "rpc-schema/openrpc.json"
    document.write_text(document.read_text().replace('"Adds one task ', '"Adds a single task ', 1))
    stale = subprocess.run([tmp_path / "scripts/generate-python-client", "--check"], capture_output=True, text=True)
    assert stale.returncode == 1
    assert "run scripts/generate-python-client" in stale.stderr and "+++ generated" in stale.stdout
    assert os.path.getsize(tmp_path / "clients/python/src/xfer/methods.py") == os.path.getsize(
        PROJECT / "clients/python/src/xfer/methods.py")
