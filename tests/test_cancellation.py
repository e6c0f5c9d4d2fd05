"""A run interrupted while a server replies: the connection closes at once, nothing is left, the run goes on."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from tests.cli.commands import PATIENCE, Shell
from tests.misbehaving_server import MisbehavingServer, serving
from whybox import Agent, Trace
from whybox.dialects.by_mode import Dialects
from whybox.engine.drive import Live
from whybox.engine.replay import departure
from whybox.events import Delta, Stamped, Stopped
from whybox.spec import AgentSpec
from whybox.store.sql import SqlStore

STALLS = "silent-in-an-answer"
WHOLE = "plain"
NOTICED_WITHIN = 0.1
"""Seconds in which the server has to see that the connection is closed; the best of a few tries counts."""

Items = AsyncGenerator[Stamped | Live, None]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="module")
def server() -> Iterator[MisbehavingServer]:
    with serving() as running:
        yield running


def agent_at(server: MisbehavingServer, oddity: str, store: SqlStore) -> Agent:
    return Agent("m", base_url=server.url(oddity), store=store, tools=())


async def until_text(items: Items, reached: asyncio.Event | None = None) -> None:
    """Read until a part of the reply has come; go on reading if somebody is to be told of it."""
    async with aclosing(items):
        async for item in items:
            if isinstance(item, Delta) and item.text.strip():
                if reached is None:
                    return
                reached.set()


async def by_task(items: Items) -> float:
    """Cancel the task that reads, as asyncio does."""
    reached = asyncio.Event()
    task = asyncio.create_task(until_text(items, reached))
    await reached.wait()
    at = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return at


async def by_scope(items: Items) -> float:
    """Cancel the scope around it, as anyio does."""
    reached = asyncio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(until_text, items, reached)
        await reached.wait()
        at = time.monotonic()
        group.cancel_scope.cancel()
    return at


async def by_leaving(items: Items) -> float:
    """Stop reading and close the generator."""
    await until_text(items)
    return time.monotonic()


def hung_up_after(server: MisbehavingServer, at: float) -> float:
    """Return how long after ``at`` the server saw that the connection was closed, in seconds."""
    assert server.exchanges[-1].hung_up.wait(PATIENCE)
    return time.monotonic() - at


@pytest.mark.parametrize("how", [by_task, by_scope, by_leaving])
def test_the_server_sees_it_at_once_and_nothing_is_left(
    server: MisbehavingServer, tmp_path: Path, how: Callable[[Items], Awaitable[float]]
) -> None:
    async def interrupted() -> tuple[str, float]:
        store = SqlStore(tmp_path / "runs.sqlite3")
        agent = agent_at(server, STALLS, store)
        before = asyncio.all_tasks()
        at = await how(agent.stream("What is 6 times 7?"))
        late = await anyio.to_thread.run_sync(hung_up_after, server, at)
        assert asyncio.all_tasks() <= before
        await agent.close()
        run = (await store.list_runs(1))[0].id
        await store.close()
        return run, late

    async def gone_on(run: str) -> tuple[Trace, str | None]:
        store = SqlStore(tmp_path / "runs.sqlite3")
        stopped = Trace(stamped.event for stamped in await store.read(run))
        agent = agent_at(server, WHOLE, store)
        result = await agent.resume(run)
        await agent.close()
        await store.close()
        return stopped, result.answer

    threads = set(threading.enumerate())
    run, late = min((asyncio.run(interrupted()) for _ in range(5)), key=lambda each: each[1])
    assert late < NOTICED_WITHIN
    stopped, answer = asyncio.run(gone_on(run))
    assert isinstance(stopped[-1], Stopped)
    assert departure(AgentSpec.model_validate(stopped.started.agent), Dialects(), stopped) is None
    assert answer
    gc.collect()
    assert {t for t in threading.enumerate() if t.name.startswith(("AnyIO", "asyncio", "whybox"))} <= threads


def test_ctrl_c_closes_the_connection_and_the_run_can_be_resumed(server: MisbehavingServer, shell: Shell) -> None:
    with shell.start("ask", "--json", "-m", "m", "--base-url", server.url(STALLS), "6 times 7?") as running:
        assert running.stdout
        for line in running.stdout:
            if json.loads(line)["type"] == "delta":
                break
        running.send_signal(signal.SIGINT)
        assert server.exchanges[-1].hung_up.wait(PATIENCE)
        rest, errors = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert errors == ""
    last = json.loads(rest.splitlines()[-1])
    assert (last["type"], last["reason"]) == ("stopped", "interrupted")
    again = shell("runs", "resume", last["run"], "--base-url", server.url(WHOLE))
    assert again.code == 0
    assert "42" in again.out
