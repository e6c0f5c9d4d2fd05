"""Tool calls in the markup of vendors, left in the text by a server that did not read them.

Two kinds: tags with names and values in them (Qwen3-Coder, Anthropic, GLM, DSML, MiniMax ...), and special tokens
around JSON or calls (Hermes, Llama, Mistral, DeepSeek, Kimi, Harmony, Gemma ...). What opens them is data; below it
there are only a few forms, read in a fixed order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from whybox.dialects.actions import Action, read_blob, read_call, read_input, read_value, together
from whybox.dialects.endings import without_special
from whybox.dialects.fences import unfenced
from whybox.dialects.json_text import NotJson, read_json
from whybox.dialects.labels import fold
from whybox.dialects.tool_names import known
from whybox.ports import ToolSpec

_TAGS = (
    *("tool_call", "tool_calls", "toolcall", "tool_use", "tool_code", "function_call", "function_calls", "function"),
    *("functioncall", "functions", "invoke", "tool", "action", "use_tool", "use_mcp_tool", "tools"),
)
_TOKENS = (
    *("<|python_tag|>", "[TOOL_CALLS]", "[TOOL_CALL]", "<|tool_call|>", "<|tool_calls|>", "<|tool_call>"),
    *("<|tool_use|>", "<start_function_call>"),
    *("<|tool_call_start|>", "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_calls_begin|>"),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<|tool▁calls▁begin|>", "<|tool▁call▁begin|>"),
    *("<|START_ACTION|>", "<|action_start|>", "<|FunctionCallBegin|>", "<|channel|>", "<|start|>", "<|message|>"),
    *("<｜｜DSML｜｜", "<｜DSML｜", "<|DSML|", "<||DSML||", "✿FUNCTION✿"),
    *("<|START_RESPONSE|>", "<|START_THINKING|>", "<|assistant|>", "<｜Assistant｜>"),
)

LONGEST_OPENING = 40
_BODY = r"\s{0,20}(?:[{\[<]|```|[\w.-]{1,80}\s{0,4}[({<]|[\w.-]{1,80}\s{0,2}\n)"
_OPENING = re.compile(
    rf"(?:{'|'.join(map(re.escape, _TOKENS))})"
    rf"|<(?:\w{{1,20}}:)?(?:{'|'.join(_TAGS)})\s{{0,2}}>(?={_BODY})"
    r"|<(?:\w{1,20}:)?(?:function|tool|tool_call)=[\"']?[\w.-]"
    r"|<(?:\w{1,20}:)?(?:invoke|tool_call|tool_use|function|tool|action)\s{1,4}name\s?=\s?[\"'][\w.-]"
    r"|<tool(?:_name)?>[\w .-]{1,80}</tool(?:_name)?>\s{0,20}<"
    r"|<action>[\w .-]{1,80}</action>\s{0,20}<",
    re.IGNORECASE,
)

Found = tuple[Action, str]
"""What the markup says, and the reasoning that stood in it."""


def left_over(text: str) -> bool:
    """Return whether a line of ``text`` begins with a tag or token of a tool call."""
    return _LINE_OF_MARKUP.search(text) is not None


_LINE_OF_MARKUP = re.compile(
    rf"^[ \t]{{0,20}}(?:</?(?:\w{{1,20}}:)?(?:{'|'.join(_TAGS[:7])})>|\[/?TOOL_CALLS?\])", re.MULTILINE | re.IGNORECASE
)


def opening(text: str, at: int, *, final: bool) -> bool | None:
    """Return whether vendor markup begins at ``at``; None when more text is needed to say so."""
    if _OPENING.match(text, at):
        return True
    if final or len(text) - at > LONGEST_OPENING + 110 or "\n" in text[at + LONGEST_OPENING :]:
        return False
    head = fold(text[at : at + LONGEST_OPENING])
    could = any(head.startswith(name) or name.startswith(head) for name in _BEGINNINGS)
    return None if could else False


_BEGINNINGS = tuple(
    sorted({fold(token) for token in _TOKENS} | {"<" + tag for tag in _TAGS} | {"<tool_name", "<minimax:", "<seed:"})
)
FIRST_CHARACTERS = "".join(sorted({name[0] for name in _BEGINNINGS}))
"""What markup begins with."""


def read_markup(tools: Sequence[ToolSpec], text: str) -> Found | None:
    """Return what the markup in ``text`` calls or answers, and its reasoning; None when it cannot be read."""
    text = _DSML.sub(r"<\1", text)
    text = _PREFIX.sub(r"<\1\2", text)
    if "<|channel|>" in text or "to=functions." in text:
        found = _harmony(tools, text)
    else:
        found = _tagged(tools, text) or _tokens(tools, text)
    if found is None:
        return None
    action, thought = found
    return action.repaired("leaked_markup"), thought


_DSML = re.compile(r"<(/?)[｜|]{1,2}\s{0,2}DSML\s{0,2}[｜|]{1,2}\s{0,2}")
_PREFIX = re.compile(r"<(/?)\w{1,20}:(tool_call|function_calls|invoke|parameter|function)")


# Tags

_MOST_TAGS = 16
_FUNCTION = re.compile(
    r"<(?:function|tool_call|tool)=[\"']?(?P<bare>[\w. -]{1,80}?)[\"']?\s{0,4}>"
    r"|<(?:invoke|tool_call|tool_use|function|tool|action)\s{1,4}name\s?=\s?[\"'](?P<name>[^\"'<>]{1,80})[\"'][^<>]{0,80}>"
    r"|<(?:tool|tool_name|action|name)>\s{0,20}(?P<inner>[^<>{}]{1,80}?)\s{0,20}</(?:tool|tool_name|action|name)>"
    r"|<tool_call>\s{0,20}(?P<head>[\w.-]{1,80})\s{0,20}(?=<arg_key>|</tool_call>)",
)
_VALUE = re.compile(
    r"<(?:parameter|param|arg)=[\"']?(?P<bare>[\w.-]{1,80})[\"']?\s{0,4}>"
    r"|<(?:parameter|param|arg)\s{1,4}name\s?=\s?[\"'](?P<name>[^\"'<>]{1,80})[\"'][^<>]{0,80}>"
    r"|<arg_key>\s{0,20}(?P<key>[^<>]{1,80}?)\s{0,20}</arg_key>\s{0,20}<arg_value>"
)
_VALUE_END = re.compile(r"</(?:parameter|param|arg)>")
_KEY_VALUE_END = re.compile("</arg_value>")
_LINE_AROUND = re.compile(r"\A\r?\n|\r?\n\Z")
_INPUT = re.compile(r"<(tool_input|action_input|input|arguments|parameters|args|tool_arguments)>")
_CALL_END = re.compile(r"</(?:function|invoke|tool_call|tool_use|tool|action)>")


def _tagged(tools: Sequence[ToolSpec], text: str) -> Found | None:
    """Read calls whose name stands in a tag. Values run to their closing tags, whatever is in them."""
    found: list[Action] = []
    at, first = 0, len(text)
    while (head := _FUNCTION.search(text, at)) is not None:
        first = min(first, head.start())
        name = next(value for value in head.groupdict().values() if value is not None).strip()
        action, at = _tagged_call(tools, text, name, head.end())
        found.append(action)
        if len(found) > 64:
            return None
    if found:
        return together(found), _prose(text[:first])
    named = _named_tag(tools, text)
    return (named, "") if named is not None else None


def _tagged_call(tools: Sequence[ToolSpec], text: str, name: str, at: int) -> tuple[Action, int]:
    values: dict[str, str] = {}
    call_end, next_call = _CALL_END.search(text, at), _FUNCTION.search(text, at)
    while True:
        next_value = _VALUE.search(text, at)
        # What stood inside the last value ends no call.
        call_end = _CALL_END.search(text, at) if call_end and call_end.start() < at else call_end
        next_call = _FUNCTION.search(text, at) if next_call and next_call.start() < at else next_call
        limit = min([each.start() for each in (call_end, next_call) if each] or [len(text)])
        if next_value is None or next_value.start() > limit:
            break
        key = next(value for value in next_value.groupdict().values() if value is not None)
        value_end = (_KEY_VALUE_END if next_value["key"] else _VALUE_END).search(text, next_value.end())
        if value_end is None or key in values:
            # A value without an end may have been cut off.
            return Action("tagged", reason="bad_json" if value_end else "truncated", name=name), len(text)
        values[key] = _LINE_AROUND.sub("", text[next_value.end() : value_end.start()])
        at = value_end.end()
    body = text[at:limit].strip()
    if values:
        return read_value(tools, name, values, "tagged"), limit
    given = _INPUT.search(text, at)
    if given is not None and (body.startswith(given[0]) or not _CALL_END.sub("", body)):
        end = text.find(f"</{given[1]}>", given.end())
        end = end if end >= 0 else len(text)
        return read_input(tools, name, text[given.end() : end], "tagged"), end
    if body:
        return read_input(tools, name, body, "tagged"), limit
    return read_value(tools, name, None, "tagged"), limit


def _named_tag(tools: Sequence[ToolSpec], text: str) -> Action | None:
    """Read a call whose tag is the tool's own name: ``<search><query>x</query></search>``."""
    for tag in islice(re.finditer(r"<([\w.-]{1,80})>", text), _MOST_TAGS):
        tool, _ = known(tools, tag[1])
        end = text.find(f"</{tag[1]}>", tag.end())
        if tool is None or end < 0:
            continue
        values = dict(re.findall(r"<([\w-]{1,80})>([^<]{0,100000})</\1>", text[tag.end() : end]))
        body = text[tag.end() : end].strip()
        return read_value(tools, tool.name, {key: value.strip() for key, value in values.items()} or body, "tagged")
    return None


