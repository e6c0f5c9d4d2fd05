"""What a docstring says of a function and its arguments (Google style)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?|See Also|Warnings?):\s*$")
_ARGUMENT_SECTIONS = {"Args", "Arguments", "Parameters"}
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^()]*\))?\s*[:：]\s*(.*)")


def parse_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return the description (all text before the first section) and the description of each argument."""
    lines = (inspect.getdoc(function) or "").splitlines()
    head: list[str] = []
    arguments: list[str] = []
    section: str | None = None
    for line in lines:
        found = _SECTION.match(line)
        if found:
            section = found[1]
        elif section is None:
            head.append(line)
        elif section in _ARGUMENT_SECTIONS:
            arguments.append(line)
    return _paragraphs(head), _entries(arguments)


def _paragraphs(lines: Iterable[str]) -> str:
    """Join lines into paragraphs of one line each."""
    blocks = re.split(r"\n[ \t]*\n", "\n".join(lines).strip())
    return "\n".join(" ".join(block.split()) for block in blocks if block.strip())


def _entries(lines: list[str]) -> dict[str, str]:
    """Read ``name: text`` entries; lines that are indented deeper go on with the entry before them."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        return {}
    indent = _indent(filled[0])
    entries: dict[str, str] = {}
    name = ""
    for line in filled:
        found = _ENTRY.match(line.strip()) if _indent(line) <= indent else None
        if found:
            name = found[1]
            entries[name] = found[2].strip()
        elif name:
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
