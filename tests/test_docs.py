"""What the documents say is there is there, and what they show runs."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
import typer.main

from whybox import config, events
from whybox.assemble import Settings, tools_of
from whybox.cli.main import app
from whybox.providers.catalogue import PROVIDERS
from whybox.tools.base import load_tools_file
from whybox.tools.kb import KnowledgeBase

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "whybox"
READMES = [ROOT / "README.md", ROOT / "README.zh-CN.md"]
TUTORIALS = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "tutorial.zh-CN.md"]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
DOCUMENTS = [*READMES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ARCHITECTURE, *TUTORIALS]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODEL = "local:qwen2.5-coder-1.5b"
ROUTE = typer.main.get_command(app)

each_document = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, *languages: str) -> list[str]:
    """Return the code blocks, or those in these languages."""
    return [text for language, text in FENCE.findall(read(path)) if not languages or language in languages]


def inline(path: Path) -> list[str]:
    """Return the code inside the prose."""
    return re.findall(r"`([^`\n]+)`", FENCE.sub("", read(path)))


def in_blocks(path: Path) -> list[list[str]]:
    """Return each whybox command a reader could type, without the prompt, comments and redirections."""
    commands = []
    for line in "\n".join(blocks(path)).splitlines():
        for text in (line.removeprefix("$ "), *re.findall(r"\$\(([^)]*)\)", line)):
            if re.match(r"whybox (?! )", text):  # two spaces: the first line that a run prints
                words = shlex.split(text, comments=True)[1:]
                commands.append(list(itertools.takewhile(lambda word: word not in {"<", ">", "|"}, words)))
    return commands


def in_prose(path: Path) -> list[list[str]]:
    """Return each whybox command that is named in passing, maybe without what it needs."""
    return [shlex.split(text)[1:] for text in inline(path) if re.match(r"(\.venv/bin/)?whybox \w", text)]


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that the words lead to, and the words behind it."""
    command, rest = ROUTE, words
    while hasattr(command, "commands") and rest:
        assert rest[0] in command.commands, f"there is no command {rest[0]!r} in: whybox {shlex.join(words)}"
        command, rest = command.commands[rest[0]], rest[1:]
    return command, rest


@each_document
def test_every_command_that_is_shown_can_be_typed(path: Path) -> None:
    for words in in_blocks(path):
        command, rest = command_of(words)
        command.make_context(command.name, list(rest))


@each_document
def test_every_command_and_option_that_is_named_exists(path: Path) -> None:
    for words in in_prose(path):
        command, rest = command_of(words)
        known = {name for parameter in command.params for name in parameter.opts}
        for word in rest:
            assert not word.startswith("-") or word == "-" or word in known, shlex.join(words)


def test_the_readme_shows_the_commands_that_a_newcomer_needs() -> None:
    shown = {" ".join(words) for words in in_blocks(READMES[0])}
    for start in ("ask", "runs list", "runs show", "runs resume", "kb add", "tools list", "tools call", "models list"):
        assert any(f"{command} ".startswith(f"{start} ") for command in shown), start
    options = {word for words in in_blocks(READMES[0]) if words[0] == "ask" for word in words}
    assert {"--show-prompt", "--json", "--tools", "--base-url", "--model"} <= options


