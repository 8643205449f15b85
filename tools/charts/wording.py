"""Findings in words, English and Chinese."""

# ruff: noqa: RUF001 - Chinese punctuation

from __future__ import annotations

import math
from typing import Any

PHRASES: dict[str, dict[str, str]] = {
    "rising": {
        "en": "It rises from {first} ({begin}) to {last} ({end}), by {change} %.",
        "zh": "从{begin}的{first}上升到{end}的{last}，变化{change}%。",
    },
    "falling": {
        "en": "It falls from {first} ({begin}) to {last} ({end}), by {change} %.",
        "zh": "从{begin}的{first}下降到{end}的{last}，变化{change}%。",
    },
    "no_trend": {
        "en": "There is no clear trend between {begin} and {end}.",
        "zh": "{begin}至{end}没有明显趋势。",
    },
    "share": {"en": "{name} makes up {share} % of the whole.", "zh": "{name}占总体的{share}%。"},
    "top_three": {"en": "The first three together make up {share} %.", "zh": "前三项合计占{share}%。"},
    "extremes": {
        "en": "The highest is {high} with {highest}, the lowest {low} with {lowest}.",
        "zh": "最高的是{high}（{highest}），最低的是{low}（{lowest}）。",
    },
    "outlier": {"en": "{name} is an outlier with {value}.", "zh": "{name}是异常值（{value}）。"},
    "outliers": {
        "en": "{count} values ({share} %) are outliers.",
        "zh": "有{count}个异常值（{share}%）。",
    },
    "spread": {
        "en": "The median is {median}; half of the values lie between {low} and {high}.",
        "zh": "中位数为{median}，一半的数值在{low}到{high}之间。",
    },
    "correlation": {
        "en": "{x} and {y} have a {strength} {sign} correlation (r = {coefficient}).",
        "zh": "{x}与{y}呈{strength}{sign}相关（r = {coefficient}）。",
    },
    "no_correlation": {
        "en": "{x} and {y} do not correlate (r = {coefficient}).",
        "zh": "{x}与{y}没有相关性（r = {coefficient}）。",
    },
    "strong": {"en": "strong", "zh": "强"},
    "moderate": {"en": "moderate", "zh": "中等"},
    "weak": {"en": "weak", "zh": "弱"},
    "none": {"en": "no", "zh": "无"},
    "positive": {"en": "positive", "zh": "正"},
    "negative": {"en": "negative", "zh": "负"},
    "count": {"en": "count", "zh": "数量"},
    "mean": {"en": "{name} (mean)", "zh": "{name}（平均）"},
}
"""Each phrase by language; the placeholders are those of the finding."""


def number(value: float) -> str:
    """A number as a person reads it: three or four digits, thousands apart."""
    if math.isnan(value):
        return "–"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value != int(value) else str(int(value))


def label(value: Any) -> str:
    """A category, or a moment as its date, with the time where it has one."""
    if hasattr(value, "isoformat"):
        text = str(value.isoformat(sep=" "))
        return text.removesuffix(" 00:00:00")
    return str(value)
