"""The providers: how each is named, where it is, whose key goes there, and how it is spoken to. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Protocol = Literal["local", "script", "recording", "openai"]


@dataclass(frozen=True, slots=True)
class Provider:
    """A place where models are.

    Args:
        name: what stands before the colon.
        form: how a model of it is named, for people.
        protocol: how it is spoken to.
        base_url: its address; empty where there is none, or none that is fixed.
        key: the environment variable of its key; empty when it needs none. The key goes to this address only.
        note: what it is, for people.
    """

    name: str
    form: str
    protocol: Protocol
    base_url: str = ""
    key: str = ""
    note: str = ""


PROVIDERS: dict[str, Provider] = {
    each.name: each
    for each in (
        Provider("local", "local:NAME or local:/path/to/file.gguf", "local", note="any GGUF file, in this process"),
        Provider("ollama", "ollama:NAME", "openai", "http://127.0.0.1:11434/v1", note="a server on this machine"),
        Provider("server", "NAME with --base-url", "openai", key="WHYBOX_API_KEY", note="any OpenAI-compatible server"),
        Provider("openai", "openai:NAME", "openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "OpenAI"),
        Provider("deepseek", "deepseek:NAME", "openai", "https://api.deepseek.com", "DEEPSEEK_API_KEY", "DeepSeek"),
        Provider(
            "dashscope",
            "dashscope:NAME",
            "openai",
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            "DASHSCOPE_API_KEY",
            "Qwen, at Alibaba Cloud",
        ),
        Provider("replay", "replay:RUN", "recording", note="the recorded replies of a run"),
        Provider("scripted", "scripted:FILE", "script", note="replies from a text file, for tests and teaching"),
    )
}
"""Providers by name, in the order in which people are told of them."""
