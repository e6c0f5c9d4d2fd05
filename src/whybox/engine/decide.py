"""What has to be done next: the whole policy of a run, as one pure function of its trace."""

from __future__ import annotations

from whybox.engine.effects import AskModel, AskPerson, Effect, Note, RunTool
from whybox.events import (
    Answered,
    Approved,
    Asked,
    Called,
    Event,
    LimitReached,
    ModelFailed,
    Observed,
    Parsed,
    Paused,
    Rejected,
    Replied,
    Stopped,
)
from whybox.ports import Ask, Dialect, Request
from whybox.prompts import phrases, render
from whybox.spec import AgentSpec
from whybox.trace import Trace


def decide(spec: AgentSpec, dialect: Dialect, trace: Trace) -> Effect | None:
    """Return what to do next in the run ``trace``, or None when it has ended."""
    if trace.ended:
        return None
    match trace.last:
        case Replied() as replied:
            return Note(read(spec, dialect, trace, replied))
        case Parsed() as parsed:
            return _after_reading(spec, dialect, trace, parsed)
        case Paused(step=step, call=call, reason=reason):
            tool = spec.tool(call.tool)
            return AskPerson(step, Ask(call=call, risk=tool.risk if tool else "danger", reason=reason))
        case Approved(step=step, call=call):
            return RunTool(step, call)
        case Rejected(step=step, call=call, reason=reason):
            content = phrases.rejected(spec.language, reason)
            return Note(Observed(step=step, call=call, content=content, error="rejected"))
        case Called(step=step, call=call):
            # Its result was never recorded: the process died while the tool ran.
            tool = spec.tool(call.tool)
            if tool and tool.risk == "read":
                return RunTool(step, call)
            return Note(Paused(step=step, call=call, reason="unknown_outcome"))
        case ModelFailed() as failed:
            return Note(_after_failure(spec, trace, failed))
        case LimitReached():
            return _ask(spec, dialect, trace)
    return _call_or_ask(spec, dialect, trace)


def read(spec: AgentSpec, dialect: Dialect, trace: Trace, replied: Replied) -> Parsed:
    """Return what a reply means; the same reading that was shown while it streamed."""
    reader = dialect.reader(spec.tools, spec.language)
    reader.feed(prefix_of(spec, dialect, trace) + replied.text)
    return reader.close(replied.finish)[1].model_copy(update={"step": replied.step})


def prefix_of(spec: AgentSpec, dialect: Dialect, trace: Trace) -> str:
    """Return the text that is already fixed of the reply that is due."""
    if spec.prefix and trace.state.limit:
        return dialect.opening(spec.language, answer=True)
    if spec.prefix and spec.mode == "text":
        return dialect.opening(spec.language, answer=False)
    return ""


def _after_reading(spec: AgentSpec, dialect: Dialect, trace: Trace, parsed: Parsed) -> Effect:
    limit = trace.state.limit
    if limit and parsed.answer is not None and _is_another_step(spec, dialect, parsed.answer):
        return Note(_best_effort(spec, trace, limit.message))
    if parsed.answer is not None:
        short = phrases.cut(spec.language) if "truncated" in parsed.report.repairs else None
        reason = limit.message if limit else short
        return Note(Answered(answer=parsed.answer, complete=reason is None, reason=reason))
    if limit and parsed.calls:
        return Note(_best_effort(spec, trace, limit.message))
    if limit:
        return Note(_raw_answer(spec, trace, limit.message))
    if parsed.retry and trace.state.unread > spec.limits.unread_replies:
        return Note(_raw_answer(spec, trace, phrases.unread(spec.language)))
    return _call_or_ask(spec, dialect, trace)


def _is_another_step(spec: AgentSpec, dialect: Dialect, answer: str) -> bool:
    """Whether a model that was asked for an answer went on with an action behind the answer's label."""
    reader = dialect.reader(spec.tools, spec.language)
    reader.feed(answer)
    return bool(reader.close()[1].calls)


def _call_or_ask(spec: AgentSpec, dialect: Dialect, trace: Trace) -> Effect:
    if not trace.pending:
        limits = spec.limits
        if trace.state.steps >= limits.max_steps:
            message = phrases.step_limit(spec.language, limits.max_steps)
            return Note(LimitReached(limit="max_steps", message=message))
        return _ask(spec, dialect, trace)
    call, step = trace.pending[0], trace.state.steps
    tool = spec.tool(call.tool)
    if tool is None:
        content = phrases.unknown_tool(spec.language, call.tool, [t.name for t in spec.tools])
        return Note(Observed(step=step, call=call, content=content, error="unknown_tool"))
    if spec.approve == "always" or (spec.approve == "risky" and tool.risk != "read"):
        reason = "always" if tool.risk == "read" else "risk"
        return Note(Paused(step=step, call=call, reason=reason))
    return RunTool(step, call)


def _ask(spec: AgentSpec, dialect: Dialect, trace: Trace) -> AskModel:
    wrap_up = trace.state.limit is not None
    segments = render.prompt(spec, trace)
    prefix, stop = prefix_of(spec, dialect, trace), dialect.stop(spec.language)
    constrained = spec.mode == "grammar" and not wrap_up
    asked = Asked(
        step=trace.state.steps + 1,
        role="answer" if wrap_up else "think",
        model=spec.model,
        mode=spec.mode,
        prompt=segments,
        prefix=prefix,
        stop=stop,
        max_tokens=spec.limits.reply_tokens,
    )
    request = Request(
        messages=render.messages(segments),
        prefix=prefix,
        stop=stop,
        grammar=dialect.grammar(spec.tools, spec.language) if constrained else None,
        max_tokens=spec.limits.reply_tokens,
        stable=render.stable_messages(segments),
        temperature=spec.temperature,
    )
    return AskModel(asked, request)


def _after_failure(spec: AgentSpec, trace: Trace, failed: ModelFailed) -> Event:
    if trace.state.limit:
        return _best_effort(spec, trace, trace.state.limit.message)
    if failed.kind == "timeout":
        return LimitReached(limit="model_seconds", message=failed.message)
    return Stopped(reason=f"model_{failed.kind}", message=failed.message)


def _best_effort(spec: AgentSpec, trace: Trace, reason: str) -> Answered:
    seen = [o.content for o in trace.observations if o.error is None]
    return Answered(answer=phrases.collected(spec.language, seen), complete=False, reason=reason)


def _raw_answer(spec: AgentSpec, trace: Trace, reason: str) -> Answered:
    raw = next((e.text for e in reversed(list(trace)) if isinstance(e, Replied)), "").strip()
    return Answered(answer=raw, complete=False, reason=reason) if raw else _best_effort(spec, trace, reason)
