"""The edges of the engine: protocols, the dialect, and the values that cross them.

Each has a public fake: ``providers.scripted.ScriptedModel``, any function with ``tools.base.tool``,
``people.ScriptedPerson`` and ``store.memory.MemoryStore``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Literal, Protocol

from whybox.events import Call, Delta, Event, NativeCall, Parsed, Role, Stamped, Token, Usage, Value

Risk = Literal["read", "write", "danger"]
Mode = Literal["text", "grammar", "json", "tools"]


class Abilities(Value):
    """What a model can do.

    Args:
        grammar: decoding can be constrained by a GBNF grammar.
        json_schema: decoding can be constrained by a JSON schema (``response_format``).
        tools: native tool calls.
        parallel: several native tool calls in one reply.
        stop: stop sequences; without them replies are cut on our side.
        logprobs: log-probabilities of the tokens of a reply.
        reasoning: there is a reasoning channel beside the text.
        prefix: the model can go on from an unfinished assistant message.
        tokenizer: :meth:`Model.count_tokens` is exact.
        context: how many tokens prompt and reply may have together; None when unknown.
        best: the mode that suits it best; None for the strictest it can do in text.
    """

    grammar: bool = False
    json_schema: bool = False
    tools: bool = False
    parallel: bool = False
    stop: bool = True
    logprobs: bool = False
    reasoning: bool = False
    prefix: bool = False
    tokenizer: bool = False
    context: int | None = None
    best: Mode | None = None

    def can(self, mode: Mode) -> bool:
        """Return whether the model can be held to the format in this way."""
        return mode == "text" or getattr(self, ability_for(mode)) is True


def ability_for(mode: Mode) -> str:
    """Return the field of :class:`Abilities` that a mode needs; text needs none."""
    return "json_schema" if mode == "json" else mode


class Price(Value):
    """What a model costs, in US dollars for a million tokens; None where that is not known.

    Args:
        input: of the prompt.
        cached: of that part of the prompt that was served from the cache; None when it costs the same.
        written: of that part of the prompt that was put into the cache; None when it costs the same.
        output: of the reply with its reasoning.
        note: for people: where the figures are from and of which day, or why it is free.
    """

    input: float | None = None
    cached: float | None = None
    written: float | None = None
    output: float | None = None
    note: str = ""

    @property
    def free(self) -> bool:
        """Whether it costs nothing."""
        return self.input == 0 and self.output == 0

    def of(self, usage: Usage) -> float | None:
        """Return what a call cost, in US dollars; None when the price or the usage is not known."""
        if self.free:
            return 0.0
        if self.input is None or self.output is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached, written = usage.cached_tokens or 0, usage.written_tokens or 0
        fresh = max(0, usage.prompt_tokens - cached - written)
        total = fresh * self.input + usage.completion_tokens * self.output
        total += cached * (self.input if self.cached is None else self.cached)
        total += written * (self.input if self.written is None else self.written)
        return total / 1_000_000

    def __str__(self) -> str:
        if self.free:
            return f"free ({self.note})" if self.note else "free"
        if self.input is None or self.output is None:
            return "price unknown"
        return f"${self.input:g} in, ${self.output:g} out per million tokens"


class Message(Value):
    """One chat message.

    Args:
        role: whose it is; ``tool`` for the result of a native call.
        content: its text.
        calls: native tool calls of an assistant's message, each with an id.
        result_of: the id of the call whose result this is.
        reasoning: what the model had put on its reasoning channel.
        blocks: a vendor's own form of the reasoning, sent back unchanged.
    """

    role: Role
    content: str
    calls: tuple[NativeCall, ...] = ()
    result_of: str = ""
    reasoning: str = ""
    blocks: tuple[dict[str, Any], ...] = ()


class ToolSpec(Value):
    """What a model and a person are told of a tool.

    Args:
        name: how the model calls it.
        description: what it is for, by language code; ``en`` is always there.
        example: one input as it is written between the brackets, by language code.
        parameters: JSON schema of the arguments (``{"type": "object", "properties": ...}``), in order.
        risk: ``read`` changes nothing, ``write`` changes something, ``danger`` cannot be undone.
        grounds: the tool states facts (a lookup, a search), as opposed to computing from its input.
    """

    name: str
    description: dict[str, str]
    example: dict[str, str] = {}
    parameters: dict[str, Any]
    risk: Risk = "read"
    grounds: bool = False

    def in_language(self, texts: dict[str, str], language: str) -> str:
        """Return the text in ``language``, or in English when there is none."""
        return texts.get(language) or texts.get("en", "")


class Request(Value):
    """One call of a model.

    Args:
        messages: the conversation, in order.
        prefix: text of the assistant's next message that is already fixed and that the model goes on from.
        stop: the reply ends before any of these strings.
        grammar: a GBNF grammar for prefix + reply, or None.
        json_schema: a JSON schema that the reply is an instance of, or None.
        tools: tools that may be called natively.
        call_tools: False when the tools are only there because earlier messages call them.
        logprobs: how many of the likeliest tokens are wanted for each token of the reply; 0 for none.
        max_tokens: longest reply, in tokens.
        stable: how many of the first messages are the same for every question to this agent, so that what a model
            computed for them may be kept.
        temperature: 0 for the most likely token each time.
    """

    messages: tuple[Message, ...]
    prefix: str = ""
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    json_schema: dict[str, Any] | None = None
    tools: tuple[ToolSpec, ...] = ()
    call_tools: bool = True
    logprobs: int = 0
    max_tokens: int = 512
    stable: int = 0
    temperature: float = 0.0


class Chunk(Value):
    """A piece of a reply as it arrives, or (with no text) how many tokens of the prompt have been read, of how many.

    Args:
        text: visible text.
        reasoning: text on the reasoning channel.
        action: a native tool call as it grows, as text to be shown.
        read: tokens of the prompt that have been read, and all of them.
    """

    text: str = ""
    reasoning: str = ""
    action: str = ""
    read: tuple[int, int] | None = None


class Reply(Value):
    """A whole reply, always the last item of :meth:`Model.stream`. The fields are those of ``events.Replied``."""

    text: str
    finish: Literal["stop", "length"] = "stop"
    usage: Usage = Usage()
    reasoning: str = ""
    calls: tuple[NativeCall, ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    tokens: tuple[Token, ...] = ()
    notes: tuple[str, ...] = ()


class Model(Protocol):
    """A language model. ``name`` is ``provider:name``; ``location`` is for people to read."""

    name: str
    location: str
    price: Price
    abilities: Abilities

    def stream(self, request: Request) -> AsyncIterator[Chunk | Reply]:
        """Yield the reply in pieces, then whole.

        Raises:
            ModelError: the model could not be reached or did not finish.
        """
        ...

    async def count_tokens(self, text: str) -> int | None:
        """Return the length of ``text`` in tokens, or None when the model has no tokenizer here."""
        ...

    async def close(self) -> None:
        """Release connections, threads and memory."""
        ...


class Output(Value):
    """What a tool returned. ``error`` is None, or the kind of failure as in :class:`~whybox.events.Observed`."""

    text: str
    error: str | None = None


class Tool(Protocol):
    """Something the agent can do."""

    spec: ToolSpec

    async def call(self, arguments: dict[str, Any]) -> Output:
        """Run the tool. Failures are an :class:`Output` with ``error``; only cancellation is raised."""
        ...


class ToolRunner(Protocol):
    """Runs tools by name."""

    def run(self, calls: Sequence[Call]) -> AsyncGenerator[tuple[Call, Output], None]:
        """Run the calls side by side, yielding what came of each as soon as it is there.

        Leaving early cancels those that are still running.
        """
        ...


class Ask(Value):
    """A question to a person: may this call run?"""

    call: Call
    risk: Risk
    reason: str


class Decision(Value):
    """A person's word on an :class:`Ask`."""

    verdict: Literal["approve", "reject", "stop"]
    reason: str = ""


