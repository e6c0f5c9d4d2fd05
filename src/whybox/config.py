"""The only reader of the environment and of the configuration file.

A value is a flag, else the environment variable ``WHYBOX_<NAME>``, else what the file says, else the default. Keys are
only read from the environment, where they do not end up in backups and screenshots.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_cache_path, user_config_path, user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from whybox.errors import ConfigError

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"
_SECRET = re.compile(r"key|token$|secret|password|authorization", re.IGNORECASE)


def _listed(value: Any) -> Any:
    """Return a list for text with commas, as it is written in the environment."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class Values(BaseModel):
    """What can be set, with its default.

    Args:
        model: ``provider:name``.
        base_url: of an OpenAI-compatible server, in place of the model's own.
        mode: how the model is held to the format; None for the one that suits it best.
        lang: language of prompts; None for the question's own.
        approve: which calls ask a person.
        answer_model: another model for the final answer.
        escalate: a larger model for steps without progress.
        fallback: models that are tried, in order, when the one before is down.
        kb: the knowledge base; None for the one in the data folder.
        context: tokens that prompt and reply may have together; None for the model's own.
        max_steps: most replies of the model.
        max_tokens: longest reply, in tokens.
        model_timeout: longest model call, in seconds.
        tool_timeout: longest tool call, in seconds.
        retries: how often a call that failed is made again.
        temperature: of decoding.
        logprobs: how many of the likeliest tokens are kept for each token of a reply.
        stream: what is shown token by token.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = DEFAULT_MODEL
    base_url: str | None = None
    mode: Literal["text", "grammar", "json", "tools"] | None = None
    lang: Literal["en", "zh"] | None = None
    approve: Literal["never", "risky", "always"] = "risky"
    answer_model: str | None = None
    escalate: str | None = None
    fallback: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    kb: Path | None = None
    context: Annotated[int, Field(ge=256)] | None = None
    max_steps: Annotated[int, Field(ge=1)] = 10
    max_tokens: Annotated[int, Field(ge=16)] = 800
    model_timeout: Annotated[float, Field(ge=0.1)] = 60.0
    tool_timeout: Annotated[float, Field(ge=0.1)] = 30.0
    retries: Annotated[int, Field(ge=0)] = 3
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    logprobs: Annotated[int, Field(ge=0, le=20)] = 0
    stream: Literal["all", "steps", "answer"] = "all"


class Server(BaseModel):
    """A server that the user has given a name, for models called ``NAME:model``.

    Args:
        base_url: the address of its OpenAI-compatible interface.
        key_env: the environment variable of its key; empty when it wants none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str
    key_env: str = ""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that was set.

    Args:
        values: what can be set, flags left out.
        sources: where each value that is no default came from, by name.
        models: tables of what models can do, by pattern of ``provider:model``.
        prices: tables of what they cost, by pattern.
        servers: named servers.
        path: the configuration file; it may not be there.
    """

    values: Values
    sources: Mapping[str, str]
    models: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    servers: Mapping[str, Server] = field(default_factory=dict)
    path: Path = Path()

    def source(self, name: str) -> str:
        """Return where a value came from: ``default``, the file, or the environment variable."""
        return self.sources.get(name, "default")


def data_dir() -> Path:
    """Return the folder for runs and knowledge bases: ``WHYBOX_DATA_DIR`` or the platform's own."""
    named = os.environ.get("WHYBOX_DATA_DIR")
    return Path(named).expanduser() if named else user_data_path("whybox", appauthor=False)


def cache_dir() -> Path:
    """Return the folder for what can be fetched or made again: ``WHYBOX_CACHE_DIR`` or the platform's own."""
    named = os.environ.get("WHYBOX_CACHE_DIR")
    return Path(named).expanduser() if named else user_cache_path("whybox", appauthor=False)


def config_path() -> Path:
    """Return the configuration file: ``WHYBOX_CONFIG`` or ``config.toml`` in the platform's own folder."""
    named = os.environ.get("WHYBOX_CONFIG")
    return Path(named).expanduser() if named else user_config_path("whybox", appauthor=False) / "config.toml"


def key(variable: str) -> str | None:
    """Return the key in an environment variable, or None when it is unset or empty."""
    return os.environ.get(variable) or None


def load() -> Config:
    """Read the environment and the configuration file.

    Raises:
        ConfigError: the file cannot be read, or a name or a value cannot be used.
    """
    path = config_path()
    table = _file(path)
    tables = {name: _tables(table.pop(name, {}), name, path) for name in ("models", "prices", "servers")}
    _refuse_secrets(table, str(path))
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, value in table.items():
        _check_known(name, str(path))
        values[name], sources[name] = value, str(path)
    for name in Values.model_fields:
        variable = f"WHYBOX_{name.upper()}"
        if os.environ.get(variable):
            values[name], sources[name] = os.environ[variable], variable
    return Config(
        values=_values(values, sources),
        sources=sources,
        models=tables["models"],
        prices=tables["prices"],
        servers={name: _server(name, each, path) for name, each in tables["servers"].items()},
        path=path,
    )


def _file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if os.environ.get("WHYBOX_CONFIG"):
            raise ConfigError(f"there is no configuration file {path}", "WHYBOX_CONFIG names it") from None
        return {}
    except OSError as error:
        raise ConfigError(f"the configuration file {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"the configuration file {path} is not UTF-8 text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the configuration file {path} is not TOML: {error}") from error


def _tables(tables: Any, name: str, path: Path) -> dict[str, dict[str, Any]]:
    if not isinstance(tables, dict) or not all(isinstance(each, dict) for each in tables.values()):
        raise ConfigError(f"{name} in {path} is no table of tables", f'write [{name}."NAME"] above its values')
    for title, table in tables.items():
        _refuse_secrets(table, f'[{name}."{title}"] in {path}')
    return tables


def _refuse_secrets(table: Mapping[str, Any], where: str) -> None:
    for name in table:
        if _SECRET.search(name) and name not in (*Values.model_fields, "key_env"):
            hint = "set it in the environment, and name the variable with key_env"
            raise ConfigError(f"{name} in {where}: keys are not kept in files", hint)


def _check_known(name: str, where: str) -> None:
    if name in Values.model_fields:
        return
    known = (*Values.model_fields, "models", "prices", "servers")
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise ConfigError(f"{name} in {where} is nothing that can be set", hint)


def _values(values: dict[str, Any], sources: Mapping[str, str]) -> Values:
    try:
        return Values.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise ConfigError(f"{name} from {sources[name]}: {first['msg'].lower()}, not {first['input']!r}") from error


def _server(name: str, table: Mapping[str, Any], path: Path) -> Server:
    try:
        return Server.model_validate(dict(table))
    except ValidationError as error:
        first = error.errors()[0]
        what = ".".join(str(part) for part in first["loc"])
        hint = f"there are {', '.join(Server.model_fields)}"
        raise ConfigError(f"[servers.{name}] in {path}: {what}: {first['msg'].lower()}", hint) from error
