import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.state.errors import ToolFailure
from clew.tools.editor.document import parse

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "latin-1"]
text = st.lists(st.sampled_from(["a", "é", "\t", "\r\n", "\n", "\r", "  ", "\ufeff", "x = 1", "\x0c"]), max_size=20)


@given(st.binary())
def test_what_is_taken_for_text_comes_back_byte_for_byte(content):
    try:
        document = parse(content)
    except ToolFailure:
        return
    assert document.to_bytes() == content


@given(text, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_text_comes_back_byte_for_byte_in_every_encoding(pieces, encoding):
    content = "".join(pieces).encode(encoding)
    assert parse(content).to_bytes() == content


@given(text, text, text)
def test_a_change_leaves_every_byte_around_it_as_it_was(before, middle, after):
    # Letters at the seams: a carriage return there would become half of a line break.
    head, tail = "".join(before).lstrip("\ufeff") + "A", "Z" + "".join(after)
    document = parse((head + "".join(middle) + tail).encode())
    start, end = document.text.index("A") + 1, document.text.rindex("Z" + parse(tail.encode()).text[1:])
    written = document.splice(start, end, "new").to_bytes()
    assert written == (head + "new" + tail).encode()


@pytest.mark.parametrize(("content", "written"), [(b"a\r\nb\r\n", b"a\r\nx\r\ny\r\n"), (b"a\nb\n", b"a\nx\ny\n")])
def test_new_lines_get_the_breaks_of_the_file(content, written):
    document = parse(content)
    assert document.splice(2, 3, "x\ny").to_bytes() == written


def test_where_breaks_are_mixed_each_line_keeps_its_own():
    document = parse(b"a\r\nb\nc\r\nd")
    assert document.text == "a\nb\nc\nd"
    assert document.splice(2, 3, "B").to_bytes() == b"a\r\nB\nc\r\nd"
    assert document.splice(2, 3, "B\nB").to_bytes() == b"a\r\nB\r\nB\nc\r\nd"
    assert document.splice(0, 3, "AB").to_bytes() == b"AB\nc\r\nd"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_encoding_is_found(encoding):
    content = "caf\xe9\r\n\ttab".encode(encoding)
    document = parse(content)
    assert document.text == "caf\xe9\n\ttab"
    assert document.splice(0, 4, "th\xe9").to_bytes() == "th\xe9\r\n\ttab".encode(encoding)


def test_a_character_that_the_encoding_lacks_is_refused():
    document = parse("caf\xe9".encode("cp1252"))
    with pytest.raises(ToolFailure, match=r"cp1252, which has no '→'"):
        document.splice(0, 0, "→").to_bytes()


@pytest.mark.parametrize("content", [b"\x7fELF\0\0", b"a\0b", b"\xff\xfea"])
def test_what_is_binary_is_refused(content):
    with pytest.raises(ToolFailure, match="python_execute"):
        parse(content)


def test_lines_are_counted_as_an_editor_counts_them():
    assert parse(b"").lines == []
    assert parse(b"a").lines == ["a"]
    assert parse(b"a\n").lines == ["a"]
    assert parse(b"a\n\n").lines == ["a", ""]
