"""Worked examples, shown to the model as earlier turns. One is used only when every tool in it is on offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.ports import ToolSpec


@dataclass(frozen=True, slots=True)
class Example:
    """A complete run.

    Args:
        tools: the names of the tools in it.
        unless: it is left out when one of these is on offer too, since another example shows both.
        question: what was asked.
        turns: replies and observations in turn, beginning and ending with a reply, with their labels.
    """

    tools: frozenset[str]
    question: str
    turns: tuple[str, ...]
    unless: frozenset[str] = frozenset()


_EN = (
    Example(
        frozenset({"now", "date_add"}),
        "What time will it be in 45 hours?",
        (
            "Thought: I need to know the current date and time.\nAction: now[]",
            "Observation: 2024-03-05 16:20 Tuesday (UTC, UTC+00:00)",
            "Thought: It is 2024-03-05 16:20. Now I add 45 hours.\nAction: date_add[2024-03-05 16:20, 45, hours]",
            "Observation: 2024-03-07 13:20 Thursday",
            "Thought: In 45 hours it is 2024-03-07 13:20.\nFinal Answer: It will be 13:20 on Thursday, 2024-03-07.",
        ),
    ),
    Example(
        frozenset({"calculator"}),
        "A baker makes 14 trays of 25 rolls each, throws 8 rolls away and sells the rest in bags of 9. "
        "How many bags are there?",
        (
            "Thought: Trays: 14\nRolls on a tray: 25\nThrown away: 8\nRolls in a bag: 9\n"
            "Rolls to sell = 14 * 25 - 8\nBags = (14 * 25 - 8) / 9\nAction: calculator[(14 * 25 - 8) / 9]",
            "Observation: 38",
            "Thought: There are 38 bags.\nFinal Answer: There are 38 bags.",
        ),
    ),
    Example(
        frozenset({"lookup"}),
        "Who painted The Night Watch, and where was the painter born?",
        (
            "Thought: I need to know who painted The Night Watch.\nAction: lookup[painter of The Night Watch]",
            "Observation: [1] The Night Watch: The painting was made by Rembrandt in 1642.",
            "Thought: The painter is Rembrandt. I need to know where Rembrandt was born.\nAction: lookup[Rembrandt born]",
            "Observation: [1] Rembrandt: Rembrandt was born in Leiden in 1606.",
            "Thought: Rembrandt painted The Night Watch. Rembrandt was born in Leiden.\n"
            "Final Answer: Rembrandt painted The Night Watch, and he was born in Leiden.",
        ),
        unless=frozenset({"calculator"}),
    ),
    Example(
        frozenset({"lookup", "calculator"}),
        "Who painted The Night Watch, and how old did the painter become?",
        (
            "Thought: I need to know who painted The Night Watch.\nAction: lookup[painter of The Night Watch]",
            "Observation: [1] The Night Watch: The painting was made by Rembrandt in 1642.",
            "Thought: The painter is Rembrandt. I need to know when Rembrandt lived.\n"
            "Action: lookup[Rembrandt born died]",
            "Observation: [1] Rembrandt: Rembrandt was born in Leiden in 1606 and died in Amsterdam in 1669.",
            "Thought: Rembrandt was born in 1606 and died in 1669.\nAge = 1669 - 1606\nAction: calculator[1669 - 1606]",
            "Observation: 63",
            "Thought: Rembrandt painted The Night Watch. He became 63 years old.\n"
            "Final Answer: Rembrandt painted The Night Watch, and he became 63 years old.",
        ),
    ),
)

_ZH = (
    Example(
        frozenset({"now", "date_add"}),
        "45小时后是什么时候？",
        (
            "思考：先查现在的日期和时间。\n行动：now[]",
            "观察：2024-03-05 16:20 星期二（UTC，UTC+00:00）",
            "思考：现在是2024-03-05 16:20，再加上45小时。\n行动：date_add[2024-03-05 16:20, 45, 小时]",
            "观察：2024-03-07 13:20 星期四",
            "思考：45小时后是2024-03-07 13:20。\n最终答案：45小时后是2024-03-07 13:20，星期四。",
        ),
    ),
    Example(
        frozenset({"calculator"}),
        "面包师做了14盘面包，每盘25个，扔掉8个，剩下的每9个装一袋。一共有多少袋？",
        (
            "思考：盘数：14\n每盘：25个\n扔掉：8个\n每袋：9个\n剩下的面包 = 14 * 25 - 8\n袋数 = (14 * 25 - 8) / 9\n"
            "行动：calculator[(14 * 25 - 8) / 9]",
            "观察：38",
            "思考：一共有38袋。\n最终答案：一共有38袋。",
        ),
    ),
    Example(
        frozenset({"lookup"}),
        "《夜巡》的作者是谁？他出生在哪里？",
        (
            "思考：先查《夜巡》的作者是谁。\n行动：lookup[《夜巡》的作者]",
            "观察：[1] 夜巡：这幅画由伦勃朗于1642年完成。",
            "思考：《夜巡》的作者是伦勃朗。再查伦勃朗出生在哪里。\n行动：lookup[伦勃朗 出生]",
            "观察：[1] 伦勃朗：伦勃朗1606年出生于莱顿。",
            "思考：《夜巡》的作者是伦勃朗。伦勃朗出生于莱顿。\n最终答案：《夜巡》的作者是伦勃朗，他出生在莱顿。",
        ),
        unless=frozenset({"calculator"}),
    ),
    Example(
        frozenset({"lookup", "calculator"}),
        "《夜巡》的作者是谁？他活了多少岁？",
        (
            "思考：先查《夜巡》的作者是谁。\n行动：lookup[《夜巡》的作者]",
            "观察：[1] 夜巡：这幅画由伦勃朗于1642年完成。",
            "思考：《夜巡》的作者是伦勃朗。再查伦勃朗的生卒年。\n行动：lookup[伦勃朗 出生 去世]",
            "观察：[1] 伦勃朗：伦勃朗1606年出生于莱顿，1669年在阿姆斯特丹去世。",
            "思考：伦勃朗1606年出生，1669年去世。\n年龄 = 1669 - 1606\n行动：calculator[1669 - 1606]",
            "观察：63",
            "思考：《夜巡》的作者是伦勃朗，他活了63岁。\n最终答案：《夜巡》的作者是伦勃朗，他活了63岁。",
        ),
    ),
)


def examples(tools: Sequence[ToolSpec], language: str) -> tuple[Example, ...]:
    """Return the examples that use only tools on offer."""
    names = {tool.name for tool in tools}
    return tuple(example for example in (_ZH if language == "zh" else _EN) if _fits(example, names))


def _fits(example: Example, names: set[str]) -> bool:
    return example.tools <= names and not example.unless & names
