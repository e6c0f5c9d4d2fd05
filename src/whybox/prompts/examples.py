"""Worked examples, shown to the model as earlier turns. One is used only when every tool in it is on offer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.ports import ToolSpec


@dataclass(frozen=True, slots=True)
class Worked:
    """One step of an example."""

    thought: str
    tool: str
    input: str
    observation: str


@dataclass(frozen=True, slots=True)
class Example:
    """A complete run.

    Args:
        question: what was asked.
        steps: how it was found out.
        thought: the last thought.
        answer: the answer.
    """

    question: str
    steps: tuple[Worked, ...]
    thought: str
    answer: str

    @property
    def tools(self) -> frozenset[str]:
        """The names of the tools in it."""
        return frozenset(step.tool for step in self.steps)


_EN = (
    Example(
        "A ticket of 2023-05-04 is valid for 2 months and 10 days. Until which date?",
        (
            Worked(
                "The start is 2023-05-04. First I add 2 months.",
                "date_add",
                "2023-05-04, 2, months",
                "2023-07-04 Tuesday",
            ),
            Worked("Then I add 10 days to 2023-07-04.", "date_add", "2023-07-04, 10, days", "2023-07-14 Friday"),
        ),
        "The ticket is valid until 2023-07-14.",
        "It is valid until Friday, 2023-07-14.",
    ),
    Example(
        "A baker makes 14 trays of 25 rolls each, throws 8 rolls away and sells the rest in bags of 9. "
        "How many bags are there?",
        (
            Worked(
                "Trays: 14\nRolls on a tray: 25\nThrown away: 8\nRolls in a bag: 9\n"
                "Rolls to sell = 14 * 25 - 8\nBags = (14 * 25 - 8) / 9",
                "calculator",
                "(14 * 25 - 8) / 9",
                "(14 * 25 - 8) / 9 = 38",
            ),
        ),
        "There are 38 bags.",
        "There are 38 bags.",
    ),
    Example(
        "Who painted The Night Watch, and where was the painter born?",
        (
            Worked(
                "I need to know who painted The Night Watch.",
                "lookup",
                "painter of The Night Watch",
                "[1] The Night Watch: The painting was made by Rembrandt in 1642.",
            ),
            Worked(
                "The painter is Rembrandt. I need to know where Rembrandt was born.",
                "lookup",
                "Rembrandt born",
                "[1] Rembrandt: Rembrandt was born in Leiden in 1606.",
            ),
        ),
        "The painter is Rembrandt, and he was born in Leiden.",
        "Rembrandt painted The Night Watch, and he was born in Leiden.",
    ),
    Example(
        "In which year was the painting Guernica made, and how many years before 2000 was that?",
        (
            Worked(
                "I need to know when Guernica was made.",
                "lookup",
                "Guernica painting year",
                "[1] Guernica: Pablo Picasso made the painting Guernica in Paris in 1937.",
            ),
            Worked(
                "Guernica was made in 1937. I need to know how many years that was before 2000.",
                "calculator",
                "2000 - 1937",
                "2000 - 1937 = 63",
            ),
        ),
        "Guernica was made in 1937, and that was 63 years before 2000.",
        "Guernica was made in 1937, and that was 63 years before 2000.",
    ),
)

_ZH = (
    Example(
        "一张2023-05-04的票有效期是2个月又10天。到哪一天为止？",
        (
            Worked("开始日期是2023-05-04。先加上2个月。", "date_add", "2023-05-04, 2, 个月", "2023-07-04 星期二"),
            Worked("再给2023-07-04加上10天。", "date_add", "2023-07-04, 10, 天", "2023-07-14 星期五"),
        ),
        "这张票到2023-07-14为止。",
        "到2023-07-14为止，星期五。",
    ),
    Example(
        "面包师做了14盘面包，每盘25个，扔掉8个，剩下的每9个装一袋。一共有多少袋？",
        (
            Worked(
                "盘数：14\n每盘：25个\n扔掉：8个\n每袋：9个\n剩下的面包 = 14 * 25 - 8\n袋数 = (14 * 25 - 8) / 9",
                "calculator",
                "(14 * 25 - 8) / 9",
                "(14 * 25 - 8) / 9 = 38",
            ),
        ),
        "一共有38袋。",
        "一共有38袋。",
    ),
    Example(
        "《夜巡》的作者是谁？他出生在哪里？",
        (
            Worked("先查《夜巡》的作者是谁。", "lookup", "《夜巡》的作者", "[1] 夜巡：这幅画由伦勃朗于1642年完成。"),
            Worked(
                "《夜巡》的作者是伦勃朗。再查伦勃朗出生在哪里。",
                "lookup",
                "伦勃朗 出生",
                "[1] 伦勃朗：伦勃朗1606年出生于莱顿。",
            ),
        ),
        "作者是伦勃朗，他出生在莱顿。",
        "《夜巡》的作者是伦勃朗，他出生在莱顿。",
    ),
    Example(
        "《格尔尼卡》是哪一年画的？比2000年早多少年？",
        (
            Worked(
                "先查《格尔尼卡》是哪一年画的。",
                "lookup",
                "《格尔尼卡》 创作年份",
                "[1] 格尔尼卡：毕加索1937年在巴黎创作了《格尔尼卡》。",
            ),
            Worked(
                "《格尔尼卡》是1937年画的。再计算比2000年早多少年。", "calculator", "2000 - 1937", "2000 - 1937 = 63"
            ),
        ),
        "《格尔尼卡》是1937年画的，比2000年早63年。",
        "《格尔尼卡》是1937年画的，比2000年早63年。",
    ),
)


def examples(tools: Sequence[ToolSpec], language: str) -> tuple[Example, ...]:
    """Return the examples that use only tools on offer."""
    names = {tool.name for tool in tools}
    return tuple(example for example in (_ZH if language == "zh" else _EN) if example.tools <= names)
