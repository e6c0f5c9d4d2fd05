"""The names that other people's code stands on."""

from __future__ import annotations

import ast
import inspect
from importlib.metadata import version
from pathlib import Path
from types import UnionType

import pytest

import whybox
from whybox import OutputParser, ToolRegistry, tool
from whybox.events import Known, Unknown

NAMES = [
    "Agent",
    "AgentState",
    "Delta",
    "Event",
    "Limits",
    "MemoryStore",
    "Model",
    "OutputParser",
    "Person",
    "Result",
    "ScriptedModel",
    "ScriptedPerson",
    "SqlStore",
    "Stamped",
    "Store",
    "Tool",
    "ToolRegistry",
    "Trace",
    "WhyboxError",
    "__version__",
    "tool",
]


def test_these_are_the_public_names() -> None:
    assert sorted(whybox.__all__) == NAMES
    assert dir(whybox) == NAMES


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"__version__", "Event"}))
def test_a_public_name_is_a_documented_thing_of_that_name(name: str) -> None:
    value = getattr(whybox, name)
    assert value.__name__ == name
    assert inspect.getdoc(value)


def test_an_event_is_any_known_or_later_one() -> None:
    assert isinstance(whybox.Event, UnionType)
    assert whybox.Event == Known | Unknown


def test_the_version_is_the_installed_one() -> None:
    assert whybox.__version__ == version("whybox")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'whybox' has no attribute 'Agnet'"):
        whybox.Agnet  # noqa: B018
    with pytest.raises(ImportError, match="Agnet"):
        exec("from whybox import Agnet")


def test_type_checkers_are_told_of_the_same_homes_as_the_interpreter() -> None:
    tree = ast.parse(Path(whybox.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    told = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert told == {name: f"whybox.{home}" for name, home in whybox._HOMES.items()}
    assert {*told, "__version__"} == set(whybox.__all__)


@tool
def area(width: float, height: float) -> float:
    """Return the area of a rectangle."""
    return width * height


@pytest.mark.parametrize("tools", [[area], [area.spec], ToolRegistry([area])])
def test_an_output_parser_reads_whole_replies_and_streamed_ones_alike(tools) -> None:
    parser = OutputParser(tools)
    text = "Thought: multiply.\nAction: area[3, 4]\nObservation: 12"
    parsed = parser.parse(text)
    assert parsed.thought == "multiply."
    assert [(call.tool, call.text) for call in parsed.calls] == [("area", "3, 4")]
    reader = parser.stream()
    deltas = [delta for character in text for delta in reader.feed(character)]
    rest, streamed = reader.close()
    assert streamed == parsed
    assert "".join(delta.text for delta in [*deltas, *rest] if delta.section == "thought").strip() == "multiply."


def test_an_output_parser_says_in_the_language_asked_for_what_it_could_not_read() -> None:
    parsed = OutputParser([area], language="zh").parse("思考：我不知道。")
    assert parsed.reason == "no_action"
    assert parsed.retry
    assert "行动" in parsed.retry
