"""Native tool calls: from what a server sends of them to the same reading that text gives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whybox.dialects.actions import Action, read_value, together
from whybox.dialects.corrections import correction
from whybox.dialects.fences import unfenced
from whybox.dialects.json_text import NotJson, read_json
from whybox.dialects.messages import Part, first_choice, part_of
from whybox.dialects.react import Finish, ReActReader
from whybox.dialects.repairs import confidence, in_order
from whybox.events import Delta, NativeCall, Parsed, Report
from whybox.ports import ToolSpec

_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "content_filter"})
_CALLS = frozenset({"tool_calls", "function_call", "tool_use"})


@dataclass(slots=True)
class RawCall:
    """A tool call as a server sent it: ``arguments`` is JSON text, or already an object."""

    index: int | None = None
    id: str = ""
    name: str = ""
    arguments: Any = ""


class CallCollector:
    """Puts the pieces of streamed tool calls together.

    Pieces belong together by ``index``, by ``id``, or, when a server gives neither, by their order. A name or arguments
    that a server repeats are taken once.
    """

    def __init__(self) -> None:
        self._calls: list[RawCall] = []
        self._shown: dict[int, str] = {}
        self._last: RawCall | None = None

    def add(self, piece: dict[str, Any]) -> str:
        """Take one piece of a call and return what may be shown of it now.

        Joined, that is a line for each call: its name, a space, and its arguments as they grow. What a server repeats
        is shown once. Where the pieces of calls are mixed, each change to another call begins a line.
        """
        function = piece.get("function")
        function = function if isinstance(function, dict) else piece
        index, given_id = piece.get("index"), piece.get("id")
        index = index if isinstance(index, int) else None
        given_id = "" if given_id is None else str(given_id)
        name = function.get("name")
        name = name if isinstance(name, str) else ""
        arguments = function.get("arguments", function.get("parameters", function.get("input")))
        call = self._belongs_to(index, given_id, name, arguments)
        if call is None:
            call = RawCall(index, given_id)
            self._calls.append(call)
        call.id = call.id or given_id
        _add_name(call, name)
        _add_arguments(call, arguments)
        return self._news_of(call)

    @property
    def calls(self) -> list[RawCall]:
        """The calls in order; one that was sent twice under the same id is there once."""
        found: list[RawCall] = []
        for call in self._calls:
            twice = any(
                call.id and each.id == call.id and (each.name, each.arguments) == (call.name, call.arguments)
                for each in found
            )
            if not twice and (call.name or call.arguments):
                found.append(call)
        return found

    def _news_of(self, call: RawCall) -> str:
        text, shown = _text_of(call), self._shown.get(id(call), "")
        twins = (each for each in self._calls if each is not call and call.id and each.id == call.id)
        if text == shown or any(_text_of(twin).startswith(text) for twin in twins):
            return ""
        before, self._last, self._shown[id(call)] = self._last, call, text
        goes_on = bool(shown) and text.startswith(shown)
        if goes_on and before is call:
            return text[len(shown) :]
        if goes_on:
            text = call.name + " " + text[len(shown) :].removeprefix(" " if shown == call.name else "")
        return text if before is None else f"\n{text}"

    def _belongs_to(self, index: int | None, given_id: str, name: str, arguments: Any) -> RawCall | None:
        if index is not None:
            call = next((each for each in reversed(self._calls) if each.index == index), None)
            return None if call is not None and name and _another(call, given_id, name, arguments) else call
        if given_id:
            call = next((each for each in self._calls if each.id == given_id), None)
            repeated = call is not None and name and _complete(call)
            return None if repeated else call
        return None if name or not self._calls else self._calls[-1]


def _another(call: RawCall, given_id: str, name: str, arguments: Any) -> bool:
    """Return whether a named piece with the number of ``call`` begins another: some servers number all their calls 0.

    They are told apart by their ids or, without, by a name behind arguments that are whole.
    """
    if given_id and call.id:
        return given_id != call.id
    again = name == call.name and arguments in (None, "", call.arguments)
    open_text = isinstance(call.arguments, str) and not call.arguments.rstrip().endswith(("}", "]"))
    return not again and not open_text and _complete(call)


def _text_of(call: RawCall) -> str:
    given = call.arguments
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return f"{call.name} {text}" if call.name and text else call.name or text


def _complete(call: RawCall) -> bool:
    if not isinstance(call.arguments, str):
        return True
    try:
        return "json_closed" not in read_json(call.arguments.strip()).repairs
    except NotJson:
        return False


def _add_name(call: RawCall, name: str) -> None:
    if not name or name == call.name:
        return
    if name.startswith(call.name):
        call.name = name
    elif not call.arguments:
        call.name += name


def _add_arguments(call: RawCall, arguments: Any) -> None:
    if isinstance(arguments, str) and call.arguments in ("{}", {}) and arguments.startswith("{"):
        call.arguments = arguments  # some servers begin each call with empty arguments in place of none
    elif isinstance(arguments, str) and isinstance(call.arguments, str):
        repeats = call.arguments.startswith("{") and arguments.startswith(call.arguments)
        call.arguments = arguments if repeats else call.arguments + arguments
    elif arguments is not None and not isinstance(arguments, str):
        call.arguments = arguments


class MessageReader:
    """Reads one reply of a server with native tool calls, whole or in pieces.

    Text beside calls is the thought. Without calls the text is read as any other, so that a model that writes its
    steps as text, or whose calls leaked into it, is read as well.

    Args:
        tools: the tools on offer.
        language: of the correction, when one is needed.
    """

    def __init__(self, tools: Sequence[ToolSpec], language: str) -> None:
        self._tools = tuple(tools)
        self._language = language
        self._text = ReActReader(tools, language)
        self._collector = CallCollector()
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._finish: str | None = None

    def feed(self, data: dict[str, Any]) -> list[Delta]:
        """Take a chunk of a stream, or a whole completion, and return what may be shown of it now."""
        choice = first_choice(data)
        return [] if choice is None else self.feed_choice(choice)

    def feed_choice(self, choice: dict[str, Any]) -> list[Delta]:
        """Take one choice of a chunk or of a completion; a whole completion is taken for its choice."""
        if "choices" in choice:
            return self.feed(choice)
        part = part_of(choice)
        self._take(part)
        return self._text.feed(part.text) if part.text else []

    def close(self) -> tuple[list[Delta], Parsed]:
        """Return what was still held back, and what the whole reply means."""
        finish: Finish = "length" if self._finish in _CUT else "stop"
        deltas, parsed = self._text.close(finish)
        calls = self._collector.calls
        reasoning = "".join(self._reasoning).strip()
        if calls:
            said = parsed.thought or parsed.answer or ""
            raw = [NativeCall(id=call.id, name=call.name, arguments=sent_arguments(call.arguments)) for call in calls]
            read = read_calls(self._tools, self._language, raw, f"{reasoning}\n{said}".strip(), finish)
            return [each for each in deltas if each.section == "thought"], read
        if refusal := "".join(self._refusal).strip():
            report = Report(dialect="refusal")
            return [Delta(section="answer", text=refusal)], Parsed(thought=reasoning, answer=refusal, report=report)
        if self._finish in _CALLS and parsed.answer is not None and "no_label" in parsed.report.repairs:
            # The server says that there was a call, and has none: the text is no answer.
            return [], self._again("no_action", parsed)
        if reasoning:
            thought = f"{reasoning}\n{parsed.thought}".strip()
            parsed = parsed.model_copy(update={"thought": thought})
        return deltas, parsed

    def _take(self, part: Part) -> None:
        self._reasoning.append(part.reasoning)
        self._refusal.append(part.refusal)
        self._finish = part.finish or self._finish
        for call in part.calls:
            self._collector.add(call)

    def _again(self, reason: str, parsed: Parsed) -> Parsed:
        return Parsed(
            thought=parsed.answer or parsed.thought,
            reason=reason,
            retry=correction(reason, "", self._tools, self._language, form="native"),
            report=Report(dialect="native"),
        )


def read_calls(
    tools: Sequence[ToolSpec], language: str, calls: Sequence[NativeCall], thought: str, finish: Finish
) -> Parsed:
    """Return what native calls mean.

    Args:
        tools: the tools on offer.
        language: of the correction, when one is needed.
        calls: the calls of one reply, whole.
        thought: what was said beside them.
        finish: ``length`` when the reply was cut by the token limit, so that none of them is used.
    """
    action = together([_read(tools, call) for call in calls])
    reason = "truncated" if finish == "length" else action.reason
    repairs = in_order(action.repairs)
    found = action.calls
    if len(found) == len(calls):
        found = tuple(call.model_copy(update={"id": raw.id}) for call, raw in zip(found, calls, strict=True))
    return Parsed(
        thought=thought,
        calls=() if reason else found,
        answer=None if reason else action.answer,
        reason=reason,
        retry=correction(reason, action.name, tools, language, form="native") if reason else None,
        report=Report(dialect=action.dialect, repairs=repairs, confidence=confidence(repairs)),
    )


def _read(tools: Sequence[ToolSpec], call: NativeCall) -> Action:
    if not call.name:
        return Action("native", reason="no_action")
    given = call.arguments
    if not isinstance(given, str):
        return read_value(tools, call.name, given, "native")
    text, _ = unfenced(given)
    if not text.startswith(("{", "[", "｛")):
        return read_value(tools, call.name, text or None, "native")
    try:
        found = read_json(text)
    except NotJson as failure:
        return Action("native", reason="truncated" if failure.cut else "bad_json", name=call.name)
    rest = text[found.end :].strip()
    if rest.strip("}])\"' \n"):
        return Action("native", reason="bad_json", name=call.name)
    if "json_closed" in found.repairs:
        # Arguments are the last thing that a stream brings: open ones were cut off.
        return Action("native", reason="truncated", name=call.name)
    repairs = (*found.repairs, *(("json_rest_dropped",) if rest else ()))
    return read_value(tools, call.name, found.value, "native").repaired(*repairs)


def sent_arguments(arguments: Any) -> str | dict[str, Any]:
    """Return the arguments of a call as text or as an object, whatever else a server has sent."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str | dict) else json.dumps(arguments, ensure_ascii=False)
