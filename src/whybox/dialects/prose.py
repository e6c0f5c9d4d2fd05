"""Steps in text without labels of its own: the heuristics, last rung of the ladder.

Each takes only what stands alone at its place; a call that is talked about inside a sentence stays text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from whybox.dialects.actions import Action, read_action, read_blob, rest_of_line, together
from whybox.dialects.endings import says_it_waits
from whybox.dialects.fences import Fence, fence_at
from whybox.dialects.markup import listed_calls, read_markup
from whybox.dialects.tool_names import LONGEST_NAME, clean_name, known
from whybox.ports import ToolSpec

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`", re.DOTALL)
_ANSWER_TAGS = re.compile(r"<(answer|final_answer|response)>(.*)</\1>\Z", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]{0,8}(?:`{3,}|~{3,})", re.MULTILINE)
_OPENING = 40
_MOST_FENCES = 64
_BLOB_LINE = re.compile(r"^[ \t]{0,8}(?=[{\[]\s{0,40}[{\"'“])", re.MULTILINE)
_HEADER = re.compile(r"(?:<\|start\|>)?(?:assistant)?\s{0,4}(?:commentary|analysis)?\s{0,4}to=functions\.[\w.-]")
_FUNCTIONARY = re.compile(r">>>[\w.-]{1,80}\s{0,2}\n")
_TO_ALL = re.compile(r">>>all\s{0,4}\n")
_TOOL_CODE = re.compile(r"```(?:tool_code|tool_call|python|py)?[ \t]*\n")
_STRIPPED_HARMONY = re.compile(r"analysis.{0,100000}?assistantfinal", re.DOTALL)
_LABELLED = re.compile(r"^\W{0,8}(\w[\w '’-]{0,40}?)\s{0,3}(?:[:：=|]|->|=>|→|—|-)\s{0,3}(.{1,100})$", re.MULTILINE)
_IN_LINE = re.compile(
    r"(?:^|[.!?。！？;；\s])(?P<label>Action|行动|动作)\s?\d?\s?[:：]\s{0,3}(?P<name>[\w.-]{1,80}?)\s{0,3}"
    r"(?=[\[(（［]|(?:Action Input|行动输入|动作输入)\s?\d?\s?[:：])"
)
_IN_LINE_INPUT = re.compile(r"(?:Action Input|行动输入|动作输入)\s?\d?\s?[:：]")
_IN_LINE_END = re.compile(r"(?:Observation|观察|Final Answer|最终答案)\s?\d?\s?[:：]")


def bare_call(tools: Sequence[ToolSpec], text: str) -> Action | None:
    """Return what ``text``, all that a reply holds, calls: JSON, or a tool's name with its input in brackets."""
    if text.startswith(("{", "[", "｛")) and (blob := read_blob(tools, text)) is not None:
        return blob
    if (calls := listed_calls(tools, text)) is not None:
        return calls
    line, _, below = text.partition("\n")
    if known(tools, clean_name(line))[0] is not None and below.lstrip().startswith(("{", "```")):
        return read_action(tools, text, None).repaired("continued")
    name = re.split(r"[\[(（［]", text[: LONGEST_NAME + 1], maxsplit=1)[0]
    if rest_of_line(text):
        return None
    if name == text[: LONGEST_NAME + 1] or "\n" in name.strip() or known(tools, clean_name(name))[0] is None:
        return None
    found = read_action(tools, text, None)
    return found.repaired("continued") if found.calls or found.reason else None


def marked_call(tools: Sequence[ToolSpec], text: str) -> tuple[Action, str] | None:
    """Return what a header or prompt sign says that vendors' servers leave without its special tokens."""
    if (said := _TO_ALL.match(text)) is not None and text[said.end() :].strip():
        return Action("tokens", answer=text[said.end() :].strip(), repairs=("leaked_markup",)), ""
    if _HEADER.match(text) or _FUNCTIONARY.match(text):
        return read_markup(tools, text)
    if text.startswith("functools[") and (blob := read_blob(tools, text.removeprefix("functools"))) is not None:
        return blob.repaired("leaked_markup"), ""
    if (tags := _ANSWER_TAGS.match(text)) is not None and tags[2].strip():
        return Action("tagged", answer=tags[2].strip(), repairs=("leaked_markup",)), ""
    if (tag := re.match(r"<([\w.-]{1,80})>", text)) is not None and known(tools, tag[1])[0] is not None:
        return read_markup(tools, text)
    if (stripped := _STRIPPED_HARMONY.match(text)) is not None:
        answer = text[stripped.end() :].strip()
        thought = text[len("analysis") : stripped.end() - len("assistantfinal")].strip()
        return (Action("harmony", answer=answer, repairs=("leaked_markup",)), thought) if answer else None
    return None


