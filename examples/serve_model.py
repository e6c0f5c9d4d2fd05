"""Serve a GGUF model over HTTP, so that the examples have an endpoint without any account.

    python examples/serve_model.py MODEL.gguf --port 8101

The server is llama.cpp, in this process. It speaks the OpenAI chat protocol under ``/v1`` and listens on the
loopback address only. Ctrl-C stops it. Exit codes: 0 stopped, 2 wrong usage or an unreadable model, 3 the server
could not start.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import threading
from pathlib import Path

# OpenMP reads these when llama.cpp is loaded. Its threads otherwise spin while they wait for each other, which makes
# decoding many times slower as soon as anything else uses the same cores.
os.environ["OMP_WAIT_POLICY"] = "passive"
os.environ["GOMP_SPINCOUNT"] = "0"

HOST = "127.0.0.1"


def usable_cpus() -> int:
    """Return how many CPUs this process may use, which in a container can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def fail(message: str, code: int) -> None:
    """End with one line on stderr and this exit code."""
    print(f"serve_model: {message}", file=sys.stderr)
    sys.exit(code)


def check_model(path: Path) -> None:
    """End with exit code 2 unless the file can be read and starts as every GGUF file does."""
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}", 2)
    if magic != b"GGUF":
        fail(f"{path} is not a GGUF file; `whybox models path qwen2.5-coder-1.5b` prints where pulled weights are", 2)


def check_port(port: int) -> None:
    """End with exit code 3 if the port is taken; llama.cpp itself would only say that it could not start."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            fail(f"port {port} cannot be used: {error.strerror}; choose another with --port, 0 takes a free one", 3)


def main() -> None:
    """Read the command line, load the model and serve it until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a GGUF model over HTTP on the loopback address.")
    parser.add_argument("model", type=Path, help="path of the GGUF file")
    parser.add_argument("--port", type=int, default=8101, help="port to listen on; 0 takes a free one (default 8101)")
    parser.add_argument("--context", type=int, default=4096, help="context length in tokens (default 4096)")
    args = parser.parse_args()
    if not 0 <= args.port <= 65535:
        parser.error(f"--port must be between 0 and 65535, not {args.port}")
    if args.context < 256:
        parser.error(f"--context must be at least 256 tokens, not {args.context}")
    check_model(args.model)
    check_port(args.port)
    try:
        import xllamacpp
    except ImportError as error:
        fail(f"llama.cpp cannot be loaded ({error}); install it with: pip install 'whybox[local]'", 3)
    params = xllamacpp.CommonParams()
    params.model.path = str(args.model)
    params.hostnames = [HOST]
    params.port = args.port
    params.n_ctx = args.context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = usable_cpus()
    params.use_jinja = True  # the model's own chat template
    params.warmup = False
    params.verbosity = -1
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        fail(f"llama.cpp cannot serve {args.model}: {error}", 3)
    print(f"{args.model.name} is served at {server.listening_address}/v1 (Ctrl-C stops it)", flush=True)
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print("Stopped.", flush=True)


if __name__ == "__main__":
    main()
