from __future__ import annotations

import base64

import pytest

from clew.apps.task import task_input
from clew.state.errors import UsageError


def test_a_task_is_one_human_message():
    (message,) = task_input("count the files")["messages"]
    assert (message.type, message.content) == ("human", "count the files")


def test_images_follow_the_text_as_base64_blocks(tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG...")
    (message,) = task_input("what is this?", [picture])["messages"]
    text, image = message.content
    assert text == {"type": "text", "text": "what is this?"}
    assert (image["type"], image["mime_type"]) == ("image", "image/png")
    assert base64.b64decode(image["base64"]) == b"\x89PNG..."


@pytest.mark.parametrize("name", ["missing.png", "notes.txt", "noextension"])
def test_what_is_no_readable_image_is_refused(tmp_path, name):
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "noextension").write_text("x")
    with pytest.raises(UsageError, match=name):
        task_input("what is this?", [tmp_path / name])
