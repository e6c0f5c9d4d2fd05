"""The sentences whybox itself says to a model or a person, in each language."""

from __future__ import annotations

from collections.abc import Sequence

_LABELS = {
    "en": {
        "thought": "Thought:",
        "action": "Action:",
        "input": "Action Input:",
        "observation": "Observation:",
        "answer": "Final Answer:",
    },
    "zh": {
        "thought": "思考：",
        "action": "行动：",
        "input": "行动输入：",
        "observation": "观察：",
        "answer": "最终答案：",
    },
}

_PHRASES = {
    "en": {
        "question": "Question: {text}",
        "repeated": "(You had this result already. Use it, or do something else.)",
        "after_examples": "The examples end here; nothing in them is true now. ",
        "unknown_tool": 'There is no tool "{name}". Tools: {tools}.',
        "no_tools": 'There is no tool "{name}", and no tools are on offer. Give the Final Answer.',
        "rejected": "A person did not allow this call, so it was not run.{reason} Do it another way, or answer.",
        "step_limit": "the limit of {steps} steps was reached",
        "not_run": "This call was not run.",
        "draft": "the model for the final answer failed ({reason}); this is the draft of the other one",
        "unread_in_a_row": "{count} replies in a row could not be read",
        "same_result": "the same call gave the same result {count} times",
        "cut": "the answer was cut by the limit on the length of a reply",
        "unread": "the model's reply could not be read, so it is shown as it is",
        "collected": "No answer was reached. What was observed:\n{items}",
        "nothing": "No answer was reached, and nothing was observed.",
        "wrap_up": "No more actions are possible. Answer the question now from what was observed. "
        "If that is not enough, say what is missing.",
    },
    "zh": {
        "question": "问题：{text}",
        "repeated": "（这个结果之前已经有了，请直接使用它，或者换一种做法。）",
        "after_examples": "例子到此为止，例子里的内容现在都不成立。",
        "unknown_tool": "没有名为“{name}”的工具。可用的工具：{tools}。",
        "no_tools": "没有名为“{name}”的工具，也没有可用的工具。请直接给出最终答案。",
        "rejected": "有人不允许这次调用，所以没有执行。{reason}请换一种做法，或直接回答。",
        "step_limit": "已达到 {steps} 步的上限",
        "not_run": "这次调用没有执行。",
        "draft": "写最终答案的模型失败了（{reason}），这是另一个模型的草稿",
        "unread_in_a_row": "连续 {count} 个回复无法读懂",
        "same_result": "同一个调用 {count} 次得到相同的结果",
        "cut": "答案达到了回复长度的上限，被截断了",
        "unread": "无法读懂模型的回复，因此原样显示",
        "collected": "没有得出答案。观察到的内容：\n{items}",
        "nothing": "没有得出答案，也没有观察到任何内容。",
        "wrap_up": "不能再使用工具了。请根据已观察到的内容，现在就回答问题。如果信息不够，请说明还缺什么。",
    },
}


def _say(language: str, key: str, **values: object) -> str:
    return _PHRASES.get(language, _PHRASES["en"])[key].format(**values)


def label(language: str, kind: str) -> str:
    """Return the label of a section: ``thought``, ``action``, ``input``, ``observation`` or ``answer``."""
    return _LABELS.get(language, _LABELS["en"])[kind]


def gap(language: str) -> str:
    """Return what stands between a label and its text: a full-width colon needs no space behind it."""
    return "" if language == "zh" else " "


def question(language: str, text: str) -> str:
    """Return the question as it is put in a prompt."""
    return _say(language, "question", text=text)


def after_examples(language: str) -> str:
    """Return what keeps a model from taking an example's observation for one of its own."""
    return _say(language, "after_examples")


def repeated(language: str) -> str:
    """Return what is said behind an observation that was there before."""
    return _say(language, "repeated")


def unknown_tool(language: str, name: str, tools: Sequence[str]) -> str:
    """Return the observation for a call of a tool that is not on offer."""
    if not tools:
        return _say(language, "no_tools", name=name)
    return _say(language, "unknown_tool", name=name, tools=", ".join(tools))


def rejected(language: str, reason: str) -> str:
    """Return the observation for a call that a person refused."""
    return _say(language, "rejected", reason=f" ({reason})" if reason else "")


def step_limit(language: str, steps: int) -> str:
    """Return why a run ended at its step limit."""
    return _say(language, "step_limit", steps=steps)


def not_run(language: str) -> str:
    """Return the result of a call that the end of the run has overtaken."""
    return _say(language, "not_run")


def draft(language: str, reason: str) -> str:
    """Return why the draft of an answer is shown in place of the answer."""
    return _say(language, "draft", reason=reason)


def unread_in_a_row(language: str, count: int) -> str:
    """Return why the larger model takes over: replies could not be read."""
    return _say(language, "unread_in_a_row", count=count)


def same_result(language: str, count: int) -> str:
    """Return why the larger model takes over: a call was repeated."""
    return _say(language, "same_result", count=count)


def cut(language: str) -> str:
    """Return why an answer does not end where it should."""
    return _say(language, "cut")


def unread(language: str) -> str:
    """Return why a raw reply stands in place of an answer."""
    return _say(language, "unread")


def collected(language: str, observations: Sequence[str]) -> str:
    """Return what was observed, in place of an answer."""
    if not observations:
        return _say(language, "nothing")
    return _say(language, "collected", items="\n".join(f"- {text}" for text in observations))


def wrap_up(language: str) -> str:
    """Return the request for a best-effort answer."""
    return _say(language, "wrap_up")
