"""Whatever is said is heard as it was said, settings and their secrets included."""

from __future__ import annotations

import typing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.gateway import PRICE, route, settings
from latchway.ledger.keys import KeyRow
from latchway.ports import Granted, Key, Refused, Unavailable
from latchway.settings import Secret, Tls
from latchway.workers import messages as said
from ledger.parts import closing, opening, record

FROM_WORKER = [
    said.Hello(1),
    said.Ready(),
    said.Failed("no file"),
    said.Leaving(),
    said.Reserve(1, opening()),
    said.Replay(2, "req_1", "b/m"),
    said.Close(3, closing(made=(b"x" * 12,))),
    said.Remember(4, "alice", "a/m", (b"x" * 12, b"y" * 12)),
    said.Undo("req_1", True),
    said.Record(record()),
    said.Question(5, "find", "req_1"),
    said.Report(
        [said.Family("n", "h", "counter", [("n_total", {"a": "b"}, 1.0)])], [{"route": "a"}]
    ),
    said.Told(6),
]
FROM_SUPERVISOR = [
    said.Welcome(settings(), [KeyRow(Key("alice", "team"), "ab", b"d" * 32, True)], "settle:kill"),
    said.Answer(1, None),
    said.Answer(2, "no disk"),
    said.Answer(3, (5, 4)),
    said.Reply(4, {"a": [1, None]}),
    said.Reply(5, b"bytes"),
    said.Ask(6, True),
    said.KeyChange(7, KeyRow(Key("bob", "bob"), "cd", b"e" * 32)),
    said.Drain(False),
]


def across(message: said.Message, decoder: Any) -> Any:
    packet = said.Packet()
    packet.add(message)
    (heard,) = said.Packets(decoder).feed(packet.take())
    return heard


@pytest.mark.parametrize("message", FROM_WORKER, ids=lambda message: type(message).__name__)
def test_a_worker_is_understood(message: said.Message) -> None:
    assert across(message, said.from_workers) == message


@pytest.mark.parametrize("message", FROM_SUPERVISOR, ids=lambda message: type(message).__name__)
def test_a_supervisor_is_understood(message: said.Message) -> None:
    assert across(message, said.from_supervisor) == message


def test_every_message_is_in_these_tables() -> None:
    assert {type(each) for each in FROM_WORKER} == set(typing.get_args(said.FromWorker))
    assert {type(each) for each in FROM_SUPERVISOR} == set(typing.get_args(said.FromSupervisor))


def test_settings_come_whole_with_their_secrets() -> None:
    given = settings(
        route("a", cost=PRICE, drop_fields=("x",)),
        route("b", origin="o"),
        admin_token=Secret("the token"),
        tls=Tls(Path("a.crt"), Path("a.key")),
        shutdown_seconds=0.5,
    )
    heard = across(said.Welcome(given, [], ""), said.from_supervisor).settings
    assert heard.admin_token.reveal() == "the token"
    assert "the token" not in repr(heard)
    assert (heard.tls, heard.database, heard.models) == (given.tls, given.database, given.models)


def test_what_has_no_word_is_its_senders_fault() -> None:
    packet = said.Packet()
    packet.add(said.Told(1))
    with pytest.raises(NotImplementedError, match="a object is no part of a message"):
        packet.add(said.Record({"x": object()}))


@pytest.mark.parametrize("outcome", [Granted(), Refused(5, 4), Unavailable("no disk")])
def test_an_outcome_means_what_was_said(outcome: said.Outcome) -> None:
    assert said.meant(said.said(outcome)) == outcome


@pytest.mark.parametrize("data", [b"\0\0\0\1\xc1", b"\0\0\0\0", b"\0\0\0\2\x91\xc0"])
def test_bytes_that_are_no_message_are_a_fault(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        list(said.Packets(said.from_workers).feed(data))
