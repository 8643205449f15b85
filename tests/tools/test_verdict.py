import pytest
from pydantic import ValidationError

from clew.tools.verdict import Verdict


def call(**arguments):
    return {"type": "tool_call", "name": "verdict", "id": "call", "args": arguments}


async def test_the_artifact_has_the_judgement_as_outputs():
    message = await Verdict().ainvoke(call(completed=False, summary="One test fails."))
    outputs = {"completed": False, "summary": "One test fails."}
    assert message.artifact == {"status": "success", "answer": "One test fails.", "outputs": outputs}
    assert message.content == "The verdict: not completed. One test fails."


@pytest.mark.parametrize("arguments", [{}, {"completed": True}, {"completed": "perhaps", "summary": "x"}])
def test_a_judgement_without_its_form_is_refused(arguments):
    with pytest.raises(ValidationError):
        Verdict().invoke(arguments)
