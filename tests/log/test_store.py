"""Log records: written once or anew, found by either id, deleted when they are old."""

from __future__ import annotations

import sqlite3

import pytest

from latchway.ledger.database import make_tables
from latchway.log import store
from ledger.parts import record


@pytest.fixture
def connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection)
    return connection


def test_a_record_comes_back_as_it_was(connection: sqlite3.Connection) -> None:
    whole = record(attempts=[{"usage": None, "reason": "résumé \u2028 \x00"}], billing={"x": "0"})
    store.put(connection, whole)
    assert store.find(connection, "req_1") == whole
    assert store.find(connection, "resp_of_req_1") == whole
    assert store.find(connection, "req_2") is None


def test_of_one_key_alone(connection: sqlite3.Connection) -> None:
    store.put(connection, record())
    store.put(connection, record("req_2", key="bob"))
    assert store.find(connection, "req_1", "bob") is None
    assert store.find(connection, "req_2", "bob") == record("req_2", key="bob")
    assert store.newest(connection, 9, "bob") == [record("req_2", key="bob")]


def test_written_anew_it_is_one_record(connection: sqlite3.Connection) -> None:
    store.put(connection, record(outcome="failed", response_id=None))
    store.put(connection, record())
    assert store.newest(connection, 9) == [record()]
    assert store.find(connection, "resp_of_req_1") == record()


def test_the_same_response_id_gives_the_last_turn(connection: sqlite3.Connection) -> None:
    for name in ("req_1", "req_2"):
        store.put(connection, record(name, response_id="resp"))
    assert store.find(connection, "resp") == record("req_2", response_id="resp")


def test_the_newest_first(connection: sqlite3.Connection) -> None:
    for number in range(5):
        store.put(connection, record(f"req_{number}"))
    assert [each["request_id"] for each in store.newest(connection, 2)] == ["req_4", "req_3"]


def test_old_records_go_a_step_at_a_time(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PRUNED_AT_ONCE", 2)
    for day in (1, 2, 3, 4):
        store.put(connection, record(f"req_{day}", started_at=f"2026-11-0{day}T00:00:00.000Z"))
    before = "2026-11-04T00:00:00.000Z"
    assert store.prune(connection, before), "there may be more"
    assert not store.prune(connection, before)
    assert not store.prune(connection, before)
    assert [each["request_id"] for each in store.newest(connection, 9)] == ["req_4"]


@pytest.mark.parametrize("broken", [{}, record(extra=object()), record(key=object())])
def test_what_is_no_record_is_refused(
    connection: sqlite3.Connection, broken: dict[str, object]
) -> None:
    with pytest.raises((KeyError, TypeError, sqlite3.Error)):
        store.put(connection, broken)
    assert store.newest(connection, 9) == []
