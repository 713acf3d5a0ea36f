"""A TCP relay whose target changes, as the address of a name does in DNS rebinding."""
from __future__ import annotations

import socket
import threading


class Relay:
    """Passes connections of a loopback port on to another one."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def point_at(self, target: int) -> None:
        """Ends the connections. New ones lead to another port."""
        self._target = target
        for each in self._open:
            _shut(each)
        self._open.clear()

    def close(self) -> None:
        """Ends the relay."""
        _shut(self._listener)
        self._listener.close()
        self.point_at(0)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=_pass_on, args=(source, sink), daemon=True).start()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    try:
        while portion := source.recv(1 << 16):
            sink.sendall(portion)
    except OSError:
        pass
    _shut(sink)


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
