"""What the model is given to read: the state of the agent, and the template that turns it into a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tools import Tool

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
    """What the model wrote in one step and what came of it."""

    log: str
    observation: str


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
    def agent_scratchpad(self) -> str:
        """The steps as the model reads them again. It only ever grows at the end, which keeps prompt caches valid."""
        return "\n".join(f"{step.log}\nObservation: {quoted(step.observation)}" for step in self.intermediate_steps)


def quoted(observation: str) -> str:
    """Indent all lines but the first: a file that contains ``Final Answer:`` must not read like a step of the model."""
    return observation.replace("\n", "\n    ")


def render_prompt(state: AgentState, tools: Iterable[Tool]) -> str:
    """Return the whole prompt of the next model call."""
    return TEMPLATES.get_template("prompt.j2").render(
        tools=list(tools),
        input=state.input,
        chat_history=state.chat_history[-3:],
        agent_scratchpad=state.agent_scratchpad,
    )
