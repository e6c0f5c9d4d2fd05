"""The tables, and how a database with them is opened.

Everything about one database system and not the other is in this file.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError

from whybox.errors import StoreError, UsageError

VERSION = 1

Durability = Literal["normal", "full"]

_WRITES = "whybox_writes"

metadata = sa.MetaData()

meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("created", sa.BigInteger, nullable=False, comment="microseconds since 1970, UTC"),
    sa.Column("updated", sa.BigInteger, nullable=False, comment="microseconds since 1970, UTC"),
    sa.Column("events", sa.Integer, nullable=False, comment="how many, which is also the number of the last"),
    sa.Column("question", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("steps", sa.Integer, nullable=False),
    sa.Column("prompt_tokens", sa.BigInteger),
    sa.Column("completion_tokens", sa.BigInteger),
    sa.Index("runs_by_age", "created", "id"),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.BigInteger, nullable=False, comment="microseconds since 1970, UTC"),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False, comment="JSON"),
    sa.Column("prompt", sa.LargeBinary, comment="hash of the prompt's last node"),
)

event_texts = sa.Table(
    "event_texts",
    metadata,
    sa.Column("run", sa.Text, primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("field", sa.Text, primary_key=True),
    sa.Column("hash", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

prompt_nodes = sa.Table(
    "prompt_nodes",
    metadata,
    sa.Column("hash", sa.LargeBinary, primary_key=True),
    sa.Column("parent", sa.LargeBinary),
    sa.Column("text_hash", sa.LargeBinary, nullable=False),
    sa.Column("label", sa.LargeBinary, nullable=False, comment="name, role and tokens as JSON"),
    sqlite_with_rowid=False,
)

blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", sa.LargeBinary, primary_key=True, comment="SHA-256 of the text"),
    sa.Column("text", sa.LargeBinary, nullable=False, comment="UTF-8"),
)


class Database:
    """A database that holds runs: opened when it is first used, made when it is not there.

    Args:
        url_or_path: a file, or a URL such as ``postgresql://user@host/name``.
        durability: ``normal`` survives the death of the process, ``full`` also that of the machine. A PostgreSQL
            server has its own setting for this.
        busy_timeout: how long to wait for another process that is writing, in seconds.

    Raises:
        UsageError: there is no such kind of database, or its driver is not installed.
    """

    def __init__(self, url_or_path: str | Path, durability: Durability, busy_timeout: float) -> None:
        url = _url(url_or_path)
        is_file = url.get_backend_name() == "sqlite"
        self.name = str(url.database) if is_file else url.render_as_string(hide_password=True)
        options = {"timeout": busy_timeout} if is_file else {}
        try:
            self._engine = sa.create_engine(url, connect_args=options)
        except ImportError as error:
            raise UsageError(
                f"no driver for {url.drivername} is installed ({error.name} is missing)",
                f"pip install {error.name}, or name a file instead of a URL",
            ) from error
        # A name that begins with file: is a SQLite URI, whose own parameters say whether it may be made.
        self._file = Path(self.name) if is_file and not self.name.startswith("file:") else None
        if is_file:
            _prepare_sqlite(self._engine, durability)
            self.insert: Any = sqlite.insert
        else:
            self.insert = postgresql.insert
        self._writing = self._engine.execution_options(**{_WRITES: True})
        self._opening = Lock()
        self._ready = False

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """Return a context in which a connection sees the database as it is now."""
        return self._engine.begin()

    def writing(self) -> AbstractContextManager[sa.Connection]:
        """Return a context in which a connection may write; what it wrote is kept when the context ends well."""
        return self._writing.begin()

    def open(self) -> None:
        """Make folder, file and tables where they are missing. Calling it again costs nothing.

        Raises:
            StoreError: the database was made by a later version.
        """
        if self._ready:
            return
        with self._opening:
            self._make()
            self._ready = True

    def close(self) -> None:
        """Close all connections; they are opened again when needed."""
        self._engine.dispose()

    def _make(self) -> None:
        if self._file is not None:
            _make_private(self._file)
        with self.reading() as connection:
            found = sa.inspect(connection).has_table(meta.name)
        if not found:
            with self.writing() as connection:
                metadata.create_all(connection)
                version = {"name": "version", "value": str(VERSION)}
                connection.execute(self.insert(meta).on_conflict_do_nothing(), version)
        with self.reading() as connection:
            stored = connection.scalar(sa.select(meta.c.value).where(meta.c.name == "version"))
        if stored != str(VERSION):
            raise StoreError(
                f"{self.name} has its runs in format {stored}, and this version of whybox reads format {VERSION};"
                " nothing was changed",
                "install the version that made it, or name another file",
            )


def _url(url_or_path: str | Path) -> sa.URL:
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        if "\0" in str(url_or_path):
            raise UsageError("the store's file name contains a NUL character", "name another file")
        url = sa.URL.create("sqlite", database=os.path.abspath(url_or_path))  # noqa: PTH100 - Path("") would be "."
    else:
        try:
            url = sa.make_url(url_or_path)
            backend = url.get_backend_name()
        except ArgumentError as error:
            raise UsageError("the store's URL cannot be read", "write it as postgresql://user@host/name") from error
        if backend not in ("sqlite", "postgresql"):
            raise UsageError(f"runs cannot be kept in {backend}", "use a file, or postgresql://user@host/name")
        if backend == "sqlite" and url.database in (None, "", ":memory:"):
            raise UsageError("a SQLite database in memory would keep nothing", "name a file, or use MemoryStore")
    return url


def _make_private(file: Path) -> None:
    """Create folder and file for their owner's eyes only: they hold what people said."""
    missing = [folder for folder in file.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    try:
        # Only ever a file of our own making: closing one that SQLite has open would drop its locks.
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return


def _prepare_sqlite(engine: sa.Engine, durability: Durability) -> None:
    @sa.event.listens_for(engine, "connect")
    def set_up(connection: sqlite3.Connection, _: object) -> None:
        try:
            # Python's own transaction handling would begin too late, and never for reading.
            connection.isolation_level = None
            connection.execute("PRAGMA journal_mode = WAL").close()
            connection.execute(f"PRAGMA synchronous = {durability}").close()
        except BaseException:
            connection.close()
            raise

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # IMMEDIATE waits for other writers at once; a reader that starts to write cannot wait and would fail.
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
