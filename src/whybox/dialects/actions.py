"""The action grammar: what the text behind an action's label calls."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whybox.dialects.arguments import Arguments, arguments, called, from_value, parameters, unquoted
from whybox.dialects.endings import without_chatter, without_special
from whybox.dialects.fences import first_fence, unfenced
from whybox.dialects.json_text import NotJson, read_json
from whybox.dialects.labels import FINISH, INVISIBLE, fold, is_no_action
from whybox.dialects.tool_names import LONGEST_NAME, clean_name, known
from whybox.events import Call
from whybox.ports import ToolSpec

_ANOTHER_CALL = re.compile(r"[\s,;，；]*(?:(?:and|then|和|然后)\s?){0,2}\w[\w.-]*\s?[\[(]")
_PAIRS = {"[": "]", "(": ")", "［": "］", "（": "）", "【": "】", "｛": "｝", "{": "}"}
_NAME_KEYS = ("action", "name", "tool", "tool_name", "function", "function_name", "command", "recipient_name")
_INPUT_KEYS = (
    *("action_input", "arguments", "input", "parameters", "args", "tool_input", "action_variables", "params"),
    *("tool_arguments", "tool_parameters", "kwargs", "action_arguments", "action_args", "tool_args"),
)
_WRAPPERS = ("tool_call", "tool_calls", "function_call", "function_calls", "actions", "calls", "tool_uses", "function")
_THOUGHT_KEYS = ("thought", "thoughts", "reasoning", "thinking", "reflection", "rationale")
_ANSWER_KEYS = ("final_answer", "answer", "final answer", "finalAnswer", "response")
_FINISH_KEYS = (*_ANSWER_KEYS, "output", "result")
_ACTION_KEYS = frozenset({"action", "tool"})
_PROTOCOL_KEYS = frozenset(
    {*_ACTION_KEYS, "final_answer", "final answer", "finalAnswer", "action_input", *_THOUGHT_KEYS}
)
_SPOKEN_KEYS = frozenset({*_THOUGHT_KEYS, "plan", "criticism", "speak"})
_NOTHING = (None, "")
_FINISH = ToolSpec(name="finish", description={}, parameters={"properties": {"answer": {}}})
_MOST_CALLS = 64
_PREPOSITION = re.compile(r"(?:for|to|about|with|on|in|into|using|through|the|from|at)\s", re.IGNORECASE)
_NEXT_BLOB = re.compile(r"[\s,;]{0,200}(?=\{|\[\s{0,20}\{)")
_TRIPLE = re.compile(r"\"\"\"|'''")
_STRING = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'")


@dataclass(frozen=True, slots=True)
class Action:
    """What was read: calls, an answer, or (neither) the reason why not.

    Args:
        dialect: the form it was written in.
        calls: in order.
        answer: what the built-in action that answers was given.
        reason: why nothing can be run.
        name: the name of the tool that ``reason`` is about.
        thought: a thought that was part of the action, as in some JSON forms.
        repairs: what had to be repaired.
    """

    dialect: str
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    reason: str | None = None
    name: str = ""
    thought: str = ""
    repairs: tuple[str, ...] = ()

    def repaired(self, *repairs: str) -> Action:
        """Return this with ``repairs`` that were needed before."""
        return replace(self, repairs=(*repairs, *self.repairs))


def read_action(tools: Sequence[ToolSpec], action: str, given: str | None, *, open_input: bool = False) -> Action:
    """Return what an action calls.

    Args:
        tools: the tools on offer.
        action: the text behind the action's label.
        given: the text behind the input's label, or None when there was no such label.
        open_input: something was cut off behind the input, so that a bracket left open is no slip at the end.
    """
    action, repairs = _bared(action.strip(f" \t\r\n{INVISIBLE}"))
    if action.startswith(("{", "[", "｛")) and (blob := read_blob(tools, action)) is not None:
        return blob.repaired(*repairs)
    if given is None:
        action, chatter = without_chatter(action)
        repairs = (*repairs, *chatter)
    name, opening, inside, rest = _split(action)
    clean = clean_name(name)
    if given is not None and (not opening or not inside or not inside.strip() or _is_remark(opening, inside)):
        return read_input(tools, clean, given, "action_input").repaired(*repairs)
    if not opening:
        return _bare(tools, clean, action).repaired(*repairs)
    if inside is None:
        # One bracket too few may stand at the end or in the middle: that is not for us to say.
        bracketed = action.rstrip().endswith(_PAIRS[opening]) or _looks_cut(rest)
        if fold(clean) not in FINISH and (open_input or "\n" in action.strip() or bracketed):
            return Action("bracket", reason="malformed_action", name=clean)
        inside, repairs = rest, (*repairs, "bracket_closed")
    if opening in "(（":
        return read_call(tools, clean, inside).repaired(*repairs)
    dialect = "bracket"
    if inside.startswith("[") and not inside.startswith("[[") and _balanced(inside, 0, "[", "]") == len(inside) - 1:
        inside, dialect = inside[1:-1], "double_bracket"
    if opening in "{｛":
        inside = "{" + inside + "}"
    return read_input(tools, clean, inside, dialect).repaired(*repairs)


def _is_remark(opening: str, inside: str) -> bool:
    """Whether what stands in parentheses behind a name explains it, when the input stands behind its own label."""
    return opening in "(（" and not any(char in inside for char in "\"'=:{[") and not inside.strip()[:1].isdigit()


def rest_of_line(action: str) -> str:
    """Return what follows the bracket of a call on the line that it closes in."""
    _, opening, inside, rest = _split(action)
    return rest.partition("\n")[0].strip() if opening and inside is not None else ""


def read_input(tools: Sequence[ToolSpec], name: str, text: str, dialect: str) -> Action:
    """Return the call of the tool with this name and the input as it was written."""
    tool, repairs = known(tools, name)
    if tool is None:
        return _no_tool(name, dialect, answer=_answer_text(text))
    text, dropped = _bared(text)
    if text.startswith(("{", "｛")) and (again := _said_twice(tools, tool, text)) is not None:
        return again.repaired(*repairs, *dropped)
    if dialect == "action_input":
        text, chatter = without_chatter(text)
        dropped = (*dropped, *chatter)
    return _made(tool, arguments(tool, text), text, dialect, (*repairs, *dropped))


def _said_twice(tools: Sequence[ToolSpec], tool: ToolSpec, text: str) -> Action | None:
    """Return the call when a model wrote the whole of it, name and all, where only its input belongs."""
    try:
        value = read_json(text).value
    except NotJson:
        return None
    if set(value) & set(parameters(tool)) or not set(value) & set(_INPUT_KEYS):
        return None
    found = _named_call(tools, value)
    same = found is not None and [call.tool for call in found.calls] == [tool.name]
    return found.repaired("json_wrapped") if found is not None and same else None


def read_call(tools: Sequence[ToolSpec], name: str, inside: str) -> Action:
    """Return the call in the form of a programming language: ``tool(a="x")``."""
    tool, repairs = known(tools, name)
    if tool is None:
        values = list(called(_FINISH, inside).values.values())
        return _no_tool(name, "call", answer=str(values[0]) if values else inside.strip())
    return _made(tool, called(tool, inside), inside, "call", repairs)


def read_value(tools: Sequence[ToolSpec], name: str, value: Any, dialect: str) -> Action:
    """Return the call with this name and JSON value as its arguments."""
    tool, repairs = known(tools, clean_name(name))
    if tool is None:
        return _no_tool(clean_name(name), dialect, answer=_answer_value(value))
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return _made(tool, from_value(tool, value), text, dialect, repairs)


def read_blob(tools: Sequence[ToolSpec], text: str) -> Action | None:
    """Return what the JSON that ``text`` begins with calls, or None when it is no JSON of a call."""
    try:
        found = read_json(text)
    except NotJson as failure:
        if not _looks_like_a_call(tools, text):
            return None
        return Action("json", reason="truncated" if failure.cut else "bad_json", name=text)
    action = blob_of(tools, found.value)
    if action is None:
        return None
    actions, at = [action.repaired(*found.repairs)], found.end
    while (begin := _NEXT_BLOB.match(text, at)) is not None and not actions[-1].reason:
        more = _one_blob(tools, text, begin.end()) if len(actions) < _MOST_CALLS else None
        if more is None:
            return together(actions).repaired("rest_dropped")
        actions.append(more[0])
        at = more[1]
    whole = together(actions)
    return whole.repaired("chatter_dropped") if text[at:].strip("}])`;,. \n\r\t") else whole


def blob_of(tools: Sequence[ToolSpec], value: Any, depth: int = 0) -> Action | None:
    """Return what a JSON value calls, or None when it is not meant as a call."""
    if isinstance(value, list):
        return _all_of(tools, value, depth)
    if not isinstance(value, dict) or depth > 3:
        return None
    thought = next((value[key] for key in _THOUGHT_KEYS if isinstance(value.get(key), str)), "")
    for key in (*_WRAPPERS, *_NAME_KEYS):
        inner = value.get(key)
        if isinstance(inner, list | dict) and (found := blob_of(tools, inner, depth + 1)) is not None:
            return replace(found, thought=found.thought or thought)
    found = _named_call(tools, value) or _answer_of(value) or _tool_as_key(tools, value)
    return replace(found, thought=thought) if found else None


def _all_of(tools: Sequence[ToolSpec], values: list[Any], depth: int) -> Action | None:
    if not values or len(values) > _MOST_CALLS:
        return None
    found = [blob_of(tools, each, depth + 1) for each in values]
    if any(each is None for each in found):
        return None
    return together([each for each in found if each is not None])


def together(actions: Sequence[Action]) -> Action:
    """Return several actions of one reply as one: if one of them cannot be run, none is."""
    failed = next((each for each in actions if each.reason), None)
    if failed is not None or len(actions) == 1:
        return failed or actions[0]
    calls = tuple(call for each in actions for call in each.calls)
    if not calls:
        return actions[0]
    if len(calls) < len(actions):
        # An answer among calls was given before they ran.
        actions = [each for each in actions if each.calls]
    repairs = tuple(repair for each in actions for repair in each.repairs)
    thought = "\n".join(each.thought for each in actions if each.thought)
    return Action(actions[0].dialect, calls=calls, thought=thought, repairs=repairs)


def _one_blob(tools: Sequence[ToolSpec], text: str, at: int) -> tuple[Action, int] | None:
    """Return what the JSON at ``at`` calls, and where it ends; None when it is no JSON of a call."""
    try:
        found = read_json(text, at)
    except NotJson:
        return None
    action = blob_of(tools, found.value)
    return (action.repaired(*found.repairs), found.end) if action is not None else None


def _named_call(tools: Sequence[ToolSpec], value: dict[str, Any]) -> Action | None:
    key = next((key for key in _NAME_KEYS if isinstance(value.get(key), str)), None)
    if key is None:
        return None
    name = clean_name(value[key])
    input_key = next((key for key in _INPUT_KEYS if key in value), None)
    tool, _ = known(tools, name)
    if is_no_action(fold(name)) and tool is None:
        return _answer_of(value) or Action("json", reason="no_action")
    if input_key is not None:
        return read_value(tools, name, value[input_key], "json")
    if fold(name) in FINISH and tool is None:
        answer = next((value[key] for key in _FINISH_KEYS if key in value), None)
        return _no_tool(name, "json", answer=_answer_value(answer))
    if tool is not None:
        # Arguments beside the name, in the same object.
        names = parameters(tool)
        return read_value(tools, name, {each: value[each] for each in names if each in value} or None, "json")
    return _no_tool(name, "json", answer=None) if key.startswith(("action", "tool")) and len(value) <= 2 else None


def _answer_of(value: dict[str, Any]) -> Action | None:
    if not _PROTOCOL_KEYS & set(value):
        return None
    answer = next((value[key] for key in _ANSWER_KEYS if value.get(key) not in _NOTHING), None)
    if answer is not None:
        return Action("json", answer=_answer_value(answer))
    unfinished = set(value) <= _SPOKEN_KEYS or set(value) <= _PROTOCOL_KEYS
    return Action("json", reason="no_action") if unfinished or _ACTION_KEYS & set(value) else None


def _tool_as_key(tools: Sequence[ToolSpec], value: dict[str, Any]) -> Action | None:
    if len(value) != 1:
        return None
    name, given = next(iter(value.items()))
    exact = next((tool for tool in tools if tool.name == name), None)
    if exact is None or not isinstance(given, dict) or not set(given) <= set(parameters(exact)):
        return None
    return read_value(tools, name, given, "json")


def _answer_value(value: Any) -> str:
    if isinstance(value, str):
        return _answer_text(value)
    if isinstance(value, dict) and len(value) == 1:
        return _answer_value(next(iter(value.values())))
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _looks_like_a_call(tools: Sequence[ToolSpec], text: str) -> bool:
    key = re.match(r"[\[{｛\s]{1,40}[\"'“]?(\w{1,40})[\"'”]?\s{0,20}[:：]\s{0,20}[\"'“]?([^\"'”,}]{0,80})", text)
    return key is not None and key[1] in (*_NAME_KEYS, *_WRAPPERS, *_THOUGHT_KEYS, *_INPUT_KEYS)


def _bared(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` without end-of-text tokens and the fence around it, whichever of them stands outside."""
    text, outside = without_special(text)
    text, fence = unfenced(text)
    text, within = without_special(text) if fence else (text, ())
    return text, (*outside, *fence, *within)


