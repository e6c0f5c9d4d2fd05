"""Does a stored run follow from itself?"""

from __future__ import annotations

from dataclasses import dataclass

from whybox.engine.decide import decide
from whybox.engine.effects import AskModel, AskPerson, Effect, Note, RunTool
from whybox.events import (
    Approved,
    Asked,
    Called,
    Event,
    ModelFailed,
    Observed,
    Rejected,
    Replied,
    Resumed,
    Started,
    Stopped,
)
from whybox.ports import Dialect
from whybox.spec import AgentSpec
from whybox.trace import Trace


@dataclass(frozen=True, slots=True)
class Departure:
    """The first event that does not follow from those before it.

    Args:
        index: its place in the trace, from 0.
        recorded: the event.
        decided: what this agent would have done there.
    """

    index: int
    recorded: Event
    decided: Effect | None


def departure(spec: AgentSpec, dialect: Dialect, trace: Trace) -> Departure | None:
    """Return where ``trace`` departs from what this agent would have done, or None when it re-derives."""
    prefix = Trace()
    for index, event in enumerate(trace):
        effect = None if index == 0 else decide(spec, dialect, prefix)
        if not _follows(event, effect, prefix):
            return Departure(index, event, effect)
        prefix = prefix.add(event)
    return None


def _follows(event: Event, effect: Effect | None, before: Trace) -> bool:
    match event:
        case Started():
            return len(before) == 0
        case Observed(call=call) if isinstance(before.last, Called) and before.last.call == call:
            return True  # the call that was under way came back; decide would ask only if it never had
        case Resumed():
            return len(before) > 0
        case Stopped(reason=("interrupted" | "person")):
            return not before.ended
    match effect:
        case Note(event=noted):
            return event == noted
        case AskModel(asked=asked):
            if isinstance(event, Asked):
                return _unmeasured(event) == _unmeasured(asked)
            return isinstance(event, Replied | ModelFailed) and event.step == asked.step
        case RunTool(step=step, call=call):
            return isinstance(event, Called | Observed) and (event.step, event.call) == (step, call)
        case AskPerson(ask=ask):
            return isinstance(event, Approved | Rejected) and event.call == ask.call
        case None:
            return False


def _unmeasured(asked: Asked) -> Asked:
    plain = tuple(segment.model_copy(update={"tokens": None}) for segment in asked.prompt)
    return asked.model_copy(update={"prompt": plain})