# Tokens

_SEPARATOR = re.compile(
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|<\|?/?tool_(?:call|calls)\|?>|<\|tool_call>|<tool_call\|>|</?(?:start|end)_function_call>|\[/?(?:TOOL_CALLS?|ARGS|CALL_ID)\]"
    r"|</?(?:tool_call|tool_calls|toolcall|tool_use|tool_code|function_call|function_calls|functioncall|tools|functions"
    r"|function|tool|use_tool)\s{0,2}>|✿[A-Z]{1,12}✿\s{0,2}[:：]?|>>>",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"<tool_response>|<\|?tool_response\|?>|<function_results?>|\[TOOL_RESULTS\]|✿RESULT✿|<｜tool▁outputs?▁begin｜>"
    r"|<\|observation\|>|<\|START_TOOL_RESULT\|>|<\|start_header_id\|>ipython",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:call:)?(?P<name>[\w.-]{1,80})(?::\d{1,6})?\s{0,20}(?:(?=[{\[`])|\Z)")
_NOISE = frozenset({"function", "json", "call", "tool", "assistant", "commentary", "code", "tool_call"})
_SENTINEL_QUOTES = re.compile(r"<\|\"\|>|<\|'\|>|<escape>")


def _tokens(tools: Sequence[ToolSpec], text: str) -> Found | None:
    """Read what stands between special tokens: JSON, a name and JSON, or calls."""
    result = _RESULT.search(text)
    if result is not None:
        text = text[: result.start()]
    text = _SENTINEL_QUOTES.sub('"', text)
    found: list[Action] = []
    thought: list[str] = []
    name = ""
    for part in _SEPARATOR.split(text):
        part, _ = unfenced(without_special(part)[0])
        if not part or fold(part) in _NOISE:
            continue
        actions, name, prose = _part(tools, part, name)
        found += actions
        thought += [prose] if prose and not found else []
        if len(found) > 64:
            return None
    if name:
        found.append(read_value(tools, name, None, "tokens"))
    return (together(found), "\n".join(thought)) if found else None


def _part(tools: Sequence[ToolSpec], part: str, name: str) -> tuple[list[Action], str, str]:
    """Read one part: the calls in it, a name that waits for its arguments, and text that is neither."""
    if part.startswith(("{", "[{", "[")) and not name:
        blob = read_blob(tools, part) or (_listed(tools, part) if part.startswith("[") else None)
        return ([blob], "", "") if blob else ([], "", part)
    if part.startswith(("{", "[")):
        return [_with_json(tools, name, part)], "", ""
    called = _calls(tools, part)
    if called is not None:
        return [called], "", ""
    lead = part.removeprefix("function ").removeprefix("function\n").lstrip()
    head = _NAME.match(lead)
    if head is None or (known(tools, head["name"])[0] is None and head.end() == len(lead)):
        return [], name, part
    rest, _ = unfenced(lead[head.end() :])
    if rest.startswith(("{", "[")):
        return [_with_json(tools, head["name"], rest)], "", ""
    return [], head["name"], ""


def _with_json(tools: Sequence[ToolSpec], name: str, text: str) -> Action:
    try:
        found = read_json(text)
    except NotJson as failure:
        return Action("tokens", reason="truncated" if failure.cut else "bad_json", name=name)
    return read_value(tools, name, found.value, "tokens").repaired(*found.repairs)


_CALL = re.compile(r"\s{0,20}(?:print\()?(?P<name>[\w.-]{1,80})\s{0,4}\(")


def _calls(tools: Sequence[ToolSpec], text: str) -> Action | None:
    """Read one or more calls, each ``tool(a="x")``, with nothing else around them."""
    found: list[Action] = []
    at = 0
    while at < len(text):
        head = _CALL.match(text, at)
        if head is None or len(found) > 64:
            return None
        end = _closing(text, head.end() - 1)
        if end is None:
            return None
        found.append(read_call(tools, head["name"], text[head.end() : end]))
        at = end + 1
        while at < len(text) and text[at] in " \t\r\n,;)":
            at += 1
    return together(found) if found else None


def _listed(tools: Sequence[ToolSpec], text: str) -> Action | None:
    """Read ``[tool(a="x"), other(b=2)]``."""
    end = text.rfind("]")
    if end < 0 or text[end + 1 :].strip():
        return None
    return _calls(tools, text[1:end])


def _closing(text: str, start: int) -> int | None:
    """Return where the parenthesis at ``start`` closes; those in quotation marks do not count."""
    depth, quote, index = 0, "", start
    while index < len(text):
        char = text[index]
        if quote:
            if char == "\\":
                index += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return index
        index += 1
    return None


def listed_calls(tools: Sequence[ToolSpec], text: str) -> Action | None:
    """Return the calls of a reply that ends in ``[tool(a="x"), ...]``, or is nothing but ``tool(a="x")``.

    Only when each of them names a tool on offer.
    """
    text = text.strip()
    start = max(text.rfind("\n[") + 1, 0)
    part = text[start:].strip()
    found = _listed(tools, part) if part.startswith("[") and part.endswith("]") else _calls(tools, text)
    return found if found is not None and (found.calls or found.reason in {"missing_input", "bad_json"}) else None


# Harmony

_HARMONY = re.compile(r"<\|(?:start|channel|message|end|call|return|constrain)\|>")


@dataclass(slots=True)
class _Message:
    header: str = ""
    content: str = ""


def _messages(text: str) -> Iterator[_Message]:
    message, in_content = _Message(), False
    at = 0
    for token in _HARMONY.finditer(text):
        piece = text[at : token.start()]
        at = token.end()
        if in_content:
            message.content += piece
        else:
            message.header += piece + " "
        kind = token[0][2:-2]
        if kind == "message":
            in_content = True
        elif kind != "constrain" and in_content:
            yield message
            message, in_content = _Message(), False
    if in_content:
        message.content += text[at:]
    else:
        message.header += text[at:]
    yield message


_RECIPIENT = re.compile(r"to=(?:functions\.)?(?P<name>[\w.-]{1,80})")
_BARE_HEADER = re.compile(r"to=functions\.(?P<name>[\w.-]{1,80}?)\s{0,4}(?:code|json)?\s{0,4}(?=[{\[])")


def _harmony(tools: Sequence[ToolSpec], text: str) -> Found | None:
    """Read the channels of gpt-oss: ``analysis`` is reasoning, ``final`` the answer, ``to=`` names the tool."""
    calls: list[Action] = []
    thought: list[str] = []
    answer = ""
    for message in _messages(text):
        bare = _BARE_HEADER.search(message.header) if not message.content else None
        if bare is not None:
            calls.append(_with_json(tools, bare["name"], message.header[bare.end() :].strip()))
        elif (to := _RECIPIENT.search(message.header)) is not None:
            calls.append(_with_json(tools, to["name"], unfenced(message.content)[0] or "{}"))
        elif "final" in message.header:
            answer = answer or message.content.strip()
        elif message.content.strip():
            thought.append(message.content.strip())
    reasoning = "\n".join(thought)
    if calls:
        return together(calls), reasoning
    if answer:
        return Action("harmony", answer=without_special(answer)[0]), reasoning
    return Action("harmony", reason="no_action"), reasoning


def _prose(text: str) -> str:
    """Return the text in front of a call, without the tags that open it."""
    return re.sub(r"<[^<>\n]{1,80}>", "", text).strip()
