from __future__ import annotations

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from clew.models.vision import IMAGE_BELOW, IMAGE_MARKER, images_after_tools, without_images

MARKER = {"type": "text", "text": IMAGE_MARKER}
TEXT = {"type": "text", "text": "Look:"}
IMAGES = [
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    {"type": "image", "base64": "AA", "mime_type": "image/png"},
    {"type": "input_image", "image_url": "data:image/png;base64,AA"},
]


def test_each_image_becomes_a_marker_in_its_place() -> None:
    message = HumanMessage([TEXT, *IMAGES, "end"], id="1")
    (changed,) = without_images([message])
    assert changed.content == [TEXT, MARKER, MARKER, MARKER, "end"]
    assert changed.id == "1"
    assert message.content == [TEXT, *IMAGES, "end"]


def test_images_in_tool_results_become_markers_too() -> None:
    (changed,) = without_images([ToolMessage([IMAGES[0]], tool_call_id="1")])
    assert changed.content == [MARKER]


def test_messages_without_images_stay_the_same_objects() -> None:
    messages: list[BaseMessage] = [HumanMessage("hi"), AIMessage([TEXT])]
    assert all(mine is theirs for mine, theirs in zip(without_images(messages), messages, strict=True))


def test_images_of_tool_results_follow_in_a_message_of_their_own_behind_all_results_of_a_reply() -> None:
    calls = [{"name": "look", "args": {}, "id": identifier, "type": "tool_call"} for identifier in "ab"]
    reply = AIMessage("", tool_calls=calls)
    seen, plain = ToolMessage([TEXT, IMAGES[1]], tool_call_id="a"), ToolMessage("nothing", tool_call_id="b")
    below = {"type": "text", "text": IMAGE_BELOW}
    first, changed, second, images, last = images_after_tools([reply, seen, plain, AIMessage("I see.")])
    assert (first, second, last.content) == (reply, plain, "I see.")
    assert changed.content == [TEXT, below]
    assert images.type == "human"
    assert images.content == [{"type": "text", "text": "Images of the tool call a:"}, IMAGES[1]]


def test_images_of_the_newest_results_come_last() -> None:
    *_, last = images_after_tools([ToolMessage([IMAGES[1]], tool_call_id="a")])
    assert last.content[1] == IMAGES[1]


def test_images_of_a_person_stay_where_they_are() -> None:
    messages: list[BaseMessage] = [HumanMessage([TEXT, *IMAGES]), AIMessage("Nice.")]
    assert all(after is before for after, before in zip(images_after_tools(messages), messages, strict=True))
