"""What every store does: the fake and the database alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import anyio
import pytest

from whybox.errors import StoreError, UsageError
from whybox.events import Answered, Asked, Replied, Resumed, Segment, Started, Stopped, Unknown, Usage
from whybox.store import MemoryStore
from whybox.store.sql import SqlStore

pytestmark = pytest.mark.anyio

AnyStore = MemoryStore | SqlStore
STARTED = Started(question="今天星期几？", language="zh")
ASKED = Asked(
    step=1,
    model="scripted:x",
    mode="text",
    prompt=(Segment(name="question", role="user", text="今天星期几？", tokens=5),),
    max_tokens=9,
)


def replied(prompt: int | None, completion: int | None) -> Replied:
    return Replied(step=1, text="ok", usage=Usage(prompt_tokens=prompt, completion_tokens=completion))


async def test_events_come_back_equal_numbered_from_one_and_stamped(store: AnyStore) -> None:
    first = await store.append("r", 0, [STARTED, ASKED])
    second = await store.append("r", 2, [Answered(answer="星期四")])
    assert [stamped.seq for stamped in first + second] == [1, 2, 3]
    assert second[0].at > first[0].at == first[1].at
    assert await store.read("r") == first + second
    assert [stamped.event for stamped in await store.read("r")] == [STARTED, ASKED, Answered(answer="星期四")]


async def test_reading_behind_a_number_gives_only_what_follows(store: AnyStore) -> None:
    stamped = await store.append("r", 0, [STARTED, ASKED, ASKED])
    assert await store.read("r", 1) == stamped[1:]
    assert await store.read("r", 3) == []


@pytest.mark.parametrize("run", ["nobody", "", "\ud800", "x" * 100])
async def test_an_unknown_run_has_no_events(store: AnyStore, run: str) -> None:
    assert await store.read(run) == []


async def test_runs_do_not_mix(store: AnyStore) -> None:
    await store.append("a", 0, [STARTED])
    await store.append("b", 0, [ASKED, ASKED])
    assert [s.event for s in await store.read("a")] == [STARTED]
    assert [s.run for s in await store.read("b")] == ["b", "b"]


async def test_appending_behind_an_old_number_is_refused_and_adds_nothing(store: AnyStore) -> None:
    stored = await store.append("r", 0, [STARTED, ASKED])
    for after in (0, 1):
        with pytest.raises(StoreError, match=r"somebody else has added to run r.*is kept"):
            await store.append("r", after, [Resumed()])
    assert await store.read("r") == stored


@pytest.mark.parametrize("after", [-1, 2, 7])
async def test_appending_behind_a_number_that_is_not_there_is_refused(store: AnyStore, after: int) -> None:
    stored = await store.append("r", 0, [STARTED])
    with pytest.raises(StoreError, match="run r"):
        await store.append("r", after, [Resumed()])
    with pytest.raises(StoreError, match="has only 0 events"):
        await store.append("new", 3, [Resumed()])
    assert await store.read("r") == stored
    assert await store.read("new") == []


async def test_a_run_goes_on_after_a_refusal(store: AnyStore) -> None:
    await store.append("r", 0, [STARTED])
    with pytest.raises(StoreError):
        await store.append("r", 0, [Resumed()])
    await store.append("r", 1, [ASKED])
    assert [s.event for s in await store.read("r")] == [STARTED, ASKED]


async def test_of_many_who_append_at_once_exactly_one_wins(store: AnyStore) -> None:
    await store.append("r", 0, [STARTED])
    won: list[str] = []

    async def try_it(name: str) -> None:
        try:
            await store.append("r", 1, [Unknown(type=name)])
            won.append(name)
        except StoreError:
            return

    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(try_it, f"event{number}")
    assert [s.event.type for s in await store.read("r")] == ["started", *won]
    assert len(won) == 1


async def test_appending_nothing_changes_nothing(store: AnyStore) -> None:
    assert await store.append("r", 0, []) == []
    assert await store.read("r") == []
    assert await store.list_runs() == []


@pytest.mark.parametrize("run", ["", "a\nb", "运行", "x" * 65, "a\0"])
async def test_what_cannot_be_an_id_is_refused(store: AnyStore, run: str) -> None:
    with pytest.raises(UsageError, match="cannot be the id of a run"):
        await store.append(run, 0, [STARTED])


async def test_a_list_of_runs_says_what_happened_in_each(store: AnyStore) -> None:
    await store.append("a", 0, [STARTED, ASKED, replied(10, 3)])
    await store.append("a", 3, [ASKED.model_copy(update={"step": 2}), replied(20, None), Answered(answer="x")])
    await store.append("b", 0, [Started(question="two\n\nlines", language="en")])
    b, a = await store.list_runs()
    assert (a.id, a.question, a.language, a.model, a.outcome) == ("a", "今天星期几？", "zh", "scripted:x", "answered")
    assert (a.events, a.steps, a.prompt_tokens, a.completion_tokens, a.tokens, a.seconds) == (6, 2, 30, 3, 33, 1.0)
    assert (b.id, b.question, b.model, b.outcome, b.steps, b.tokens) == ("b", "two lines", "", "unfinished", 0, None)


async def test_the_outcome_follows_the_last_word(store: AnyStore) -> None:
    async def outcome() -> str:
        return (await store.list_runs())[0].outcome

    await store.append("r", 0, [STARTED, Stopped(reason="interrupted")])
    assert await outcome() == "stopped"
    await store.append("r", 2, [Resumed()])
    assert await outcome() == "unfinished"
    await store.append("r", 3, [Answered(answer="", complete=False, reason="max_steps")])
    assert await outcome() == "incomplete"


async def test_a_long_or_broken_question_is_listed_short_and_clean_and_kept_whole(store: AnyStore) -> None:
    question = "a\x00\ud800\x1b[31m" + "长" * 100_000
    await store.append("r", 0, [Started(question=question, language="zh")])
    listed = (await store.list_runs())[0].question
    assert len(listed) == 500
    assert listed.startswith("a\ufffd\ufffd\ufffd[31m长")
    assert listed.endswith("…")
    (stamped,) = await store.read("r")
    assert stamped.event == Started(question=question, language="zh")


async def test_runs_are_listed_newest_first_and_in_pages(store: AnyStore) -> None:
    for number in range(5):
        await store.append(f"r{number}", 0, [STARTED])
    await store.append("r0", 1, [Answered(answer="late")])
    assert [run.id for run in await store.list_runs(limit=3)] == ["r4", "r3", "r2"]
    assert [run.id for run in await store.list_runs(limit=3, offset=3)] == ["r1", "r0"]


async def test_a_run_is_found_by_the_beginning_of_its_id(store: AnyStore) -> None:
    for run in ("260115-abc", "260115-abd", "260116-x", "2601", "a%b", "axb"):
        await store.append(run, 0, [STARTED])
    assert await store.find("260116") == "260116-x"
    assert await store.find("260115-ABC") == "260115-abc"
    assert await store.find("2601") == "2601"
    assert await store.find("a%") == "a%b"
    with pytest.raises(UsageError, match=r"several runs .* 260115-abc, 260115-abd"):
        await store.find("260115")
    for prefix in ("zzz", "", "\ud800", "_6"):
        with pytest.raises(UsageError, match="no run has an id that begins with"):
            await store.find(prefix)


async def test_a_clock_that_jumps_back_loses_no_order(store: AnyStore, clock) -> None:
    await store.append("r", 0, [STARTED])
    clock.time -= timedelta(days=400)
    await store.append("r", 1, [ASKED])
    first, second = await store.read("r")
    assert (first.seq, second.seq) == (1, 2)
    assert second.at < first.at


async def test_times_are_kept_to_the_microsecond_in_utc(store: AnyStore, clock) -> None:
    clock.time = datetime(2026, 3, 1, 7, 59, 59, 999_999, tzinfo=timezone(timedelta(hours=8))) - timedelta(seconds=1)
    (stamped,) = await store.append("r", 0, [STARTED])
    assert stamped.at.isoformat() == "2026-02-28T23:59:59.999999+00:00"
    (read,) = await store.read("r")
    assert (read.at, read.at.tzinfo) == (stamped.at, UTC)
