"""The facts a run is made of.

An event is a frozen value. It has no clock, no id and no number: those are given by the store, which wraps it
in a :class:`Stamped`. Fields that a later version adds are kept when an older version reads and writes them.
"""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

VERSION = 1

Section = Literal["thought", "action", "answer"]
Role = Literal["system", "user", "assistant", "tool"]
ModelRole = Literal["think", "answer", "summarize"]
Token = tuple[str, float, tuple[tuple[str, float], ...]]
"""A token of a reply, its log-probability (natural logarithm), and the likeliest tokens in its place with theirs."""


class Value(BaseModel):
    """Base of all recorded values: frozen, compared by content, tolerant of later fields."""

    model_config = ConfigDict(frozen=True, extra="allow")


class NativeCall(Value):
    """A tool call in a server's own form.

    Args:
        id: what its result is matched by; empty when the server gave none.
        name: the tool's name.
        arguments: JSON text as the model wrote it, or an object when the server sent one.
    """

    id: str = ""
    name: str
    arguments: str | dict[str, Any] = ""


class Segment(Value):
    """One named part of a prompt.

    Args:
        name: ``instructions``, ``tool:calculator``, ``example:1``, ``question``, ``step:3.reply``,
            ``step:3.observation`` ...
        role: whose message the part belongs to.
        text: exactly what is sent; for a call and a definition the same as JSON.
        tokens: its length by the model's own tokenizer, or None when that is not known.
        part: what of the message it is: its ``text``, the ``reasoning`` before it, a native tool ``call``, the
            ``result`` of one, or the ``definition`` of a tool, which is sent beside the messages.
        call: the call, where ``part`` is ``call``.
        result_of: the id of the call, where ``part`` is ``result``.
        blocks: a vendor's own form of the reasoning, which is sent back unchanged.
    """

    name: str
    role: Role
    text: str
    tokens: int | None = None
    part: Literal["text", "reasoning", "call", "result", "definition"] = "text"
    call: NativeCall | None = None
    result_of: str = ""
    blocks: tuple[dict[str, Any], ...] = ()


class Call(Value):
    """One tool call as it was read from a reply.

    Args:
        tool: the tool's name.
        arguments: its arguments by name.
        text: the input as the model wrote it.
        id: of a native call, what its result is matched by.
    """

    tool: str
    arguments: dict[str, Any] = {}
    text: str = ""
    id: str = ""


class Report(Value):
    """How a reply was read.

    Args:
        dialect: the form that was recognised, such as ``bracket`` or ``action_input``.
        repairs: the names of the repairs that were needed, in the order they were applied.
        spans: ``(section, start, end)`` in UTF-8 bytes of the reply.
        confidence: 1.0 for a reply in exactly the form that was asked for, lower with each repair.
        dropped: text that was cut off, such as an observation that the model invented.
    """

    dialect: str
    repairs: tuple[str, ...] = ()
    spans: tuple[tuple[str, int, int], ...] = ()
    confidence: float = 1.0
    dropped: str = ""


class Usage(Value):
    """What one model call used. ``None`` means the model did not say, which is not the same as zero.

    Args:
        prompt_tokens: length of the prompt, in tokens.
        cached_tokens: how many of them were served from the prompt cache.
        written_tokens: how many of them were put into the prompt cache, where that has its own price.
        completion_tokens: length of the reply with its reasoning, in tokens.
        reasoning_tokens: how many of them were reasoning.
        estimated: True when counted on our side and not reported by the model's server.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    written_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    estimated: bool = False


class Started(Value):
    """A run began."""

    type: Literal["started"] = "started"
    v: int = VERSION
    question: str
    language: str
    agent: dict[str, Any] = {}
    """The agent's specification as data: models, mode, tools, limits, policy."""


class Asked(Value):
    """The model is about to be asked; ``prompt`` is exactly what it is sent."""

    type: Literal["asked"] = "asked"
    step: int
    role: ModelRole = "think"
    model: str
    mode: str
    prompt: tuple[Segment, ...]
    prefix: str = ""
    stop: tuple[str, ...] = ()
    max_tokens: int


