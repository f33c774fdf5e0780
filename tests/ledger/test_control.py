"""The commands write through a running gateway, or by themselves; either way it is done."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from latchway.ledger import control, keys, orders, report
from latchway.ledger.control import Control, Store
from latchway.ledger.database import LedgerFault, Lock, beside, open_reader
from latchway.ledger.keys import KeyFault
from latchway.ledger.writer import Writer
from latchway.ports import Unavailable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "latchway.db"


def with_gateway(path: Path, body: Callable[[Writer], Coroutine[Any, Any, None]]) -> None:
    """Run `body` beside a gateway's ledger and its socket."""

    async def gateway() -> None:
        writer = Writer.open(path, asyncio.get_running_loop(), served_by="host/1")
        listening = Control(writer, path)
        try:
            await listening.start()
            await body(writer)
        finally:
            await listening.stop()
            writer.stop()

    asyncio.run(gateway())


def shown(path: Path) -> list[dict[str, Any]]:
    reader = open_reader(path)
    try:
        return report.keys(reader)
    finally:
        reader.close()


def use(path: Path) -> str:
    """What the commands do, one after the other; the secret of the key that is left."""
    with Store.open(path) as store:
        secret = store.create("alice", "team", 1000)
        store.create("root", unlimited=True)
        store.credit("alice", 500)
        store.revoke("root")
        with pytest.raises(KeyFault, match="already"):
            store.create("alice")
        with pytest.raises(KeyFault, match="no key 'bob'"):
            store.revoke("bob")
    return secret


def check(path: Path, secret: str) -> None:
    alice, root = shown(path)
    assert (alice["owner"], alice["granted"]) == ("team", "0.000001500")
    assert (root["owner"], root["revoked"]) == ("root", True)
    reader = open_reader(path)
    assert keys.load(reader).check(secret) is not None
    reader.close()


def test_without_a_gateway(path: Path) -> None:
    check(path, use(path))
    assert Lock(path).take(), "the lock is given back"


def test_through_a_gateway(path: Path) -> None:
    async def body(writer: Writer) -> None:
        secret = await asyncio.to_thread(use, path)
        assert writer.keys.check(secret) is not None, "it holds for the next turn"
        assert not writer.keys.valid("root")
        check(path, secret)

    with_gateway(path, body)


def test_a_deep_folder(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 100) / ("y" * 100)
    folder.mkdir(parents=True)
    path = folder / "latchway.db"

    async def body(writer: Writer) -> None:
        check(path, await asyncio.to_thread(use, path))

    with_gateway(path, body)


def test_a_name_that_is_too_long_is_named(tmp_path: Path) -> None:
    async def body(writer: Writer) -> None:
        raise AssertionError("it must not start")

    with pytest.raises(LedgerFault, match="shorten it"):
        with_gateway(tmp_path / ("x" * 90), body)


def test_the_socket_is_for_its_owner_and_goes_with_the_gateway(path: Path) -> None:
    socket_path = beside(path, ".sock")
    socket_path.write_text("left by a gateway that was killed")

    async def body(writer: Writer) -> None:
        assert socket_path.is_socket()
        assert socket_path.stat().st_mode & 0o777 == 0o600

    with_gateway(path, body)
    assert not socket_path.exists()


def ask(path: Path, line: bytes) -> Any:
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(10)
        link.connect(str(beside(path, ".sock")))
        link.sendall(line)
        link.shutdown(socket.SHUT_WR)
        return json.loads(link.makefile("rb").readline())


@pytest.mark.parametrize("line", [
    b"\n", b"{}\n", b'{"type":"drop"}\n', b'{"type":"revoke","name":5}\n', b"\xff\xfe\n", b"",
    b'{"type":"revoke"', b"x" * (64 << 10),
])  # fmt: skip
def test_what_is_no_order_is_said_to_be_none(path: Path, line: bytes) -> None:
    async def body(writer: Writer) -> None:
        answer = await asyncio.to_thread(ask, path, line)
        assert answer["fault"].startswith("not an order: ")

    with_gateway(path, body)


def test_an_owner_that_does_not_answer_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "STORE_SECONDS", 0.03)
    lock = Lock(path)
    assert lock.take()
    with pytest.raises(LedgerFault, match="does not answer on its socket"):
        Store.open(path).revoke("alice")
    lock.release()


def test_an_answer_that_does_not_come(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "ORDER_SECONDS", 0.02)
    lock = Lock(path)
    assert lock.take()
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(beside(path, ".sock")))
        deaf.listen()
        with pytest.raises(LedgerFault, match="shows whether it was done"):
            Store.open(path).revoke("alice")
    lock.release()


def test_a_gateway_that_leaves_before_it_has_read() -> None:
    """As one does that has no file descriptor for the link."""
    ours, theirs = socket.socketpair()
    theirs.close()
    with ours:
        assert control._exchange(ours, b"{}\n") == b""


def test_a_ledger_that_fails_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(order: orders.Order, done: Callable[[Unavailable], None]) -> None:
        done(Unavailable("the disk is full"))

    async def body(writer: Writer) -> None:
        monkeypatch.setattr(writer, "order", fail)
        with pytest.raises(KeyFault, match="not available: the disk is full"):
            await asyncio.to_thread(Store.open(path).revoke, "alice")

    with_gateway(path, body)


def test_a_database_that_cannot_be_written(path: Path) -> None:
    path.write_text("no database" * 500)
    with pytest.raises(LedgerFault, match="not a database"):
        Store.open(path).create("alice")
    assert Lock(path).take()
