"""Parsers of replies in other libraries, called as their own agents call them.

    pip install langchain-classic llama-index-core qwen-agent soundfile smolagents

(qwen-agent imports soundfile without asking for it.) What is not installed is left out. Each reading is generous:

* the error with which a library's agent asks the model again is ``AskedAgain``, wherever the agent itself makes it;
* a call of a tool that is not on offer counts as that too, since every agent here answers it with an error;
* arguments are not checked by the tool's schema, which some agents do before the call;
* thoughts and streamed text are not looked at.

A parser that takes text only is given the content of a message, and nothing where the message has native calls.
"""

from __future__ import annotations

import ast
import json
import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Tools = Sequence[dict[str, Any]]
Got = dict[str, Any]
Read = Callable[[str, Tools], Got]


class AskedAgain(Exception):
    """The parser says, in the way its agent expects, that the model has to be asked again."""


@dataclass(frozen=True)
class Reply:
    """A model's reply: ``calls`` are native calls of a whole message, ``deltas`` those of a stream."""

    content: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    old_call: dict[str, Any] | None = None  # of the field function_call
    deltas: list[dict[str, Any]] = field(default_factory=list)

    @property
    def native(self) -> bool:
        return bool(self.calls or self.old_call or any(each.get("tool_calls") for each in self.deltas))


@dataclass(frozen=True)
class Parser:
    """One parser of a library: ``read`` takes text, ``message`` whole replies where the parser knows native calls."""

    name: str
    read: Read | None = None
    message: Callable[[Reply, Tools], Got] | None = None

    def takes(self, reply: Reply) -> bool:
        return self.message is not None or (self.read is not None and not reply.native)

    def got(self, reply: Reply, tools: Tools) -> Got:
        if self.message is not None:
            return self.message(reply, tools)
        if self.read is None:
            raise TypeError(f"{self.name} reads nothing")
        return self.read(reply.content, tools)


def reply_of(case: dict[str, Any]) -> Reply:
    """Return the reply that a case has, in whatever form it has it."""
    form, output = case["form"], case["output"]
    if form == "text":
        return Reply(output)
    data = json.loads(output)
    if form == "fragments":
        return Reply("".join(data))
    if form == "choice":
        message = data.get("message") or {}
        return Reply(message.get("content") or "", message.get("tool_calls") or [], message.get("function_call"))
    chunks = [each for each in data if isinstance(each, dict)]
    deltas = [choice.get("delta") or {} for chunk in chunks for choice in (chunk.get("choices") or [])[:1]]
    return Reply("".join(each.get("content") or "" for each in deltas), deltas=deltas)


def _calls(calls: Iterable[tuple[Any, Any]], tools: Tools) -> Got:
    found = [{"tool": tool, "input": given} for tool, given in calls]
    known = {tool["name"] for tool in tools}
    for each in found:
        if each["tool"] not in known:
            raise AskedAgain(f"there is no tool {each['tool']!r}")
    if not found:
        raise AskedAgain("there is no call")
    return {"kind": "action", **found[0]} if len(found) == 1 else {"kind": "multi_action", "calls": found}


