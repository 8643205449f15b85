"""A database of an older layout is brought up to date; what cannot be used is refused in one sentence, untouched."""

import sqlite3
from contextlib import closing

import pytest
from labyrinth import KNOWN, build, task, texts
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from clew.checkpoints.blobs import BLOB_FILE
from clew.checkpoints.inbox import Inbox
from clew.checkpoints.open import open_saver
from clew.checkpoints.schema import DATABASE, VERSION
from clew.checkpoints.sqlite_database import SqliteDatabase
from clew.state.errors import CheckpointError, UsageError

CONFIG = {"configurable": {"thread_id": "t"}, "metadata": {"run_id": "r"}}


async def opened(path):
    async with open_saver(path) as saver:
        return saver


async def test_a_thread_that_the_stock_saver_began_goes_on(tmp_path):
    path = tmp_path / "stock.db"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        await build(stock).ainvoke(task(), CONFIG, durability="sync")
    async with open_saver(path, states=KNOWN) as saver:
        graph = build(saver)
        assert len([found async for found in saver.alist(None, filter={"run_id": "r"})]) > 5
        result = await graph.ainvoke(Command(resume="left"), CONFIG, durability="sync")
        await saver.aprune(["t"])
        assert texts((await graph.aget_state(CONFIG)).values) == texts(result)
        assert texts(result)[-3:] == ["turn 6", "left", "right"]


async def test_a_stock_database_without_task_paths_is_migrated(tmp_path):
    path = tmp_path / "old.db"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        await stock.setup()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE writes DROP COLUMN task_path")
    async with open_saver(path) as saver:
        assert "__interrupt__" in await build(saver).ainvoke(task(), CONFIG)


async def test_opening_twice_changes_nothing(tmp_path):
    path = tmp_path / "clew.db"
    await opened(path)
    before = path.read_bytes()
    await opened(path)
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


