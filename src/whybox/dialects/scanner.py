"""Walks a reply once, as it comes, and cuts it into sections.

A section opens at a label at the start of a line. The start of a line is held back only as long as it can still
become a label. Inside a code fence and behind the answer's label nothing is a label, with one exception: a
question or an observation behind an answer is held until the end, and cut if the model went on with a new turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from whybox.dialects.labels import FINISH, LINE_START, Kind, Label, fold, is_no_action, match

Where = Literal["preamble", "think", "thought", "action", "input", "answer", "turn"]
Piece = tuple[Where, str]

_STEP: frozenset[Kind] = frozenset({"thought", "action", "answer", "observation"})
_EXPECTED: dict[Where, frozenset[Kind]] = {
    "preamble": _STEP | {"question", "input"},
    "thought": _STEP,
    "action": _STEP | {"input", "question"},
    "input": _STEP | {"question"},
    "answer": frozenset({"question", "observation"}),
    "turn": frozenset({"thought", "action"}),
}
_THINK, _END_THINK = "<think>", "</think>"
_BLANK = " \t\r\n\ufeff\u200b"


@dataclass(slots=True)
class Span:
    """A section of the reply: where its content stands (in characters), and the content."""

    where: Where
    start: int
    end: int
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The content."""
        return "".join(self.pieces)


class Scanner:
    """Cuts one reply into spans.

    ``cut_at`` is where the part that does not count begins, or None; ``cut_by`` says why; ``plain`` is False when a
    label was decorated.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = [Span("preamble", 0, 0)]
        self.cut_at: int | None = None
        self.cut_by: str | None = None
        self.plain = True
        self._text = ""  # what has come and is not settled
        self._next = 0  # the first character of it that is not settled
        self._base = 0  # characters of the reply before it
        self._fresh = True  # whether the next character begins a line
        self._fenced = False

    @property
    def where(self) -> Where:
        """The section that is open."""
        return self.spans[-1].where

    def last(self, where: Where) -> Span | None:
        """Return the last span of this section."""
        return next((span for span in reversed(self.spans) if span.where == where), None)

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece and return the content that is settled by it, by section."""
        self._text += text
        return self._walk(final=False)

    def close(self) -> list[Piece]:
        """Return what was held back."""
        out = self._walk(final=True)
        turn = self.spans[-1]
        if turn.where == "turn" and self.cut_at is None:
            self.spans.pop()
            label = match(turn.text, frozenset({"observation"}), final=True)
            if not isinstance(label, Label) or turn.text[label.length :].strip():
                self.spans[-1].pieces.append(turn.text)
                self.spans[-1].end = turn.end
                out.append(("answer", turn.text))
            else:
                self._cut(turn.start, "stop_leftover")
        return out

    def _walk(self, *, final: bool) -> list[Piece]:
        out: list[Piece] = []
        while self._next < len(self._text) and self.cut_at is None:
            if self.where == "think":
                moved = self._thinking(out, final=final)
            elif self._fresh:
                moved = self._line_start(out, final=final)
            else:
                newline = self._text.find("\n", self._next)
                self._put(len(self._text) if newline < 0 else newline + 1, out)
                moved, self._fresh = True, newline >= 0
            if not moved:
                break
        if self.cut_at is not None:
            self._next = len(self._text)
        self._base, self._text, self._next = self._base + self._next, self._text[self._next :], 0
        return out

    def _line_start(self, out: list[Piece], *, final: bool) -> bool:
        line = self._text[self._next : self._next + LINE_START]
        newline = line.find("\n")
        line = line if newline < 0 else line[: newline + 1]
        settled = final or newline >= 0 or len(line) == LINE_START
        where = self.where
        if where in {"preamble", "thought"} and (tag := self._think_tag(line, settled)) is not None:
            return tag
        if where in {"thought", "input"} and not settled and "```".startswith(line.lstrip(" \t")):
            return False
        if where in {"thought", "input"} and line.lstrip(" \t").startswith("```"):
            self._fenced = not self._fenced
            found: Label | str | None = None
        else:
            found = None if self._fenced else match(line, _EXPECTED[where], final=settled)
        if found == "more":
            return False
        if isinstance(found, Label):
            self._open_at(found)
        elif final and where in {"action", "input"} and _is_leftover(line):
            self._cut(self._base + self._next, "stop_leftover")
        else:
            self._put(self._next + len(line), out)
            self._fresh = newline >= 0
        return True

    def _think_tag(self, line: str, settled: bool) -> bool | None:
        """Return whether a tag was taken, or None when there is none; False to wait for more."""
        lean = line.lstrip(_BLANK).lower()
        for tag in (_THINK, _END_THINK):
            if lean.startswith(tag):
                self._next += line.lower().index(tag) + len(tag)
                if tag == _END_THINK and self.where == "preamble":
                    self.spans[-1].where = "think"
                self._begin("think" if tag == _THINK else "preamble")
                return True
        if lean and not settled and (_THINK.startswith(lean) or _END_THINK.startswith(lean)):
            return False
        return None

    def _thinking(self, out: list[Piece], *, final: bool) -> bool:
        """Take thinking up to its end tag, which may come in pieces."""
        end = self._text.find(_END_THINK, self._next)
        if end >= 0:
            self._put(end, out)
            self._next += len(_END_THINK)
            self._begin("preamble")
            return True
        tail = self._text[max(self._next, len(self._text) - len(_END_THINK) + 1) :]
        keep = 0 if final else next((n for n in range(len(tail), 0, -1) if _END_THINK.startswith(tail[-n:])), 0)
        before = self._next
        self._put(len(self._text) - keep, out)
        return self._next > before

    def _open_at(self, label: Label) -> None:
        where, here, kind = self.where, self._base + self._next, label.kind
        self.plain = self.plain and label.plain
        if where == "answer":
            self._begin("turn")
            self._put(self._next + label.length, [])
            self._fresh = False
        elif where == "turn":
            self._cut(self.spans[-1].start, "next_turn")
        elif kind == "observation":
            self._cut(here, "invented_observation")
        elif kind == "question" and where != "preamble":
            self._cut(here, "next_turn")
        elif where in {"action", "input"} and kind != "input" and not self._goes_on(kind):
            self._cut(here, "rest_dropped")
        else:
            self._next += label.length
            self._begin("preamble" if kind == "question" else kind)
            self._fresh = kind in {"thought", "question"} and self._text[self._next - 1] == "\n"

    def _goes_on(self, kind: Kind) -> bool:
        """Whether a label behind an action still belongs to the step: there was no action in fact."""
        span = self.last("action")
        name = fold(span.text).strip(" \t\r\n`*'\"") if span else ""
        return not name or is_no_action(name) or (kind == "answer" and name in FINISH)

    def _begin(self, where: Where) -> None:
        at = self._base + self._next
        self.spans.append(Span(where, at, at))
        self._fenced = False
        self._fresh = True

    def _put(self, end: int, out: list[Piece]) -> None:
        text = self._text[self._next : end]
        self._next = end
        if text:
            span = self.spans[-1]
            span.pieces.append(text)
            span.end = self._base + end
            out.append((span.where, text))

    def _cut(self, at: int, why: str) -> None:
        self.cut_at, self.cut_by = at, why


def _is_leftover(line: str) -> bool:
    lean = fold(line.strip(_BLANK + "*#>_`"))
    return len(lean) > 2 and "observation".startswith(lean)
