"""The only loop: decide, perform, append, tell the watcher."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass

import anyio

from whybox.dialects.by_mode import Dialects
from whybox.dialects.replies import unseen
from whybox.engine.decide import decide, reply_reader
from whybox.engine.effects import AskModel, AskPerson, Effect, Note, RunTools
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
from whybox.ports import Chunk, Model, Person, Reply, Store, ToolRunner
from whybox.spec import AgentSpec
from whybox.trace import Trace

Live = Delta | Reading


@dataclass(frozen=True, slots=True)
class Edges:
    """What a run acts through.

    Args:
        models: by name.
        tools: runs tools by name.
        person: who approves calls.
        store: where the run is kept.
        pause: waits that many seconds before a call is made again.
    """

    models: Mapping[str, Model]
    tools: ToolRunner
    person: Person
    store: Store
    pause: Callable[[float], Awaitable[None]] = anyio.sleep


async def drive(
    spec: AgentSpec, dialects: Dialects, edges: Edges, run: str, trace: Trace, first: Event
) -> AsyncGenerator[Stamped | Live, None]:
    """Append ``first`` to the run, then go on with it until it ends, yielding each event once it is stored.

    Args:
        spec: the agent.
        dialects: how its models write steps.
        edges: models, tools, person and store.
        run: the run's id.
        trace: what has happened so far (empty for a new run).
        first: ``Started`` or ``Resumed``.

    Raises:
        StoreError: an event could not be stored; nothing that follows it was done.
    """
    try:
        effect: Effect | None = Note(first)
        while effect is not None:
            async with aclosing(perform(effect, spec, dialects, edges)) as events:
                async for event in events:
                    if isinstance(event, Delta | Reading):
                        yield event
                        continue
                    stamped = await _append(edges.store, run, trace, event)
                    trace = trace.add(event)
                    yield stamped
            effect = decide(spec, dialects, trace)
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
    effect: Effect, spec: AgentSpec, dialects: Dialects, edges: Edges
) -> AsyncGenerator[Event | Live, None]:
    """Do what was decided and yield the events it makes, with the deltas of a reply as they come."""
    match effect:
        case Note(event=event):
            yield event
        case AskModel(asked=asked, wait=wait):
            if wait:
                await edges.pause(wait)
            model = edges.models[asked.model]
            yield asked.model_copy(update={"prompt": await _measured(asked.prompt, model)})
            async with aclosing(_stream(effect, spec, dialects, model)) as items:
                async for item in items:
                    yield item
        case RunTools(step=step, calls=calls):
            for call in calls:
                yield Called(step=step, call=call)
            async with aclosing(edges.tools.run(calls)) as outputs:
                async for call, output in outputs:
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
    effect: AskModel, spec: AgentSpec, dialects: Dialects, model: Model
) -> AsyncGenerator[Event | Live, None]:
    asked = effect.asked
    reader, fresh = reply_reader(spec, dialects, asked), unseen(effect.shown, reply_reader(spec, dialects, asked))
    got: list[Chunk] = []

    def show(deltas: list[Delta]) -> list[Delta]:
        drafting = asked.role == "think" and spec.answer is not None
        return [each for delta in deltas for each in fresh.feed(_as_draft(delta) if drafting else delta)]

    try:
        async with aclosing(_within(model.stream(effect.request), spec.limits.model_seconds)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    for delta in [*show(reader.close(item)[0]), *fresh.close()]:
                        yield delta
                    cost = model.price.of(item.usage)
                    yield Replied(step=asked.step, cost=cost, **{name: getattr(item, name) for name in _REPLY})
                    return
                if item.read:
                    yield Reading(done=item.read[0], total=item.read[1])
                got.append(item)
                for delta in show(reader.feed(item)):
                    yield delta
        raise ModelBroken("the model ended its reply without saying that it was whole")
    except ModelError as error:
        failed = _failed(asked.step, error, got)
        if not (effect.shown.begins_with(failed) or effect.shown.goes_on_in(failed)):
            for delta in fresh.close():
                yield delta
        yield failed


def _failed(step: int, error: ModelError, got: list[Chunk]) -> ModelFailed:
    return ModelFailed(
        step=step,
        kind=error.kind,
        message=str(error),
        partial="".join(chunk.text for chunk in got),
        reasoning="".join(chunk.reasoning for chunk in got),
        action="".join(chunk.action for chunk in got),
        temporary=error.temporary,
        retry_after=error.retry_after,
    )


_REPLY = tuple(Reply.model_fields)


def _as_draft(delta: Delta) -> Delta:
    """Return a delta of an answer that another model will write anew as a part of the thought it is."""
    return delta.model_copy(update={"section": "thought"}) if delta.section == "answer" else delta


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
