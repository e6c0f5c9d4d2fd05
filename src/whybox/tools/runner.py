"""Running tools within limits."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import anyio

from whybox.events import Call
from whybox.ports import Output, Tool, ToolSpec
from whybox.tools.results import failure, in_language

_UNKNOWN_OUTCOME = {
    "en": (
        "No result after {seconds} seconds. The outcome is unknown: {name} may still be running and may yet take "
        "effect. Do not take it as failed; check before you call it again."
    ),
    "zh": (
        "{seconds} 秒后仍没有结果。结果未知：{name} 可能仍在运行，也可能已经生效。不要当作失败；再次调用之前先核实。"
    ),
}


class Guarded:
    """A tool with a limit on its time. ``spec`` is that of the tool."""

    def __init__(self, tool: Tool, timeout: float, language: str = "en") -> None:
        self.spec: ToolSpec = tool.spec
        self._tool = tool
        self._timeout = timeout
        self._language = language

    async def call(self, arguments: dict[str, Any]) -> Output:
        """Run the tool; failures are an :class:`Output` with ``error``, only cancellation is raised."""
        with anyio.move_on_after(self._timeout):
            try:
                return await self._tool.call(arguments)
            except Exception as error:  # noqa: BLE001 - a run does not end because a tool broke its promise
                return failure(error)
        text = in_language(_UNKNOWN_OUTCOME, self._language)
        return Output(text=text.format(seconds=f"{self._timeout:g}", name=self.spec.name), error="timeout")


def guard(tool: Tool, timeout: float, language: str = "en") -> Tool:
    """Return ``tool`` with a limit on the time of each call.

    A call that takes longer returns at once with ``error="timeout"`` and a text that says the outcome is unknown: a
    thread cannot be ended, so the work may still be running. What a tool raises against its promise becomes
    ``error="failed"``. An async tool is cancelled; one that blocks the event loop cannot be.

    Args:
        tool: any tool.
        timeout: the longest time of one call, in seconds.
        language: ``en`` or ``zh``, for the text.
    """
    return Guarded(tool, timeout, language)


class SideBySide:
    """Runs the calls of one reply side by side; see :class:`whybox.ports.ToolRunner`.

    Args:
        tools: by name.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools

    async def run(self, calls: Sequence[Call]) -> AsyncGenerator[tuple[Call, Output], None]:
        """Run the calls, yielding what came of each as soon as it is there."""
        # Not a task group: its scope may not stay open while a generator is suspended.
        running = [asyncio.ensure_future(self._one(call)) for call in calls]
        try:
            for done in asyncio.as_completed(running):
                yield await done
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _one(self, call: Call) -> tuple[Call, Output]:
        return call, await self._tools[call.tool].call(call.arguments)
