import base64
import io
import os
import struct

import pytest
from PIL import Image

from clew.state.errors import ToolFailure

TOOL = "str_replace_editor"


@pytest.fixture
def folder(call):
    call.workspace.mkdir()
    return call.workspace


async def test_a_view_numbers_the_lines_and_keeps_tabs(call, folder):
    (folder / "a.txt").write_bytes(b"one\n\ttwo\n")
    assert (await call(command="view", path="a.txt")).content == "     1\tone\n     2\t\ttwo"


@pytest.mark.parametrize(("view_range", "shown"), [([2, 3], "2 3"), ([3, -1], "3 4"), ([3, 99], "3 4"), ([1, 1], "1")])
async def test_a_range_shows_those_lines(call, folder, view_range, shown):
    (folder / "a.txt").write_text("1\n2\n3\n4\n")
    answer = await call(command="view", path="a.txt", view_range=view_range)
    assert [line.split("\t")[1] for line in answer.content.splitlines()] == shown.split()


@pytest.mark.parametrize("view_range", [[0, 1], [5, 6], [3, 2]])
async def test_a_range_outside_of_the_file_is_refused_with_its_size(call, folder, view_range):
    (folder / "a.txt").write_text("1\n2\n3\n4\n")
    with pytest.raises(ToolFailure, match="lines are 1 to 4"):
        await call(command="view", path="a.txt", view_range=view_range)


async def test_a_long_view_is_cut_after_a_whole_line_and_says_how_to_go_on(call, folder):
    (folder / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 10_001)))
    lines = (await call(command="view", path="a.txt")).content.splitlines()
    last = len(lines) - 1
    assert lines[-2] == f"{last:6}\tline {last}"
    assert lines[-1] == f"[cut after line {last} of 10000; view the rest with view_range]"


async def test_a_line_that_is_too_long_is_cut_with_a_marker(call, folder):
    (folder / "a.txt").write_text("x" * 50_000 + "\nnext")
    answer = await call(command="view", path="a.txt")
    assert len(answer.content) < 20_000
    assert "characters of this line are left out" in answer.content


async def test_a_folder_is_shown_two_levels_deep_without_hidden_entries(call, folder):
    (folder / "a b" / "deep" / "deeper").mkdir(parents=True)
    (folder / "a b" / "f.txt").touch()
    (folder / ".hidden").mkdir()
    (folder / "z.txt").touch()
    answer = await call(command="view", path=".")
    assert answer.content.splitlines() == ["a b/", "a b/deep/", "a b/f.txt", "z.txt"]


async def test_create_writes_exactly_the_text_and_makes_the_folders(call, folder):
    answer = await call(command="create", path="x/y/new.txt", file_text="a\r\n\tb")
    assert (folder / "x/y/new.txt").read_bytes() == b"a\r\n\tb"
    assert answer.artifact == {"command": "create", "path": "x/y/new.txt", "changed": True}


async def test_create_refuses_to_overwrite(call, folder):
    (folder / "a.txt").write_text("old")
    with pytest.raises(ToolFailure, match="there already"):
        await call(command="create", path="a.txt", file_text="new")
    assert (folder / "a.txt").read_text() == "old"


async def test_a_replacement_changes_nothing_else_and_shows_where(call, folder):
    before = b"\xef\xbb\xbf\tone\r\n\t\ttwo  \r\nthree\n\tfour"
    (folder / "a.txt").write_bytes(before)
    answer = await call(command="str_replace", path="a.txt", old_str="\t\ttwo  \nthree", new_str="\t\tTWO\nTHREE")
    assert (folder / "a.txt").read_bytes() == b"\xef\xbb\xbf\tone\r\n\t\tTWO\r\nTHREE\n\tfour"
    assert "     2\t\t\tTWO" in answer.content


async def test_without_new_text_the_old_is_deleted(call, folder):
    (folder / "a.txt").write_text("a b c")
    await call(command="str_replace", path="a.txt", old_str=" b")
    assert (folder / "a.txt").read_text() == "a c"


async def test_several_matches_are_refused_with_their_lines(call, folder):
    (folder / "a.txt").write_text("x\ny\nx\nx = x")
    with pytest.raises(ToolFailure, match=r"stands 4 times, at lines 1, 3, 4, 4"):
        await call(command="str_replace", path="a.txt", old_str="x", new_str="z")


