"""A model that gives the replies of a recorded run again: ``replay:RUN``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from whybox.errors import UnknownModel
from whybox.events import Asked, Event, Replied
from whybox.ports import Abilities, Chunk, Price, Reply, Request
from whybox.providers.scripted import ScriptedModel

Load = Callable[[], Awaitable[Sequence[Event]]]
_REPLY = tuple(Reply.model_fields)


class RecordedModel:
    """Gives the replies of a run one after the other, whatever it is asked.

    Calls that failed are left out. What a recorded call cost is not paid again.

    Args:
        name: ``replay:RUN``.
        load: reads the run's events; called once, when the first reply is due.
    """

    location = "recorded"
    price = Price(input=0, output=0, note="recorded")
    abilities = Abilities(
        grammar=True, json_schema=True, tools=True, parallel=True, logprobs=True, reasoning=True, prefix=True
    )

    def __init__(self, name: str, load: Load) -> None:
        self.name = name
        self._load = load
        self._script: ScriptedModel | None = None

    async def stream(self, request: Request) -> AsyncIterator[Chunk | Reply]:
        """Yield the next recorded reply token by token, then whole.

        Raises:
            UnknownModel: the run has no reply.
            ScriptExhausted: all replies were given.
        """
        if self._script is None:
            replies = _replies(await self._load())
            if not replies:
                raise UnknownModel(f"the run of {self.name} has no reply", "see: whybox runs list")
            self._script = ScriptedModel(replies, name=self.name, abilities=self.abilities)
        async for item in self._script.stream(request):
            yield item

    async def count_tokens(self, text: str) -> int | None:
        """Return None: the tokenizer was the recorded model's."""
        return None

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""


def _replies(events: Sequence[Event]) -> list[Reply]:
    found, prefix = [], ""
    for event in events:
        if isinstance(event, Asked):
            prefix = event.prefix
        elif isinstance(event, Replied):
            reply = Reply(**{name: getattr(event, name) for name in _REPLY})
            found.append(reply.model_copy(update={"text": prefix + reply.text}))
    return found
