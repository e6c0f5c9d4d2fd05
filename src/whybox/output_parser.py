"""The parser of replies on its own, under the name the field knows it by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from whybox.dialects.react import ReAct, parse
from whybox.events import Parsed
from whybox.ports import Reader, Tool, ToolSpec


class OutputParser:
    """Reads what a model wrote: a thought with a tool call, an answer, or why it can be neither.

    Args:
        tools: the tools on offer, as tools, as their specs, or as a registry.
        language: ``en`` or ``zh``: of the correction that is sent back for a reply that cannot be read.
    """

    def __init__(self, tools: Iterable[Tool | ToolSpec] | Mapping[str, Tool] = (), language: str = "en") -> None:
        given = tools.values() if isinstance(tools, Mapping) else tools
        self._tools = tuple(each if isinstance(each, ToolSpec) else each.spec for each in given)
        self._language = language

    def parse(self, text: str) -> Parsed:
        """Return what a whole reply means. Never raises: ``retry`` says what could not be read."""
        return parse(text, self._tools, self._language)

    def stream(self) -> Reader:
        """Return a reader for one reply that arrives in pieces; it reads as :meth:`parse` does."""
        return ReAct().reader(self._tools, self._language)