async def test_no_match_is_refused_with_the_lines_that_are_alike(call, folder):
    (folder / "a.txt").write_text("def f():\n\treturn 1\n")
    with pytest.raises(ToolFailure, match=r"stands nowhere in the file; lines 2 begin alike"):
        await call(command="str_replace", path="a.txt", old_str="    return 1", new_str="    return 2")
    with pytest.raises(ToolFailure, match="copy the text exactly"):
        await call(command="str_replace", path="a.txt", old_str="absent", new_str="z")


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        (0, "a\nb\n", "new\na\nb\n"),
        (1, "a\nb\n", "a\nnew\nb\n"),
        (2, "a\nb\n", "a\nb\nnew\n"),
        (2, "a\nb", "a\nb\nnew"),
        (1, "a\r\nb\r\n", "a\r\nnew\r\nb\r\n"),
        (0, "", "new\n"),
    ],
)
@pytest.mark.parametrize("new", ["new", "new\n"])
async def test_insert_adds_whole_lines_and_keeps_the_end_of_the_file(call, folder, line, before, after, new):
    (folder / "a.txt").write_bytes(before.encode())
    await call(command="insert", path="a.txt", insert_line=line, new_str=new)
    assert (folder / "a.txt").read_bytes() == after.encode()


async def test_insert_after_a_line_that_is_not_there_is_refused(call, folder):
    (folder / "a.txt").write_text("a\nb\n")
    with pytest.raises(ToolFailure, match="from 0 to 2"):
        await call(command="insert", path="a.txt", insert_line=3, new_str="x")


async def test_edits_are_taken_back_one_by_one(call, folder):
    (folder / "a.txt").write_bytes(b"one\r\n")
    await call(command="str_replace", path="a.txt", old_str="one", new_str="two")
    await call(command="insert", path="a.txt", insert_line=1, new_str="three")
    await call(command="undo_edit", path="a.txt")
    assert (folder / "a.txt").read_bytes() == b"two\r\n"
    await call(command="undo_edit", path="a.txt")
    assert (folder / "a.txt").read_bytes() == b"one\r\n"
    with pytest.raises(ToolFailure, match="no edit"):
        await call(command="undo_edit", path="a.txt")


async def test_undoing_a_creation_removes_the_file(call, folder):
    await call(command="create", path="a.txt", file_text="one")
    assert "removed" in (await call(command="undo_edit", path="a.txt")).content
    assert not (folder / "a.txt").exists()


async def test_undo_does_not_throw_away_what_something_else_wrote(call, folder):
    await call(command="create", path="a.txt", file_text="one")
    (folder / "a.txt").write_text("by another hand")
    with pytest.raises(ToolFailure, match="changed since"):
        await call(command="undo_edit", path="a.txt")
    assert (folder / "a.txt").read_text() == "by another hand"


async def test_an_edit_that_died_before_it_wrote_is_passed_over_by_undo(call, folder, monkeypatch):
    await call(command="create", path="a.txt", file_text="one")
    await call(command="str_replace", path="a.txt", old_str="one", new_str="two")
    with monkeypatch.context() as patch:
        patch.setattr("clew.tools.str_replace_editor.write_atomically", _die)
        with pytest.raises(RuntimeError, match="died"):
            await call(command="str_replace", path="a.txt", old_str="two", new_str="three")
    await call(command="undo_edit", path="a.txt")
    assert (folder / "a.txt").read_text() == "one"


def _die(*_):
    raise RuntimeError("died")


async def test_an_edit_keeps_the_permissions(call, folder):
    (folder / "run.sh").write_text("echo one")
    (folder / "run.sh").chmod(0o750)
    await call(command="str_replace", path="run.sh", old_str="one", new_str="two")
    assert (folder / "run.sh").stat().st_mode & 0o777 == 0o750


async def test_absolute_paths_inside_the_workspace_are_taken(call, folder):
    await call(command="create", path=str(folder / "a.txt"), file_text="one")
    assert (folder / "a.txt").read_text() == "one"


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "undo_edit"])
@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", "link", "linked/secret.txt", "a/../../secret.txt"])
async def test_no_command_leaves_the_workspace(call, folder, command, path):
    secret = folder.parent / "secret.txt"
    secret.write_text("secret")
    (folder / "link").symlink_to(secret)
    (folder / "linked").symlink_to(folder.parent)
    arguments = {"file_text": "x", "old_str": "secret", "new_str": "x", "insert_line": 0}
    with pytest.raises(ToolFailure, match="outside the workspace"):
        await call(command=command, path=path, **arguments)
    assert secret.read_text() == "secret"


async def test_an_edit_through_a_hard_link_does_not_reach_the_other_file(call, folder):
    outside = folder.parent / "outside.txt"
    outside.write_text("one")
    (folder / "a.txt").hardlink_to(outside)
    await call(command="str_replace", path="a.txt", old_str="one", new_str="two")
    assert outside.read_text() == "one"


