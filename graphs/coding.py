"""The agents that work on code, and those that only look."""

from __future__ import annotations

from ..state.spec import AgentSpec

SWE = AgentSpec(
    name="swe",
    description="A software engineer: mends and extends the code of a repository, and runs its tests.",
    system_prompt="prompt:swe_system",
    tools=("bash", "str_replace_editor", "file_search", "terminate"),
    max_steps=30,
    max_observe=10_000,
)

READ_ONLY = AgentSpec(
    name="read_only",
    description="Answers questions about files, and about the web where it can; changes nothing.",
    system_prompt="prompt:read_only_system",
    tools=("file_search", "file_view", "terminate", "reject"),
    optional_tools=("web_search", "web_fetch"),
    max_steps=20,
    max_observe=10_000,
)

CODE_ACT = AgentSpec(
    name="code_act",
    description="Acts by running code: a shell and a Python notebook that stay open, an editor, other agents to ask.",
    system_prompt="prompt:code_act_system",
    tools=("bash", "python_execute", "str_replace_editor", "delegate", "terminate", "reject"),
    optional_tools=("browser_use",),
    delegates=("read_only",),
    optional_delegates=("browser",),
    max_steps=40,
    max_observe=10_000,
)

REPO_STUDY = AgentSpec(
    name="repo_study",
    description="Studies a repository for a task and says what matters for it; changes nothing.",
    system_prompt="prompt:repo_study_system",
    tools=("file_search", "file_view", "terminate", "reject"),
    max_steps=20,
    max_observe=10_000,
)

VERIFIER = AgentSpec(
    name="verifier",
    description="Verifies whether a task has been done, by looking and running, and gives a verdict.",
    system_prompt="prompt:verifier_system",
    tools=("bash", "file_search", "file_view", "verdict"),
    tool_choice="required",
    terminating_tools=("verdict",),
    max_steps=20,
    max_observe=10_000,
)

CODING = (SWE, CODE_ACT, READ_ONLY, REPO_STUDY, VERIFIER)
"""All of them."""
