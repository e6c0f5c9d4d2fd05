"""A model that says what it was told to say: the public fake of :class:`whybox.ports.Model`.

For tests and for teaching. It streams token by token, keeps every request it was given, and behaves like a server
that honours ``stop`` and goes on from a ``prefix``.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from anyio.lowlevel import checkpoint

from whybox.errors import ConfigError, ModelError, ScriptExhausted
from whybox.events import Usage
from whybox.ports import Abilities, Chunk, Price, Reply, Request
from whybox.providers.reply_text import ReplyText

SEPARATOR = "---"

_WIDE = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_TOKEN = re.compile(rf"\s*(?:[{_WIDE}]|[^\W_{_WIDE}]+|\S)|\s+")


def tokens(text: str) -> list[str]:
    """Split ``text`` as the scripted model streams it; joined, the tokens are the text.

    A token is a word, a punctuation mark, or one Chinese, Japanese or Korean character, with the white space before it.
    """
    return _TOKEN.findall(text)


Said = str | Reply | ModelError | tuple[str | Reply, ModelError]
"""A reply of a script, an error instead of one, or an error behind the beginning of one."""


class ScriptedModel:
    """Gives its replies one after the other, a new one for each call.

    The position belongs to the model, not to the run: a second run with the same model goes on with the next reply.
    A reply that was begun and cancelled is used up.

    Args:
        replies: what to say. A string is a whole reply; a :class:`~whybox.ports.Reply` also says how it finished and
            what it used, and may have reasoning and native calls; a :class:`~whybox.errors.ModelError` is raised
            instead of a reply, and ``(beginning, error)`` is a reply that breaks off. A reply that begins with
            the request's prefix is taken to be the whole step, any other to be what follows the prefix.
        name: the model's name.
        abilities: what it says it can do; by default to count tokens.

    Attributes:
        requests: every request so far, in order.
    """

    location = "this process"
    price = Price(input=0, output=0, note="scripted")

    def __init__(
        self,
        replies: Sequence[Said],
        *,
        name: str = "scripted:replies",
        abilities: Abilities | None = None,
    ) -> None:
        self.name = name
        self.abilities = abilities or Abilities(tokenizer=True)
        self.requests: list[Request] = []
        self._replies = tuple(replies)

    @classmethod
    def from_file(cls, path: str | Path) -> ScriptedModel:
        """Return a model that gives the replies of a file.

        Args:
            path: UTF-8 text; replies are separated by lines that are exactly ``---``. Such a line at the very
                beginning or end separates nothing. An empty reply between two of them is a reply.

        Raises:
            ConfigError: the file is missing, cannot be read, is not UTF-8, or has no reply.
        """
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConfigError(f"cannot read the script {path}: {reason}", "name a text file of replies") from error
        except UnicodeDecodeError as error:
            message = f"the script {path} is not UTF-8 (byte {error.start})"
            raise ConfigError(message, "save it as UTF-8 text") from error
        except ValueError as error:
            raise ConfigError(f"the script's name {str(path)!r} is not a file name: {error}") from error
        replies = _split(text.replace("\r\n", "\n"))
        if not replies:
            message = f"the script {path} has no reply"
            raise ConfigError(message, f"write replies into it, separated by lines that are exactly {SEPARATOR}")
        return cls(replies, name=f"scripted:{path}")

    async def stream(self, request: Request) -> AsyncIterator[Chunk | Reply]:
        """Yield the next reply token by token, then whole.

        Raises:
            ScriptExhausted: there is no further reply.
            ModelError: the script says so.
        """
        self.requests.append(request)
        reply, error = self._reply(len(self.requests))
        text = ReplyText(request.prefix, request.stop)
        parts: list[str] = []
        for thought in tokens(reply.reasoning):
            await checkpoint()
            yield Chunk(reasoning=thought)
        for token in [*tokens(reply.text), None]:
            await checkpoint()
            if token is None and error is not None:
                raise error
            piece = text.close() if token is None else text.feed(token)
            if piece:
                parts.append(piece)
                yield Chunk(text=piece)
            if text.cut:
                break
        for number, call in enumerate(reply.calls):
            await checkpoint()
            yield Chunk(action=f"{chr(10) if number else ''}{call.name} {call.arguments}")
        whole = "".join(parts)
        usage = self._usage(request, whole) if reply.usage == Usage() else reply.usage
        finish = "stop" if text.cut else reply.finish
        yield reply.model_copy(update={"text": whole, "finish": finish, "usage": usage})

    async def count_tokens(self, text: str) -> int:
        """Return how many tokens ``text`` is when this model streams it."""
        return len(tokens(text))

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _reply(self, number: int) -> tuple[Reply, ModelError | None]:
        if number > len(self._replies):
            count = len(self._replies)
            replies = "1 reply" if count == 1 else f"{count} replies"
            message = f"{self.name} has {replies} and was asked for number {number}"
            raise ScriptExhausted(message, "add a reply to the script, or ask for fewer steps")
        said = self._replies[number - 1]
        if isinstance(said, ModelError):
            raise said
        reply, error = said if isinstance(said, tuple) else (said, None)
        return Reply(text=reply) if isinstance(reply, str) else reply, error

    def _usage(self, request: Request, text: str) -> Usage:
        prompt = sum(len(tokens(message.content)) for message in request.messages) + len(tokens(request.prefix))
        return Usage(prompt_tokens=prompt, completion_tokens=len(tokens(text)))


def _split(text: str) -> list[str]:
    replies: list[list[str]] = [[]]
    for line in text.removesuffix("\n").split("\n"):
        if line == SEPARATOR:
            replies.append([])
        else:
            replies[-1].append(line)
    if not any(replies[0]):
        replies = replies[1:]
    if replies and not any(replies[-1]):
        replies = replies[:-1]
    return ["\n".join(lines) for lines in replies]
