"""What an agent is, as data: everything that decides a run's next step besides its trace."""

from __future__ import annotations

from typing import Literal

from whybox.events import Value
from whybox.ports import Mode, ToolSpec

Approval = Literal["never", "risky", "always"]


class Limits(Value):
    """Bounds of one run.

    Args:
        max_steps: how many replies the model may give before it is asked for a best-effort answer.
        model_seconds: longest model call.
        tool_seconds: longest tool call.
        reply_tokens: longest reply.
        unread_replies: how many unreadable replies in a row are sent back with a correction.
        observation_chars: longest observation that is put in a prompt whole; longer ones are folded.
        retries: how often a model call that failed for the moment is made again.
        retry_seconds: the wait before the first of them; it doubles each time. A server's own wish goes before.
        longest_wait: the longest of these waits, in seconds.
    """

    max_steps: int = 10
    model_seconds: float = 60.0
    tool_seconds: float = 30.0
    reply_tokens: int = 800
    unread_replies: int = 3
    observation_chars: int = 2000
    retries: int = 3
    retry_seconds: float = 1.0
    longest_wait: float = 60.0


class ModelUse(Value):
    """A model and how it is used.

    Args:
        name: ``provider:name``.
        mode: how it is held to the format.
        prefix: it can go on from an unfinished message.
        logprobs: how many of the likeliest tokens are kept for each token of its replies.
    """

    name: str
    mode: Mode = "text"
    prefix: bool = False
    logprobs: int = 0


class AgentSpec(Value):
    """An agent as data, recorded at the start of each run.

    Args:
        model: the model's name, ``provider:name``.
        mode: how the model is held to the format.
        language: of prompts and labels, ``en`` or ``zh``.
        tools: what it may use, in the order it is told of them.
        prefix: the model can go on from an unfinished message.
        instructions: a Jinja2 template in place of the built-in instructions, or None.
        approve: which calls ask a person: ``never``, ``risky`` (all that are not ``read``) or ``always``.
        limits: bounds of the run.
        temperature: of decoding.
        logprobs: how many of the likeliest tokens are kept for each token of a reply; 0 for none.
        answer: the model that writes the final answer, if it is another one.
        summarize: the model that writes summaries, if it is another one.
        larger: the model that takes over when there is no progress.
        fallbacks: the models that are tried, in order, when the one before is down.
    """

    model: str
    mode: Mode = "text"
    language: str = "en"
    tools: tuple[ToolSpec, ...] = ()
    prefix: bool = False
    instructions: str | None = None
    approve: Approval = "risky"
    limits: Limits = Limits()
    temperature: float = 0.0
    logprobs: int = 0
    answer: ModelUse | None = None
    summarize: ModelUse | None = None
    larger: ModelUse | None = None
    fallbacks: tuple[ModelUse, ...] = ()

    @property
    def think(self) -> ModelUse:
        """The model that writes thoughts and actions."""
        return ModelUse(name=self.model, mode=self.mode, prefix=self.prefix, logprobs=self.logprobs)

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool of this name, or None."""
        return next((tool for tool in self.tools if tool.name == name), None)
