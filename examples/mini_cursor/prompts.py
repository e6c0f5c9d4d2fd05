"""What the model is given to read: the state of the agent, and the messages it turns into."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from parsers import AgentAction
from tools import Tool

Message = dict[str, str]

# Whatever a person, a file or the model wrote is a value for the template and never a template itself.
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - the result is plain text for a model, not HTML
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Step:
    """What the model wrote in one step and what came of it.

    Args:
        log: the model's own words, as far as they were understood.
        observation: the tool's result, or what was wrong.
        action: what was asked for; None if the reply could not be read.
    """

    log: str
    observation: str
    action: AgentAction | None = None
    failed: bool = False


@dataclass
class AgentState:
    """Everything the agent knows. Nothing else is carried from one step to the next.

    Args:
        input: the question.
        chat_history: earlier questions and their answers, oldest first.
        intermediate_steps: the steps taken for this question so far.
    """

    input: str
    chat_history: list[tuple[str, str]] = field(default_factory=list)
    intermediate_steps: list[Step] = field(default_factory=list)

    @property
    def agent_scratchpad(self) -> list[Message]:
        """The steps as turns: what the model said, what it was told. Grows at the end only, so prompt caches hold."""
        turns: list[Message] = []
        for step in self.intermediate_steps:
            turns.append({"role": "assistant", "content": step.log})
            turns.append({"role": "user", "content": f"Observation: {quoted(step.observation)}"})
        return turns


def quoted(observation: str) -> str:
    """Indent all lines but the first: a file that contains ``Final Answer:`` must not read like a step of the model."""
    return observation.replace("\n", "\n    ")


def render_prompt(state: AgentState, tools: Iterable[Tool]) -> list[Message]:
    """Return the messages of the next model call: instructions, earlier questions, this one, its steps so far."""
    messages: list[Message] = [
        {"role": "system", "content": TEMPLATES.get_template("prompt.j2").render(tools=list(tools))}
    ]
    for question, answer in state.chat_history[-3:]:
        messages.append({"role": "user", "content": f"Question: {question}"})
        messages.append({"role": "assistant", "content": f"Final Answer: {answer}"})
    messages.append({"role": "user", "content": f"Question: {state.input}"})
    return messages + state.agent_scratchpad
