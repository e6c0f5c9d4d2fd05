"""A model's query to the terms that are looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from whybox.tools.related_words import RELATED
from whybox.tools.segmentation import Segmenter, Stemmer, is_cjk, normalise, pairs, pieces
from whybox.tools.stop_words import COUNTING, STOP, WEAK

LONGEST_QUERY: Final = 2_000
"""Characters of a query that are read; what a model writes beyond them is no query."""

_MOST_TERMS: Final = 24
_NEAR: Final = 0.6
_CAPITALS: Final = re.compile(r"\b[A-Z]{2,6}\b")
_CAPITALISED: Final = re.compile(r"\b[A-Z]\w*")
_SMALL: Final = re.compile(r"[a-z]")


@dataclass(frozen=True, slots=True)
class Form:
    """A word as it stands in texts.

    Args:
        word: in normal form; for Chinese, a string that a passage must contain.
        stems: what SQLite's tokenizer makes of a Latin word; empty for Chinese.
        fit: how well it stands for what was asked, from 0 to 1.
    """

    word: str
    stems: tuple[str, ...] = ()
    fit: float = 1.0

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
class Term:
    """One thing that is looked for.

    Args:
        forms: the word of the query, then other words for it, the best first.
        weak: it says little about the subject, as small numbers do too, and counts less.
        name: it was written with a capital letter and counts more.
        guessed: it is a pair of Chinese characters that may belong to two words.
    """

    forms: tuple[Form, ...]
    weak: bool = False
    name: bool = False
    guessed: bool = False

    @property
    def word(self) -> str:
        """The word of the query."""
        return self.forms[0].word

    @property
    def match(self) -> str:
        """Any of the forms, as an FTS5 query."""
        return f"({' OR '.join(form.match for form in self.forms)})"

    def fit(self, text: str, stems: frozenset[str]) -> float:
        """Return how well a text, given in normal form and as its Latin stems, has this; 0 for not at all."""
        return next((form.fit for form in self.forms if form.is_in(text, stems)), 0.0)


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for.

    Args:
        terms: distinct content words, in order; none when the query has no letter or digit.
        phrases: each two Latin words that stand next to each other in the query, stop words included.
        counting: the question asks for a number.
    """

    terms: tuple[Term, ...]
    phrases: tuple[str, ...]
    counting: bool

    def with_terms(self, terms: tuple[Term, ...]) -> Query:
        """Return the query with other terms."""
        return replace(self, terms=terms)


def parse_query(query: str, segmenter: Segmenter, stemmer: Stemmer) -> Query:
    """Return the content words of ``query``; quotes, brackets, operators and stop words are left out.

    A query of nothing but stop words is taken literally. At most 2,000 characters and 24 words are read.
    """
    raw = query[:LONGEST_QUERY]
    text = normalise(raw)
    mixed = _SMALL.search(raw) is not None
    # "US" and "WHO" are names where the rest is not in capitals as well
    shouted = {word.lower() for word in _CAPITALS.findall(raw)} if mixed else set[str]()
    names = {word.lower() for word in _CAPITALISED.findall(raw)} if mixed else set[str]()
    found = pieces(text)
    words = [word for piece in found for word in _content(piece, segmenter, shouted)]
    if not words:
        words = [word for piece in found for word in (pairs(piece) if is_cjk(piece) else [piece])]
    terms = {term.forms[0].index_terms: term for term in _terms(words, names, segmenter, stemmer)}
    phrases = tuple(f"{a} {b}" for a, b in pairwise(found) if not is_cjk(a + b))
    counting = any(phrase in f"{text} " for phrase in COUNTING)
    return Query(tuple(terms.values())[:_MOST_TERMS], phrases[:_MOST_TERMS], counting)


def _terms(words: list[str], names: set[str], segmenter: Segmenter, stemmer: Stemmer) -> Iterator[Term]:
    stems = stemmer.stems(other for word in words for other, _ in _forms(word) if not is_cjk(other))
    for word in words:
        forms = [Form(other, stems.get(other, ()), fit) for other, fit in _forms(word)]
        usable = {form.index_terms: form for form in reversed(forms) if form.stems or is_cjk(form.word)}
        if usable:
            weak = word in WEAK or (len(word) == 1 and is_cjk(word)) or (len(word) < 3 and word.isdigit())
            guessed = is_cjk(word) and segmenter.kind == "pairs"
            yield Term(tuple(reversed(usable.values())), weak, word in names, guessed)


def _forms(word: str) -> list[tuple[str, float]]:
    same, near = RELATED.get(word, ((), ()))
    return [(word, 1.0), *((other, 1.0) for other in same), *((other, _NEAR) for other in near)]


def _content(piece: str, segmenter: Segmenter, names: set[str]) -> list[str]:
    if is_cjk(piece):
        return segmenter.words(piece)
    return [piece] if piece not in STOP or piece in names else []
