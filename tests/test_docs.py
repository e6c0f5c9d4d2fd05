"""What the documents say is there is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import whybox.events as events
from whybox.cli.main import app

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "README.zh-CN.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
COMMAND = re.compile(r"^(?:\$ )?whybox ([^#\n]*)", re.MULTILINE)


def blocks(path: Path) -> list[str]:
    return re.findall(r"^```[^\n]*\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def help_of(*words: str) -> str:
    result = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "200"}, obj={"debug": False})
    assert result.exit_code == 0, f"{words}: {result.output}"
    return result.output


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_and_option_exists(path: Path) -> None:
    for line in COMMAND.findall("\n".join(blocks(path))):
        if line.startswith(" "):
            continue  # the first line of a run, not a command
        words = [word for word in line.split() if re.fullmatch(r"[a-z]+", word)][:2]
        text = help_of(words[0])
        if words[0] != "ask" and len(words) > 1:
            text = help_of(*words)
        for option in re.findall(r"(?<!\S)--[a-z-]+", line):
            assert option in text, line


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_both_readmes_show_the_same_code() -> None:
    assert blocks(ROOT / "README.md") == blocks(ROOT / "README.zh-CN.md")


def test_the_architecture_names_every_event_and_every_file_it_speaks_of_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for cls in events.Known.__args__:
        assert f"`{cls.model_fields['type'].default}`" in text
    package = ROOT / "src" / "whybox"
    for name in re.findall(r"`([a-z_/]+\.py|[a-z]+/[a-z_/]*)`", text):
        assert (package / name).exists() or list(package.rglob(name)), name
