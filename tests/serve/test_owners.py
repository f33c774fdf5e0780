"""One owner's things are never reached with another owner's key, in whatever way a turn names them.

Every placement, through every door that takes a request, in two spellings, for four askers: the key
that had it made, another of the same owner, another owner's, and one who names what nobody has.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness.upstreams import completed, created, event
from latchway.ledger import made
from latchway.ledger.database import LedgerFault
from latchway.ledger.writer import Writer
from latchway.ports import Granted
from latchway.wire.bindings import TABLE
from latchway.wire.marks import mark
from ledger.parts import answered
from serve.owned import (
    CONTINUED,
    HELD,
    NAMES_NOTHING,
    SPELLINGS,
    THINGS,
    UNKNOWN,
    Json,
    Owners,
    Placement,
    told,
)

DOORS = {
    "http": "/v1/responses",
    "compact": "/v1/responses/compact",
    "counted": "/v1/responses/input_tokens",
    "websocket": "",
}
"""Where a request is sent, whichever way."""

UNKNOWN_ARE_REFUSED = [(code, each) for code, rows in CONTINUED.items() for each in rows]


def test_every_rule_that_can_name_a_thing_is_asked_about() -> None:
    rules = {rule.name for rule in TABLE}
    assert {each.rule for each in HELD} - {""} == rules - NAMES_NOTHING.keys()
    assert NAMES_NOTHING.keys() <= rules


def test_every_thing_is_asked_for() -> None:
    assert {each.kind for each in (*HELD, *(row for _, row in UNKNOWN_ARE_REFUSED))} == set(THINGS)


def asked(
    gateway: Owners,
    who: str,
    placement: Placement,
    things: dict[str, str],
    door: str,
    spelling: str = "plain",
) -> tuple[list[str], Json | None]:
    """The routes that were reached, and the refusal if there was one."""
    fields = placement.body(things)
    if door == "websocket":
        message = json.dumps({"type": "response.create", **fields})
        refusal = told(gateway.says(who, SPELLINGS[spelling](message)))
        return gateway.reached, refusal
    body = SPELLINGS[spelling](json.dumps(fields)).encode()
    answer = gateway.asks(who, "POST", DOORS[door], body)
    refused = answer is not None and answer.status >= 400
    return gateway.reached, told(answer) if refused else None


def code_of(refusal: Json | None) -> str | None:
    return None if refusal is None else refusal["error"]["code"]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("code", "placement"), UNKNOWN_ARE_REFUSED, ids=str)
def test_a_continuation(code: str, placement: Placement, door: str, spelling: str) -> None:
    """Another owner's is what does not exist, to the byte."""
    gateway = Owners()
    for who in ("alice", "alice-2"):
        assert asked(gateway, who, placement, THINGS, door, spelling) == (["b"], None)
    refusals = [
        asked(gateway, who, placement, things, door, spelling)
        for who, things in (("bob", THINGS), ("bob", UNKNOWN), ("alice", UNKNOWN))
    ]
    assert refusals == [([], refusals[0][1])] * 3
    assert code_of(refusals[0][1]) == code


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("placement", HELD, ids=str)
def test_what_is_held(placement: Placement, door: str, spelling: str) -> None:
    """It goes to its maker for its owner, and nowhere for another; what nobody knows goes to the
    first route, which will say so."""
    gateway = Owners()
    for who in ("alice", "alice-2"):
        assert asked(gateway, who, placement, THINGS, door, spelling) == (["b"], None)
    reached, refusal = asked(gateway, "bob", placement, THINGS, door, spelling)
    assert (reached, code_of(refusal)) == ([], "invalid_request")
    assert THINGS[placement.kind] not in json.dumps(refusal)
    for who in ("alice", "bob"):
        assert asked(gateway, who, placement, UNKNOWN, door, spelling) == (["a"], None)


KEEPS = [
    # fields of a request, is the id of its answer's message known again
    ({"store": True}, True),
    ({"store": False}, False),
    ({"store": False, "conversation": THINGS["conversation"]}, True),
    ({"store": False, "previous_response_id": THINGS["response"]}, True),
    ({"store": False, "input": [{"type": "item_reference", "id": THINGS["reasoning"]}]}, False),
]


