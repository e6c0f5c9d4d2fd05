"""Text to search terms: Latin words folded and stemmed by SQLite, Chinese by words, or by characters.

An index must not depend on which word list happened to be installed when it was made. So what is indexed never does:
Latin words as they are (SQLite's ``porter unicode61`` folds and stems them), and for each unbroken run of Chinese or
Japanese characters its pairs followed by its single characters. Any string of two or more such characters can then be
found as a phrase of pairs, whatever segmentation the query was given: words by ``jieba`` when it is installed, else
pairs. Index and query agree by construction.
"""

from __future__ import annotations

import logging
import re
import sqlite3
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal

from whybox.tools.stop_words import STOP

Kind = Literal["auto", "jieba", "pairs"]

TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
"""How SQLite reads Latin words; part of the index format."""

_CJK: Final = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE: Final = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_HAS_CJK: Final = re.compile(f"[{_CJK}]")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LONGEST_STOP: Final = max(map(len, STOP))
_CACHED_WORDS: Final = 50_000


def normalise(text: str) -> str:
    """Return ``text`` in compatibility form, lower case, numbers without thousands separators."""
    return _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).lower())


def is_cjk(text: str) -> bool:
    """Whether there is a Chinese or Japanese character in ``text``."""
    return _HAS_CJK.search(text) is not None


def pieces(text: str) -> list[str]:
    """Return the Latin words and the unbroken runs of Chinese characters of normalised ``text``, in order."""
    return _PIECE.findall(text)


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of ``run``, or ``run`` itself when it is one character."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def index_text(text: str) -> str:
    """Return what is given to SQLite's tokenizer so that every word of ``text`` can be found."""
    parts: list[str] = []
    for piece in pieces(normalise(text)):
        if not is_cjk(piece):
            parts.append(piece)
            continue
        parts += pairs(piece)
        if len(piece) > 1:
            parts += piece
    return " ".join(parts)


class Segmenter:
    """Splits Chinese queries into words.

    Args:
        cache_dir: where ``jieba`` keeps its prepared word list.
        kind: ``jieba``, ``pairs``, or ``auto`` for ``jieba`` when it is installed.
    """

    def __init__(self, cache_dir: Path, kind: Kind = "auto") -> None:
        self._cache_dir = cache_dir
        self._kind = kind
        self._lock = threading.Lock()
        self._cut: Callable[[str], list[str]] | None = None

    @property
    def kind(self) -> Literal["jieba", "pairs"]:
        """Which segmentation is in use.

        Raises:
            ImportError: ``jieba`` was demanded and is not installed.
        """
        self._load()
        return "pairs" if self._cut is None else "jieba"

    def words(self, run: str) -> list[str]:
        """Return the content words of an unbroken run of Chinese characters, stop words left out, in order.

        Characters between words that the word list does not know (often a name) are returned as pairs.
        """
        self._load()
        if self._cut is None:
            return [pair for part in _between_stop_words(run) if part not in STOP for pair in pairs(part)]
        found: list[str] = []
        loose = ""
        for word in [*self._cut(run), ""]:
            if len(word) == 1 and word not in STOP:
                loose += word
                continue
            if loose:
                found += pairs(loose)
                loose = ""
            if word and word not in STOP:
                found.append(word)
        return found

    def _load(self) -> None:
        with self._lock:
            if self._kind == "pairs" or self._cut is not None:
                return
            try:
                self._cut = _load_jieba(self._cache_dir)
            except ImportError:
                if self._kind == "jieba":
                    raise
                self._kind = "pairs"


def _load_jieba(cache_dir: Path) -> Callable[[str], list[str]]:
    with warnings.catch_warnings():
        # its source has invalid escapes and it imports pkg_resources; neither is the user's concern
        warnings.simplefilter("ignore")
        import jieba

    jieba.setLogLevel(logging.CRITICAL + 1)
    tokenizer: Any = jieba.Tokenizer()
    with suppress(OSError):  # without a cache the word list is prepared again each time, which is only slower
        cache_dir.mkdir(parents=True, exist_ok=True)
    tokenizer.tmp_dir = str(cache_dir)
    tokenizer.initialize()

    def cut(run: str) -> list[str]:
        # no guessing of new words: it depends on the neighbours, so a name would be cut differently each time
        return list(tokenizer.cut(run, HMM=False))

    return cut


def _between_stop_words(run: str) -> Iterator[str]:
    start = position = 0
    while position < len(run):
        longest = min(_LONGEST_STOP, len(run) - position)
        length = next((n for n in range(longest, 0, -1) if _is_stop(run[position : position + n])), 0)
        if not length:
            position += 1
            continue
        if position > start:
            yield run[start:position]
        start = position = position + length
    if position > start:
        yield run[start:position]


_SURE: Final = frozenset("的了吗呢吧是谁和与")
"""Single characters that end a word almost everywhere; others, such as 中 in 中国, cannot be told without words."""


def _is_stop(text: str) -> bool:
    return text in (_SURE if len(text) == 1 else STOP)


class Stemmer:
    """The terms that SQLite's tokenizer makes of Latin words: the same code that indexes them.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, ...]] = {}
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.execute(f"CREATE VIRTUAL TABLE word USING fts5(text, tokenize='{TOKENIZER}')")
        self._db.execute("CREATE VIRTUAL TABLE term USING fts5vocab(word, instance)")

    def stems(self, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the terms of each word; a word of characters that SQLite does not index has none."""
        wanted = list(dict.fromkeys(words))
        with self._lock:
            self._learn([word for word in wanted if word not in self._known])
            found = {word: self._known[word] for word in wanted}
            if len(self._known) > _CACHED_WORDS:
                self._known.clear()
        return found

    def close(self) -> None:
        """Release the memory."""
        with self._lock:
            self._db.close()

    def _learn(self, words: Sequence[str]) -> None:
        if not words:
            return
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO word(rowid, text) VALUES (?, ?)", enumerate(words))
        found: dict[int, list[str]] = {}
        for number, term in self._db.execute("SELECT doc, term FROM term ORDER BY doc, offset"):
            found.setdefault(number, []).append(term)
        self._db.execute("ROLLBACK")
        self._known.update((word, tuple(found.get(number, ()))) for number, word in enumerate(words))
