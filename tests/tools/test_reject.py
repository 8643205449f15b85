import pytest
from pydantic import ValidationError

from clew.tools.reject import Reject


def call(**arguments):
    return {"type": "tool_call", "name": "reject", "id": "call", "args": arguments}


async def test_the_artifact_says_why_in_plain_json():
    message = await Reject().ainvoke(call(reason="That is private.", outputs={"seen": 3}))
    assert message.artifact == {"status": "rejected", "reason": "That is private.", "outputs": {"seen": 3}}
    assert message.content == "The task has been rejected: That is private."


@pytest.mark.parametrize("arguments", [{}, {"reason": ""}])
def test_there_is_no_rejection_without_a_reason(arguments):
    with pytest.raises(ValidationError):
        Reject().invoke(arguments)
