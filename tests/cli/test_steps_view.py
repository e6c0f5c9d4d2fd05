"""What a person is shown of retries, other models, notes and calls side by side."""

from __future__ import annotations

import asyncio
import io
from contextlib import aclosing

import pytest
from inline_snapshot import snapshot
from rich.console import Console
from rich.theme import Theme

from tests.engine.worlds import DIALECTS, World
from whybox.cli.screen import PlainScreen
from whybox.cli.steps_view import StepsView
from whybox.cli.words import money
from whybox.engine.drive import drive
from whybox.errors import ModelBroken, ModelUnreachable
from whybox.events import NativeCall, Stamped, Started
from whybox.ports import Reply
from whybox.providers.scripted import ScriptedModel
from whybox.spec import ModelUse
from whybox.trace import Trace

BUSY = ModelUnreachable("127.0.0.1 is busy", temporary=True)
DOWN = ModelUnreachable("nobody listens")
SEARCH = "Thought: I look.\nAction: search[x]"
ANSWER = "Thought: I know.\nFinal Answer: It is 42."


def drawn(world: World, *, stored: bool = False, streaming: str = "all") -> str:
    """Return what is drawn of a run, live or from the store."""

    async def go() -> None:
        agent = world.spec.model_dump(mode="json")
        first = Started(question="Why?", language=world.spec.language, agent=agent)
        async with aclosing(drive(world.spec, DIALECTS, world.edges, "r", Trace(), first)) as items:
            async for item in items:
                if not stored or isinstance(item, Stamped):
                    view.show(item)
        view.close()

    out = io.StringIO()
    console = Console(file=out, width=100, highlight=False, theme=Theme({"answer": "bold"}))
    view = StepsView(PlainScreen(console), world.spec.language, streaming=streaming)  # type: ignore[arg-type]
    asyncio.run(go())
    return out.getvalue()


def test_a_call_that_is_made_again_is_told_with_its_wait() -> None:
    assert drawn(World([BUSY, ANSWER])) == snapshot("""\
the model failed: 127.0.0.1 is busy
asking again in 1 s, try 2
Thought      I know.
Answer       It is 42.
""")


@pytest.mark.parametrize(("stored", "pieces"), [(False, ("I kn\n", " ow.\n")), (True, ("I know.\n",))])
def test_a_reply_that_broke_off_and_comes_again_is_shown_once(stored: bool, pieces: tuple[str, ...]) -> None:
    text = drawn(World([("Thought: I kn", ModelBroken("lost")), ANSWER]), stored=stored)
    assert [text.count(piece) for piece in pieces] == [1] * len(pieces)
    assert text.count("I kn") == text.count("It is 42.") == 1


def test_a_reply_that_comes_again_in_other_words_says_so() -> None:
    assert drawn(World([("Thought: I think that", ModelBroken("lost")), ANSWER])) == snapshot("""\
Thought      I think that
the model failed: lost
asking again in 1 s, try 2
the reply begins anew, in other words
Thought      I know.
Answer       It is 42.
""")


def test_other_models_are_named_where_they_take_part() -> None:
    spare = ScriptedModel([SEARCH, "Thought: done\nFinal Answer: a draft", ANSWER], name="scripted:spare")
    world = World([DOWN], fallbacks=(ModelUse(name=spare.name),), others=[spare])
    assert drawn(world) == snapshot("""\
if it is down: scripted:spare
the model failed: nobody listens
scripted:spare takes over, the one before is down
thoughts by scripted:spare, text
Thought      I look.
Action       search[x]
Observation  found it
Thought      done
Answer       a draft
""")


def test_an_answer_by_another_model_in_chinese() -> None:
    other = ScriptedModel(["最终答案：是 42。"], name="scripted:other")
    replies = ["思考：查一下。\n行动：search[x]", "思考：知道了。\n最终答案：草稿"]
    world = World(replies, language="zh", answer=ModelUse(name=other.name), others=[other])
    assert drawn(world) == snapshot("""\
答案：scripted:other，text
思考         查一下。
行动         search[x]
观察         found it
思考         知道了。
             草稿
答案：scripted:other，text
答案         是 42。
""")


@pytest.mark.parametrize("streaming", ["all", "steps"])
def test_results_of_calls_side_by_side_name_their_call(streaming: str) -> None:
    calls = (NativeCall(id="a", name="search", arguments='{"query": "x"}'), NativeCall(id="b", name="clock"))
    reply = Reply(text="", reasoning="Two at once.", calls=calls, notes=("the server does not take `stop`",))
    text = drawn(World([reply, reply, Reply(text="It is 42.")], mode="tools"), streaming=streaming)
    assert text.count("note: the server does not take `stop`") == 1
    assert 'search[{"query": "x"}]:\n' in text.replace("Observation  ", "")
    assert "clock[]:" in text or "clock[{}]:" in text


@pytest.mark.parametrize(
    ("cost", "text"),
    [(None, "?"), (0.0, "0"), (12.345, "$12.35"), (0.0123, "$0.0123"), (0.00001234, "$0.000012"), (1.0, "$1.00")],
)
def test_money_has_as_many_digits_as_it_needs(cost: float | None, text: str) -> None:
    assert money(cost) == text
