"""What is found of a model by asking it, and how it is told."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Shell
from tests.misbehaving_server import MisbehavingServer, serving
from whybox.events import NativeCall
from whybox.ports import Abilities, Reply
from whybox.providers.check import Finding, check
from whybox.providers.facts import Facts
from whybox.providers.openai_compat import OpenAICompatModel
from whybox.providers.scripted import ScriptedModel

ABLE = Abilities(grammar=True, json_schema=True, tools=True, parallel=True, logprobs=True, prefix=True)


@pytest.fixture(scope="module")
def server() -> Iterator[MisbehavingServer]:
    with serving() as running:
        yield running


async def findings(model: ScriptedModel | OpenAICompatModel) -> dict[str, Finding]:
    found = {each.ability: each async for each in check(model)}
    await model.close()
    return found


def test_an_able_model_is_found_to_be_able_and_an_unable_one_not() -> None:
    call = NativeCall(id="a", name="weather", arguments='{"city": "Paris"}')
    able = [
        "Hello", "Hello", Reply(text="9.9", reasoning="hm"), "one two", " France", "blue", '{"number": 7}',
        Reply(text="", calls=(call,)), Reply(text="", calls=(call, call)),
        Reply(text="Hello", tokens=(("Hello", 0.0, ()),)),
    ]  # fmt: skip
    found = asyncio.run(findings(ScriptedModel(able)))
    assert {name for name, each in found.items() if not each.able} == set()
    unable = [
        "Hello",
        "Hello",
        "9.9",
        "one",
        " France",
        "yellow",
        '{"number": "7"}',
        "Sunny.",
        Reply(text="", calls=(call,)),
        "Hello",
    ]
    found = asyncio.run(findings(ScriptedModel(unable)))
    assert {name for name, each in found.items() if not each.able} == {
        "reasoning", "grammar", "json_schema", "tools", "parallel", "logprobs",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("oddity", "unable"),
    [
        ("plain", {"reasoning", "grammar", "json_schema", "tools", "parallel", "logprobs"}),
        ("stop-unsupported", {"usage", "stop", "reasoning", "grammar", "json_schema", "tools", "parallel", "logprobs"}),
        ("status-401", {"text"}),
    ],
)
def test_what_a_server_refuses_is_found(server: MisbehavingServer, oddity: str, unable: set[str]) -> None:
    found = asyncio.run(findings(OpenAICompatModel("server:m", server.url(oddity), "m", abilities=ABLE)))
    assert {name for name, each in found.items() if not each.able} == unable


def test_the_command_prints_a_table_for_the_configuration_file(server: MisbehavingServer, tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    done = shell("models", "check", "m", "--base-url", server.url("plain"))
    assert (done.code, done.err) == (0, "")
    table = tomllib.loads(done.out[done.out.index("[models") :])["models"]["server:m"]
    assert Facts.model_validate(table).abilities.stop
    assert not Facts.model_validate(table).abilities.tools
    down = shell("models", "check", "m", "--base-url", server.url("status-401"))
    assert down.code == 3
    assert "401 Unauthorized" in down.out
