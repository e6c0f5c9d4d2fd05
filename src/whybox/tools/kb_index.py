"""The file of a knowledge base: its tables, and connections to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from whybox.errors import StoreError
from whybox.tools.segmentation import TOKENIZER

_FORMAT: Final = "whybox knowledge base 1"
_WAIT_SECONDS: Final = 20.0

_SCHEMA: Final = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE source (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, title TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE passage (
  id INTEGER PRIMARY KEY, source_id INTEGER NOT NULL REFERENCES source(id), line INTEGER NOT NULL,
  heading TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX passage_of_source ON passage(source_id);
CREATE VIRTUAL TABLE indexed USING fts5(title, heading, body, tokenize = '{TOKENIZER}');
CREATE VIRTUAL TABLE term USING fts5vocab(indexed, row);
"""


class IndexFile:
    """A knowledge base file. Each connection is used by one thread; the file may be read while it is written.

    Args:
        path: the file; it is created when something is first written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """Give a connection for reading, or None when there is no file yet.

        Raises:
            StoreError: the file is not a knowledge base, or is damaged.
        """
        with self._explained("read"):
            self._check_file()
            if not self.path.exists():
                yield None
                return
            with closing(self._open_for_reading()) as db:
                db.execute("BEGIN")  # one state of the file for all that is read
                yield db if _is_ours(db, self.path) else None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for writing; the file and its folder are made when they are missing.

        Raises:
            StoreError: the file cannot be written, or is not a knowledge base, or the disk is full.
        """
        with self._explained("write"):
            self._check_file()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(_connect(str(self.path))) as db:
                if not _is_ours(db, self.path):
                    _create(db)
                yield db

    def _check_file(self) -> None:
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a folder, not a knowledge base", "name a file with --kb-file")

    def _open_for_reading(self) -> sqlite3.Connection:
        uri = self.path.absolute().as_uri()
        # not mode=ro, which would leave the files of the write-ahead log behind
        db = _connect(f"{uri}?mode=rw")
        db.execute("PRAGMA query_only = 1")
        try:
            db.execute("SELECT 1 FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            db.close()
            # where nobody may write there is no place for these files, and nobody who changes anything
            return _connect(f"{uri}?immutable=1")
        return db

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _explain(error, self.path, what) from error
        except OSError as error:
            raise StoreError(f"cannot {what} the knowledge base {self.path}: {error.strerror or error}") from error


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Do all of the block or, when anything is raised in it (Ctrl-C too), nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back by itself after some errors, such as a full disk
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _connect(name: str) -> sqlite3.Connection:
    db = sqlite3.connect(name, timeout=_WAIT_SECONDS, isolation_level=None, uri=name.startswith("file:"))
    db.execute("PRAGMA mmap_size = 1073741824")
    return db


def _is_ours(db: sqlite3.Connection, path: Path) -> bool:
    """Whether the file has the tables of a knowledge base; False for an empty file.

    Raises:
        StoreError: it has other tables, or those of another version.
    """
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return False
    with suppress(sqlite3.OperationalError):
        if db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() == (_FORMAT,):
            return True
    raise StoreError(
        f"{path} is not a knowledge base of this version of whybox; it was left as it is",
        "name another file with --kb-file",
    )


def _create(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    with transaction(db):
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,):  # else another process was faster
            for statement in _SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute("INSERT INTO meta VALUES ('format', ?)", (_FORMAT,))


def _explain(error: sqlite3.DatabaseError, path: Path, what: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & 0xFF
    if primary == sqlite3.SQLITE_FULL:
        return StoreError(f"the disk is full; what was already in the knowledge base {path} is kept", "free some space")
    if primary in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
        return StoreError(
            f"{path} is not a knowledge base, or it is damaged; it was left as it is",
            "move it away and add the documents again",
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR):
        return StoreError(f"cannot {what} the knowledge base {path}: {error}", "check its folder's permissions")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return StoreError(f"the knowledge base {path} is being written by another process", "try again when it is done")
    return StoreError(f"cannot {what} the knowledge base {path}: {error}")
