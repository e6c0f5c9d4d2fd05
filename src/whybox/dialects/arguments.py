"""From the input a model wrote to a tool's arguments by name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whybox.dialects.fences import unfenced
from whybox.dialects.json_text import Json, NotJson, read_json
from whybox.dialects.labels import INVISIBLE, fold
from whybox.ports import ToolSpec

_PAIR = re.compile(r"\s*([^\W\d][\w-]*)\s*[=:：]\s*")
_OBJECT = re.compile(r"\s*[{｛]\s{0,200}(?:\\?[\"'“]|&quot;|[\w$.-]{1,60}\s{0,20}[:：]|[}｝])")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "「": "」", "『": "』", "＂": "＂"}
_OPEN = {"(": ")", "[": "]", "{": "}", "（": "）", "【": "】"}
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?\Z")
_EMPTY = frozenset({"", "none", "null", "nil", "n/a", "(none)", "[]", "{}", "无", "（无）", "空"})
_INVISIBLE = f" \t\r\n{INVISIBLE}"
_LONGEST_EMPTY = 10
_DEPTH = 200
_YES_NO = {"true": True, "yes": True, "false": False, "no": False, "是": True, "否": False}
_ALIASES = frozenset(
    (
        *("input", "query", "q", "text", "value", "arg", "args", "argument", "arguments", "param", "parameter"),
        *("keyword", "keywords", "question", "term", "search", "code", "search_query", "expression", "expr"),
        *("content", "data", "string", "tool_input", "action_input", "__arg1", "title", "name", "topic", "url"),
        *("path"),
    )
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments by name and the repairs that were needed, or the reason why they cannot be read."""

    values: dict[str, Any]
    repairs: tuple[str, ...] = ()
    reason: str | None = None


def parameters(tool: ToolSpec) -> dict[str, dict[str, Any]]:
    """Return the schemas of a tool's parameters by name, in order."""
    found: dict[str, dict[str, Any]] = tool.parameters.get("properties", {})
    return found


def arguments(tool: ToolSpec, text: str) -> Arguments:
    """Return the arguments in ``text``.

    A tool with one parameter takes the whole text; one with several takes a JSON object, ``name=value`` pairs or values
    in order. Values are brought to the types of the tool's schema where that loses nothing; whether they are right is
    the tool's own matter.
    """
    names = list(parameters(tool))
    text, repairs = unfenced(text.strip(_INVISIBLE))
    empty = len(text) < _LONGEST_EMPTY and fold(text) in _EMPTY
    if not names:
        return Arguments({}, repairs if empty else (*repairs, "input_ignored"))
    if empty:
        return Arguments({}, repairs)
    found = _structured(tool, names, text)
    if found is None:
        found = _single(names[0], text) if len(names) == 1 else _several(tool, names, text)
    values, _ = coerced(tool, found.values)
    return Arguments(values, (*repairs, *found.repairs), found.reason)


def from_value(tool: ToolSpec, value: Any) -> Arguments:
    """Return the arguments in a JSON value: an object, its text once more encoded, or the only argument itself."""
    names = list(parameters(tool))
    if value is None or not names:
        return Arguments({})
    if isinstance(value, str):
        again = _object_in(value)
        if again is None:
            return arguments(tool, value)
        value, repairs = again.value, ("json_twice", *again.repairs)
    else:
        repairs = ()
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value, repairs = value[0], (*repairs, "json_wrapped")
    if not isinstance(value, dict):
        if isinstance(value, list) and len(names) > 1 and len(value) <= len(names):
            value = dict(zip(names, value, strict=False))
        else:
            value = {names[0]: value}
    values, more = coerced(tool, value)
    return Arguments(values, (*repairs, *more))


