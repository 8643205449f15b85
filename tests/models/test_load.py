from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from strict_openai import StrictOpenAI

from clew.models.load import load_model, model_settings
from clew.models.profile import max_input_tokens, model_name, sees_images
from clew.models.recorded import RecordingModel, ReplayModel
from clew.models.scripted import ScriptedModel
from clew.state.errors import UsageError
from clew.state.settings import Settings

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "CLEW_MODEL", "AZURE_OPENAI_API_KEY")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "demo.json").write_text(json.dumps(["hello"]), encoding="utf-8")
    return f"script:{tmp_path / 'demo.json'}"


def with_tables(**tables: object) -> Settings:
    return Settings(llm=tables)


def test_a_script_is_loaded_by_its_file(script: str) -> None:
    model = load_model(script)
    assert isinstance(model, ScriptedModel)
    assert model.invoke("hi").text == "hello"


def test_a_recording_is_made_and_replayed(script: str, tmp_path: Path) -> None:
    model = load_model(script, record=tmp_path / "run.jsonl")
    assert isinstance(model, RecordingModel)
    model.invoke("hi")
    replay = load_model(f"replay:{tmp_path / 'run.jsonl'}")
    assert isinstance(replay, ReplayModel)
    assert replay.invoke("hi").text == "hello"


def test_a_model_is_taken_as_it_is() -> None:
    model = ScriptedModel(replies=["x"])
    assert load_model(model) is model


def test_no_name_takes_the_model_of_the_settings(script: str) -> None:
    assert model_name(load_model(None, settings=Settings(model=script))) == "script:demo.json"
    assert model_name(load_model(None, settings=with_tables(model=script))) == "script:demo.json"


def test_a_name_goes_before_the_settings(script: str) -> None:
    assert model_name(load_model(script, settings=with_tables(model="openai:gpt-5"))) == "script:demo.json"


def test_settings_are_read_where_none_are_given(script: str) -> None:
    Path("clew.toml").write_text(f'[llm]\nmodel = "{script}"\n', encoding="utf-8")
    assert model_name(load_model(None)) == "script:demo.json"


def test_without_a_model_the_error_says_how_to_set_one() -> None:
    with pytest.raises(UsageError, match=r"no model is set: give one, such as --model .* CLEW_MODEL, .* clew\.toml"):
        load_model(None, settings=Settings())


def test_a_table_is_named_and_inherits_from_the_shared_one() -> None:
    settings = with_tables(
        model="openai:gpt-5", api_key="shared", temperature=0.5, mini={"model": "openai:gpt-4o-mini", "max_tokens": 10}
    )
    model = load_model("mini", settings=settings)
    assert isinstance(model, ChatOpenAI)
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4o-mini", 0.5, 10)
    assert model_settings("mini", settings).max_tokens == 10
    assert model_settings("openai:gpt-5", settings).max_tokens is None


def test_the_settings_may_name_a_table() -> None:
    settings = with_tables(mini={"model": "openai:gpt-5-mini", "api_key": "k"})
    settings = settings.model_copy(update={"model": "mini"})
    assert model_name(load_model(None, settings=settings)) == "gpt-5-mini"
    assert model_settings(None, settings).model == "openai:gpt-5-mini"


def test_a_bare_name_in_a_table_is_one_of_the_tables_server() -> None:
    settings = with_tables(local={"model": "llama3.2", "base_url": "http://127.0.0.1:1/v1"})
    assert model_name(load_model("local", settings=settings)) == "llama3.2"


def test_a_table_without_a_model_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"\[llm\.local\] in clew\.toml names no model"):
        load_model("local", settings=with_tables(local={"api_key": "k"}))


def test_a_bare_name_without_a_table_is_an_error_that_names_both_ways() -> None:
    with pytest.raises(UsageError, match=r"write openai:gpt-5, or add a table \[llm\.gpt-5\]"):
        load_model("gpt-5", settings=Settings())


