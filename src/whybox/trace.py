"""A run as its events, and the questions that are asked of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import overload

from whybox.events import (
    Answered,
    Approved,
    Asked,
    Call,
    Called,
    Event,
    LimitReached,
    ModelFailed,
    Observed,
    Parsed,
    Paused,
    Rejected,
    Replied,
    Resumed,
    Retrying,
    Started,
    Stopped,
    Switched,
    Unknown,
    Usage,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What was shown of a reply that did not become whole: ``reasoning``, ``text`` and native calls as ``action``."""

    reasoning: str = ""
    text: str = ""
    action: str = ""

    def then(self, failed: ModelFailed) -> Shown:
        """Return what is shown after one more try: the longer of two tries that say the same, else the later one."""
        return self if self.begins_with(failed) else Shown(failed.reasoning, failed.partial, failed.action)

    def begins_with(self, failed: ModelFailed) -> bool:
        """Return whether a try has shown nothing beyond this."""
        return all(old.startswith(new) for old, new in self._beside(failed))

    def goes_on_in(self, failed: ModelFailed) -> bool:
        """Return whether a try has repeated all of this."""
        return all(new.startswith(old) for old, new in self._beside(failed))

    def _beside(self, failed: ModelFailed) -> tuple[tuple[str, str], ...]:
        return (self.reasoning, failed.reasoning), (self.text, failed.partial), (self.action, failed.action)


NOTHING_SHOWN = Shown()
NOTHING_USED = Usage(prompt_tokens=0, cached_tokens=0, completion_tokens=0)
"""The usage of no call at all."""


@dataclass(frozen=True, slots=True)
class State:
    """What the events so far add up to, kept up to date one event at a time.

    Args:
        last: the last event that moved the run on; notes of intent (asked, resumed) do not.
        asked: the last model call.
        steps: how many replies the model has given.
        unread: how many replies in a row could not be read.
        pending: calls of the last reply that have no observation yet.
        allowed: those of them that a person has allowed.
        called: those of them that were begun.
        draft: the answer of the thinking model, while another one is to write the final answer.
        limit: the limit that ended the search, if one did.
        failures: how often the call that is due has failed.
        shown: what was shown of it.
        fallback: how many models were given up because they are down.
        escalated: the number of the last step that went to the larger model.
        usage: tokens of all calls, as far as known.
        cost: money spent, in US dollars; None when a price or a usage is not known.
    """

    last: Event | None = None
    asked: Asked | None = None
    steps: int = 0
    unread: int = 0
    pending: tuple[Call, ...] = ()
    allowed: tuple[Call, ...] = ()
    called: tuple[Call, ...] = ()
    draft: Parsed | None = None
    limit: LimitReached | None = None
    failures: int = 0
    shown: Shown = NOTHING_SHOWN
    fallback: int = 0
    escalated: int = 0
    usage: Usage = NOTHING_USED
    cost: float | None = 0.0


def _advance(state: State, event: Event) -> State:
    match event:
        case Unknown():
            return state
        case Asked():
            return replace(state, asked=event)
        case Resumed() if isinstance(state.last, ModelFailed):
            return replace(state, last=event, failures=0)  # the call that failed is made again
        case Resumed() | Stopped():
            # A stop is an end only until the run is resumed; what it was about to do stays known.
            return state
        case Replied():
            return _replied(state, event)
        case ModelFailed():
            return replace(state, last=event, failures=state.failures + 1, shown=state.shown.then(event))
        case Switched(cause="fallback"):
            return replace(state, last=event, failures=0, fallback=state.fallback + 1)
        case Switched(step=step):
            return replace(state, last=event, failures=0, escalated=step)
        case Parsed():
            return _parsed(state, event)
        case Approved(call=call):
            return replace(
                state, last=event, allowed=(*state.allowed, call), called=_without(state.called, call, strict=True)
            )
        case Called(call=call):
            return replace(state, last=event, called=(*state.called, call))
        case Observed(call=call):
            return replace(
                state,
                last=event,
                pending=_without(state.pending, call),
                allowed=_without(state.allowed, call, strict=True),
                called=_without(state.called, call, strict=True),
            )
        case LimitReached():
            return replace(state, last=event, limit=event, pending=(), allowed=(), called=())
        case Started() | Retrying() | Paused() | Rejected() | Answered():
            return replace(state, last=event)


def _replied(state: State, reply: Replied) -> State:
    return replace(
        state,
        last=reply,
        steps=state.steps + 1,
        failures=0,
        shown=NOTHING_SHOWN,
        usage=added(state.usage, reply.usage),
        cost=added_cost(state.cost, reply.cost),
    )


def _parsed(state: State, parsed: Parsed) -> State:
    is_draft = parsed.answer is not None and state.asked is not None and state.asked.role == "think"
    return replace(
        state,
        last=parsed,
        unread=state.unread + 1 if parsed.retry else 0,
        pending=parsed.calls,
        allowed=(),
        called=(),
        draft=parsed if is_draft else state.draft,
    )


def added(total: Usage, more: Usage) -> Usage:
    """Return the two usages together; what neither of them knows stays unknown."""

    def both(name: str) -> int | None:
        a: int | None = getattr(total, name)
        b: int | None = getattr(more, name)
        return a if b is None else (a or 0) + b

    return Usage(
        prompt_tokens=both("prompt_tokens"),
        cached_tokens=both("cached_tokens"),
        written_tokens=both("written_tokens"),
        completion_tokens=both("completion_tokens"),
        reasoning_tokens=both("reasoning_tokens"),
        estimated=total.estimated or more.estimated,
    )


