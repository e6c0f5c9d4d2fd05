"""Several models in one run, on the command line."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from tests.cli.commands import Shell

ADD = ("Thought: I multiply.\nAction: calculator[12 * 34]", "Thought: That is it.\nFinal Answer: a draft")


def closed_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def test_a_model_that_is_down_is_replaced_and_the_run_says_so(shell: Shell, script) -> None:
    url = f"http://127.0.0.1:{closed_port()}/v1"
    spare = script(*ADD)
    done = shell("ask", "-m", "m", "--base-url", url, "--fallback", spare, "12 * 34?")
    assert (done.code, done.out) == (0, "a draft\n")
    assert "nothing listens there" in done.err
    assert f"{spare} takes over, the one before is down" in done.err


def test_another_model_writes_the_answer_and_each_role_is_counted(shell: Shell, script) -> None:
    think, answer = script(*ADD), script("Final Answer: It is 408.")
    done = shell("ask", "-m", think, "--answer-model", answer, "12 * 34?")
    assert (done.code, done.out) == (0, "It is 408.\n")
    assert f"answer by {answer}, text" in done.err
    run = json.loads(shell("runs", "list", "--json").out)["id"]
    table = shell("runs", "show", run, "--tokens", COLUMNS="200").out
    thoughts, answers = [
        line.split() for line in table.splitlines() if line.strip().startswith(("thoughts", "answer "))
    ]
    assert thoughts[:3] == ["thoughts", think, "2"]
    assert answers[:3] == ["answer", answer, "1"]
    calls = [json.loads(line) for line in shell("runs", "show", run, "--tokens", "--json").out.splitlines()]
    assert [(call["step"], call["role"], call["model"]) for call in calls] == [
        (1, "think", think),
        (2, "think", think),
        (3, "answer", answer),
    ]
    for call in calls:
        assert sum(call["parts"].values()) == call["usage"]["prompt_tokens"]


def test_a_run_is_resumed_with_all_the_models_it_was_started_with(shell: Shell, script) -> None:
    think, answer = script(ADD[0]), script("Final Answer: It is 408.")
    done = shell("ask", "-m", think, "--answer-model", answer, "12 * 34?")
    assert done.code == 3
    run = json.loads(shell("runs", "list", "--json").out)["id"]
    Path(think.removeprefix("scripted:")).write_text(ADD[1], encoding="utf-8")
    done = shell("runs", "resume", run)
    assert (done.code, done.out) == (0, "It is 408.\n")
    assert f"answer by {answer}, text" in done.err


def test_a_mode_the_model_cannot_do_is_told_with_those_it_can(shell: Shell, script) -> None:
    done = shell("ask", "-m", script(*ADD), "--mode", "tools", "12 * 34?")
    assert (done.code, done.out) == (2, "")
    assert "has no native tool calls (use --mode text" in done.err


def test_the_weights_of_every_embedded_model_are_asked_for(shell: Shell, script) -> None:
    done = shell("ask", "-m", script(*ADD), "--fallback", "local:no-such-model", "12 * 34?")
    assert done.code == 2
    assert "no-such-model" in done.err
