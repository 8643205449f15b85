import subprocess

from hypothesis import given
from hypothesis import strategies as st

from clew.tools.shell.marks import FRAME, Mark, MarkReader

TOKEN = "0123456789abcdef"
MARK = FRAME + TOKEN.encode() + b":7:130" + FRAME
pieces = st.lists(
    st.sampled_from([b"x", b"\n", FRAME, MARK, MARK[:5], MARK[:-1], b"\xff", TOKEN.encode()]), max_size=12
)


def joined(chunks):
    reader = MarkReader(TOKEN)
    parts = [part for chunk in chunks for part in reader.feed(chunk)] + [reader.rest()]
    output = b"".join(part for part in parts if isinstance(part, bytes))
    return output, [part for part in parts if isinstance(part, Mark)]


@given(pieces, st.data())
def test_it_does_not_matter_how_the_output_is_cut_into_chunks(pieces, data):
    whole = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    chunks = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert joined(chunks) == joined([whole])


@given(pieces)
def test_output_and_marks_together_are_all_that_was_written(pieces):
    output, marks = joined(pieces)
    assert len(output) + len(marks) * len(MARK) == len(b"".join(pieces))
    assert marks == [Mark(7, 130)] * len(marks)
    assert len(marks) == b"".join(pieces).count(MARK)


def test_the_mark_of_another_session_is_plain_output():
    reader = MarkReader()
    assert b"".join([*reader.feed(MARK), reader.rest()]) == MARK


def test_what_cannot_become_a_mark_is_not_held_back():
    assert list(MarkReader(TOKEN).feed(b"one\x1etwo")) == [b"one\x1etwo"]


def test_the_shell_line_writes_the_mark_that_the_reader_finds():
    reader = MarkReader()
    script = f"set -x; exec 2>/dev/null 9>&1; (exit 42)\n{reader.command(3, 9)}\n"
    written = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout
    assert list(reader.feed(written)) == [Mark(3, 42)]
