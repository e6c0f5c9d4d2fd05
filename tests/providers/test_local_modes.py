"""The same questions to the embedded model in each mode: valid runs that differ only in what the mode is."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest
from inline_snapshot import snapshot

from tests.modes import check_shape, differences
from tests.providers.test_local_model import ENGLISH
from whybox import Agent, Limits, MemoryStore, Trace
from whybox.dialects.by_mode import Dialects
from whybox.engine.replay import departure
from whybox.events import Parsed, Replied, Stamped
from whybox.ports import Mode
from whybox.providers.local import LocalModel
from whybox.spec import AgentSpec

pytestmark = pytest.mark.weights
MODES: tuple[Mode, ...] = get_args(Mode)
LIMITS = Limits(reply_tokens=60, model_seconds=300)


async def first_step(agent: Agent, question: str) -> Trace:
    """Run until the first reply was read, and return what is stored of it."""
    run = ""
    async with aclosing(agent.stream(question)) as items:
        async for item in items:
            if isinstance(item, Stamped):
                run = item.run
                if isinstance(item.event, Parsed):
                    break
    return Trace(stamped.event for stamped in await agent.store.read(run))


@pytest.fixture(scope="module")
def runs(smollm2_path: Path) -> dict[Mode, list[Trace]]:
    """Runs of 20 questions in each mode."""
    pytest.importorskip("xllamacpp")
    found: dict[Mode, list[Trace]] = {}
    with asyncio.Runner() as runner:
        model = LocalModel("local:smollm2-135m", smollm2_path, context=4096)
        for mode in MODES:
            agent = Agent(model, store=MemoryStore(), tools=("calculator", "now"), mode=mode, limits=LIMITS, logprobs=2)
            found[mode] = [runner.run(first_step(agent, question)) for question in ENGLISH]
        runner.run(model.close())
    return found


@pytest.mark.parametrize("mode", MODES)
def test_every_run_is_valid(runs: dict[Mode, list[Trace]], mode: Mode) -> None:
    assert len(runs[mode]) == 20
    for trace in runs[mode]:
        check_shape(trace, mode)
        assert departure(AgentSpec.model_validate(trace.started.agent), Dialects(), trace) is None


@pytest.mark.parametrize("mode", MODES)
def test_every_reply_has_its_tokens_and_what_it_used(runs: dict[Mode, list[Trace]], mode: Mode) -> None:
    for trace in runs[mode]:
        reply = next(event for event in trace if isinstance(event, Replied))
        assert reply.usage.prompt_tokens
        assert reply.usage.completion_tokens
        assert "".join(text for text, _, _ in reply.tokens) == reply.text
        assert reply.cost == 0


@pytest.mark.parametrize("mode", ["grammar", "json"])
def test_what_is_held_to_a_form_is_read_as_written_unless_it_was_cut(runs: dict[Mode, list[Trace]], mode: Mode) -> None:
    whole = 0
    for trace in runs[mode]:
        reply = next(event for event in trace if isinstance(event, Replied))
        parsed = next(event for event in trace if isinstance(event, Parsed))
        if reply.finish == "stop":
            whole += 1
            assert parsed.retry is None
            assert parsed.report.repairs == ()
    assert whole >= 10


def test_runs_in_two_modes_differ_only_in_what_the_mode_is(runs: dict[Mode, list[Trace]]) -> None:
    found: set[str] = set()
    for one, other in combinations(MODES, 2):
        for a, b in zip(runs[one], runs[other], strict=True):
            found |= differences(a, b)
    assert sorted(found) == snapshot(
        [
            "asked.mode",
            "asked.prefix",
            "asked.prompt",
            "asked.stop",
            "parsed.report",
            "replied.finish",
            "replied.text",
            "replied.tokens",
            "replied.usage",
            "started.agent",
        ]
    )
