"""Blocking functions in threads that nobody has to wait for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread
from typing import Generic, TypeVar

import anyio
from anyio import RunFinishedError, from_thread
from anyio.lowlevel import current_token

T = TypeVar("T")


class _Outcome(Generic[T]):
    """What came of a function: its value, or the exception it raised."""

    value: T
    error: BaseException | None = None

    def fill(self, function: Callable[[], T]) -> None:
        try:
            self.value = function()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is awaited
            self.error = error

    def unwrap(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value


async def in_thread(function: Callable[[], T]) -> T:
    """Run a blocking function in a daemon thread of its own and return its result.

    When the waiting task is cancelled it goes on at once and the thread is left to itself: its result is dropped,
    and it keeps the process from neither ending nor starting further threads. (The threads of ``anyio.to_thread``
    are no daemons: one that never returns would hold up the end of the process, and forty would stop all others.)

    Raises:
        BaseException: whatever ``function`` raised; a StopIteration arrives as the cause of a RuntimeError.
    """
    done = anyio.Event()
    token = current_token()
    outcome = _Outcome[T]()

    def work() -> None:
        outcome.fill(function)
        with suppress(RunFinishedError):
            from_thread.run_sync(done.set, token=token)

    Thread(target=copy_context().run, args=(work,), name="whybox tool", daemon=True).start()
    await done.wait()
    return outcome.unwrap()
