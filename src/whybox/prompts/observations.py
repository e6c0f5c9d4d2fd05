"""A tool's text on its way into a prompt: short enough, and unable to pose as the agent's own steps."""

from __future__ import annotations

import re
import unicodedata
from itertools import islice

from whybox.prompts.labels import ALONE, LABELS

_COLONS = frozenset(":：﹕︰∶꞉ː")
_DECORATION = frozenset("*_#>~`-+•·●◆▪–—=\"'“”‘’「」『』[]【】()（）<{}《》〈〉")
_NUMBERING = frozenset(".)、．")

_CLOSING = {"[": "]", "［": "]", "(": ")", "（": ")", "【": "】"}

_GUARD = "| "

_BREAK = re.compile(r"\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC, DCS ...: titles, links
    r"|\x1b[ -/]*[0-~]"  # two characters: character sets, reset
    r"|[\x00-\x08\x0e-\x1f\x7f-\x9f]"
)


def _letters(text: str) -> str:
    """Return the letters and digits of ``text`` in one case, without accents, full-width forms made plain."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in unicodedata.normalize("NFKD", plain) if char.isalnum())


_LABELS = frozenset(_letters(name) for _, _, names in LABELS for name in names)
_ALONE = frozenset(map(_letters, ALONE))
_LONGEST_LABEL = max(map(len, _LABELS))


def fold(text: str, limit_chars: int, language: str = "en") -> str:
    """Return ``text`` with its middle left out, so that it has at most ``limit_chars`` characters.

    What is left out is counted in the text itself: ``[... 1204 characters omitted ...]``. Two thirds of the room go
    to the head. Head, mark and tail stay on one line where the cut is, so a cut never makes a new line begin.

    Args:
        text: what a tool returned.
        limit_chars: the longest result, in characters; under 80 the mark alone may be longer than the limit.
        language: ``en`` or ``zh``, for the mark.
    """
    if len(text) <= limit_chars:
        return text
    room = max(0, limit_chars - len(_mark(len(text), language)))
    head = room * 2 // 3
    tail = room - head
    folded = text[:head] + _mark(len(text) - room, language) + text[len(text) - tail :]
    return folded if len(folded) < len(text) else text


def _mark(omitted: int, language: str) -> str:
    return f" [... 省略 {omitted} 个字符 ...] " if language == "zh" else f" [... {omitted} characters omitted ...] "


def neutralise(text: str) -> str:
    """Return ``text`` so that none of its lines can open a step of the agent in a prompt.

    A line that begins with the label of a step (``Thought:``, ``**最终答案**：``, ``## 2. action input :`` ...) gets
    ``| `` in front. Line breaks of every kind become ``\\n``; other control characters than tabs and the escape
    sequences of terminals are taken out. Everything else stays as it is. Linear in the length of the text, and doing
    it twice is the same as doing it once.
    """
    plain = _CONTROL.sub("", _BREAK.sub("\n", text))
    return "\n".join(_GUARD + line if _opens_step(line) else line for line in plain.split("\n"))


def _opens_step(line: str) -> bool:
    """Tell whether a line begins with a label, read as a lenient reader might read it."""
    start = _content_start(line)
    decoration = frozenset(line[:start])
    ends = _COLONS | {_CLOSING[char] for char in decoration if char in _CLOSING}
    significant = (char for char in islice(line, start, None) if not _is_invisible(char))
    seen = ""
    for char in significant:
        for folded in unicodedata.normalize("NFKC", char):
            if folded in ends:
                return _is_label(seen)
            letters = _letters(folded)
            seen += letters
            if not (letters or folded.isspace() or folded in _DECORATION or _is_invisible(folded)):
                return False
        if len(seen) > _LONGEST_LABEL + 6:
            return False
    return seen in _ALONE or (not decoration.isdisjoint("*#_`") and seen in _LABELS)


def _is_label(seen: str) -> bool:
    """Tell whether the letters before a colon are a label, which may carry a number (``thought12``)."""
    return seen.rstrip("0123456789一二三四五六七八九十") in _LABELS


def _content_start(line: str) -> int:
    """Return where a line's first word begins, behind blanks, decoration, pictures and numbering."""
    for position, char in enumerate(line):
        skipped = char.isspace() or char in _DECORATION or char in _NUMBERING or _is_invisible(char)
        if not (skipped or unicodedata.category(char) in {"Nd", "No", "So"}):
            return position
    return len(line)


def _is_invisible(char: str) -> bool:
    """Tell whether a character takes no room of its own: zero-width, direction marks, accents and selectors."""
    return unicodedata.category(char) in {"Cf", "Mn", "Me"}
