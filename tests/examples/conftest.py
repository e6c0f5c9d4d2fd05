"""Two endpoints for the examples: one that replies from a script, one that serves a real model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass
class Script:
    """What a scripted endpoint replies, and what it was asked.

    Args:
        replies: one for each call, sent as they are: stop sequences are ignored, as some servers do.
        cut: streams end in the middle, without a finish reason.
        status: the HTTP status of every response.
    """

    url: str = ""
    replies: list[str] = field(default_factory=list)
    cut: bool = False
    status: int = 200
    requests: list[dict] = field(default_factory=list)

    def last_words(self, call: int) -> str:
        """Return the last message of the given call, counted from 0."""
        return self.requests[call]["messages"][-1]["content"]


def handler_for(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            script.requests.append(request)
            text = script.replies[len(script.requests) - 1] if script.status == 200 else ""
            self.send_response(script.status)
            self.end_headers()
            try:
                if script.status != 200:
                    self.wfile.write(b"out of order")
                elif request.get("stream"):
                    self.stream(text)
                else:
                    self.wfile.write(json.dumps({"choices": [{"message": {"content": text}}]}).encode())
            except ConnectionError:
                pass  # a client that has read enough hangs up

        def stream(self, text: str) -> None:
            self.wfile.write(b": keep-alive\n\n")
            pieces = [text[i : i + 3] for i in range(0, len(text), 3)]
            for piece in pieces:
                self.event({"choices": [{"delta": {"content": piece}, "finish_reason": None}]})
            if not script.cut:
                self.event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
                self.event({"choices": [], "usage": {"total_tokens": 7}})
                self.wfile.write(b"data: [DONE]\n\n")

        def event(self, event: dict) -> None:
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@pytest.fixture
def script() -> Iterator[Script]:
    script = Script()
    with ThreadingHTTPServer(("127.0.0.1", 0), handler_for(script)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        script.url = f"http://127.0.0.1:{server.server_port}/v1"
        yield script
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def real_endpoint(smollm2_path: Path) -> Iterator[str]:
    """SmolLM2-135M behind examples/serve_model.py, which is interrupted at the end as a person would."""
    command = [sys.executable, EXAMPLES / "serve_model.py", smollm2_path, "--port", "0", "--context", "8192"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert " is served at http://127.0.0.1:" in line
        yield line.split(" is served at ")[1].split()[0]
        server.send_signal(signal.SIGINT)
        assert server.stdout.read() == "Stopped.\n"
    assert server.returncode == 0


@dataclass(frozen=True)
class Ran:
    """What came of a finished example."""

    code: int
    out: str
    err: str


def run_example(*command: str | Path, url: str = "", stdin: str = "") -> Ran:
    """Run a file of examples/ as a person would, in a process of its own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("LLM_")}
    env |= {"LLM_BASE_URL": url, "PYTHONUTF8": "1", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    argv = [sys.executable, EXAMPLES / command[0], *command[1:]]
    done = subprocess.run(argv, env=env, input=stdin, capture_output=True, encoding="utf-8", timeout=120, check=False)
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def run():
    """Give tests ``run_example`` without an import path between test files."""
    return run_example
