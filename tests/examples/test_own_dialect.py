"""A dialect that is written outside the package works with the parser and with the agent."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples.own_dialect import Steps

from tests.examples.test_examples import code_lines
from whybox import Agent, MemoryStore, OutputParser, ScriptedModel, tool
from whybox.output_parser import tools_of

FILE = Path(__file__).resolve().parents[2] / "examples" / "own_dialect.py"
PARSER = OutputParser(tools_of("search(query),weather(city,unit)"), dialect=Steps())


def test_the_example_has_about_forty_lines() -> None:
    assert code_lines(FILE.read_text("utf-8")) <= 45


@pytest.mark.parametrize(
    ("reply", "calls", "answer", "reason"),
    [
        ("PLAN a\nDO search: tides", [("search", {"query": "tides"})], None, None),
        ("DO weather: Oslo, C", [("weather", {"city": "Oslo", "unit": "C"})], None, None),
        ("PLAN a\nSAY six", [], "six", None),
        ("PLAN a", [], None, "no_action"),
        ("DO teleport: x", [], None, "unknown_tool"),
        ("", [], None, "no_action"),
    ],
)
def test_replies_of_the_dialect_are_read(
    reply: str, calls: list[tuple[str, dict[str, str]]], answer: str | None, reason: str | None
) -> None:
    parsed = PARSER.parse(reply)
    assert [(call.tool, call.arguments) for call in parsed.calls] == calls
    assert (parsed.answer, parsed.reason) == (answer, reason)
    assert (parsed.retry is None) == (reason is None)


def test_what_was_cut_is_not_run() -> None:
    assert PARSER.parse("DO search: tides", "length").reason == "truncated"


def test_an_agent_runs_in_the_dialect() -> None:
    @tool
    def search(query: str) -> str:
        """Find pages."""
        return f"pages about {query}"

    model = ScriptedModel(["PLAN look\nDO search: tides", "PLAN done\nSAY at six"])
    agent = Agent(model, tools=[search], store=MemoryStore(), dialect=Steps())
    result = agent.run_sync("When is high water?")
    assert result.answer == "at six"
    assert [observed.content for observed in result.trace.observations] == ["pages about tides"]