def call_in_prose(tools: Sequence[ToolSpec], text: str, *, ends: bool) -> tuple[Action, str] | None:
    """Return the JSON or the list of calls that stands on lines of its own in ``text``, and the text before it.

    Args:
        tools: the tools on offer.
        text: text without labels.
        ends: take only what the text ends with.
    """
    fences = [(begin, fence.rest) for begin, fence in _fences(text)]
    found: list[Action] = []
    first, last = len(text), 0
    for begin, fence in _fences(text):
        action = _fenced_call(tools, text[fence.start : fence.end], text[begin : begin + _OPENING])
        if action is not None:
            found.append(action)
            first, last = min(first, begin), fence.rest
    if found:
        action, rest = together(found).repaired("in_prose"), text[last:].strip()
        if rest and action.answer is None and not says_it_waits(rest):
            # Text that goes on behind it makes it as likely an example as a call.
            return None if ends else (Action("plain", reason="no_action"), text)
        return action, text[:first].strip()
    for line in islice(_BLOB_LINE.finditer(text), 16):
        if any(begin <= line.start() < end for begin, end in fences):
            continue
        blob = read_blob(tools, text[line.end() :].strip())
        if blob is None:
            continue
        if ends and "chatter_dropped" in blob.repairs:
            break
        return blob.repaired("in_prose"), text[: line.start()].strip()
    listed = listed_calls(tools, text)
    if listed is not None:
        return listed.repaired("in_prose"), text[: max(text.rstrip().rfind("\n["), 0)].strip()
    return None


def fenced_steps(text: str) -> tuple[str, str] | None:
    """Return what the code fence holds that ``text`` ends with, and the text before it; None when there is none."""
    fences = _fences(text)
    if not fences or text[fences[-1][1].rest :].strip():
        return None
    begin, fence = fences[-1]
    return text[fence.start : fence.end].strip("\r\n"), text[:begin]


def in_line(tools: Sequence[ToolSpec], text: str) -> tuple[Action, str] | None:
    """Return the action whose label stands in the middle of a line, if the text ends with it and it names a tool."""
    matches = list(islice(_IN_LINE.finditer(text), 2))
    found = matches[0] if len(matches) == 1 else None
    if found is None or known(tools, found["name"])[0] is None:
        return None
    if any(begin <= found.start() < fence.rest for begin, fence in _fences(text)):
        return None
    rest = text[found.end() :]
    if (given := _IN_LINE_INPUT.match(rest)) is not None:
        stop = _IN_LINE_END.search(rest, given.end())
        action = read_action(tools, found["name"], rest[given.end() : stop.start() if stop else len(rest)])
    else:
        stop = _IN_LINE_END.search(rest)
        call = found["name"] + (rest[: stop.start()] if stop else rest).rstrip()
        if not call.endswith(("]", ")", "）", "］")):
            return None
        action = read_action(tools, call, None)
    thought = text[: found.start("label")].strip()
    return (action.repaired("in_line"), thought) if action.calls else None


def has_unread_labels(tools: Sequence[ToolSpec], text: str) -> bool:
    """Return whether ``text`` holds a step that cannot be read.

    That is a word of an unknown language where a label belongs, in front of a tool on offer, or several actions in a
    line.
    """
    text = without_code(text)
    names = {tool.name for tool in tools}
    in_lines = [found for found in islice(_IN_LINE.finditer(text), 2) if found["name"] in names]
    if len(in_lines) > 1:
        return True
    for line in _LABELLED.finditer(text):
        value = re.split(r"[\[(（{]", line[2], maxsplit=1)[0].strip(" \t*`'\"")
        if value in names and line[1] not in names:
            return True
    return False


def without_code(text: str) -> str:
    """Return ``text`` without code fences and without what stands between backticks."""
    return _CODE.sub("", text)


def _fences(text: str) -> list[tuple[int, Fence]]:
    """Return where each fence begins, and what it is."""
    found: list[tuple[int, Fence]] = []
    at = 0
    while (opening := _FENCE.search(text, at)) is not None and len(found) < _MOST_FENCES:
        begin = opening.end() - len(opening[0].lstrip())
        fence = fence_at(text, begin)
        found.append((begin, fence))
        if not fence.closed:
            break
        at = fence.rest
    return found


def _fenced_call(tools: Sequence[ToolSpec], inside: str, fence: str) -> Action | None:
    lean = inside.strip()
    if lean.startswith(("{", "[{", "[\n", "｛")):
        return read_blob(tools, lean)
    if _TOOL_CODE.match(fence):
        return listed_calls(tools, lean)
    return None
