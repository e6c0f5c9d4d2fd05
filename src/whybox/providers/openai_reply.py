"""One reply of a chat completion, put together from the pieces of its body. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from whybox.dialects.tool_calls import CallCollector, RawCall, sent_arguments
from whybox.events import NativeCall, Usage
from whybox.ports import Chunk, Reply, Request
from whybox.providers.estimate import estimated_tokens
from whybox.providers.native_calls import description_of
from whybox.providers.openai_chunks import Piece
from whybox.providers.openai_stream import BrokenReply, ReplyReader
from whybox.providers.openai_tokens import RawToken, tokens_of_text
from whybox.providers.reply_text import JoinSurrogates, ReplyText, scalar, scalars

_CALLS = ("tool_calls", "function_call")


class ReplyBuilder:
    """Takes the bytes of a reply, cut anywhere, and gives what may be shown, then the whole.

    Stop strings are honoured here even if the server does not know them, and a prefix that the server repeats is
    removed.

    Args:
        request: what was asked.
        names: of the tools, by the safe names that the server was given.

    Attributes:
        reader: what reads the bytes.
    """

    def __init__(self, request: Request, names: Mapping[str, str]) -> None:
        self.reader = ReplyReader()
        self._request = request
        self._names = names
        self._filter = ReplyText(request.prefix, request.stop)
        self._joins = {"reasoning": JoinSurrogates(), "action": JoinSurrogates()}
        self._sent: list[str] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallCollector()
        self._has_calls = False
        self._blocks: list[dict[str, Any]] = []
        self._tokens: list[RawToken] = []

    @property
    def cut(self) -> bool:
        """A stop string was found, and nothing that follows belongs to the reply.

        Calls that have begun are waited for: half a call may not be used.
        """
        return self._filter.cut and not self._has_calls

    def feed(self, data: bytes) -> list[Chunk]:
        """Take the next bytes and return what may be shown now.

        Raises:
            BrokenReply, NotChat, ReportedFault: see :meth:`ReplyReader.feed`.
        """
        return self._chunks(self.reader.feed(data))

    def close(self) -> list[Chunk]:
        """Return what was still to be shown; the body has ended.

        Raises:
            BrokenReply: there are no calls although the server says so, and no text that they may be in.
            BrokenReply, ReportedFault: see :meth:`ReplyReader.close`.
        """
        chunks = self._chunks(self.reader.close())
        if self.reader.finish in _CALLS and not self._has_calls and not "".join(self._sent).strip():
            raise BrokenReply("the server said that tools are called, and sent no call")
        return chunks

    def rest(self) -> list[Chunk]:
        """Return what was held back because more might have followed."""
        text = self._filter.close()
        self._text.append(text)
        reasoning, action = self._joins["reasoning"].close(), self._joins["action"].close()
        self._reasoning.append(reasoning)
        return [Chunk(text=text, reasoning=reasoning, action=action)] if text or reasoning or action else []

    def reply(self, notes: tuple[str, ...] = ()) -> Reply:
        """Return the whole reply, after :meth:`rest`.

        Args:
            notes: what had to be done differently for this server.
        """
        text, sent = "".join(self._text), scalar("".join(self._sent))
        start = len(self._request.prefix) if sent.startswith(self._request.prefix) else 0
        calls = tuple(self._native(call) for call in self._calls.calls)
        reasoning = "".join(self._reasoning)
        usage = self.reader.usage
        if usage.prompt_tokens is None and usage.completion_tokens is None:
            usage = _estimated(self._request, (text, reasoning, *_texts(calls)), usage)
        return Reply(
            text=text,
            finish="length" if not self.cut and self._ran_out(bool(calls)) else "stop",
            usage=usage,
            reasoning=reasoning,
            calls=calls,
            blocks=tuple(scalars(block) for block in self._blocks),
            tokens=tokens_of_text(self._tokens, sent, start, text),
            notes=notes,
        )

    def _ran_out(self, has_calls: bool) -> bool:
        if self.reader.finished_by == "length":
            return True
        # Some servers say `tool_calls` of a call that the limit has cut.
        used = self.reader.usage.completion_tokens
        return has_calls and used is not None and used >= self._request.max_tokens

    def _chunks(self, pieces: list[Piece]) -> list[Chunk]:
        found = []
        for piece in pieces:
            if self.cut:
                break
            text = self._take_text(piece)
            # What the model thinks behind a stop string belongs to what is dropped.
            reasoning = "" if self._filter.cut else self._joins["reasoning"].feed(piece.reasoning)
            self._reasoning.append(reasoning)
            action = "" if self.cut else self._joins["action"].feed(self._take_calls(piece))
            for block in piece.blocks:
                _merge(self._blocks, block)
            if text or reasoning or action:
                found.append(Chunk(text=text, reasoning=reasoning, action=action))
        return found

    def _take_text(self, piece: Piece) -> str:
        self._sent.append(piece.text)
        if piece.text or not (piece.reasoning or piece.calls):
            self._tokens += piece.tokens  # others are of what the model thought or called
        text = self._filter.feed(piece.text)
        self._text.append(text)
        return text

    def _take_calls(self, piece: Piece) -> str:
        shown = ""
        for call in piece.calls:
            self._has_calls = True
            shown += self._calls.add(self._renamed(call))
        return shown

    def _renamed(self, call: dict[str, Any]) -> dict[str, Any]:
        function = call.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(function, dict) or not isinstance(name, str):
            return call
        return call | {"function": function | {"name": self._names.get(name, name)}}

    def _native(self, call: RawCall) -> NativeCall:
        arguments = sent_arguments(scalars(call.arguments))
        name = scalar(call.name)
        return NativeCall(id=scalar(call.id), name=self._names.get(name, name), arguments=arguments)


def _merge(blocks: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Put a piece of OpenRouter's reasoning to the block it belongs to; what is encrypted always comes whole."""
    block = next((each for each in reversed(blocks) if _goes_on(each, piece)), None)
    if block is None:
        blocks.append(dict(piece))
        return
    for name, value in piece.items():
        if name in ("text", "summary") and isinstance(value, str) and isinstance(block.get(name), str):
            block[name] += value
        elif value is not None:
            block[name] = value


def _goes_on(block: dict[str, Any], piece: dict[str, Any]) -> bool:
    ids = {str(each["id"]) for each in (block, piece) if each.get("id") is not None}
    alike = all(block.get(name) == piece.get(name) for name in ("type", "index"))
    return alike and len(ids) < 2 and "data" not in block and "data" not in piece


def _estimated(request: Request, reply: Iterable[str], said: Usage) -> Usage:
    """Return a usage counted on our side, with what the server has said beside."""
    asked = [request.prefix]
    for message in request.messages:
        asked += [message.content, *_texts(message.calls)]
    for tool in request.tools:
        asked += [tool.name, description_of(tool), json.dumps(tool.parameters, ensure_ascii=False)]
    return said.model_copy(
        update={
            "prompt_tokens": sum(map(estimated_tokens, asked)),
            "completion_tokens": sum(map(estimated_tokens, reply)),
            "estimated": True,
        }
    )


def _texts(calls: Iterable[NativeCall]) -> list[str]:
    found = []
    for call in calls:
        given = call.arguments
        found += [call.name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)]
    return found