@each_document
def test_every_make_target_exists(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", read(ROOT / "Makefile"), re.MULTILINE))
    lines = [*inline(path), *"\n".join(blocks(path)).splitlines()]
    named = {match[1] for line in lines if (match := re.match(r"make ([a-z-]+)", line))}
    assert named <= targets


@each_document
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", read(path)):
        assert (path.parent / target).exists(), target


@each_document
def test_every_file_that_is_named_exists(path: Path) -> None:
    for name in inline(path):
        if re.fullmatch(r"(src|docs|examples|benchmarks|tests)/[\w./-]*", name):
            assert (ROOT / name).exists(), name


def test_both_languages_show_the_same_code() -> None:
    assert blocks(READMES[0]) == blocks(READMES[1])
    assert sorted(blocks(TUTORIALS[0])) == sorted(blocks(TUTORIALS[1]))


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_the_readme_names_every_environment_variable(path: Path) -> None:
    sources = "\n".join(read(file) for file in PACKAGE.rglob("*.py"))
    names = set(re.findall(r'environ\S*\("(WHYBOX_\w+)"\)', sources))
    names |= {each.key for each in PROVIDERS.values() if each.key}
    assert len(names) == 7
    names |= {"WHYBOX_MODEL", "WHYBOX_BASE_URL"}
    assert set(re.findall(r"`(WHYBOX_\w+|[A-Z]+_API_KEY)`", read(path))) == names
    assert set(config.Values.model_fields) <= set(re.findall(r"`(\w+)`", read(path)))


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_the_run_in_the_readme_shows_what_the_tools_return(path: Path, tmp_path: Path) -> None:
    shown = " ".join(blocks(path)[1].split())
    steps = re.findall(r"Action (\w+)\[(.*?)\] Observation (.*?) Thought", shown)
    assert [tool for tool, _, _ in steps] == ["lookup", "calculator"]
    kb = KnowledgeBase(tmp_path / "kb.sqlite3", tmp_path)
    try:
        kb.add([ROOT / "examples" / "kb"])
        for name, given, observation in steps:
            tool = tools_of(Settings(), "en", kb)[name]
            output = anyio.run(tool.call, {next(iter(tool.spec.parameters["properties"])): given})
            assert " ".join(output.text.split()) == observation
    finally:
        kb.close()
    assert f"whybox {config.DEFAULT_MODEL} " in shown


def run(code: str, script: str, folder: Path) -> str:
    """Run code from a document with a scripted model in place of the embedded one, and return what it printed."""
    (folder / "script.txt").write_text(script, encoding="utf-8")
    assert MODEL in code
    code = code.replace(MODEL, f"scripted:{(folder / 'script.txt').as_posix()}")
    env = {**os.environ, "WHYBOX_DATA_DIR": str(folder / "data"), "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_tool_of_the_readme_can_be_loaded_and_called(tmp_path: Path) -> None:
    file = tmp_path / "dice.py"
    file.write_text(blocks(READMES[0], "python")[0], encoding="utf-8")
    (dice,) = load_tools_file(file)
    output = anyio.run(dice.call, {"sides": 1})
    assert (dice.spec.name, output.text, output.error) == ("dice", "1", None)


def test_the_library_example_of_the_readme_runs(tmp_path: Path) -> None:
    script = "Thought: count.\nAction: calculator[17 * 24 - 133]\n---\nThought: 275.\nFinal Answer: 275 are left.\n"
    printed = run(blocks(READMES[0], "python")[1], script, tmp_path)
    assert printed.startswith("275 are left. True 2 ")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.name)
def test_the_whybox_part_of_the_tutorial_runs(path: Path, tmp_path: Path) -> None:
    with_tool, streaming = [code for code in blocks(path, "python") if "from whybox import" in code]
    script = "Thought: look.\nAction: stock[chair]\n---\nThought: it says 8.\nFinal Answer: There are 8.\n"
    assert run(with_tool, script, tmp_path).startswith("There are 8. True prompt_tokens=")
    watched = f"{streaming}\nimport asyncio\nasyncio.run(watch('How many?'))"
    printed = run(watched, "Thought: easy.\nFinal Answer: 8\n", tmp_path)
    assert "type='delta' section='answer' text='8'" in printed
    assert "Answered(" in printed


def section(title: str) -> str:
    """Return a section of the architecture."""
    return read(ARCHITECTURE).split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_architecture_names_every_event_and_no_other() -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", section("Events"), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {cls.model_fields["type"].default for cls in events.Known.__args__}


def test_the_layers_of_the_architecture_are_those_that_are_enforced() -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", section("Layers"), re.MULTILINE)
    told = [{name.removesuffix(".py") for name in re.findall(r"`([\w.]+)`", row)} for row in rows]
    contract = tomllib.loads(read(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"][0]
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    enforced = [set(re.findall(r"\w+", layer)) & there for layer in contract["layers"]]
    assert told == [layer for layer in enforced if layer]
    assert set().union(*told) == there - {"__init__"}


def test_every_file_that_the_architecture_names_exists() -> None:
    for name in inline(ARCHITECTURE):
        if re.fullmatch(r"[\w/]+\.(py|toml)|\w+/[\w/]*", name):
            found = (PACKAGE / name).exists() or (ROOT / name).exists()
            assert found or ("/" not in name and any(PACKAGE.rglob(name))), name