def _made(tool: ToolSpec, found: Arguments, text: str, dialect: str, repairs: tuple[str, ...]) -> Action:
    repairs = (*repairs, *found.repairs)
    reason = found.reason
    if reason is None and not found.values and tool.parameters.get("required"):
        reason = "missing_input"
    if reason is not None:
        return Action(dialect, reason=reason, name=tool.name, repairs=repairs)
    return Action(dialect, calls=(Call(tool=tool.name, arguments=found.values, text=text.strip()),), repairs=repairs)


def _no_tool(name: str, dialect: str, *, answer: str | None) -> Action:
    """Return what a name that is no tool's stands for: the answer, nothing, or a mistake."""
    folded = fold(name)
    if folded in FINISH:
        if answer:
            return Action("finish", answer=answer)
        return Action("finish", reason="no_action")
    if not name or is_no_action(folded):
        return Action(dialect, reason="no_action")
    return Action(dialect, reason="unknown_tool", name=name[:LONGEST_NAME])


def _answer_text(text: str) -> str:
    text, _ = without_special(text)
    if text.startswith("{"):
        try:
            found = read_json(text)
        except NotJson:
            return unquoted(text)
        values = list(found.value.values())
        if len(values) == 1 and not text[found.end :].strip():
            return _answer_value(values[0])
    return unquoted(text)