async def refusal(path, sentence):
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=sentence) as caught:
        await opened(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


async def test_a_newer_layout_is_refused(tmp_path):
    path = tmp_path / "clew.db"
    await opened(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    await refusal(path, f"has layout 99 and this clew knows {VERSION}: upgrade clew")


SONGS = "CREATE TABLE songs (title); INSERT INTO songs VALUES ('one');"
CHECKPOINTS_OF_A_RACE = "CREATE TABLE checkpoints (runner, place); CREATE TABLE writes (book, page);"
VERSIONS = [*range(VERSION + 2), 99, -1]


def other_programs_file(path, statements):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    return path


@pytest.mark.parametrize("mode", ["delete", "wal"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tables", [SONGS, CHECKPOINTS_OF_A_RACE, "CREATE VIEW seven AS SELECT 7;"])
async def test_another_program_s_database_is_refused(tmp_path, tables, version, mode):
    path = tmp_path / "music.db"
    other_programs_file(path, f"PRAGMA journal_mode={mode}; {tables} PRAGMA user_version={version}")
    await refusal(path, r"music\.db is a SQLite database of another program: name another database")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("statement", ["PRAGMA user_version=1", "PRAGMA application_id=7"])
async def test_an_empty_database_that_another_program_has_marked_is_refused(tmp_path, statement):
    await refusal(other_programs_file(tmp_path / "music.db", statement), "is a SQLite database of another program")


async def test_a_stock_database_in_which_our_names_are_taken_is_refused(tmp_path):
    path = tmp_path / "stock.db"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as stock:
        await stock.setup()
    other_programs_file(path, "CREATE TABLE Threads (of, cotton)")
    await refusal(path, "is a SQLite database of another program")


async def test_a_database_of_ours_that_lost_a_table_is_told(tmp_path):
    path = tmp_path / "clew.db"
    await opened(path)
    other_programs_file(path, "DROP TABLE leases")
    await refusal(path, r"clew\.db lacks tables: restore it from a backup")


async def test_a_database_of_ours_from_before_it_was_marked_is_opened(tmp_path):
    path = tmp_path / "clew.db"
    await opened(path)
    other_programs_file(path, "PRAGMA application_id=0; PRAGMA user_version=2")
    await opened(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (DATABASE.application,)


@pytest.mark.parametrize(
    ("statements", "sentence"),
    [
        (SONGS, "is a SQLite database of another program"),
        (f"{SONGS} PRAGMA user_version=1", "is a SQLite database of another program"),
        ("CREATE TABLE blobs (digest); CREATE TABLE blob_uses (thread)", "is a SQLite database of another program"),
        (f"PRAGMA application_id={BLOB_FILE.application}; PRAGMA user_version=7", "has layout 7 and this clew knows 1"),
    ],
)
async def test_another_program_s_file_in_the_place_of_payloads_is_refused(tmp_path, statements, sentence):
    path = other_programs_file(tmp_path / "clew.db-blobs", statements)
    before = path.read_bytes()
    async with open_saver(tmp_path / "clew.db") as saver:
        with pytest.raises(CheckpointError, match=rf"clew\.db-blobs {sentence}"):
            await saver.blobs.put("t", b"a picture")
        with pytest.raises(CheckpointError, match=rf"clew\.db-blobs {sentence}"):
            await saver.blobs.references("t")
    assert path.read_bytes() == before


async def test_a_file_of_payloads_has_a_layout_number_and_one_from_before_that_is_read(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        reference = await saver.blobs.put("t", b"a picture")
    with closing(sqlite3.connect(tmp_path / "clew.db-blobs")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (BLOB_FILE.newest,)
    other_programs_file(tmp_path / "clew.db-blobs", "PRAGMA user_version=0; PRAGMA application_id=0")
    async with open_saver(tmp_path / "clew.db") as saver:
        assert await saver.blobs.get(reference) == b"a picture"


async def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but someone's notes\n" * 100)
    await refusal(path, "notes.txt is not a SQLite database, or is damaged")


async def test_a_damaged_database_is_refused(tmp_path):
    path = tmp_path / "clew.db"
    async with open_saver(path) as saver:
        await build(saver).ainvoke(task(), CONFIG)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\0" * (len(whole) - 4096))
    with pytest.raises(CheckpointError, match=r"clew\.db is damaged: restore it from a backup"):
        async with open_saver(path) as saver:
            await build(saver).aget_state(CONFIG)


async def test_a_locked_database_is_waited_for_and_then_refused(tmp_path):
    path = tmp_path / "clew.db"
    await opened(path)
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        closing(SqliteDatabase(path, patience=0.2)) as ours,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CheckpointError, match=r"clew\.db is locked by another process"):
            await ours.write(("DELETE FROM threads", ()))
        other.execute("COMMIT")
        assert await ours.write(("DELETE FROM threads", ())) == [0]


async def test_a_read_only_database_is_refused_when_it_is_written(tmp_path):
    path = tmp_path / "clew.db"
    with closing(SqliteDatabase(path)) as database:
        database.run(lambda connection: connection.execute("PRAGMA query_only=ON"))
        with pytest.raises(CheckpointError, match=r"clew\.db is read-only: give this user write access"):
            await database.write(("CREATE TABLE t (x)", ()))


async def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        graph = build(saver)
        await graph.ainvoke(task(), CONFIG, durability="sync")
        before = texts((await graph.aget_state(CONFIG)).values)
        saver.database.run(lambda connection: connection.execute("PRAGMA max_page_count=1").fetchall())
        with pytest.raises(CheckpointError, match="could not grow because the disk is full"):
            await graph.ainvoke(task("x" * 100_000), {**CONFIG, "metadata": {"run_id": "r2"}}, durability="sync")
        assert texts((await graph.aget_state(CONFIG)).values) == before
        assert saver.database.run(lambda c: c.execute("PRAGMA integrity_check").fetchone()) == ("ok",)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match="cannot be opened: check the path"):
        await opened(tmp_path / "file" / "clew.db")


async def test_the_folder_and_the_file_are_for_their_user_alone(tmp_path):
    await opened(tmp_path / "home" / "clew.db")
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "home" / "clew.db").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spelling", ["{}", "sqlite:///{}"])
async def test_a_path_and_a_url_name_the_same_file(tmp_path, spelling):
    await opened(spelling.format(tmp_path / "clew.db"))
    assert (tmp_path / "clew.db").exists()


async def test_an_unknown_kind_of_database_is_a_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="no database mysql://: give a path, sqlite:///PATH or postgresql://"):
        await opened("mysql://host/db")


async def test_a_database_of_the_layout_before_gets_what_it_lacks_and_keeps_what_it_has(tmp_path):
    path = tmp_path / "clew.db"
    async with open_saver(path) as saver:
        result = await build(saver).ainvoke(task(), CONFIG)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE inbox")
        connection.execute("PRAGMA user_version = 1")
    async with open_saver(path) as saver:
        await Inbox(saver).send("t", "pause")
        assert [order.kind for order in await Inbox(saver).read("t", 0)] == ["pause"]
        assert texts((await build(saver).aget_state(CONFIG)).values) == texts(result)
