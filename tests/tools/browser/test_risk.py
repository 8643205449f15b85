from typing import get_args

import pytest

from clew.tools.browser.arguments import ActionName
from clew.tools.browser.elements import Element
from clew.tools.browser.risk import risk_of


def element(text="", **attributes):
    return Element(None, "", 1, "button", attributes, text)


@pytest.mark.parametrize("action", ["state", "scroll_down", "extract_content", "wait", "go_back"])
def test_looking_and_moving_are_low(action):
    assert risk_of(action, {}, None) == "low"


def test_uploads_secrets_and_passwords_are_high():
    assert risk_of("upload_file", {"index": 1}, element()) == "high"
    assert risk_of("input_text", {"text": "<secret>bank</secret>"}, element()) == "high"
    assert risk_of("input_text", {"text": "x"}, element(type="password")) == "high"


@pytest.mark.parametrize("words", ["Buy now", "Place order", "Delete account", "Jetzt bezahlen", "立即支付"])
def test_buttons_that_spend_or_delete_are_high(words):
    assert risk_of("click_element", {"index": 1}, element(words)) == "high"
    assert risk_of("click_element", {"index": 1}, element(label=words)) == "high"


def test_other_clicks_and_texts_are_medium():
    assert risk_of("click_element", {"index": 1}, element("Buyers' guide")) == "medium"
    assert risk_of("input_text", {"text": "x"}, element(type="text")) == "medium"
    assert risk_of("go_to_url", {"url": "https://example.com"}, None) == "medium"


def test_an_action_on_something_that_is_not_known_is_of_unknown_risk():
    assert risk_of("click_element", {"index": 9}, None) == "unknown"
    assert risk_of("click_at", {"x": 1, "y": 1}, None) == "unknown"


def test_every_action_has_a_risk():
    assert {risk_of(action, {}, None) for action in get_args(ActionName)} == {"low", "medium", "high", "unknown"}
