"""Small worlds for the engine: a spec, tools that count their calls, scripted models and people."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from whybox.dialects.by_mode import Dialects
from whybox.engine.drive import Edges, drive
from whybox.events import Delta, Event, Resumed, Stamped, Started
from whybox.people import ScriptedPerson
from whybox.ports import Abilities, Decision, Mode, Output, ToolSpec
from whybox.providers.scripted import Said, ScriptedModel
from whybox.spec import AgentSpec, Limits
from whybox.store import MemoryStore
from whybox.tools.runner import SideBySide
from whybox.trace import Trace

ONE_TEXT = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
NOTHING = {"type": "object", "properties": {}}
DIALECTS = Dialects()


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
        replies: Sequence[Said],
        decisions: Sequence[Decision] = (),
        *,
        language: str = "en",
        limits: Limits | None = None,
        others: Sequence[ScriptedModel] = (),
        mode: Mode = "text",
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
            mode=mode,
            prefix=mode in ("text", "grammar"),
            **spec,
        )
        self.others = {model.name: model for model in others}
        self.pauses: list[float] = []
        self.deltas: list[Delta] = []

    @property
    def edges(self) -> Edges:
        models = {self.model.name: self.model, **self.others}
        tools = SideBySide(self.tools)
        return Edges(models=models, tools=tools, person=self.person, store=self.store, pause=self._pause)

    async def _pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def go(self, question: str = "Why?", after: Sequence[Event] = ()) -> list[Stamped]:
        """Run, or resume behind ``after``, and return what a watcher saw."""
        if after:
            await self.store.append("r", 0, list(after))
        first = Resumed() if after else Started(question=question, language=self.spec.language)
        seen: list[Stamped] = []
        async with aclosing(drive(self.spec, DIALECTS, self.edges, "r", Trace(after), first)) as items:
            async for item in items:
                if isinstance(item, Stamped):
                    seen.append(item)
                elif isinstance(item, Delta):
                    self.deltas.append(item)
        return seen

    @property
    def tool_calls(self) -> int:
        return sum(len(tool.calls) for tool in self.tools.values())
