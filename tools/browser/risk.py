"""What a call may break, from its action and the element that it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..traits import Risk

if TYPE_CHECKING:
    from .elements import Element

READING = frozenset({"state", "wait", "extract_content", "get_dropdown_options", "switch_tab", "hover"})
MOVING = frozenset({"scroll_down", "scroll_up", "scroll_to_text", "go_back", "go_forward", "close_tab"})

WEIGHTY = re.compile(
    r"\b(buy|purchase|pay|payment|checkout|check out|place order|order now|subscribe|donate|transfer|withdraw|send|"
    r"publish|post|delete|remove|erase|cancel|unsubscribe|deactivate|confirm|authori[sz]e|grant|sign|accept)\b"
    r"|购买|支付|付款|下单|删除|转账|kaufen|bezahlen|bestellen|löschen|acheter|payer|supprimer|comprar|pagar|eliminar",
    re.IGNORECASE,
)
"""Words on buttons that spend, publish, delete or bind."""


def risk_of(action: str, arguments: Mapping[str, Any], element: Element | None) -> Risk:
    """Risk of one call; `element` is what its index stands for, None where it has none or it is not known.

    Reading and moving are low; navigating, clicking and typing are medium, since a site may react in any way;
    passwords, secrets, uploads and buttons that spend, publish or delete are high.
    """
    if action in READING or action in MOVING:
        return "low"
    if action == "upload_file" or "<secret>" in str(arguments.get("text", "")):
        return "high"
    if element is None:
        return "unknown" if action in {"click_element", "click_at", "input_text", "drag"} else "medium"
    if element.attributes.get("type") == "password":
        return "high"
    return "high" if action == "click_element" and WEIGHTY.search(_words(element)) else "medium"


def _words(element: Element) -> str:
    named = (str(element.attributes.get(name, "")) for name in ("label", "title", "alt", "value", "name"))
    return " ".join((element.text, *named))
