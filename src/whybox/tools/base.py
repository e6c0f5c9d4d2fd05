"""Tools: ``@tool`` makes them, ``ToolRegistry`` holds them, ``load_tools_file`` finds them in a user's file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from whybox.errors import ToolDefinitionError
from whybox.ports import Tool, ToolSpec
from whybox.tools.arguments import BadArguments
from whybox.tools.function import FunctionTool, tool
from whybox.tools.user_file import load_tools_file

__all__ = ["BadArguments", "FunctionTool", "ToolRegistry", "load_tools_file", "tool"]


class ToolRegistry(Mapping[str, Tool]):
    """Tools by name, in the order they were given.

    Args:
        tools: functions made by :func:`tool`, or any objects with ``spec`` and ``call``.

    Raises:
        ToolDefinitionError: two tools have one name, or an object is no tool.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for each in tools:
            self.register(each)

    def register(self, added: Tool) -> Tool:
        """Add a tool behind the others and return it.

        Raises:
            ToolDefinitionError: its name is taken, or it is no tool.
        """
        spec = getattr(added, "spec", None)
        if not isinstance(spec, ToolSpec) or not callable(getattr(added, "call", None)):
            shown = getattr(added, "__name__", type(added).__name__)
            raise ToolDefinitionError(f'"{shown}" is not a tool', "put @tool above the function")
        if spec.name in self._tools:
            raise ToolDefinitionError(f'two tools are called "{spec.name}"', "rename one of them")
        self._tools[spec.name] = added
        return added

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of the tools, in order."""
        return tuple(each.spec for each in self._tools.values())

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"ToolRegistry({', '.join(self._tools)})"
