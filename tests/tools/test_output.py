import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tools import output as module
from clew.tools.output import HEAD_BYTES, TAIL_BYTES, Output, decode
from clew.tools.run_services import RunServices
from clew.tools.workspace import Workspace


def written(chunks):
    output = Output()
    for chunk in chunks:
        output.write(chunk)
    return output


def test_what_fits_is_shown_whole():
    output = written([b"x" * HEAD_BYTES, b"y" * TAIL_BYTES])
    assert output.text() == "x" * HEAD_BYTES + "y" * TAIL_BYTES
    assert not output.truncated


@pytest.mark.parametrize("size", [1, 1000, 10**6])
async def test_one_byte_more_is_cut_in_the_middle_and_kept_whole(tmp_path, size):
    whole = b"".join(b"%07d\n" % number for number in range(10_000))
    chunks = [whole[start : start + size] for start in range(0, len(whole), size)]
    output = written(chunks if size > 1 else [whole[:1], whole[1:]])
    assert f"\n[{len(whole) - HEAD_BYTES - TAIL_BYTES} bytes are left out here]\n" in output.text()
    await output.keep("test", Workspace(tmp_path), RunServices())
    assert (tmp_path / output.kept.file).read_bytes() == whole
    head, note, tail = output.text().partition(f"\n[{len(whole) - HEAD_BYTES - TAIL_BYTES} bytes are left out here; ")
    assert note
    assert tail.startswith(f"the whole is in {output.kept.file}]\n")
    assert whole.startswith(head.encode())
    assert whole.endswith(tail.split("\n", 1)[1].encode())


async def test_what_is_kept_has_a_limit_too_and_the_end_is_shown_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "KEPT_BYTES", 50_000)
    output = written([b"x" * 1000] * 100 + [b"the end"])
    await output.keep("test", Workspace(tmp_path), RunServices())
    assert (tmp_path / output.kept.file).read_bytes() == b"x" * 50_000
    assert f"the first 50000 bytes is in {output.kept.file}]" in output.text()
    assert output.text().endswith("the end")


@given(st.binary())
def test_any_bytes_become_text_that_can_be_stored(data):
    text = decode(data)
    assert "\0" not in text
    text.encode()
