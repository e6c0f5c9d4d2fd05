"""Which model is asked next, how often, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Iterator

from whybox.events import (
    Answered,
    Call,
    Event,
    LimitReached,
    ModelFailed,
    ModelRole,
    Observed,
    Retrying,
    Stopped,
    Switched,
)
from whybox.prompts import phrases
from whybox.spec import AgentSpec, ModelUse
from whybox.trace import Trace

SAME_RESULT_TIMES = 3
"""How often the same call has given the same result when the larger model takes over."""

_RECENT_EVENTS = 100
"""How far back a repeated result is looked for; a bound, so that a step costs the same in a long run."""


def role_of(spec: AgentSpec, trace: Trace) -> ModelRole:
    """Return what the reply that is due is for."""
    drafted = spec.answer is not None and trace.state.draft is not None
    return "answer" if trace.state.limit or drafted else "think"


def use_of(spec: AgentSpec, trace: Trace, role: ModelRole) -> ModelUse:
    """Return the model that is asked for the reply that is due."""
    state = trace.state
    if state.fallback:
        return spec.fallbacks[min(state.fallback, len(spec.fallbacks)) - 1]
    if role == "answer" and spec.answer:
        return spec.answer
    if role == "summarize" and spec.summarize:
        return spec.summarize
    if spec.larger and state.escalated == state.steps + 1:
        return spec.larger
    return spec.think


def after_failure(spec: AgentSpec, trace: Trace, failed: ModelFailed) -> Event:
    """Return what follows from a failed call: another try, another model, or the end."""
    state, limits = trace.state, spec.limits
    # A call that ran into its own time limit would only take as long again.
    if failed.temporary and failed.kind != "timeout" and state.failures <= limits.retries:
        return Retrying(
            step=failed.step, attempt=state.failures, wait=_wait(spec, trace, failed), reason=failed.message
        )
    if failed.kind != "script" and state.fallback < len(spec.fallbacks):
        model = spec.fallbacks[state.fallback].name
        return Switched(step=failed.step, model=model, cause="fallback", reason=failed.message)
    if state.draft and state.draft.answer:
        return Answered(answer=state.draft.answer, complete=False, reason=phrases.draft(spec.language, failed.message))
    if state.limit:
        return best_effort(spec, trace, state.limit.message)
    if failed.kind == "timeout":
        return LimitReached(limit="model_seconds", message=failed.message)
    return Stopped(reason=f"model_{failed.kind}", message=failed.message)


def _wait(spec: AgentSpec, trace: Trace, failed: ModelFailed) -> float:
    limits = spec.limits
    wish = limits.retry_seconds * 2 ** (trace.state.failures - 1) if failed.retry_after is None else failed.retry_after
    return max(0.0, min(wish, limits.longest_wait))


def escalation(spec: AgentSpec, trace: Trace) -> Switched | None:
    """Return the switch to the larger model for the step that is due, or None when it is not time for it."""
    step = trace.state.steps + 1
    # Not twice in a row: the larger model was at it and did no better.
    if spec.larger is None or trace.state.escalated >= step - 1 or trace.state.fallback:
        return None
    if trace.state.unread > spec.limits.unread_replies:
        reason = phrases.unread_in_a_row(spec.language, trace.state.unread)
    elif _same_result(trace) >= SAME_RESULT_TIMES:
        reason = phrases.same_result(spec.language, SAME_RESULT_TIMES)
    else:
        return None
    return Switched(step=step, model=spec.larger.name, cause="escalated", reason=reason)


def _same_result(trace: Trace) -> int:
    """Return how often the last call has given its result."""
    last = trace.last
    if not isinstance(last, Observed):
        return 0
    seen = _key(last.call), last.content
    return sum(seen == (_key(each.call), each.content) for each in _recent(trace))


def _recent(trace: Trace) -> Iterator[Observed]:
    for index in range(max(0, len(trace) - _RECENT_EVENTS), len(trace)):
        event = trace[index]
        if isinstance(event, Observed):
            yield event


def _key(call: Call) -> tuple[str, dict[str, object]]:
    return call.tool, call.arguments


def best_effort(spec: AgentSpec, trace: Trace, reason: str) -> Answered:
    """Return what was observed, in place of an answer."""
    seen = [o.content for o in trace.observations if o.error is None]
    return Answered(answer=phrases.collected(spec.language, seen), complete=False, reason=reason)
