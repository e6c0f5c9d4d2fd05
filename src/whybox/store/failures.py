"""What went wrong in a database, in one sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from whybox.errors import StoreError
from whybox.store.codec import plain

_REASONS = {
    sqlite3.SQLITE_BUSY: ("another program has locked it", "end that program or wait for it, then try again"),
    sqlite3.SQLITE_LOCKED: ("another program has locked it", "end that program or wait for it, then try again"),
    sqlite3.SQLITE_READONLY: ("it may only be read", "make it writable, or name another file"),
    sqlite3.SQLITE_PERM: ("it may only be read", "make it writable, or name another file"),
    sqlite3.SQLITE_FULL: ("the disk is full", "make room, then try again"),
    sqlite3.SQLITE_IOERR: ("the disk does not read or write", "check the disk and the room on it, then try again"),
    sqlite3.SQLITE_CORRUPT: ("it is damaged", "put a copy in its place, or name another file"),
    sqlite3.SQLITE_NOTADB: ("it is not a database", "name another file"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check the folder and who may write to it"),
}


@contextmanager
def explained(doing: str, place: str, kept: str) -> Iterator[None]:
    """Turn failures of the database or the file system into one clear error.

    Args:
        doing: what could not be done, such as ``run r cannot be stored``.
        place: the file, or the URL without its password.
        kept: what is still there.

    Raises:
        StoreError: with reason, what was kept, and what to do.
    """
    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        reason, hint = _reason(error)
        raise StoreError(f"{doing} in {place}: {reason}; {kept}", hint) from error


def _reason(error: SQLAlchemyError | OSError) -> tuple[str, str]:
    if isinstance(error, OSError):
        return f"{error.strerror or error}".lower(), "check the path, who may write there, and the room on the disk"
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorcode", None)
    # The low byte is the kind; the rest tells its varieties apart.
    if code is not None and code & 0xFF in _REASONS:
        return _REASONS[code & 0xFF]
    return f"the database says {plain(str(cause), 160)!r}", "check that it runs and can be reached, then try again"
