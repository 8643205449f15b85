"""Messages of A2A as input of a graph, and questions of a graph as messages of A2A."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from a2a.types import Message, Part
from a2a.utils.errors import ContentTypeNotSupportedError, InvalidParamsError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from langchain_core.messages import HumanMessage

from ...state.stream import QuestionEvent
from ..answers import resume_value

ANSWERS = "answers"
"""Key of a data part that answers several questions at once, by their ids."""


def task_text(message: Message) -> str:
    """The words of a message: its text, its data as JSON and its links, one a line."""
    return "\n".join(filter(None, map(_words, message.parts)))


def task_messages(message: Message) -> dict[str, Any]:
    """The input of a task: one human message with the words and the pictures of a message.

    Raises:
        ContentTypeNotSupportedError: a file is neither text nor a picture.
        InvalidParamsError: there is nothing in it.
    """
    text, pictures = task_text(message), [_picture(part) for part in message.parts if _is_picture(part)]
    if not text.strip() and not pictures:
        raise InvalidParamsError("the message is empty: give it a text part")
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": text}, *pictures]
    return {"messages": [HumanMessage(blocks if pictures else text)]}


def answers_to(questions: Sequence[QuestionEvent], message: Message) -> dict[str, Any]:
    """What a message answers, by question: its text the only question, a data part with `answers` the named ones.

    Raises:
        InvalidParamsError: it names a question that is not asked, or does not say which one it answers.
    """
    by_id = {question.id: question for question in questions}
    named = {key: value for part in message.parts for key, value in _named(part).items()}
    if unknown := named.keys() - by_id.keys():
        raise InvalidParamsError(f"nothing is asked under {', '.join(sorted(unknown))}: {_open(questions)}")
    if named:
        return {
            key: resume_value(by_id[key], value) if isinstance(value, str) else value for key, value in named.items()
        }
    if len(questions) > 1:
        raise InvalidParamsError(f"several questions are open: {_open(questions)}")
    return {questions[0].id: resume_value(questions[0], task_text(message))}


def question_parts(questions: Iterable[QuestionEvent]) -> list[Part]:
    """The questions in words, and as data with ids, kinds, options and what a person needs to decide."""
    asked = list(questions)
    words = "\n".join(_in_words(question) for question in asked)
    fields = [question.model_dump(mode="json", exclude={"event"}) for question in asked]
    return [Part(text=words), data_part({"questions": fields})]


def data_part(data: Mapping[str, Any]) -> Part:
    """A part of plain JSON."""
    return Part(data=ParseDict(dict(data), Value()), media_type="application/json")


def _words(part: Part) -> str:
    if part.HasField("data"):
        return json.dumps(MessageToDict(part.data), ensure_ascii=False)
    if part.HasField("raw") and not _is_picture(part):
        return _file_text(part)
    return part.text or part.url


def _file_text(part: Part) -> str:
    if part.media_type and not part.media_type.startswith(("text/", "application/json")):
        raise ContentTypeNotSupportedError(f"files of type {part.media_type} are not taken: send text or a picture")
    try:
        return f"{part.filename or 'file'}:\n{part.raw.decode()}"
    except UnicodeDecodeError as error:
        raise ContentTypeNotSupportedError("a file without a media type is no text: send text or a picture") from error


def _is_picture(part: Part) -> bool:
    return part.HasField("raw") and part.media_type.startswith("image/")


def _picture(part: Part) -> dict[Any, Any]:
    return {"type": "image", "base64": base64.b64encode(part.raw).decode(), "mime_type": part.media_type}


def _named(part: Part) -> dict[str, Any]:
    data = MessageToDict(part.data) if part.HasField("data") else None
    answers = data.get(ANSWERS) if isinstance(data, dict) else None
    return answers if isinstance(answers, dict) else {}


def _open(questions: Iterable[QuestionEvent]) -> str:
    listed = "; ".join(f"{question.id} asks {question.question!r}" for question in questions)
    return f'answer with a data part {{"{ANSWERS}": {{ID: ANSWER}}}}; {listed}'


def _in_words(question: QuestionEvent) -> str:
    return f"{question.question} [{' | '.join(question.options)}]" if question.options else question.question
