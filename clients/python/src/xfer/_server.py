"""Where the daemon is: its socket, or the address of its listener."""
from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from typing import List, Mapping, Optional
from urllib.parse import unquote, urlsplit

SYSTEM_SOCKET = "/run/xferd/xferd.sock"


@dataclass(frozen=True)
class Server:
    """An address, and what is spoken there: a message a line, or HTTP."""

    is_http: bool
    socket: Optional[str] = None
    """The path of a Unix socket, in place of host and port."""
    host: str = "localhost"
    port: int = 0
    is_tls: bool = False
    prefix: str = ""
    """What precedes /rpc and /events in a path, for proxies."""

    def __str__(self) -> str:
        if self.socket is not None:
            return self.socket
        return f"{'https' if self.is_tls else 'http'}://{self.authority}{self.prefix}"

    @property
    def authority(self) -> str:
        """The field Host."""
        if self.socket is not None:
            return "localhost"
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.is_tls else 80) else f"{name}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Whether nobody on the way can read what is sent."""
        if self.socket is not None or self.is_tls or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def locate(environment: Mapping[str, str], uid: int) -> List[Server]:
    """The sockets to try, as xferctl does: XFERD_SOCKET, or the user's own daemon and then the system's."""
    named = environment.get("XFERD_SOCKET")
    if named:
        return [Server(False, named)]
    def absolute(name: str) -> Optional[str]:
        value = environment.get(name, "")
        return value if value.startswith("/") else None

    # A daemon without a session's runtime directory has its socket in the state directory.
    home = absolute("HOME")
    base = absolute("XDG_STATE_HOME") or (f"{home}/.local/state" if home else None)
    state = absolute("XFERD_STATE_DIR") or (f"{base}/xferd" if base else None)
    runtime = absolute("XDG_RUNTIME_DIR") or f"/run/user/{uid}"
    found = [f"{directory}/xferd.sock" for directory in (state, runtime) if directory]
    return [Server(False, path) for path in found + [SYSTEM_SOCKET]]


def parse_server(address: str) -> Server:
    """Reads a path, unix:///path, http+unix:///path, http://host[:port] or https://host[:port]."""
    if address.startswith("/"):
        return Server(False, address)
    expected = "expected a path, unix:///path, http+unix:///path, http://host:port or https://host:port"
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"server: {error} in {address!r}; {expected}") from None
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(f"server: user, query and fragment are not taken; {expected}")
    if parts.scheme in ("unix", "http+unix") and not parts.netloc and parts.path.startswith("/"):
        return Server(parts.scheme == "http+unix", unquote(parts.path))
    if parts.scheme in ("http", "https") and parts.hostname:
        is_tls = parts.scheme == "https"
        return Server(
            True, None, parts.hostname, port or (443 if is_tls else 80), is_tls, parts.path.rstrip("/"))
    raise ValueError(f"server: found {address!r}; {expected}")


def servers(address: Optional[str]) -> List[Server]:
    """The servers to try for an address, or for none."""
    return locate(os.environ, os.getuid()) if address is None else [parse_server(address)]


def advice(tried: List[str], has_address: bool) -> str:
    """A sentence that says what was tried and what the user can do."""
    hint = "is it running there?" if has_address else (
        'start one with "xferctl daemon start"')
    return f"no daemon answers: {', '.join(tried)}; {hint}"
