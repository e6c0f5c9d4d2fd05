"""The tools of a user's own Python file (``--tools FILE.py``)."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from whybox.errors import ConfigError, WhyboxError
from whybox.tools.function import FunctionTool


def load_tools_file(path: str | Path) -> list[FunctionTool[..., Any]]:
    """Run a Python file and return its ``@tool`` functions in the order of their definition.

    The file is the user's own code and may do what any program may; its folder can be imported from, as with
    ``python FILE.py``. Nothing is written beside it.

    Raises:
        ConfigError: the file is missing or unreadable, has a syntax error, fails while it runs, or has no tools;
            one line with file and line number.
    """
    file = Path(path)
    code = _compile(file)
    module = ModuleType(f"whybox_user_tools:{file.resolve()}")
    module.__file__ = str(file)
    with _importable(file, module):
        try:
            exec(code, module.__dict__)  # noqa: S102 - running the user's own file is what was asked for
        except (Exception, SystemExit) as error:
            raise ConfigError(_failure(error, file), "mend the file, or leave out --tools") from error
    tools = list({id(value): value for value in vars(module).values() if isinstance(value, FunctionTool)}.values())
    if not tools:
        raise ConfigError(f"{file} has no tools", "put @tool (from whybox import tool) above a function")
    return tools


def _compile(file: Path) -> CodeType:
    try:
        source = file.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"the tools file {file} cannot be read: {reason}") from error
    try:
        return compile(source, str(file), "exec", dont_inherit=True)
    except SyntaxError as error:
        message = f"{file}:{error.lineno or 1}: syntax error: {error.msg}"
        raise ConfigError(message, "mend the file, or leave out --tools") from error
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise ConfigError(f"{file}:1: this is not a Python file: {error}") from error


@contextmanager
def _importable(file: Path, module: ModuleType) -> Iterator[None]:
    """Let the module be found by its name while it runs and, when it ran well, from then on.

    Dataclasses and pydantic look up the module of a class by name.
    """
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    sys.modules[module.__name__] = module
    try:
        yield
    except BaseException:
        del sys.modules[module.__name__]
        raise
    finally:
        sys.path.remove(folder)


def _failure(error: BaseException, file: Path) -> str:
    """Return ``FILE:LINE: Kind: message``, with the last line of the file that was running."""
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None) or 1
    if isinstance(error, WhyboxError):
        return f"{file}:{line}: {error}"
    if isinstance(error, SystemExit):
        return f"{file}:{line}: the file ended the program (SystemExit: {error.code})"
    first = " ".join(str(error).split())[:300]
    return f"{file}:{line}: {type(error).__name__}: {first}"