@pytest.mark.parametrize(("fields", "known"), KEEPS)
def test_what_is_sent_back_whole(fields: Json, known: bool) -> None:
    """It is noted only where its origin keeps it; what cannot be sent whole, and the response, are
    noted always."""
    gateway = Owners()
    body = {"model": "m", "input": "hi", "stream": True, **fields}
    gateway.connect().post(json.dumps(body).encode())
    gateway.clock.advance()
    items = ({"type": "message", "id": "msg_N"}, {"type": "reasoning", "id": "rs_N"})
    sent = [event("response.output_item.done", item=each) for each in items]
    gateway.call.sends(created("resp_N"), *sent, completed("resp_N"))
    gateway.clock.advance()
    found = {name: gateway.ledger.maker("alice", [mark(name)]) for name in ("resp_N", "rs_N")}
    assert None not in found.values()
    assert (gateway.ledger.maker("alice", [mark("msg_N")]) is not None) == known


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("behind", [0, 1025, 3000])
def test_none_hides_behind_many_of_ones_own(door: str, behind: int) -> None:
    gateway = Owners()
    own = [f"msg_{number}" for number in range(behind)]
    with gateway.ledger.book.transaction():
        gateway.ledger.book.remember("bob", "a", list(map(mark, own)))
    for names in (["msg_A", *own], [*own, "msg_A"]):
        references = [{"type": "item_reference", "id": name} for name in names]
        placement = Placement("item_reference", "message", {"input": references})
        reached, refusal = asked(gateway, "bob", placement, THINGS, door)
        assert (reached, code_of(refusal)) == ([], "invalid_request")


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("step", "placement"),
    [("find", UNKNOWN_ARE_REFUSED[0][1]), ("find", HELD[0]), ("is_anothers", HELD[0])],
    ids=str,
)
def test_who_cannot_look_up_calls_nobody(
    step: str, placement: Placement, door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(*asked: Any) -> None:
        raise LedgerFault("the disk is gone")

    gateway = Owners()
    monkeypatch.setattr(made, step, unreadable)
    reached, refusal = asked(gateway, "alice", placement, THINGS, door)
    assert (reached, code_of(refusal)) == ([], "ledger_unavailable")


# ---- another gateway, later


async def written_down(path: Path) -> None:
    """A gateway that had made all of THINGS, and has ended."""
    writer = Writer.open(path, asyncio.get_running_loop(), served_by="host/1")
    marks = list(map(mark, THINGS.values()))
    assert await answered(lambda done: writer.remember("alice", "b", marks, done)) == Granted()
    writer.stop()


def later(path: Path, keep_days: float) -> list[tuple[Placement, str, list[str], str | None]]:
    """What becomes of every placement in the next gateway on the same file, whoever asks."""

    gateway = Owners()
    gateway.ledger.connection.execute("DELETE FROM made")

    async def ask() -> list[tuple[Placement, str, list[str], str | None]]:
        await written_down(path)
        loop = asyncio.get_running_loop()
        writer = Writer.open(path, loop, served_by="host/2", keep_days=keep_days)
        gateway.ledger.maker = writer.maker  # type: ignore[method-assign]
        gateway.ledger.is_anothers = writer.is_anothers  # type: ignore[method-assign]
        found = []
        for placement in (*HELD, *(row for _, row in UNKNOWN_ARE_REFUSED)):
            for who in ("alice", "alice-2", "bob"):
                reached, refusal = asked(gateway, who, placement, THINGS, "websocket")
                found.append((placement, who, reached, code_of(refusal)))
        writer.stop()
        return found

    return asyncio.run(ask())


def wanted(placement: Placement, who: str, expired: bool) -> tuple[list[str], str | None]:
    """What is remembered no longer counts as unknown (docs/http.md)."""
    code = next((code for code, each in UNKNOWN_ARE_REFUSED if each is placement), None)
    if code is None and expired:
        return ["a"], None
    if not expired and who != "bob":
        return ["b"], None
    return [], code or "invalid_request"


@pytest.mark.parametrize("expired", [False, True])
def test_after_a_restart_and_after_its_time(tmp_path: Path, expired: bool) -> None:
    found = later(tmp_path / "latchway.db", keep_days=0.0 if expired else 30.0)
    assert len(found) == 3 * (len(HELD) + len(UNKNOWN_ARE_REFUSED))
    for placement, who, reached, code in found:
        assert (reached, code) == wanted(placement, who, expired), (placement, who)
