"""What is known of models: the tables of the package, and the user's own over them."""

from __future__ import annotations

import datetime as dt
import tomllib
from importlib.resources import files

import pytest

from whybox.errors import ConfigError
from whybox.ports import Abilities
from whybox.providers.catalogue import PROVIDERS
from whybox.providers.facts import Facts, known, matching, price_of


def table(name: str) -> dict:
    return tomllib.loads(files("whybox.providers").joinpath(name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["abilities.toml", "prices.toml"])
def test_every_pattern_is_of_a_provider_that_is_there(name: str) -> None:
    assert {pattern.partition(":")[0] for pattern in table(name)} <= set(PROVIDERS)


def test_every_table_of_abilities_can_be_used() -> None:
    for pattern in table("abilities.toml"):
        found = known(pattern.replace("*", "x").replace("[45]", "4").replace("[134]", "3"))
        assert found != Facts()
        assert found.best is None or found.abilities.can(found.best)


def test_every_price_has_a_source_and_a_day_and_can_be_found() -> None:
    for pattern, entry in table("prices.toml").items():
        price = price_of(pattern.replace("*", ""), {})
        assert price is not None
        assert isinstance(entry["date"], dt.date)
        assert price.note == f"{entry['source']} {entry['date']}"
        assert 0 < (price.cached or price.input) <= price.input < price.output


@pytest.mark.parametrize("name", ["openai:gpt-2", "dashscope:qwen-x", "server:m"])
def test_a_price_that_is_not_known_is_none(name: str) -> None:
    assert price_of(name, {}) is None


def test_a_model_of_which_nothing_is_known_is_asked_in_plain_text_with_stops() -> None:
    assert known("server:m").abilities == Abilities()


def test_tables_that_fit_go_over_each_other_in_order() -> None:
    tables = {"a:*": {"tools": True, "context": 1}, "b:*": {"context": 2}, "a:x*": {"tools": False}}
    assert matching("a:xy", tables) == Facts(tools=False, context=1)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"tolls": True}, "unknown key 'tolls' (there are"),
        ({"tools": "perhaps"}, "tools: input should be a valid boolean"),
        ({"best": "yaml"}, "best: input should be"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_clear_line(entry: dict, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        matching("a:b", {"a:*": entry}, "config.toml")
    assert str(caught.value).startswith('[models."a:*"] in config.toml')
    assert said in str(caught.value)


def test_a_price_of_the_users_goes_before_and_says_where_it_is_from() -> None:
    price = price_of("openai:gpt-5.4", {"openai:*": {"input": 0, "output": 0}}, "config.toml")
    assert price is not None
    assert price.free
    assert price.note == "config.toml"
    with pytest.raises(ConfigError, match="output: field required"):
        price_of("openai:gpt-5.4", {"openai:*": {"input": 1}}, "config.toml")
