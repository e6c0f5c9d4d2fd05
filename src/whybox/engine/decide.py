"""What has to be done next: the whole policy of a run, as one pure function of its trace."""

from __future__ import annotations

from whybox.dialects.by_mode import Dialects
from whybox.dialects.replies import ReplyReader
from whybox.engine.effects import AskModel, AskPerson, Effect, Note, RunTools
from whybox.engine.models import after_failure, best_effort, escalation, role_of, use_of
from whybox.events import (
    Answered,
    Asked,
    Call,
    LimitReached,
    ModelFailed,
    Observed,
    Parsed,
    Paused,
    Rejected,
    Replied,
    Retrying,
    Segment,
)
from whybox.ports import Ask, Request
from whybox.prompts import phrases, render
from whybox.spec import AgentSpec, ModelUse
from whybox.trace import Trace


def decide(spec: AgentSpec, dialects: Dialects, trace: Trace) -> Effect | None:
    """Return what to do next in the run ``trace``, or None when it has ended."""
    if trace.ended:
        return None
    match trace.last:
        case Replied() as replied:
            return Note(read(spec, dialects, trace, replied))
        case Parsed() as parsed:
            return _after_reading(spec, dialects, trace, parsed)
        case Paused(step=step, call=call, reason=reason):
            tool = spec.tool(call.tool)
            return AskPerson(step, Ask(call=call, risk=tool.risk if tool else "danger", reason=reason))
        case Rejected(step=step, call=call, reason=reason):
            content = phrases.rejected(spec.language, reason)
            return Note(Observed(step=step, call=call, content=content, error="rejected"))
        case ModelFailed() as failed:
            return Note(after_failure(spec, trace, failed))
    return _call(spec, trace) if trace.pending else _ask_or_end(spec, dialects, trace)


def read(spec: AgentSpec, dialects: Dialects, trace: Trace, replied: Replied) -> Parsed:
    """Return what a reply means; the same reading that was shown while it streamed."""
    asked = trace.state.asked
    reader = reply_reader(spec, dialects, asked)
    parsed = reader.close(replied)[1].model_copy(update={"step": replied.step})
    return _with_ids(parsed, replied, asked.prompt if asked else ())


def reply_reader(spec: AgentSpec, dialects: Dialects, asked: Asked | None) -> ReplyReader:
    """Return a reader for the reply to a model call, which has read the call's prefix."""
    reader = ReplyReader(dialects[asked.mode if asked else spec.mode], spec.tools, spec.language)
    reader.begin(asked.prefix if asked else "")
    return reader


def _with_ids(parsed: Parsed, replied: Replied, prompt: tuple[Segment, ...]) -> Parsed:
    """Return ``parsed`` with an id for each native call, since a server may give none, or one twice."""
    if not replied.calls:
        return parsed
    taken = {segment.call.id for segment in prompt if segment.call}
    calls: list[Call] = []
    for number, call in enumerate(parsed.calls, 1):
        name = call.id if call.id and call.id not in taken else f"call_{replied.step}_{number}"
        taken.add(name)
        calls.append(call.model_copy(update={"id": name}))
    return parsed.model_copy(update={"calls": tuple(calls)})


def _after_reading(spec: AgentSpec, dialects: Dialects, trace: Trace, parsed: Parsed) -> Effect:
    limit, language = trace.state.limit, spec.language
    is_draft = parsed is trace.state.draft
    if limit and parsed.answer is not None and _is_another_step(spec, dialects, parsed.answer):
        return Note(best_effort(spec, trace, limit.message))
    if parsed.answer is not None and not (is_draft and spec.answer):
        short = phrases.cut(language) if "truncated" in parsed.report.repairs else None
        reason = limit.message if limit else short
        return Note(Answered(answer=parsed.answer, complete=reason is None, reason=reason))
    if limit and parsed.calls:
        return Note(best_effort(spec, trace, limit.message))
    if limit:
        return Note(_raw_answer(spec, trace, limit.message))
    if parsed.retry and trace.state.unread > spec.limits.unread_replies:
        return Note(escalation(spec, trace) or _raw_answer(spec, trace, phrases.unread(language)))
    return _call(spec, trace) if trace.pending else _ask_or_end(spec, dialects, trace)


