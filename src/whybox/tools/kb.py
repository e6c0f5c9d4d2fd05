"""The knowledge base: the user's own documents in one SQLite file, found by the words of a question."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from whybox.tools.kb_files import Found, find_files, printable
from whybox.tools.kb_index import IndexFile, transaction
from whybox.tools.kb_query import Query, Term, parse_query
from whybox.tools.kb_ranking import Candidate, Ranking
from whybox.tools.kb_reading import NotText, read_document, supported
from whybox.tools.segmentation import Kind, Segmenter, Stemmer, index_text, is_cjk, pairs

LARGEST_FILE: Final = 64 * 1024 * 1024
"""Bytes of the largest file that is read."""

_CANDIDATES: Final = 60
_ROWS: Final = 10_000
_EXCERPTS: Final = (340, 170)
"""Characters shown of the best passage, and of each other one."""

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
class Passage:
    """A part of a document that answers a query.

    Args:
        name: of the document's file, within the folder that was added.
        path: of the document's file.
        line: where the passage begins, from 1.
        title: of the document.
        heading: above the passage, may be empty.
        text: the whole passage.
        excerpt: its sentences that say most about the query.
        score: how well it fits; comparable within one search only.
    """

    name: str
    path: Path
    line: int
    title: str
    heading: str
    text: str
    excerpt: str
    score: float


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
        exist are removed. Each file is added whole or not at all: when this is interrupted, what was added before stays.

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
            if db is None:
                return []
            passages = db.execute("SELECT count(*) FROM passage").fetchone()[0]
            fitted = _fit(db, parsed)
            frequency = {term: _frequency(db, term) for term in fitted.terms}
            ranking = Ranking(fitted, frequency, passages, self._stemmer)
            best = ranking.best(_candidates(db, frequency), language, limit)
            return [
                _passage(db, candidate, ranking.excerpt(candidate, _EXCERPTS[min(rank, 1)]), score)
                for rank, (candidate, score) in enumerate(best)
            ]

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
            db.execute("INSERT INTO indexed(rowid, title, heading, body) VALUES (?, ?, ?, ?)", (number, title, heading, body))
    return ("updated" if known else "added"), ""


def _delete(db: sqlite3.Connection, source: int) -> None:
    db.execute("DELETE FROM indexed WHERE rowid IN (SELECT id FROM passage WHERE source_id = ?)", (source,))
    db.execute("DELETE FROM passage WHERE source_id = ?", (source,))
    db.execute("DELETE FROM source WHERE id = ?", (source,))


def _sources_under(db: sqlite3.Connection, named: Path) -> list[tuple[int, Path]]:
    path = printable(named.resolve())
    folder = path.rstrip(os.sep) + os.sep
    rows = db.execute(
        "SELECT id, path FROM source WHERE path = ? OR substr(path, 1, ?) = ? ORDER BY path", (path, len(folder), folder)
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


def _fit(db: sqlite3.Connection, query: Query) -> Query:
    """Replace long Chinese words that no passage has by their pairs: other texts may have them cut otherwise."""
    terms: dict[str, Term] = {}
    for term in query.terms:
        long = is_cjk(term.word) and len(term.word) > 2
        if long and db.execute("SELECT 1 FROM indexed WHERE indexed MATCH ? LIMIT 1", (term.match,)).fetchone() is None:
            terms.update((pair, Term(pair, (), weak=term.weak)) for pair in pairs(term.word) if pair not in terms)
        else:
            terms[term.word] = term
    return Query(tuple(terms.values()), query.counting)


def _frequency(db: sqlite3.Connection, term: Term) -> int:
    """Return in how many passages the term is; for a phrase, its rarest part's number, which is never less."""
    rows = (db.execute("SELECT doc FROM term WHERE term = ?", (part,)).fetchone() for part in term.index_terms)
    return min(row[0] if row else 0 for row in rows)


def _candidates(db: sqlite3.Connection, frequency: dict[Term, int]) -> list[Candidate]:
    """Return the passages that BM25 likes best, from those with the query's rarest words.

    Ranking takes time for each passage that has a word, so common words are left to the second ranking.
    """
    known = sorted((term for term in frequency if frequency[term]), key=lambda term: frequency[term])
    rows, chosen = 0, list[Term]()
    for term in known:
        rows += frequency[term]
        if rows <= _ROWS:
            chosen.append(term)
    if not known:
        return []
    # words that are all common only say something together
    expression = " OR ".join(term.match for term in chosen) or " AND ".join(term.match for term in known)
    found = db.execute(
        "SELECT indexed.rowid, source.title, passage.heading, passage.text, -indexed.rank"
        " FROM (SELECT rowid, rank FROM indexed WHERE indexed MATCH ? AND rank MATCH 'bm25(4.0, 2.0, 1.0)'"
        f" ORDER BY rank LIMIT {_CANDIDATES}) AS indexed"
        " JOIN passage ON passage.id = indexed.rowid JOIN source ON source.id = passage.source_id",
        (expression,),
    )
    return [Candidate(*row) for row in found]


def _passage(db: sqlite3.Connection, candidate: Candidate, excerpt: str, score: float) -> Passage:
    name, path, line = db.execute(
        "SELECT name, path, line FROM passage JOIN source ON source.id = source_id WHERE passage.id = ?", (candidate.id,)
    ).fetchone()
    return Passage(
        name, Path(path), line, candidate.title, candidate.heading, candidate.text, excerpt, round(score, 4)
    )
