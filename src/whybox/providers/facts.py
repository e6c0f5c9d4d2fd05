"""What is known of a model: what it can do, how it wants to be spoken to, what it costs.

Two sources, the later one counts: the tables of this package and the user's own. Both are data, by patterns of
``provider:model``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from whybox.errors import ConfigError
from whybox.ports import Abilities, Mode, Price

Table = Mapping[str, Any]
Tables = Mapping[str, Table]
T = TypeVar("T", bound=BaseModel)
_ABILITIES = tuple(Abilities.model_fields)


class Facts(BaseModel):
    """What is known of a model; None where nothing is known.

    The fields up to ``best`` are those of :class:`~whybox.ports.Abilities`.

    Args:
        empty_content: the content of a message that has calls and no text.
        reasoning_back: whether reasoning is sent back beside the calls that it led to.
        extra_body: fields that are put into every request.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    grammar: bool | None = None
    json_schema: bool | None = None
    tools: bool | None = None
    parallel: bool | None = None
    stop: bool | None = None
    logprobs: bool | None = None
    reasoning: bool | None = None
    prefix: bool | None = None
    tokenizer: bool | None = None
    context: int | None = None
    best: Mode | None = None
    empty_content: Literal["null", "string"] | None = None
    reasoning_back: Literal["never", "with_calls"] | None = None
    extra_body: dict[str, Any] | None = None

    def then(self, later: Facts) -> Self:
        """Return these facts with what ``later`` knows put over them."""
        return self.model_copy(update=later.model_dump(exclude_none=True))

    @property
    def abilities(self) -> Abilities:
        """What the model can do; what is not known is taken to be impossible, but for ``stop``."""
        return Abilities(**{name: value for name, value in self._known() if name in _ABILITIES})

    def _known(self) -> Iterator[tuple[str, Any]]:
        return ((name, value) for name, value in self if value is not None)


def known(name: str) -> Facts:
    """Return what this package says of a model.

    Args:
        name: ``provider:model``.
    """
    return matching(name, _packaged("abilities.toml"))


def matching(name: str, tables: Tables, where: str = "") -> Facts:
    """Return what all tables whose pattern fits say of a model, the later one counting.

    Args:
        name: ``provider:model``.
        tables: by pattern.
        where: the file they are from.

    Raises:
        ConfigError: a table has a key or a value that cannot be used.
    """
    found = Facts()
    for pattern, table in tables.items():
        if fnmatchcase(name, pattern):
            found = found.then(_checked(Facts, table, f'[models."{pattern}"]', where))
    return found


def price_of(name: str, own: Tables, where: str = "") -> Price | None:
    """Return what a model costs: by the first of the user's tables that fits, else by this package's; None if unknown.

    Args:
        name: ``provider:model``.
        own: the user's prices, by pattern.
        where: the file they are from.

    Raises:
        ConfigError: a table has a key or a value that cannot be used.
    """
    for tables, file in ((own, where), (_packaged("prices.toml"), "")):
        for pattern, table in tables.items():
            if fnmatchcase(name, pattern):
                price = _checked(_PriceTable, table, f'[prices."{pattern}"]', file)
                return Price(**price.model_dump(exclude={"source", "date"}), note=price.note(file))
    return None


class _PriceTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float
    cached: float | None = None
    written: float | None = None
    output: float
    source: str = ""
    date: Any = ""

    def note(self, file: str) -> str:
        return " ".join(str(part) for part in (self.source or file, self.date) if part)


def _checked(kind: type[T], table: Table, title: str, where: str) -> T:
    try:
        return kind.model_validate(dict(table))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        place = f"{title} in {where}" if where else title
        if first["type"] == "extra_forbidden":
            hint = f"there are {', '.join(kind.model_fields)}"
            raise ConfigError(f"{place} has an unknown key {key!r}", hint) from error
        raise ConfigError(f"{place}: {key}: {first['msg'].lower()}") from error


@cache
def _packaged(name: str) -> Tables:
    text = files("whybox.providers").joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)
