"""The answer as it streams: what may be shown now, without what may turn out not to belong to it."""

from __future__ import annotations

import re

from whybox.dialects.endings import SPECIAL, TURN, without_special
from whybox.dialects.labels import INVISIBLE

_TOKENS = tuple(dict.fromkeys((*SPECIAL, *TURN)))
_LONGEST = max(map(len, _TOKENS))
_FIRST = "".join(sorted({token[0] for token in _TOKENS}))
_PLAIN = re.compile(rf"[^{re.escape(_FIRST)}`]*[^{re.escape(_FIRST)}`\s]")
_LEAD = re.compile(rf"\A[\s{INVISIBLE}]+")
_MOST_TOKENS = 8
_NEXT_TURN = re.compile(rf"(?:{'|'.join(map(re.escape, SPECIAL))})\s{{0,20}}(?:{'|'.join(map(re.escape, TURN))})")


class AnswerStream:
    """Holds back white space and the beginnings of end-of-text tokens until more of the answer follows.

    Args:
        open_marks: emphasis that was opened before the answer's label and closes in its first line.

    ``cut`` says that the model went on with a turn of somebody else, which is left out.
    """

    def __init__(self, open_marks: str = "") -> None:
        self.cut = False
        self._marks = open_marks
        self._held = ""
        self._blank: list[str] = []  # white space behind what is held
        self._shown: list[str] = []
        self._begun = False
        self._fences = 0
        self._counted = 0  # how many of the pieces shown have been looked through for fences

    @property
    def text(self) -> str:
        """What has been shown."""
        return "".join(self._shown)

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be shown now."""
        if self.cut:
            return ""
        if self._begun and not self._marks and text.isspace():
            self._blank.append(text)
            return ""
        if self._blank:
            text = "".join(self._blank) + text
            self._blank.clear()
        if self._begun and not self._held and _PLAIN.fullmatch(text):
            self._shown.append(text)
            return text
        self._held += text
        if not self._begun:
            self._held = _LEAD.sub("", self._held)
            self._begun = bool(self._held)
        if self._marks:
            if "\n" not in self._held:
                return ""
            self._close_marks()
        end, counted, fences = self._safe(), 0, -1
        for turn in _NEXT_TURN.finditer(self._held):
            fences = self._fences_shown() if fences < 0 else fences
            fences += self._held.count("```", counted, turn.start())
            counted = turn.start()
            if fences % 2 == 0:
                out = self._show(_without_space(self._held, turn.start()))
                self.cut, self._held = True, ""
                return out
            # In a code fence such tokens are what the answer is about.
            end = max(end, turn.end())
        return self._show(end)

    def close(self) -> str:
        """Return what was held back and belongs to the answer."""
        self._held += "".join(self._blank)
        if self._marks:
            self._close_marks()
        lead = self._held[: len(self._held) - len(self._held.lstrip())]
        rest, dropped = without_special(self._held)
        self.cut = self.cut or bool(dropped)
        self._held = lead + rest if rest else ""
        return self._show(len(self._held))

    def _show(self, end: int) -> str:
        now, self._held = self._held[:end], self._held[end:]
        if now:
            self._shown.append(now)
        return now

    def _fences_shown(self) -> int:
        """Return how many fences stand in what has been shown."""
        self._fences += "".join(self._shown[self._counted :]).count("```")
        self._counted = len(self._shown)
        return self._fences

    def _close_marks(self) -> None:
        line, newline, rest = self._held.partition("\n")
        bare = line.rstrip()
        line = bare.removesuffix(self._marks) if bare.endswith(self._marks) else line.replace(self._marks, "", 1)
        self._held, self._marks = line + newline + rest, ""

    def _safe(self) -> int:
        """Return how much may be shown: up to white space and tokens, the last of them perhaps not whole yet."""
        held = self._held
        end = _without_space(held, len(held))
        for number in range(_MOST_TOKENS):
            start = max(held.rfind(char, max(0, end - _LONGEST), end) for char in _FIRST)
            tail = held[start:end]
            if start < 0 or not any(name == tail or (number == 0 and name.startswith(tail)) for name in _TOKENS):
                break
            end = _without_space(held, start)
        return end


def _without_space(text: str, end: int) -> int:
    return len(text[:end].rstrip())
