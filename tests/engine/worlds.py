"""Small worlds for the engine: a spec, tools that count their calls, scripted models and people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from whybox.dialects.react import ReAct
from whybox.engine.drive import Edges, drive
from whybox.errors import ModelError
from whybox.events import Delta, Event, Resumed, Stamped, Started
from whybox.people import ScriptedPerson
from whybox.ports import Abilities, Decision, Output, Reply, ToolSpec
from whybox.providers.scripted import ScriptedModel
from whybox.spec import AgentSpec, Limits
from whybox.store import MemoryStore
from whybox.trace import Trace

ONE_TEXT = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
NOTHING = {"type": "object", "properties": {}}
DIALECT = ReAct()


class CountingTool:
    """Answers what it is told to, and remembers the arguments of every call."""

    def __init__(self, name: str, output: Output, risk: str = "read", parameters: dict[str, Any] = ONE_TEXT) -> None:
        self.spec = ToolSpec(name=name, description={"en": name}, parameters=parameters, risk=risk)
        self.output = output
        self.calls: list[dict[str, Any]] = []

    async def call(self, arguments: dict[str, Any]) -> Output:
        self.calls.append(arguments)
        return self.output


class World:
    """An agent whose model, person and tools follow a script."""

    def __init__(
        self,
        replies: Sequence[str | Reply | ModelError],
        decisions: Sequence[Decision] = (),
        *,
        language: str = "en",
        limits: Limits | None = None,
        **spec: Any,
    ) -> None:
        self.tools = {
            tool.spec.name: tool
            for tool in (
                CountingTool("search", Output(text="found it")),
                CountingTool("broken", Output(text="Error: ZeroDivisionError: x", error="failed")),
                CountingTool("send", Output(text="sent"), risk="write"),
                CountingTool("clock", Output(text="noon"), parameters=NOTHING),
            )
        }
        self.model = ScriptedModel(replies, abilities=Abilities(prefix=True, tokenizer=True))
        self.person = ScriptedPerson(decisions)
        self.store = MemoryStore()
        self.spec = AgentSpec(
            model=self.model.name,
            language=language,
            tools=tuple(tool.spec for tool in self.tools.values()),
            limits=limits or Limits(max_steps=6),
            prefix=True,
            **spec,
        )
        self.deltas: list[Delta] = []

    @property
    def edges(self) -> Edges:
        return Edges(model=self.model, tools=self.tools, person=self.person, store=self.store)

    async def go(self, question: str = "Why?", after: Sequence[Event] = ()) -> list[Stamped]:
        """Run, or resume behind ``after``, and return what a watcher saw."""
        if after:
            await self.store.append("r", 0, list(after))
        first = Resumed() if after else Started(question=question, language=self.spec.language)
        seen: list[Stamped] = []
        async with aclosing(drive(self.spec, DIALECT, self.edges, "r", Trace(after), first)) as items:
            async for item in items:
                if isinstance(item, Stamped):
                    seen.append(item)
                elif isinstance(item, Delta):
                    self.deltas.append(item)
        return seen

    @property
    def tool_calls(self) -> int:
        return sum(len(tool.calls) for tool in self.tools.values())
