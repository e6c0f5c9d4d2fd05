"""The labels of sections, as data: which words open what, in which language, and where they count.

They stand below everything that reads or writes them: the readers of replies look for them, and what a tool returns is
put into a prompt so that none of its lines can pose as one.
"""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "thought",
    "action",
    "tool",  # an action only where its line goes on to name a tool on offer
    "input",
    "argument",  # an input only behind an action
    "observation",
    "output",  # an observation only behind an action
    "answer",
    "reply",  # an answer only behind a labelled thought
    "question",
    "speaker",  # the turn of a person, only behind an answer or an action
]

Labels = tuple[tuple[str, Kind, tuple[str, ...]], ...]

LABELS: Labels = (
    ("en", "thought", ("thought", "thoughts", "thought process")),
    ("en", "action", ("action", "next action")),
    ("en", "tool", ("tool", "tool name", "tool_name", "tool call", "tool to use", "function", "actions")),
    ("en", "tool", ("function name", "function call", "command", "call", "act", "use tool", "action name")),
    ("en", "input", ("action input", "action  input", "actioninput", "action_input", "action-input", "action inputs")),
    ("en", "argument", ("input", "inputs", "tool input", "tool_input", "toolinput", "function input", "command input")),
    ("en", "argument", ("arguments", "args", "parameters", "params", "tool arguments", "tool args", "tool parameters")),
    ("en", "argument", ("action arguments", "action args", "action parameters", "function arguments")),
    ("en", "argument", ("function args", "function parameters", "tool_args", "tool_arguments", "action_args")),
    ("en", "observation", ("observation", "observations")),
    ("en", "output", ("tool output", "tool result", "tool response", "function result", "action output")),
    ("en", "output", ("action result", "tool_output", "tool_result", "tool_response")),
    ("en", "answer", ("final answer", "finalanswer", "final_answer", "final-answer", "answer")),
    ("en", "answer", ("the final answer is", "final answer is", "the final answer")),
    ("en", "reply", ("ai", "assistant", "response", "final response", "reply", "final reply")),
    ("en", "question", ("question",)),
    ("en", "speaker", ("user", "human")),
    ("zh", "thought", ("思考", "想法", "思路", "思考过程")),
    ("zh", "action", ("行动", "动作", "行動", "動作", "下一步行动")),
    ("zh", "tool", ("工具", "工具名", "工具名称", "调用工具", "使用工具", "工具调用", "操作", "调用", "執行", "执行")),
    ("zh", "input", ("行动输入", "动作输入", "行動輸入", "動作輸入")),
    ("zh", "argument", ("输入", "輸入", "参数", "參數", "工具输入", "工具参数", "操作输入", "行动参数", "动作参数")),
    ("zh", "argument", ("调用参数", "输入参数", "工具輸入")),
    ("zh", "observation", ("观察结果", "观察", "觀察", "觀察結果", "观测", "观测结果")),
    ("zh", "output", ("工具输出", "工具结果", "工具返回", "返回结果", "执行结果")),
    ("zh", "answer", ("最终答案", "最終答案", "最终回答", "最终答复", "最终回复", "答案", "回答")),
    ("zh", "reply", ("助手", "回复")),
    ("zh", "question", ("问题", "問題")),
    ("zh", "speaker", ("用户", "人类")),
    ("es", "thought", ("pensamiento",)),
    ("es", "action", ("accion",)),
    ("es", "input", ("entrada de accion", "entrada de la accion", "entrada accion")),
    ("es", "argument", ("entrada",)),
    ("es", "observation", ("observacion",)),
    ("es", "answer", ("respuesta final", "respuesta")),
    ("es", "question", ("pregunta",)),
    ("fr", "thought", ("pensee", "reflexion")),
    ("fr", "input", ("entree de l'action", "entree de l’action", "entree d'action", "entree d’action")),
    ("fr", "input", ("entree action",)),
    ("fr", "argument", ("entree",)),
    ("fr", "answer", ("reponse finale", "reponse")),
    ("de", "thought", ("gedanke", "gedanken", "uberlegung")),
    ("de", "action", ("aktion", "handlung")),
    ("de", "input", ("aktionseingabe", "aktions-eingabe", "eingabe der aktion", "eingabe fur aktion")),
    ("de", "input", ("handlungseingabe",)),
    ("de", "argument", ("eingabe",)),
    ("de", "observation", ("beobachtung",)),
    ("de", "answer", ("endgultige antwort", "finale antwort", "abschließende antwort", "endantwort", "antwort")),
    ("de", "question", ("frage",)),
    ("pt", "thought", ("pensamento",)),
    ("pt", "action", ("acao",)),
    ("pt", "input", ("entrada da acao", "entrada de acao", "entrada acao")),
    ("pt", "observation", ("observacao",)),
    ("pt", "answer", ("resposta final", "resposta")),
    ("pt", "question", ("pergunta",)),
    ("it", "thought", ("pensiero",)),
    ("it", "action", ("azione",)),
    ("it", "input", ("input dell'azione", "input dell’azione", "input azione", "ingresso azione")),
    ("it", "observation", ("osservazione",)),
    ("it", "answer", ("risposta finale", "risposta")),
    ("it", "question", ("domanda",)),
    ("nl", "thought", ("gedachte",)),
    ("nl", "action", ("actie",)),
    ("nl", "input", ("actie-invoer", "actie invoer", "actieinvoer", "invoer van actie")),
    ("nl", "argument", ("invoer",)),
    ("nl", "observation", ("observatie", "waarneming")),
    ("nl", "answer", ("definitief antwoord", "eindantwoord", "antwoord")),
    ("nl", "question", ("vraag",)),
    ("ru", "thought", ("мысль", "размышление")),
    ("ru", "action", ("деиствие",)),
    ("ru", "input", ("ввод деиствия", "входные данные деиствия", "вход деиствия", "входные данные")),
    ("ru", "observation", ("наблюдение",)),
    ("ru", "answer", ("окончательныи ответ", "финальныи ответ", "итоговыи ответ", "ответ")),
    ("ru", "question", ("вопрос",)),
    ("ja", "action", ("アクション",)),
    ("ja", "input", ("行動入力", "アクション入力", "行動の入力", "アクションの入力", "動作入力")),
    ("ja", "argument", ("入力",)),
    ("ja", "observation", ("観察", "観測")),
    ("ja", "answer", ("最終回答", "最終的な答え", "最終的な回答", "答え")),
    ("ja", "question", ("質問",)),
    ("ko", "thought", ("생각",)),
    ("ko", "action", ("행동", "액션")),
    ("ko", "input", ("행동 입력", "액션 입력", "행동입력")),
    ("ko", "argument", ("입력",)),
    ("ko", "observation", ("관찰",)),
    ("ko", "answer", ("최종 답변", "최종 답", "최종답변", "답변")),
    ("ko", "question", ("질문",)),
    ("pl", "thought", ("mysl",)),
    ("pl", "action", ("akcja", "działanie")),
    ("pl", "input", ("wejscie akcji", "dane wejsciowe akcji", "dane wejsciowe")),
    ("pl", "observation", ("obserwacja",)),
    ("pl", "answer", ("ostateczna odpowiedz", "odpowiedz koncowa", "odpowiedz")),
    ("pl", "question", ("pytanie",)),
    ("tr", "thought", ("dusunce",)),
    ("tr", "action", ("eylem",)),
    ("tr", "input", ("eylem girdisi", "eylem girisi")),
    ("tr", "observation", ("gozlem",)),
    ("tr", "answer", ("nihai cevap", "son cevap")),
    ("tr", "question", ("soru",)),
)
"""Language, kind and names; names are written as :func:`fold` leaves them: lower case, without accents."""

ALONE = frozenset({"final answer", "action input", "最终答案", "最终回答", "行动输入", "动作输入"})
"""Names that are clear enough to be labels without a colon, alone on their line."""
