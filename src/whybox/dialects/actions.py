"""The action grammar: what the text behind an action's label calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whybox.dialects.arguments import arguments, json_object, unfenced, unquoted
from whybox.dialects.labels import FINISH, fold, is_no_action
from whybox.events import Call
from whybox.ports import ToolSpec

_LONGEST_NAME = 80
_ANOTHER_CALL = re.compile(r"[\s,;，；]*(?:(?:and|then|和|然后)\s?){0,2}\w[\w.-]*\s?[\[(]")
_PAIRS = {"[": "]", "(": ")", "［": "］", "（": "）", "【": "】"}
_NAME_KEYS = ("action", "name", "tool", "tool_name", "function")
_INPUT_KEYS = ("action_input", "arguments", "input", "parameters", "args", "tool_input")
_SEPARATORS = re.compile(r"[\s_\-.]+")


@dataclass(frozen=True, slots=True)
class Action:
    """What was read: a call, an answer, or (neither) the reason why not."""

    dialect: str
    call: Call | None = None
    answer: str | None = None
    reason: str | None = None
    repairs: tuple[str, ...] = ()


def read_action(tools: Sequence[ToolSpec], action: str, given: str | None) -> Action:
    """Return what an action calls.

    Args:
        tools: the tools on offer.
        action: the text behind the action's label.
        given: the text behind the input's label, or None when there was no such label.
    """
    action, repairs = unfenced(action)
    if (blob := json_object(action)) is not None:
        return _with(_blob(tools, blob), repairs)
    name, opening, inside, closed = _split(action)
    clean = _clean(name)
    if given is not None and (not opening or not inside.strip()):
        return _with(_named(tools, clean, given, "action_input"), repairs)
    if opening:
        more = () if closed else ("bracket_closed",)
        dialect = "bracket" if opening in "[［【" else "call"
        if dialect == "call":
            return _with(_call_syntax(tools, clean, inside), (*repairs, *more))
        if inside.startswith("[") and inside.endswith("]") and _one_pair(inside):
            inside, dialect = inside[1:-1], "double_bracket"
        return _with(_named(tools, clean, inside, dialect), (*repairs, *more))
    return _with(_bare(tools, clean, action), repairs)


def known(tools: Sequence[ToolSpec], name: str) -> tuple[ToolSpec | None, tuple[str, ...]]:
    """Return the tool that ``name`` stands for and the repair that was needed; case and separators may differ."""
    exact = next((tool for tool in tools if tool.name == name), None)
    if exact:
        return exact, ()
    wanted = _plain(name)
    alike = [tool for tool in tools if wanted in {_plain(tool.name), "functions" + _plain(tool.name)}]
    return (alike[0], ("tool_name",)) if len(alike) == 1 else (None, ())


def _plain(name: str) -> str:
    return _SEPARATORS.sub("", fold(name))


def _with(action: Action, repairs: tuple[str, ...]) -> Action:
    return replace(action, repairs=(*repairs, *action.repairs))


def _clean(name: str) -> str:
    name = name.strip(" \t\r\n*`'\"“”:：.。,，")
    return name[1:-1].strip() if name.startswith("[") and name.endswith("]") else name


def _split(action: str) -> tuple[str, str, str, bool]:
    """Return the name, the opening bracket (or nothing), what is inside, and whether it was closed."""
    start = next((i for i, char in enumerate(action[: _LONGEST_NAME + 1]) if char in _PAIRS), None)
    if start is None or not action[:start].strip():
        return action, "", "", True
    opening = action[start]
    inside, closed = _inside(action, start, opening, _PAIRS[opening])
    return action[:start], opening, inside, closed


def _inside(action: str, start: int, opening: str, closing: str) -> tuple[str, bool]:
    end = _balanced(action, start, opening, closing)
    if end is None:
        last = action.rfind(closing)
        return (action[start + 1 : last], True) if last > start else (action[start + 1 :], False)
    rest_of_line = action[end + 1 :].partition("\n")[0].rstrip()
    if rest_of_line.endswith(closing) and not _ANOTHER_CALL.match(rest_of_line):
        end += len(rest_of_line)
    return action[start + 1 : end], True


def _balanced(text: str, start: int, opening: str, closing: str) -> int | None:
    depth = 0
    for index in range(start, len(text)):
        if text[index] == opening:
            depth += 1
        elif text[index] == closing:
            depth -= 1
            if depth == 0:
                return index
    return None


def _one_pair(inside: str) -> bool:
    return _balanced(inside, 0, "[", "]") == len(inside) - 1


def _named(tools: Sequence[ToolSpec], name: str, text: str, dialect: str) -> Action:
    tool, repairs = known(tools, name)
    if tool is None:
        if fold(name) in FINISH:
            return Action("finish", answer=unquoted(_answer_text(text)))
        if not name or is_no_action(fold(name)):
            return Action(dialect, reason="no_action")
        return Action(dialect, call=Call(tool=name[:_LONGEST_NAME], arguments={}, text=text.strip()))
    found, more = arguments(tool, text)
    if not found and _needs_input(tool):
        return Action(dialect, reason="missing_input", repairs=(*repairs, *more))
    return Action(dialect, call=Call(tool=tool.name, arguments=found, text=text.strip()), repairs=(*repairs, *more))


def _answer_text(text: str) -> str:
    blob = json_object(text.strip())
    values = list((blob or {}).values())
    return str(values[0]) if len(values) == 1 else text.strip()


def _needs_input(tool: ToolSpec) -> bool:
    return bool(tool.parameters.get("required"))


def _call_syntax(tools: Sequence[ToolSpec], name: str, inside: str) -> Action:
    tool, repairs = known(tools, name)
    values = _keywords(inside)
    if values is not None and tool is not None:
        return Action("call", call=Call(tool=tool.name, arguments=values, text=inside.strip()), repairs=repairs)
    if values is not None and fold(name) in FINISH and len(values) == 1:
        return Action("finish", answer=str(next(iter(values.values()))))
    return _named(tools, name, inside, "call")


def _keywords(inside: str) -> dict[str, Any] | None:
    """Return ``a="x", b=2`` as a dictionary, read as literals and never evaluated; None when it is not that."""
    if "=" not in inside or len(inside) > 20_000:
        return None
    try:
        tree = ast.parse(f"f({inside})", mode="eval").body
        if not isinstance(tree, ast.Call) or tree.args or not tree.keywords:
            return None
        return {keyword.arg: ast.literal_eval(keyword.value) for keyword in tree.keywords if keyword.arg}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _blob(tools: Sequence[ToolSpec], blob: dict[str, Any]) -> Action:
    name = next((blob[key] for key in _NAME_KEYS if isinstance(blob.get(key), str)), None)
    given = next((blob[key] for key in _INPUT_KEYS if key in blob), None)
    if name is None:
        answer = next((blob[key] for key in ("final_answer", "answer") if isinstance(blob.get(key), str)), None)
        return Action("json", answer=answer) if answer else Action("json", reason="no_action")
    tool, repairs = known(tools, _clean(name))
    if tool is None or isinstance(given, str):
        return _with(replace(_named(tools, _clean(name), str(given or ""), "json"), dialect="json"), repairs)
    values = given if isinstance(given, dict) else _wrapped(tool, given)
    if not values and _needs_input(tool):
        return Action("json", reason="missing_input")
    return Action("json", call=Call(tool=tool.name, arguments=values, text=str(given or "")), repairs=repairs)


def _wrapped(tool: ToolSpec, value: object) -> dict[str, Any]:
    names = list(tool.parameters.get("properties", {}))
    return {names[0]: value} if value is not None and names else {}


def _bare(tools: Sequence[ToolSpec], name: str, action: str) -> Action:
    tool, repairs = known(tools, name)
    if tool is not None:
        if _needs_input(tool):
            return Action("bare", reason="missing_input", repairs=repairs)
        return Action("bare", call=Call(tool=tool.name), repairs=repairs)
    if not name or is_no_action(fold(name)) or fold(name) in FINISH:
        return Action("bare", reason="no_action")
    first = action.split(maxsplit=1)
    tool, repairs = known(tools, _clean(first[0]))
    if tool is not None and len(first) > 1 and "\n" not in action.strip():
        return _with(_named(tools, tool.name, first[1].strip(" :："), "spaced"), (*repairs, "bracket_added"))
    if len(name.split()) > 3 or len(name) > _LONGEST_NAME:
        return Action("bare", reason="malformed_action")
    return Action("bare", call=Call(tool=name))
