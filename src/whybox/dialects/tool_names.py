"""Which tool a name stands for. A name is never guessed: what is not clear is asked again, with the nearest names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from whybox.dialects.labels import INVISIBLE, fold
from whybox.ports import ToolSpec

LONGEST_NAME = 80
_SEPARATORS = re.compile(r"[\s_\-.]+")
_NAMESPACES = ("functions", "function", "tools", "tool", "default_api", "api", "actions", "action")
_ARTICLES = re.compile(r"(?:(?:the|use|using|call|调用|使用)\s+)+|调用|使用")
_TOOL_SUFFIX = re.compile(r"[\s_-]*(?:tool|function|工具)$")
_DROPPED = str.maketrans("", "", INVISIBLE)


def clean_name(name: str) -> str:
    """Return ``name`` without quotation marks, emphasis, brackets and punctuation around it."""
    name = (
        name[: 4 * LONGEST_NAME]
        .translate(_DROPPED)
        .split("<|")[0]
        .strip(" \t\r\n*`'\"“”‘’「」《》:：.。,，;；")
        .lstrip("> ")
    )
    for opening, closing in ("[]", "【】", "<>", "()", "（）", "{}"):
        if name.startswith(opening) and name.endswith(closing):
            name = name[1:-1].strip(" \t*`'\"")
    return name.rstrip("(（[")


def known(tools: Sequence[ToolSpec], name: str) -> tuple[ToolSpec | None, tuple[str, ...]]:
    """Return the tool that ``name`` stands for, and the repair that was needed.

    Case, separators, a namespace (``functions.search``), a doubled name and the word "tool" may differ. When two tools
    fit, there is none.
    """
    exact = next((tool for tool in tools if tool.name == name), None)
    if exact:
        return exact, ()
    if len(name) > LONGEST_NAME:
        return None, ()
    names = _spellings(name)
    alike = [tool for tool in tools if _plain(tool.name) in names]
    if len(alike) > 1:
        alike = [tool for tool in alike if _plain(tool.name) == _plain(name)]
    return (alike[0], ("tool_name",)) if len(alike) == 1 else (None, ())


def nearest(tools: Sequence[ToolSpec], name: str) -> str | None:
    """Return the tool whose name is nearest to an unknown one, or None when none is near."""
    by_plain = {_plain(tool.name): tool.name for tool in tools}
    close = get_close_matches(_plain(name[:LONGEST_NAME]), list(by_plain), n=1, cutoff=0.6)
    return by_plain[close[0]] if close else None


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", fold(name))


def _spellings(name: str) -> set[str]:
    lower = fold(clean_name(name)).removesuffix(".call")
    found = {lower, _ARTICLES.sub("", lower, count=1)}
    found |= {_TOOL_SUFFIX.sub("", each) for each in found}
    head, dot, tail = lower.rpartition(".")
    if dot and (head == tail or head in _NAMESPACES):
        found.add(tail)
    head, colon, tail = lower.partition(":")
    if colon and (head.strip() in _NAMESPACES or tail.isdigit()):
        found.add(head if tail.isdigit() else tail.strip())
        found |= {each.rpartition(".")[2] for each in list(found) if each.partition(".")[0] in _NAMESPACES}
    return {_plain(each) for each in found} - {""}
