"""Well-formed replies of every dialect are read as they were meant, with one noise added too, or are asked again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.kinds import make, shown
from whybox.dialects.react import ReActReader
from whybox.events import Parsed

TOOLS = (make("search", "query"), make("weather", "city", "unit"), make("now"), make("查询", "关键词"))

LABELS = (
    ("Thought: ", "Action: ", "Action Input: ", "Observation: ", "Final Answer: "),
    ("思考：", "行动：", "行动输入：", "观察：", "最终答案："),
    ("想法：", "动作：", "动作输入：", "观察结果：", "答案："),
    ("Pensamiento: ", "Acción: ", "Entrada de acción: ", "Observación: ", "Respuesta final: "),
)


@dataclass(frozen=True)
class Reply:
    """A reply and what it means."""

    text: str
    labels: tuple[str, str, str, str, str]
    thought: str
    tool: str = ""
    arguments: dict[str, Any] | None = None
    answer: str | None = None


words = st.text("abcxyzABC 019.,;?!&+/-的是了、。”“é", min_size=1, max_size=24).map(str.strip)
plain = words.filter(
    lambda text: re.search(r"[^\W_]{2}", text) is not None and text[-1] not in "”“" and text[0] not in "”“-+"
)
value = st.text("abcxyz 019.,:;?!%&+*/(){}#|<>=-的是“”（）：，é🦭", min_size=1, max_size=24).map(str.strip)
query = value.filter(
    lambda text: re.search(r"[^\W_]{2}", text) is not None and text[0] not in "“{(（=:：" and ":" not in text[:8]
)


@st.composite
def calls(draw: st.DrawFn) -> Reply:
    labels = draw(st.sampled_from(LABELS))
    think, act, inp, _, _ = labels
    thought, form = draw(plain), draw(st.sampled_from(FORMS))
    if form in {"bracket", "double", "input", "fence"}:
        tool, arguments = draw(st.sampled_from(["search", "查询"])), {}
        text = draw(query)
        arguments = {"search": {"query": text}, "查询": {"关键词": text}}[tool]
    elif form == "none":
        tool, arguments, text = "now", {}, ""
    else:
        tool, text = "weather", ""
        arguments = {"city": draw(query), "unit": draw(st.sampled_from(["C", "F"]))}
    written = json.dumps(arguments, ensure_ascii=False)
    blob = json.dumps({"action": tool, "action_input": arguments}, ensure_ascii=False)
    named = ", ".join(f"{name}={json.dumps(each, ensure_ascii=False)}" for name, each in arguments.items())
    step = {
        "bracket": f"{act}{tool}[{text}]",
        "double": f"{act}{tool}[[{text}]]",
        "input": f"{act}{tool}\n{inp}{text}",
        "fence": f"{act}{tool}\n{inp}\n```\n{text}\n```",
        "none": f"{act}{tool}[]",
        "json": f"{act}{tool}\n{inp}{written}",
        "blob": f"{act}{blob}",
        "fenced blob": f"{act}\n```json\n{blob}\n```",
        "call": f"{act}{tool}({named})",
    }[form]
    return Reply(f"{think}{thought}\n{step}", labels, thought, tool, arguments)


FORMS = ("bracket", "double", "input", "fence", "none", "json", "blob", "fenced blob", "call")


@st.composite
def answers(draw: st.DrawFn) -> Reply:
    labels = draw(st.sampled_from(LABELS))
    thought = draw(plain)
    answer = "\n".join(draw(st.lists(plain, min_size=1, max_size=4)))
    form = draw(st.sampled_from(["label", "finish", "two", "call"]))
    step = {
        "label": f"{labels[4]}{answer}",
        "finish": f"{labels[1]}finish[{answer}]",
        "two": f"{labels[1]}finish\n{labels[4]}{answer}",
        "call": f"{labels[1]}finish(answer={json.dumps(answer, ensure_ascii=False)})",
    }[form]
    return Reply(f"{labels[0]}{thought}\n{step}", labels, thought, answer=answer)


@st.composite
def tagged(draw: st.DrawFn) -> Reply:
    """A call in a vendor's markup, with the reasoning in front of it."""
    thought, arguments = draw(plain), {"city": draw(query), "unit": draw(st.sampled_from(["C", "F"]))}
    data = json.dumps({"name": "weather", "arguments": arguments}, ensure_ascii=False)
    given = json.dumps(arguments, ensure_ascii=False)
    text = draw(
        st.sampled_from(
            [
                f"<tool_call>\n{data}\n</tool_call>",
                f"<|python_tag|>{data}",
                f"[TOOL_CALLS][{data}]",
                f"[TOOL_CALLS]weather[ARGS]{given}",
                f"<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{given}"
                "<|tool_call_end|><|tool_calls_section_end|>",
                f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{given}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "<tool_call>\n<function=weather>\n"
                + "".join(f"<parameter={name}>\n{each}\n</parameter>\n" for name, each in arguments.items())
                + "</function>\n</tool_call>",
                '<function_calls>\n<invoke name="weather">\n'
                + "".join(f'<parameter name="{name}">{each}</parameter>\n' for name, each in arguments.items())
                + "</invoke>\n</function_calls>",
                "<tool_call>weather\n"
                + "".join(
                    f"<arg_key>{name}</arg_key>\n<arg_value>{each}</arg_value>\n" for name, each in arguments.items()
                )
                + "</tool_call>",
            ]
        )
    )
    return Reply(f"{thought}\n{text}", LABELS[0], thought, "weather", arguments)


def _labels(reply: Reply, change: Callable[[str], str]) -> str:
    found = re.compile("^(" + "|".join(re.escape(label) for label in reply.labels) + ")", re.MULTILINE)
    return found.sub(lambda label: change(label[0]), reply.text)