def _is_another_step(spec: AgentSpec, dialects: Dialects, answer: str) -> bool:
    """Whether a model that was asked for an answer went on with an action behind the answer's label."""
    reader = ReplyReader(dialects["text"], spec.tools, spec.language)
    return bool(reader.close(Replied(step=0, text=answer))[1].calls)


def _call(spec: AgentSpec, trace: Trace) -> Effect:
    """Return what the pending calls need first: an answer for an unknown tool, a person's word, or to be run."""
    step, state = trace.state.steps, trace.state
    for call in trace.pending:
        tool = spec.tool(call.tool)
        if tool is None:
            content = phrases.unknown_tool(spec.language, call.tool, [t.name for t in spec.tools])
            return Note(Observed(step=step, call=call, content=content, error="unknown_tool"))
        if call in state.allowed:
            continue
        if call in state.called and tool.risk != "read":
            # Its result was never recorded: the process died while the tool ran.
            return Note(Paused(step=step, call=call, reason="unknown_outcome"))
        if call in state.called:
            continue
        if spec.approve == "always" or (spec.approve == "risky" and tool.risk != "read"):
            return Note(Paused(step=step, call=call, reason="always" if tool.risk == "read" else "risk"))
    return RunTools(step, trace.pending)


def _ask_or_end(spec: AgentSpec, dialects: Dialects, trace: Trace) -> Effect:
    if role_of(spec, trace) == "answer":
        return _ask(spec, dialects, trace)
    if trace.state.steps >= spec.limits.max_steps:
        message = phrases.step_limit(spec.language, spec.limits.max_steps)
        return Note(LimitReached(limit="max_steps", message=message))
    if switched := escalation(spec, trace):
        return Note(switched)
    return _ask(spec, dialects, trace)


def _ask(spec: AgentSpec, dialects: Dialects, trace: Trace) -> AskModel:
    role = role_of(spec, trace)
    use = use_of(spec, trace, role)
    dialect, answering = dialects[use.mode], role == "answer"
    segments = render.prompt(spec, use, trace, role)
    prefix = _prefix(use, dialect.opening(spec.language, answer=answering), answering=answering)
    asked = Asked(
        step=trace.state.steps + 1,
        role=role,
        model=use.name,
        mode=use.mode,
        prompt=segments,
        prefix=prefix,
        stop=dialect.stop(spec.language),
        max_tokens=spec.limits.reply_tokens,
    )
    native = use.mode == "tools"
    request = Request(
        messages=render.messages(segments),
        prefix=prefix,
        stop=asked.stop,
        grammar=dialect.grammar(spec.tools, spec.language) if use.mode == "grammar" and not answering else None,
        json_schema=dialects.schema(spec.tools, answer=answering) if use.mode == "json" else None,
        tools=spec.tools if native else (),
        call_tools=not answering,
        logprobs=use.logprobs,
        max_tokens=asked.max_tokens,
        stable=render.stable_messages(segments),
        temperature=spec.temperature,
    )
    wait = trace.last.wait if isinstance(trace.last, Retrying) else 0.0
    return AskModel(asked, request, wait, trace.state.shown)


def _prefix(use: ModelUse, opening: str, *, answering: bool) -> str:
    """Return the text that is already fixed of the reply that is due."""
    return opening if use.prefix and (answering or use.mode == "text") else ""


def _raw_answer(spec: AgentSpec, trace: Trace, reason: str) -> Answered:
    raw = next((e.text for e in reversed(list(trace)) if isinstance(e, Replied)), "").strip()
    return Answered(answer=raw, complete=False, reason=reason) if raw else best_effort(spec, trace, reason)
