"""One owner's things are never reached with another owner's key: the paths that take an id, and
whatever else of another owner's can stand in a path, a query or a body beside one's own.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from latchway.ledger import made
from latchway.ledger.database import LedgerFault
from latchway.serve.plain import PATHS, find
from latchway.wire.marks import mark
from latchway.wire.meaning import whole_answer
from serve.owned import SPELLINGS, THINGS, UNKNOWN, Owners, told

Asked = tuple[str, str, str | None]
"""Method, path, body."""

KEPT: list[Asked] = [
    ("GET", "/v1/responses/{response}", None),
    ("GET", "/v1/responses/{response}?include=reasoning.encrypted_content", None),
    ("GET", "/v1/responses/{response}?stream=true&starting_after=3", None),
    ("DELETE", "/v1/responses/{response}", None),
    ("GET", "/v1/responses/{response}/input_items", None),
    ("GET", "/v1/responses/{response}/input_items?limit=2&order=asc", None),
    ("POST", "/v1/responses/{response}/cancel", None),
    ("POST", "/v1/responses/{response}/cancel", "{{}}"),
    ("GET", "/v1/conversations/{conversation}", None),
    ("POST", "/v1/conversations/{conversation}", '{{"metadata":{{"a":"b"}}}}'),
    ("DELETE", "/v1/conversations/{conversation}", None),
    ("GET", "/v1/conversations/{conversation}/items", None),
    ("GET", "/v1/conversations/{conversation}/items?after={listed}", None),
    ("POST", "/v1/conversations/{conversation}/items", '{{"items":[{{"id":"{message}"}}]}}'),
    ("GET", "/v1/conversations/{conversation}/items/{listed}", None),
    ("DELETE", "/v1/conversations/{conversation}/items/{listed}", None),
]
"""What is asked for by its id; the things of one owner alone."""

NO_OWNERS = {
    "/v1/responses/input_tokens": "tests/serve/test_owners.py: it takes a request",
    "/v1/conversations": "makes a new one; below, what it is given",
    "/v1/models/(?P<id>.{1,200})": "models are everybody's",
    "/v1/requests/(?P<id>[^/]{1,200})": "a key's own turns; below",
    "/admin/requests/(?P<id>[^/]{1,200})": "the operator's, by a token",
}
"""Paths with an id, or that are passed on, which the table above leaves out."""


def test_every_path_with_an_id_and_every_method_is_asked_about() -> None:
    rows = [row for row in PATHS if row.passed or "id" in row.pattern.groupindex]
    wanted = {
        (row.pattern.pattern, method)
        for row in rows
        if row.pattern.pattern not in NO_OWNERS
        for method in row.methods
    }
    shown = set()
    for method, path, _ in KEPT:
        found = find(path.format(**THINGS).partition("?")[0])
        assert found is not None
        shown.add((found[0].pattern.pattern, method))
    assert shown == wanted
    assert NO_OWNERS.keys() <= {row.pattern.pattern for row in rows}


def asked(gateway: Owners, who: str, row: Asked, things: dict[str, str]) -> tuple[list[str], Any]:
    """The routes that were reached, and the refusal, if there is one."""
    method, path, body = row
    said = None if body is None else body.format(**things).encode()
    answer = gateway.asks(who, method, path.format(**things), said)
    refused = answer is not None and answer.status >= 400
    return gateway.reached, told(answer) if refused else None


@pytest.mark.parametrize("row", KEPT, ids=lambda row: " ".join(map(str, row)))
def test_what_is_kept(row: Asked) -> None:
    gateway = Owners()
    for who in ("alice", "alice-2"):
        assert asked(gateway, who, row, THINGS) == (["b"], None)
    refusals = [
        asked(gateway, who, row, things)
        for who, things in (("bob", THINGS), ("bob", UNKNOWN), ("alice", UNKNOWN))
    ]
    assert refusals == [([], refusals[0][1])] * 3
    assert (refusals[0][1]["status"], refusals[0][1]["error"]["code"]) == (
        404,
        "response_not_found",
    )


# ---- beside one's own

OWN = {"own": "conv_B", "own_response": "resp_B"}
REFERENCE = '{{"type":"item_reference","id":"{message}"}}'

BESIDE: list[tuple[Asked, str]] = [
    (("GET", "/v1/conversations/{own}/items/{listed}", None), "response_not_found"),
    (("DELETE", "/v1/conversations/{own}/items/{message}", None), "response_not_found"),
    (("GET", "/v1/conversations/{own}/items?after={listed}", None), "response_not_found"),
    (("GET", "/v1/conversations/{own}/items?after=x&after={listed}", None), "response_not_found"),
    (("GET", "/v1/conversations/{own}/items?limit=5;after={listed}", None), "response_not_found"),
    (("GET", "/v1/conversations/{own}/items?after=x,{listed}", None), "response_not_found"),
    (("GET", "/v1/responses/{own_response}/input_items?before={reasoning}", None),
     "response_not_found"),
    (("GET", "/v1/responses/{own_response}?include[]={message}", None), "response_not_found"),
    (("GET", "/v1/responses/{own_response}?stream=true&x={response}", None), "response_not_found"),
    (("GET", "/v1/responses/{own}?x={conversation}", None), "response_not_found"),
    (("POST", "/v1/conversations/{own}/items", '{{"items":[' + REFERENCE + "]}}"),
     "invalid_request"),
    (("POST", "/v1/conversations/{own}/items", '{{"items":' + REFERENCE + "}}"),
     "invalid_request"),
    (("POST", "/v1/conversations/{own}/items", '{{"items":[{{"id":"{image}"}}]}}'),
     "invalid_request"),
    (("POST", "/v1/conversations/{own}/items", '{{"item":' + REFERENCE + "}}"), "invalid_request"),
    (("POST", "/v1/conversations/{own}", '{{"x":[{{"response_id":"{response}"}}]}}'),
     "invalid_request"),
    (("POST", "/v1/conversations", '{{"items":[' + REFERENCE + "]}}"), "invalid_request"),
    (("POST", "/v1/conversations", '{{"items":[{{"type":"reasoning","encrypted_content":'
      '"{encrypted}"}}]}}'), "invalid_request"),
    (("POST", "/v1/responses/{own_response}/cancel", '{{"response_id":"{response}"}}'),
     "invalid_request"),
]  # fmt: skip
"""Another owner's things beside one's own, and the refusal."""


def coded(path: str) -> str:
    """The same with its query's words spelled in the longest way; never a stream."""
    before, parting, query = path.replace("stream=true&", "").partition("?")
    return before + parting + re.sub("[a-zA-Z_]", lambda m: f"%{ord(m[0]):02X}", query)


