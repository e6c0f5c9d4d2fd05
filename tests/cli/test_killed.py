"""A process that is killed in the middle of a run has lost nothing that it had shown."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import PATIENCE, Shell

TOOLS = '''import time
from pathlib import Path

FOLDER = Path(__file__).parent


def act(name: str) -> str:
    with (FOLDER / f"{name}.log").open("a") as log:
        log.write("acted\\n")
    while not (FOLDER / "go_on").exists():
        time.sleep(0.01)
    return f"{name} is done"


@tool
def read(name: str) -> str:
    """Read a slow thing.

    Args:
        name: which.
    """
    return act(name)


@tool(risk="write")
def send(name: str) -> str:
    """Send a thing.

    Args:
        name: which.
    """
    return act(name)
'''
FIRST = "Thought: first compute.\nAction: calculator[6 * 7]"
LAST = "Thought: done.\nFinal Answer: all is done"


def acted(folder: Path, name: str) -> int:
    log = folder / f"{name}.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def killed_at(shell: Shell, arguments: list[Any], event: str, count: int = 1) -> list[dict[str, Any]]:
    """Run until so many events of a type were printed, kill the process, and return all that it printed."""
    printed: list[dict[str, Any]] = []
    with shell.start(*arguments) as running:
        assert running.stdout is not None
        for line in running.stdout:
            printed.append(json.loads(line))
            if printed[-1]["type"] == event:
                count -= 1
                if count == 0:
                    os.kill(running.pid, signal.SIGKILL)
                    break
        printed += [json.loads(line) for line in running.stdout if line.endswith("\n")]
        assert running.wait(PATIENCE) == -signal.SIGKILL
    return printed


def stored(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] != "delta"]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in stored(events)]


def rewrite(model: str, *replies: str) -> None:
    """Let the scripted model go on behind what it has said already."""
    Path(model.removeprefix("scripted:")).write_text("\n---\n".join(replies), encoding="utf-8")


def test_all_that_was_printed_is_kept_and_a_call_that_only_reads_is_made_again(
    shell: Shell, script, tools_file, tmp_path: Path
) -> None:
    file = tools_file(TOOLS)
    model = script(FIRST, "Thought: now read.\nAction: read[slow]", LAST)
    printed = killed_at(shell, ["ask", "-m", model, "--tools", file, "--json", "Do it."], "called", 2)
    run = printed[0]["run"]
    kept = shell("runs", "show", run, "--json")
    assert kept.code == 0
    assert kept.events == stored(printed)
    assert types(kept.events)[-1] == "called"
    assert shell("runs", "list", "--json").events[0]["outcome"] == "unfinished"
    shown = shell("runs", "show", run).out
    assert "6 * 7 = 42" in shown
    assert "now read." in shown

    (tmp_path / "go_on").touch()
    rewrite(model, LAST)
    resumed = shell("runs", "resume", run, "--tools", file, "--json")
    assert resumed.code == 0
    assert types(resumed.events) == ["resumed", "called", "observed", "asked", "replied", "parsed", "answered"]
    assert resumed.events[-1]["answer"] == "all is done"
    assert shell("runs", "show", run, "--json").events == stored(printed) + stored(resumed.events)
    assert acted(tmp_path, "slow") <= 2


def test_a_call_that_may_have_acted_is_not_made_again_without_asking(
    shell: Shell, script, tools_file, tmp_path: Path
) -> None:
    file = tools_file(TOOLS)
    model = script("Thought: send.\nAction: send[letter]", LAST)
    arguments = ["ask", "-m", model, "--tools", file, "--approve", "never", "--json", "Send it."]
    printed = killed_at(shell, arguments, "called")
    run, before = printed[0]["run"], acted(tmp_path, "letter")
    (tmp_path / "go_on").touch()
    rewrite(model, LAST)
    resumed = shell("runs", "resume", run, "--tools", file, "--json")
    assert types(resumed.events)[:4] == ["resumed", "paused", "rejected", "observed"]
    assert stored(resumed.events)[1]["reason"] == "unknown_outcome"
    assert resumed.events[-1]["answer"] == "all is done"
    assert acted(tmp_path, "letter") == before


def test_a_person_who_is_asked_can_let_it_be_made_again(shell: Shell, script, tools_file, tmp_path: Path) -> None:
    file = tools_file(TOOLS)
    model = script("Thought: send.\nAction: send[letter]", LAST)
    arguments = ["ask", "-m", model, "--tools", file, "--approve", "never", "--json", "Send it."]
    run, before = killed_at(shell, arguments, "called")[0]["run"], acted(tmp_path, "letter")
    (tmp_path / "go_on").touch()
    rewrite(model, LAST)
    asked: list[str] = []

    def approve(seen: str) -> str:
        if "[y] yes" in seen and not asked:
            asked.append("y")
            return "y\n"
        return ""

    done = shell.on_terminal("runs", "resume", run, "--tools", file, typed=approve)
    assert done.code == 0
    assert asked
    assert "all is done" in done.out
    assert acted(tmp_path, "letter") == before + 1


@pytest.mark.parametrize("event", ["started", "asked", "replied", "observed"])
def test_a_run_killed_at_any_event_has_its_answer_after_it_is_resumed(
    shell: Shell, script, tools_file, tmp_path: Path, event: str
) -> None:
    file = tools_file(TOOLS)
    replies = (FIRST, "Thought: now read.\nAction: read[slow]", "Thought: and again.\nAction: read[other]", LAST)
    model = script(*replies)
    printed = killed_at(shell, ["ask", "-m", model, "--tools", file, "--json", "Do it."], event)
    run = printed[0]["run"]
    (tmp_path / "go_on").touch()
    kept = shell("runs", "show", run, "--json").events
    # What is stored before it is shown may be one event more than what was printed.
    assert kept[: len(stored(printed))] == stored(printed)
    rewrite(model, *replies[types(kept).count("replied") :])
    resumed = shell("runs", "resume", run, "--tools", file, "--json")
    assert (resumed.code, resumed.events[-1]["answer"]) == (0, "all is done")
    whole = shell("runs", "show", run, "--json").events
    assert whole == kept + stored(resumed.events)
    assert types(whole).count("replied") == 4