class Person(Protocol):
    """Whoever approves calls."""

    async def decide(self, ask: Ask) -> Decision:
        """Return the decision; may take as long as a person takes."""
        ...


class Store(Protocol):
    """Where runs are kept."""

    async def append(self, run: str, after: int, events: Sequence[Event]) -> list[Stamped]:
        """Store ``events`` durably behind event number ``after`` (0 for a new run) and return them stamped.

        Raises:
            StoreError: it could not be stored, or somebody else has appended meanwhile.
        """
        ...

    async def read(self, run: str, after: int = 0) -> list[Stamped]:
        """Return the run's events behind number ``after``; an unknown run has none."""
        ...

    async def close(self) -> None:
        """Release what is open."""
        ...


class Reader(Protocol):
    """Reads one reply while it arrives."""

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of the reply and return what may be shown of it now."""
        ...

    def close(self, finish: Literal["stop", "length"] = "stop") -> tuple[list[Delta], Parsed]:
        """Return what was still held back, and what the whole reply means."""
        ...


class Dialect(Protocol):
    """A form in which a model writes its steps. Pure."""

    name: str

    def reader(self, tools: Sequence[ToolSpec], language: str) -> Reader:
        """Return a reader for one reply (prefix included, fed first)."""
        ...

    def opening(self, language: str, *, answer: bool) -> str:
        """Return the text that a reply begins with, for a model that can be held to it; of an answer or of any step."""
        ...

    def stop(self, language: str) -> tuple[str, ...]:
        """Return the stop sequences for a server that has them."""
        ...

    def grammar(self, tools: Sequence[ToolSpec], language: str) -> str:
        """Return a GBNF grammar of exactly the well-formed steps."""
        ...
