"""Words that carry no content of their own in a question to a knowledge base, in English and Chinese.

``STOP`` words are left out of a query. ``WEAK`` words take part in ranking with a small weight: they ask for a kind
of
fact ("how *long* is the Nile") and so help to choose a sentence, but say nothing about the subject. ``COUNTING``
words ask for a number.
"""

from __future__ import annotations

from typing import Final

_EN_STOP: Final = """
a about after all also am an and any are as at be been being both but by can could did do does doing done during
each
either else ever every few for from give had has have having he her here hers him his how i if in into is it its
itself
just know let like may me might mine must my need no nor not of on once only or other our ours out over own per
please
pls shall she should so some such than that the their theirs them then there these they this those through to too
under
until up upon us very want was we were what whats when where wherever whether which while who whom whose why will
with
within without would yes you your yours
d ll m re s t ve
answer definition describe detail details explain fact facts info information lookup meaning mention query question
tell
"""

_EN_WEAK: Final = """
amount approximately big call called deep exact exactly far find get high known large long many measure most much
name named number often old quantity search show size tall thing things time times today total value wide
"""

_ZH_STOP: Final = """
的 了 是 在 和 与 及 或 有 着 过 地 得 之 其 等 也 都 就 会 能 而 且 但 则 于 以 为 被 把 对 由 从 到 向 跟 让 给 将
所 各 该 每 某 又 再 还
很 最 更 太 吗 呢 吧 啊 呀 嘛 么 哪 谁 几 多 这 那 我 你 您 他 她 它 们 个 请 中 里 上 下 不 没
年 月 日 号 位 座 次 条
什么 多少 哪个 哪里 哪儿 哪些 哪年 哪一年 哪位 何时 何地 何人 何处 多久 几个 几次 几年 多大 怎么 怎样 怎么样 如何
为何 为什么 是否 是不是 有没有
请问 告诉 告诉我 知道 一下 一个 一种 一些 这个 那个 这些 那些 我们 你们 他们 它们 可以 能否 以及 还有 并且 然后 关于
有关 相关 其中 之一
是谁 是什么 是多少 有多少 有哪些 有几个 在哪里 在哪 叫什么 我想 想知道 帮我 先查 查询 查找 查一下 搜索 检索 介绍
说明 解释 回答 问题 信息 资料
详情 简介 内容 定义 含义 意思 事实
"""

_ZH_WEAK: Final = """
名字 名称 数字 数量 数值 具体 大约 大概 总共 一共 多长 多高 多远 多深 多宽 时间 时候 地方 东西 大小 著名 主要
今天 昨天 明天 现在 目前 当前 最近
"""

STOP: Final = frozenset((_EN_STOP + _ZH_STOP).split())
WEAK: Final = frozenset((_EN_WEAK + _ZH_WEAK).split())

COUNTING: Final = (
    "how many", "how much", "how far", "how long", "how high", "how tall", "how big", "how large", "how old",
    "how deep", "how wide", "how fast", "when ", "what year", "which year", "number of",
    "多少", "几", "多长", "多高", "多远", "多大", "多深", "多宽", "多久", "哪年", "哪一年", "何时", "什么时候",
)  # fmt: skip
