"""A real HTTP server on loopback that serves, by name, what model servers have been seen to do.

    python -m tests.misbehaving_server --list
    python -m tests.misbehaving_server --port 8099
    whybox ask "Hello?" --model any --base-url http://127.0.0.1:8099/keep-alives/v1

The first part of the path names the oddity, the rest the protocol: ``/NAME/v1/chat/completions`` is OpenAI's,
``/NAME/v1/messages`` Anthropic's. An oddity is a function of an :class:`~tests.oddities.Exchange`; its
docstring is what ``--list`` prints.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# They register themselves.
from tests import (  # noqa: F401
    oddities_anthropic,
    oddities_openai_calls,
    oddities_openai_failing,
    oddities_openai_refusing,
    oddities_openai_whole,
)
from tests.oddities import ANTHROPIC, OPENAI, Exchange

PROTOCOLS = {"v1/chat/completions": OPENAI, "v1/messages": ANTHROPIC}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MisbehavingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name, _, path = self.path.lstrip("/").partition("/")
        server = self.server
        headers = {key.lower(): value for key, value in self.headers.items()}
        exchange = Exchange(headers, body, len(server.exchanges), self.connection, server.stopping)
        server.exchanges.append(exchange)
        self.close_connection = name != "kept-open"
        oddity = PROTOCOLS.get(path.partition("?")[0], {}).get(name)
        if oddity is None:
            exchange.json({"error": {"message": f"there is no oddity at {self.path}"}}, 404)
            return
        try:
            oddity(exchange)
        except OSError:
            exchange.hung_up.set()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


class MisbehavingServer(ThreadingHTTPServer):
    """Serves every oddity at ``http://127.0.0.1:PORT/NAME/v1``.

    Attributes:
        exchanges: what has been asked so far.
    """

    daemon_threads = False
    disable_nagle_algorithm = True

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.stopping = threading.Event()
        self.exchanges: list[Exchange] = []

    def url(self, name: str) -> str:
        """Return the base URL of an oddity."""
        return f"http://127.0.0.1:{self.server_port}/{name}/v1"

    def get_request(self) -> tuple[socket.socket, Any]:
        sock, address = super().get_request()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock, address


@contextmanager
def serving(port: int = 0) -> Iterator[MisbehavingServer]:
    """Serve in a thread until the block is left."""
    server = MisbehavingServer(port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the oddities and end")
    parser.add_argument("--port", type=int, default=8099)
    args = parser.parse_args()
    if args.list:
        for path, oddities in PROTOCOLS.items():
            width = max(map(len, oddities), default=0)
            sys.stdout.write(f"/NAME/{path}\n")
            sys.stdout.writelines(f"  {name:<{width}}  {each.__doc__}\n" for name, each in oddities.items())
        return
    with serving(args.port) as server:
        sys.stdout.write(f"listening on {server.url('NAME')}, Ctrl-C ends it\n")
        sys.stdout.flush()
        try:
            server.stopping.wait()
        except KeyboardInterrupt:
            sys.stdout.write("ended\n")


if __name__ == "__main__":
    main()
