"""The same weights behind a real server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whybox import Agent, Limits, MemoryStore, Result
from whybox.dialects.by_mode import Dialects
from whybox.engine.replay import departure
from whybox.events import Answered, Asked, Parsed, Replied, Stopped, from_data, to_data
from whybox.spec import AgentSpec

pytestmark = pytest.mark.weights
SERVER = Path(__file__).resolve().parents[2] / "examples" / "serve_model.py"
TOOLS = ("calculator", "now")


@pytest.fixture(scope="module")
def base_url(smollm2_path: Path) -> Iterator[str]:
    pytest.importorskip("xllamacpp")
    command = [sys.executable, SERVER, smollm2_path, "--port", "0", "--context", "4096"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split(" is served at ")[1].split()[0]
        server.send_signal(signal.SIGINT)


def ask(base_url: str, question: str, **options: Any) -> Result:
    async def go() -> Result:
        limits = Limits(max_steps=2, reply_tokens=200, model_seconds=300)
        options.setdefault("tools", TOOLS)
        async with Agent("smollm2", base_url=base_url, store=MemoryStore(), limits=limits, **options) as agent:
            return await agent.run(question)

    return asyncio.run(go())


def check(result: Result) -> None:
    """What holds of every run: it ended, its events survive JSON, and each follows from those before it."""
    events = list(result.trace)
    assert isinstance(events[-1], Answered | Stopped)
    assert [from_data(to_data(event)) for event in events] == events
    assert departure(AgentSpec.model_validate(result.trace.started.agent), Dialects(), result.trace) is None


def test_in_text_mode_a_run_ends_with_an_answer(base_url: str) -> None:
    result = ask(base_url, "What is 12 * 34?")
    check(result)
    assert result.answer
    assert result.trace.started.agent["mode"] == "text"
    (first, *_) = [event for event in result.trace if isinstance(event, Replied)]
    assert first.usage.prompt_tokens
    assert not first.usage.estimated


@pytest.mark.parametrize("question", ["What is 15% of 80?", "What time is it?", "What is (15 + 7) * 3?"])
def test_a_server_that_takes_grammars_gives_only_well_formed_steps(base_url: str, question: str) -> None:
    result = ask(base_url, question, mode="grammar")
    check(result)
    events = list(result.trace)
    steps = [
        (events[index + 1], events[index + 2])
        for index, event in enumerate(events)
        if isinstance(event, Asked) and event.role == "think"
    ]
    assert steps
    for replied, parsed in steps:
        assert isinstance(replied, Replied)
        assert isinstance(parsed, Parsed)
        assert replied.finish == "stop"
        assert parsed.report.repairs == ()
        assert parsed.answer or parsed.calls[0].tool in TOOLS
    assert result.trace.started.agent["mode"] == "grammar"


def test_in_json_mode_every_whole_reply_is_a_step(base_url: str) -> None:
    result = ask(base_url, "What is 15% of 80?", mode="json")
    check(result)
    events = list(result.trace)
    replies = [(event, events[at + 1]) for at, event in enumerate(events) if isinstance(event, Replied)]
    assert replies
    for reply, parsed in replies:
        assert reply.finish == "length" or json.loads(reply.text)
        assert reply.finish == "length" or (isinstance(parsed, Parsed) and parsed.report.repairs == ())


def test_in_tools_mode_a_run_is_valid_and_its_tools_are_offered(base_url: str) -> None:
    result = ask(base_url, "What is 15% of 80?", mode="tools")
    check(result)
    first = next(event for event in result.trace if isinstance(event, Asked))
    assert [segment.name for segment in first.prompt if segment.part == "definition"] == [f"tool:{t}" for t in TOOLS]
    assert first.stop == () or "Observation" in "".join(first.stop)


@pytest.mark.parametrize("mode", ["text", "grammar", "json"])
def test_the_probabilities_of_a_servers_tokens_are_those_of_its_text(base_url: str, mode: str) -> None:
    result = ask(base_url, "Say hello.", mode=mode, logprobs=2)
    check(result)
    reply = next(event for event in result.trace if isinstance(event, Replied))
    assert "".join(text for text, _, _ in reply.tokens) == reply.text
    assert all(logprob <= 0 for _, logprob, _ in reply.tokens)
    assert all(len(likely) <= 2 for _, _, likely in reply.tokens)


def test_a_later_call_of_a_run_finds_the_earlier_prompt_in_the_servers_cache(base_url: str) -> None:
    result = ask(base_url, "What is 15% of 80?", mode="grammar")
    replies = [event for event in result.trace if isinstance(event, Replied)]
    assert len(replies) > 1
    assert all(reply.usage.cached_tokens for reply in replies[1:])


def test_a_question_longer_than_the_servers_context_stops_the_run_with_the_reason(base_url: str) -> None:
    result = ask(base_url, "tide " * 6000)
    assert isinstance(result.trace[-1], Stopped)
    assert result.trace[-1].reason == "model_context"
    assert departure(AgentSpec.model_validate(result.trace.started.agent), Dialects(), result.trace) is None
