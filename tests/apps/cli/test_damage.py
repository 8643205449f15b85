"""Whatever the disk changes in a database, a command answers in sentences."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

COMMANDS = (["threads"], ["show", "t1"], ["history", "t1"], ["du"], ["export", "t1", "t1.clew"])
TABLES = ("checkpoints", "checkpoints", "writes", "writes", "threads", "journal", "inbox", "facts")
STRANGE = (None, 0, -1, 3.5, "x", "", "{}", "[]", b"", b"{}", b"\xc0\xc1", b"\x80")


def change_bytes(chance: random.Random, path: Path) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(100, len(data))] = chance.randrange(256)
    path.write_bytes(data)


def change_value(chance: random.Random, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        table = chance.choice(TABLES)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        rows = database.execute(f"SELECT rowid, * FROM {table}").fetchall()
        if not rows:
            return
        row, place = chance.choice(rows), chance.randrange(len(columns))
        old = row[place + 1]
        value = chance.choice([*STRANGE, *[changed(chance, old)] * 12])
        text = isinstance(old, str) and isinstance(value, bytes) and chance.random() < 0.7
        slot = "CAST(? AS TEXT)" if text else "?"
        try:
            database.execute(f"UPDATE {table} SET {columns[place]} = {slot} WHERE rowid = ?", (value, row[0]))
        except sqlite3.IntegrityError:
            return


def changed(chance: random.Random, old: object) -> bytes:
    data = bytearray(old if isinstance(old, bytes) else str(old).encode())
    if chance.random() < 0.3:
        return bytes(data[: chance.randrange(len(data) + 1)])
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


@pytest.mark.parametrize("damage", [change_bytes, change_value])
def test_no_damage_is_told_in_the_words_of_python(clew, script, calls, folder, damage):
    look = calls(("bash", {"command": "echo hi"}))
    assert clew("run", "it", "--model", script(look, look, "Done."), "--thread", "t1", "--db", "whole.db").code == 0
    assert clew("run", "it", "--model", script("Done.", name="b"), "--thread", "t2", "--db", "whole.db").code == 0
    whole, path = (folder / "whole.db").read_bytes(), folder / "x.db"
    refused = 0
    for seed in range(60):
        for left in folder.glob("x.db*"):
            left.unlink()
        path.write_bytes(whole)
        damage(random.Random(seed), path)
        for command in COMMANDS:
            (folder / "t1.clew").unlink(missing_ok=True)
            result = clew(*command, "--db", "x.db")
            assert "--debug" not in result.err, (seed, command, result.err)
            assert (result.code == 0) == (result.err == ""), (seed, command, result)
            refused += result.code == 1
    assert refused > 20
