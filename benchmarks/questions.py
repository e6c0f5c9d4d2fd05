"""The opening questions, asked through the command line of the embedded model, each several times.

    python benchmarks/questions.py [--times 3] [--kb FILE]

A question counts as right when the tools named were used and every expected text is in the answer. Dates are compared
with what the tools observed in the same run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Events = list[dict[str, Any]]
Check = Callable[[str, Events], bool]
ARTICLES = Path(__file__).parent.parent / "examples" / "kb"


def has(*choices: str) -> Check:
    """Each of ``choices`` must be in the answer; alternatives are separated by ``|``."""
    return lambda answer, _: all(any(text in answer for text in choice.split("|")) for choice in choices)


def observed(events: Events, tool: str) -> str:
    """What the tool said last, or nothing."""
    seen = (e for e in reversed(events) if e["type"] == "observed" and e["call"]["tool"] == tool and not e["error"])
    return next((str(event["content"]) for event in seen), "")


def weekday_and_time(answer: str, events: Events) -> bool:
    seen = observed(events, "now")
    date, clock, weekday = seen[:10], seen[11:16], seen[17:20]
    hour, minute = clock.split(":") if ":" in clock else ("", "")
    spoken = f"{int(hour)}点{int(minute)}分" if hour else ""
    return bool(date) and weekday in answer and (clock in answer or spoken in answer.replace("点0", "点"))


def a_hundred_hours_later(answer: str, events: Events) -> bool:
    seen = observed(events, "date_add")
    return bool(seen) and seen[:10] in answer and seen[11:16] in answer


QUESTIONS: list[tuple[str, set[str], Check]] = [
    ("今天星期几？现在几点了？", {"now"}, weekday_and_time),
    ("请计算一下 (15 + 7) * 3 的值是多少？", {"calculator"}, has("66")),
    ("先查一下现在的时间，然后基于这个时间，计算100小时后的日期和时间。", {"now", "date_add"}, a_hundred_hours_later),
    ("Who created the Python programming language?", {"lookup"}, has("Guido van Rossum")),
    ("先告诉我地球的周长，再计算这个数字除以1000是多少。", {"lookup", "calculator"}, has("40075|40,075", "40.075")),
    (
        "梅西在2022年卡塔尔世界杯决赛中进了几个球？这场比赛阿根廷的对手是谁？",
        {"lookup"},
        has("2个|两个|2球|两球", "法国|France"),
    ),
    (
        "A farmer has 17 boxes with 24 apples each and sells 133 apples. How many are left?",
        {"calculator"},
        has("275"),
    ),
]


def ask(question: str, kb: Path) -> tuple[Events, float]:
    began = time.monotonic()
    command = [sys.executable, "-m", "whybox", "ask", "--json", "--kb", str(kb), question]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    return [event for event in events if "seq" in event], time.monotonic() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--kb", type=Path, default=Path(tempfile.gettempdir()) / "whybox-questions.sqlite3")
    options = parser.parse_args()
    add = [sys.executable, "-m", "whybox", "kb", "add", str(ARTICLES), "--kb-file", str(options.kb)]
    subprocess.run(add, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wrong = 0
    for question, tools, check in QUESTIONS:
        for _ in range(options.times):
            events, seconds = ask(question, options.kb)
            last = events[-1] if events else {}
            answer = str(last.get("answer", ""))
            used = [event["call"]["tool"] for event in events if event["type"] == "observed"]
            right = tools <= set(used) and bool(last.get("complete")) and check(answer, events)
            wrong += not right
            print(f"{'right' if right else 'WRONG'}  {seconds:5.1f} s  {question}  {used}  {answer}", flush=True)
    total = len(QUESTIONS) * options.times
    print(f"{total - wrong} of {total} right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
