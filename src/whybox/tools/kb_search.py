"""From a query to passages: what is asked of the index, and in which order."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whybox.tools.kb_query import Form, Query, Term
from whybox.tools.kb_ranking import Candidate, Ranking
from whybox.tools.segmentation import Stemmer, is_cjk, pairs

_CANDIDATES: Final = 40
_ROWS: Final = 6_000
_EXCERPTS: Final = (340, 170)
"""Characters shown of the best passage, and of each other one; half as many when they are Chinese."""


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


def search(db: sqlite3.Connection, query: Query, stemmer: Stemmer, language: str, limit: int) -> list[Passage]:
    """Return the passages of the index that answer ``query``, best first.

    Args:
        db: the index.
        query: with at least one term.
        stemmer: for the words of passages.
        language: what the reader prefers, ``en`` or ``zh``.
        limit: how many at most.
    """
    passages = db.execute("SELECT count(*) FROM passage").fetchone()[0]
    fitted = _fit(db, query)
    frequency = {term: _frequency(db, term) for term in fitted.terms}
    ranking = Ranking(fitted, frequency, passages, stemmer)
    best = ranking.best(_candidates(db, frequency), language, limit)
    return [
        _passage(db, candidate, ranking.excerpt(candidate, _EXCERPTS[min(rank, 1)]), score)
        for rank, (candidate, score) in enumerate(best)
    ]


def _fit(db: sqlite3.Connection, query: Query) -> Query:
    """Replace long Chinese words that no passage has by their pairs: texts may have the same in other words."""
    terms: dict[tuple[str, ...], Term] = {}
    for term in query.terms:
        long = is_cjk(term.word) and len(term.word) > 2
        if long and db.execute("SELECT 1 FROM indexed WHERE indexed MATCH ? LIMIT 1", (term.match,)).fetchone() is None:
            parts = [Term((Form(pair),), term.weak, guessed=True) for pair in pairs(term.word)]
        else:
            parts = [term]
        for part in parts:
            terms.setdefault(part.forms[0].index_terms, part)
    return query.with_terms(tuple(terms.values()))


def _frequency(db: sqlite3.Connection, term: Term) -> int:
    """Return in how many passages the term is, at most: summed over its forms, a phrase by its rarest part."""
    return sum(min(_passages_with(db, part) for part in form.index_terms) for form in term.forms)


def _passages_with(db: sqlite3.Connection, index_term: str) -> int:
    row = db.execute("SELECT doc FROM term WHERE term = ?", (index_term,)).fetchone()
    return row[0] if row else 0


def _candidates(db: sqlite3.Connection, frequency: Mapping[Term, int]) -> list[Candidate]:
    """Return the passages that BM25 likes best, from those with the query's rarest words.

    Ranking takes time for each passage that has a word, so common words are left to the second ranking.
    """
    known = sorted((term for term in frequency if frequency[term]), key=lambda term: frequency[term])
    chosen: list[Term] = []
    rows = 0
    for term in known:
        rows += frequency[term]
        if rows <= _ROWS:
            chosen.append(term)
    # words that are all common only say something together
    expressions = [_either(chosen)] if chosen else [" AND ".join(term.match for term in known), _either(known[:1])]
    return next((found for expression in expressions if (found := _matching(db, expression))), []) if known else []


def _either(terms: Sequence[Term]) -> str:
    return " OR ".join(term.match for term in terms)


def _matching(db: sqlite3.Connection, expression: str) -> list[Candidate]:
    found = db.execute(
        "SELECT best.rowid, source.title, passage.heading, passage.text,"
        " passage.id = (SELECT min(id) FROM passage WHERE source_id = source.id), -best.rank"
        " FROM (SELECT rowid, rank FROM indexed WHERE indexed MATCH ? AND rank MATCH 'bm25(4.0, 2.0, 1.0)'"
        " ORDER BY rank LIMIT ?) AS best"
        " JOIN passage ON passage.id = best.rowid JOIN source ON source.id = passage.source_id",
        (expression, _CANDIDATES),
    )
    return [Candidate(*row) for row in found]


def _passage(db: sqlite3.Connection, candidate: Candidate, excerpt: str, score: float) -> Passage:
    name, path, line = db.execute(
        "SELECT name, path, line FROM passage JOIN source ON source.id = source_id WHERE passage.id = ?",
        (candidate.id,),
    ).fetchone()
    return Passage(name, Path(path), line, candidate.title, candidate.heading, candidate.text, excerpt, round(score, 4))
