"""The only reader of the environment: where things are kept, and what the user has set."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

DEFAULT_MODEL = "local:qwen2.5-coder-1.5b"


def data_dir() -> Path:
    """Return the folder for runs and knowledge bases: ``WHYBOX_DATA_DIR`` or the platform's own."""
    named = os.environ.get("WHYBOX_DATA_DIR")
    return Path(named).expanduser() if named else user_data_path("whybox", appauthor=False)


def cache_dir() -> Path:
    """Return the folder for what can be fetched or made again: ``WHYBOX_CACHE_DIR`` or the platform's own."""
    named = os.environ.get("WHYBOX_CACHE_DIR")
    return Path(named).expanduser() if named else user_cache_path("whybox", appauthor=False)


def setting(name: str) -> str | None:
    """Return the environment variable ``WHYBOX_<NAME>``, or None when it is unset or empty."""
    return os.environ.get(f"WHYBOX_{name.upper()}") or None


def api_key() -> str | None:
    """Return the key for the server the user named: ``WHYBOX_API_KEY``."""
    return setting("api_key")
