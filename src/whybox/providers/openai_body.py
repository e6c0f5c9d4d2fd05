"""The body of a request in OpenAI's form, and what a server has been seen to refuse in one. Pure.

Fields: https://platform.openai.com/docs/api-reference/chat/create, DeepSeek's and Kimi's ``reasoning_content``, and
OpenRouter's ``reasoning_details``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from whybox.events import NativeCall
from whybox.ports import Message, Request, ToolSpec
from whybox.providers.native_calls import arguments_object, description_of, safe_names
from whybox.providers.openai_chunks import Fault
from whybox.providers.openai_errors import blames, is_overflow
from whybox.providers.reply_text import scalar, scalars

EmptyContent = Literal["null", "string"]
ReasoningBack = Literal["never", "with_calls"]

_NOTES = {
    "stop": "the server does not take `stop`; the reply is cut here",
    "stream_options": "the server does not take `stream_options`; it may not say what was used",
    "max_tokens": "the server takes `max_completion_tokens` instead of `max_tokens`",
    "temperature": "the server does not take this `temperature`; its own is used",
    "logprobs": "the server does not take `logprobs`; the probabilities are not known",
    "json_schema": "the server does not take a JSON schema; it is held to any JSON object",
    "response_format": "the server does not take `response_format`; the reply is not held to JSON",
    "parallel_tool_calls": "the server does not take `parallel_tool_calls`; it is left out",
    "tool_choice": "the server does not take `tool_choice`; it may call tools although it should not",
}
_BLAMED_AS = {
    "logprobs": ("logprobs", "top_logprobs"),
    "response_format": ("response_format", "json_schema", "json_object"),
}
# A value that is out of range is the user's to correct; only one that no other could replace is left out.
_NOT_TAKEN = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|deprecated|only\b.*\b(allowed|default)",
    re.IGNORECASE,
)
_ONLY_BEHIND_A_PREFIX = ("continue_final_message", "add_generation_prompt")


@dataclass(frozen=True)
class Body:
    """A request as it is sent.

    Args:
        fields: the JSON object.
        notes: what is done differently for this server.
        names: the tools' names, by the safe names in ``fields``.
    """

    fields: dict[str, Any]
    notes: tuple[str, ...]
    names: dict[str, str]


@dataclass
class BodyWriter:
    """Writes requests for one model of one server, and learns from what the server refuses.

    Args:
        model: the model's name at that server.
        empty_content: the content of a message that has calls and no text.
        reasoning_back: whether reasoning is sent back, beside the calls that it led to.
        extra: fields that are put into every body. Those that tell vLLM to go on from the last message are only sent
            where there is a prefix to go on from.
        refused: what the server does not take: keys of the notes.
    """

    model: str
    empty_content: EmptyContent = "null"
    reasoning_back: ReasoningBack = "never"
    extra: Mapping[str, Any] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def write(self, request: Request) -> Body:
        """Return the body for ``request``, without what the server has refused before."""
        names = safe_names(tool.name for tool in request.tools)
        wanted = self._wanted(request, names)
        fields = {name: value for name, value in wanted.items() if name not in self.refused}
        if "max_tokens" in wanted and "max_tokens" in self.refused:
            fields["max_completion_tokens"] = wanted["max_tokens"]
        if "logprobs" not in fields:
            fields.pop("top_logprobs", None)
        if "json_schema" in self.refused and request.json_schema is not None and "response_format" in fields:
            fields["response_format"] = {"type": "json_object"}
        applies = {*wanted, *(["json_schema"] if "response_format" in fields else [])}
        notes = tuple(note for name, note in _NOTES.items() if name in self.refused and name in applies)
        return Body(fields, notes, {safe: name for name, safe in names.items()})

    def learn(self, status: int, fault: Fault, body: Body) -> bool:
        """Note what the server does not take, and return whether the request may now succeed without.

        Args:
            status: the HTTP status of the refusal.
            fault: what the server said.
            body: what was refused.
        """
        if status not in (400, 422) or is_overflow(fault):
            return False
        name = next((name for name in _NOTES if name in body.fields and _is_refused(fault, name)), None)
        if name == "response_format" and "json_schema" not in self.refused:
            name = "json_schema"
        if name is None:
            return False
        self.refused.add(name)
        return True

    def setting_for(self, fault: Fault, body: Body) -> str:
        """Return which setting a refusal is about, as a hint; empty when it is about none."""
        bare = any(m.get("tool_calls") and not m["content"] for m in body.fields["messages"])
        if re.search(r"\breasoning_content\b", fault.message):
            other = "with_calls" if self.reasoning_back == "never" else "never"
            return f"set reasoning_back to {other} for this model"
        if bare and re.search(r"\bcontent\b", fault.message):
            other = "string" if self.empty_content == "null" else "null"
            return f"set empty_content to {other} for this model"
        return ""

    def _wanted(self, request: Request, names: Mapping[str, str]) -> dict[str, Any]:
        messages = [self._message(message, names) for message in request.messages]
        if request.prefix:
            messages.append({"role": "assistant", "content": scalar(request.prefix)})
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if stops := [stop for stop in request.stop if stop]:
            body["stop"] = stops
        if request.grammar is not None:
            body["grammar"] = request.grammar
        if request.json_schema is not None:
            schema = {"name": "step", "strict": True, "schema": request.json_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.tools:
            body["tools"] = [_tool(tool, names) for tool in request.tools]
        if request.tools and not request.call_tools:
            body["tool_choice"] = "none"
        if request.logprobs:
            body |= {"logprobs": True, "top_logprobs": request.logprobs}
        left_out = () if request.prefix else _ONLY_BEHIND_A_PREFIX
        return body | {name: value for name, value in self.extra.items() if name not in left_out}

    def _message(self, message: Message, names: Mapping[str, str]) -> dict[str, Any]:
        fields: dict[str, Any] = {"role": message.role, "content": scalar(message.content)}
        if message.role == "tool":
            fields["tool_call_id"] = message.result_of
        if message.role != "assistant":
            return fields
        if message.calls:
            if not message.content and self.empty_content == "null":
                fields["content"] = None
            fields["tool_calls"] = [_call(call, names) for call in message.calls]
            if message.reasoning and self.reasoning_back == "with_calls":
                fields["reasoning_content"] = scalar(message.reasoning)
        # Another vendor's blocks, from before a switch of models, would be refused.
        own = [scalars(block) for block in message.blocks if str(block.get("type", "")).startswith("reasoning")]
        return fields | ({"reasoning_details": own} if own else {})


def _is_refused(fault: Fault, name: str) -> bool:
    if name == "max_tokens":
        return "max_completion_tokens" in fault.message
    blamed = any(blames(fault, word) for word in _BLAMED_AS.get(name, (name,)))
    return blamed and (name != "temperature" or _NOT_TAKEN.search(f"{fault.message} {fault.code}") is not None)


def _tool(tool: ToolSpec, names: Mapping[str, str]) -> dict[str, Any]:
    function = {"name": names[tool.name], "description": description_of(tool), "parameters": tool.parameters}
    return {"type": "function", "function": scalars(function)}


def _call(call: NativeCall, names: Mapping[str, str]) -> dict[str, Any]:
    name = names.get(call.name) or safe_names([call.name])[call.name]
    found = arguments_object(call.arguments)
    # A text that is an object already is sent as the model wrote it, so that the prompt stays the same.
    sound = isinstance(call.arguments, str) and call.arguments.strip() and found != {"input": call.arguments}
    text = call.arguments if sound else json.dumps(found, ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": scalar(str(text))}}
