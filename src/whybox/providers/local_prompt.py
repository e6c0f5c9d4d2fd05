"""From messages to the tokens an embedded model reads: its chat template around texts that are plain text. Pure.

What a person, a tool or the model itself wrote may look like the template's special tokens; it must not be read as
one, or a tool's result could open a new turn. So the template is filled with marks from the private use area, which no
template touches, and the texts are put in their places as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from whybox.ports import Request, ToolSpec

# A call's arguments are an object in the template's text, so the quotes around the mark belong to the mark.
_PLACE = re.compile('"\ue002(\\d+)\ue003"|\ue000(\\d+)\ue001')
_SPECIAL = re.compile(r"<(?=[|｜/]|[a-z_]+>)", re.IGNORECASE)


class Conversation:
    """A request as a chat template takes it.

    Args:
        request: what is asked.

    Attributes:
        body: of ``/apply-template``.
        texts: what belongs in the places of the marks.
    """

    def __init__(self, request: Request) -> None:
        self.texts: list[str] = []
        messages: list[dict[str, Any]] = []
        self._first: list[int] = []
        for message in request.messages:
            self._first.append(len(self.texts))
            filled: dict[str, Any] = {"role": message.role, "content": self._place(message.content)}
            if message.calls:
                filled["tool_calls"] = [
                    {"id": call.id, "type": "function", "function": self._function(call.name, str(call.arguments))}
                    for call in message.calls
                ]
            if message.result_of:
                filled["tool_call_id"] = message.result_of
            messages.append(filled)
        if request.prefix:
            messages.append({"role": "assistant", "content": self._place(request.prefix)})
        self.body: dict[str, Any] = {"messages": messages}
        if request.tools:
            self.body["tools"] = [_definition(tool) for tool in request.tools]
        self._stable = request.stable

    def _place(self, text: str) -> str:
        self.texts.append(text)
        return f"\ue000{len(self.texts) - 1}\ue001"

    def _function(self, name: str, arguments: str) -> dict[str, str]:
        self.texts.append(arguments)
        return {"name": name, "arguments": f'"\ue002{len(self.texts) - 1}\ue003"'}

    def pieces(self, templated: str) -> Iterator[tuple[str, bool, bool]]:
        """Yield ``(text, is the template's own, begins what is not stable)`` for the filled template."""
        opening = self._first[self._stable] if self._stable < len(self._first) else -1
        at = 0
        for place in _PLACE.finditer(templated):
            yield templated[at : place.start()], True, False
            number = int(place[1] or place[2])
            yield self.texts[number], False, number == opening
            at = place.end()
        yield templated[at:], True, False


def _definition(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description.get("en", ""), "parameters": tool.parameters}
    return {"type": "function", "function": _plain(function)}


def _plain(value: Any) -> Any:
    """Return ``value`` without anything in its texts that a template's special token could begin with."""
    if isinstance(value, str):
        return _SPECIAL.sub("‹", value)
    if isinstance(value, dict):
        return {_plain(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
