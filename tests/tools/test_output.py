import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.tools import output as module
from clew.tools.output import HEAD_BYTES, TAIL_BYTES, Output, decode, output_file, output_name
from clew.tools.workspace import Workspace


async def written(workspace, chunks):
    output = Output(output_file(Workspace(workspace), "test"))
    for chunk in chunks:
        await output.write(chunk)
    return output


async def test_what_fits_is_kept_whole_and_no_file_is_made(tmp_path):
    output = await written(tmp_path, [b"x" * HEAD_BYTES, b"y" * TAIL_BYTES])
    assert output.text() == "x" * HEAD_BYTES + "y" * TAIL_BYTES
    assert not output.truncated
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 1000, 10**6])
async def test_one_byte_more_is_cut_in_the_middle_and_saved_whole(tmp_path, size):
    whole = b"".join(b"%07d\n" % number for number in range(10_000))
    chunks = [whole[start : start + size] for start in range(0, len(whole), size)]
    output = await written(tmp_path, chunks if size > 1 else [whole[:1], whole[1:]])
    assert output.file.read_bytes() == whole
    assert output_name(output) == str(output.file.relative_to(tmp_path))
    head, note, tail = output.text().partition(f"\n[{len(whole) - HEAD_BYTES - TAIL_BYTES} bytes are left out here; ")
    assert note
    assert whole.startswith(head.encode())
    assert whole.endswith(tail.split("\n", 1)[1].encode())


async def test_what_is_saved_has_a_limit_too(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FILE_BYTES", 50_000)
    output = await written(tmp_path, [b"x" * 1000] * 100)
    assert output.file.stat().st_size == 50_000
    assert "the first 50000 bytes" in output.text()


@given(st.binary())
def test_any_bytes_become_text_that_can_be_stored(data):
    text = decode(data)
    assert "\0" not in text
    text.encode()
