"""Between a client and a PostgreSQL server: everything is passed on, until an answer is not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from servers.own_folders import SHORT, own_folder
from servers.postgres import Server

_NAME = ".s.PGSQL.5432"


@dataclass
class Relay:
    """When a client has sent `word`, nothing that the server says is passed on. With `hang_up` the client is hung up on as soon as
    the server has answered."""

    server: Server
    folder: Path
    word: bytes
    hang_up: bool
    _heard: threading.Event = field(default_factory=threading.Event)
    _sockets: list[socket.socket] = field(default_factory=list)

    def address(self, of_server: str) -> str:
        return of_server.replace(str(self.server.folder), str(self.folder))

    def serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(str(self.server.folder / _NAME))
                self._sockets += [client, server]
                for work in (self._ask, self._answer):
                    threading.Thread(target=work, args=(client, server), daemon=True).start()

    def close(self) -> None:
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _ask(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                if self.word in data:
                    self._heard.set()
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _answer(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if not self._heard.is_set():
                    client.sendall(data)
                elif self.hang_up:
                    client.shutdown(socket.SHUT_RDWR)


@contextmanager
def relayed(server: Server, word: bytes, *, hang_up: bool) -> Iterator[Relay]:
    with own_folder("relay", SHORT) as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / _NAME))
        listener.listen()
        relay = Relay(server, folder, word, hang_up)
        threading.Thread(target=relay.serve, args=(listener,), daemon=True).start()
        try:
            yield relay
        finally:
            relay.close()
            listener.shutdown(socket.SHUT_RDWR)
