"""The words around a run on the terminal, in each language."""

from __future__ import annotations

_WORDS = {
    "en": {
        "thought": "Thought",
        "action": "Action",
        "observation": "Observation",
        "answer": "Answer",
        "loading": "making the model ready",
        "asking": "asking the model",
        "reading": "reading the prompt {done}/{total}",
        "running": "running {tool}",
        "paused": "{tool} waits for approval",
        "rejected": "not allowed: {reason}",
        "failed": "the model failed: {message}",
        "limit": "limit: {message}; asking for the best answer so far",
        "stopped": "stopped: {reason}",
        "model_stopped": "whybox: {message}; go on with: whybox runs resume {run}",
        "resumed": "resumed",
        "repaired": "repaired: {repairs}",
        "dropped": "cut off, the model wrote it itself: {text}",
        "unread": "not readable, sent back: {correction}",
        "folded": "… {lines} more lines, {chars} characters: whybox runs show {run} --step {step}",
        "incomplete": "incomplete: {reason}",
        "step": "1 step",
        "steps": "{steps} steps",
        "tokens": "{prompt}+{completion} tokens ({cached} cached)",
        "prompt": "Prompt of step {step}: {tokens} tokens to {model}",
        "prompt_before": "… the {count} parts from before, {tokens} tokens, unchanged",
        "prefix": "[assistant] fixed beginning of the reply",
    },
    "zh": {
        "thought": "思考",
        "action": "行动",
        "observation": "观察",
        "answer": "答案",
        "loading": "正在准备模型",
        "asking": "正在询问模型",
        "reading": "正在读提示词 {done}/{total}",
        "running": "正在运行 {tool}",
        "paused": "{tool} 等待批准",
        "rejected": "未获允许：{reason}",
        "failed": "模型出错：{message}",
        "limit": "限制：{message}；正在请求目前最好的答案",
        "stopped": "已停止：{reason}",
        "model_stopped": "whybox: {message}；继续运行：whybox runs resume {run}",
        "resumed": "继续运行",
        "repaired": "修复：{repairs}",
        "dropped": "已截去模型自己写的内容：{text}",
        "unread": "无法读懂，已退回：{correction}",
        "folded": "……还有 {lines} 行、{chars} 个字符：whybox runs show {run} --step {step}",
        "incomplete": "不完整：{reason}",
        "step": "1 步",
        "steps": "{steps} 步",
        "tokens": "{prompt}+{completion} 个词元（缓存 {cached}）",
        "prompt": "第 {step} 步的提示词：{tokens} 个词元，发给 {model}",
        "prompt_before": "……前面的 {count} 部分，{tokens} 个词元，没有变化",
        "prefix": "[assistant] 回复的固定开头",
    },
}


class In:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self._words = _WORDS.get(language, _WORDS["en"])

    def __call__(self, key: str, **values: object) -> str:
        """Return the words of ``key`` with the values put in."""
        return self._words[key].format(**values)
