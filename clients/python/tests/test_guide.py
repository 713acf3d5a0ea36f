"""The Python blocks of the documents do what they say."""
from __future__ import annotations

import re
from pathlib import Path
from typing import Dict

import pytest

from daemon import Daemon
from site_server import Site

PROJECT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("document", ["docs/guide/python.md", "clients/python/README.md"])
def test_the_blocks_of_a_document_run(
    document: str, daemon: Daemon, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XFERD_SOCKET", daemon.socket)
    blocks = re.findall(r"```python\n(.*?)```", (PROJECT / document).read_text(encoding="utf-8"), re.DOTALL)
    names: Dict[str, object] = {}
    for block in blocks:
        code = block.replace("https://example.org/missing", f"{site.url}/missing")
        code = code.replace("https://example.org/", f"{site.url}/file/").replace(
            "/home/ada/Downloads", str(daemon.downloads))
        compiled = compile(code, document, "exec")
        # That server does not exist.
        if "xfer.example" not in code:
            exec(compiled, names)
    assert str(daemon.downloads / "big.iso") in capsys.readouterr().out
