"""How a step is written in each mode, for worked examples and for steps that were written in another mode."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from whybox.ports import Mode, ToolSpec
from whybox.prompts import phrases


def step_with_call(mode: Mode, language: str, thought: str, tool: str, text: str, arguments: Mapping[str, Any]) -> str:
    """Return a thought and a call as a model writes them.

    Args:
        mode: ``json`` for a JSON object, else text with labels.
        language: of the labels.
        thought: the thought; may be empty.
        tool: the tool's name.
        text: its input as text.
        arguments: its input by name, for JSON.
    """
    if mode == "json":
        return _json(thought=thought, action=tool, action_input=dict(arguments))
    action = f"{_label(language, 'action')}{tool}[{text}]"
    return f"{_label(language, 'thought')}{thought}\n{action}" if thought else action


def step_with_answer(mode: Mode, language: str, thought: str, answer: str) -> str:
    """Return a thought and an answer as a model writes them."""
    if mode == "json":
        return _json(thought=thought, answer=answer)
    text = f"{_label(language, 'answer')}{answer}"
    return f"{_label(language, 'thought')}{thought}\n{text}" if thought else text


def example_arguments(tool: ToolSpec, text: str) -> dict[str, Any]:
    """Return an example's input, whose parts are separated by commas, by the names of the tool's arguments."""
    parameters: dict[str, Any] = tool.parameters.get("properties", {})
    names = list(parameters)
    if not names or not text:
        return {}
    parts = [text] if len(names) == 1 else text.split(", ", len(names) - 1)
    return {name: _typed(parameters[name], part) for name, part in zip(names, parts, strict=False)}


def _typed(schema: Mapping[str, Any], text: str) -> Any:
    if schema.get("type") == "string":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _json(**fields: Any) -> str:
    return json.dumps(fields, ensure_ascii=False)


def _label(language: str, kind: str) -> str:
    return phrases.label(language, kind) + phrases.gap(language)
