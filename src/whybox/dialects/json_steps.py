"""Steps as JSON objects: ``{"thought", "action", "action_input"}``, or ``{"thought", "answer"}`` at the end."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from whybox.dialects.actions import read_value
from whybox.dialects.corrections import correction
from whybox.dialects.react import Finish, ReActReader
from whybox.dialects.repairs import confidence, in_order
from whybox.events import Delta, Parsed, Report, Section
from whybox.ports import Reader, ToolSpec

_SHOWN: dict[str, Section] = {"thought": "thought", "answer": "answer"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_STRING = re.compile(r'[^"\\]+')


def schema(tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """Return the JSON schema of a step of a model with these tools; of an answer when there are none.

    Source: https://json-schema.org/draft/2020-12. ``thought`` comes first, so that it is written first.
    """
    forms = [_object(action={"const": tool.name}, action_input=_closed(tool.parameters)) for tool in tools]
    return {"anyOf": [*forms, _object(answer={"type": "string"})]} if forms else _object(answer={"type": "string"})


def _object(**properties: Any) -> dict[str, Any]:
    fields = {"thought": {"type": "string"}, **properties}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _closed(parameters: dict[str, Any]) -> dict[str, Any]:
    return {"additionalProperties": False, **parameters}


class JsonSteps:
    """The dialect of models that are held to a JSON schema."""

    name = "json"

    def reader(self, tools: Sequence[ToolSpec], language: str) -> Reader:
        """Return a reader for one reply."""
        return JsonReader(tools, language)

    def opening(self, language: str, *, answer: bool) -> str:
        """Return nothing: the schema sees to how a reply begins."""
        return ""

    def stop(self, language: str) -> tuple[str, ...]:
        """Return nothing: a JSON object ends by itself."""
        return ()

    def grammar(self, tools: Sequence[ToolSpec], language: str) -> str:
        """Return nothing: the schema takes its place."""
        return ""


class JsonReader:
    """Shows the strings of a JSON step while they arrive; what the step means is read when it is whole.

    A reply that is no JSON object is read as text.

    Args:
        tools: the tools on offer.
        language: of the correction, when one is needed.
    """

    def __init__(self, tools: Sequence[ToolSpec], language: str) -> None:
        self._tools, self._language = tuple(tools), language
        self._text = ReActReader(tools, language, form="json")
        self._raw: list[str] = []
        self._strings = _Strings()
        self._is_json: bool | None = None
        self._begun = ""
        self._shown: dict[Section, str] = {"thought": "", "answer": ""}

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of the reply and return what may be shown of it now."""
        if self._is_json is None:
            self._begun += text
            if not self._begun.strip():
                return []
            self._is_json = self._begun.lstrip().startswith("{")
            text, self._begun = self._begun, ""
        self._raw.append(text)
        from_text = self._text.feed(text)
        return self._note(self._strings.feed(text)) if self._is_json else from_text

    def close(self, finish: Finish = "stop") -> tuple[list[Delta], Parsed]:
        """Return what was still held back, and what the whole reply means."""
        deltas, parsed = self._text.close(finish)
        if not self._is_json:
            return deltas, parsed
        parsed = self._step("".join(self._raw), finish) or parsed
        deltas = []
        for section, whole in (("thought", parsed.thought), ("answer", parsed.answer or "")):
            deltas += self._rest(section, whole)  # type: ignore[arg-type]
        return deltas, parsed

    def _step(self, text: str, finish: Finish) -> Parsed | None:
        """Return what an object of exactly this form means, to the letter; None for anything else."""
        try:
            step = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(step, dict) or not isinstance(step.get("thought", ""), str) or finish == "length":
            return None
        thought, action, answer = step.get("thought", "").strip(), step.get("action"), step.get("answer")
        if action is None and isinstance(answer, str) and answer.strip():
            return Parsed(thought=thought, answer=answer.strip(), report=Report(dialect="json"))
        if not isinstance(action, str):
            retry = self._correction("no_action", "")
            return Parsed(thought=thought, reason="no_action", retry=retry, report=Report(dialect="json"))
        found = read_value(self._tools, action, step.get("action_input"), "json")
        repairs = in_order(found.repairs)
        report = Report(dialect=found.dialect, repairs=repairs, confidence=confidence(repairs))
        if found.reason:
            retry = self._correction(found.reason, found.name)
            return Parsed(thought=thought, reason=found.reason, retry=retry, report=report)
        return Parsed(thought=thought, calls=found.calls, answer=found.answer, report=report)

    def _correction(self, reason: str, about: str) -> str:
        return correction(reason, about, self._tools, self._language, form="json")

    def _note(self, deltas: list[Delta]) -> list[Delta]:
        for delta in deltas:
            self._shown[delta.section] += delta.text
        return deltas

    def _rest(self, section: Section, whole: str) -> list[Delta]:
        shown = self._shown[section].strip()
        rest = whole[len(shown) :] if whole.startswith(shown) else ""
        return [Delta(section=section, text=rest)] if rest.strip() else []


class _Strings:
    """Finds the strings of the outermost object whose keys are shown, however the text is cut."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._is_key = False
        self._held = ""
        self._key = ""
        self._word: list[str] = []
        self._expect_key = False
        self._surrogate = ""

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece and return what may be shown now."""
        text, self._held = self._held + text, ""
        shown: list[tuple[Section, str]] = []
        at = 0
        while at < len(text):
            at = self._in(text, at, shown) if self._in_string else self._between(text[at], at)
            if self._held:
                break
        merged: list[Delta] = []
        for section, piece in shown:
            if merged and merged[-1].section == section:
                merged[-1] = Delta(section=section, text=merged[-1].text + piece)
            else:
                merged.append(Delta(section=section, text=piece))
        return merged

    def _between(self, char: str, at: int) -> int:
        if char == '"':
            self._in_string, self._word = True, []
            self._is_key = self._expect_key and self._depth == 1
        elif char in "{[":
            self._depth += 1
            self._expect_key = char == "{"
        elif char in "}]":
            self._depth -= 1
        elif char == ",":
            self._expect_key = True
        elif char == ":":
            self._expect_key = False
        return at + 1

    def _in(self, text: str, at: int, shown: list[tuple[Section, str]]) -> int:
        """Read a part of a string that begins at ``at`` and return where to go on."""
        if run := _STRING.match(text, at):
            self._add(run.group(), shown)
            return run.end()
        if text[at] == '"':
            self._in_string = False
            if self._is_key:
                self._key = "".join(self._word)
            return at + 1
        length = 6 if text[at + 1 : at + 2] == "u" else 2
        if len(text) - at < length:
            self._held = text[at:]
            return len(text)
        self._add(self._escaped(text[at + 1 : at + length]), shown)
        return at + length

    def _escaped(self, escape: str) -> str:
        if escape[0] != "u":
            return _ESCAPES.get(escape, escape)
        try:
            char = chr(int(escape[1:], 16))
        except ValueError:
            return ""
        if "\ud800" <= char <= "\udbff":
            self._surrogate = char
            return ""
        pair, self._surrogate = self._surrogate + char, ""
        return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _add(self, text: str, shown: list[tuple[Section, str]]) -> None:
        if self._is_key:
            self._word.append(text)
        elif self._depth == 1 and text and (section := _SHOWN.get(self._key)):
            shown.append((section, text))
