"""The command line: ``whybox``. Each group of commands is a file here, and imports what it needs when it runs."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from whybox.cli import ask, config, kb, models, parse, runs, tools
from whybox.cli.printing import one_line
from whybox.errors import WhyboxError

app = typer.Typer(
    name="whybox",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("ask")(ask.ask)
app.command("parse")(parse.parse)
app.add_typer(runs.app, name="runs")
app.add_typer(models.app, name="models")
app.add_typer(config.app, name="config")
app.add_typer(kb.app, name="kb")
app.add_typer(tools.app, name="tools")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"whybox {installed_version('whybox')}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Answer questions step by step, with every step in the open.

    Put --debug anywhere to see tracebacks and the logs of native libraries.
    """


def main() -> None:
    """Run the command line and exit with its code.

    0 answered, 1 ended without an answer, 2 wrong usage, 3 the model or a service could not be reached,
    130 interrupted.
    """
    arguments = sys.argv[1:]
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    for stream in (sys.stdout, sys.stderr):
        # A name or an answer that the terminal's encoding lacks must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    sys.exit(_run(arguments, debug))


def _run(arguments: list[str], debug: bool) -> int:
    try:
        outcome = app(arguments, prog_name="whybox", obj={"debug": debug}, standalone_mode=True)
    except SystemExit as end:
        outcome = end.code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except WhyboxError as error:
        if debug:
            raise
        print(f"whybox: {one_line(str(error))}", file=sys.stderr)  # noqa: T201
        return error.exit_code
    except Exception as error:
        if debug:
            raise
        line = f"unexpected {type(error).__name__}: {error} (run again with --debug for the traceback)"
        print(f"whybox: {one_line(line)}", file=sys.stderr)  # noqa: T201
        return 1
    return outcome if isinstance(outcome, int) else 0
