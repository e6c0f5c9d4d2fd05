"""The answer as it streams: what may be shown now, without what may turn out not to belong to it."""

from __future__ import annotations

from whybox.dialects.labels import SPECIAL

_LONGEST = max(map(len, SPECIAL))
_MOST_TOKENS = 8
"""More end-of-text tokens in a row than this are text."""


class AnswerStream:
    """Holds back white space and the beginnings of end-of-text tokens until more of the answer follows."""

    def __init__(self) -> None:
        self._held = ""
        self._shown = 0
        self._begun = False

    def feed(self, text: str) -> str:
        """Take the next piece and return what may be shown now."""
        self._held += text
        if not self._begun:
            self._held = self._held.lstrip()
            self._begun = bool(self._held)
        safe = self._safe()
        now, self._held = self._held[:safe], self._held[safe:]
        self._shown += len(now)
        return now

    def whole(self, text: str) -> str:
        """Return the answer that ``text``, all that stood behind the label, gives."""
        return without_special(text)

    def rest(self, answer: str) -> str:
        """Return what has not been shown of the answer."""
        return answer[self._shown :]

    def _safe(self) -> int:
        """Return how much may be shown: up to white space and tokens, the last of them perhaps not whole yet."""
        end = _without_space(self._held, len(self._held))
        for number in range(_MOST_TOKENS):
            start = self._held.rfind("<", max(0, end - _LONGEST), end)
            tail = self._held[start:end]
            if start < 0 or not any(name == tail or (number == 0 and name.startswith(tail)) for name in SPECIAL):
                break
            end = _without_space(self._held, start)
        return end


def without_special(text: str) -> str:
    """Return ``text`` stripped of white space and of end-of-text tokens at its end."""
    text = text.strip()
    for _ in range(_MOST_TOKENS):
        name = next((name for name in SPECIAL if text.endswith(name)), None)
        if name is None:
            break
        text = text.removesuffix(name).rstrip()
    return text


def _without_space(text: str, end: int) -> int:
    while end and text[end - 1].isspace():
        end -= 1
    return end
