"""From a chunk at the socket to an event at the watcher, beside the bare `openai` SDK in the same run.

    pip install openai
    python benchmarks/streaming.py [--tokens 2000] [--pause 0.002] [--times 3]

A server in a process of its own streams tokens that say when they were sent; every client is on one core with it only
by chance. Latency is from the moment before the token is sent to the moment it is delivered, processor time is of the
whole client for each token. The server pauses between tokens, so that nothing waits in a queue.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from statistics import median, quantiles

from whybox import Agent, MemoryStore
from whybox.events import Delta
from whybox.ports import Chunk, Message, Request
from whybox.providers.openai_compat import OpenAICompatModel

STAMP = re.compile(r"\d{12,}")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
Deliver = Callable[[str], None]


def serve(listener: socket.socket, tokens: int, pause: float) -> None:
    """Answer every request with a stream of tokens that are times in nanoseconds."""
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1])  # type: ignore[index]
        while len(body) < length:
            body += connection.recv(65536)
        connection.sendall(HEAD)
        connection.sendall(event({"content": "Final Answer:"}))
        for _ in range(tokens):
            time.sleep(pause)
            connection.sendall(event({"content": f" {time.monotonic_ns()}"}))
        connection.sendall(event({}, "stop") + b"data: [DONE]\n\n")
        connection.close()


def event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


async def through_the_agent(url: str, deliver: Deliver) -> None:
    async with Agent("m", base_url=url, store=MemoryStore(), tools=()) as agent, aclosing(agent.stream("q?")) as items:
        async for item in items:
            if isinstance(item, Delta):
                deliver(item.text)


async def through_the_provider(url: str, deliver: Deliver) -> None:
    model = OpenAICompatModel("server:m", url, "m")
    async for item in model.stream(Request(messages=(Message(role="user", content="q?"),))):
        if isinstance(item, Chunk):
            deliver(item.text)
    await model.close()


async def through_the_sdk(url: str, deliver: Deliver) -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        messages = [{"role": "user", "content": "q?"}]
        stream = await client.chat.completions.create(model="m", messages=messages, stream=True)  # type: ignore[call-overload]
        async for chunk in stream:
            deliver(chunk.choices[0].delta.content or "")


def measure(client: Callable[[str, Deliver], Awaitable[None]], url: str) -> tuple[list[float], float]:
    """Return the latency of each token and the processor time for each, in microseconds."""
    late: list[float] = []

    def deliver(text: str) -> None:
        now = time.monotonic_ns()
        late.extend((now - int(stamp)) / 1000 for stamp in STAMP.findall(text))

    async def go() -> None:
        await client(url, deliver)

    began = time.process_time()
    asyncio.run(go())
    return late, (time.process_time() - began) / len(late) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--pause", type=float, default=0.002)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(
        target=serve, args=(listener, options.tokens, options.pause), daemon=True
    )
    server.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    clients = {"openai SDK": through_the_sdk, "provider": through_the_provider, "agent": through_the_agent}
    base: tuple[float, float, float] | None = None
    print(f"{'':12}  p50 µs  p99 µs  CPU µs a token   (to the SDK)")
    for name, client in clients.items():
        measure(client, url)  # imports and first connections are not what is measured
        runs = [measure(client, url) for _ in range(options.times)]
        figures = (
            median(median(late) for late, _ in runs),
            median(quantiles(late, n=100)[98] for late, _ in runs),
            median(cpu for _, cpu in runs),
        )
        base = base or figures
        ratios = ", ".join(f"{a / b:.2f}" for a, b in zip(figures, base, strict=True))
        print(f"{name:12}  {figures[0]:6.0f}  {figures[1]:6.0f}  {figures[2]:14.0f}   ({ratios})")
    server.terminate()


if __name__ == "__main__":
    main()