def _answer(value: Any) -> Got:
    return {"kind": "answer", "answer": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


# ---------------------------------------------------------------- langchain-classic


def langchain() -> list[Parser]:
    """Return the agents' output parsers; OutputParserException is what AgentExecutor sends back to the model."""
    from langchain_classic.agents import output_parsers as new
    from langchain_classic.agents.chat.output_parser import ChatOutputParser
    from langchain_classic.agents.conversational.output_parser import ConvoOutputParser
    from langchain_classic.agents.conversational_chat.output_parser import ConvoOutputParser as ConvoChatOutputParser
    from langchain_classic.agents.mrkl.output_parser import MRKLOutputParser
    from langchain_classic.agents.react.output_parser import ReActOutputParser
    from langchain_classic.agents.structured_chat.output_parser import StructuredChatOutputParser

    texts = {
        "ReActSingleInput": new.ReActSingleInputOutputParser(),
        "ReActJsonSingleInput": new.ReActJsonSingleInputOutputParser(),
        "JSONAgent": new.JSONAgentOutputParser(),
        "StructuredChat": StructuredChatOutputParser(),
        "Chat": ChatOutputParser(),
        "MRKL": MRKLOutputParser(),
        "Conversational": ConvoOutputParser(),
        "ConversationalChat": ConvoChatOutputParser(),
        "ReAct docstore": ReActOutputParser(),
        "SelfAsk": new.SelfAskOutputParser(),
        "XMLAgent": new.XMLAgentOutputParser(),
    }
    messages = {"ToolsAgent": new.ToolsAgentOutputParser(), "OpenAIFunctions": new.OpenAIFunctionsAgentOutputParser()}
    return [
        *(Parser(name, read=_langchain_text(parser)) for name, parser in texts.items()),
        *(Parser(name, message=_langchain_message(parser)) for name, parser in messages.items()),
    ]


def _langchain_text(parser: Any) -> Read:
    return lambda text, tools: _langchain(lambda: parser.parse(text), tools)


def _langchain_message(parser: Any) -> Callable[[Reply, Tools], Got]:
    from langchain_core.outputs import ChatGeneration

    def read(reply: Reply, tools: Tools) -> Got:
        message = _langchain_stream(reply) if reply.deltas else _langchain_whole(reply)
        return _langchain(lambda: parser.parse_result([ChatGeneration(message=message)]), tools)

    return read


def _langchain(parse: Callable[[], Any], tools: Tools) -> Got:
    from langchain_core.agents import AgentFinish
    from langchain_core.exceptions import OutputParserException

    try:
        found = parse()
    except OutputParserException as error:
        raise AskedAgain(str(error)) from error
    if isinstance(found, AgentFinish):
        return _answer(found.return_values["output"])
    actions = found if isinstance(found, list) else [found]
    return _calls([(action.tool, action.tool_input) for action in actions], tools)


def _langchain_whole(reply: Reply) -> Any:
    """Return the message that LangChain's client for OpenAI makes of a whole completion."""
    from langchain_core.messages import AIMessage
    from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call

    calls, invalid = [], []
    for each in reply.calls:
        try:
            calls.append(parse_tool_call(each, return_id=True))
        except Exception as error:  # noqa: BLE001 - as the client does
            invalid.append(make_invalid_tool_call(each, str(error)))
    more = {"tool_calls": reply.calls} if reply.calls else {}
    more |= {"function_call": reply.old_call} if reply.old_call else {}
    return AIMessage(content=reply.content, tool_calls=calls, invalid_tool_calls=invalid, additional_kwargs=more)


def _langchain_stream(reply: Reply) -> Any:
    from langchain_core.messages import AIMessageChunk
    from langchain_core.messages.tool import tool_call_chunk

    total = AIMessageChunk(content="")
    for delta in reply.deltas:
        pieces = []
        for each in delta.get("tool_calls") or []:
            made = each.get("function") or {}
            name, arguments = made.get("name"), made.get("arguments")
            pieces.append(tool_call_chunk(name=name, args=arguments, id=each.get("id"), index=each.get("index")))
        total += AIMessageChunk(content=delta.get("content") or "", tool_call_chunks=pieces)
    return total


# ---------------------------------------------------------------- llama-index-core


def llama_index() -> list[Parser]:
    """Return the parser of its ReActAgent, which sends a ValueError, and an empty reply, back to the model."""
    from llama_index.core.agent.react.output_parser import ReActOutputParser
    from llama_index.core.agent.react.types import ActionReasoningStep

    parser = ReActOutputParser()

    def read(text: str, tools: Tools) -> Got:
        if not text:
            raise AskedAgain("the reply is empty")
        try:
            step = parser.parse(text)
        except ValueError as error:
            raise AskedAgain(str(error)) from error
        if isinstance(step, ActionReasoningStep):
            return _calls([(step.action, step.action_input)], tools)
        return _answer(step.response)

    return [Parser("ReActOutputParser", read=read)]


# ---------------------------------------------------------------- qwen-agent


def qwen() -> list[Parser]:
    """Return the reading of its ReActChat and what its two prompts for calls make of a reply; none has an error."""
    from qwen_agent.agents.react_chat import ReActChat
    from qwen_agent.llm.fncall_prompts.nous_fncall_prompt import NousFnCallPrompt
    from qwen_agent.llm.fncall_prompts.qwen_fncall_prompt import FN_STOP_WORDS, QwenFnCallPrompt

    def react(text: str, tools: Tools) -> Got:
        text = "".join(item.text or "" for item in _qwen_message(text, ["Observation:", "Observation:\n"]).content)
        # The method uses nothing of the agent, which could not be made without a model.
        has_action, tool, given, _ = ReActChat._detect_tool(None, text)
        if has_action:
            return _calls([(tool, _qwen_input(given))], tools)
        # The agent gives the whole text out; what its prompt calls the answer is taken out of it here.
        return _answer(text.rpartition("Final Answer:")[2])

    return [
        Parser("ReActChat", read=react),
        Parser("nous prompt", read=_qwen_prompt(NousFnCallPrompt(), [])),
        Parser("qwen prompt", read=_qwen_prompt(QwenFnCallPrompt(), FN_STOP_WORDS)),
    ]


def _qwen_message(text: str, stop: list[str]) -> Any:
    """Return the message that its client makes of a text, which it cuts at stop words by itself."""
    from qwen_agent.llm.base import _postprocess_stop_words
    from qwen_agent.llm.schema import ASSISTANT, ContentItem, Message

    return _postprocess_stop_words([Message(role=ASSISTANT, content=[ContentItem(text=text)])], stop)[0]


def _qwen_prompt(prompt: Any, stop: list[str]) -> Read:
    def read(text: str, tools: Tools) -> Got:
        given = [_qwen_message(text, stop)]
        messages = prompt.postprocess_fncall_messages(given, parallel_function_calls=True, function_choice="auto")
        made = [each.function_call for each in messages if each.function_call]
        if made:
            return _calls([(each.name, _qwen_input(each.arguments)) for each in made], tools)
        return _answer("".join(item.text or "" for each in messages for item in each.content))

    return read


def _qwen_input(text: str) -> Any:
    """Return arguments as its tools read them, or the text where that fails: a tool may take text as well."""
    from qwen_agent.utils.utils import json_loads

    try:
        value = json_loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


# ---------------------------------------------------------------- smolagents


def smolagents() -> list[Parser]:
    """Return what its two agents read; they send any error of it back to the model as AgentParsingError."""
    import smolagents.models  # noqa: F401 - or it would first be missed when it reads

    return [
        Parser("ToolCallingAgent", message=_smol_tool_call("name", "arguments")),
        Parser("ToolCallingAgent, action_input", message=_smol_tool_call("action", "action_input")),
        Parser("CodeAgent", read=_smol_code),
    ]


def _smol_tool_call(name_key: str, arguments_key: str) -> Callable[[Reply, Tools], Got]:
    from smolagents.models import Model

    model = Model(tool_name_key=name_key, tool_arguments_key=arguments_key)
    return lambda reply, tools: _smol_calls(model, _smol_message(reply), tools)


def _smol_calls(model: Any, message: Any, tools: Tools) -> Got:
    try:
        calls = model.parse_tool_calls(message).tool_calls
    except Exception as error:
        raise AskedAgain(str(error)) from error
    found = [(call.function.name, call.function.arguments) for call in calls]
    final = [given for name, given in found if name == "final_answer"]
    if final and len(found) == 1:
        return _answer(final[0].get("answer", final[0]) if isinstance(final[0], dict) else final[0])
    return _calls(found, tools)


def _smol_message(reply: Reply) -> Any:
    from smolagents import models as smol

    if not reply.deltas:
        calls = [{"id": "", "type": "function", **each} for each in reply.calls]
        return smol.ChatMessage(role=smol.MessageRole.ASSISTANT, content=reply.content, tool_calls=calls or None)
    stream = []
    for delta in reply.deltas:
        pieces = []
        for each in delta.get("tool_calls") or []:
            made = each.get("function") or {}
            function = smol.ChatMessageToolCallFunction(arguments=made.get("arguments"), name=made.get("name"))
            pieces.append(smol.ChatMessageToolCallStreamDelta(each.get("index"), each.get("id"), "function", function))
        stream.append(smol.ChatMessageStreamDelta(content=delta.get("content"), tool_calls=pieces))
    return smol.agglomerate_stream_deltas(stream)


def _smol_code(text: str, tools: Tools) -> Got:
    """Read the calls of tools in the code; it is not run, so only calls whose arguments are written out are seen."""
    from smolagents.local_python_executor import fix_final_answer_code
    from smolagents.utils import parse_code_blobs

    if "<code>" in text and not text.strip().endswith("</code>"):
        # The agent closes every reply so, since that is its stop sequence; a bare call would not be read after it.
        text += "</code>"
    try:
        tree = ast.parse(fix_final_answer_code(parse_code_blobs(text, ("<code>", "</code>"))))
    except Exception as error:
        raise AskedAgain(str(error)) from error
    parameters = {tool["name"]: list(tool["args"]) for tool in tools} | {"final_answer": ["answer"]}
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    found = []
    for node in sorted(made, key=lambda each: (each.lineno, each.col_offset)):
        name = node.func.id  # type: ignore[attr-defined]
        if name in parameters:
            found.append((name, _literals(node, parameters[name])))
    if found and found[0][0] == "final_answer":
        return _answer(found[0][1].get("answer", ""))
    if found:
        return _calls([each for each in found if each[0] != "final_answer"], tools)
    raise AskedAgain("the code calls no tool")  # the agent shows the model what it printed, and goes on


def _literals(node: ast.Call, parameters: list[str]) -> dict[str, Any]:
    named = [*zip(parameters, node.args, strict=False), *((each.arg or "", each.value) for each in node.keywords)]
    values = {}
    for name, value in named:
        try:
            values[name] = json.loads(json.dumps(ast.literal_eval(value)))
        except (TypeError, ValueError, RecursionError):
            values[name] = ast.unparse(value)
    return values


# ---------------------------------------------------------------- all of them

LIBRARIES: dict[str, Callable[[], list[Parser]]] = {
    "langchain-classic": langchain,
    "llama-index-core": llama_index,
    "qwen-agent": qwen,
    "smolagents": smolagents,
}
# What their agents ask a server to stop at; that of llama-index asks for nothing.
STOPS = {
    "langchain-classic": ("\nObservation",),
    "qwen-agent": ("Observation:",),
    "smolagents": ("Observation:", "Calling tools:"),
}


@cache
def libraries() -> dict[str, list[Parser] | str]:
    """Return the parsers of each library, or why there are none."""
    logging.disable(logging.WARNING)  # some log each reply that they cannot read
    warnings.simplefilter("ignore")
    found: dict[str, list[Parser] | str] = {}
    for name, load in LIBRARIES.items():
        try:
            found[name] = load()
        except ImportError as error:
            found[name] = f"not installed ({error})"
    return found


def names() -> list[str]:
    """Return the names of all parsers that are installed, each with its library."""
    return [
        f"{library}: {parser.name}"
        for library, parsers in libraries().items()
        if not isinstance(parsers, str)
        for parser in parsers
    ]


def reader(name: str) -> Read:
    """Return what reads a text with the parser of that name; only its own library is imported."""
    library, _, own = name.partition(": ")
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    parser = next(each for each in LIBRARIES[library]() if each.name == own)
    return lambda text, tools: parser.got(Reply(text), tools)
