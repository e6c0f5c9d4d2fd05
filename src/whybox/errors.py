"""Every error whybox raises on purpose.

    WhyboxError                  exit 1
    ├── UsageError               exit 2   what the user asked for cannot be done as written
    │   ├── ConfigError                   a setting is missing or wrong
    │   ├── ToolDefinitionError           a function cannot be made into a tool
    │   └── UnknownModel                  no such provider or model
    ├── ToolError                exit 1   a tool could not do what it was asked (becomes an observation)
    ├── StoreError               exit 2   the trace cannot be written or read
    └── ModelError               exit 3   the model could not be reached or did not finish
        ├── ModelUnreachable              no connection, or the server refused
        ├── ModelTimeout                  no answer within the limit
        ├── ModelBroken                   the stream ended before the reply was whole
        ├── ContextOverflow               the prompt is longer than the model can read
        ├── ScriptExhausted               a scripted model ran out of replies
        └── WeightsError                  the weights of an embedded model are missing or damaged

Each error is one sentence that says what is wrong; ``hint`` is the next thing to do or type.
"""

from __future__ import annotations


class WhyboxError(Exception):
    """Base of all errors that whybox raises on purpose.

    Args:
        message: one sentence: what is wrong and what was kept.
        hint: the next thing to do or type, without a full stop; may be empty.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(WhyboxError):
    """What the user asked for cannot be done as written."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is missing or has a value that cannot be used."""


class ToolDefinitionError(UsageError):
    """A function cannot be made into a tool."""


class UnknownModel(UsageError):
    """No provider or model has this name."""


class ToolError(WhyboxError):
    """A tool could not do what it was asked; the message is written for the model to act on."""


class StoreError(WhyboxError):
    """The trace cannot be written or read."""

    exit_code = 2


class ModelError(WhyboxError):
    """The model could not be reached or did not finish its reply.

    Args:
        message: see :class:`WhyboxError`.
        hint: see :class:`WhyboxError`.
        temporary: the same call may succeed later.
        retry_after: how long the server asks to wait, in seconds.
    """

    exit_code = 3
    kind = "failed"

    def __init__(
        self, message: str, hint: str = "", *, temporary: bool | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, hint)
        self.temporary = self.kind == "broken" if temporary is None else temporary
        self.retry_after = retry_after


class ModelUnreachable(ModelError):
    """No connection to the model, or its server refused the request."""

    kind = "unreachable"


class ModelTimeout(ModelError):
    """The model did not finish within the time allowed."""

    kind = "timeout"


class ModelBroken(ModelError):
    """The stream ended before the reply was whole."""

    kind = "broken"


class ContextOverflow(ModelError):
    """The prompt is longer than the model's context."""

    kind = "context"


class ScriptExhausted(ModelError):
    """A scripted model was asked once more than it has replies."""

    kind = "script"


class WeightsError(ModelError):
    """The weights of an embedded model are missing, damaged or cannot be loaded."""

    kind = "weights"
