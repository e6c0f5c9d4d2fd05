"""Limits on the time of a tool."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import anyio
import pytest

from whybox.ports import Output, ToolSpec
from whybox.tools.base import tool
from whybox.tools.runner import guard


def test_a_tool_within_its_time_is_as_without_a_guard() -> None:
    @tool
    def double(x: int) -> int:
        """Double."""
        return 2 * x

    guarded = guard(double, 30)
    assert guarded.spec == double.spec
    assert anyio.run(guarded.call, {"x": "4"}) == Output(text="8")
    assert anyio.run(guarded.call, {}).error == "bad_arguments"


@pytest.mark.parametrize(
    ("language", "words"), [("en", ["unknown", "may still be running"]), ("zh", ["结果未知", "可能仍在运行"])]
)
def test_a_thread_that_takes_too_long_is_left_behind_with_an_unknown_outcome(language: str, words: list[str]) -> None:
    release = threading.Event()
    finished: list[int] = []

    @tool
    def slow() -> str:
        """Wait for the test."""
        release.wait(60)
        finished.append(1)
        return "late"

    try:
        output = anyio.run(guard(slow, 0.05, language).call, {})
        assert output.error == "timeout"
        assert finished == []
        assert all(word in output.text for word in words)
        assert "0.05" in output.text
    finally:
        release.set()


def test_more_abandoned_threads_than_a_pool_holds_do_not_stop_the_next_call() -> None:
    release = threading.Event()

    @tool
    def slow() -> None:
        """Wait for the test."""
        release.wait(60)

    @tool
    def quick() -> str:
        """Return at once."""
        return "done"

    async def many() -> Output:
        async with anyio.create_task_group() as group:
            for _ in range(60):
                group.start_soon(guard(slow, 0.01).call, {})
        return await guard(quick, 30).call({})

    try:
        assert anyio.run(many) == Output(text="done")
    finally:
        release.set()


def test_an_async_tool_that_takes_too_long_is_cancelled() -> None:
    ended: list[str] = []

    @tool
    async def slow() -> None:
        """Wait for ever."""
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")

    assert anyio.run(guard(slow, 0.01).call, {}).error == "timeout"
    assert ended == ["cancelled"]


def test_a_timeout_inside_a_tool_is_its_failure_and_not_the_guards() -> None:
    @tool
    async def gives_up() -> None:
        """Give up by itself."""
        with anyio.fail_after(0):
            await anyio.sleep_forever()

    assert anyio.run(guard(gives_up, 30).call, {}) == Output(text="Error: TimeoutError", error="failed")


class Faithless:
    spec = ToolSpec(name="faithless", description={"en": "Raises."}, parameters={"type": "object"})

    async def call(self, arguments: dict[str, Any]) -> Output:
        raise RuntimeError("against the promise")


def test_a_foreign_tool_that_raises_is_a_failure_too() -> None:
    output = anyio.run(guard(Faithless(), 30).call, {})
    assert output == Output(text="Error: RuntimeError: against the promise", error="failed")


def test_cancelling_the_run_goes_through_the_guard() -> None:
    @tool
    async def slow() -> None:
        """Wait for ever."""
        await anyio.sleep_forever()

    async def cancelled() -> bool:
        with anyio.move_on_after(0.01) as scope:
            await guard(slow, 30).call({})
        return scope.cancelled_caught

    assert anyio.run(cancelled)


LEFTOVER = """
import anyio, time
from whybox.tools.base import tool
from whybox.tools.runner import guard

@tool
def stuck() -> None:
    '''Never return.'''
    while True:
        time.sleep(3600)

print(anyio.run(guard(stuck, 0.05).call, {}).error, flush=True)
"""


def test_a_leftover_thread_does_not_keep_the_process_from_ending() -> None:
    done = subprocess.run([sys.executable, "-c", LEFTOVER], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "timeout\n"
    assert done.stderr == ""
    assert done.returncode == 0
