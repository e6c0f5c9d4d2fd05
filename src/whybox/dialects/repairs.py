"""The repairs by name: the rungs of the ladder, in the order in which they are tried, and how sure each leaves us."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair.

    Args:
        rung: the rung of the ladder it belongs to.
        sure: by how much the confidence in the reading is multiplied.
        en: what was done, in a few words.
        zh: the same in Chinese.
    """

    rung: str
    sure: float
    en: str
    zh: str


REPAIRS: dict[str, Repair] = {
    "label": Repair("labels", 0.98, "a label was decorated or spelled in another way", "标签带有装饰或写法不同"),
    "other_label": Repair(
        "labels", 0.9, "a word was taken for a label because of what stands around it", "根据上下文把一个词当作标签"
    ),
    "special_token": Repair("endings", 0.98, "an end-of-text token was removed", "去掉了结束符"),
    "stop_leftover": Repair("endings", 0.98, "what a stop sequence had left was removed", "去掉了停止序列的残留"),
    "invented_observation": Repair(
        "endings", 0.95, "an observation that the model invented was cut off", "截去了模型编造的观察"
    ),
    "next_turn": Repair(
        "endings", 0.95, "a turn that the model invented for somebody else was cut off", "截去了模型替别人编造的轮次"
    ),
    "rest_dropped": Repair("endings", 0.95, "what followed the action was dropped", "丢弃了行动之后的内容"),
    "chatter_dropped": Repair(
        "endings", 0.95, "text around the action that is no part of it was dropped", "丢弃了行动周围不属于它的文字"
    ),
    "fence_removed": Repair("fences", 0.98, "a code fence around the whole was removed", "去掉了包住整体的代码围栏"),
    "fenced_step": Repair("fences", 0.85, "the step stood inside a code fence at the end", "步骤写在末尾的代码围栏里"),
    "leaked_markup": Repair("markup", 0.9, "a call in a vendor's markup was read", "读取了厂商标记里的调用"),
    "json_commas": Repair("json", 0.95, "commas were added or removed", "补上或去掉了逗号"),
    "json_quotes": Repair(
        "json", 0.95, "names or values stood without or in other quotation marks", "名称或值没有引号，或用了别的引号"
    ),
    "json_colons": Repair("json", 0.95, "another sign stood for a colon", "冒号写成了别的符号"),
    "json_literals": Repair("json", 0.98, "literals of another language were read", "读取了其他语言的字面量"),
    "json_numbers": Repair("json", 0.95, "numbers were in a form that JSON does not have", "数字的写法不属于 JSON"),
    "json_newlines": Repair("json", 0.95, "line breaks inside a string were kept", "保留了字符串里的换行"),
    "json_escapes": Repair("json", 0.9, "backslashes were taken as they stand", "反斜杠按原样保留"),
    "json_comments": Repair("json", 0.95, "comments were removed", "去掉了注释"),
    "json_inner_quotes": Repair("json", 0.8, "quotation marks inside a string were kept", "保留了字符串里的引号"),
    "json_joined": Repair("json", 0.95, "strings joined with + were joined", "连接了用 + 相连的字符串"),
    "json_twice": Repair("json", 0.95, "JSON inside a JSON string was read", "读取了 JSON 字符串里的 JSON"),
    "json_entities": Repair("json", 0.9, "HTML entities were read", "读取了 HTML 实体"),
    "json_braces": Repair("json", 0.95, "a doubled brace was read as one", "把重复的大括号当作一个"),
    "json_closed": Repair("json", 0.85, "brackets at the end were closed", "补上了末尾的括号"),
    "json_wrapped": Repair("json", 0.95, "a list around the arguments was removed", "去掉了参数外面的列表"),
    "json_rest_dropped": Repair("json", 0.95, "brackets behind the end were dropped", "丢弃了末尾多余的括号"),
    "unquoted": Repair(
        "arguments", 1.0, "quotation marks around the whole input were removed", "去掉了整个输入外面的引号"
    ),
    "name_removed": Repair(
        "arguments", 0.95, "the parameter's name in front of the input was removed", "去掉了输入前面的参数名"
    ),
    "coerced": Repair(
        "arguments", 0.98, "a value was brought to the type that the tool asks for", "把值转换成工具要求的类型"
    ),
    "input_ignored": Repair(
        "arguments", 0.9, "an input for a tool that takes none was ignored", "忽略了不需要输入的工具的输入"
    ),
    "bracket_closed": Repair("brackets", 0.85, "the bracket at the end was closed", "补上了末尾的括号"),
    "bracket_added": Repair("brackets", 0.85, "an input without brackets was read", "读取了没有括号的输入"),
    "tool_name": Repair("names", 0.95, "the tool's name was spelled in another way", "工具名的写法不同"),
    "first_line": Repair("first line", 0.85, "the name stood on a line of its own", "名称单独占一行"),
    "continued": Repair("heuristics", 0.9, "the reply went on where the prompt had stopped", "回复接着提示词往下写"),
    "in_prose": Repair("heuristics", 0.85, "the call stood in text without labels", "调用写在没有标签的文字里"),
    "in_line": Repair("heuristics", 0.8, "the labels stood in the middle of a line", "标签写在一行的中间"),
    "no_label": Repair("heuristics", 0.9, "text without any label was taken for the answer", "没有标签的文字当作答案"),
    "truncated": Repair("endings", 0.7, "the reply was cut by the token limit", "回复被长度限制截断"),
}

_ORDER = {name: index for index, name in enumerate(REPAIRS)}


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names once each, in the ladder's order."""
    return tuple(sorted(set(names), key=_ORDER.__getitem__))


def confidence(names: Iterable[str]) -> float:
    """Return how sure a reading is that needed these repairs: 1.0 for none."""
    sure = 1.0
    for name in in_order(names):
        sure *= REPAIRS[name].sure
    return round(sure, 3)
