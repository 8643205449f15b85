"""Prompts are files, and their variables are strict."""

import pytest

from clew.prompts.load import load_prompt, prompt_template, spec_template
from clew.state.errors import UsageError


def test_a_prompt_is_its_file_with_the_variables_filled_in():
    assert load_prompt("stuck", what="the same call failed 3 times").startswith(
        "You are repeating yourself: the same call failed 3 times."
    )


def test_a_missing_variable_is_an_error_that_names_it():
    with pytest.raises(UsageError, match="needs the variable 'what'"):
        load_prompt("stuck")


def test_a_variable_that_the_prompt_does_not_use_is_an_error_that_names_it():
    with pytest.raises(UsageError, match="'empty_reply' does not use colour"):
        load_prompt("empty_reply", colour="red")


def test_an_unknown_prompt_is_an_error_that_names_the_others():
    with pytest.raises(UsageError, match=r"no prompt 'manus'; there are: .*manus_system"):
        load_prompt("manus")


def test_the_text_of_a_spec_is_taken_as_it_stands():
    assert spec_template("It costs $5, ${really}.").substitute() == "It costs $5, ${really}."


def test_a_spec_may_name_a_prompt_file():
    assert spec_template("prompt:manus_system") is prompt_template("manus_system")
