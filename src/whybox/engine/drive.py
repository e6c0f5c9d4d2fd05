"""The only loop: decide, perform, append, tell the watcher."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from whybox.engine.decide import decide
from whybox.engine.effects import AskModel, AskPerson, Effect, Note, RunTool
from whybox.errors import ModelBroken, ModelError, ModelTimeout
from whybox.events import (
    Approved,
    Called,
    Delta,
    Event,
    ModelFailed,
    Observed,
    Reading,
    Rejected,
    Replied,
    Segment,
    Stamped,
    Stopped,
)
from whybox.ports import Chunk, Dialect, Model, Person, Reply, Store, Tool
from whybox.spec import AgentSpec
from whybox.trace import Trace

Live = Delta | Reading


@dataclass(frozen=True, slots=True)
class Edges:
    """What a run acts through."""

    model: Model
    tools: Mapping[str, Tool]
    person: Person
    store: Store


async def drive(
    spec: AgentSpec, dialect: Dialect, edges: Edges, run: str, trace: Trace, first: Event
) -> AsyncGenerator[Stamped | Live, None]:
    """Append ``first`` to the run, then go on with it until it ends, yielding each event once it is stored.

    Args:
        spec: the agent.
        dialect: how its model writes steps.
        edges: model, tools, person and store.
        run: the run's id.
        trace: what has happened so far (empty for a new run).
        first: ``Started`` or ``Resumed``.

    Raises:
        StoreError: an event could not be stored; nothing that follows it was done.
    """
    try:
        effect: Effect | None = Note(first)
        while effect is not None:
            async with aclosing(perform(effect, spec, dialect, edges)) as events:
                async for event in events:
                    if isinstance(event, Delta | Reading):
                        yield event
                        continue
                    stamped = await _append(edges.store, run, trace, event)
                    trace = trace.add(event)
                    yield stamped
            effect = decide(spec, dialect, trace)
    except (anyio.get_cancelled_exc_class(), GeneratorExit):
        await _interrupted(edges.store, run, trace)
        raise


async def _append(store: Store, run: str, trace: Trace, event: Event) -> Stamped:
    with anyio.CancelScope(shield=True):  # stored and not known to be stored would be a lost event
        stamped = await store.append(run, len(trace), [event])
    return stamped[0]


async def _interrupted(store: Store, run: str, trace: Trace) -> None:
    """Note that the run was interrupted, unless it has not begun or has ended."""
    with anyio.CancelScope(shield=True):
        # A shield does not hold asyncio's own cancellation, so an append may have been left with its event stored.
        for stamped in await store.read(run, len(trace)):
            trace = trace.add(stamped.event)
        if len(trace) and not trace.ended:
            await store.append(run, len(trace), [Stopped(reason="interrupted")])


async def perform(
    effect: Effect, spec: AgentSpec, dialect: Dialect, edges: Edges
) -> AsyncGenerator[Event | Live, None]:
    """Do what was decided and yield the events it makes, with the deltas of a reply as they come."""
    match effect:
        case Note(event=event):
            yield event
        case AskModel(asked=asked):
            yield asked.model_copy(update={"prompt": await _measured(asked.prompt, edges.model)})
            async with aclosing(_stream(effect, spec, dialect, edges.model)) as items:
                async for item in items:
                    yield item
        case RunTool(step=step, call=call):
            yield Called(step=step, call=call)
            output = await edges.tools[call.tool].call(call.arguments)
            yield Observed(step=step, call=call, content=output.text, error=output.error)
        case AskPerson(step=step, ask=ask):
            decision = await edges.person.decide(ask)
            if decision.verdict == "approve":
                yield Approved(step=step, call=ask.call)
            elif decision.verdict == "reject":
                yield Rejected(step=step, call=ask.call, reason=decision.reason)
            else:
                yield Stopped(reason="person", message=decision.reason)


async def _stream(
    effect: AskModel, spec: AgentSpec, dialect: Dialect, model: Model
) -> AsyncGenerator[Event | Live, None]:
    step = effect.asked.step
    reader = dialect.reader(spec.tools, spec.language)
    reader.feed(effect.request.prefix)
    partial: list[str] = []
    try:
        async with aclosing(_within(model.stream(effect.request), spec.limits.model_seconds)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    for delta in reader.close(item.finish)[0]:
                        yield delta
                    yield Replied(step=step, text=item.text, finish=item.finish, usage=item.usage)
                    return
                if item.read:
                    yield Reading(done=item.read[0], total=item.read[1])
                partial.append(item.text)
                for delta in reader.feed(item.text):
                    yield delta
        raise ModelBroken("the model ended its reply without saying that it was whole")
    except ModelError as error:
        yield ModelFailed(step=step, kind=error.kind, message=str(error), partial="".join(partial))


async def _within(items: AsyncIterator[Chunk | Reply], seconds: float) -> AsyncGenerator[Chunk | Reply, None]:
    deadline = anyio.current_time() + seconds
    try:
        while True:
            # One scope for each item: a scope may not stay open while a generator is suspended.
            with anyio.CancelScope(deadline=deadline) as scope:
                item = await anext(items, None)
            if scope.cancelled_caught:
                raise ModelTimeout(f"the model did not finish within {seconds:g} s", "see --model-timeout")
            if item is None:
                return
            yield item
    finally:
        if isinstance(items, AsyncGenerator):
            await items.aclose()


async def _measured(prompt: tuple[Segment, ...], model: Model) -> tuple[Segment, ...]:
    if not model.abilities.tokenizer:
        return prompt
    try:
        return tuple([await _measured_segment(segment, model) for segment in prompt])
    except ModelError:
        return prompt  # the call that follows meets the same trouble and records it


async def _measured_segment(segment: Segment, model: Model) -> Segment:
    if segment.tokens is not None:
        return segment
    return segment.model_copy(update={"tokens": await model.count_tokens(segment.text)})
