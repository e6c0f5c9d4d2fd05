"""Which form a model's replies have in each mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from whybox.dialects.json_steps import JsonSteps, schema
from whybox.dialects.native import NativeCalls
from whybox.dialects.react import ReAct
from whybox.ports import Dialect, Mode, ToolSpec


class Dialects:
    """The dialect of each mode.

    Args:
        text: the form of replies in the modes ``text`` and ``grammar``; None for text ReAct.
    """

    def __init__(self, text: Dialect | None = None) -> None:
        self._text = text or ReAct()
        self._json, self._native = JsonSteps(), NativeCalls()

    def __getitem__(self, mode: Mode | str) -> Dialect:
        """Return the dialect of a mode."""
        return self._json if mode == "json" else self._native if mode == "tools" else self._text

    def schema(self, tools: Sequence[ToolSpec], *, answer: bool) -> dict[str, Any]:
        """Return the JSON schema of a step, or of an answer only."""
        return schema(() if answer else tools)
