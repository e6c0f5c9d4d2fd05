"""Finds a label at the start of a line that may still be arriving."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from whybox.dialects.labels import INVISIBLE, fold
from whybox.prompts.labels import ALONE, LABELS, Kind, Labels

_IGNORED = frozenset(INVISIBLE)
_MARKS = frozenset("*_`~")
_COLONS = frozenset(":：﹕︰꞉")
_BLANK = frozenset(" \t\u00a0\u3000\u2009\u202f")
_BRACKETS = {"[": "]", "【": "】", "［": "］", "(": ")", "（": "）"}
_SPACES = str.maketrans(dict.fromkeys(_BLANK, " "))
_DECORATION = 16
LINE_START = 64
"""A label, with what decorates it, ends within this many characters of its line."""

Marks = Literal["", "#", "[", "emphasis"]


@dataclass(frozen=True, slots=True)
class Label:
    """A label found at the start of a line.

    Args:
        kind: what it opens.
        length: how many characters of the line belong to it.
        plain: it stands in its own form, without decoration.
        quoted: its line is a quotation (``>``).
        open_marks: emphasis that was opened before the label and is still open behind it, such as ``**``.
    """

    kind: Kind
    length: int
    plain: bool
    quoted: bool = False
    open_marks: str = ""


More = Literal["more"]


class LabelTable:
    """The labels of a dialect, ready to be looked for.

    Args:
        labels: as in :data:`LABELS`.
    """

    def __init__(self, labels: Labels = LABELS) -> None:
        self.labels = labels
        self._by_first: dict[str, list[tuple[str, Kind]]] = {}
        for _, kind, names in labels:
            for name in names:
                self._by_first.setdefault(name[0], []).append((name, kind))
        self._observations = tuple(name for _, kind, names in labels if kind == "observation" for name in names)
        self.candidate = _candidate(name for _, _, names in labels for name in names)
        """Finds a line break behind which a label may stand. Used to pass over text fast; :meth:`match` decides."""

    def match(self, line: str, kinds: frozenset[Kind], *, final: bool = False) -> Label | More | None:
        """Return the label that ``line`` begins with, None when there is none, ``more`` when that cannot be said yet.

        Args:
            line: the beginning of a line, as far as it has come.
            kinds: the kinds that count here.
            final: nothing follows, so there is nothing to wait for.
        """
        start = _Decoration(line)
        if start.at is None:
            return None
        if start.at == len(line):
            return None if final else "more"
        best: Label | None = None
        waiting = False
        folded = fold(line).translate(_SPACES)
        hidden = not line.isascii() and any(char in _IGNORED or _combining(char) for char in line)
        for name, kind in self._by_first.get(folded[start.at], ()):
            if kind not in kinds:
                continue
            behind = _spelled(line, start.at, name) if hidden else _written(folded, start.at, name)
            if behind == "more":
                waiting = True
            elif behind is not None:
                label = _tail(line, behind, start, kind, alone=name in ALONE, final=final)
                if label == "more":
                    waiting = True
                elif isinstance(label, Label) and (best is None or label.length > best.length):
                    best = label
        if waiting and best is None and not final:
            return "more"
        return best

    def is_leftover(self, line: str) -> bool:
        """Return whether a last line is the beginning of the label that a stop sequence is made of."""
        lean = fold(line.strip(f" \t\r\n*#>_`{INVISIBLE}"))
        long_enough = len(lean) > 2 or not lean.isascii()
        return bool(lean) and long_enough and any(name.startswith(lean) for name in self._observations)


class _Decoration:
    """What stands before the first letter of a line: where that letter is (None: too far off), and which marks."""

    def __init__(self, line: str) -> None:
        self.at: int | None = None
        self.emphasis = ""
        self.heading = False
        self.bracket = ""
        self.quoted = False
        self.plain = True
        index = 0
        end = min(len(line), _DECORATION + 1)
        while index < end:
            char = line[index]
            if char in _MARKS:
                self.emphasis += char
            elif char in _BLANK or char in _IGNORED:
                pass
            elif char == "#":
                self.heading, self.emphasis = True, ""
            elif char == ">":
                self.quoted = True
            elif char in _BRACKETS and not self.bracket:
                self.bracket = char
            elif char in "-•+" or unicodedata.category(char) in {"So", "Sk"}:
                self.emphasis = ""
            elif char.isdigit() and not self.bracket:
                index = _numbering(line, index)
                if index < 0:
                    return
                self.plain = False
                continue
            else:
                break
            self.plain = self.plain and char in _BLANK
            index += 1
        if index <= _DECORATION:
            self.at = index


def _numbering(line: str, index: int) -> int:
    """Return where the text behind a number such as ``1.`` begins, -1 when it does not number the line."""
    behind = index + 1
    while behind < len(line) and line[behind].isdigit() and behind < index + 3:
        behind += 1
    while behind < len(line) and line[behind] in _IGNORED:
        behind += 1
    if behind < len(line) and line[behind] not in ".)、）":
        return behind if line[behind - 1] in _IGNORED else -1
    return min(behind + 1, len(line))


def _written(folded: str, at: int, name: str) -> int | More | None:
    """Return where ``name`` ends in a folded line when it stands at ``at``."""
    if folded.startswith(name, at):
        return at + len(name)
    return "more" if name.startswith(folded[at:]) else None


def _spelled(line: str, at: int, name: str) -> int | More | None:
    """Return where ``name`` ends in the line when it is spelled from ``at`` on; invisible characters do not count."""
    index = at
    for char in name:
        while index < len(line) and (line[index] in _IGNORED or _combining(line[index])):
            index += 1
        if index == len(line):
            return "more"
        here = line[index]
        if not (char == " " and here in _BLANK) and fold(here) != char:
            return None
        index += 1
    while index < len(line) and _combining(line[index]):
        index += 1
    return index


def _combining(char: str) -> bool:
    return char >= "\u0300" and unicodedata.combining(char) != 0


def _tail(line: str, at: int, start: _Decoration, kind: Kind, *, alone: bool, final: bool) -> Label | More | None:
    """Return the label whose name ends at ``at``; behind it may stand a number and closing marks, then a colon."""
    index, closed, number = at, False, 0
    plain, closing = start.plain, _BRACKETS.get(start.bracket, "")
    while index < len(line):
        char = line[index]
        if char in _COLONS:
            return _behind_colon(
                line, index + 1, start, kind, closed=closed, plain=plain and char in ":：", final=final
            )
        if closing and char == closing:
            return _bracketed(line, index + 1, start, kind, final=final)
        if char in "\r\n":
            heading = alone or start.heading or (closed and start.emphasis and not start.bracket)
            return Label(kind, index + 1, False, start.quoted) if heading else None
        if char in _MARKS and start.emphasis:
            closed = True
        elif char in _BLANK or char in _IGNORED:
            pass
        elif (char.isdigit() or char in "#(（)）.") and number < 5:
            number += 1
        else:
            return None
        index += 1
    if final:
        return Label(kind, index, False, start.quoted) if start.heading or alone else None
    return "more"


def _bracketed(line: str, at: int, start: _Decoration, kind: Kind, *, final: bool) -> Label | More:
    """Return the label that was closed by its bracket; a colon may follow."""
    index = at
    while index < len(line) and (line[index] in _MARKS or line[index] in _BLANK):
        index += 1
    if index == len(line) and not final:
        return "more"
    colon = index < len(line) and line[index] in _COLONS
    return Label(kind, index + 1 if colon else at, False, start.quoted)


def _behind_colon(
    line: str, at: int, start: _Decoration, kind: Kind, *, closed: bool, plain: bool, final: bool
) -> Label | More:
    marks = start.emphasis
    if closed or not marks:
        return Label(kind, at, plain and not start.quoted and not closed, start.quoted)
    if not final and len(line) - at < len(marks) and marks.startswith(line[at:]):
        return "more"
    if line.startswith(marks, at):
        return Label(kind, at + len(marks), False, start.quoted)
    return Label(kind, at, False, start.quoted, open_marks=marks)


def _candidate(names: Iterable[str]) -> re.Pattern[str]:
    firsts = sorted({"".join(map(_any_case, name[:6])) for name in names})
    blank = re.escape("".join(_BLANK))
    signs = rf"{blank}>#*_`~\[【［(（\-•+\d.)、）\u2000-\u206f\u2190-\u2bff\ufeff\ufe0f\U0001f000-\U0001faff"
    return re.compile(rf"[\n\r][{signs}]{{0,{_DECORATION}}}(?:{'|'.join(firsts)}|[\uff21-\uff5a]|```|~~~)")


_VARIANTS: dict[str, str] = {}
for _code in (*range(0x41, 0x5B), *range(0xC0, 0x530), *range(0x1E00, 0x1F00)):
    _VARIANTS[fold(chr(_code))] = _VARIANTS.get(fold(chr(_code)), "") + chr(_code)


def _any_case(char: str) -> str:
    """Return a class of the characters that :func:`fold` makes ``char``."""
    variants = _VARIANTS.get(char, "")
    return f"[{re.escape(char + variants)}]" if variants else re.escape(char)


TABLE = LabelTable()
