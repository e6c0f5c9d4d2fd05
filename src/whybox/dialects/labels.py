"""The labels of sections, as data: which words open what, in which language."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

Kind = Literal["thought", "action", "input", "observation", "answer", "question", "think"]

LABELS: tuple[tuple[str, Kind, tuple[str, ...]], ...] = (
    ("en", "thought", ("thought", "thoughts")),
    ("en", "action", ("action",)),
    ("en", "input", ("action input", "actioninput", "action_input", "input")),
    ("en", "observation", ("observation", "observations")),
    ("en", "answer", ("final answer", "finalanswer", "final_answer", "answer")),
    ("en", "question", ("question",)),
    ("zh", "thought", ("思考", "想法")),
    ("zh", "action", ("行动", "动作")),
    ("zh", "input", ("行动输入", "动作输入", "输入")),
    ("zh", "observation", ("观察结果", "观察")),
    ("zh", "answer", ("最终答案", "答案")),
    ("zh", "question", ("问题",)),
)

FINISH = frozenset({"finish", "final answer", "final_answer", "finalanswer", "完成", "结束"})
"""Names of the built-in action that gives the answer."""

NO_ACTION = frozenset({"none", "null", "n/a", "na", "no action", "no tool", "无", "没有", "不需要", "无需"})
"""What a model writes for an action when it means that there is none."""

SPECIAL = ("</s>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>")
"""End-of-text tokens that some servers leave in the text."""

_IGNORED = frozenset("\u200b\u200c\u200d\u2060\ufeff\ufe0f")
_MARKS = frozenset("*_`")
_COLONS = frozenset(":：")
LINE_START = 64
"""A label, with what decorates it, ends within this many characters of its line."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label found at the start of a line: its kind, the length of the whole, and whether it was decorated."""

    kind: Kind
    length: int
    plain: bool


More = Literal["more"]


def fold(text: str) -> str:
    """Return ``text`` in lower case with full-width letters made plain; each character stays one character."""
    return "".join(_folded(char) for char in text)


def _folded(char: str) -> str:
    if "\uff01" <= char <= "\uff5e":
        char = chr(ord(char) - 0xFEE0)
    lower = char.lower()
    return lower if len(lower) == 1 else char


def is_no_action(name: str) -> bool:
    """Return whether ``name``, folded, says that there is no action."""
    first = name.split("(")[0].split("（")[0].strip(" .。")
    return first in NO_ACTION or first.startswith(("无需", "不需要"))


def match(line: str, kinds: frozenset[Kind], *, final: bool = False) -> Label | More | None:
    """Return the label that ``line`` begins with, None when there is none, ``more`` when that cannot be said yet.

    Args:
        line: the beginning of a line, as far as it has come.
        kinds: the kinds that count here.
        final: nothing follows, so there is nothing to wait for.
    """
    start, marks = _decoration(line)
    if start is None:
        return None
    rest = fold(line[start:])
    best: Label | None = None
    waiting = not rest
    for _, kind, names in LABELS:
        if kind not in kinds:
            continue
        for name in names:
            if rest.startswith(name):
                end = _tail(line, start + len(name), marks)
                if end == "more":
                    waiting = True
                elif end is not None and (best is None or end > best.length):
                    best = Label(kind, end, plain=start == 0 and not marks)
            elif name.startswith(rest):
                waiting = True
    if waiting and best is None and not final:
        return "more"
    return best


def _decoration(line: str) -> tuple[int | None, str]:
    """Return where the first letter stands and the emphasis marks right before it; None when there is too much."""
    index, marks = 0, ""
    while index < len(line):
        char = line[index]
        if index > 16:
            return None, ""
        if char in _MARKS:
            marks += char
        elif char in " \t>#" or char in _IGNORED or unicodedata.category(char) == "So":
            marks = "#" if char == "#" else ("#" if marks == "#" else "")
        elif char == "[":
            marks = "["
        elif char.isdigit():
            behind = index + 1
            while behind < len(line) and line[behind].isdigit() and behind < index + 3:
                behind += 1
            if behind < len(line) and line[behind] not in ".)、":
                return None, ""
            index, marks = behind, ""
        else:
            break
        index += 1
    return min(index, len(line)), marks


def _tail(line: str, at: int, marks: str) -> int | More | None:
    """Return where the content begins behind the label's name, which ends at ``at``."""
    index, closed = at, not marks or marks == "#"
    while index < len(line):
        char = line[index]
        if char in _COLONS:
            return _behind_colon(line, index + 1, "" if closed else marks)
        if char == "\n" or (char == "]" and marks == "["):
            return index + 1 if marks else None
        if char in _MARKS:
            closed = True
        elif not (char in " \t" or char in _IGNORED or (char.isdigit() and index - at < 5)):
            return None
        index += 1
    return "more"


def _behind_colon(line: str, at: int, marks: str) -> int | More:
    if marks in {"", "["}:
        return at
    if len(line) - at < len(marks):
        return "more" if marks.startswith(line[at:]) else at
    return at + len(marks) if line.startswith(marks, at) else at
