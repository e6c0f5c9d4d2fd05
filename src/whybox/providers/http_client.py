"""Where a model server is, and one HTTP client for each event loop, closed in time whoever forgets to."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field

import httpx2
from anyio.lowlevel import EventLoopToken, current_token

from whybox.errors import ConfigError

CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Endpoint:
    """A server's chat completions.

    Args:
        url: where requests go.
        where: the server's address as it may be shown.
        local: it is on this machine.
        headers: sent with each request.
        secrets: what must never be shown.
    """

    url: httpx2.URL = field(repr=False)
    where: str
    local: bool
    headers: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, base_url: str, api_key: str | None, extra: Mapping[str, str]) -> Endpoint:
        """Return the endpoint of a base URL.

        Raises:
            ConfigError: the base URL, the key or a header cannot be used.
        """
        url, key = _checked(base_url), (api_key or "").strip()
        _check_headers({"the API key": key, **{f"the header {title}": value for title, value in extra.items()}})
        path = url.path.rstrip("/")
        in_url = (url.password, *(value for _, value in url.params.multi_items()))
        return cls(
            url=url.copy_with(path=path if path.endswith("/chat/completions") else f"{path}/chat/completions"),
            where=_shown(url),
            local=is_this_machine(url.host),
            headers=_headers(key, extra),
            secrets=(key, *extra.values(), *in_url),
        )

    def client(self) -> httpx2.AsyncClient:
        """Return a new client. To this machine it goes directly, whatever proxies the environment names.

        Raises:
            ConfigError: the proxy that the environment names cannot be used.
        """
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=8)
        # Loading the certificates takes 70 ms, and a plain connection has no use for them.
        verify = self.url.scheme == "https"
        try:
            return httpx2.AsyncClient(
                verify=verify,
                limits=limits,
                timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
                transport=httpx2.AsyncHTTPTransport(verify=verify, limits=limits) if self.local else None,
            )
        except ImportError as error:
            raise ConfigError("the proxy that the environment names is a SOCKS proxy", "pip install socksio") from error
        except (ValueError, httpx2.InvalidURL) as error:
            hint = "check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY"
            raise ConfigError("the proxy that the environment names cannot be used", hint) from error


class ClientPerLoop:
    """Keeps a client, and with it the open connections, for each event loop it is used in.

    A model outlives event loops (each blocking call has its own) and may be used in several at once, but a connection
    belongs to one of them.

    Args:
        make: returns a new client.
    """

    def __init__(self, make: Callable[[], httpx2.AsyncClient]) -> None:
        self._make = make
        self._lives: dict[EventLoopToken, AsyncGenerator[httpx2.AsyncClient, None]] = {}

    async def get(self) -> httpx2.AsyncClient:
        """Return the running loop's client, made now if there is none yet."""
        token = current_token()
        if token not in self._lives:
            self._lives[token] = _life(self._make(), lambda: self._lives.pop(token, None))
        return await anext(self._lives[token])

    async def close(self) -> None:
        """Close the running loop's client and its connections."""
        if life := self._lives.get(current_token()):
            await life.aclose()


async def _life(client: httpx2.AsyncClient, ended: Callable[[], object]) -> AsyncGenerator[httpx2.AsyncClient, None]:
    # An event loop finishes the asynchronous generators that are still open when it ends, so the client is closed in
    # the loop it belongs to even if nobody calls close().
    try:
        while True:
            yield client
    finally:
        ended()
        await client.aclose()


def shown_address(base_url: str) -> str:
    """Return an address without what may be secret in it: user, password and query."""
    try:
        return _shown(_checked(base_url))
    except ConfigError:
        return "(not an address)"


def is_this_machine(host: str) -> bool:
    """Return whether a host name or address is the machine this runs on."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _shown(url: httpx2.URL) -> str:
    return str(url.copy_with(userinfo=b"", query=None, fragment=None)).rstrip("/")


def _checked(base_url: str) -> httpx2.URL:
    # The address is not repeated: it may hold a password.
    hint = "write it like http://127.0.0.1:8080/v1"
    try:
        url = httpx2.URL(base_url.strip())
    except (httpx2.InvalidURL, ValueError) as error:
        raise ConfigError("the base URL is not an address", hint) from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError("the base URL does not begin with http:// or https:// and a host", hint)
    if url.port is not None and not 0 < url.port < 65536:
        raise ConfigError(f"the port of the base URL, {url.port}, is not between 1 and 65535", hint)
    return url


def _check_headers(values: Mapping[str, str]) -> None:
    for what, value in values.items():
        if not (value.isascii() and value.isprintable()):
            raise ConfigError(f"{what} has characters that cannot be sent", "copy it again; it is plain ASCII")


def _headers(key: str, extra: Mapping[str, str]) -> dict[str, str]:
    headers = {
        "Accept": "text/event-stream, application/json",
        # A compressed stream arrives in lumps.
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": "whybox",
    }
    if key:
        headers["Authorization"] = f"Bearer {key}"
    return headers | dict(extra)
