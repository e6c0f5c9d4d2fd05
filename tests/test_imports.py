"""What may import what, and what an import pulls in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.imports import MOST_DISTRIBUTIONS, distributions

ROOT = Path(__file__).resolve().parents[1]
HEADLESS = {"sqlalchemy", "rich", "typer", "xllamacpp", "jieba"}
HEAVY = {"httpx2", "sqlalchemy", "rich", "typer", "jinja2", "xllamacpp", "jieba", "pydantic", "anyio", "whenever"}
CORE = "errors events trace ports spec prompts.render dialects.react engine.decide engine.replay views.printable"


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules a fresh interpreter has loaded after ``code``."""
    program = f"import json, sys\n{code}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_whybox_loads_nothing_else() -> None:
    loaded = loaded_by("import whybox")
    assert "whybox" in loaded
    assert loaded & (HEAVY | {"asyncio"}) == set()


def test_the_agent_class_loads_no_terminal_no_database_and_no_model() -> None:
    assert loaded_by("from whybox import Agent, tool; Agent") & HEADLESS == set()


@pytest.mark.parametrize("command", [(), ("ask",), ("runs", "show"), ("models",), ("kb",), ("tools",)])
def test_help_is_printed_without_what_only_a_run_needs(command: tuple[str, ...]) -> None:
    code = f"""
from whybox.cli.main import main
sys.argv = ["whybox", *{command!r}, "--help"]
try:
    main()
except SystemExit as end:
    assert end.code == 0
"""
    # typer itself checks ranges of options with pydantic, wherever a command has any.
    needed = {"typer", "pydantic"} if command else {"typer"}
    assert loaded_by(code) & (HEAVY - needed) == set()


def test_a_scripted_run_needs_no_http_and_no_embedded_model(tmp_path: Path) -> None:
    script = tmp_path / "script.txt"
    script.write_text("Thought: easy.\nFinal Answer: 4\n")
    code = f"""
from whybox import Agent, MemoryStore
agent = Agent("scripted:{script}", store=MemoryStore())
assert agent.run_sync("What is 2 + 2?").answer == "4"
"""
    assert loaded_by(code) & (HEADLESS | {"httpx2"}) == set()


def test_the_core_loads_no_io_library() -> None:
    code = "\n".join(f"import whybox.{name}" for name in CORE.split())
    assert loaded_by(code) & (HEADLESS | {"httpx2", "sqlite3", "anyio"}) == set()


def test_the_base_install_is_small() -> None:
    base = distributions()
    assert {"whybox", "pydantic", "pydantic-core"} <= base
    assert not base & {"xllamacpp", "jieba", "pytest"}
    assert len(base) <= MOST_DISTRIBUTIONS, sorted(base)


def test_modules_import_only_what_lies_below_them() -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    if not linter.exists():
        found = shutil.which("lint-imports")
        if found is None:
            pytest.fail("import-linter is missing: pip install 'whybox[dev]'")
        linter = Path(found)
    done = subprocess.run([linter, "--no-cache", "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
