"""The parser of replies on its own, under the name the field knows it by."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from whybox.dialects.arguments import parameters
from whybox.dialects.react import Finish, ReAct, ReActReader
from whybox.dialects.tool_calls import MessageReader
from whybox.errors import UsageError
from whybox.events import Call, Delta, Parsed
from whybox.ports import Dialect, Reader, Tool, ToolSpec

Form = Literal["text", "choice", "chunks", "fragments"]
_TOOL = re.compile(r"\s*(?P<name>[^,，()（）]+?)\s*(?:[(（](?P<args>[^()（）]*)[)）])?\s*(?:[,，;]|$)")
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}


class OutputParser:
    """Reads what a model wrote: a thought with a tool call, an answer, or why it can be neither.

    Args:
        tools: the tools on offer, as tools, as their specs, or as a registry.
        language: ``en`` or ``zh``: of the correction that is sent back for a reply that cannot be read.
        dialect: the form in which the model writes its steps; None for text ReAct.
    """

    def __init__(
        self,
        tools: Iterable[Tool | ToolSpec] | Mapping[str, Tool] = (),
        language: str = "en",
        dialect: Dialect | None = None,
    ) -> None:
        given = tools.values() if isinstance(tools, Mapping) else tools
        self._tools = tuple(each if isinstance(each, ToolSpec) else each.spec for each in given)
        self._language = language
        self._dialect = dialect or ReAct()

    def parse(self, text: str, finish: Finish = "stop") -> Parsed:
        """Return what a whole reply means. Never raises: ``retry`` says what could not be read.

        Args:
            text: the reply.
            finish: ``length`` when it was cut by the token limit; nothing of it is run then.
        """
        reader = self.stream()
        reader.feed(text)
        return reader.close(finish)[1]

    def parse_message(self, choice: dict[str, Any]) -> Parsed:
        """Return what one choice of a chat completion means, native tool calls included."""
        reader = MessageReader(self._tools, self._language)
        reader.feed_choice(choice)
        return reader.close()[1]

    def stream(self) -> Reader:
        """Return a reader for one reply that arrives in pieces; it reads as :meth:`parse` does."""
        return self._dialect.reader(self._tools, self._language)


def tools_of(text: str) -> tuple[ToolSpec, ...]:
    """Return the tools that ``search(query),add(a:number,b:number)`` names; without a type a value is left as it is.

    Raises:
        UsageError: the text cannot be read so.
    """
    found: list[ToolSpec] = []
    at = 0
    while at < len(text) and text[at:].strip():
        tool = _TOOL.match(text, at)
        if tool is None:
            raise UsageError(f"--tools cannot be read at {text[at : at + 30]!r}", 'write it as "search(query),now()"')
        found.append(_spec(tool["name"], [each for each in re.split(r"[,，;]", tool["args"] or "") if each.strip()]))
        at = tool.end()
    return tuple(found)


def read_form(tools: Iterable[ToolSpec], form: Form, output: str, language: str = "en") -> dict[str, Any]:
    """Return how a reply is read, as an object for JSON.

    Args:
        tools: the tools on offer.
        form: ``text`` a model's text; ``choice`` JSON of one choice of a chat completion; ``chunks`` a JSON list of
            the chunks of a stream; ``fragments`` a JSON list of texts that are fed one by one.
        output: the reply in that form.
        language: of the correction.

    Returns:
        ``kind`` (``action``, ``multi_action``, ``answer`` or ``retry``), ``thought``, ``tool``, ``input`` (a text for a
        tool whose one argument is text), ``calls``, ``answer``, ``streamed`` (what a listener to the answer received),
        ``reason``, ``retry`` (the sentence for the model) and ``report``.

    Raises:
        UsageError: the output is not in that form.
    """
    tools = tuple(tools)
    if form not in get_args(Form):
        raise UsageError(f"there is no form {form!r}", f"the forms are {', '.join(get_args(Form))}")
    if form in ("text", "fragments"):
        pieces = [output] if form == "text" else _texts(output)
        text_reader = ReActReader(tools, language)
        deltas = [delta for piece in pieces for delta in text_reader.feed(piece)]
        rest, parsed = text_reader.close()
    else:
        reader = MessageReader(tools, language)
        if form == "choice":
            deltas = reader.feed_choice(_of_json(output, dict, "an object"))
        else:
            # What is no object, such as a [DONE], is no chunk.
            chunks = [each for each in _of_json(output, list, "a list of chunks") if isinstance(each, dict)]
            deltas = [delta for chunk in chunks for delta in reader.feed(chunk)]
        rest, parsed = reader.close()
    return _as_object(tools, parsed, (*deltas, *rest))


def read_case(case: Mapping[str, Any], language: str = "en") -> dict[str, Any]:
    """Return how one case is read: an object with ``tools`` (``name`` and ``args`` each), ``form`` and ``output``.

    Raises:
        UsageError: the case lacks one of them, or its output is not in its form.
    """
    given = case.get("tools", [])
    if isinstance(given, str):
        tools = tools_of(given)
    elif isinstance(given, list) and all(isinstance(each, dict) and "name" in each for each in given):
        tools = tuple(_spec(str(each["name"]), [str(name) for name in each.get("args", [])]) for each in given)
    else:
        raise UsageError("the case's tools cannot be read", 'each is an object such as {"name": "search", "args": []}')
    if not isinstance(case.get("output"), str):
        raise UsageError("the case has no output", "output is a text; for other forms the text is JSON")
    return read_form(tools, case.get("form", "text"), case["output"], language)


def _spec(name: str, args: list[str]) -> ToolSpec:
    properties: dict[str, dict[str, str]] = {}
    for each in args:
        parameter, _, kind = (part.strip() for part in each.partition(":"))
        properties[parameter] = {"type": _TYPES.get(kind, kind)} if kind else {}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ToolSpec(name=name, description={"en": name}, parameters=schema)


def _of_json(text: str, kind: type, what: str) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the output is not JSON ({error})", f"this form takes {what} as JSON") from None
    if not isinstance(value, kind):
        raise UsageError(f"the output is not {what}", f"this form takes {what} as JSON")
    return value


def _texts(text: str) -> list[str]:
    values: list[Any] = _of_json(text, list, "a list of texts")
    if not all(isinstance(value, str) for value in values):
        raise UsageError("the output is not a list of texts", "this form takes a list of texts as JSON")
    return values


def _as_object(tools: tuple[ToolSpec, ...], parsed: Parsed, deltas: Iterable[Delta]) -> dict[str, Any]:
    calls = [{"tool": call.tool, "input": _input(tools, call)} for call in parsed.calls]
    kind = "retry"
    if parsed.answer is not None:
        kind = "answer"
    elif calls:
        kind = "action" if len(calls) == 1 else "multi_action"
    return {
        "kind": kind,
        "thought": parsed.thought,
        "tool": calls[0]["tool"] if calls else None,
        "input": calls[0]["input"] if calls else None,
        "calls": calls,
        "answer": parsed.answer,
        "streamed": "".join(delta.text for delta in deltas if delta.section == "answer"),
        "reason": parsed.reason,
        "retry": parsed.retry,
        "report": parsed.report.model_dump(mode="json"),
    }


def _input(tools: tuple[ToolSpec, ...], call: Call) -> Any:
    spec = next((tool for tool in tools if tool.name == call.tool), None)
    names = list(parameters(spec)) if spec else []
    if len(names) == 1 and list(call.arguments) == names:
        value = call.arguments[names[0]]
        return value if isinstance(value, str) else call.arguments
    return call.arguments
