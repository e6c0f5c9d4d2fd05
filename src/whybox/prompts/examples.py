"""Worked examples. An example is used only when every tool in it is on offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.ports import ToolSpec


@dataclass(frozen=True, slots=True)
class Example:
    """A complete run as text, with the names of the tools in it."""

    tools: frozenset[str]
    text: str


_EN = (
    Example(
        frozenset({"calculator"}),
        """Question: A baker makes 14 trays of 25 rolls each and sells them in bags of 7. How many bags are there?
Thought: Trays: 14
Rolls on each tray: 25
Rolls in all: 14 * 25
Bags: (14 * 25) / 7
Action: calculator[(14 * 25) / 7]
Observation: 50
Thought: There are 50 bags.
Final Answer: 50 bags""",
    ),
    Example(
        frozenset({"lookup"}),
        """Question: Where was the painter of The Night Watch born?
Thought: First I look up who painted The Night Watch.
Action: lookup[painter of The Night Watch]
Observation: [1] The Night Watch: The painting was made by Rembrandt in 1642.
Thought: The painter is Rembrandt. Now I look up where Rembrandt was born.
Action: lookup[Rembrandt born]
Observation: [1] Rembrandt: Rembrandt was born in Leiden in 1606.
Thought: Rembrandt was born in Leiden.
Final Answer: Leiden""",
    ),
    Example(
        frozenset({"now", "date_add"}),
        """Question: Which day of the week is it 45 days from now?
Thought: I need the current date first.
Action: now[]
Observation: 2024-03-05 16:20 Tuesday (UTC)
Thought: Now I add 45 days to it.
Action: date_add[2024-03-05 16:20, 45, days]
Observation: 2024-04-19 16:20 Friday (UTC)
Thought: In 45 days it is a Friday.
Final Answer: Friday (2024-04-19)""",
    ),
)

_ZH = (
    Example(
        frozenset({"calculator"}),
        """问题：面包师做了14盘面包，每盘25个，每7个装一袋。一共装了多少袋？
思考：盘数：14
每盘面包：25个
面包总数：14 * 25
袋数：(14 * 25) / 7
行动：calculator[(14 * 25) / 7]
观察：50
思考：一共装了50袋。
最终答案：50袋""",
    ),
    Example(
        frozenset({"lookup"}),
        """问题：《夜巡》的作者出生在哪里？
思考：先查《夜巡》的作者是谁。
行动：lookup[《夜巡》的作者]
观察：[1] 夜巡：这幅画由伦勃朗于1642年完成。
思考：作者是伦勃朗，再查伦勃朗出生在哪里。
行动：lookup[伦勃朗 出生]
观察：[1] 伦勃朗：伦勃朗1606年出生于莱顿。
思考：伦勃朗出生于莱顿。
最终答案：莱顿""",
    ),
    Example(
        frozenset({"now", "date_add"}),
        """问题：从现在起45天后是星期几？
思考：先查现在的日期。
行动：now[]
观察：2024-03-05 16:20 星期二（UTC）
思考：再加上45天。
行动：date_add[2024-03-05 16:20, 45, 天]
观察：2024-04-19 16:20 星期五（UTC）
思考：45天后是星期五。
最终答案：星期五（2024-04-19）""",
    ),
)


def examples(tools: Sequence[ToolSpec], language: str, limit: int = 3) -> tuple[str, ...]:
    """Return at most ``limit`` examples that use only tools on offer."""
    names = {tool.name for tool in tools}
    fitting = [example.text for example in (_ZH if language == "zh" else _EN) if example.tools <= names]
    return tuple(fitting[:limit])
