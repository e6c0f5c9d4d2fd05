"""A run that is interrupted, at any moment, is whole in the store and can go on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from tests.engine.worlds import DIALECTS, World
from whybox.engine.drive import drive
from whybox.engine.replay import departure
from whybox.events import Answered, Event, Observed, Replied, Stamped, Started, Stopped
from whybox.ports import Decision, Output
from whybox.store import MemoryStore
from whybox.trace import Trace

SCRIPT = (
    "Thought: look.\nAction: search[tides]",
    "Thought: tell.\nAction: send[tides]",
    "Thought: done.\nFinal Answer: the moon",
)
LONGEST = 400
"""Turns of the event loop that no run of the script needs."""


class SlowStore(MemoryStore):
    """Lets the event loop turn before and after it stores, as a store in a thread does."""

    async def append(self, run: str, after: int, events: Sequence[Event]) -> list[Stamped]:
        await asyncio.sleep(0)
        stamped = await super().append(run, after, events)
        await asyncio.sleep(0)
        return stamped

    async def read(self, run: str, after: int = 0) -> list[Stamped]:
        await asyncio.sleep(0)
        return await super().read(run, after)


def world(replies: Sequence[str] = SCRIPT) -> World:
    made = World(replies, [Decision(verdict="reject", reason="it may have been sent")], approve="never")
    made.store = SlowStore()
    for tool in made.tools.values():
        tool.call = _slowly(tool.call)
    return made


def _slowly(call):
    async def slow(arguments: dict[str, Any]) -> Output:
        await asyncio.sleep(0)
        output = await call(arguments)
        await asyncio.sleep(0)
        return output

    return slow


async def interrupted(run: World, turns: int) -> bool:
    """Cancel the run as Ctrl-C does, after so many turns of the event loop; False when it had ended before."""
    task = asyncio.ensure_future(run.go())
    for _ in range(turns):
        await asyncio.sleep(0)
    cancelled = task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert task.cancelled() == cancelled
    return cancelled


async def stored(run: World) -> list[Event]:
    kept = await run.store.read("r")
    assert [stamped.seq for stamped in kept] == list(range(1, len(kept) + 1))
    return [stamped.event for stamped in kept]


async def check(run: World) -> list[Event]:
    """What must hold of what an interrupted run leaves behind."""
    events = await stored(run)
    if not events:
        return events
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Stopped | Answered)
    stops = [event for event in events if isinstance(event, Stopped)]
    assert stops in ([], [Stopped(reason="interrupted")])
    assert bool(stops) == isinstance(events[-1], Stopped)
    assert departure(run.spec, DIALECTS, Trace(events)) is None
    return events


def test_a_run_cancelled_at_any_await_ends_with_one_stop_and_nothing_lost() -> None:
    async def every_moment() -> list[int]:
        lengths = []
        for turns in range(LONGEST):
            run = world()
            going = await interrupted(run, turns)
            lengths.append(len(await check(run)))
            if not going:
                return lengths
        raise AssertionError("the run never ended")

    lengths = asyncio.run(every_moment())
    # Cancelled before it began there is nothing; the later, the more there is; in the end, all of it.
    assert lengths[0] == 0
    assert set(range(2, max(lengths) + 1)) <= set(lengths)


def test_a_run_cancelled_at_any_await_goes_on_to_its_answer_and_sends_nothing_twice() -> None:
    async def every_moment() -> None:
        for turns in range(LONGEST):
            run = world()
            going = await interrupted(run, turns)
            events = await check(run)
            if not going:
                return
            if not events or isinstance(events[-1], Answered):
                continue
            said = sum(isinstance(event, Replied) for event in events)
            again = world(SCRIPT[said:])
            await again.go(after=events)
            whole = await stored(again)
            assert isinstance(whole[-1], Answered)
            assert departure(again.spec, DIALECTS, Trace(whole)) is None
            sent = sum(len(each.tools["send"].calls) for each in (run, again))
            unknown = [event for event in whole if isinstance(event, Observed) and event.error == "rejected"]
            # A call whose result was not recorded waits for a person; here nobody approves it.
            assert sent <= 1
            assert sent == 1 or unknown

    asyncio.run(every_moment())


def test_a_watcher_that_leaves_early_leaves_a_stopped_run() -> None:
    async def leave(after: int) -> list[Event]:
        run = world()
        started, seen = Started(question="Why?", language="en"), 0
        async with aclosing(drive(run.spec, DIALECTS, run.edges, "r", Trace(), started)) as items:
            async for item in items:
                seen += isinstance(item, Stamped)
                if seen == after:
                    break
        return await check(run)

    for after in range(1, 8):
        events = asyncio.run(leave(after))
        assert len(events) == after + 1
        assert events[-1] == Stopped(reason="interrupted")
