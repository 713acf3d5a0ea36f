"""A daemon and a web site for each test that asks for one."""
from __future__ import annotations

from pathlib import Path
from typing import Iterator, List

import pytest

from daemon import Daemon
from site_server import Site
from xfer import _calls


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon of the test's own."""
    daemon = Daemon(tmp_path)
    daemon.start()
    yield daemon
    daemon.kill()


@pytest.fixture(params=["lines", "http"])
def server(request: pytest.FixtureRequest, daemon: Daemon) -> str:
    """The daemon's address, in each dialect."""
    return daemon.socket if request.param == "lines" else f"http+unix://{daemon.socket}"


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site on a loopback port."""
    site = Site()
    yield site
    site.close()


@pytest.fixture
def searches(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> List[Exception]:
    """The errors that made a client look for a daemon that was killed. It is started at that moment."""
    errors: List[Exception] = []

    def delay(_: _calls.Patience, error: Exception) -> float:
        errors.append(error)
        daemon.start()
        return 0.0

    monkeypatch.setattr(_calls.Patience, "delay", delay)
    return errors
