"""Programs of other projects, against xferd's dialect of aria2."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import xmlrpc.client
from pathlib import Path

import aria2p
import pytest
import websocket

from conftest import Site
from daemon import PROGRAMS, Daemon, until


def api(daemon: Daemon, scope: str = "own") -> aria2p.API:
    return aria2p.API(aria2p.Client(host="http://127.0.0.1", port=daemon.port, secret=daemon.token(scope)))


def test_a_download_is_added_seen_and_completed(daemon: Daemon, site: Site) -> None:
    client = api(daemon)
    download = client.add_uris([site.url("5000.bin")], options={"out": "a.bin", "header": "X-Test: yes"})
    until("it completes", lambda: download.live.is_complete)
    assert (download.total_length, download.completed_length) == (5000, 5000)
    assert download.files[0].path == daemon.downloads / "a.bin"
    assert (daemon.downloads / "a.bin").stat().st_size == 5000
    assert site.headers[0]["X-Test"] == "yes"
    assert [found.gid for found in client.get_downloads()] == [download.gid]


def test_a_running_download_is_paused_resumed_limited_and_removed(daemon: Daemon, site: Site) -> None:
    client = api(daemon)
    download = client.add_uris([site.url("slow")])
    until("bytes arrive", lambda: download.live.is_active and download.completed_length > 0)
    assert client.get_stats().num_active == 1
    download.options.max_download_limit = 50_000
    assert client.get_options([download])[0].max_download_limit == 50_000
    assert download.pause()
    until("it is paused", lambda: download.live.is_paused)
    with pytest.raises(aria2p.ClientException, match="cannot be paused now"):
        client.client.pause(download.gid)
    assert download.resume()
    until("it runs again", lambda: download.live.is_active)
    assert client.client.remove(download.gid) == download.gid
    assert download.live.status == "removed"
    assert client.client.remove_download_result(download.gid) == "OK"
    assert client.get_downloads() == []
    task = daemon.call("task.list", {"fields": ["state"]})["tasks"]
    assert [found["state"] for found in task] == ["cancelled"], "only the dialect hides the result"


def test_a_failure_has_its_number(daemon: Daemon, site: Site) -> None:
    download = api(daemon).add_uris([site.url("missing")])
    until("it fails", lambda: download.live.has_failed)
    assert download.error_code == "3"
    assert "404" in download.error_message


def test_the_smallest_scope_adds_and_sees_nothing(daemon: Daemon, site: Site) -> None:
    client = api(daemon, "add").client
    gid = client.add_uri([site.url("100.bin")])
    with pytest.raises(aria2p.ClientException, match="scope"):
        client.tell_status(gid)
    with pytest.raises(aria2p.ClientException, match="scope"):
        client.remove(gid)
    assert client.get_version()["version"]


def test_limits_of_the_service_need_operate(daemon: Daemon) -> None:
    with pytest.raises(aria2p.ClientException, match="operate"):
        api(daemon).client.change_global_option({"max-concurrent-downloads": "2"})
    client = api(daemon, "operate").client
    assert client.change_global_option({"max-concurrent-downloads": "2", "max-overall-download-limit": "1M"}) == "OK"
    options = client.get_global_option()
    assert (options["max-concurrent-downloads"], options["max-overall-download-limit"]) == ("2", "1048576")


def test_other_tasks_of_the_user_are_not_shown(daemon: Daemon, site: Site) -> None:
    daemon.call("task.add", {"url": site.url("1"), "paused": True})
    daemon.call("task.add", {"url": site.url("2"), "paused": True, "group": "aria2"})
    assert len(api(daemon).get_downloads()) == 1


def test_a_websocket_answers_and_notifies(daemon: Daemon, site: Site) -> None:
    token = daemon.token("own")
    socket = websocket.create_connection(f"ws://127.0.0.1:{daemon.port}/jsonrpc", timeout=30)

    def call(method: str, *params: object) -> object:
        socket.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": [f"token:{token}", *params]}))
        while "id" not in (message := json.loads(socket.recv())):
            notes.append(message)
        return message["result"]

    notes: list[dict[str, object]] = []
    assert call("aria2.saveSession") == "OK"
    gid = call("aria2.addUri", [site.url("100.bin")])
    while not any(note["method"] == "aria2.onDownloadComplete" for note in notes):
        notes.append(json.loads(socket.recv()))
    assert [note["method"] for note in notes] == ["aria2.onDownloadStart", "aria2.onDownloadComplete"]
    assert all(note["params"] == [{"gid": gid}] for note in notes)


def test_xml_calls_work(daemon: Daemon, site: Site) -> None:
    token = "token:" + daemon.token("own")
    server = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{daemon.port}/aria2/rpc")
    gid = server.aria2.addUri(token, [site.url("10.bin")], {"pause": "true", "out": "a & b"})
    assert server.aria2.tellStatus(token, gid, ["gid", "status"]) == {"gid": gid, "status": "paused"}
    with pytest.raises(xmlrpc.client.Fault, match="not found"):
        server.aria2.tellStatus(token, "0123456789abcdef")


def program(daemon: Daemon) -> Path:
    """xferctl under the name by which it takes aria2c's command line."""
    link = Path(daemon.downloads).with_name("xfer-aria2c")
    if not link.is_symlink():
        link.symlink_to(PROGRAMS / "xferctl")
    return link


def run(daemon: Daemon, *words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XFERD_SOCKET": daemon.socket}
    return subprocess.run(
        [program(daemon), *words], cwd=daemon.downloads, env=environment, capture_output=True, text=True,
        timeout=60)


def test_the_command_line_downloads_and_ends_as_aria2c(daemon: Daemon, site: Site) -> None:
    done = run(daemon, "-x4", "-d", "sub", "-o", "a.bin", site.url("100000.bin"))
    assert (done.returncode, done.stderr) == (0, "")
    assert (daemon.downloads / "sub" / "a.bin").stat().st_size == 100_000
    failed = run(daemon, site.url("missing"))
    assert failed.returncode == 3 and "404" in failed.stderr
    wrong = run(daemon, f"--checksum=sha-256={'0' * 64}", site.url("10.bin"))
    assert wrong.returncode == 32
    refused = run(daemon, "--check-certificate=false", site.url("10.bin"))
    assert refused.returncode == 28 and "check-certificate" in refused.stderr


def test_yt_dlp_downloads_with_it(daemon: Daemon, site: Site) -> None:
    words = [sys.executable, "-m", "yt_dlp", "--downloader", str(program(daemon)), "-o", "v.%(ext)s",
             site.url("300000.mp4")]
    environment = os.environ | {"XFERD_SOCKET": daemon.socket}
    done = subprocess.run(words, cwd=daemon.downloads, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found = [path for path in Path(daemon.downloads).iterdir() if path.stat().st_size == 300_000]
    assert [path.name for path in found] == ["v.mp4"], done.stdout + done.stderr
    assert len(daemon.call("task.list", {})["tasks"]) == 1
