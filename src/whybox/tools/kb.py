"""The knowledge base: the user's own documents in one SQLite file, found by the words of a question."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from whybox.tools.kb_files import Found, find_files
from whybox.tools.kb_index import IndexFile, transaction
from whybox.tools.kb_query import parse_query
from whybox.tools.kb_reading import NotText, read_document, supported
from whybox.tools.kb_search import Passage, search
from whybox.tools.segmentation import Kind, Segmenter, Stemmer, index_text

LARGEST_FILE: Final = 64 * 1024 * 1024
"""Bytes of the largest file that is read."""

__all__ = ["Handled", "KnowledgeBase", "Outcome", "Passage", "Source"]

Outcome = Literal["added", "updated", "unchanged", "removed", "unsupported", "unreadable"]


@dataclass(frozen=True, slots=True)
class Source:
    """A document of the knowledge base.

    Args:
        path: of its file.
        name: how lookup names it.
        title: its own, or made from the file's name.
        passages: how many it has.
    """

    path: Path
    name: str
    title: str
    passages: int


@dataclass(frozen=True, slots=True)
class Handled:
    """What became of one file, given to the watcher of :meth:`KnowledgeBase.add`.

    Args:
        path: the file.
        outcome: what was done with it.
        reason: why it was not read; empty when it was.
        done: bytes handled so far.
        total: bytes of all files.
    """

    path: Path
    outcome: Outcome
    reason: str
    done: int
    total: int


class KnowledgeBase:
    """Documents and their index. Safe to use from several threads and processes.

    Args:
        path: the index file; it need not exist.
        cache_dir: where the Chinese word list is kept prepared.
        segmentation: of Chinese queries; the index is the same for all.
    """

    def __init__(self, path: Path, cache_dir: Path, segmentation: Kind = "auto") -> None:
        self.path = path
        self._file = IndexFile(path)
        self._segmenter = Segmenter(cache_dir / "jieba", segmentation)
        self._stemmer = Stemmer()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to be found.

        Raises:
            StoreError: the index file cannot be read.
        """
        with self._file.reading() as db:
            return db is None or db.execute("SELECT 1 FROM passage LIMIT 1").fetchone() is None

    def add(self, paths: Sequence[Path], progress: Callable[[Handled], None] | None = None) -> list[Handled]:
        """Index files, and all files in folders; return what became of each.

        A file that is there already is read again only when it has changed. Files of a named folder that no longer
        exist are removed, and so is what was known of a file that has become unreadable. Each file is added whole or
        not at all: after an interruption, what was added before stays.

        Raises:
            UsageError: a path does not exist; nothing was added.
            StoreError: the index file cannot be written.
        """
        files = find_files(paths)
        report: list[Handled] = []
        total = sum(file.size for file in files)
        with self._file.writing() as db:
            for done, path, outcome, reason in self._add_each(db, files, paths):
                report.append(Handled(path, outcome, reason, done, total))
                if progress:
                    progress(report[-1])
        return report

    def remove(self, paths: Sequence[Path]) -> list[Path]:
        """Take documents out, by file or folder; return their paths. A path that has none is not an error.

        Raises:
            StoreError: the index file cannot be written.
        """
        removed: list[Path] = []
        if not self.path.exists():
            return removed
        with self._file.writing() as db, transaction(db):
            for named in paths:
                for number, path in _sources_under(db, named):
                    _delete(db, number)
                    removed.append(path)
        return removed

    def sources(self) -> list[Source]:
        """Return all documents, by path.

        Raises:
            StoreError: the index file cannot be read.
        """
        with self._file.reading() as db:
            if db is None:
                return []
            rows = db.execute(
                "SELECT path, name, title, (SELECT count(*) FROM passage WHERE source_id = source.id)"
                " FROM source ORDER BY path"
            )
            return [Source(Path(path), name, title, passages) for path, name, title, passages in rows]

    def search(self, query: str, language: str = "en", limit: int = 3) -> list[Passage]:
        """Return the passages that answer ``query``, best first; none when nothing fits.

        Args:
            query: key words or a question, in English or Chinese; 2,000 characters of it are read.
            language: ``en`` or ``zh``: what the reader prefers where both fit.
            limit: how many at most.

        Raises:
            StoreError: the index file cannot be read.
        """
        parsed = parse_query(query, self._segmenter, self._stemmer)
        if not parsed.terms:
            return []
        with self._file.reading() as db:
            return [] if db is None else search(db, parsed, self._stemmer, language, limit)

    def close(self) -> None:
        """Release memory; the knowledge base is not to be used after this."""
        self._stemmer.close()

    def _add_each(
        self, db: sqlite3.Connection, files: Sequence[Found], named: Sequence[Path]
    ) -> Iterator[tuple[int, Path, Outcome, str]]:
        done = 0
        for path in _drop_missing(db, [path for path in named if path.is_dir()]):
            yield done, path, "removed", ""
        for file in files:
            outcome, reason = _add_file(db, file)
            done += file.size
            yield done, file.path, outcome, reason


