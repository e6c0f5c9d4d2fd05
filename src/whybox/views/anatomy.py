"""What each model call of a run was made of: tokens by part, cache hits, money, time, hesitations. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from whybox.events import Asked, ModelFailed, ModelRole, Replied, Segment, Stamped, Token, Usage
from whybox.trace import NOTHING_USED, added, added_cost

PARTS = ("instructions", "tools", "examples", "question", "steps", "other")
"""The parts of a prompt, in the order in which they stand in one."""

_NOTHING_KNOWN = Usage()

SURE = 0.9
"""A token that was at least as likely as this was no hesitation."""

_PART_OF = {
    "instructions": "instructions",
    "tool": "tools",
    "example": "examples",
    "question": "question",
    "step": "steps",
}


@dataclass(frozen=True, slots=True)
class Hesitation:
    """A token the model was not sure of.

    Args:
        text: the token.
        before: the text it stands behind, shortened.
        probability: of the token that was chosen, from 0 to 1.
        others: the likeliest tokens in its place and their probabilities, the chosen one left out.
    """

    text: str
    before: str
    probability: float
    others: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model.

    Args:
        step: the number of its reply.
        role: what the reply was for.
        model: who was asked.
        mode: how it was held to the format.
        parts: tokens of each of :data:`PARTS` by the model's own tokenizer; None where it is not here.
        usage: what the call used, as the model's server says.
        cost: in US dollars; None when it is not known.
        seconds: from the request to the whole reply; None when the call was not finished.
        failed: why there is no reply; empty when there is one.
        hesitations: the tokens it was least sure of, in the order of the text.
    """

    step: int
    role: ModelRole
    model: str
    mode: str
    parts: tuple[int | None, ...]
    usage: Usage = _NOTHING_KNOWN
    cost: float | None = None
    seconds: float | None = None
    failed: str = ""
    hesitations: tuple[Hesitation, ...] = ()


@dataclass(frozen=True, slots=True)
class Total:
    """What several calls add up to: how many there were, and what they used."""

    calls: int = 0
    usage: Usage = NOTHING_USED
    cost: float | None = 0.0
    seconds: float = 0.0

    def plus(self, call: ModelCall) -> Total:
        """Return this with one more call."""
        # A call that failed is not known to have cost anything.
        cost = self.cost if call.failed else added_cost(self.cost, call.cost)
        usage = added(self.usage, call.usage)
        return Total(self.calls + 1, usage, cost, self.seconds + (call.seconds or 0.0))


def model_calls(events: Iterable[Stamped], hesitations: int = 3) -> tuple[ModelCall, ...]:
    """Return the model calls of a run, in order.

    Args:
        events: the run's, as stored.
        hesitations: how many tokens of a reply that the model was least sure of are wanted at most.
    """
    calls: list[ModelCall] = []
    asked: Stamped | None = None
    for stamped in events:
        match stamped.event:
            case Asked():
                asked = stamped
                calls.append(_begun(stamped.event))
            case Replied() as replied if asked is not None:
                seconds = (stamped.at - asked.at).total_seconds()
                least_sure = least_sure_of(replied.tokens, hesitations)
                calls[-1] = replace(
                    calls[-1], usage=replied.usage, cost=replied.cost, seconds=seconds, hesitations=least_sure
                )
                asked = None
            case ModelFailed() as failed if asked is not None:
                seconds = (stamped.at - asked.at).total_seconds()
                calls[-1] = replace(calls[-1], failed=failed.message, seconds=seconds)
                asked = None
            case _:
                pass
    return tuple(calls)


def totals(calls: Iterable[ModelCall]) -> dict[tuple[ModelRole, str], Total]:
    """Return what the calls of each role and model add up to, in the order in which they first came."""
    found: dict[tuple[ModelRole, str], Total] = {}
    for call in calls:
        key = call.role, call.model
        found[key] = found.get(key, Total()).plus(call)
    return found


def cached_share(calls: Sequence[ModelCall]) -> float | None:
    """Return the share of the prompt tokens behind the first call that came from the cache; None when not known.

    Within a run prompts only grow at the end, so it says how well that was made use of.
    """
    later = [call.usage for call in calls[1:] if not call.failed and call.usage.cached_tokens is not None]
    prompt = sum(usage.prompt_tokens or 0 for usage in later)
    return sum(usage.cached_tokens or 0 for usage in later) / prompt if prompt else None


def part_of(segment: Segment) -> str:
    """Return which of :data:`PARTS` a segment belongs to."""
    return _PART_OF.get(segment.name.partition(":")[0], "other")


def least_sure_of(tokens: Sequence[Token], most: int) -> tuple[Hesitation, ...]:
    """Return at most ``most`` tokens that were less likely than :data:`SURE`, the least likely ones, as they stand."""
    unsure = sorted((logprob, at) for at, (_, logprob, _) in enumerate(tokens) if logprob < math.log(SURE))[:most]
    found = []
    for at in sorted(at for _, at in unsure):
        text, logprob, likely = tokens[at]
        others = tuple((other, math.exp(value)) for other, value in likely if other != text)
        before = "".join(each for each, _, _ in tokens[max(0, at - 8) : at])
        found.append(Hesitation(text, before, math.exp(logprob), others))
    return tuple(found)


def _begun(asked: Asked) -> ModelCall:
    parts: dict[str, int | None] = dict.fromkeys(PARTS, 0)
    for segment in asked.prompt:
        part = part_of(segment)
        count = parts[part]
        parts[part] = None if count is None or segment.tokens is None else count + segment.tokens
    return ModelCall(asked.step, asked.role, asked.model, asked.mode, tuple(parts.values()))
