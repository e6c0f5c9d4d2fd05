"""From a model's name to the model."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from whybox.errors import ConfigError, UnknownModel, WeightsError
from whybox.ports import Abilities
from whybox.providers.openai_compat import OpenAICompatModel
from whybox.providers.registry import resolve
from whybox.providers.scripted import ScriptedModel

URL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _nothing_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("naming a model must not reach for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize(
    ("named", "name"),
    [
        ("openai:gpt-x", "openai:gpt-x"),
        ("gpt-x", "openai:gpt-x"),
        ("qwen2.5:1.5b", "openai:qwen2.5:1.5b"),
        ("org/model", "openai:org/model"),
        (" gpt-x ", "openai:gpt-x"),
    ],
)
def test_with_a_base_url_a_name_is_that_of_a_model_at_that_server(tmp_path: Path, named: str, name: str) -> None:
    model = resolve(named, base_url=URL, api_key="sk-planted", cache_dir=tmp_path)
    assert isinstance(model, OpenAICompatModel)
    assert (model.name, model.location) == (name, f"{URL} (this machine)")
    assert "sk-planted" not in repr(model)


def test_the_abilities_of_a_server_can_be_given(tmp_path: Path) -> None:
    given = Abilities(grammar=True, context=4096)
    assert resolve("m", base_url=URL, cache_dir=tmp_path, abilities=given).abilities == given
    assert resolve("m", base_url=URL, cache_dir=tmp_path, context=99).abilities == Abilities(context=99)


def test_a_model_of_a_server_without_its_address_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--base-url"):
        resolve("openai:gpt-x", api_key="sk-planted", cache_dir=tmp_path)


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
        ("opneai:gpt", "did you mean openai:NAME with --base-url?"),
        ("scripted", "did you mean scripted:FILE?"),
        ("", "there are local:NAME or local:/path/to/file.gguf, openai:NAME with --base-url, scripted:FILE"),
        ("zzz", "there are local:NAME or local:/path/to/file.gguf, openai:NAME with --base-url, scripted:FILE"),
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
