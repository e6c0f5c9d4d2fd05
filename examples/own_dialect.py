"""A dialect of your own, for a model that writes ``PLAN ...``, ``DO tool: input`` and ``SAY ...``."""

from collections.abc import Sequence
from typing import Literal

from whybox import OutputParser
from whybox.dialects.actions import Action, read_input
from whybox.dialects.corrections import correction
from whybox.events import Delta, Parsed, Report
from whybox.ports import Reader, ToolSpec


class Steps:
    """The dialect: five names, all of them pure."""

    name = "steps"

    def reader(self, tools: Sequence[ToolSpec], language: str) -> Reader:
        return StepsReader(tools, language)

    def opening(self, language: str, *, answer: bool) -> str:
        return "SAY " if answer else "PLAN "

    def stop(self, language: str) -> tuple[str, ...]:
        return ("\nGOT",)

    def grammar(self, tools: Sequence[ToolSpec], language: str) -> str:
        names = " | ".join(f'"{tool.name}"' for tool in tools)
        return f'root ::= "PLAN " line "\\n" ( "DO " ( {names} ) ": " line | "SAY " line )\nline ::= [^\\n]+'


class StepsReader:
    def __init__(self, tools: Sequence[ToolSpec], language: str) -> None:
        self._tools, self._language, self._text = tools, language, ""

    def feed(self, text: str) -> list[Delta]:
        self._text += text
        return []  # nothing is shown before the whole is clear

    def close(self, finish: Literal["stop", "length"] = "stop") -> tuple[list[Delta], Parsed]:
        lines = dict(line.split(" ", 1) for line in self._text.splitlines() if " " in line)
        tool, _, given = lines.get("DO", "").partition(":")
        action = read_input(self._tools, tool, given, "steps") if tool else Action("steps", answer=lines.get("SAY"))
        nothing = None if tool or action.answer else "no_action"
        reason = "truncated" if finish == "length" else action.reason or nothing
        retry = correction(reason, action.name, self._tools, self._language) if reason else None
        calls, answer = ((), None) if reason else (action.calls, action.answer)
        report = Report(dialect=action.dialect, repairs=action.repairs)
        said = [Delta(section="answer", text=answer)] if answer else []
        thought = lines.get("PLAN", "")
        return said, Parsed(thought=thought, calls=calls, answer=answer, reason=reason, retry=retry, report=report)


if __name__ == "__main__":
    search = ToolSpec(name="search", description={"en": "Find pages."}, parameters={"properties": {"query": {}}})
    print(OutputParser([search], dialect=Steps()).parse("PLAN look it up\nDO search: tide tables").calls)
