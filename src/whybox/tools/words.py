"""The words that may stand in and around an expression, English and Chinese.

Every other word is an error: an expression with a word left out may mean something else.
"""

from __future__ import annotations

FILLERS = frozenset(
    {
        "please", "compute", "calculate", "evaluate", "computing", "calculating", "what", "what is", "what's",
        "whats",
        "how much is", "how much", "find", "the", "value of", "the value of", "value", "result", "result of",
        "the result of", "answer", "tell me", "can you", "could you", "solve", "work out", "expression",
        "the expression", "calculation", "is", "me", "for me", "let's", "lets", "calculator", "input",
        "请", "请你", "请问", "帮我", "帮忙", "麻烦", "计算", "计算一下", "算", "算一下", "算算", "算出",
        "一下", "求", "求出", "求解",
        "的值", "的结果", "值", "结果", "是多少", "等于多少", "等于几", "是几", "得多少", "得几", "多少", "几",
        "吗", "呢", "是", "的得数",
        "什么", "我想知道", "告诉我", "给我", "算式", "表达式", "这个", "下面", "下列", "题", "为多少", "为",
        "我", "式子", "会", "要",
    }
)  # fmt: skip

OPERATORS: dict[str, str] = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/", "mod": "mod", "modulo": "mod",
    "to the power of": "spoken^", "to the power": "spoken^", "raised to": "spoken^",
    "raised to the power of": "spoken^", "squared": "squared", "cubed": "cubed",
    "percent": "percent", "per cent": "percent", "of": "of",
    "degrees": "°", "degree": "°", "deg": "°", "equals": "=", "equal to": "=", "is equal to": "=",
    "greater than": ">", "is greater than": ">", "less than": "<", "is less than": "<",
    "加": "+", "加上": "+", "减": "-", "减去": "-", "乘": "*", "乘以": "*", "乘上": "*", "除以": "/",
    "的平方": "squared", "平方": "squared", "的立方": "cubed", "立方": "cubed",
    "的平方根": "rooted", "的立方根": "cube rooted", "的阶乘": "spoken!", "阶乘": "spoken!",
    "度": "°", "等于": "=", "大于": ">", "小于": "<", "大于等于": ">=", "小于等于": "<=", "不等于": "!=",
    "的": "of", "分之": "parts of", "百分之": "percent of",
}  # fmt: skip

NAMES: dict[str, str] = {
    "square root of": "sqrt", "the square root of": "sqrt", "square root": "sqrt", "cube root of": "cbrt",
    "the cube root of": "cbrt", "根号": "sqrt", "圆周率": "pi", "正弦": "sin", "余弦": "cos", "正切": "tan",
}  # fmt: skip

MULTIPLIERS: dict[str, int] = {
    "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "百": 10**2, "千": 10**3, "万": 10**4, "十万": 10**5, "百万": 10**6, "千万": 10**7,
    "亿": 10**8, "十亿": 10**9, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12,
}  # fmt: skip

UNITS = frozenset(
    {
        "km", "cm", "mm", "kg", "mg", "ml", "kilometers", "kilometer", "kilometres", "kilometre", "meters", "meter",
        "metres", "metre", "miles", "mile", "feet", "foot", "inches", "grams", "gram", "kilograms", "kilogram",
        "pounds", "pound", "ounces", "tons", "tonnes", "liters", "litres", "liter", "litre", "gallons", "hours",
        "hour",
        "minutes", "minute", "seconds", "second", "days", "day", "weeks", "week", "months", "month", "years", "year",
        "dollars", "dollar", "usd", "euros", "euro", "eur", "yuan", "rmb", "cny", "yen", "jpy", "cents", "people",
        "apples", "apple", "items", "pieces", "boxes", "books", "units", "kwh", "mph", "kph", "kmh", "kw",
        "千米", "公里", "米", "厘米", "毫米", "英里", "里", "千克", "公斤", "克", "吨", "斤", "升", "毫升",
        "千瓦", "千卡",
        "小时", "分钟", "秒", "天", "日", "周", "月", "个月", "年", "岁", "元", "块", "块钱", "角", "美元",
        "欧元", "日元",
        "人民币", "个", "只", "人", "本", "支", "件", "箱", "盒", "袋", "瓶", "杯", "张", "辆", "棵", "平方米",
        "平方千米", "平方公里", "立方米", "个苹果", "$", "¥", "€", "£",
    }
)  # fmt: skip

PREFIX_UNITS = frozenset("$¥€£")

ENGLISH = frozenset(FILLERS | OPERATORS.keys() | NAMES.keys() | UNITS | MULTIPLIERS.keys())
LONGEST_PHRASE = 5
"""The most words in one of the English phrases."""

CHINESE = frozenset(
    word
    for word in FILLERS | OPERATORS.keys() | NAMES.keys() | UNITS
    if not word.isascii() and word not in PREFIX_UNITS
)
LONGEST_CHINESE = max(map(len, CHINESE))
