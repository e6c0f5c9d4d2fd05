"""A small assistant for a folder of files: the loop of fifty_lines.py, grown up.

    python examples/mini_cursor/mini_cursor.py "Which file mentions the port?" --workspace DIR

Without a question it asks for one after the other and remembers the last three. Exit codes: 0 answered, 1 stopped
without an answer, 2 wrong usage, 3 the model could not be reached, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from llm_client import LLMClient, LLMError
from parsers import AgentAction, AgentFinish, OutputParser, OutputParserError
from prompts import AgentState, Step, render_prompt
from tools import ToolError, ToolRegistry, calculator
from workspace import Workspace


@dataclass(frozen=True)
class Agent:
    """A model, its tools and its limits.

    Args:
        max_steps: model calls for one question.
        max_errors: malformed replies, unknown tools and failed tools that are forgiven for one question.
    """

    llm: LLMClient
    tools: ToolRegistry
    parser: OutputParser
    max_steps: int
    max_errors: int

    def run(self, state: AgentState) -> str | None:
        """Think, act, observe, until there is an answer; None if a limit is reached first."""
        errors = 0
        previous: AgentAction | None = None
        for _ in range(self.max_steps):
            reply = self.think(state)
            try:
                step = self.parser.parse(reply)
                if isinstance(step, AgentFinish):
                    return step.answer
                log = step.log
                if step == previous:
                    raise ToolError("you just did exactly this, and the result is above: use it, or do something else")
                previous = step
                observation = self.tools.run(step.tool, step.tool_input)
            except (OutputParserError, ToolError) as error:
                errors += 1
                log = reply.strip()[:500] if isinstance(error, OutputParserError) else log
                observation = f"Error: {error}"
            show(f"\nObservation: {observation}\n")
            state.intermediate_steps.append(Step(log, observation))
            if errors > self.max_errors:
                show(f"Stopped: {errors} errors, {self.max_errors} are forgiven.\n")
                return None
        show(f"Stopped: no answer after {self.max_steps} steps.\n")
        return None

    def think(self, state: AgentState) -> str:
        """Ask the model for the next step and show it while it is being written."""
        reply = ""
        for piece in self.llm.stream(render_prompt(state, self.tools), self.parser.stop):
            show(piece)
            reply += piece
        return reply


def show(text: str) -> None:
    """Print text of a model or a file without its control characters, which could rewrite what is on the screen."""
    print(
        "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text), end="", flush=True
    )


def confirm(path: str, diff: str) -> bool:
    """Show what would change and ask; anything but y, also no terminal, means no."""
    show(f"\n{diff}\nWrite {path}? [y/N] ")
    try:
        return input().strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def parse_arguments() -> argparse.Namespace:
    """Read the command line and the environment; wrong usage ends here."""
    parser = argparse.ArgumentParser(description="A small assistant for a folder of files.")
    parser.add_argument("question", nargs="?", help="without it, questions are read one by one")
    parser.add_argument("--base-url", default=os.environ.get("LLM_BASE_URL", "http://127.0.0.1:8101/v1"))
    parser.add_argument("--model", default=os.environ.get("LLM_MODEL", "local"))
    parser.add_argument("--workspace", type=Path, default=Path(), help="the folder (default: this one)")
    parser.add_argument("--max-steps", type=int, default=10)
    parser.add_argument("--max-errors", type=int, default=3)
    args = parser.parse_args()
    if not args.workspace.is_dir():
        parser.error(f"--workspace {args.workspace} is not a folder")
    if args.question is not None and not args.question.strip():
        parser.error("the question is empty")
    return args


def main() -> int:
    """Answer the question, or one after the other; return the exit code."""
    args = parse_arguments()
    files = Workspace(args.workspace.resolve(), confirm)
    tools = ToolRegistry(
        calculator, files.list_files, files.read_file, files.search_text, files.write_file, files.edit_file
    )
    llm = LLMClient(args.base_url, args.model, os.environ.get("LLM_API_KEY", "none"))
    agent = Agent(llm, tools, OutputParser(), args.max_steps, args.max_errors)
    history: list[tuple[str, str]] = []