def _add_file(db: sqlite3.Connection, file: Found) -> tuple[Outcome, str]:
    if not supported(file.path):
        return "unsupported", f"{file.path.suffix or 'no suffix'} is not supported"
    if file.size > LARGEST_FILE:
        return "unreadable", f"larger than {LARGEST_FILE // 1024**2} MB"
    try:
        os.fspath(file.path).encode()
        data = file.path.read_bytes()
    except UnicodeEncodeError:
        return "unreadable", "its name is not valid UTF-8"
    except OSError as error:
        return "unreadable", error.strerror or str(error)
    return _store(db, file, data)


def _store(db: sqlite3.Connection, file: Found, data: bytes) -> tuple[Outcome, str]:
    digest = hashlib.sha256(data).hexdigest()
    known = db.execute("SELECT id, hash, name FROM source WHERE path = ?", (str(file.path),)).fetchone()
    if known and known[1:] == (digest, file.name):
        return "unchanged", ""
    try:
        document = read_document(file.path, data)
    except NotText as error:
        if known:
            with transaction(db):
                _delete(db, known[0])
        return "unreadable", str(error)
    title = index_text(document.title)
    rows = [(index_text(piece.heading), index_text(piece.text), piece) for piece in document.pieces]
    with transaction(db):
        if known:
            _delete(db, known[0])
        source = db.execute(
            "INSERT INTO source(path, name, title, hash) VALUES (?, ?, ?, ?)",
            (str(file.path), file.name, document.title, digest),
        ).lastrowid
        for heading, body, piece in rows:
            number = db.execute(
                "INSERT INTO passage(source_id, line, heading, text) VALUES (?, ?, ?, ?)",
                (source, piece.line, piece.heading, piece.text),
            ).lastrowid
            db.execute(
                "INSERT INTO indexed(rowid, title, heading, body) VALUES (?, ?, ?, ?)", (number, title, heading, body)
            )
    return ("updated" if known else "added"), ""


def _delete(db: sqlite3.Connection, source: int) -> None:
    db.execute("DELETE FROM indexed WHERE rowid IN (SELECT id FROM passage WHERE source_id = ?)", (source,))
    db.execute("DELETE FROM passage WHERE source_id = ?", (source,))
    db.execute("DELETE FROM source WHERE id = ?", (source,))


def _sources_under(db: sqlite3.Connection, named: Path) -> list[tuple[int, Path]]:
    path = os.fsencode(named.resolve()).decode(errors="replace")
    folder = path.rstrip(os.sep) + os.sep
    rows = db.execute(
        "SELECT id, path FROM source WHERE path = ? OR substr(path, 1, ?) = ? ORDER BY path",
        (path, len(folder), folder),
    )
    return [(number, Path(found)) for number, found in rows]


def _drop_missing(db: sqlite3.Connection, folders: Sequence[Path]) -> list[Path]:
    gone: list[Path] = []
    for folder in folders:
        for number, path in _sources_under(db, folder):
            if not path.exists():
                with transaction(db):
                    _delete(db, number)
                gone.append(path)
    return gone
