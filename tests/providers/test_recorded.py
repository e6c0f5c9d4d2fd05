"""The replies of a recorded run, given again."""

from __future__ import annotations

import asyncio

import pytest

from tests.engine.worlds import World
from whybox import Agent, MemoryStore
from whybox.errors import ModelBroken, UnknownModel
from whybox.events import Event
from whybox.ports import Message, Reply, Request
from whybox.providers.recorded import RecordedModel
from whybox.providers.scripted import ScriptedModel
from whybox.tools.base import tool


def recorded(events: list[Event], name: str = "replay:r") -> RecordedModel:
    async def load() -> list[Event]:
        return events

    return RecordedModel(name, load)


@pytest.mark.parametrize("prefix", ["", "Thought:"])
def test_a_run_is_given_again_whether_or_not_the_replies_were_begun(prefix: str) -> None:
    @tool
    def search(query: str) -> str:
        """Search.

        Args:
            query: what for.
        """
        return "found it"

    script = [
        "Thought: I look.\nAction: search[x]",
        ("Thought: br", ModelBroken("lost")),
        "Thought: so\nFinal Answer: Six.",
    ]
    world = World(script)
    world.spec = world.spec.model_copy(update={"prefix": bool(prefix)})
    events = [stamped.event for stamped in asyncio.run(world.go())]

    async def again() -> str | None:
        async with Agent(recorded(events), store=MemoryStore(), tools=[search], mode="text") as agent:
            result = await agent.run("Why?")
            assert [o.content for o in result.trace.observations] == ["found it"]
            assert result.cost == 0
            return result.answer

    assert asyncio.run(again()) == "Six."


def test_a_run_without_a_reply_cannot_be_given_again() -> None:
    async def ask() -> None:
        async for _ in recorded([]).stream(Request(messages=(Message(role="user", content="q"),))):
            pass

    with pytest.raises(UnknownModel, match="no reply"):
        asyncio.run(ask())


def test_usage_and_calls_are_those_that_were_recorded() -> None:
    reply = Reply(text="Thought: x\nFinal Answer: y", reasoning="hm")
    world = World([reply])
    world.model = ScriptedModel([reply])
    events = [stamped.event for stamped in asyncio.run(world.go())]

    async def ask() -> Reply:
        request = Request(messages=(Message(role="user", content="q"),), prefix="Thought:")
        *_, last = [item async for item in recorded(events).stream(request)]
        assert isinstance(last, Reply)
        return last

    again = asyncio.run(ask())
    original = next(event for event in events if event.type == "replied")
    assert (again.text, again.reasoning, again.usage) == (original.text, original.reasoning, original.usage)
