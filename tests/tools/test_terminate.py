import pytest
from pydantic import ValidationError

from clew.tools.terminate import Terminate


def call(**arguments):
    return {"type": "tool_call", "name": "terminate", "id": "call", "args": arguments}


async def test_the_artifact_says_how_the_task_ended_in_plain_json():
    message = await Terminate().ainvoke(call(status="failure", answer="No such city."))
    assert message.artifact == {"status": "failure", "answer": "No such city.", "outputs": {}}
    assert message.content == "The interaction has been completed with status: failure"


def test_the_answer_may_be_left_out():
    assert Terminate().invoke(call(status="success")).artifact == {"status": "success", "answer": "", "outputs": {}}


def test_results_may_have_names():
    message = Terminate().invoke(call(status="success", outputs={"stars": 65000}))
    assert message.artifact["outputs"] == {"stars": 65000}


def test_there_is_no_third_status():
    with pytest.raises(ValidationError):
        Terminate().invoke({"status": "maybe"})
