import pytest

from clew.tools.mcp.questions import elicitation_question, elicitation_result


def form(**properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    return {"mode": "form", "message": "Say", "requestedSchema": schema}


@pytest.mark.parametrize(
    ("asked", "answer", "content"),
    [
        (form(city={"type": "string"}), "Knossos", {"city": "Knossos"}),
        (form(city={"type": "string"}), {"city": "Knossos"}, {"city": "Knossos"}),
        (form(city={"type": "string"}), {"answer": "Knossos"}, {"city": "Knossos"}),
        (form(age={"type": "integer"}), "5", {"age": 5}),
        (form(sure={"type": "boolean"}), "yes", {"sure": True}),
        (form(a={"type": "string"}, b={"type": "number"}), {"a": "x", "b": "2.5"}, {"a": "x", "b": 2.5}),
        (form(age={"type": "integer"}), "many", {"age": "many"}),
    ],
)
def test_an_answer_becomes_what_the_form_asks_for(asked, answer, content):
    result = elicitation_result(asked, answer)
    assert (result.action, result.content) == ("accept", content)


@pytest.mark.parametrize("answer", ["decline", {"answer": "decline"}, {"action": "decline"}])
def test_a_person_may_decline(answer):
    assert elicitation_result(form(city={"type": "string"}), answer).action == "decline"


def test_the_question_offers_what_the_form_allows():
    def options(**properties):
        return elicitation_question("maze", "ask", form(**properties), ["mcp"])["options"]

    assert options(city={"type": "string"}) == []
    assert options(city={"type": "string", "enum": ["A", "B"]}) == ["A", "B", "decline"]
    assert options(sure={"type": "boolean"}) == ["yes", "no", "decline"]
    page = {"mode": "url", "message": "Sign in", "url": "https://example.com"}
    question = elicitation_question("maze", "ask", page, [])
    assert question["question"] == "maze asks: Sign in (https://example.com)"
    assert question["options"] == ["accept", "decline"]
    assert elicitation_result(page, "accept").content is None
