"""The registry, and tools from a user's own file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from whybox.errors import ConfigError, ToolDefinitionError
from whybox.ports import Output, ToolSpec
from whybox.tools.base import ToolRegistry, load_tools_file, tool


@tool
def first(x: int) -> int:
    """Return it."""
    return x


@tool
def second(x: int) -> int:
    """Return it doubled."""
    return 2 * x


class Remote:
    spec = ToolSpec(name="remote", description={"en": "Elsewhere."}, parameters={"type": "object", "properties": {}})

    async def call(self, arguments: dict[str, Any]) -> Output:
        return Output(text="from afar")


def test_a_registry_keeps_order_and_finds_by_name() -> None:
    remote = Remote()
    registry = ToolRegistry([second, first])
    assert registry.register(remote) is remote
    assert list(registry) == ["second", "first", "remote"]
    assert [spec.name for spec in registry.specs] == ["second", "first", "remote"]
    assert registry["remote"] is remote
    assert registry.get("nowhere") is None
    assert "first" in registry
    assert len(registry) == 3


def test_two_tools_of_one_name_are_refused_and_the_first_is_kept() -> None:
    registry = ToolRegistry([first])
    with pytest.raises(ToolDefinitionError, match='two tools are called "first"'):
        registry.register(tool(name="first")(second.__wrapped__))
    assert registry["first"] is first


@pytest.mark.parametrize("thing", [len, "first", None, first.__wrapped__])
def test_what_is_no_tool_is_refused(thing: Any) -> None:
    with pytest.raises(ToolDefinitionError, match="is not a tool"):
        ToolRegistry([thing])


def write(folder: Path, source: str | bytes) -> Path:
    file = folder / "my_tools.py"
    file.write_bytes(source.encode() if isinstance(source, str) else source)
    return file


GOOD = """
from __future__ import annotations
from dataclasses import dataclass
from whybox.tools.base import tool
import beside

@dataclass
class Pair:
    a: int

@tool
def zebra(pair: Pair) -> int:
    '''Use a class of this file.'''
    return pair.a + beside.NUMBER

@tool(name="another")
async def ant(x: str) -> str:
    '''Return it.'''
    return x

same = zebra
"""


def test_a_file_gives_its_tools_in_order_and_may_import_from_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "beside.py").write_text("NUMBER = 40\n")
    before = list(sys.path)
    tools = load_tools_file(write(tmp_path, GOOD))
    assert [each.spec.name for each in tools] == ["zebra", "another"]
    assert anyio.run(tools[0].call, {"pair": {"a": 2}}) == Output(text="42")
    assert sys.path == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["beside.py", "my_tools.py"]


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        ("x = 1\ndef broken(:\n", 2, "syntax error"),
        ("\n\nimport no_such_module_here\n", 3, "ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("\n1 / 0\n", 2, "ZeroDivisionError"),
        ("import sys\nsys.exit(3)\n", 2, "ended the program"),
        ("from whybox.tools.base import tool\n@tool\ndef f(x: int): return x\n", 2, "no description"),
        (b"\xff\xfe\x00", 1, ""),
        (b"x = 1\x00\n", 1, ""),
        ("x = " + "(" * 5000, 1, ""),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_line_with_its_place(
    tmp_path: Path, source: str | bytes, line: int, reason: str
) -> None:
    file = write(tmp_path, source)
    with pytest.raises(ConfigError) as caught:
        load_tools_file(file)
    message = str(caught.value)
    assert f"{file}:{line}:" in message
    assert reason in message
    assert "\n" not in message
    assert caught.value.exit_code == 2
    assert not any(str(file.resolve()) in name for name in sys.modules)


def test_a_file_without_tools_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no tools"):
        load_tools_file(write(tmp_path, "x = 1\n"))
    with pytest.raises(ConfigError, match="cannot be read: no such file"):
        load_tools_file(tmp_path / "nowhere.py")
    with pytest.raises(ConfigError, match="cannot be read: is a directory"):
        load_tools_file(tmp_path)


def test_an_interrupt_while_a_file_runs_is_not_swallowed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        load_tools_file(write(tmp_path, "raise KeyboardInterrupt\n"))
