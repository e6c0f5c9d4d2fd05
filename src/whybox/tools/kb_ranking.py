"""Which passages answer a query, and which of their sentences to show.

SQLite's BM25 proposes candidates. They are ranked by how much of the query they hold, each word weighted by how rare
it is, since small models write a few key words and the passage wanted is the one that has them all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from whybox.tools.kb_query import Query, Term
from whybox.tools.kb_reading import sentence_spans
from whybox.tools.segmentation import Stemmer, is_cjk, normalise, pieces
from whybox.tools.stop_words import STOP

_WEAK: Final = 0.3
_ENOUGH: Final = 0.5
"""A passage must hold this share of the query's weight, unless the query names the article it is from."""
_ENOUGH_WITH_TITLE: Final = 0.15
_CLOSE_TO_BEST: Final = 0.6
_TITLE, _BM25, _LANGUAGE = 0.5, 0.3, 0.15
_GAP: Final = " ... "


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that has at least one word of the query.

    Args:
        id: its number in the index.
        title: of the document.
        heading: above the passage.
        text: the passage.
        bm25: SQLite's score of it, higher is better.
    """

    id: int
    title: str
    heading: str
    text: str
    bm25: float


class Ranking:
    """Scores candidates for one query.

    Args:
        query: what is looked for.
        frequency: in how many passages each term occurs.
        passages: how many there are.
        stemmer: for the words of candidates.
    """

    def __init__(self, query: Query, frequency: Mapping[Term, int], passages: int, stemmer: Stemmer) -> None:
        self._query = query
        self._stemmer = stemmer
        self._weight = {term: _weight(term, frequency[term], passages) for term in query.terms}

    def best(self, candidates: Sequence[Candidate], language: str, limit: int) -> list[tuple[Candidate, float]]:
        """Return relevant candidates with their scores, best first, and none that is far behind the best."""
        highest = max((candidate.bm25 for candidate in candidates), default=0.0)
        scored = [
            (candidate, score)
            for candidate in candidates
            if (score := self._score(candidate, language, candidate.bm25 / highest if highest > 0 else 1.0)) > 0
        ]
        scored.sort(key=lambda pair: (-pair[1], pair[0].id))
        return [pair for pair in scored[:limit] if pair[1] >= _CLOSE_TO_BEST * scored[0][1]]

    def excerpt(self, candidate: Candidate, budget: int) -> str:
        """Return the sentences of a passage that say most about the query, in their order, within about ``budget``.

        Args:
            candidate: the passage.
            budget: characters; a single sentence may be cut to it.
        """
        text = candidate.text
        if len(text) <= budget:
            return " ".join(text.split())
        spans = [span for span in sentence_spans(text) if text[slice(*span)].strip()]
        values = [self._sentence_value(text[slice(*span)], candidate.title) for span in spans]
        chosen: list[int] = []
        room = budget
        for number in sorted(range(len(spans)), key=lambda n: (-values[n], n)):
            length = spans[number][1] - spans[number][0]
            if not chosen or length <= room:
                chosen.append(number)
                room -= length
        return _joined([text[slice(*span)].strip() for span in spans], sorted(chosen), budget)

    def _score(self, candidate: Candidate, language: str, bm25: float) -> float:
        whole = "\n".join((candidate.title, candidate.heading, candidate.text))
        held = self._held(whole)
        share = sum(self._weight[term] for term in held) / sum(self._weight.values())
        named = self._title_share(candidate.title)
        if share < _ENOUGH and not (named >= 1 and share >= _ENOUGH_WITH_TITLE):
            return 0.0
        same_language = is_cjk(candidate.title + candidate.text[:40]) == (language == "zh")
        return share + _TITLE * named + _BM25 * bm25 + _LANGUAGE * same_language

    def _held(self, text: str) -> list[Term]:
        normal = normalise(text)
        words = [piece for piece in pieces(normal) if not is_cjk(piece)]
        stems = frozenset(stem for found in self._stemmer.stems(words).values() for stem in found)
        return [term for term in self._query.terms if term.is_in(normal, stems)]

    def _title_share(self, title: str) -> float:
        """Return how much of the title's content, in characters, the query names."""
        named = whole = 0
        for piece in pieces(normalise(title)):
            if is_cjk(piece):
                whole += len(piece)
                named += len(_covered(piece, self._query.terms))
            elif piece not in STOP:
                whole += len(piece)
                stems = self._stemmer.stems([piece])[piece]
                named += len(piece) if any(term.stems == stems for term in self._query.terms) else 0
        return named / whole if whole else 0.0

    def _sentence_value(self, sentence: str, title: str) -> float:
        in_title = set(self._held(title))
        value = sum(self._weight[term] * (_WEAK if term in in_title else 1) for term in self._held(sentence))
        return value + (1.0 if self._query.counting and any(char.isdigit() for char in sentence) else 0.0)


def _weight(term: Term, frequency: int, passages: int) -> float:
    # a word that nothing has counts as one that a single passage has, so that a typing error does not hide the rest
    known = max(1, frequency)
    rarity = math.log(1 + (max(passages, known) - known + 0.5) / (known + 0.5))
    return rarity * (_WEAK if term.weak else 1)


def _covered(text: str, terms: Sequence[Term]) -> set[int]:
    """Return the positions of ``text`` that a Chinese term takes up."""
    return {
        position
        for term in terms
        if not term.stems
        for start in range(len(text) - len(term.word) + 1)
        if text.startswith(term.word, start)
        for position in range(start, start + len(term.word))
    }


def _joined(sentences: Sequence[str], chosen: Sequence[int], budget: int) -> str:
    text = ""
    last = -1
    for number in chosen:
        sentence = " ".join(sentences[number].split())
        if last >= 0:
            follows = number == last + 1
            text += ("" if is_cjk(sentence[:1]) else " ") if follows else _GAP
        text += sentence
        last = number
    return text if len(text) <= budget + len(_GAP) * len(chosen) else text[:budget].rstrip() + "..."
