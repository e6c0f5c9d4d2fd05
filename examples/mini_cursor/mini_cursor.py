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
from terminal import confirm, show
from tools import ToolError, ToolRegistry, calculator
from workspace import Workspace


@dataclass(frozen=True)
class Agent:
    """A model, its tools and its limits."""

    llm: LLMClient
    tools: ToolRegistry
    parser: OutputParser
    max_steps: int  # model calls for one question
    max_errors: int  # malformed replies, unknown tools and failed tools that are forgiven for one question

    def run(self, state: AgentState) -> str | None:
        """Think, act, observe, until there is an answer; None if a limit is reached first."""
        errors = 0
        for _ in range(self.max_steps):
            reply = self.think(state)
            step = self.step(reply, state)
            if isinstance(step, AgentFinish):
                return step.answer
            show(f"\nObservation: {step.observation}\n")
            state.intermediate_steps.append(step)
            errors += step.failed
            if errors > self.max_errors:
                show(f"Stopped: {errors} errors, only {self.max_errors} are forgiven.\n")
                return None
        show(f"Stopped: no answer after {self.max_steps} steps.\n")
        return None

    def think(self, state: AgentState) -> str:
        """Ask the model what to do next and show its reply while it is being written."""
        reply = ""
        for piece in self.llm.stream(render_prompt(state, self.tools), self.parser.stop):
            show(piece)
            reply += piece
        return reply

    def step(self, reply: str, state: AgentState) -> Step | AgentFinish:
        """Do what the reply asks for. What goes wrong becomes the observation, so that the model can do better."""
        try:
            action = self.parser.parse(reply)
        except OutputParserError as error:
            return Step(reply.strip()[:500], f"Error: {error}", failed=True)
        if isinstance(action, AgentFinish):
            return action
        try:
            return Step(action.log, self.act(action, state), action)
        except ToolError as error:
            return Step(action.log, f"Error: {error}", action, failed=True)

    def act(self, action: AgentAction, state: AgentState) -> str:
        """Run the tool. Doing the same again is an error only if the result is the same again: no progress."""
        observation = self.tools.run(action.tool, action.tool_input)
        if any(step.action == action and step.observation == observation for step in state.intermediate_steps):
            raise ToolError("you did exactly this before, with this result: use it, or do something else")
        return observation


def parse_arguments() -> argparse.Namespace:
    """Read the command line and the environment; wrong usage ends here, with exit code 2."""
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
    return args


def main() -> int:
    """Answer the question, or one after the other; return the exit code."""
    args = parse_arguments()
    files = Workspace(args.workspace.resolve(), confirm)
    llm = LLMClient(args.base_url, args.model, os.environ.get("LLM_API_KEY", "none"))
    agent = Agent(llm, ToolRegistry(calculator, *files.tools()), OutputParser(), args.max_steps, args.max_errors)
    history: list[tuple[str, str]] = []
    for question in [args.question] if args.question else iter(lambda: input("\nQuestion: ").strip(), ""):
        answer = agent.run(AgentState(question, history))
        show("\n")
        history.append((question, answer or ""))
    return 0 if history and history[-1][1] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except EOFError:  # end of the questions
        sys.exit(0)
    except LLMError as failure:
        print(f"\nmini_cursor: {failure}", file=sys.stderr)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
