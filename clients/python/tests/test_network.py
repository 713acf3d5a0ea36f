"""HTTP over TCP and TLS, with tokens, before a real daemon."""
from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Iterator

import pytest

import xfer
from daemon import Daemon
from relay import Relay, certificate
from site_server import Site

TOKEN = "b25lIHRva2Vu"


@pytest.fixture
def relay(tmp_path: Path, daemon: Daemon) -> Iterator[Relay]:
    relay = Relay(daemon.socket, tls=certificate(tmp_path), token=TOKEN)
    yield relay
    relay.close()


@pytest.fixture
def tls(relay: Relay, tmp_path: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))


def test_a_token_over_tls_downloads_and_follows(relay: Relay, tls: ssl.SSLContext, site: Site, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN + "\n")
    with xfer.Client(f"https://localhost:{relay.port}", token_file=str(tmp_path / "token"), tls=tls) as client:
        with client.follow(types="task.completed", idle_timeout=60) as events:
            task = client.add(f"{site.url}/file")
            assert task.wait(timeout=60).state == "completed"
            relay.cut()
            assert next(events).task_id == task.id
        assert client.attach(task.id).get().state == "completed"


def test_a_token_over_tls_serves_asyncio(relay: Relay, tls: ssl.SSLContext, site: Site) -> None:
    async def run() -> None:
        async with xfer.AsyncClient(f"https://localhost:{relay.port}", token=TOKEN, tls=tls) as client:
            async with client.follow(types="task.completed", idle_timeout=60) as events:
                task = await client.add(f"{site.url}/file")
                assert (await task.wait(timeout=60)).state == "completed"
                relay.cut()
                assert (await events.__anext__()).task_id == task.id

    asyncio.run(run())


def test_a_wrong_token_raises(relay: Relay, tls: ssl.SSLContext) -> None:
    with xfer.Client(f"https://localhost:{relay.port}", token="wrong", tls=tls) as client:
        with pytest.raises(xfer.UnauthorizedError) as caught:
            client.daemon.status()
        assert caught.value.status == 401
        with pytest.raises(xfer.UnauthorizedError):
            client.follow(since=0).__next__()


def test_a_certificate_that_is_not_trusted_is_refused(relay: Relay) -> None:
    with xfer.Client(f"https://localhost:{relay.port}", token=TOKEN) as client:
        with pytest.raises(xfer.NoDaemonError, match="CERTIFICATE_VERIFY_FAILED|certificate"):
            client.daemon.status()


def test_another_name_than_the_certificate_s_is_refused(relay: Relay, tls: ssl.SSLContext) -> None:
    with xfer.Client(f"https://127.0.0.1:{relay.port}", token=TOKEN, tls=tls) as client:
        with pytest.raises(xfer.NoDaemonError):
            client.daemon.status()


def test_plain_http_on_loopback_takes_a_token(daemon: Daemon) -> None:
    relay = Relay(daemon.socket, token=TOKEN)
    with xfer.Client(f"http://127.0.0.1:{relay.port}", token=TOKEN) as client:
        assert client.daemon.status().degraded is False
    relay.close()


def test_a_token_is_not_shown_to_the_network() -> None:
    with pytest.raises(ValueError, match="use https"):
        xfer.Client("http://xfer.example:6800", token=TOKEN)
    xfer.Client("http://xfer.example:6800", token=TOKEN, insecure=True)
    xfer.Client("https://xfer.example:6801", token=TOKEN)


@pytest.mark.parametrize("token", ["", "one two", "a\r\nX: y", "é"])
def test_a_token_that_is_no_field_value_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token"):
        xfer.Client("https://xfer.example", token=token)