def with_own(gateway: Owners) -> Owners:
    """`bob` has a conversation and a response, made at route a."""
    bob = {"authorization": f"Bearer {gateway.secrets['bob']}"}
    gateway.keeps(id="conv_B")
    gateway.page("/v1/conversations", "POST", b"{}", **bob)
    gateway.keeps(id="resp_B")
    gateway.secret = gateway.secrets["bob"]
    gateway.ask(store=True)
    gateway.finish("resp_B")
    gateway.keeps(object="list", data=[])
    return gateway


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("row", "code"), BESIDE, ids=str)
def test_anothers_beside_ones_own(row: Asked, code: str, spelling: str) -> None:
    gateway = with_own(Owners())
    method, path, body = row
    spelled = body if body is None else body.format(**OWN, **THINGS)
    said = None if spelled is None else SPELLINGS[spelling](spelled).encode()
    asked_for = path.format(**OWN, **THINGS)
    answer = gateway.asks(
        "bob", method, asked_for if spelling == "plain" else coded(asked_for), said
    )
    assert gateway.reached == []
    assert answer is not None
    assert answer.code == code
    assert asked(gateway, "bob", row, {**OWN, **UNKNOWN}) == (["a"], None)


def test_a_number_is_no_id() -> None:
    gateway = with_own(Owners())
    with gateway.ledger.book.transaction():
        gateway.ledger.book.remember("alice", "b", [mark("5")])
    assert asked(gateway, "bob", ("GET", "/v1/conversations/{own}/items?limit=5", None), OWN) == (
        ["a"],
        None,
    )


