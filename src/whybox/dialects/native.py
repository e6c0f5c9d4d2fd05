"""The text beside native tool calls: read like any other, so that steps a model writes as text are found as well."""

from __future__ import annotations

from collections.abc import Sequence

from whybox.dialects.react import ReActReader
from whybox.ports import Reader, ToolSpec


class NativeCalls:
    """The dialect of models that call tools natively."""

    name = "native"

    def reader(self, tools: Sequence[ToolSpec], language: str) -> Reader:
        """Return a reader for the text of one reply."""
        return ReActReader(tools, language, form="native")

    def opening(self, language: str, *, answer: bool) -> str:
        """Return nothing: a reply may begin with a call."""
        return ""

    def stop(self, language: str) -> tuple[str, ...]:
        """Return nothing: results are never written as text."""
        return ()

    def grammar(self, tools: Sequence[ToolSpec], language: str) -> str:
        """Return nothing: the server sees to the form of its calls."""
        return ""
