import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.state.errors import UsageError
from clew.state.settings import Settings, folder_name, load_settings


@pytest.mark.parametrize("thread", ["report", "2026-11-20", "lease:1", "a.b_c", "Jörg"])
def test_a_thread_has_a_folder_below_the_home(tmp_path, thread):
    assert Settings(home=tmp_path).workspace_of(thread).parent == tmp_path / "workspaces"


def test_a_plain_name_is_the_name_of_its_folder(tmp_path):
    assert Settings(home=tmp_path).workspace_of("report-7").name == "report-7"


@pytest.mark.parametrize("thread", ["../x", "..", ".", "", "/etc", "a/../../x", "~/x", "a\0b", "x" * 500, ".clew"])
def test_no_thread_leads_out_of_the_folder_of_workspaces(tmp_path, thread):
    place = Settings(home=tmp_path).workspace_of(thread)
    assert place.parent == tmp_path / "workspaces"
    assert place.resolve() == place
    place.mkdir(parents=True)


@given(st.lists(st.text(), unique=True))
def test_no_two_threads_share_a_folder(threads):
    names = list(map(folder_name, threads))
    assert len(set(names)) == len(names)
    assert not [name for name in names if "/" in name or name.startswith(".") or not 0 < len(name) <= 200]


def test_the_sandbox_is_set_by_file_and_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text("[sandbox]\nnetwork = true\n[sandbox.limits]\nprocesses = 64\n")
    monkeypatch.setenv("CLEW_SANDBOX__BACKEND", "local")
    sandbox = load_settings().sandbox
    assert (sandbox.backend, sandbox.network, sandbox.limits.processes) == ("local", True, 64)


@pytest.mark.parametrize("table", ["[sandbox]\nbackend = 'chroot'", "[browser]\nwindow = true"])
def test_a_malformed_table_is_refused_with_the_name_of_the_field(tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text(table)
    with pytest.raises(UsageError, match=r"settings: (sandbox\.backend|browser\.window)"):
        load_settings()


def test_a_flag_is_stronger_than_the_environment_and_that_than_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text(
        "model = 'file'\ndb = 'file'\nhome = 'file'\n[runflow]\nparallel = 2\nmax_steps = 2\n"
    )
    monkeypatch.setenv("CLEW_MODEL", "environment")
    monkeypatch.setenv("CLEW_DB", "environment")
    monkeypatch.setenv("CLEW_RUNFLOW__PARALLEL", "3")
    settings = load_settings(model="flag", db=None)
    assert (settings.model, settings.db, str(settings.home)) == ("flag", "environment", "file")
    assert (settings.runflow.parallel, settings.runflow.max_steps, settings.runflow.max_revisions) == (3, 2, 3)


@pytest.mark.parametrize(("text", "sentence"), [("hom = 'x'", "settings: hom: "), ("home = ", r"clew\.toml: ")])
def test_an_unknown_setting_and_a_broken_file_are_refused(tmp_path, monkeypatch, text, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text(text)
    with pytest.raises(UsageError, match=rf"^{sentence}[^\n]*$"):
        load_settings()


def test_settings_made_by_hand_read_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text("db = 'file'")
    monkeypatch.setenv("CLEW_MODEL", "environment")
    assert Settings() == Settings.model_construct()


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        ("modell = 'x'", "settings: modell: there is no such setting; clew.example.toml shows all"),
        ("[mcp.servers.maze]", "settings: mcp.servers.maze: give either a command or a url"),
        ("[prices.small]\ninput = -1", "settings: prices.small.input: .* greater than or equal to 0"),
    ],
)
def test_a_wrong_setting_is_told_in_plain_words(tmp_path, monkeypatch, file, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text(file)
    with pytest.raises(UsageError, match=f"^{sentence}"):
        load_settings()


def test_a_malformed_variable_is_not_laid_to_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_LIMITS", "{bad")
    with pytest.raises(UsageError, match=r'^environment: .*"limits".* such as CLEW_LIMITS__MAX_STEPS=100'):
        load_settings()