# ---- what an answer names does not become one's own


@pytest.mark.parametrize(
    "path",
    ["/v1/conversations/conv_B/items", "/v1/responses/resp_B/input_items", "/v1/responses/resp_B"],
)
def test_what_was_only_told_again_is_still_anothers(path: str) -> None:
    """A client may write any id over a message of its own, and have it listed."""
    gateway = with_own(Owners())
    gateway.keeps(id="resp_B", data=[{"id": "msg_A"}, {"id": "msg_B"}])
    assert gateway.asks("bob", "GET", path) is not None
    for name, reached in (("msg_A", []), ("msg_B", ["a"])):
        body = {"model": "m", "input": [{"type": "item_reference", "id": name}]}
        gateway.asks("bob", "POST", "/v1/responses", json.dumps(body).encode())
        assert gateway.reached == reached


def test_what_a_compaction_keeps_of_its_input_is_still_anothers() -> None:
    gateway = with_own(Owners())
    said = {"model": "m", "input": [{"id": "msg_A", "role": "user", "content": "mine"}]}
    gateway.asks("bob", "POST", "/v1/responses/compact", json.dumps(said).encode())
    response = {"id": "resp_C", "object": "response.compaction", "status": "completed"}
    output = [*said["input"], {"type": "compaction", "id": "cmp_B", "encrypted_content": "gB"}]
    frame = whole_answer(json.dumps(response | {"output": output}).encode(), streamed=False)
    assert frame is not None
    gateway.call.sends(frame)
    gateway.clock.advance()
    for name, reached in (("msg_A", []), ("cmp_B", ["a"])):
        body = {"model": "m", "input": [{"type": "item_reference", "id": name}]}
        gateway.asks("bob", "POST", "/v1/responses", json.dumps(body).encode())
        assert gateway.reached == reached


# ---- two owners with the same ids


def test_what_two_owners_have_is_each_ones_own() -> None:
    gateway = Owners()
    gateway.secret = gateway.secrets["bob"]
    gateway.ask(store=True)
    gateway.finish(THINGS["response"])
    for who, where in (("alice", "b"), ("bob", "a")):
        assert asked(gateway, who, KEPT[0], THINGS) == ([where], None)
        body = json.dumps({"model": "m", "previous_response_id": THINGS["response"]})
        gateway.asks(who, "POST", "/v1/responses", body.encode())
        assert gateway.reached == [where]


# ---- records


@pytest.mark.parametrize("by", ["request_id", "response_id"])
def test_a_record_is_its_keys_alone(by: str) -> None:
    gateway = Owners()
    record = gateway.record
    shown = gateway.asks("alice", "GET", f"/v1/requests/{record[by]}")
    assert shown is not None
    assert shown.json["request_id"] == record["request_id"]
    refusals = [
        told(gateway.asks(who, "GET", f"/v1/requests/{name}"))
        for who, name in (("bob", record[by]), ("alice-2", record[by]), ("bob", "req_unknown"))
    ]
    assert refusals == [refusals[0]] * 3
    assert refusals[0] is not None
    assert refusals[0]["error"]["code"] == "not_found"


# ---- a ledger that cannot be read


@pytest.mark.parametrize("step", ["find", "is_anothers"])
@pytest.mark.parametrize("row", KEPT, ids=lambda row: " ".join(map(str, row)))
def test_who_cannot_look_up_asks_nobody(
    row: Asked, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Owners()

    def unreadable(*asked: Any) -> None:
        raise LedgerFault("the disk is gone")

    monkeypatch.setattr(made, step, unreadable)
    reached, refusal = asked(gateway, "alice", row, THINGS)
    assert (reached, refusal["error"]["code"]) == ([], "ledger_unavailable")
