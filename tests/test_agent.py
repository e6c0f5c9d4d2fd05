"""The library's front door."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing

import pytest

from whybox.agent import Agent, checked
from whybox.errors import ModelUnreachable, UsageError
from whybox.events import Delta, Resumed, Stamped, Started, Stopped
from whybox.people import ScriptedPerson
from whybox.ports import Decision
from whybox.providers.scripted import ScriptedModel
from whybox.store import MemoryStore
from whybox.tools.base import tool
from whybox.trace import AgentState

STEP = "Thought: I double it.\nAction: double[21]"
ANSWER = "Thought: done\nFinal Answer: It is 42."


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: any number
    """
    return number * 2


@tool(risk="write")
def erase(name: str) -> str:
    """Erase a thing.

    Args:
        name: which
    """
    return f"{name} is gone"


def agent(*replies: object, **options: object) -> Agent:
    return Agent(ScriptedModel(replies), store=MemoryStore(), tools=[double, erase], **options)  # type: ignore[arg-type]


def test_a_run_gives_answer_steps_usage_and_trace() -> None:
    result = asyncio.run(agent(STEP, ANSWER).run("What is twice 21?"))
    assert result.answer == "It is 42."
    assert result.complete
    assert [step.observed[0].content for step in result.steps if step.observed] == ["42"]
    assert result.usage.prompt_tokens
    assert result.cost == 0
    assert result.reason is None
    assert "It is 42." in result._repr_html_()
    state = AgentState.of(result.trace)
    assert state.input == "What is twice 21?"
    assert [(call.tool, seen) for call, seen in state.intermediate_steps] == [("double", "42")]
    assert "Action: double[21]" in state.agent_scratchpad


def test_the_blocking_door_works_outside_and_inside_a_running_loop_and_twice() -> None:
    async def inside() -> str | None:
        return agent(ANSWER).run_sync("why?").answer

    asked = agent(ANSWER, ANSWER)
    assert asked.run_sync("why?").answer == asked.run_sync("why?").answer == "It is 42."
    assert asyncio.run(inside()) == "It is 42."


def test_the_stream_gives_stored_events_and_text_as_it_comes() -> None:
    async def collect() -> tuple[list[Stamped], str]:
        one = agent(STEP, ANSWER)
        events, answer = [], ""
        async with aclosing(one.stream("why?")) as items:
            async for item in items:
                if isinstance(item, Stamped):
                    events.append(item)
                    assert item in await one.store.read(item.run)  # stored first, then shown
                elif isinstance(item, Delta) and item.section == "answer":
                    answer += item.text
        return events, answer

    events, answer = asyncio.run(collect())
    assert answer == "It is 42."
    assert isinstance(events[0].event, Started)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


def test_runs_of_one_agent_at_the_same_time_do_not_mix() -> None:
    async def both() -> list[str | None]:
        one = agent(*[ANSWER] * 20)
        return [result.answer for result in await asyncio.gather(*(one.run(f"q{n}") for n in range(20)))]

    assert asyncio.run(both()) == ["It is 42."] * 20


def test_agents_in_two_threads_do_not_mix() -> None:
    answers: list[str | None] = []
    threads = [
        threading.Thread(target=lambda n=n: answers.append(agent(f"Final Answer: {n}").run_sync("q").answer))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(str(answer) for answer in answers) == ["0", "1", "2", "3"]


def test_a_run_whose_model_could_not_be_reached_goes_on_when_it_can() -> None:
    async def twice() -> None:
        store = MemoryStore()
        broken = Agent(ScriptedModel([STEP, ModelUnreachable("nobody there")]), store=store, tools=[double])
        first = await broken.run("q")
        assert first.answer is None
        assert first.reason == "nobody there"
        mended = Agent(ScriptedModel([ANSWER]), store=store, tools=[double])
        second = await mended.resume(first.run_id)
        assert second.answer == "It is 42."
        kinds = [type(stamped.event) for stamped in second.events]
        assert kinds.count(Resumed) == 1
        with pytest.raises(UsageError, match="has its answer"):
            await mended.resume(first.run_id)
        with pytest.raises(UsageError, match="no run"):
            await mended.resume("nothing")
        replayed = [stamped async for stamped in mended.replay(first.run_id)]
        assert replayed == list(second.events)

    asyncio.run(twice())


def test_a_risky_tool_is_refused_when_nobody_can_be_asked_and_run_when_a_person_allows_it() -> None:
    step = "Thought: away with it\nAction: erase[it]"
    refused = asyncio.run(agent(step, ANSWER).run("q"))
    assert refused.trace.observations[0].error == "rejected"
    person = ScriptedPerson([Decision(verdict="approve")])
    allowed = asyncio.run(agent(step, ANSWER, person=person).run("q"))
    assert allowed.trace.observations[0].content == "it is gone"
    assert person.asked[0].risk == "write"
    person = ScriptedPerson([Decision(verdict="stop")])
    stopped = asyncio.run(agent(step, ANSWER, person=person).run("q"))
    assert isinstance(stopped.events[-1].event, Stopped)
    always = asyncio.run(agent(step, ANSWER, approve="never").run("q"))
    assert always.trace.observations[0].error is None


def test_leaving_the_stream_early_leaves_a_stopped_run_behind() -> None:
    async def leave() -> None:
        one = agent(STEP, ANSWER)
        run = ""
        async with aclosing(one.stream("q")) as items:
            async for item in items:
                if isinstance(item, Stamped) and item.type == "asked":
                    run = item.run
                    break
        assert isinstance((await one.store.read(run))[-1].event, Stopped)

    asyncio.run(leave())


@pytest.mark.parametrize(("question", "part"), [("", "empty"), ("  \n", "empty"), ("x" * 100_001, "100,000")])
def test_a_question_that_cannot_be_asked_is_refused(question: str, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        checked(question)


def test_lone_surrogates_in_a_question_are_replaced() -> None:
    assert checked("a\ud83d\ude00 b\ud83d") == "a\U0001f600 b\ufffd"


def test_an_unknown_built_in_tool_is_named() -> None:
    with pytest.raises(UsageError, match="no built-in tool 'calc'"):
        asyncio.run(Agent(ScriptedModel([]), store=MemoryStore(), tools=["calc"]).run("q"))


def test_a_model_without_a_grammar_cannot_be_held_to_one() -> None:
    with pytest.raises(UsageError, match="cannot be held to a grammar"):
        asyncio.run(agent(ANSWER, mode="grammar").run("q"))
