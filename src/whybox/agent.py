"""The public class: one door to the engine for each thing that can be done with an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from types import TracebackType
from typing import Any, Self

from whybox.assemble import (
    Settings,
    default_store,
    dialects_of,
    edges_of,
    knowledge_base,
    mode_of,
    model_of,
    spec_of,
    tools_of,
)
from whybox.config import DEFAULT_MODEL
from whybox.engine.drive import Live, drive
from whybox.errors import UsageError
from whybox.events import Resumed, Stamped, Started
from whybox.ports import Dialect, Mode, Model, Person, Store
from whybox.prompts.language import language_of
from whybox.result import Result
from whybox.store import new_run_id
from whybox.sync import LoopThread
from whybox.trace import Trace

MAX_QUESTION_CHARS = 100_000


class Agent:
    """A ReAct agent. Safe to use from many tasks at once: each run has its own trace.

    Args:
        model: ``provider:name`` such as ``local:qwen2.5-coder-1.5b``, any :class:`whybox.ports.Model`, or all settings.
        store: where runs are kept; None for the SQLite file in the data folder.
        person: who is asked before a risky call; None for nobody, so that such calls are refused.
        dialect: the form in which the model writes its steps; None for text ReAct.
        options: the other fields of :class:`whybox.assemble.Settings`: ``tools``, ``prompt``, ``mode``, ``language``,
            ``approve``, ``limits``, ``base_url``, ``knowledge_base`` ...

    Raises:
        UsageError: an option has a value that cannot be used.
    """

    def __init__(
        self,
        model: str | Model | Settings = DEFAULT_MODEL,
        *,
        store: Store | None = None,
        person: Person | None = None,
        dialect: Dialect | None = None,
        **options: Any,
    ) -> None:
        self._settings = model if isinstance(model, Settings) else Settings(model=model, **options)
        self._given_store = store
        self._person = person
        self._dialects = dialects_of(dialect)
        self._models: dict[str | Model, Model] = {}
        self._store: Store | None = store
        self._loop = LoopThread()

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self._resolved(self._settings.model)

    def _resolved(self, name: str | Model) -> Model:
        if name not in self._models:
            self._models[name] = model_of(self._settings, name)
        return self._models[name]

    @property
    def mode(self) -> Mode:
        """How the model is held to the format."""
        return mode_of(self._settings, self.model)

    @property
    def store(self) -> Store:
        """Where runs are kept."""
        if self._store is None:
            self._store = default_store()
        return self._store

    async def stream(self, question: str, *, run_id: str | None = None) -> AsyncGenerator[Stamped | Live, None]:
        """Answer ``question``, yielding each event once it is stored and each piece of text as it is produced.

        Raises:
            UsageError: the question is empty or longer than 100,000 characters.
            StoreError: an event could not be stored.
        """
        question = checked(question)
        language = self._settings.language or language_of(question)
        async with aclosing(self._go(run_id or new_run_id(), Trace(), language, question)) as items:
            async for item in items:
                yield item

    async def run(self, question: str) -> Result:
        """Answer ``question`` and return the finished run. See :meth:`stream`."""
        async with aclosing(self.stream(question)) as items:
            return await self._finished(items)

    def run_sync(self, question: str) -> Result:
        """Answer ``question`` from code that is not asynchronous. See :meth:`run`."""
        return self._loop.run(self.run(question))

    async def resume(self, run_id: str) -> Result:
        """Go on with a run that was stopped or whose process died, and return it finished.

        Raises:
            UsageError: there is no such run, or it has its answer.
        """
        async with aclosing(self.resume_stream(run_id)) as items:
            return await self._finished(items)

    async def resume_stream(self, run_id: str) -> AsyncGenerator[Stamped | Live, None]:
        """Go on with a run as :meth:`resume` does, yielding events as :meth:`stream` does."""
        trace = Trace(stamped.event for stamped in await self.store.read(run_id))
        if not len(trace):
            raise UsageError(f"there is no run {run_id!r}", "see: whybox runs list")
        if trace.answer:
            raise UsageError(f"the run {run_id} has its answer", f"see: whybox runs show {run_id}")
        async with aclosing(self._go(run_id, trace, trace.started.language, trace.started.question)) as items:
            async for item in items:
                yield item

    async def replay(self, run_id: str) -> AsyncIterator[Stamped]:
        """Yield the stored events of a run again, without model or tools."""
        for stamped in await self.store.read(run_id):
            yield stamped

    async def _go(
        self, run_id: str, trace: Trace, language: str, question: str
    ) -> AsyncGenerator[Stamped | Live, None]:
        settings, kb = self._settings, knowledge_base(self._settings)
        try:
            tools = tools_of(settings, language, kb)
            models = {name: self._resolved(name) for name in settings.all_models}
            spec = spec_of(settings, models, tools, language)
            edges = edges_of(models.values(), tools, self.store, self._person, settings.limits, language)
            started = Started(question=question, language=language, agent=spec.model_dump(mode="json"))
            first = Resumed() if len(trace) else started
            async with aclosing(drive(spec, self._dialects, edges, run_id, trace, first)) as items:
                async for item in items:
                    yield item
        finally:
            if kb is not None:
                kb.close()

    async def _finished(self, items: AsyncIterator[Stamped | Live]) -> Result:
        run_id = ""
        async for item in items:
            if isinstance(item, Stamped):
                run_id = item.run
        return Result(run_id, tuple(await self.store.read(run_id)))

    async def close(self) -> None:
        """Release the model and the store that this agent opened."""
        for model in self._models.values():
            await model.close()
        if self._store is not None and self._given_store is None:
            await self._store.close()
        self._loop.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.close()


def checked(question: str) -> str:
    """Return the question without surrounding space, lone surrogates replaced.

    Raises:
        UsageError: it is empty or longer than 100,000 characters.
    """
    question = question.encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip()
    if not question:
        raise UsageError("the question is empty", 'try: whybox ask "What is 12 * 34?"')
    if len(question) > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {len(question):,} characters, the most is {MAX_QUESTION_CHARS:,}",
            "put long texts in files and add them with: whybox kb add PATH",
        )
    return question
