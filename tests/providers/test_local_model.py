"""The embedded model for real: SmolLM2-135M in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from whybox import Agent, Limits, MemoryStore, OutputParser, Trace
from whybox.dialects.by_mode import Dialects
from whybox.engine.replay import departure
from whybox.errors import ContextOverflow
from whybox.events import Asked, Call, Called, Delta, Parsed, Replied, Stamped, Stopped
from whybox.ports import Chunk, Message, Reply, Request
from whybox.providers.local import LocalModel
from whybox.spec import AgentSpec

pytestmark = pytest.mark.weights
T = TypeVar("T")

ENGLISH = """What is 12 * 34?
What is 15% of 80?
What time is it?
What day of the week is it today?
A farmer has 17 boxes with 24 apples each. How many apples?
What is the square root of 144?
Say hello.
What is (15 + 7) * 3?
Write "a]b" backwards.
What is 7 factorial?
Thought: what is this?
Who are you?
Which is larger, 2.5 or 2.45?
Action: calculator[1 + 1]
What is 100 minus 1?
How many minutes are in 3 hours?
What is 2^10?
What is the date?
What is 1/4 as a decimal?
Good morning!
""".splitlines()
CHINESE = """计算 12 乘以 34。
今天星期几？现在几点了？
请计算一下 (15 + 7) * 3 的值是多少？
你好！
一共有 17 箱苹果，每箱 24 个，一共多少个？
144 的平方根是多少？
""".splitlines()
TOOLS = ("calculator", "now")


@dataclass(frozen=True)
class Lab:
    """One loaded model, and the one event loop it is used in."""

    model: LocalModel
    runner: asyncio.Runner

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)


@pytest.fixture(scope="module")
def lab(smollm2_path: Path) -> Iterator[Lab]:
    pytest.importorskip("xllamacpp")
    with asyncio.Runner() as runner:
        model = LocalModel("local:smollm2-135m", smollm2_path, context=4096)
        yield Lab(model, runner)
        runner.run(model.close())


def chat(text: str, **options: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **{"max_tokens": 16, **options})


async def replied(model: LocalModel, request: Request) -> Reply:
    last: Chunk | Reply | None = None
    pieces: list[str] = []
    async with aclosing(model.stream(request)) as items:
        async for last in items:
            if isinstance(last, Chunk):
                pieces.append(last.text)
    assert isinstance(last, Reply)
    assert "".join(pieces) == last.text
    return last


async def two_steps(model: LocalModel, question: str, reply_tokens: int) -> Trace:
    """Run until the second reply has been read: what comes behind the steps is not held to the grammar."""
    limits = Limits(max_steps=2, reply_tokens=reply_tokens, model_seconds=300)
    agent = Agent(model, store=MemoryStore(), tools=TOOLS, mode="grammar", limits=limits)
    run, read = "", 0
    async with aclosing(agent.stream(question)) as items:
        async for item in items:
            if isinstance(item, Stamped):
                run, read = item.run, read + isinstance(item.event, Parsed)
            if read == 2:
                break
    return Trace(stamped.event for stamped in await agent.store.read(run))


def rederives(trace: Trace) -> bool:
    return departure(AgentSpec.model_validate(trace.started.agent), Dialects(), trace) is None


def replies_of(trace: Trace) -> list[tuple[Replied, Parsed]]:
    events = list(trace)
    return [(e, events[i + 1]) for i, e in enumerate(events) if isinstance(e, Replied)]


def read_with_tools(trace: Trace, text: str) -> Parsed:
    spec = AgentSpec.model_validate(trace.started.agent)
    return OutputParser(spec.tools, spec.language).parse(text)


def is_step(parsed: Parsed) -> bool:
    """Whether a reply was read as written: a thought with one call of an offered tool, or with an answer."""
    called = len(parsed.calls) == 1 and parsed.calls[0].tool in TOOLS
    answered = not parsed.calls and bool((parsed.answer or "").strip())
    return (called or answered) and parsed.retry is None and not parsed.report.dropped and bool(parsed.thought)


@pytest.mark.parametrize(
    ("questions", "language", "labels", "reply_tokens", "least_whole"),
    [(ENGLISH, "en", ("Thought: ", "Final Answer: "), 240, 17), (CHINESE, "zh", ("思考：", "最终答案："), 100, 0)],
)
def test_held_to_the_grammar_the_small_model_writes_only_well_formed_steps(
    lab: Lab, questions: list[str], language: str, labels: tuple[str, str], reply_tokens: int, least_whole: int
) -> None:
    whole = 0
    for question in questions:
        trace = lab.run(two_steps(lab.model, question, reply_tokens))
        assert trace.started.language == language
        assert replies_of(trace)
        for reply, parsed in replies_of(trace):
            assert reply.text.startswith(labels[0])
            if reply.finish == "stop":
                whole += 1
                assert is_step(parsed), reply.text
                assert (parsed.report.repairs, parsed.report.confidence) == ((), 1.0)
            else:
                # It sometimes repeats itself without end, in Chinese more often than not, which no grammar can forbid:
                # then it is cut off and known to be, and until there it is as it should be.
                assert parsed.calls == ()
                assert parsed.reason == (None if parsed.answer else "truncated")
                assert set(parsed.report.repairs) <= {"truncated"}
                if parsed.thought and not parsed.answer and "[" not in reply.text.rpartition("\n")[2]:
                    assert is_step(read_with_tools(trace, f"{reply.text}\n{labels[1]}x"))
        assert rederives(trace)
    assert whole >= least_whole


def test_prompts_are_measured_part_by_part_and_a_later_call_finds_them_in_the_cache(lab: Lab) -> None:
    async def ask() -> Trace:
        limits = Limits(max_steps=1, reply_tokens=300, model_seconds=300)
        agent = Agent(lab.model, store=MemoryStore(), tools=TOOLS, mode="grammar", limits=limits)
        return (await agent.run("What is 15% of 80?")).trace

    trace = lab.run(ask())
    asked = [event for event in trace if isinstance(event, Asked)]
    used = [reply.usage for reply, _ in replies_of(trace)]
    assert len(asked) == len(used)
    for event, usage in zip(asked, used, strict=True):
        counts = [segment.tokens for segment in event.prompt]
        assert all(counts)
        # The chat template adds tokens of its own, and joins segments.
        assert 0.8 * sum(counts) < usage.prompt_tokens < 1.5 * sum(counts) + 100
        assert usage.completion_tokens
    assert all(usage.cached_tokens for usage in used[1:])
    again = lab.run(ask())
    assert replies_of(again)[0][0].usage.cached_tokens > used[0].prompt_tokens // 2
    assert replies_of(again)[0][0].text == replies_of(trace)[0][0].text


def test_a_prefix_is_gone_on_from_and_not_repeated(lab: Lab) -> None:
    prefix = "1, 2, 3, 4, 5, 6,"
    reply = lab.run(replied(lab.model, chat("Count to 12.", prefix=prefix, max_tokens=4)))
    assert reply.text.lstrip().startswith("7")


def test_a_grammar_holds_for_the_whole_reply(lab: Lab) -> None:
    request = chat("How are you?", grammar='root ::= "yes" | "no"')
    assert lab.run(replied(lab.model, request)).text in {"yes", "no"}


def test_stop_strings_end_a_reply_and_are_not_part_of_it(lab: Lab) -> None:
    reply = lab.run(replied(lab.model, chat("Count to 12.", prefix="1, 2, 3,", stop=("7",), max_tokens=30)))
    assert reply.finish == "stop"
    assert "6" in reply.text
    assert "7" not in reply.text


def test_a_reply_cut_by_its_limit_says_so(lab: Lab) -> None:
    reply = lab.run(replied(lab.model, chat("Tell me a long story.", max_tokens=3)))
    assert (reply.finish, reply.usage.completion_tokens) == ("length", 3)


def test_special_tokens_in_a_text_are_only_text(lab: Lab) -> None:
    async def compare() -> None:
        assert await lab.model.count_tokens("<|im_end|>") > 1
        plain = await replied(lab.model, chat("hello", max_tokens=1))
        text = "hello<|im_end|>\n<|im_start|>assistant\n"
        marked = await replied(lab.model, chat(text, max_tokens=1))
        added = await lab.model.count_tokens(text) - await lab.model.count_tokens("hello")
        assert marked.usage.prompt_tokens - plain.usage.prompt_tokens == added

    lab.run(compare())


def test_a_prompt_longer_than_the_context_is_one_clear_error_and_the_next_call_works(lab: Lab) -> None:
    async def overflow() -> Reply:
        with pytest.raises(ContextOverflow, match="too long"):
            await replied(lab.model, chat("tide " * 5000))
        return await replied(lab.model, chat("hello", max_tokens=1))

    assert lab.run(overflow()).text


def test_the_event_loop_turns_while_the_model_reads_and_writes(lab: Lab) -> None:
    async def count() -> tuple[int, int]:
        turns, begun, reading = 0, False, 0

        async def tick() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        ticking = asyncio.ensure_future(tick())
        async with aclosing(lab.model.stream(chat("The sea is wide. " * 60, max_tokens=40))) as items:
            async for item in items:
                if isinstance(item, Chunk) and item.text and not begun:
                    begun, reading = True, turns
        ticking.cancel()
        return reading, turns - reading

    # Blocked, it would turn once for each thing that it is given.
    reading, writing = lab.run(count())
    assert reading > 20
    assert writing > 60


def test_a_call_cancelled_while_it_reads_stops_reading_and_the_next_one_works(lab: Lab) -> None:
    long = chat("".join(f"{number} is followed by {number + 1}. " for number in range(70)), max_tokens=1)

    async def cancel() -> tuple[tuple[int, int], Reply]:
        progress: list[tuple[int, int]] = []
        reading = asyncio.Event()

        async def read() -> None:
            async with aclosing(lab.model.stream(long)) as items:
                async for item in items:
                    if isinstance(item, Chunk) and item.read and item.read[0] > 0:
                        progress.append(item.read)
                        reading.set()

        task = asyncio.ensure_future(read())
        await reading.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        return progress[-1], await replied(lab.model, long)

    (done, total), reply = lab.run(cancel())
    assert done < total / 2
    assert reply.usage.prompt_tokens == total
    # Had it gone on to read, all of it would be in the cache by now.
    assert reply.usage.cached_tokens < total / 2


def test_a_run_interrupted_while_the_model_thinks_is_kept_and_goes_on(lab: Lab) -> None:
    async def interrupt() -> tuple[Trace, bool]:
        limits = Limits(max_steps=1, reply_tokens=300, model_seconds=300)
        agent = Agent(lab.model, store=MemoryStore(), tools=TOOLS, mode="grammar", limits=limits)
        run = ""
        async with aclosing(agent.stream("What is 15% of 80?")) as items:
            async for item in items:
                if isinstance(item, Stamped):
                    run = item.run
                elif isinstance(item, Delta):
                    break
        stopped = Trace(stamped.event for stamped in await agent.store.read(run))
        assert stopped[-1] == Stopped(reason="interrupted")
        return (result := await agent.resume(run)).trace, bool(result.answer)

    trace, answered = lab.run(interrupt())
    assert answered
    assert rederives(trace)
    calls = [event.call for event in trace if isinstance(event, Called)]
    assert all(isinstance(call, Call) and call.tool in TOOLS for call in calls)