def _split(action: str) -> tuple[str, str, str | None, str]:
    """Return the name, the opening bracket (or nothing), what is inside (None: never closed), and what follows."""
    head = action[: LONGEST_NAME + 1]
    start = next((i for i, char in enumerate(head) if char in _PAIRS and head[:i].strip()), None)
    if start is None or "\n" in head[:start].lstrip():
        return action, "", "", ""
    opening = action[start]
    inside, rest = _inside(action, start, opening, _PAIRS[opening])
    return action[:start], opening, inside, rest


def _inside(action: str, start: int, opening: str, closing: str) -> tuple[str | None, str]:
    end = _balanced(action, start, opening, closing)
    if end is None:
        end = _balanced_outside_strings(action, start, opening, closing)
        return (None, action[start + 1 :]) if end is None else (action[start + 1 : end], action[end + 1 :])
    if not action[end + 1 :].strip():
        return action[start + 1 : end], ""
    rest_of_line = action[end + 1 :].partition("\n")[0].rstrip()
    if _ANOTHER_CALL.match(rest_of_line):
        return action[start + 1 : end], action[end + 1 :]
    quoted_end = _balanced_outside_strings(action, start, opening, closing)
    if quoted_end is not None and quoted_end > end:
        end = quoted_end
    elif rest_of_line.endswith(closing):
        end += len(rest_of_line)
    return action[start + 1 : end], action[end + 1 :]


