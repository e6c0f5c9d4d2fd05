"""Prompts as lists of named segments, and as what is sent to a model.

The order is stable (instructions, tools, examples, question, steps), and within a run a prompt only grows at its
end, so that a server's prefix cache keeps working.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from whybox.events import Asked, Call, Event, LimitReached, Observed, Parsed, Replied, Role, Segment
from whybox.ports import Message
from whybox.prompts import phrases
from whybox.prompts.examples import examples
from whybox.prompts.instructions import instructions, tool_line
from whybox.prompts.observations import fold, neutralise
from whybox.spec import AgentSpec
from whybox.trace import Trace

_RECENT_EVENTS = 100
"""How far back a repeated result is noticed; a bound, so that a step costs the same in a long run."""


def prompt(spec: AgentSpec, trace: Trace) -> tuple[Segment, ...]:
    """Return the prompt of the model call that is due.

    It is the prompt of the call before and what has happened since; the first one begins with :func:`opening`.
    """
    asked, since = _last_asked(trace)
    before = asked.prompt if asked else opening(spec, trace.started.question)
    return before + tuple(_grown(spec, asked, since, _recent(trace, len(since))))


def opening(spec: AgentSpec, question: str) -> tuple[Segment, ...]:
    """Return the part of a prompt that is there before the first step."""
    language = spec.language
    segments = [Segment(name="instructions", role="system", text=instructions(spec.instructions, spec.tools, language))]
    segments += [
        Segment(name=f"tool:{tool.name}", role="system", text=tool_line(tool, language)) for tool in spec.tools
    ]
    worked = examples(spec.tools, language)
    for number, example in enumerate(worked, 1):
        asked = phrases.question(language, example.question)
        segments.append(Segment(name=f"example:{number}.question", role="user", text=asked))
        for turn, text in enumerate(example.turns):
            # Replies and observations take turns, a reply first.
            role: Role = "user" if turn % 2 else "assistant"
            segments.append(Segment(name=f"example:{number}.{turn + 1}", role=role, text=text))
    real = phrases.question(language, question)
    text = f"{phrases.after_examples(language)}\n{real}" if worked else real
    return (*segments, Segment(name="question", role="user", text=text))


def messages(segments: Sequence[Segment]) -> tuple[Message, ...]:
    """Return the segments as chat messages: neighbours of one role become one message, a line break between them."""
    grouped: list[tuple[Segment, list[str]]] = []
    for segment in segments:
        if grouped and grouped[-1][0].role == segment.role:
            grouped[-1][1].append(segment.text)
        else:
            grouped.append((segment, [segment.text]))
    return tuple(Message(role=first.role, content="\n".join(texts)) for first, texts in grouped)


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


def _grown(
    spec: AgentSpec, asked: Asked | None, since: Sequence[Event], recent: Sequence[tuple[Call, str]]
) -> Iterator[Segment]:
    reply = ""
    for event in since:
        match event:
            case Replied(text=text):
                reply = (asked.prefix if asked else "") + text
            case Parsed(step=step, report=report, retry=retry):
                kept = reply.removesuffix(report.dropped).rstrip() if report.dropped else reply.rstrip()
                if kept:
                    yield Segment(name=f"step:{step}.reply", role="assistant", text=kept)
                if retry:
                    yield Segment(name=f"step:{step}.correction", role="user", text=retry)
            case Observed(step=step, content=content, call=call):
                shown = neutralise(fold(content, spec.limits.observation_chars, spec.language))
                text = f"{phrases.label(spec.language, 'observation')}{phrases.gap(spec.language)}{shown}"
                if (call, content) in recent:
                    text += f"\n{phrases.repeated(spec.language)}"
                yield Segment(name=f"step:{step}.observation", role="user", text=text)
            case LimitReached():
                yield Segment(name="wrap_up", role="user", text=phrases.wrap_up(spec.language))
            case _:
                pass
