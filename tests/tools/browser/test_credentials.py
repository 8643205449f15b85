import pytest
from pydantic import SecretStr, ValidationError

from clew.state.errors import ToolFailure
from clew.tools.browser.credentials import Credential, fill_in, mask, mask_all

KEYS = {"bank": Credential(value=SecretStr("tulip"), domains=("bank.example",))}


def test_a_placeholder_becomes_the_secret_on_its_site_and_below():
    assert fill_in("a <secret>bank</secret> b", KEYS, "https://www.bank.example/login") == "a tulip b"


@pytest.mark.parametrize("url", ["https://evil.example/", "https://bank.example.evil/", "about:blank"])
def test_a_secret_is_for_no_other_site(url):
    with pytest.raises(ToolFailure, match="is not for"):
        fill_in("<secret>bank</secret>", KEYS, url)


def test_an_unknown_secret_is_a_failure_that_names_the_known_ones():
    with pytest.raises(ToolFailure, match="no secret 'shop': there are bank"):
        fill_in("<secret>shop</secret>", KEYS, "https://bank.example/")


def test_a_secret_without_a_site_is_refused():
    with pytest.raises(ValidationError):
        Credential(value=SecretStr("tulip"), domains=())


def test_a_secret_is_masked_wherever_it_stands():
    assert mask("tulip tulip", KEYS) == "<secret>bank</secret> <secret>bank</secret>"
    assert mask_all({"a": ["tulip", 1, None], "b": {"c": "x"}}, KEYS) == {
        "a": ["<secret>bank</secret>", 1, None],
        "b": {"c": "x"},
    }
    assert "tulip" not in repr(KEYS)
