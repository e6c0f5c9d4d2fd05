"""The ``lookup`` tool: facts from the knowledge base, in a form that a small model can read."""

from __future__ import annotations

from typing import Final

from whybox.errors import StoreError, ToolError
from whybox.tools.arguments import BadArguments
from whybox.tools.cleaning import unwrap
from whybox.tools.function import FunctionTool, tool
from whybox.tools.kb import KnowledgeBase, Passage

_MOST: Final = 3
_SHOWN_QUERY: Final = 80

_DESCRIPTION: Final = {
    "en": (
        "Looks up facts about people, places, things and events in the documents. "
        "The input is a few key words, not a sentence. Not for arithmetic."
    ),
    "zh": "在文档中查找关于人物、地点、事物和事件的事实。输入几个关键词，不要写整句。不做计算。",
}
_EXAMPLE: Final = {"en": "Eiffel Tower height", "zh": "埃菲尔铁塔 高度"}
_NOTHING: Final = {
    "en": 'Nothing found for "{}". Try fewer or other words (a name, or the title of an article).',
    "zh": "没有找到“{}”的相关内容。请换用更少或不同的关键词（例如名称或文章标题）。",
}
_BLANK: Final = {"en": "Write what to look up between the brackets.", "zh": "请在方括号中写出要查找的关键词。"}


def lookup_tool(kb: KnowledgeBase, language: str = "en") -> FunctionTool[[str], str]:
    """Return the tool that searches ``kb``.

    Args:
        kb: the documents; searched from worker threads.
        language: ``en`` or ``zh``: of the tool's own sentences, and preferred among the documents.
    """

    @tool(
        name="lookup",
        description=_DESCRIPTION["en"],
        zh=_DESCRIPTION["zh"],
        example=_EXAMPLE,
        grounds=True,
        language=language,
    )
    def lookup(query: str) -> str:
        """Look up facts in the documents.

        Args:
            query: a few key words
        """
        try:
            return found_text(query, kb.search(query, language, _MOST), language)
        except StoreError as error:
            raise ToolError(error.message, error.hint) from error

    return lookup


def found_text(query: str, passages: list[Passage], language: str = "en") -> str:
    """Return search results as an observation: one numbered line for each passage, or that there is nothing.

    Raises:
        BadArguments: the query is blank.
    """
    if passages:
        return "\n".join(
            f"[{number}] {passage.title} ({passage.name}:{passage.line}): {passage.excerpt}"
            for number, passage in enumerate(passages, 1)
        )
    shown = " ".join(unwrap(query[: _SHOWN_QUERY * 4]).split())
    if not shown:
        raise BadArguments(_BLANK.get(language, _BLANK["en"]))
    if len(shown) > _SHOWN_QUERY:
        shown = shown[:_SHOWN_QUERY].rstrip() + "..."
    return _NOTHING.get(language, _NOTHING["en"]).format(shown)