class Replied(Value):
    """The model's reply, whole and unchanged (without the prefix it was given).

    Args:
        step: the reply's number.
        text: the visible text.
        finish: ``stop``, or ``length`` when the reply was cut by the token limit.
        usage: what the call used.
        reasoning: what came on the model's reasoning channel.
        calls: native tool calls, in order.
        blocks: a vendor's own form of the reasoning, to be sent back unchanged.
        tokens: the tokens of the text with their probabilities, when they were asked for.
        notes: what had to be done differently for this server, such as cutting at a stop string on our side.
        cost: in US dollars; None when the price or the usage is not known.
    """

    type: Literal["replied"] = "replied"
    step: int
    text: str
    finish: Literal["stop", "length"] = "stop"
    usage: Usage = Usage()
    reasoning: str = ""
    calls: tuple[NativeCall, ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    tokens: tuple[Token, ...] = ()
    notes: tuple[str, ...] = ()
    cost: float | None = None


class ModelFailed(Value):
    """A model call ended without a whole reply; nothing of the unfinished text is used.

    Args:
        step: the number of the reply that was to come.
        kind: of failure, such as ``unreachable``, ``timeout``, ``broken``, ``context``.
        message: what went wrong, for a person.
        partial: the text that had come; likewise ``reasoning``, and ``action`` for native calls as they were shown.
        temporary: the same call may succeed later.
        retry_after: how long the server asks to wait, in seconds.
    """

    type: Literal["model_failed"] = "model_failed"
    step: int
    kind: str
    message: str
    partial: str = ""
    reasoning: str = ""
    action: str = ""
    temporary: bool = False
    retry_after: float | None = None


class Retrying(Value):
    """The call that failed is about to be made again.

    Args:
        step: the number of the reply that is due.
        attempt: how many times it has failed.
        wait: how long is waited before, in seconds, before a random part is added.
        reason: why it failed.
    """

    type: Literal["retrying"] = "retrying"
    step: int
    attempt: int
    wait: float
    reason: str


class Switched(Value):
    """Another model takes over.

    Args:
        step: the number of the reply that is due.
        model: the model that takes over.
        cause: ``fallback``: the one before is down; ``escalated``: it makes no progress.
        reason: in words.
    """

    type: Literal["switched"] = "switched"
    step: int
    model: str
    cause: Literal["fallback", "escalated"]
    reason: str


class Parsed(Value):
    """What a reply means: calls, or an answer, or (neither) a correction to send back.

    Args:
        thought: the model's reasoning, without its label.
        calls: the tool calls, in order.
        answer: the final answer, without its label.
        retry: why the reply could not be read, as the sentence that is sent back to the model.
        reason: a short label for ``retry``, such as ``no_action``.
    """

    type: Literal["parsed"] = "parsed"
    step: int = 0
    thought: str = ""
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    retry: str | None = None
    reason: str | None = None
    report: Report


class Paused(Value):
    """A call waits for a person. ``reason`` is ``risk``, ``always`` or ``unknown_outcome``."""

    type: Literal["paused"] = "paused"
    step: int
    call: Call
    reason: str


class Approved(Value):
    """A person allowed exactly this call."""

    type: Literal["approved"] = "approved"
    step: int
    call: Call


class Rejected(Value):
    """A person, or the policy when nobody can be asked, refused this call."""

    type: Literal["rejected"] = "rejected"
    step: int
    call: Call
    reason: str = ""


class Called(Value):
    """A tool is about to run. Without an :class:`Observed` behind it, it may or may not have acted."""

    type: Literal["called"] = "called"
    step: int
    call: Call


class Observed(Value):
    """What came of a call. ``content`` is whole; it is folded and neutralised only when put in a prompt.

    ``error`` is None, or the kind of failure: ``unknown_tool``, ``bad_arguments``, ``failed``, ``timeout``,
    ``rejected``.
    """

    type: Literal["observed"] = "observed"
    step: int
    call: Call
    content: str
    error: str | None = None


class LimitReached(Value):
    """A limit ended the search for an answer; one best-effort answer is asked for after this."""

    type: Literal["limit_reached"] = "limit_reached"
    limit: str
    message: str


class Answered(Value):
    """The run's answer.

    Args:
        answer: the text for the person.
        complete: False when a limit or an unreadable reply stood in the way; ``reason`` says which.
    """

    type: Literal["answered"] = "answered"
    answer: str
    complete: bool = True
    reason: str | None = None


class Stopped(Value):
    """The run ended without an answer, and can be resumed."""

    type: Literal["stopped"] = "stopped"
    reason: str
    message: str = ""


class Resumed(Value):
    """The run goes on after it was stopped or its process died."""

    type: Literal["resumed"] = "resumed"


class Unknown(Value):
    """An event of a type this version does not know, kept as it is."""

    type: str


Known = (
    Started
    | Asked
    | Replied
    | ModelFailed
    | Retrying
    | Switched
    | Parsed
    | Paused
    | Approved
    | Rejected
    | Called
    | Observed
    | LimitReached
    | Answered
    | Stopped
    | Resumed
)
Event = Known | Unknown

_known: TypeAdapter[Known] = TypeAdapter(Annotated[Known, Field(discriminator="type")])
_types = {cls.model_fields["type"].default for cls in Known.__args__}


class Delta(Value):
    """A piece of text the moment the model produced it. Never stored: the reply is, once it is whole.

    ``anew`` says that the reply has begun again in other words: what was shown of it before does not count.
    """

    type: Literal["delta"] = "delta"
    section: Section
    text: str
    anew: bool = False


class Reading(Value):
    """How far a model has read its prompt, in tokens. Never stored."""

    type: Literal["reading"] = "reading"
    done: int
    total: int


class Stamped(Value):
    """An event with what the store gave it.

    Args:
        run: the run's id.
        seq: the event's number in the run, from 1, without gaps.
        at: when it was stored, with its time zone (UTC).
        event: the fact itself.
    """

    run: str
    seq: int
    at: datetime
    event: Event

    @property
    def type(self) -> str:
        """The event's type."""
        return self.event.type


def to_data(event: Event | Delta | Reading) -> dict[str, Any]:
    """Return the event as JSON-ready data; :func:`from_data` is its inverse.

    JSON has no infinite numbers: they become the strings ``Infinity``, ``-Infinity`` and ``NaN``, which pydantic reads
    as numbers where a number is due.
    """
    # Not mode="json": that turns infinite numbers to null and fails on keys with lone surrogates.
    data: dict[str, Any] = _json_ready(event.model_dump())
    return data


def _json_ready(value: Any) -> Any:
    match value:
        case dict():
            return {key: _json_ready(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_json_ready(inner) for inner in value]
        case float() if not isfinite(value):
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    return value


def from_data(data: dict[str, Any]) -> Event:
    """Return the event that ``data`` describes.

    Raises:
        pydantic.ValidationError: a field of a known type is missing or has a wrong value.
    """
    if data.get("type") in _types:
        return _known.validate_python(data)
    return Unknown.model_validate(data)
