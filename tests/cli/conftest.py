"""A shell, scripts and tools for tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs ``whybox`` with a data folder of the test's own."""
    return Shell(tmp_path)


Script = Callable[..., str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Makes a scripted model of replies and returns how it is named."""
    made = 0

    def write(*replies: str) -> str:
        nonlocal made
        made += 1
        path = tmp_path / f"script{made}.txt"
        path.write_text("\n---\n".join(replies) + "\n", encoding="utf-8")
        return f"scripted:{path}"

    return write


@pytest.fixture
def tools_file(tmp_path: Path) -> Callable[[str], Path]:
    """Makes a file of tools and returns its path."""

    def write(source: str) -> Path:
        path = tmp_path / "own_tools.py"
        path.write_text(f"from whybox import tool\n\n{source}", encoding="utf-8")
        return path

    return write
