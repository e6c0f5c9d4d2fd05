"""What models and servers leave at the end of a text that does not belong to it."""

from __future__ import annotations

import re

SPECIAL = (
    *("</s>", "<eos>", "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end|>"),
    *("<|return|>", "<|call|>", "<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>"),
    *("<|END_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<|im_start|>", "<|start_of_turn|>", "<|user|>", "<|observation|>"),
    "[/INST]",
)
"""End-of-text tokens that some servers leave in the text."""

TURN = ("<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "<|start|>", "<｜User｜>", "<|user|>", "[INST]")
"""Tokens that begin another turn: behind an end-of-text token the model talked to itself."""

_MOST = 8
"""More end-of-text tokens in a row than this are text."""

_WAITING = re.compile(
    r"\b(?:wait|waits|waiting|await|awaits|awaiting|paus(?:e|es|ed|ing)|idl(?:e|es|ing)|hold(?:ing)?|stop(?:s|ped|ping)?"
    r"|pending)\b|等待|等候|稍等|暂停|等工具",
    re.IGNORECASE,
)
_FOR_WHAT = re.compile(
    r"\b(?:results?|responses?|observations?|outputs?|tools?|reply|replies)\b|结果|返回|工具", re.IGNORECASE
)
_SENTENCE = re.compile(
    r"(?:I|I'll|I’ll|I'm|I’m|Let|Now|Please|Waiting|Wait|Awaiting|We|我|现在|请|正在|等)\b|[我请正等现]"
)
_LONGEST_NOTE = 200
_NOTE = re.compile(
    r"(?:\[[^\[\]\n]{2,200}\]|\([^()\n]{2,200}\)|\*[^*\n]{2,200}\*|（[^（）\n]{2,200}）|【[^【】\n]{2,200}】)\s*\Z"
)


def without_special(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` stripped of white space and of end-of-text tokens at its end, and the repair if it had any."""
    text = text.strip()
    found: tuple[str, ...] = ()
    for _ in range(_MOST):
        name = next((name for name in SPECIAL if text.endswith(name)), None)
        if name is None:
            break
        text, found = text.removesuffix(name).rstrip(), ("special_token",)
    return text, found


def says_it_waits(text: str) -> bool:
    """Return whether a text is nothing but a short remark that the model waits."""
    return len(text) <= _LONGEST_NOTE and _WAITING.search(text) is not None


def without_chatter(text: str) -> tuple[str, tuple[str, ...]]:
    """Return an input without a last line in which the model says that it waits for the tool.

    Such a line is a note in brackets, the word ``PAUSE``, or a sentence of its own behind an empty line.
    """
    end = len(text.rstrip())
    gap = text.rfind("\n", 0, end)
    last = text[max(gap, end - 2 * _LONGEST_NOTE) : end].strip()
    if gap < 0 or len(last) > _LONGEST_NOTE:
        return text, ()
    head = text[:gap]
    note = last == "PAUSE" or (_NOTE.match(last) and _WAITING.search(last))
    apart = not head.rpartition("\n")[2].strip()
    if note or (apart and _WAITING.search(last) and _FOR_WHAT.search(last) and _SENTENCE.match(last)):
        return head.rstrip(), ("chatter_dropped",)
    return text, ()
