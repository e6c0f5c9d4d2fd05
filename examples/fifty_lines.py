"""A ReAct agent in at most sixty lines of code: prompt, tools, client call, parser and loop.

    python examples/fifty_lines.py "What is (15 + 7) * 3?"

ReAct (Yao et al., 2022, arXiv:2210.03629) lets a language model think, act with a tool, observe the result and think
again until it can answer. All of it is the standard library plus any server that speaks the OpenAI chat protocol,
named by the environment: LLM_BASE_URL, LLM_MODEL and, where one is needed, LLM_API_KEY.

Exit codes: 0 answered, 1 not answered: no final answer in eight steps, or the model could not be reached.
"""

import ast
import json
import operator as op
import os
import re
import sys
import time
from urllib.request import Request, urlopen

BASE_URL = os.environ.get("LLM_BASE_URL", "http://127.0.0.1:8101/v1")
MODEL = os.environ.get("LLM_MODEL", "local")

# The worked example does most of the work: a model copies a form it has seen far better than one it was told of.
PROMPT = """Answer the question. Write one Thought and one Action, then wait for the Observation; as soon as the
observations answer the question, write the Final Answer. Keep the labels in English. 中文问题用中文思考和回答。 Tools:
calculator[expression] computes with + - * / ** and brackets; now[] tells the weekday, date and time of this moment.
Question: I was born in 1990. How old do I get this year?
Thought: I do not know which year it is, so I look at the clock.
Action: now[]
Observation: Monday, 2031-03-10 09:30:00 UTC
Thought: It is 2031. The age is this year minus the year of birth.
Action: calculator[2031 - 1990]
Observation: 41
Thought: 41 is what was asked for.
Final Answer: You turn 41 this year."""

# Nothing else can happen in an expression. Numbers are floats: 9**9**9 overflows at once instead of never ending.
OPERATORS = {ast.Add: op.add, ast.Sub: op.sub, ast.Mult: op.mul, ast.Div: op.truediv, ast.Pow: op.pow, ast.USub: op.neg}


def calculator(text):
    """Compute an expression by walking its syntax tree; model text is never executed."""

    def value(node):
        if isinstance(node, ast.Constant):
            return float(node.value)
        if type(getattr(node, "op", None)) not in OPERATORS:
            raise ValueError("only numbers, + - * / ** and brackets are allowed")
        return OPERATORS[type(node.op)](*(value(getattr(node, field)) for field in node._fields if field != "op"))

    return f"{value(ast.parse(text.translate(str.maketrans('×÷（）', '*/()')), mode='eval').body):.15g}"


TOOLS = {"calculator": calculator, "now": lambda _: time.strftime("%A, %Y-%m-%d %H:%M:%S %Z")}


def ask(messages):
    """Send the whole conversation to the model and return what it writes next."""
    # Without the stop sequence the model goes on after its action and invents the observation.
    body = {"model": MODEL, "messages": messages, "temperature": 0, "max_tokens": 500, "stop": ["Observation:"]}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('LLM_API_KEY', 'none')}"}
    with urlopen(Request(f"{BASE_URL}/chat/completions", json.dumps(body).encode(), headers), timeout=300) as response:
        # Some servers ignore the stop sequence, so the invented part is cut here too.
        return (json.load(response)["choices"][0]["message"]["content"] or "").split("Observation:")[0]


# Whichever comes first decides: an answer written after an action was written before its result was known.
STEP = re.compile(r"(?m)^Action[:：]\s*(?P<tool>\w+)\[\s*(?P<input>.*)\]|^Final Answer[:：]\s*(?P<answer>[\s\S]+)")


def act(step):
    """Run the tool that a parsed step names. What goes wrong is told to the model, which can then do better."""
    if not step or step["tool"] not in TOOLS:
        return f'Write "Action: tool[input]" with one of the tools {", ".join(TOOLS)}, or "Final Answer: ...".'
    try:
        return TOOLS[step["tool"]](step["input"])
    except Exception as error:  # noqa: BLE001 - a tool may fail in any way and must not end the run
        return f"{step['tool']} failed: {error}"


def run(question):
    """Think, act, observe, and again, until the final answer; tell whether there was one."""
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": f"Question: {question}"}]
    for _ in range(8):
        reply = ask(messages)
        step = STEP.search(reply)
        print(reply := reply[: step.end()] if step else reply, flush=True)
        if step and step["answer"]:
            return True
        print(observation := f"Observation: {act(step)}", flush=True)
        messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": observation}]
    return False


try:
    sys.exit(not run(" ".join(sys.argv[1:]) or input("Question: ")))
except (OSError, ValueError) as error:
    sys.exit(f"The model could not be reached: {error}")
