from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tools.web.charset import decode


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "shift_jis", "euc-kr", "utf-16"])
def test_the_server_names_the_encoding(charset):
    text = {"euc-kr": "한국어"}.get(charset, "日本")
    assert decode(text.encode(charset), charset) == text


def test_the_page_names_it_where_the_server_does_not():
    page = '<meta charset="gbk"><p>中文'.encode("gbk")
    assert decode(page, None, html=True).endswith("中文")
    assert decode(page, "no-such-encoding", html=True).endswith("中文")


def test_a_byte_order_mark_is_stronger_than_the_server():
    assert decode("\ufeffé".encode(), "iso-8859-1") == "é"
    assert decode("\ufeffé".encode("utf-16-be"), "utf-8") == "é"


def test_old_labels_stand_for_the_larger_encodings_of_the_web():
    assert decode("“x” €".encode("windows-1252"), "ISO-8859-1") == "“x” €"
    assert decode("镕".encode("gb18030"), "gb2312") == "镕"


def test_without_any_name_it_is_utf_8_or_else_windows_1252():
    assert decode("naïve €".encode(), None) == "naïve €"
    assert decode("naïve €".encode("windows-1252"), None) == "naïve €"


def test_a_page_cut_in_the_middle_of_a_character_is_still_utf_8():
    assert decode("naïve €".encode()[:-1], None).startswith("naïve ")


@pytest.mark.parametrize("label", ["zlib", "hex", "rot13", "idna", "undefined", "\0", "x" * 300])
def test_what_is_no_encoding_of_text_is_passed_over(label):
    assert decode(b"abc", label) == "abc"


@given(st.binary(max_size=200), st.sampled_from(sorted({*aliases.values()} - {"mbcs", "oem"})))
def test_no_bytes_and_no_label_make_it_fail(content, label):
    assert isinstance(decode(content, label), str)