def called(tool: ToolSpec, inside: str) -> Arguments:
    """Return the arguments between the parentheses of ``tool(...)``: by name, in order, or plain text."""
    names = list(parameters(tool))
    if not names or not inside.strip():
        return Arguments({})
    if not inside.lstrip().startswith(("{", "｛")):
        found = _by_name(names, inside)
        if found is None and _half_named(names, split_top(inside, len(names) + 2)):
            return Arguments({}, reason="bad_json")
        found = found or _in_order(tool, names, inside)
        if found is not None:
            values, _ = coerced(tool, found)
            return Arguments(values)
    return arguments(tool, inside)


def coerced(tool: ToolSpec, values: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return ``values`` in the types of the tool's schema where that loses nothing, and the repair if any changed."""
    schemas = parameters(tool)
    found = {name: _coerce(schemas[name], value) if name in schemas else value for name, value in values.items()}
    changed = any(type(found[name]) is not type(value) for name, value in values.items())
    return found, ("coerced",) if changed else ()


def unquoted(text: str) -> str:
    """Return ``text`` without a pair of quotation marks around the whole of it."""
    closing = _QUOTES.get(text[:1])
    if closing is None or len(text) < 2:
        return text
    for count in (3, 1):
        opening, ending = text[0] * count, closing * count
        if len(text) < 2 * count or not text.startswith(opening) or not text.endswith(ending):
            continue
        inner = text[count:-count]
        escaped = text[0] in "\"'" and "\\" + closing in inner
        bare = inner.replace("\\" + closing, "") if escaped else inner
        inside = (ending,) if count == 3 else (closing, text[0])
        if not any(each in bare for each in inside) and not bare.endswith("\\"):
            return inner.replace("\\" + closing, closing) if escaped else inner
    return text


def split_top(text: str, most: int) -> list[str]:
    """Split at the first commas that stand in no quotation marks and no brackets, into ``most`` parts at most."""
    parts: list[str] = []
    stack: list[str] = []
    start, blank, escaped = 0, True, False
    for index, char in enumerate(text):
        if escaped:
            escaped = False
        elif stack and char == stack[-1]:
            stack.pop()
        elif char == "\\" and stack and stack[-1] in "\"'":
            escaped = True
        elif stack and stack[-1] in "\"'":
            continue
        elif char in _OPEN:
            if len(stack) == _DEPTH:
                return [text]
            stack.append(_OPEN[char])
        elif char in "\"'" and (blank or text[index - 1] in "=:："):
            stack.append(char)
        elif char in ",，" and not stack:
            if len(parts) == most - 1:
                break
            parts.append(text[start:index])
            start, blank = index + 1, True
            continue
        blank = blank and char.isspace()
    return [*parts, text[start:]]


def _structured(tool: ToolSpec, names: list[str], text: str) -> Arguments | None:
    """Return the arguments in JSON, or None when the text is not meant as JSON."""
    if text[:1] in _QUOTES and (inner := _object_in(unquoted(text))) is not None:
        value, repairs = inner.value, ("json_twice", *inner.repairs)
        return Arguments(value, repairs) if set(value) & set(names) else None
    if text.startswith("["):
        return _from_list(names, text)
    if not _OBJECT.match(text):
        return None
    single = len(names) == 1
    try:
        found = read_json(text)
    except NotJson as failure:
        if single and not _names_one(names, text):
            return None
        return Arguments({}, reason="truncated" if failure.cut else "bad_json")
    rest = _rest(text[found.end :])
    if rest is None:
        return None if single and not set(found.value) & set(names) else Arguments({}, reason="bad_json")
    values = _from_object(names, found)
    if values is None:
        return None
    return Arguments(values, (*found.repairs, *rest))


def _names_one(names: Sequence[str], text: str) -> bool:
    """Whether broken JSON was surely meant as the arguments: it begins with the name of one."""
    head = re.match(r"\s*[{｛]\s*\\?[\"'“]?([\w.-]{1,60})", text)
    return head is not None and (head[1] in names or head[1].lower() in _ALIASES)


def _rest(rest: str) -> tuple[str, ...] | None:
    """Return the repair for what stands behind a JSON object, None when that makes it something else."""
    lean = rest.strip()
    if not lean:
        return ()
    if not lean.strip("}])`'\"\\ \n;,."):
        return ("json_rest_dropped",)
    if lean[0] in "{[" or lean.startswith(","):
        return None
    gap = rest[: len(rest) - len(rest.lstrip())]
    apart = "\n" in gap or (gap and (lean[0].isalpha() or lean[0] in "(（`*<"))
    return ("chatter_dropped",) if apart else None


def _from_object(names: list[str], found: Json) -> dict[str, Any] | None:
    given: dict[str, Any] = found.value
    if not given or set(given) & set(names):
        return given
    lower = {_plain(name): name for name in names}
    if all(_plain(key) in lower for key in given):
        return {lower[_plain(key)]: value for key, value in given.items()}
    if len(names) == 1:
        key, value = next(iter(given.items()))
        clear = key.lower() in _ALIASES or not found.repairs
        return {names[0]: value} if len(given) == 1 and isinstance(value, str) and clear else None
    return given


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", fold(name))


def _from_list(names: list[str], text: str) -> Arguments | None:
    try:
        found = read_json(text)
    except NotJson:
        return None
    value: list[Any] = found.value
    if text[found.end :].strip() or not value:
        return Arguments({}, reason="bad_json") if len(names) > 1 and value else None
    if all(isinstance(each, dict) for each in value):
        if len(value) > 1:
            return Arguments({}, reason="bad_json") if len(names) > 1 or set(value[0]) & set(names) else None
        inner = _from_object(names, Json(value[0], 0, found.repairs))
        return Arguments(inner, ("json_wrapped", *found.repairs)) if inner else None
    if 1 < len(names) < len(value):
        return Arguments({}, reason="bad_json")
    if len(names) > 1:
        return Arguments(dict(zip(names, value, strict=False)), found.repairs)
    return None


def _object_in(text: str) -> Json | None:
    """Return the JSON object that the whole of ``text`` is."""
    text = text.strip()
    if not _OBJECT.match(text):
        return None
    try:
        found = read_json(text)
    except NotJson:
        return None
    whole = not text[found.end :].strip() and isinstance(found.value, dict) and found.value
    return found if whole else None


def _single(name: str, text: str) -> Arguments:
    repairs: tuple[str, ...] = ()
    pair = _PAIR.match(text)
    if pair and _plain(pair[1]) == _plain(name) and ("=" in pair[0] or text[pair.end() : pair.end() + 1] in _QUOTES):
        text, repairs = text[pair.end() :].strip(), ("name_removed",)
    bare = unquoted(text)
    return Arguments({name: bare}, repairs if bare == text else (*repairs, "unquoted"))


def _several(tool: ToolSpec, names: list[str], text: str) -> Arguments:
    lines = [line.rstrip(",， ") for line in text.split("\n", len(names)) if line.strip()]
    if (found := _pairs(names, lines) if len(lines) > 1 else None) is not None:
        return Arguments(found)
    parts = split_top(text, len(names) + 1)
    if (found := _pairs(names, parts)) is not None:
        return Arguments(found)
    if _half_named(names, parts):
        return Arguments({}, reason="bad_json")
    return Arguments(_placed(names, [unquoted(part.strip()) for part in _split(tool, names, text)]))


def _pairs(names: list[str], parts: Sequence[str]) -> dict[str, Any] | None:
    lower = {_plain(name): name for name in names}
    found: dict[str, Any] = {}
    for part in parts:
        pair = _PAIR.match(part)
        if pair is None or _plain(pair[1]) not in lower or lower[_plain(pair[1])] in found:
            return None
        found[lower[_plain(pair[1])]] = unquoted(part[pair.end() :].strip())
    return found


def _split(tool: ToolSpec, names: list[str], text: str) -> list[str]:
    """Split a text for values in order; the last of them may hold commas itself, if it is text."""
    text_last = parameters(tool)[names[-1]].get("type", "string") == "string"
    return split_top(text, len(names) + (0 if text_last else 1))


def _placed(names: list[str], parts: Sequence[Any]) -> dict[str, Any]:
    found = dict(zip(names, parts, strict=False))
    extra = [part for part in parts[len(names) :] if part != ""]
    return found | ({"": ", ".join(map(str, extra))} if extra else {})


def _by_name(names: list[str], inside: str) -> dict[str, Any] | None:
    """Return ``a="x", b=2``, values first in order and then by name allowed; None when it is not that."""
    if not _PAIR.match(inside) and not re.search(r",\s*[^\W\d]\w*\s*=", inside):
        return None
    lower = {_plain(name): name for name in names}
    found: dict[str, Any] = {}
    for index, part in enumerate(split_top(inside, len(names) + 2)):
        if not part.strip():
            continue
        pair = _PAIR.match(part)
        if pair is None or _plain(pair[1]) not in lower:
            if found.keys() != set(names[:index]) or index >= len(names) or pair is not None:
                return None
            name, text = names[index], part
        else:
            name, text = lower[_plain(pair[1])], part[pair.end() :]
        if name in found:
            return None
        found[name] = _literal(text.strip())
    return found or None


def _half_named(names: list[str], parts: Sequence[str]) -> bool:
    """Whether some of the parts are named as arguments, so that the others must not be taken by their place."""
    known = {_plain(name) for name in names}
    pairs = [pair for part in parts if (pair := _PAIR.match(part)) is not None]
    named = any(_plain(pair[1]) in known for pair in pairs)
    # With one parameter the whole may be its text, unless another name stands in it.
    return named and (len(names) > 1 or len(pairs) > 1)


def _in_order(tool: ToolSpec, names: list[str], inside: str) -> dict[str, Any] | None:
    parts = split_top(inside, 2) if len(names) == 1 else _split(tool, names, inside)
    if not parts[-1].strip():
        parts = parts[:-1]
    if len(names) == 1:
        text = (parts[0] if len(parts) == 1 else inside).strip()
        value = unquoted(text)
        return {names[0]: _literal(text)} if value != text else None
    return _placed(names, [_literal(part.strip()) for part in parts])


def _literal(text: str) -> Any:
    """Return what a value stands for in a call: a quoted text, a number, a list; else the text itself."""
    if len(text) < 2 or text[0] not in "\"'[{“‘「":
        try:
            value = read_json(f"[{text}]").value if len(text) < 40 else [text]
        except NotJson:
            return text
        return value[0] if len(value) == 1 and not isinstance(value[0], str) else text
    try:
        found = read_json(f"[{text}]")
    except NotJson:
        return unquoted(text)
    one = found.end == len(text) + 2 and len(found.value) == 1 and "json_inner_quotes" not in found.repairs
    return found.value[0] if one else unquoted(text)


def _coerce(schema: Mapping[str, Any], value: Any) -> Any:
    kinds = schema.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    if isinstance(value, str):
        return _coerce_text(kinds, value)
    if kinds == ["string"] and isinstance(value, int | float) and not isinstance(value, bool):
        return json.dumps(value)
    return value


def _coerce_text(kinds: list[Any], text: str) -> Any:
    if "string" in kinds or kinds == [None]:
        return text
    lean = text.strip()
    if "integer" in kinds and re.fullmatch(r"[+-]?\d{1,4000}", lean):
        return int(lean)
    if "number" in kinds and _NUMBER.match(lean) and len(lean) < 4000:
        return int(lean) if re.fullmatch(r"[+-]?\d+", lean) else float(lean)
    if "boolean" in kinds and lean.lower() in _YES_NO:
        return _YES_NO[lean.lower()]
    if ("array" in kinds and lean.startswith("[")) or ("object" in kinds and lean.startswith("{")):
        try:
            found = read_json(lean)
        except NotJson:
            return text
        return found.value if found.end == len(lean) else text
    return text
