"""The same 20 questions to one model in each mode: are the runs valid, are the answers right, what do they cost?

    python benchmarks/modes.py [--model local:qwen2.5-coder-1.5b] [--mode text --mode grammar ...] [--kb FILE]

A run is valid when it re-derives from its own events and ended with an answer that no limit cut short.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import get_args

from whybox import Agent, Limits
from whybox.dialects.by_mode import Dialects
from whybox.engine.replay import departure
from whybox.ports import Mode
from whybox.spec import AgentSpec
from whybox.store.sql import SqlStore
from whybox.tools.kb import KnowledgeBase
from whybox.views.anatomy import cached_share, model_calls

ARTICLES = Path(__file__).parent.parent / "examples" / "kb"

QUESTIONS: list[tuple[str, tuple[str, ...]]] = [
    ("What is 12 * 34?", ("408",)),
    ("What is 15% of 80?", ("12",)),
    ("A farmer has 17 boxes with 24 apples each and sells 133 apples. How many are left?", ("275",)),
    ("What is the square root of 144?", ("12",)),
    ("What is 7 factorial?", ("5040|5,040",)),
    ("What is 2^20?", ("1048576|1,048,576",)),
    ("What is 1/8 as a decimal?", ("0.125",)),
    ("How many seconds are in 3 hours?", ("10800|10,800",)),
    ("How many days are there from 2026-03-01 to 2026-12-25?", ("299",)),
    ("What day of the week is 2027-01-01?", ("Friday|Fri",)),
    ("What date is 45 days after 2026-11-30?", ("2027-01-14|January 14",)),
    ("Who created the Python programming language?", ("Guido van Rossum",)),
    ("How high is Mount Everest?", ("8,848|8848|8,849|8849",)),
    ("When was Ada Lovelace born?", ("1815",)),
    ("How far is it around the Earth, and what is that number divided by 1000?", ("40,075|40075", "40.075")),
    ("请计算一下 (15 + 7) * 3 的值是多少？", ("66",)),
    ("一共有 17 箱苹果，每箱 24 个，一共多少个？", ("408",)),
    ("2026年12月25日是星期几？", ("星期五|周五|Friday",)),
    ("长江有多长？", ("6,300|6300|6,380|6380|6,397|6397",)),
    ("先告诉我地球的周长，再计算这个数字除以1000是多少。", ("40075|40,075", "40.075")),
]


def right(answer: str, expected: tuple[str, ...]) -> bool:
    """Whether each text, or one of its alternatives, is in the answer."""
    return all(any(text in answer for text in choice.split("|")) for choice in expected)


async def measure(model: str, modes: list[Mode], kb: Path, data: Path) -> int:
    invalid = 0
    print(f"{'mode':8}  valid  right  replies  prompt tokens  from cache  reply tokens  minutes")
    for mode in modes:
        agent = Agent(model, mode=mode, knowledge_base=kb, store=SqlStore(data), limits=Limits(model_seconds=300))
        valid = correct = replies = prompt = completion = 0
        shares: list[float] = []
        began = time.monotonic()
        for question, expected in QUESTIONS:
            result = await agent.run(question)
            spec = AgentSpec.model_validate(result.trace.started.agent)
            gone = departure(spec, Dialects(), result.trace)
            sound = gone is None and result.complete
            valid += sound
            correct += right(result.answer or "", expected)
            replies += len(result.steps)
            prompt += result.usage.prompt_tokens or 0
            completion += result.usage.completion_tokens or 0
            share = cached_share(model_calls(result.events))
            shares += [] if share is None else [share]
            if not sound or not right(result.answer or "", expected):
                said = " ".join((result.answer or "-").split())[:100]
                print(
                    f"  {mode}: {question} -> {said} ({gone or result.reason or 'wrong'}; {result.run_id})", flush=True
                )
        minutes = (time.monotonic() - began) / 60
        cached = sum(shares) / len(shares) if shares else 0
        counts = f"{valid:5}  {correct:5}  {replies:7}  {prompt:13}"
        print(f"{mode:8}  {counts}  {cached:10.1%}  {completion:12}  {minutes:7.1f}", flush=True)
        invalid += len(QUESTIONS) - valid
        await agent.close()
    return 1 if invalid else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="local:qwen2.5-coder-1.5b")
    parser.add_argument("--mode", action="append", choices=get_args(Mode))
    parser.add_argument("--kb", type=Path, default=Path(tempfile.gettempdir()) / "whybox-modes.sqlite3")
    parser.add_argument("--data", type=Path, default=Path(tempfile.gettempdir()) / "whybox-modes-runs.sqlite3")
    options = parser.parse_args()
    kb = KnowledgeBase(options.kb, options.kb.parent)
    kb.add([ARTICLES])
    kb.close()
    return asyncio.run(measure(options.model, options.mode or list(get_args(Mode)), options.kb, options.data))


if __name__ == "__main__":
    raise SystemExit(main())
