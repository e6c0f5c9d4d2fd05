"""Tools and the way to read replies, for the parser's tests."""

from __future__ import annotations

from collections.abc import Iterable

from whybox.dialects.react import ReActReader
from whybox.events import Delta, Parsed
from whybox.ports import ToolSpec


def make(name: str, *parameters: str, **schemas: dict[str, object]) -> ToolSpec:
    properties = {parameter: {"type": "string"} | schemas.get(parameter, {}) for parameter in parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return ToolSpec(name=name, description={"en": name}, parameters=schema)


TOOLS = (
    make("search", "query"),
    make("date_add", "date", "amount", "unit", amount={"type": "number"}),
    make("now"),
    make("python", "code", code={"format": "multiline"}),
    make("查询", "关键词"),
)


def read(pieces: Iterable[str], language: str = "en", finish: str = "stop") -> tuple[Parsed, list[Delta]]:
    reader = ReActReader(TOOLS, language)
    deltas: list[Delta] = []
    for piece in pieces:
        deltas += reader.feed(piece)
    rest, parsed = reader.close("length" if finish == "length" else "stop")
    return parsed, deltas + rest


def shown(deltas: Iterable[Delta], section: str) -> str:
    return "".join(delta.text for delta in deltas if delta.section == section)
