"""LangChain's standard tests for tools, for each tool that can be called outside of a graph."""

import pytest
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from clew.tools.ask_human import AskHuman
from clew.tools.bash import Bash
from clew.tools.file_search import FileSearch
from clew.tools.python_execute import PythonExecute
from clew.tools.str_replace_editor import StrReplaceEditor
from clew.tools.terminate import Terminate


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(tmp_path))


class AskHumanExample:
    tool_constructor = AskHuman
    tool_invoke_params_example = {"inquire": "Which colour?"}  # noqa: RUF012 - the standard tests' own interface


class BashExample:
    tool_constructor = Bash
    tool_invoke_params_example = {"command": "echo hello"}  # noqa: RUF012


class FileSearchExample:
    tool_constructor = FileSearch
    tool_invoke_params_example = {"glob": "*.py", "pattern": "import"}  # noqa: RUF012


class PythonExecuteExample:
    tool_constructor = PythonExecute
    tool_invoke_params_example = {"code": "1 + 1"}  # noqa: RUF012


class StrReplaceEditorExample:
    tool_constructor = StrReplaceEditor
    tool_invoke_params_example = {"command": "view", "path": "."}  # noqa: RUF012


class TerminateExample:
    tool_constructor = Terminate
    tool_invoke_params_example = {"status": "success", "answer": "42"}  # noqa: RUF012


class TestAskHumanUnit(AskHumanExample, ToolsUnitTests): ...


class TestBashUnit(BashExample, ToolsUnitTests): ...


class TestBashIntegration(BashExample, ToolsIntegrationTests): ...


class TestFileSearchUnit(FileSearchExample, ToolsUnitTests): ...


class TestFileSearchIntegration(FileSearchExample, ToolsIntegrationTests): ...


class TestPythonExecuteUnit(PythonExecuteExample, ToolsUnitTests): ...


class TestPythonExecuteIntegration(PythonExecuteExample, ToolsIntegrationTests): ...


class TestStrReplaceEditorUnit(StrReplaceEditorExample, ToolsUnitTests): ...


class TestStrReplaceEditorIntegration(StrReplaceEditorExample, ToolsIntegrationTests): ...


class TestTerminateUnit(TerminateExample, ToolsUnitTests): ...


class TestTerminateIntegration(TerminateExample, ToolsIntegrationTests): ...
