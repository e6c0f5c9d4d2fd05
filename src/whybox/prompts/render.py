"""Prompts as lists of named segments, and as what is sent to a model.

The order is stable (instructions, tools, examples, question, steps), and within a run a prompt only grows at its
end, so that a server's prefix cache keeps working. Only a model that writes its steps in another form begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import takewhile

from whybox.events import Asked, Call, Event, ModelRole, NativeCall, Observed, Segment
from whybox.ports import Message, Mode, ToolSpec
from whybox.prompts import phrases, steps
from whybox.prompts.examples import Example, examples
from whybox.prompts.forms import example_arguments, step_with_answer, step_with_call
from whybox.prompts.instructions import instructions, tool_line
from whybox.spec import AgentSpec, ModelUse
from whybox.trace import Trace

_RECENT_EVENTS = 100
"""How far back a repeated result is noticed; a bound, so that a step costs the same in a long run."""

_FORMS: dict[str, str] = {"text": "text", "grammar": "text"}


def prompt(spec: AgentSpec, use: ModelUse, trace: Trace, role: ModelRole = "think") -> tuple[Segment, ...]:
    """Return the prompt of the model call that is due.

    It is the prompt of the call before and what has happened since, if that was in the same form; else it is written
    from the beginning.

    Args:
        spec: the agent.
        use: the model that is asked.
        trace: what has happened.
        role: what its reply is for; ``answer`` for the final answer from all that was observed.
    """
    asked, since = _last_asked(trace)
    if asked is not None and _form(asked.mode) == _form(use.mode):
        before, recent = asked.prompt, _recent(trace, len(since))
    else:
        before, recent, asked = opening(spec, use.mode, trace.started.question), [], None
        since = list(trace)
    grown = before + tuple(_grown(spec, use.mode, steps.turns(asked, since), recent))
    if role != "answer" or any(segment.name == "wrap_up" for segment in before[-1:]):
        return grown
    return (*grown, Segment(name="wrap_up", role="user", text=phrases.wrap_up(spec.language)))


def _form(mode: str) -> str:
    return _FORMS.get(mode, mode)


def _grown(
    spec: AgentSpec, mode: Mode, turns: Sequence[steps.Turn], recent: list[tuple[Call, str]]
) -> Iterator[Segment]:
    for turn in turns:
        if turn.parsed.answer is not None:
            continue  # a draft: the answer is written anew from what was observed
        yield from steps.segments(spec, mode, turn, recent)
        recent = [*recent, *((observed.call, observed.content) for observed in turn.observed)]


def opening(spec: AgentSpec, mode: Mode, question: str) -> tuple[Segment, ...]:
    """Return the part of a prompt that is there before the first step."""
    language = spec.language
    text = instructions(spec.instructions, spec.tools, language, mode)
    segments = [Segment(name="instructions", role="system", text=text)]
    segments += [_tool(tool, mode, language) for tool in spec.tools]
    # A model that calls tools natively was trained on many examples; they would only cost.
    worked = () if mode == "tools" else examples(spec.tools, language)
    for number, example in enumerate(worked, 1):
        segments += _example(spec, mode, number, example)
    real = phrases.question(language, question)
    text = f"{phrases.after_examples(language)}\n{real}" if worked else real
    return (*segments, Segment(name="question", role="user", text=text))


def _tool(tool: ToolSpec, mode: Mode, language: str) -> Segment:
    name = f"tool:{tool.name}"
    if mode != "tools":
        return Segment(name=name, role="system", text=tool_line(tool, language, mode))
    definition = {
        "name": tool.name,
        "description": tool.in_language(tool.description, language),
        "parameters": tool.parameters,
    }
    return Segment(name=name, role="system", part="definition", text=json.dumps(definition, ensure_ascii=False))


def _example(spec: AgentSpec, mode: Mode, number: int, example: Example) -> Iterator[Segment]:
    language = spec.language

    def segment(turn: int | str, text: str) -> Segment:
        return Segment(name=f"example:{number}.{turn}", role="user" if turn == "question" else "assistant", text=text)

    yield segment("question", phrases.question(language, example.question))
    turn = 0
    for worked in example.steps:
        tool = spec.tool(worked.tool)
        arguments = example_arguments(tool, worked.input) if tool else {}
        turn += 1
        text = step_with_call(mode, language, worked.thought, worked.tool, worked.input, arguments)
        yield segment(turn, text)
        turn += 1
        observation = phrases.label(language, "observation") + phrases.gap(language) + worked.observation
        yield segment(turn, observation).model_copy(update={"role": "user"})
    yield segment(turn + 1, step_with_answer(mode, language, example.thought, example.answer))


def messages(segments: Sequence[Segment]) -> tuple[Message, ...]:
    """Return the segments as chat messages: neighbours of one role become one message, a line break between them.

    Results of native calls are a message each. Definitions of tools are sent beside the messages.
    """
    groups: list[list[Segment]] = []
    for segment in segments:
        if segment.part == "definition":
            continue
        if groups and groups[-1][0].role == segment.role and segment.part != "result":
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return tuple(_message(group) for group in groups)


def _message(group: Sequence[Segment]) -> Message:
    calls: list[NativeCall] = [segment.call for segment in group if segment.call is not None]
    return Message(
        role=group[0].role,
        content="\n".join(segment.text for segment in group if segment.part in ("text", "result")),
        calls=tuple(calls),
        result_of=group[0].result_of,
        reasoning="\n".join(segment.text for segment in group if segment.part == "reasoning"),
        blocks=tuple(block for segment in group for block in segment.blocks),
    )


def stable_messages(segments: Sequence[Segment]) -> int:
    """Return how many messages come before the question: they are the same for every question."""
    return len(messages(list(takewhile(lambda segment: segment.name != "question", segments))))


def _last_asked(trace: Trace) -> tuple[Asked | None, list[Event]]:
    since: list[Event] = []
    for index in range(len(trace) - 1, -1, -1):
        event = trace[index]
        if isinstance(event, Asked):
            return event, since[::-1]
        since.append(event)
    return None, since[::-1]


def _recent(trace: Trace, behind: int) -> list[tuple[Call, str]]:
    """Return the calls and results shortly before the last ``behind`` events."""
    end = len(trace) - behind
    events = (trace[index] for index in range(max(0, end - _RECENT_EVENTS), end))
    return [(event.call, event.content) for event in events if isinstance(event, Observed)]
