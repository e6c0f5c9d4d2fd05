"""What a step adds to a prompt: the model's reply, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whybox.events import Asked, Call, Event, NativeCall, Observed, Parsed, Replied, Segment
from whybox.ports import Mode
from whybox.prompts import phrases
from whybox.prompts.forms import step_with_answer, step_with_call
from whybox.prompts.observations import fold, neutralise
from whybox.spec import AgentSpec

Seen = Sequence[tuple[Call, str]]
"""Calls and results of earlier steps."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply and what came of it."""

    asked: Asked | None
    replied: Replied
    parsed: Parsed
    observed: tuple[Observed, ...] = ()


def turns(asked: Asked | None, events: Sequence[Event]) -> list[Turn]:
    """Return the turns in ``events``, which follow the model call ``asked``. A reply that was not read is none."""
    found: list[Turn] = []
    replied: Replied | None = None
    for event in events:
        match event:
            case Asked():
                asked = event
            case Replied():
                replied = event
            case Parsed() if replied is not None:
                found.append(Turn(asked, replied, event))
            case Observed() if found:
                last = found[-1]
                found[-1] = Turn(last.asked, last.replied, last.parsed, (*last.observed, event))
            case _:
                pass
    return found


def segments(spec: AgentSpec, mode: Mode, turn: Turn, seen: Seen) -> Iterator[Segment]:
    """Yield what ``turn`` adds to the prompt of a model in ``mode``."""
    if mode == "tools":
        yield from _native(spec, turn, seen)
    else:
        yield from _plain(spec, mode, turn, seen)


def _plain(spec: AgentSpec, mode: Mode, turn: Turn, seen: Seen) -> Iterator[Segment]:
    step = turn.replied.step
    if text := _written(spec, mode, turn):
        yield Segment(name=f"step:{step}.reply", role="assistant", text=text)
    if turn.parsed.retry:
        yield Segment(name=f"step:{step}.correction", role="user", text=turn.parsed.retry)
    for observed in _in_order(turn):
        label = phrases.label(spec.language, "observation") + phrases.gap(spec.language)
        yield Segment(name=f"step:{step}.observation", role="user", text=label + _result(spec, observed, seen))


def _written(spec: AgentSpec, mode: Mode, turn: Turn) -> str:
    """Return the reply as the model wrote it, or in this mode's form when it was written in another."""
    parsed, written_in = turn.parsed, turn.asked.mode if turn.asked else mode
    if _family(written_in) == _family(mode) or not (parsed.calls or parsed.answer):
        text = (turn.asked.prefix if turn.asked else "") + turn.replied.text
        return (text.removesuffix(parsed.report.dropped) if parsed.report.dropped else text).rstrip()
    if parsed.calls:
        call = parsed.calls[0]
        return step_with_call(mode, spec.language, parsed.thought, call.tool, call.text, call.arguments)
    return step_with_answer(mode, spec.language, parsed.thought, parsed.answer or "")


def _family(mode: str) -> str:
    return "text" if mode == "grammar" else mode


def _native(spec: AgentSpec, turn: Turn, seen: Seen) -> Iterator[Segment]:
    replied, parsed = turn.replied, turn.parsed
    name, native = f"step:{replied.step}", turn.asked is None or turn.asked.mode == "tools"
    # A call that was found in the text goes back as a call, and must not be there twice.
    said = replied.text.strip() if native and (replied.calls or not parsed.calls) else parsed.thought
    if native and parsed.report.dropped:
        said = said.removesuffix(parsed.report.dropped).rstrip()
    calls = _calls(turn)
    # A message of reasoning alone is refused as empty.
    if native and (replied.reasoning or replied.blocks) and (said or calls):
        yield Segment(
            name=f"{name}.reasoning",
            role="assistant",
            part="reasoning",
            text=replied.reasoning,
            blocks=replied.blocks,
        )
    if said:
        yield Segment(name=f"{name}.reply", role="assistant", text=said)
    for call in calls:
        text = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
        yield Segment(name=f"{name}.call", role="assistant", part="call", text=text, call=call)
    if not calls and parsed.retry:
        yield Segment(name=f"{name}.correction", role="user", text=parsed.retry)
    results = _results(spec, turn, seen)
    for number, call in enumerate(calls):
        text = parsed.retry or results.get(number) or phrases.not_run(spec.language)
        yield Segment(name=f"{name}.observation", role="tool", part="result", text=text, result_of=call.id)


def _calls(turn: Turn) -> tuple[NativeCall, ...]:
    """Return the turn's calls as they go back to the server: each with an id, and with arguments it can read.

    Servers refuse a history in which arguments are no JSON object or two calls have one id.
    """
    step = turn.replied.step
    if not turn.parsed.calls:
        raw = turn.replied.calls if turn.parsed.retry else ()
        return tuple(
            NativeCall(id=f"call_{step}_{number}", name=call.name, arguments=_object(call.arguments))
            for number, call in enumerate(raw, 1)
            if call.name
        )
    return tuple(
        NativeCall(
            id=call.id or f"call_{step}_{number}",
            name=call.tool,
            arguments=json.dumps(call.arguments, ensure_ascii=False),
        )
        for number, call in enumerate(turn.parsed.calls, 1)
    )


def _object(arguments: str | dict[str, object]) -> str:
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    try:
        readable = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        readable = False
    return arguments if readable else "{}"


def _results(spec: AgentSpec, turn: Turn, seen: Seen) -> dict[int, str]:
    """Return the results by the number of their call."""
    found: dict[int, str] = {}
    for observed in turn.observed:
        places = [n for n, call in enumerate(turn.parsed.calls) if n not in found and call == observed.call]
        # A person may have changed the call: its result then belongs to the first that has none.
        free = [n for n in range(len(turn.parsed.calls)) if n not in found]
        if places or free:
            found[(places or free)[0]] = _result(spec, observed, seen)
    return found


def _in_order(turn: Turn) -> list[Observed]:
    """Return the results in the order of the calls: side by side they end in any order."""
    order = list(turn.parsed.calls)
    return sorted(turn.observed, key=lambda observed: order.index(observed.call) if observed.call in order else 0)


def _result(spec: AgentSpec, observed: Observed, seen: Seen) -> str:
    text = neutralise(fold(observed.content, spec.limits.observation_chars, spec.language))
    if any((call.tool, call.arguments, content) == _key(observed) for call, content in seen):
        text += f"\n{phrases.repeated(spec.language)}"
    return text


def _key(observed: Observed) -> tuple[str, dict[str, object], str]:
    return observed.call.tool, observed.call.arguments, observed.content
