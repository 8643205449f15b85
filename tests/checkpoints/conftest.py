"""A saver of each kind, and a small graph with everything that is hard about checkpoints."""

import pytest
from labyrinth import KNOWN, build
from postgres_server import new_database, running_server

from clew.checkpoints.open import open_saver

KEY = "a key that only this test knows"


@pytest.fixture(scope="session")
def postgres():
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres):
    return new_database(postgres)


POSTGRES = pytest.param("postgresql", marks=pytest.mark.needs("initdb"))


@pytest.fixture(params=["inline", "in a thread and encrypted", POSTGRES])
async def saver(request, tmp_path):
    options = {"in_thread": True, "key": KEY} if "thread" in request.param else {}
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else tmp_path / "clew.db"
    async with open_saver(url, states=KNOWN, **options) as opened:
        yield opened


@pytest.fixture
def graph(saver):
    return build(saver)
