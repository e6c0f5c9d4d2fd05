"""A model's query to the terms that are looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from whybox.tools.segmentation import Segmenter, Stemmer, is_cjk, normalise, pairs, pieces
from whybox.tools.stop_words import COUNTING, STOP, WEAK

LONGEST_QUERY: Final = 2_000
"""Characters of a query that are read; what a model writes beyond them is no query."""

_MOST_TERMS: Final = 24
_CAPITALS: Final = re.compile(r"\b[A-Z]{2,6}\b")
_SMALL: Final = re.compile(r"[a-z]")


@dataclass(frozen=True, slots=True)
class Term:
    """One word that is looked for.

    Args:
        word: the word in normal form; for Chinese, a string that a passage must contain.
        stems: what SQLite's tokenizer makes of a Latin word; empty for Chinese.
        weak: it says little about the subject and counts less.
    """

    word: str
    stems: tuple[str, ...]
    weak: bool

    @property
    def index_terms(self) -> tuple[str, ...]:
        """The terms of the index that a passage with this word has."""
        return self.stems or tuple(pairs(self.word))

    @property
    def match(self) -> str:
        """The word as an FTS5 query. It is always quoted, and has no character that FTS5 gives a meaning to."""
        return f'"{self.word}"' if self.stems else f'"{" ".join(pairs(self.word))}"'

    def is_in(self, text: str, stems: frozenset[str]) -> bool:
        """Whether the word is in a text, given in normal form and as its Latin stems."""
        return stems.issuperset(self.stems) if self.stems else self.word in text


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for.

    Args:
        terms: distinct content words, in order; none when the query has no letter or digit.
        counting: the question asks for a number.
    """

    terms: tuple[Term, ...]
    counting: bool


def parse_query(query: str, segmenter: Segmenter, stemmer: Stemmer) -> Query:
    """Return the content words of ``query``; quotes, brackets, operators and stop words are left out.

    A query of nothing but stop words is taken literally. At most 2,000 characters and 24 words are read.
    """
    raw = query[:LONGEST_QUERY]
    text = normalise(raw)
    # "US" and "WHO" are names where the rest is not in capitals as well
    names = {word.lower() for word in _CAPITALS.findall(raw)} if _SMALL.search(raw) else set()
    found = pieces(text)
    words = [word for piece in found for word in _content(piece, segmenter, names)]
    if not words:
        words = [word for piece in found for word in (pairs(piece) if is_cjk(piece) else [piece])]
    stems = stemmer.stems(word for word in words if not is_cjk(word))
    terms: dict[tuple[str, ...], Term] = {}
    for word in words:
        term = Term(word, stems.get(word, ()), word in WEAK or (len(word) == 1 and is_cjk(word)))
        if term.stems or is_cjk(word):
            terms.setdefault(term.stems or (word,), term)
    return Query(tuple(terms.values())[:_MOST_TERMS], any(phrase in text for phrase in COUNTING))


def _content(piece: str, segmenter: Segmenter, names: set[str]) -> list[str]:
    if is_cjk(piece):
        return segmenter.words(piece)
    return [piece] if piece not in STOP or piece in names else []
