"""The parts of a chat completion's choice as servers really send it, whole or as a piece of a stream.

Fields: https://platform.openai.com/docs/api-reference/chat, and what DeepSeek, llama.cpp, Mistral, Ollama and servers
in front of Anthropic's models do differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """What one choice holds.

    Args:
        text: the visible text.
        reasoning: what came on a reasoning channel.
        refusal: what the model says instead of an answer.
        calls: tool calls, or pieces of them, as the server sent them.
        finish: why the reply ended, if it has.
        blocks: OpenRouter's form of the reasoning, or pieces of it, as the server sent them.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    finish: str | None = None
    blocks: tuple[dict[str, Any], ...] = ()


def first_choice(data: dict[str, Any]) -> dict[str, Any] | None:
    """Return the choice that counts: one reply is asked for, and a server that sends more is read for its first."""
    choices = data.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            return choice
    return None


def part_of(choice: dict[str, Any]) -> Part:
    """Return what a choice holds; unknown and empty fields are no error."""
    message = next((choice[name] for name in ("delta", "message") if isinstance(choice.get(name), dict)), None)
    if message is None:
        message = {"content": choice.get("text")}
    text, thinking, calls = _content(message.get("content"))
    blocks = _dicts(message.get("reasoning_details"))
    reasoning = message.get("reasoning_content") or message.get("reasoning") or _words(blocks)
    refusal, finish = message.get("refusal"), choice.get("finish_reason")
    return Part(
        text=text,
        reasoning=thinking + (reasoning if isinstance(reasoning, str) else ""),
        refusal=refusal if isinstance(refusal, str) else "",
        calls=(*calls, *_calls(message)),
        finish=finish if isinstance(finish, str) and finish else None,
        blocks=tuple(blocks),
    )


def _words(blocks: list[dict[str, Any]]) -> str:
    """Return what a person can read of OpenRouter's blocks; most servers repeat it in a field of its own."""
    return "".join(text for block in blocks if isinstance(text := block.get("text") or block.get("summary"), str))


def _dicts(given: Any) -> list[dict[str, Any]]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _calls(message: dict[str, Any]) -> list[dict[str, Any]]:
    given = message.get("tool_calls")
    found = _dicts([given] if isinstance(given, dict) else given)
    legacy = message.get("function_call")
    if isinstance(legacy, dict) and not found:
        found = [{"index": 0, "function": legacy}]
    return found


def _content(content: Any) -> tuple[str, str, list[dict[str, Any]]]:
    """Return text, reasoning and tool calls of a ``content`` field: None, a string, or a list of parts."""
    if isinstance(content, str):
        return content, "", []
    text, reasoning = "", ""
    calls: list[dict[str, Any]] = []
    for part in content if isinstance(content, list) else []:
        if isinstance(part, str):
            text += part
        elif not isinstance(part, dict):
            continue
        elif part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking") or part.get("reasoning") or part.get("text")
            reasoning += "".join(_content(inner)[:2])
        elif part.get("type") in ("tool_use", "tool_call", "function_call"):
            arguments = part.get("input", part.get("arguments", part.get("args")))
            calls.append({"id": part.get("id"), "function": {"name": part.get("name"), "arguments": arguments}})
        elif isinstance(part.get("text"), str):
            text += part["text"]
    return text, reasoning, calls