def _looks_cut(inside: str) -> bool:
    """Whether an input that lacks its closing bracket lacks more than that: it ends inside a string or a bracket."""
    opened, closed = (max(inside.rfind(char) for char in chars) for chars in ("([{", ")]}"))
    return opened > closed or inside.count('"') % 2 == 1


def _balanced(text: str, start: int, opening: str, closing: str) -> int | None:
    depth = 0
    for match in re.compile(rf"[{re.escape(opening + closing)}]").finditer(text, start):
        depth += 1 if match[0] == opening else -1
        if depth == 0:
            return match.start()
    return None


def _balanced_outside_strings(text: str, start: int, opening: str, closing: str) -> int | None:
    """Like :func:`_balanced`, but brackets between quotation marks do not count."""
    depth, index = 0, start
    interesting = re.compile(rf"[{re.escape(opening + closing)}\"']")
    while (found := interesting.search(text, index)) is not None:
        index = found.end()
        if found[0] == opening:
            depth += 1
        elif found[0] == closing:
            depth -= 1
            if depth == 0:
                return found.start()
        else:
            triple = _TRIPLE.match(text, found.start())
            if triple:
                end = text.find(triple[0], triple.end())
                index = end + 3 if end >= 0 else index
            else:
                string = _STRING.match(text, found.start())
                index = string.end() if string else index
    return None