def test_openai_without_a_key_is_an_error_that_names_the_fix() -> None:
    with pytest.raises(UsageError, match="openai:gpt-5 needs a key: set OPENAI_API_KEY, or `api_key`"):
        load_model("openai:gpt-5", settings=Settings())


def test_a_server_of_ones_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictOpenAI() as server:
        by_settings = load_model("openai:qwen2.5:7b", settings=with_tables(base_url=server.base_url))
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        by_environment = load_model("openai:qwen2.5:7b", settings=Settings())
        assert [model.invoke("hi").text for model in (by_settings, by_environment)] == ["ok", "ok"]
        assert {request["model"] for request in server.requests} == {"qwen2.5:7b"}


def test_the_key_of_the_environment_or_of_the_settings_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with StrictOpenAI(api_key="right") as server:
        monkeypatch.setenv("OPENAI_API_KEY", "right")
        assert load_model("openai:gpt-5", settings=with_tables(base_url=server.base_url)).invoke("hi").text == "ok"
        wrong = load_model("openai:gpt-5", settings=with_tables(base_url=server.base_url, api_key="wrong"))
        with pytest.raises(Exception, match="Incorrect API key provided: wrong"):
            wrong.invoke("hi")
        assert len(server.requests) == 2


def test_settings_reach_the_request() -> None:
    with StrictOpenAI() as server:
        load_model("openai:gpt-4o", settings=with_tables(base_url=server.base_url, temperature=0.25)).invoke("hi")
        assert server.requests[0]["temperature"] == 0.25


def test_an_azure_model_is_made_of_its_settings() -> None:
    table = {"api_type": "azure", "base_url": "https://x.openai.azure.com", "api_key": "k", "api_version": "2024-10-21"}
    model = load_model("openai:gpt-5", settings=with_tables(**table))
    assert isinstance(model, AzureChatOpenAI)
    assert (model.deployment_name, model.openai_api_version, model.max_retries) == ("gpt-5", "2024-10-21", 0)


@pytest.mark.parametrize("missing", ["base_url", "api_key", "api_version"])
def test_an_azure_model_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    for variable in ("AZURE_OPENAI_ENDPOINT", "OPENAI_API_VERSION"):
        monkeypatch.delenv(variable, raising=False)
    table = {"base_url": "https://x.openai.azure.com", "api_key": "k", "api_version": "1", "api_type": "azure"}
    del table[missing]
    with pytest.raises(UsageError, match=f"needs `{missing}`"):
        load_model("openai:gpt-5", settings=with_tables(**table))


def test_another_provider_is_made_by_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")
    model = load_model("azure_openai:gpt-4o", settings=with_tables(api_key="k", temperature=0.5, vision=False))
    assert isinstance(model, AzureChatOpenAI)
    assert (model.temperature, model.max_retries, sees_images(model)) == (0.5, 0, False)


def test_without_langchain_another_provider_is_an_error_that_names_the_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "langchain", None)
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(UsageError, match="pip install langchain langchain-google-genai"):
        load_model("google_genai:gemini", settings=Settings())


def test_a_provider_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"qwen2\.5:7b cannot be used.*write openai:qwen2\.5:7b"):
        load_model("qwen2.5:7b", settings=Settings())


def test_what_the_settings_say_of_a_model_travels_with_it() -> None:
    settings = with_tables(
        base_url="http://127.0.0.1:1/v1", local={"model": "openai:llava", "vision": False, "max_input_tokens": 4000}
    )
    model: BaseChatModel = load_model("local", settings=settings)
    assert (sees_images(model), max_input_tokens(model)) == (False, 4000)
    unknown = load_model("openai:llava", settings=settings)
    assert (sees_images(unknown), max_input_tokens(unknown)) == (True, None)


def test_loading_the_loader_imports_no_provider() -> None:
    check = (
        "import sys, clew.models.load; print(sorted({'openai', 'langchain_openai', 'langchain'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