async def test_a_link_inside_the_workspace_is_followed_and_stays_a_link(call, folder):
    (folder / "a.txt").write_text("one")
    (folder / "link").symlink_to("a.txt")
    await call(command="str_replace", path="link", old_str="one", new_str="two")
    assert (folder / "link").is_symlink()
    assert (folder / "a.txt").read_text() == "two"


async def test_undo_history_that_was_replaced_by_a_link_leads_nowhere(call, folder):
    outside = folder.parent / "outside"
    outside.mkdir()
    (folder / ".clew").symlink_to(outside)
    with pytest.raises(ToolFailure, match="outside the workspace"):
        await call(command="create", path="a.txt", file_text="one")
    assert list(outside.iterdir()) == []


async def test_binary_huge_special_and_missing_files_are_refused_with_a_sentence(call, folder):
    (folder / "binary").write_bytes(b"\x7fELF\0")
    with (folder / "huge").open("wb") as huge:
        huge.truncate(20_000_000)
    os.mkfifo(folder / "pipe")
    for path, reason in [
        ("binary", "binary"),
        ("huge", "20000000 bytes"),
        ("pipe", "regular"),
        ("gone", "no file gone"),
    ]:
        with pytest.raises(ToolFailure, match=reason):
            await call(command="view", path=path)


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        ({"command": "create"}, "file_text"),
        ({"command": "str_replace"}, "old_str"),
        ({"command": "insert", "new_str": "x"}, "insert_line"),
        ({"command": "insert", "insert_line": 0}, "new_str"),
    ],
)
async def test_a_missing_argument_is_named(call, folder, arguments, missing):
    (folder / "a.txt").write_text("one")
    with pytest.raises(ToolFailure, match=f"`{missing}` is missing"):
        await call(path="a.txt" if arguments["command"] != "create" else "new.txt", **arguments)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\ud800"])
async def test_what_is_no_path_is_refused_with_a_sentence(call, folder, path):
    with pytest.raises(ToolFailure):
        await call(command="create", path=path, file_text="x")


def picture(file, size, form="PNG", **options):
    Image.effect_noise(size, 50).convert("RGB").save(file, form, **options)
    return file.read_bytes()


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
async def test_a_picture_is_shown_as_it_is_beside_a_line_with_its_size(call, folder, form):
    content = picture(folder / "a", (40, 30), form)
    text, image = (await call(command="view", path="a")).content
    assert text["text"].startswith(f"a: {form} image, 40 x 30 pixels, {len(content)} bytes")
    assert (image["type"], image["mime_type"]) == ("image", f"image/{form.lower()}")
    assert base64.b64decode(image["base64"]) == content


@pytest.mark.parametrize(("size", "form", "shown"), [((1960, 49), "PNG", (1920, 48)), ((50, 40), "BMP", (50, 40))])
async def test_a_large_picture_and_one_that_no_model_takes_are_converted(call, folder, size, form, shown):
    picture(folder / "a", size, form)
    text, image = (await call(command="view", path="a")).content
    assert text["text"].endswith(f"shown as {shown[0]} x {shown[1]}")
    assert Image.open(io.BytesIO(base64.b64decode(image["base64"]))).size == shown
    assert image["mime_type"] == "image/png"


async def test_a_picture_of_many_bytes_is_sent_in_fewer(call, folder, monkeypatch):
    monkeypatch.setattr("clew.tools.editor.picture.MOST_BYTES", 50_000)
    content = picture(folder / "a", (300, 300))
    (_, image) = (await call(command="view", path="a")).content
    assert image["mime_type"] == "image/jpeg"
    assert len(base64.b64decode(image["base64"])) < len(content)


async def test_a_damaged_picture_and_a_range_of_one_are_refused(call, folder):
    content = picture(folder / "a", (40, 30))
    with pytest.raises(ToolFailure, match="a is a picture; leave `view_range` out"):
        await call(command="view", path="a", view_range=[1, 2])
    (folder / "a").write_bytes(content[:200])
    with pytest.raises(ToolFailure, match="cannot be decoded"):
        await call(command="view", path="a")


async def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded(call, folder):
    content = picture(folder / "a", (1, 1))
    (folder / "a").write_bytes(content[:16] + struct.pack(">II", 20_000, 20_000) + content[24:])
    with pytest.raises(ToolFailure):
        await call(command="view", path="a")


async def test_text_that_begins_like_a_bitmap_is_text(call, folder):
    (folder / "a").write_text("BMW\n")
    assert (await call(command="view", path="a")).content == "     1\tBMW"
