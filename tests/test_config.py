"""Where values come from, and that no key is ever printed or taken from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from tests.cli.commands import Shell
from whybox import Limits, config
from whybox.assemble import Settings
from whybox.cli.ask import ApprovalName, LanguageName, ModeName
from whybox.cli.running import Streaming
from whybox.errors import ConfigError


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file of the test's own."""
    path = tmp_path / "config.toml"
    path.write_text("")
    monkeypatch.setenv("WHYBOX_CONFIG", str(path))
    for name in config.Values.model_fields:
        monkeypatch.delenv(f"WHYBOX_{name.upper()}", raising=False)
    return path


def test_the_environment_goes_before_the_file_and_the_file_before_the_default(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('model = "mine:a"\nmax_steps = 4\nfallback = ["local:x"]')
    monkeypatch.setenv("WHYBOX_MAX_STEPS", "7")
    loaded = config.load()
    assert (loaded.values.model, loaded.values.max_steps, loaded.values.retries) == ("mine:a", 7, 3)
    assert loaded.values.fallback == ("local:x",)
    assert [loaded.source(name) for name in ("model", "max_steps", "retries")] == [
        str(file),
        "WHYBOX_MAX_STEPS",
        "default",
    ]


def test_a_list_in_the_environment_has_commas(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_FALLBACK", "local:a, server:b")
    assert config.load().values.fallback == ("local:a", "server:b")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tempreature = 1", "did you mean temperature?"),
        ("api_key = 'sk-1'", "keys are not kept in files"),
        ("[servers.a]\nbase_url = 'http://x'\napi_key = 'sk-1'", "name the variable with key_env"),
        ("[servers.a]\nkey_env = 'A'", "base_url: field required"),
        ("max_steps = 0", "max_steps from"),
        ("max_steps = 'many'", "not 'many'"),
        ("mode = 'yaml'", "mode from"),
        ("models = 3", "is no table of tables"),
        ("= 3", "is not TOML"),
    ],
)
def test_what_cannot_be_used_is_one_clear_line(file: Path, text: str, said: str) -> None:
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        config.load()
    line = str(caught.value)
    assert said in line
    assert "\n" not in line.replace(str(file), "")
    assert "sk-1" not in line


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigError, match="there is no configuration file"):
        config.load()


def test_show_says_where_each_value_comes_from_and_no_key(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    file = tmp_path / "config.toml"
    file.write_text('model = "mine:m"\n[servers.mine]\nbase_url = "http://127.0.0.1:9/v1"\nkey_env = "MINE_KEY"')
    env = {"WHYBOX_CONFIG": str(file), "MINE_KEY": "sk-planted-1", "OPENAI_API_KEY": "sk-planted-2"}
    done = shell("config", "show", **env)
    assert (done.code, done.err) == (0, "")
    assert "sk-planted" not in done.out
    secret = {"WHYBOX_BASE_URL": "http://me:sk-planted-3@127.0.0.1:9/v1?key=sk-planted-4"}
    file.write_text(file.read_text().replace("http://127", "http://me:sk-planted-5@127"))
    for arguments in (("config", "show"), ("config", "show", "--json"), ("models",)):
        said = shell(*arguments, **env, **secret)
        assert said.code == 0
        assert "sk-planted" not in said.out + said.err
        assert "http://127.0.0.1:9/v1" in said.out
    rows = {row["name"]: row for row in shell("config", "show", "--json", **env).events}
    assert (rows["model"]["value"], rows["model"]["source"]) == ("mine:m", str(file))
    assert (rows["MINE_KEY"]["value"], rows["DEEPSEEK_API_KEY"]["value"]) == ("set", "not set")
    assert shell("config", "path", **env).out.strip() == str(file)


def test_no_key_is_in_anything_that_a_run_writes(tmp_path: Path) -> None:
    from tests.misbehaving_server import serving

    key = "sk-planted-key-9876543210"
    shell = Shell(tmp_path, {"WHYBOX_API_KEY": key})
    with serving() as server:
        for oddity in ("plain", "status-401-raw", "key-in-the-stream", "key-in-a-challenge", "key-in-the-location"):
            for more in ((), ("--json",), ("--debug",)):
                done = shell("ask", "-m", "m", "--base-url", server.url(oddity), "--retries", "0", "q?", *more)
                assert key not in done.out + done.err
                assert server.exchanges[-1].headers["authorization"] == f"Bearer {key}"
    run = json.loads(shell("runs", "list", "--json").out.splitlines()[0])["id"]
    for arguments in (("runs", "show", run, "--prompt"), ("runs", "show", run, "--json"), ("models",)):
        done = shell(*arguments)
        assert key not in done.out + done.err
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path


def test_the_configuration_the_command_line_and_the_library_agree_on_choices_and_defaults() -> None:
    values, settings = config.Values(), Settings()
    assert (
        Limits(
            max_steps=values.max_steps,
            model_seconds=values.model_timeout,
            tool_seconds=values.tool_timeout,
            reply_tokens=values.max_tokens,
            retries=values.retries,
        )
        == settings.limits
    )
    for name in ("model", "base_url", "mode", "approve", "answer_model", "escalate", "temperature", "logprobs"):
        assert getattr(values, name) == getattr(settings, name)
    hints = get_type_hints(config.Values)
    for name, choices in (("mode", ModeName), ("approve", ApprovalName), ("lang", LanguageName), ("stream", Streaming)):
        literal = next(each for each in (hints[name], *get_args(hints[name])) if get_origin(each) is Literal)
        assert get_args(literal) == tuple(choices)