def _around(marks: str) -> Callable[[str], str]:
    return lambda label: f"{marks}{label.rstrip()}{marks} "


def _number(label: str) -> str:
    bare = label.rstrip()
    return f"{bare[:-1]} 1{label[len(bare) - 1 :]}"


NOISE: dict[str, Callable[[Reply], str]] = {
    "none": lambda reply: reply.text,
    "bold labels": lambda reply: _labels(reply, _around("**")),
    "bold label names": lambda reply: _labels(reply, lambda label: f"**{label.rstrip()[:-1]}**{label.rstrip()[-1]} "),
    "italic labels": lambda reply: _labels(reply, _around("_")),
    "bullets": lambda reply: _labels(reply, lambda label: f"- {label}"),
    "headings": lambda reply: _labels(reply, lambda label: f"## {label}"),
    "list numbers": lambda reply: _labels(reply, lambda label: f"1. {label}"),
    "label numbers": lambda reply: _labels(reply, _number),
    "emoji": lambda reply: _labels(reply, lambda label: f"🔧 {label}"),
    "fence": lambda reply: f"```\n{reply.text}\n```" if "```" not in reply.text else reply.text,
    "upper case": lambda reply: _labels(reply, str.upper),
    "lower case": lambda reply: _labels(reply, str.lower),
    "full-width colon": lambda reply: _labels(reply, lambda label: label.rstrip()[:-1] + "："),
    "full-width letters": lambda reply: _labels(
        reply, lambda label: "".join(chr(ord(c) + 0xFEE0) if "!" < c <= "~" else c for c in label)
    ),
    "no space": lambda reply: _labels(reply, str.rstrip),
    "space before the colon": lambda reply: _labels(
        reply, lambda label: label.rstrip()[:-1] + " " + label.rstrip()[-1] + " "
    ),
    "stop word": lambda reply: f"{reply.text}\n{reply.labels[3].rstrip()}",
    "half a stop word": lambda reply: f"{reply.text}\n{reply.labels[3][: len(reply.labels[3]) // 2]}",
    "end-of-text token": lambda reply: f"{reply.text}<|im_end|>",
    "two tokens": lambda reply: f"{reply.text}</s>\n<|im_end|>",
    "invented observation": lambda reply: (
        f"{reply.text}\n{reply.labels[3]}made up 77\n{reply.labels[0]}so" if reply.answer is None else reply.text
    ),
    "carriage returns": lambda reply: reply.text.replace("\n", "\r\n"),
    "byte-order mark": lambda reply: "\ufeff" + reply.text,
    "zero width before labels": lambda reply: _labels(reply, lambda label: "\u200b" + label),
    "zero width after labels": lambda reply: _labels(reply, lambda label: label + "\u200b"),
    "zero width in labels": lambda reply: _labels(reply, lambda label: label[:2] + "\u200b" + label[2:]),
    "blank lines": lambda reply: _labels(reply, lambda label: "\n" + label),
    "indentation": lambda reply: _labels(reply, lambda label: "   " + label),
    "reasoning": lambda reply: f"<think>\nFinal Answer: 77?\n</think>\n{reply.text}",
    "question": lambda reply: f"Question: what is 77?\n{reply.text}",
}
MAY_BE_ASKED_AGAIN = {"zero width in labels", "half a stop word", "full-width letters"}


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _is_what_was_meant(reply: Reply, noise: str, parsed: Parsed, streamed: str) -> None:
    if parsed.reason is not None and noise in MAY_BE_ASKED_AGAIN:
        assert not streamed
        return
    if reply.answer is None:
        assert [(call.tool, call.arguments) for call in parsed.calls] == [(reply.tool, reply.arguments)], parsed
        assert not streamed
    else:
        assert _lines(parsed.answer or "") == reply.answer, parsed
        assert _lines(streamed) == reply.answer
    if noise != "reasoning":
        assert parsed.thought.lstrip("\u200b") == reply.thought


def read_with(text: str, pieces: int = 0) -> tuple[Parsed, str]:
    reader = ReActReader(TOOLS, "en")
    deltas = []
    step = max(1, len(text) // pieces) if pieces else len(text) or 1
    for at in range(0, len(text), step):
        deltas += reader.feed(text[at : at + step])
    rest, parsed = reader.close()
    return parsed, shown([*deltas, *rest], "answer")


@settings(max_examples=1500, deadline=None)
@given(st.one_of(calls(), answers(), tagged()), st.sampled_from(sorted(NOISE)), st.sampled_from([0, 3, 1000]))
def test_a_reply_of_any_dialect_with_one_noise_is_read_as_it_was_meant(reply: Reply, noise: str, pieces: int) -> None:
    _is_what_was_meant(reply, noise, *read_with(NOISE[noise](reply), pieces))


@settings(max_examples=600, deadline=None)
@given(
    st.one_of(calls(), answers(), tagged()),
    st.lists(st.sampled_from(sorted(NOISE.keys() - {"half a stop word"})), min_size=2, max_size=3, unique=True),
    st.integers(1, 40),
)
def test_a_reply_with_much_noise_is_never_read_as_another(reply: Reply, noises: list[str], pieces: int) -> None:
    text = reply.text
    for noise in noises:
        text = NOISE[noise](Reply(text, reply.labels, reply.thought, reply.tool, reply.arguments, reply.answer))
    whole, streamed = read_with(text)
    assert read_with(text, pieces) == (whole, streamed)
    if whole.calls:
        assert [(call.tool, call.arguments) for call in whole.calls] == [(reply.tool, reply.arguments)]
    for word in ("77", "made up"):
        assert word not in json.dumps([call.arguments for call in whole.calls])
