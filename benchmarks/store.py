"""How long the store takes, and how much room: ``python benchmarks/store.py``."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from whybox.events import Answered, Asked, Call, Called, Event, Observed, Parsed, Replied, Report, Segment, Started
from whybox.ports import Store
from whybox.store import MemoryStore, new_run_id
from whybox.store.sql import SqlStore

STEPS = 1000
RUNS = 10_000
REPORT = Report(dialect="action_input", spans=(("thought", 9, 120),))
INSTRUCTIONS = tuple(
    Segment(name=f"tool:{number}", role="system", text=f"{number} computes an expression exactly. " * 8, tokens=60)
    for number in range(20)
)


def steps(count: int) -> list[list[Event]]:
    """Return the events of ``count`` steps: each prompt holds all that was said before."""
    prompt, runs = INSTRUCTIONS, []
    for step in range(1, count + 1):
        call = Call(tool="calculator", arguments={"expression": f"{step} * 17"}, text=f"{step} * 17")
        reply = f"Thought: the next product is needed for step {step}.\nAction: calculator\nAction Input: {step} * 17"
        result = f"{step} * 17 = {step * 17}"
        events: list[Event] = [
            Asked(step=step, model="local:qwen2.5-coder-1.5b", mode="grammar", prompt=prompt, max_tokens=512),
            Replied(step=step, text=reply),
            Parsed(step=step, thought="the next product is needed", calls=(call,), report=REPORT),
            Called(step=step, call=call),
            Observed(step=step, call=call, content=result),
        ]
        runs.append(events)
        prompt += (
            Segment(name=f"step:{step}.reply", role="assistant", text=reply, tokens=40),
            Segment(name=f"step:{step}.observation", role="user", text=result, tokens=12),
        )
    return runs


async def seconds(work: Callable[[], Awaitable[object]], times: int = 3) -> float:
    """Return the shortest of ``times`` runs of ``work``, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - start)
    return min(taken)


async def append_each(store: Store, run: str, events: Sequence[Event]) -> list[float]:
    """Append the events one by one and return the time of each, in milliseconds."""
    taken = []
    for after, event in enumerate(events):
        start = time.perf_counter()
        await store.append(run, after, [event])
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def plain_size(events: Sequence[Event]) -> int:
    """Return the bytes of the events as JSON Lines, every prompt written out."""
    return sum(len(event.model_dump_json()) + 1 for event in events)


async def measure(folder: Path, table: Table) -> None:
    planned = steps(STEPS)
    flat = [event for step in planned for event in step]
    small = flat[:1000]

    def row(what: str, taken: list[float]) -> None:
        table.add_row(what, f"{statistics.median(taken):.3f} ms", f"{sorted(taken)[int(len(taken) * 0.99)]:.3f} ms")

    row("append one event, memory", await append_each(MemoryStore(), "r", small))
    for durability in ("normal", "full"):
        (folder / durability).mkdir()
        async with SqlStore(folder / durability / "runs.db", durability=durability) as store:
            row(f"append one event, SQLite {durability}", await append_each(store, "r", small))
    (folder / "long").mkdir()
    async with SqlStore(folder / "long" / "runs.db") as store:
        taken = await append_each(store, "r", flat)
        row("append one prompt of 2,000 segments", taken[-500::5])
        row("append what follows it", [each for at, each in enumerate(taken[-500:]) if at % 5])
    stored, plain = size(folder / "long"), plain_size(flat)
    del planned, flat, small  # or the garbage collector walks through them while the run is read
    async with SqlStore(folder / "long" / "runs.db") as store:
        await store.list_runs()
        read = await seconds(lambda: store.read("r")) * 1000
        table.add_row(f"read a run of {STEPS:,} steps, {STEPS * 5:,} events", f"{read:.0f} ms", "")
        verify = await seconds(lambda: store.verify("r"), 1) * 1000
        table.add_row("verify it", f"{verify:.0f} ms", "")
    table.add_row("on disk per step", f"{stored / STEPS / 1000:.1f} kB", "")
    table.add_row("... with every prompt written out", f"{plain / STEPS / 1000:.1f} kB", f"{plain / stored:.0f} times")
    (folder / "many").mkdir()
    await many_runs(folder / "many", table)


async def many_runs(folder: Path, table: Table) -> None:
    events = [Started(question="How far is it around the Earth?", language="en"), Answered(answer="40,075 km")]
    async with SqlStore(folder / "runs.db") as store:
        for _ in range(RUNS):
            await store.append(last := new_run_id(), 0, events)
        listed = await seconds(lambda: store.list_runs(20)) * 1000
        table.add_row(f"list the newest 20 of {RUNS:,} runs", f"{listed:.2f} ms", "")
        found = await seconds(lambda: store.find(last[:-2])) * 1000
        table.add_row("find one by the beginning of its id", f"{found:.2f} ms", "")


def main() -> None:
    table = Table("what", "median or best", "99th percentile, or ratio")
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(measure, Path(folder), table)
    Console().print(table)


if __name__ == "__main__":
    main()
