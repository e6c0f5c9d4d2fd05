"""Does a stored run follow from itself?"""

from __future__ import annotations

from dataclasses import dataclass

from whybox.dialects.by_mode import Dialects
from whybox.engine.decide import decide
from whybox.engine.effects import AskModel, AskPerson, Effect, Note, RunTools
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


def departure(spec: AgentSpec, dialects: Dialects, trace: Trace) -> Departure | None:
    """Return where ``trace`` departs from what this agent would have done, or None when it re-derives."""
    prefix = Trace()
    for index, event in enumerate(trace):
        effect = None if index == 0 else decide(spec, dialects, prefix)
        if not _follows(event, effect, prefix):
            return Departure(index, event, effect)
        prefix = prefix.add(event)
    return None


def _follows(event: Event, effect: Effect | None, before: Trace) -> bool:
    match event:
        case Started():
            return len(before) == 0
        case Observed(call=call) if call in before.state.called:
            return True  # the call that was under way came back; decide would ask only if it never had
        case Called(call=call) if before.state.called and call in before.pending and call not in before.state.called:
            return True  # begun side by side with those
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
        case RunTools(step=step, calls=calls):
            return isinstance(event, Called | Observed) and event.step == step and event.call in calls
        case AskPerson(ask=ask):
            return isinstance(event, Approved | Rejected) and event.call == ask.call
        case None:
            return False


def _unmeasured(asked: Asked) -> Asked:
    plain = tuple(segment.model_copy(update={"tokens": None}) for segment in asked.prompt)
    return asked.model_copy(update={"prompt": plain})
