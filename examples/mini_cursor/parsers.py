"""From the model's text to something a program can act on."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class AgentAction:
    """The model wants a tool to run.

    Args:
        tool: the tool's name as the model wrote it; it may not exist.
        tool_input: named arguments, or plain text for a tool that takes one.
        log: the part of the reply that was understood; it goes back into the next prompt.
    """

    tool: str
    tool_input: dict[str, object] | str
    log: str = field(compare=False)


@dataclass(frozen=True)
class AgentFinish:
    """The model has its answer."""

    answer: str
    log: str = field(compare=False)


class OutputParserError(ValueError):
    """The reply has no action and no answer; the message tells the model what to write instead."""


HOW_TO = 'Write "Action: <tool>" and then "Action Input: <JSON object>", or write "Final Answer: <answer>".'

# A label counts at the beginning of a line only, so that the same word inside a sentence stays a word.
LABEL = re.compile(
    r"^[ \t*#]*(?P<name>Thought|Action Input|Action|Final Answer|思考|行动输入|行动|最终答案)[*]*[ \t]*[:：][*]*[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
ENGLISH = {"思考": "thought", "行动": "action", "行动输入": "action input", "最终答案": "final answer"}


class OutputParser:
    """Reads one reply in the form ``Thought / Action / Action Input`` or ``Thought / Final Answer``."""

    stop = ("\nObservation:", "\nObservation：", "\n观察:", "\n观察：")

    def parse(self, text: str) -> AgentAction | AgentFinish:
        """Return what the reply asks for. Whichever comes first counts, an action or the answer.

        Raises:
            OutputParserError: neither can be found, or the action's input cannot be read.
        """
        labels = list(LABEL.finditer(text))
        for index, label in enumerate(labels):
            following = labels[index + 1] if index + 1 < len(labels) else None
            content = text[label.end() : following.start() if following else len(text)].strip()
            match label_name(label):
                case "final answer" if content:
                    return AgentFinish(text[label.end() :].strip(), log=text.strip())
                case "action":
                    if following is None or label_name(following) != "action input":
                        return AgentAction(content, "", log=text[: label.end()].rstrip() + f" {content}")
                    tool_input, end = read_input(text, following.end())
                    return AgentAction(content, tool_input, log=text[:end].strip())
        raise OutputParserError(f"Your reply has no action and no answer. {HOW_TO}")


def label_name(label: re.Match[str]) -> str:
    """Return the label in English and lower case."""
    name = label["name"].lower()
    return ENGLISH.get(name, name)


def read_input(text: str, start: int) -> tuple[dict[str, object] | str, int]:
    """Return the action's input that begins at ``start`` and the position where it ends.

    Raises:
        OutputParserError: it begins like a JSON object but is none.
    """
    fence = re.compile(r"\s*(?:```(?:json)?\s*)?").match(text, start)
    start = fence.end() if fence else start
    if not text.startswith("{", start):
        line = text[start:].split("\n", 1)[0]
        return line.strip().strip("`\"'"), start + len(line)
    try:
        # Decoding ends where the object ends, so a label inside a string cannot end it early.
        # strict=False: models put real line breaks into strings.
        value, end = json.JSONDecoder(strict=False).raw_decode(text, start)
    except (json.JSONDecodeError, RecursionError) as error:
        raise OutputParserError(f"The Action Input is not a valid JSON object: {error}. {HOW_TO}") from error
    return value, end
