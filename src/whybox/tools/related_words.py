"""Words that ask for a fact, and the words in which texts state it: "creator of" is told as "was created by".

Only such everyday pairs are listed, each in one direction; behind ``|`` stand words that fit less well and count less.
They widen a query; they never replace its words.
"""

from __future__ import annotations

from typing import Final

_TABLE: Final = """
create creates created creator maker: created creator | invented developed designed wrote
invent invents invented inventor invention: invented inventor invention | created developed
write writes wrote written author writer: wrote written author | published
found founded founder: founded founder | established started
discover discovered discoverer discovery: discovered discovery | found
design designed designer: designed designer
develop developed developer: developed developer | created
build built builder constructed construction: built construction
compose composed composer: composed composer
paint painted painter: painted painter
direct directed director: directed director
win wins won winner champion: won winner champion
score scored scorer scores goals: scored goals
opponent opponents rival: opponent | against
height tall: height high tall
length: length long
long: long length
depth: depth deep
width: width wide
age: age | old born
birth birthday birthdate birthplace: born birth
death: died death
weight heavy: weight weighs | mass
fast: speed fast
speed: speed fast
area: area | square covers
population inhabitants: population inhabitants | people
perimeter: circumference
around: around circumference
temperature: temperature | degrees
location located: located | lies stands
begin began start started: began started
km kilometers kilometer kilometres kilometre: kilometres kilometers km
meters meter metres metre: metres meters
长度 多长: 全长 长度
高度 海拔 多高: 海拔 高程 高度
面积 多大: 面积 | 平方公里
作者: 作者 | 创作 写下
创造 创造者 创建 创建者: 创造 创造者 创建 | 发明 创立 创始 编写
发明 发明者 发明人: 发明 | 创造
创始人 创立: 创立 创始 | 创造 创建
出生 出生地 生日 生于: 出生 生于 诞辰
去世 逝世 死亡: 去世 逝世 病逝
进球 进球数: 进球 进了 | 攻入
对手 对阵: 对手 对阵
冠军 夺冠: 冠军 夺冠
建成 建造 修建: 建成 建造 | 营建 修筑
温度 气温: 温度 | 摄氏度
速度: 速度 | 每秒 时速
重量 体重: 体重 重量 | 质量
千米 公里: 公里 千米
位置 位于: 位于
"""


def _read(table: str) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    related: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    for line in table.strip().splitlines():
        asked, _, told = line.partition(":")
        same, _, near = told.partition("|")
        for word in asked.split():
            related[word] = (tuple(other for other in same.split() if other != word), tuple(near.split()))
    return related


RELATED: Final = _read(_TABLE)
"""For a word of a query, words that mean the same and words that may; in normal form."""
