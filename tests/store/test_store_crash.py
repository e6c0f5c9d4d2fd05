"""Processes that die, and processes that work side by side."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from whybox.store.sql import SqlStore

pytestmark = pytest.mark.anyio

_WRITER = """
import sys
import anyio
from whybox.events import Asked, Replied, Segment
from whybox.store.sql import SqlStore

def event(seq):
    prompt = tuple(Segment(name=f"s{n}", role="user", text=f"segment {n}" * 50) for n in range(seq))
    if seq % 2:
        return Asked(step=seq, model="m", mode="text", prompt=prompt, max_tokens=1)
    return Replied(step=seq, text=f"{seq}" * 3000)

async def main(path, run, most):
    async with SqlStore(path) as store:
        after = len(await store.read(run))
        while after < most:
            (stamped,) = await store.append(run, after, [event(after + 1)])
            after = stamped.seq
            print(after, flush=True)

anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]))
"""


def start(path: Path, run: str, most: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, str(path), run, str(most)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def test_whatever_was_said_to_be_stored_survives_kill_9_and_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    moments, said = random.Random(7), 0
    for _ in range(4):
        with start(path, "r", 100_000) as writer:
            assert writer.stdout is not None
            for _ in range(moments.randrange(1, 30)):
                said = int(writer.stdout.readline())
            writer.kill()
            said = max([said, *map(int, writer.stdout.read().split())])
        async with SqlStore(path) as store:
            stored = await store.read("r")
            # One more may have been stored in the moment before it could be said.
            assert [s.seq for s in stored] in (list(range(1, said + 1)), list(range(1, said + 2)))
            assert [len(s.event.prompt) for s in stored[::2]] == [s.seq for s in stored[::2]]
            assert all(s.event.text == f"{s.seq}" * 3000 for s in stored[1::2])
            assert await store.verify("r") == []


async def test_processes_write_their_runs_side_by_side_while_another_reads(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    writers = [start(path, f"r{number}", 40) for number in range(3)]
    async with SqlStore(path) as store:
        while any(writer.poll() is None for writer in writers):
            seen = [s.seq for s in await store.read("r0")]
            assert seen == list(range(1, len(seen) + 1))
        for number, writer in enumerate(writers):
            with writer:
                assert writer.stdout is not None
                assert writer.stdout.read().split()[-1] == "40"
            assert writer.returncode == 0
            assert len(await store.read(f"r{number}")) == 40
            assert await store.verify(f"r{number}") == []
