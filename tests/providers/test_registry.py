"""From a model's name to the model."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from whybox.errors import ConfigError, UnknownModel, WeightsError
from whybox.ports import Abilities
from whybox.providers.catalogue import PROVIDERS, Provider
from whybox.providers.facts import Facts
from whybox.providers.openai_compat import OpenAICompatModel
from whybox.providers.registry import Own, resolve
from whybox.providers.scripted import ScriptedModel

URL = "http://127.0.0.1:9/v1"
KEYS = {"WHYBOX_API_KEY": "sk-planted", "OPENAI_API_KEY": "sk-of-openai", "MINE": "sk-mine"}


@pytest.fixture(autouse=True)
def _nothing_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("naming a model must not reach for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ("openai:gpt-x", "server:gpt-x"),
        ("server:gpt-x", "server:gpt-x"),
        ("gpt-x", "server:gpt-x"),
        ("qwen2.5:1.5b", "server:qwen2.5:1.5b"),
        ("org/model", "server:org/model"),
        (" gpt-x ", "server:gpt-x"),
    ],
)
def test_with_a_base_url_a_name_is_that_of_a_model_at_that_server(tmp_path: Path, named: str, name: str) -> None:
    model = resolve(named, base_url=URL, key=KEYS.get, cache_dir=tmp_path)
    assert isinstance(model, OpenAICompatModel)
    assert (model.name, model.location) == (name, f"{URL} (this machine)")
    assert "sk-planted" not in repr(model)


def test_the_abilities_of_a_server_can_be_given(tmp_path: Path) -> None:
    given = Facts(grammar=True, context=4096)
    found = resolve("m", base_url=URL, cache_dir=tmp_path, promised=given).abilities
    assert found == Abilities(grammar=True, context=4096)
    assert resolve("m", base_url=URL, cache_dir=tmp_path, context=99).abilities == Abilities(context=99)


def test_a_model_of_a_server_without_its_address_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--base-url"):
        resolve("server:gpt-x", key=KEYS.get, cache_dir=tmp_path)


def test_a_script_is_read_also_when_a_base_url_is_configured(tmp_path: Path) -> None:
    path = tmp_path / "script.txt"
    path.write_text("hello")
    model = resolve(f"scripted:{path}", base_url=URL, cache_dir=tmp_path)
    assert isinstance(model, ScriptedModel)
    assert model.name == f"scripted:{path}"


def test_an_embedded_model_without_weights_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="whybox models pull smollm2-135m"):
        resolve("local:smollm2-135m", cache_dir=tmp_path)


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ("smollm2-135m", "did you mean local:smollm2-135m?"),
        ("smollm-135m", "did you mean local:smollm2-135m?"),
        ("locla:smollm2-135m", "did you mean local:smollm2-135m?"),
        ("/models/some.gguf", "did you mean local:/models/some.gguf?"),
        ("opneai:gpt", "did you mean openai:NAME?"),
        ("scripted", "did you mean scripted:FILE?"),
        ("", "see: whybox models"),
        ("zzz", "see: whybox models"),
        ("local:", "write local:NAME or local:/path/to/file.gguf"),
    ],
)
def test_an_unknown_model_gets_the_nearest_name_or_all_there_are(tmp_path: Path, named: str, hint: str) -> None:
    with pytest.raises(UnknownModel) as caught:
        resolve(named, cache_dir=tmp_path)
    assert caught.value.hint == hint
    assert caught.value.exit_code == 2


def test_an_unknown_embedded_model_is_an_unknown_model(tmp_path: Path) -> None:
    with pytest.raises(UnknownModel, match="smollm2-135m"):
        resolve("local:smollm2", cache_dir=tmp_path)


def asked_keys(tmp_path: Path, model: str, **options: object) -> list[str]:
    """Return the variables whose keys were asked for."""
    asked: list[str] = []

    def key(variable: str) -> str:
        asked.append(variable)
        return "sk-planted"

    resolve(model, cache_dir=tmp_path, key=key, **options)  # type: ignore[arg-type]
    return asked


def test_a_key_goes_to_its_own_provider_only(tmp_path: Path) -> None:
    for provider in PROVIDERS.values():
        if provider.protocol == "openai" and provider.base_url:
            assert asked_keys(tmp_path, f"{provider.name}:m") == ([provider.key] if provider.key else [])
            assert asked_keys(tmp_path, f"{provider.name}:m", base_url=URL) == ["WHYBOX_API_KEY"]
    own = Own(servers={"mine": Provider("mine", "mine:MODEL", "openai", URL, "MINE")})
    assert asked_keys(tmp_path, "mine:m", own=own) == ["MINE"]


@pytest.mark.parametrize("name", ["openai", "deepseek", "dashscope"])
def test_without_its_key_a_remote_model_says_which_one_it_needs(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=f"set {PROVIDERS[name].key}"):
        resolve(f"{name}:m", cache_dir=tmp_path)


def test_a_server_with_a_name_of_its_own_is_used_with_its_address_facts_and_price(tmp_path: Path) -> None:
    own = Own(
        models={"mine:*": {"tools": True, "best": "tools"}, "mine:small": {"context": 99}},
        prices={"mine:*": {"input": 1.0, "output": 2.0}},
        servers={"mine": Provider("mine", "mine:MODEL", "openai", URL)},
        where="config.toml",
    )
    model = resolve("mine:small", cache_dir=tmp_path, own=own)
    assert (model.name, model.location) == ("mine:small", f"{URL} (this machine)")
    assert model.abilities == Abilities(tools=True, best="tools", context=99)
    assert (model.price.input, model.price.output, model.price.note) == (1.0, 2.0, "config.toml")