def _bare(tools: Sequence[ToolSpec], name: str, action: str) -> Action:
    tool, repairs = known(tools, name)
    if tool is not None:
        return _made(tool, Arguments({}), "", "bare", repairs)
    line, _, below = action.strip().partition("\n")
    if below.strip() and (found := _on_two_lines(tools, line, below)) is not None:
        return found
    folded = fold(name[: 2 * LONGEST_NAME])
    if not name or is_no_action(folded) or folded in FINISH:
        return Action("bare", reason="no_action")
    first, _, rest = line.strip(" *`").partition(" ")
    if (colon := re.search(r"[:：=]", line)) is not None:
        first, rest = line[: colon.start()], line[colon.end() :]
    tool, repairs = known(tools, clean_name(first))
    rest = rest.strip(" :：=").removeprefix("- ").lstrip()
    if tool is not None and rest and not below.strip() and not _PREPOSITION.match(rest):
        return read_input(tools, tool.name, rest, "spaced").repaired(*repairs, "bracket_added")
    if fold(clean_name(first)) in FINISH and rest:
        answer = f"{rest}\n{below}".strip()
        return Action("finish", answer=_answer_text(answer), repairs=("bracket_added",))
    if len(name) > LONGEST_NAME or len(name.split()) > 3:
        return Action("bare", reason="malformed_action", name=name)
    return _no_tool(name, "bare", answer=None)


def _on_two_lines(tools: Sequence[ToolSpec], line: str, below: str) -> Action | None:
    """Read a name on the action's first line; what stands below it counts only when it can be nothing but its input."""
    tool, repairs = known(tools, clean_name(line))
    if tool is None:
        return None
    if not parameters(tool):
        return _made(tool, Arguments({}), "", "bare", (*repairs, "first_line"))
    text = first_fence(below.strip())[0].strip() if below.strip().startswith("```") else below.strip()
    if text.startswith(("{", "｛")):
        return read_input(tools, tool.name, text, "bare").repaired(*repairs, "first_line")
    return Action("bare", reason="missing_input", name=tool.name, repairs=repairs)
