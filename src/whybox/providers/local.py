"""Embedded models: GGUF weights read by llama.cpp inside this process.

llama.cpp computes in threads of its own without Python's lock. Its answer comes through a callback in a thread of
ours, so the event loop is never blocked. The chat template and the tokenizer are asked for over the loopback port
that llama.cpp opens anyway; a random key keeps other users of the machine out.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import httpx2

from whybox.errors import ModelError, WeightsError
from whybox.ports import Abilities, Chunk, Price, Reply, Request
from whybox.providers import weights
from whybox.providers.local_completion import Completion, in_daemon_thread
from whybox.providers.local_openings import Openings
from whybox.providers.local_prompt import Conversation

# Between two batches a call can be cancelled and reports how far it has read; smaller costs speed (5 % at 64).
BATCH_TOKENS = 64
_MOST_TOKENIZED = 4096
CONTEXT_TOKENS = 8192


def usable_cpus() -> int:
    """Return how many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class LocalModel:
    """A GGUF model in this process. Loaded at the first call, in a thread.

    Args:
        name: ``local:...`` as the user wrote it.
        path: the weights.
        context: tokens of prompt and reply together.
        threads: computing threads; None for one a usable CPU.
        debug: let llama.cpp write its log to standard error.
        openings: where the read beginnings of prompts are kept; None for nowhere.
    """

    def __init__(
        self,
        name: str,
        path: Path,
        *,
        context: int = CONTEXT_TOKENS,
        threads: int | None = None,
        debug: bool = False,
        openings: Openings | None = None,
    ) -> None:
        self.name = name
        self.location = "in this process"
        self.price = Price(input=0, output=0)
        self.abilities = Abilities(
            grammar=True,
            json_schema=True,
            tools=True,
            parallel=True,
            logprobs=True,
            prefix=True,
            tokenizer=True,
            context=context,
        )
        self._path = path
        self._threads = threads or usable_cpus()
        self._debug = debug
        self._server: Any = None
        self._http: httpx2.AsyncClient | None = None
        self._loading = asyncio.Lock()
        self._busy = threading.Lock()
        self._calls: set[Completion] = set()
        self._last: list[int] = []
        self._openings = openings
        self._tokenized: dict[tuple[str, bool], tuple[int, ...]] = {}

    @classmethod
    def from_name(
        cls,
        name: str,
        cache_dir: Path,
        *,
        context: int | None = None,
        threads: int | None = None,
        debug: bool = False,
    ) -> LocalModel:
        """Return the model of ``local:NAME``.

        Args:
            name: a name of the catalogue or the path of a GGUF file.
            cache_dir: whybox's cache folder.
            context: tokens of prompt and reply together; None for the default.
            threads: computing threads; None for one a usable CPU.
            debug: let llama.cpp write its log to standard error.

        Raises:
            UnknownModel: the name is not in the catalogue.
            WeightsError: the weights have not been pulled, or the file is not a readable GGUF file.
        """
        path = weights.resolve(name, cache_dir)
        if path is None:
            raise WeightsError(f"the weights of local:{name} are not on this machine", f"whybox models pull {name}")
        context = context or CONTEXT_TOKENS
        openings = Openings(cache_dir / "openings", _identity(path, context))
        return cls(f"local:{name}", path, context=context, threads=threads, debug=debug, openings=openings)

    def __repr__(self) -> str:
        return f"LocalModel({self.name!r})"

    async def load(self) -> None:
        """Read the weights, if that has not been done.

        Raises:
            WeightsError: xllamacpp is not installed, or llama.cpp cannot read the file.
        """
        async with self._loading:
            if self._server is None:
                key = secrets.token_urlsafe(24)
                self._server = await in_daemon_thread(lambda: self._start(key))
                self._http = httpx2.AsyncClient(
                    base_url=self._server.listening_address,
                    headers={"Authorization": f"Bearer {key}"},
                    trust_env=False,
                    timeout=60,
                )

    def _start(self, key: str) -> Any:
        # Spinning OpenMP threads cost up to ten times when anything else runs; read when the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        os.environ.setdefault("GOMP_SPINCOUNT", "0")
        try:
            import xllamacpp
        except ImportError as error:
            raise WeightsError("embedded models need xllamacpp", "pip install 'whybox[local]'") from error
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_parallel = 1
        params.n_ctx = self.abilities.context or CONTEXT_TOKENS
        params.n_batch = params.n_ubatch = BATCH_TOKENS
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
        params.use_jinja = True
        params.warmup = False
        if self._openings is not None:
            params.endpoint_slots = True
            params.slot_save_path = str(self._openings.folder) + os.sep
        params.verbosity = 4 if self._debug else -1
        try:
            return xllamacpp.Server(params)
        except (RuntimeError, ValueError, OSError) as error:
            raise WeightsError(f"llama.cpp cannot read {self._path}: {error}", "is it a whole GGUF file?") from error

    async def stream(self, request: Request) -> AsyncGenerator[Chunk | Reply, None]:
        """Yield the reply in pieces, then whole. See :class:`whybox.ports.Model`."""
        await self.load()
        tokens, opening = await self._prompt(request)
        fresh = 0
        async with aclosing(self._read_opening(tokens, opening)) as chunks:
            async for chunk in chunks:
                fresh = opening
                yield chunk
        body = {
            "prompt": tokens,
            "n_predict": request.max_tokens,
            "temperature": request.temperature,
            "stop": list(request.stop),
        }
        if request.grammar is not None:
            body["grammar"] = request.grammar
        if request.json_schema is not None:
            body["json_schema"] = request.json_schema
        if request.logprobs:
            body["logprobs"] = request.logprobs
        self._last = tokens
        async with aclosing(self._complete(body)) as items:
            async for item in items:
                yield _honest(item, fresh) if isinstance(item, Reply) else item

    async def _complete(self, body: dict[str, Any]) -> AsyncGenerator[Chunk | Reply, None]:
        streaming = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        call = Completion(self._server, self._busy, {"cache_prompt": True, **streaming, **body})
        self._calls.add(call)
        try:
            async with aclosing(call.items()) as items:
                async for item in items:
                    yield item
        finally:
            call.cancel()
            self._calls.discard(call)

    async def _read_opening(self, tokens: list[int], opening: int) -> AsyncGenerator[Chunk, None]:
        """Make the model know the first ``opening`` tokens: it does already, from a file, or by reading them now.

        Yields how far it has read, and nothing when it has not had to read.
        """
        begin = tokens[:opening]
        if not begin or self._last[:opening] == begin or self._openings is None:
            return
        name = self._openings.name(begin)
        if self._openings.has(name) and await self._slot("restore", name):
            return
        async with aclosing(self._complete({"prompt": begin, "n_predict": 0})) as items:
            async for item in items:
                if isinstance(item, Chunk) and item.read:
                    yield Chunk(read=(item.read[0], len(tokens)))
        if self._openings.prepare() and await self._slot("save", name):
            self._openings.tidy()

    async def _slot(self, action: str, name: str) -> bool:
        """Save or restore what llama.cpp has read; False when it cannot, which only costs time."""
        if self._http is None:
            return False
        response = await self._http.post(f"/slots/0?action={action}", json={"filename": name})
        return response.status_code == httpx2.codes.OK

    async def _prompt(self, request: Request) -> tuple[list[int], int]:
        """Return the prompt as tokens, and how many of them come before the first message that is not stable.

        The tokens are the chat template's own, and those of the messages as plain text.
        """
        conversation = Conversation(request)
        data = await self._post("/apply-template", conversation.body)
        tokens: list[int] = []
        opening = 0
        for text, special, begins in conversation.pieces(str(data["prompt"])):
            if begins:
                opening = len(tokens)
            tokens += await self._tokens(text, special=special)
        return tokens, opening

    async def _tokens(self, text: str, *, special: bool) -> tuple[int, ...]:
        key = (text, special)
        if key not in self._tokenized:
            data = await self._post("/tokenize", {"content": text, "parse_special": special, "add_special": False})
            if len(self._tokenized) >= _MOST_TOKENIZED:
                self._tokenized.clear()
            self._tokenized[key] = tuple(int(token) for token in data["tokens"])
        return self._tokenized[key]

    async def count_tokens(self, text: str) -> int | None:
        """Return the length of ``text`` in tokens."""
        await self.load()
        return len(await self._tokens(text, special=False))

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        if self._http is None:
            raise ModelError(f"{self.name} has been closed")
        response = await self._http.post(path, json=body)
        if response.status_code != httpx2.codes.OK:
            raise ModelError(f"llama.cpp refused {path}: {response.text[:200]}")
        return response.json()

    async def close(self) -> None:
        """End a call that is under way and release the weights."""
        for call in tuple(self._calls):
            call.cancel()
        if self._http is not None:
            await self._http.aclose()
            self._http = None
        if self._server is not None:
            await in_daemon_thread(self._wait)
            self._server = None

    def _wait(self) -> None:
        """Wait until a call under way has noticed that it is cancelled."""
        with self._busy:
            pass


def _honest(reply: Reply, fresh: int) -> Reply:
    """Return ``reply`` with the ``fresh`` tokens that were read for this very call not counted as cached."""
    cached = reply.usage.cached_tokens
    if not fresh or cached is None:
        return reply
    return reply.model_copy(update={"usage": reply.usage.model_copy(update={"cached_tokens": max(0, cached - fresh)})})


def _identity(path: Path, context: int) -> tuple[str, ...]:
    try:
        engine = version("xllamacpp")
    except PackageNotFoundError:
        engine = "none"
    about = path.stat()
    return (str(path.resolve()), str(about.st_size), str(about.st_mtime_ns), str(context), engine)
