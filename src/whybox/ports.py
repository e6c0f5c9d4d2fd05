"""The edges of the engine: four protocols and the dialect, and the values that cross them.

Each has a public fake: ``providers.scripted.ScriptedModel``, any function with ``tools.base.tool``,
``people.ScriptedPerson`` and ``store.memory.MemoryStore``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, Protocol

from whybox.events import Call, Delta, Event, Parsed, Role, Stamped, Usage, Value

Risk = Literal["read", "write", "danger"]
Mode = Literal["text", "grammar"]


class Abilities(Value):
    """What a model can do.

    Args:
        grammar: decoding can be constrained by a GBNF grammar.
        prefix: the model can go on from an unfinished assistant message.
        tokenizer: :meth:`Model.count_tokens` is exact.
        context: how many tokens prompt and reply may have together; None when unknown.
    """

    grammar: bool = False
    prefix: bool = False
    tokenizer: bool = False
    context: int | None = None


class Message(Value):
    """One chat message."""

    role: Role
    content: str


class Request(Value):
    """One call of a model.

    Args:
        messages: the conversation, in order.
        prefix: text of the assistant's next message that is already fixed and that the model goes on from.
        stop: the reply ends before any of these strings.
        grammar: a GBNF grammar for prefix + reply, or None.
        max_tokens: longest reply, in tokens.
        stable: how many of the first messages are the same for every question to this agent, so that what a model
            computed for them may be kept.
        temperature: 0 for the most likely token each time.
    """

    messages: tuple[Message, ...]
    prefix: str = ""
    stop: tuple[str, ...] = ()
    grammar: str | None = None
    max_tokens: int = 512
    stable: int = 0
    temperature: float = 0.0


class Chunk(Value):
    """A piece of a reply as it arrives, or (with no text) how many tokens of the prompt have been read, of how many."""

    text: str = ""
    read: tuple[int, int] | None = None


class Reply(Value):
    """A whole reply, always the last item of :meth:`Model.stream`."""

    text: str
    finish: Literal["stop", "length"] = "stop"
    usage: Usage = Usage()


class Model(Protocol):
    """A language model. ``name`` is ``provider:name``; ``location`` and ``price`` are for people to read."""

    name: str
    location: str
    price: str
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
