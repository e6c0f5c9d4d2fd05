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
from whybox.tools.segmentation import Stemmer, is_cjk, normalise, pieces
from whybox.tools.sentences import joint, sentence_spans
from whybox.tools.stop_words import STOP

_WEAK: Final = 0.3
_NAME: Final = 1.5
_GUESSED: Final = 0.5
_ENOUGH: Final = 0.55
"""A passage must hold this share of the query's weight, unless the query names the article it is from."""
_ENOUGH_WITH_TITLE: Final = 0.15
_NAMED: Final = 0.5
"""The query names an article when it has this share of the title."""
_CLOSE_TO_BEST: Final = 0.75
_WORTH_SHOWING: Final = 0.4
_TITLE, _TITLE_NAME, _SENTENCE, _BM25, _LANGUAGE, _LEAD = 0.5, 0.2, 0.5, 0.3, 0.3, 0.1
_LOOKED_AT_CLOSELY: Final = 12
_GAP: Final = " ... "
_SLACK: Final = 100
"""Characters by which a single sentence may be longer than there is room for before it is cut."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that has at least one word of the query.

    Args:
        id: its number in the index.
        title: of the document.
        heading: above the passage.
        text: the passage.
        lead: it is the first of its document.
        bm25: SQLite's score of it, higher is better.
    """

    id: int
    title: str
    heading: str
    text: str
    lead: bool
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
        close = sorted(scored, key=_by_score)[:_LOOKED_AT_CLOSELY]
        close = [(each, score + _SENTENCE * self._best_sentence(each)) for each, score in close]
        close.sort(key=_by_score)
        return [pair for pair in close[:limit] if pair[1] >= _CLOSE_TO_BEST * close[0][1]]

    def excerpt(self, candidate: Candidate, budget: int) -> str:
        """Return the sentences of a passage that say most about the query, in their order, within about ``budget``.

        Args:
            candidate: the passage.
            budget: characters; a Chinese one counts for two. A single sentence may be cut to it.
        """
        text = candidate.text
        budget //= 2 if is_cjk(text[:40]) else 1
        spans = [span for span in sentence_spans(text) if text[slice(*span)].strip()]
        if len(text) <= budget:
            return _joined([text[slice(*span)] for span in spans], range(len(spans)), budget)
        chosen: list[int] = []
        room = budget
        for number in self._by_worth([text[slice(*span)] for span in spans], candidate.title):
            length = spans[number][1] - spans[number][0]
            if not chosen or length <= room:
                chosen.append(number)
                room -= length
        return _joined([text[slice(*span)] for span in spans], sorted(chosen), budget)

    def _by_worth(self, sentences: Sequence[str], title: str) -> list[int]:
        """Return the numbers of the sentences to show: the most telling, what follows the best one, the first."""
        values = [self._sentence_value(sentence, title) for sentence in sentences]
        order = sorted(range(len(sentences)), key=lambda number: (-values[number], number))
        worth = [number for number in order if values[number] >= _WORTH_SHOWING * values[order[0]]]
        around = [*range(order[0] + 1, len(sentences)), 0]
        return list(dict.fromkeys(worth + around))

    def _score(self, candidate: Candidate, language: str, bm25: float) -> float:
        held = self._held("\n".join((candidate.title, candidate.heading, candidate.text)))
        share = sum(self._weight[term] * fit for term, fit in held.items()) / sum(self._weight.values())
        named = self._title_share(candidate.title)
        if share < _ENOUGH and not (named >= 1 and share >= _ENOUGH_WITH_TITLE):
            return 0.0
        score = share + _BM25 * bm25 + _LEAD * candidate.lead
        if named >= _NAMED:
            score += _TITLE * named + _TITLE_NAME * any(term.name for term in self._held(candidate.title))
        return score + _LANGUAGE * (is_cjk(candidate.title + candidate.text[:40]) == (language == "zh"))

    def _best_sentence(self, candidate: Candidate) -> float:
        """Return how much of the query the passage's best sentence holds, from 0 to about 1."""
        text = candidate.text
        values = [self._sentence_value(text[slice(*span)], candidate.title) for span in sentence_spans(text)]
        return max(values, default=0.0) / (sum(self._weight.values()) + 1)

    def _held(self, text: str) -> dict[Term, float]:
        """Return the terms that a text has, and how well it has each, from 0 to 1."""
        normal = normalise(text)
        words = [piece for piece in pieces(normal) if not is_cjk(piece)]
        stems = frozenset(stem for found in self._stemmer.stems(words).values() for stem in found)
        return {term: fit for term in self._query.terms if (fit := term.fit(normal, stems))}

    def _title_share(self, title: str) -> float:
        """Return how much of the title's content, in characters, the query names.

        What stands in brackets behind it, as in "Python (programming language)", need not be named.
        """
        named = whole = 0
        main = normalise(title).partition(" (")[0]
        for piece in pieces(main):
            if is_cjk(piece):
                whole += len(piece)
                named += len(_covered(piece, self._query.terms))
            elif piece not in STOP:
                whole += len(piece)
                stems = self._stemmer.stems([piece])[piece]
                named += len(piece) if any(term.forms[0].stems == stems for term in self._query.terms) else 0
        return named / whole if whole else 0.0

    def _sentence_value(self, sentence: str, title: str) -> float:
        """Return the weight of the query's words in a sentence.

        Words of the title count little, since all the article is about them. Two words that stand side by side as in
        the query count as one more, and so does a number where one is asked for.
        """
        in_title = self._held(title)
        value = sum(
            self._weight[term] * fit * (_WEAK if term in in_title else 1) for term, fit in self._held(sentence).items()
        )
        words = f" {' '.join(pieces(normalise(sentence)))} "
        phrases = self._query.phrases
        together = sum(f" {phrase} " in words for phrase in phrases) / len(phrases) if phrases else 0.0
        return value + together + (1.0 if self._query.counting and any(char.isdigit() for char in sentence) else 0.0)


def _by_score(scored: tuple[Candidate, float]) -> tuple[float, int]:
    candidate, score = scored
    return -score, candidate.id


def _weight(term: Term, frequency: int, passages: int) -> float:
    # a word that nothing has counts as one that a single passage has, so that a typing error does not hide the rest
    known = max(1, frequency)
    rarity = math.log(1 + (max(passages, known) - known + 0.5) / (known + 0.5))
    if term.weak:
        return rarity * _WEAK
    if term.guessed and not frequency:
        return rarity * _GUESSED
    return rarity * (_NAME if term.name else 1)


def _covered(text: str, terms: Sequence[Term]) -> set[int]:
    """Return the positions of ``text`` that a Chinese term takes up."""
    return {
        position
        for term in terms
        if not term.forms[0].stems
        for start in range(len(text) - len(term.word) + 1)
        if text.startswith(term.word, start)
        for position in range(start, start + len(term.word))
    }


def _joined(sentences: Sequence[str], chosen: Sequence[int], budget: int) -> str:
    text = ""
    last = -1
    for number in chosen:
        sentence = " ".join(sentences[number].split())
        text += (joint(text, sentence) if number == last + 1 else _GAP if text else "") + sentence
        last = number
    if len(text) <= budget + _SLACK:
        return text
    return text[: max(budget // 2, text.rfind(" ", 0, budget))].rstrip() + "..."
