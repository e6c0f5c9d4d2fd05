"""Weights from the Hugging Face hub, over HTTP with resume."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from whybox.providers.weights_catalogue import Weights
from whybox.providers.weights_partial import Partial
from whybox.providers.weights_progress import SourceFailed, Watch, require_space

if TYPE_CHECKING:
    import httpx2

HUB = "https://huggingface.co"
_COMMIT_EVERY = 32 * 1024 * 1024
_ATTEMPTS = 3
_PAUSE_SECONDS = 0.5
# Short, because a caller that wants to stop is heard between two reads; a timeout resumes where it was.
_CONNECT_SECONDS, _READ_SECONDS = 10.0, 10.0


def fetch_from_hub(weights: Weights, partial: Partial, watch: Watch, hub: str = HUB) -> None:
    """Append what ``partial`` lacks. A broken connection is taken up again where it broke.

    Args:
        weights: what to fetch.
        partial: where it goes.
        watch: progress and cancellation.
        hub: base URL of the hub or of a mirror.

    Raises:
        SourceFailed: the hub has no such file, cannot be reached, or keeps breaking off without sending anything.
        WeightsError: the disk is full, or the caller wants to stop.
        OSError: the disk cannot be written.
    """
    if weights.hub is None:
        raise SourceFailed("it has no official copy of this file")
    require_space(weights, partial.folder, partial.missing)
    import httpx2

    url = weights.hub.url(hub)
    fruitless = 0
    timeout = httpx2.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS)
    with httpx2.Client(follow_redirects=True, timeout=timeout) as client:
        while partial.missing:
            before = partial.length
            reason = _fetch_once(client, url, partial, watch)
            fruitless = 0 if partial.length > before else fruitless + 1
            if partial.missing and fruitless == _ATTEMPTS:
                raise SourceFailed(reason or "it sends an empty file")
            if fruitless:
                _pause(fruitless, partial, watch)


def _pause(times: int, partial: Partial, watch: Watch) -> None:
    for _ in range(2 ** (times - 1)):
        watch.at("downloading", partial.length)
        time.sleep(_PAUSE_SECONDS)


def _fetch_once(client: httpx2.Client, url: str, partial: Partial, watch: Watch) -> str:
    """Append until the stream ends; return why it ended early, or an empty string."""
    import httpx2

    watch.at("downloading", partial.length)
    headers = {"Range": f"bytes={partial.length}-", "Accept-Encoding": "identity"}
    try:
        with client.stream("GET", url, headers=headers) as response:
            _check(response, url, partial)
            _append(response, partial, watch)
    except httpx2.TransportError as error:
        return f"it cannot be reached ({error or type(error).__name__})"
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise SourceFailed(f"{url} cannot be read ({error})") from error
    return ""


def _check(response: httpx2.Response, url: str, partial: Partial) -> None:
    if response.status_code == 206:
        if not response.headers.get("Content-Range", "").startswith(f"bytes {partial.length}-"):
            raise SourceFailed(f"{url} answers with another range than was asked for")
    elif response.status_code == 200:
        partial.restart()
    else:
        raise SourceFailed(f"{url} answers {response.status_code} {response.reason_phrase}")


def _append(response: httpx2.Response, partial: Partial, watch: Watch) -> None:
    committed = partial.length
    # In the sizes the network brings them: gathering them first would lose the last ones when the connection breaks.
    for block in response.iter_bytes():
        if len(block) > partial.missing:
            raise SourceFailed("it sends more bytes than the published file has")
        partial.write(block)
        if partial.length - committed >= _COMMIT_EVERY:
            partial.commit()
            committed = partial.length
        watch.at("downloading", partial.length)