def added_cost(total: float | None, more: float | None) -> float | None:
    """Return the two amounts together; with one that is not known the sum is not known."""
    return None if total is None or more is None else total + more


def _without(calls: tuple[Call, ...], done: Call, *, strict: bool = False) -> tuple[Call, ...]:
    """Return ``calls`` without ``done``; if it is not there, without the first one, or (``strict``) as they are."""
    if strict and done not in calls:
        return calls
    index = calls.index(done) if done in calls else 0
    return calls[:index] + calls[index + 1 :]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a run: what the model wrote and what came of it."""

    number: int
    asked: Asked | None
    replied: Replied | None
    parsed: Parsed | None
    observed: tuple[Observed, ...]


class Trace:
    """The append-only sequence of a run's events. A value: adding returns a new trace.

    Traces that grow from each other share one list, so that adding costs the same for a short run and a long one.
    """

    __slots__ = ("_events", "_length", "_parsed", "state")

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._events: list[Event] = []
        self._length = 0
        self.state = State()
        for event in events:
            self._events.append(event)
            self._length += 1
            self.state = _advance(self.state, event)

    def add(self, event: Event) -> Trace:
        """Return this trace with ``event`` behind it."""
        grown = Trace.__new__(Trace)
        shared = len(self._events) == self._length
        grown._events = self._events if shared else self._events[: self._length]
        grown._events.append(event)
        grown._length = self._length + 1
        grown.state = _advance(self.state, event)
        return grown

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Event]:
        for index in range(self._length):
            yield self._events[index]

    @overload
    def __getitem__(self, key: int) -> Event: ...
    @overload
    def __getitem__(self, key: slice) -> Trace: ...
    def __getitem__(self, key: int | slice) -> Event | Trace:
        if isinstance(key, slice):
            return Trace(self._events[: self._length][key])
        return self._events[range(self._length)[key]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Trace({[getattr(event, 'type', '?') for event in self]})"

    @property
    def last(self) -> Event | None:
        """The last event that moved the run on."""
        return self.state.last

    @property
    def ended(self) -> bool:
        """Whether the run has its answer, or stopped and has not been resumed."""
        return self._length > 0 and isinstance(self[-1], Answered | Stopped)

    @property
    def started(self) -> Started:
        """The first event.

        Raises:
            ValueError: the trace is empty or does not begin with it.
        """
        first = self[0] if self._length else None
        if not isinstance(first, Started):
            raise ValueError("this trace does not begin with a started event")  # noqa: TRY004 - its content is wrong, not its type
        return first

    @property
    def answer(self) -> Answered | None:
        """The run's answer, if it has one."""
        return self.last if isinstance(self.last, Answered) else None

    @property
    def pending(self) -> tuple[Call, ...]:
        """Calls that were read from the last reply and have no observation yet."""
        return self.state.pending

    @property
    def usage(self) -> Usage:
        """Tokens of all calls together."""
        return self.state.usage

    @property
    def cost(self) -> float | None:
        """Money spent on all calls, in US dollars; None when a price or a usage is not known."""
        return self.state.cost

    @property
    def steps(self) -> tuple[Step, ...]:
        """The run's steps, in order, the unfinished last one included."""
        return tuple(_steps(self))

    @property
    def observations(self) -> tuple[Observed, ...]:
        """All observations, in order."""
        return tuple(event for event in self if isinstance(event, Observed))


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    step: Step | None = None
    for event in events:
        match event:
            case Asked(step=number):
                if step is not None and step.number != number:
                    yield step
                    step = None
                if step is None or step.replied is None:
                    step = Step(number, event, None, None, ())
            case Replied(step=number):
                if step is None or step.number != number:
                    if step is not None:
                        yield step
                    step = Step(number, None, event, None, ())
                else:
                    step = replace(step, replied=event)
            case Parsed() if step is not None:
                step = replace(step, parsed=event)
            case Observed() if step is not None:
                step = replace(step, observed=(*step.observed, event))
            case _:
                pass
    if step is not None:
        yield step


@dataclass(frozen=True, slots=True)
class AgentState:
    """A trace in the field's own terms.

    Args:
        input: the question.
        chat_history: earlier turns of the conversation as ``(question, answer)``.
        intermediate_steps: ``(call, observation)`` pairs so far.
        agent_scratchpad: thoughts, actions and observations so far, as text.
    """

    input: str
    chat_history: tuple[tuple[str, str], ...]
    intermediate_steps: tuple[tuple[Call, str], ...]
    agent_scratchpad: str

    @classmethod
    def of(cls, trace: Trace) -> AgentState:
        """Return ``trace`` seen as an agent's state."""
        pairs = tuple((o.call, o.content) for o in trace.observations)
        pieces: list[str] = []
        for step in trace.steps:
            if step.parsed and step.parsed.thought:
                pieces.append(f"Thought: {step.parsed.thought}")
            for seen in step.observed:
                pieces += [f"Action: {seen.call.tool}[{seen.call.text}]", f"Observation: {seen.content}"]
        return cls(trace.started.question, (), pairs, "\n".join(pieces))
