"""whybox: a white-box AI assistant that shows every prompt, thought, action and observation, and keeps them.

    from whybox import Agent, tool

Importing the package does nothing; each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whybox.agent import Agent
    from whybox.errors import WhyboxError
    from whybox.events import Delta, Event, Stamped
    from whybox.output_parser import OutputParser
    from whybox.people import ScriptedPerson
    from whybox.ports import Model, Person, Store, Tool
    from whybox.providers.scripted import ScriptedModel
    from whybox.result import Result
    from whybox.spec import Limits
    from whybox.store.memory import MemoryStore
    from whybox.store.sql import SqlStore
    from whybox.tools.base import ToolRegistry, tool
    from whybox.trace import AgentState, Trace

    __version__: str

__all__ = [
    "Agent",
    "AgentState",
    "Delta",
    "Event",
    "Limits",
    "MemoryStore",
    "Model",
    "OutputParser",
    "Person",
    "Result",
    "ScriptedModel",
    "ScriptedPerson",
    "SqlStore",
    "Stamped",
    "Store",
    "Tool",
    "ToolRegistry",
    "Trace",
    "WhyboxError",
    "__version__",
    "tool",
]

_HOMES = {
    "Agent": "agent",
    "AgentState": "trace",
    "Delta": "events",
    "Event": "events",
    "Limits": "spec",
    "MemoryStore": "store.memory",
    "Model": "ports",
    "OutputParser": "output_parser",
    "Person": "ports",
    "Result": "result",
    "ScriptedModel": "providers.scripted",
    "ScriptedPerson": "people",
    "SqlStore": "store.sql",
    "Stamped": "events",
    "Store": "ports",
    "Tool": "ports",
    "ToolRegistry": "tools.base",
    "Trace": "trace",
    "WhyboxError": "errors",
    "tool": "tools.base",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("whybox")
    elif name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
