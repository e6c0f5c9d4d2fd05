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
        question: what was asked.
        turns: replies and observations in turn, beginning and ending with a reply, with their labels.
    """

    tools: frozenset[str]
    question: str
    turns: tuple[str, ...]


_EN = (
    Example(
        frozenset({"date_add"}),
        "A ticket of 2023-05-04 is valid for 2 months and 10 days. Until which date?",
        (
            "Thought: The start is 2023-05-04. First I add 2 months.\nAction: date_add[2023-05-04, 2, months]",
            "Observation: 2023-07-04 Tuesday",
            "Thought: Then I add 10 days to 2023-07-04.\nAction: date_add[2023-07-04, 10, days]",
            "Observation: 2023-07-14 Friday",
            "Thought: The ticket is valid until 2023-07-14.\nFinal Answer: It is valid until Friday, 2023-07-14.",
        ),
    ),
    Example(
        frozenset({"calculator"}),
        "A baker makes 14 trays of 25 rolls each, throws 8 rolls away and sells the rest in bags of 9. "
        "How many bags are there?",
        (
            "Thought: Trays: 14\nRolls on a tray: 25\nThrown away: 8\nRolls in a bag: 9\n"
            "Rolls to sell = 14 * 25 - 8\nBags = (14 * 25 - 8) / 9\nAction: calculator[(14 * 25 - 8) / 9]",
            "Observation: (14 * 25 - 8) / 9 = 38",
            "Thought: There are 38 bags.\nFinal Answer: There are 38 bags.",
        ),
    ),
    Example(
        frozenset({"lookup"}),
        "Who painted The Night Watch, and where was the painter born?",
        (
            "Thought: I need to know who painted The Night Watch.\nAction: lookup[painter of The Night Watch]",
            "Observation: [1] The Night Watch: The painting was made by Rembrandt in 1642.",
            "Thought: The painter is Rembrandt. I need to know where Rembrandt was born.\n"
            "Action: lookup[Rembrandt born]",
            "Observation: [1] Rembrandt: Rembrandt was born in Leiden in 1606.",
            "Thought: The painter is Rembrandt, and he was born in Leiden.\n"
            "Final Answer: Rembrandt painted The Night Watch, and he was born in Leiden.",
        ),
    ),
    Example(
        frozenset({"lookup", "calculator"}),
        "In which year was the painting Guernica made, and how many years before 2000 was that?",
        (
            "Thought: I need to know when Guernica was made.\nAction: lookup[Guernica painting year]",
            "Observation: [1] Guernica: Pablo Picasso made the painting Guernica in Paris in 1937.",
            "Thought: Guernica was made in 1937. I need to know how many years that was before 2000.\n"
            "Action: calculator[2000 - 1937]",
            "Observation: 2000 - 1937 = 63",
            "Thought: Guernica was made in 1937, and that was 63 years before 2000.\n"
            "Final Answer: Guernica was made in 1937, and that was 63 years before 2000.",
        ),
    ),
)

_ZH = (
    Example(
        frozenset({"date_add"}),
        "一张2023-05-04的票有效期是2个月又10天。到哪一天为止？",
        (
            "思考：开始日期是2023-05-04。先加上2个月。\n行动：date_add[2023-05-04, 2, 个月]",
            "观察：2023-07-04 星期二",
            "思考：再给2023-07-04加上10天。\n行动：date_add[2023-07-04, 10, 天]",
            "观察：2023-07-14 星期五",
            "思考：这张票到2023-07-14为止。\n最终答案：到2023-07-14为止，星期五。",
        ),
    ),
    Example(
        frozenset({"calculator"}),
        "面包师做了14盘面包，每盘25个，扔掉8个，剩下的每9个装一袋。一共有多少袋？",
        (
            "思考：盘数：14\n每盘：25个\n扔掉：8个\n每袋：9个\n剩下的面包 = 14 * 25 - 8\n袋数 = (14 * 25 - 8) / 9\n"
            "行动：calculator[(14 * 25 - 8) / 9]",
            "观察：(14 * 25 - 8) / 9 = 38",
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
            "思考：作者是伦勃朗，他出生在莱顿。\n最终答案：《夜巡》的作者是伦勃朗，他出生在莱顿。",
        ),
    ),
    Example(
        frozenset({"lookup", "calculator"}),
        "《格尔尼卡》是哪一年画的？比2000年早多少年？",
        (
            "思考：先查《格尔尼卡》是哪一年画的。\n行动：lookup[《格尔尼卡》 创作年份]",
            "观察：[1] 格尔尼卡：毕加索1937年在巴黎创作了《格尔尼卡》。",
            "思考：《格尔尼卡》是1937年画的。再计算比2000年早多少年。\n行动：calculator[2000 - 1937]",
            "观察：2000 - 1937 = 63",
            "思考：《格尔尼卡》是1937年画的，比2000年早63年。\n最终答案：《格尔尼卡》是1937年画的，比2000年早63年。",
        ),
    ),
)


def examples(tools: Sequence[ToolSpec], language: str) -> tuple[Example, ...]:
    """Return the examples that use only tools on offer."""
    names = {tool.name for tool in tools}
    return tuple(example for example in (_ZH if language == "zh" else _EN) if example.tools <= names)
