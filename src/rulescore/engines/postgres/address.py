"""Connects to the PostgreSQL server at an address. No message of ours shows its password."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from rulescore.errors import Diagnostic, InputError

_CONNECT_SECONDS = 30

# Defaults for what the address does not set. With these we notice within two minutes that a server has vanished.
_SETTINGS = {"application_name": "rulescore", "keepalives_idle": 60, "keepalives_interval": 10, "keepalives_count": 6}


def connected(url: str) -> psycopg.Connection:
    """A connection to the server at an address."""
    known = _address(url)
    if not known.get("connect_timeout") and "PGCONNECT_TIMEOUT" not in os.environ:
        known["connect_timeout"] = _CONNECT_SECONDS
    for name, value in _SETTINGS.items():
        known.setdefault(name, value)
    try:
        return psycopg.connect(**known, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        notes = tuple(line.strip() for line in str(error).splitlines() if line.strip())
        raise InputError(Diagnostic("E912", f"no connection to `{_shown(known)}`", notes=notes)) from None


def _shown(known: Mapping[str, Any]) -> str:
    """The address of a server, with its place and user but without other parameters such as the password."""
    host, port = str(known.get("host") or ""), str(known.get("port") or "")
    apart = "/" in host or "," in host  # a folder, or several servers
    user = f"{known['user']}@" if known.get("user") else ""
    place = "" if apart else f"{host}:{port}" if port else host
    given = {"host": host if apart else "", "port": port if apart else "", "service": known.get("service")}
    rest = "&".join(f"{name}={value}" for name, value in given.items() if value)
    return f"postgresql://{user}{place}/{known.get('dbname') or ''}" + (f"?{rest}" if rest else "")


def _address(url: str) -> dict[str, Any]:
    """The parts of an address. If it cannot be parsed we hide the library's own message, which may quote a password."""
    try:
        known = dict(conninfo_to_dict(url))
    except (psycopg.Error, UnicodeError):
        known = {"port": "?"}
    server, _, rest = url.partition("://")[2].partition("/")
    misplaced = server.count("@") > 1 or "@" in rest.partition("?")[0]
    if misplaced or not all(port.isdigit() for port in str(known.get("port") or "").split(",") if port):
        helps = (
            "write it like `postgresql://user@host:5432/database`",
            "the password may stand in PGPASSWORD or in ~/.pgpass; in an address, `@` and `/` of it are written `%40` and `%2F`",
        )
        raise InputError(Diagnostic("E912", "the address of the server cannot be understood", helps=helps))
    return known
