"""Requests: refusals by field, the binding, and the bytes that go upstream."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from latchway.turn.events import Binding
from latchway.wire.request import (
    Request,
    RequestFault,
    binding_of,
    bound_by_encrypted_only,
    parse,
    upstream_body,
)

REAL = json.loads((Path(__file__).parent / "data" / "client-requests.json").read_text())
"""What eleven real client programs sent, HTTP bodies and `response.create` messages."""

BARE = {"model": "m"}
ENCRYPTED = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}


def request(websocket: bool = False, pinned: str | None = None, /, **fields: Any) -> Request:
    return parse(body_of(fields), websocket=websocket, pinned_route=pinned)


def body_of(fields: dict[str, Any]) -> bytes:
    return json.dumps({**BARE, **fields}).encode()


def refusal(websocket: bool = False, /, **fields: Any) -> RequestFault:
    with pytest.raises(RequestFault) as refused:
        parse(body_of(fields), websocket=websocket)
    return refused.value


def binding(of: Request, when_omitted: str = "stateless", default: bool = True) -> Binding:
    return binding_of(of, store_when_omitted=when_omitted, store_default=default)


# ---- what a request says


def test_an_ordinary_request() -> None:
    body = b'{"model":"m","input":"hi","stream":true,"store":false,"max_output_tokens":50}'
    got = parse(body, websocket=False)
    assert got == Request(
        body=body,
        fields=got.fields,
        model="m",
        streamed=True,
        websocket=False,
        store=False,
        previous_response_id=None,
        conversation=None,
        origin_field=None,
        encrypted_field=None,
        pinned_route=None,
        acting_tool=None,
        background=False,
        max_output_tokens=50,
        partial_input=False,
    )
    assert {name: bytes(raw) for name, raw in got.fields.items()} == {
        "model": b'"m"',
        "input": b'"hi"',
        "stream": b"true",
        "store": b"false",
        "max_output_tokens": b"50",
    }


@pytest.mark.parametrize("stream", [True, False, None])
def test_a_websocket_always_streams_and_http_if_it_says_so(stream: bool | None) -> None:
    assert request(False, stream=stream).streamed is (stream is True)
    assert request(True, stream=stream).streamed is True


@pytest.mark.parametrize("given", ["conv_1", {"id": "conv_1"}, {"id": "conv_1", "x": 1}])
def test_a_conversation_is_an_id_or_an_object_that_has_it(given: Any) -> None:
    assert request(conversation=given).conversation == "conv_1"


NULLABLE = ("stream", "store", "background", "generate", "previous_response_id", "conversation",
            "max_output_tokens", "input", "tools", "prompt", "stream_id")  # fmt: skip


@pytest.mark.parametrize("websocket", [True, False])
def test_null_counts_as_omitted_everywhere(websocket: bool) -> None:
    got = request(websocket, **dict.fromkeys(NULLABLE))
    plain = request(websocket)
    told = {name: getattr(got, name) for name in Request.__slots__}
    del told["body"], told["fields"]
    assert told == {name: getattr(plain, name) for name in told}


@pytest.mark.parametrize(
    ("fields", "partial"),
    [
        ({"input": "hi"}, False),
        ({"previous_response_id": "r"}, True),
        ({"conversation": "c"}, True),
        ({"prompt": {"id": "p"}}, True),
        ({"input": [{"id": "msg_1"}]}, True),
        ({"input": [ENCRYPTED]}, False),
    ],
)
def test_partial_input(fields: dict[str, Any], partial: bool) -> None:
    assert request(**fields).partial_input is partial


def test_an_acting_tool_is_named() -> None:
    assert request(tools=[{"type": "mcp", "server_label": "s"}]).acting_tool == "mcp"


# ---- refusals

UNFIT: dict[str, list[str]] = {
    "model": ["1", '""', "true", '["m"]', f'"{"x" * 513}"'],
    "stream": ['"true"', "1", "{}"],
    "store": ['"false"', "0", "[]"],
    "background": ['"no"', "1"],
    "generate": ['"no"', "1"],
    "previous_response_id": ["1", '""', '{"id":"r"}', f'"{"x" * 513}"'],
    "conversation": ["1", '""', "{}", '{"id":1}', '{"id":""}', "[]", "[" * 900 + "]" * 900],
    "max_output_tokens": ["0", "-1", "1.5", "50.0", "true", '"50"', "1" + "0" * 5_000, "1e999"],
    "input": ["1", "true", '{"role":"user"}'],
    "tools": ['"x"', "{}", "1"],
}
"""By field, values as they stand in a body."""


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in UNFIT.items() for value in values],
    ids=lambda value: value[:20],
)
def test_a_field_of_the_wrong_type_is_refused_by_name(name: str, value: str) -> None:
    first = "" if name == "model" else '"model":"m",'
    with pytest.raises(RequestFault) as refused:
        parse(f'{{{first}"{name}":{value}}}'.encode(), websocket=False)
    assert (refused.value.code, refused.value.param) == ("invalid_request", name)
    assert f"`{name}` must be" in refused.value.message


@pytest.mark.parametrize("body", [b"{}", b'{"model":null}', b'{"Model":"m"}'])
def test_a_request_without_a_model_is_refused(body: bytes) -> None:
    with pytest.raises(RequestFault) as refused:
        parse(body, websocket=False)
    assert (refused.value.code, refused.value.param) == ("invalid_request", "model")
    assert "missing" in refused.value.message


@pytest.mark.parametrize(
    ("websocket", "fields", "name"),
    [
        (True, {"background": True}, "background"),
        (True, {"stream_id": "a"}, "stream_id"),
        (True, {"stream_id": 1}, "stream_id"),
        (True, {"generate": False}, "generate"),
        (False, {"generate": False}, "generate"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    websocket: bool, fields: dict[str, Any], name: str
) -> None:
    fault = refusal(websocket, **fields)
    assert (fault.code, fault.param) == ("unsupported_parameter", name)


def test_what_is_supported_is_not_refused() -> None:
    assert request(False, background=True).background
    assert not request(True, background=False, stream_id=None, generate=True).background
    assert request(False, stream_id="a").model == "m"


@pytest.mark.parametrize(
    "name", ["store", "previous_response_id", "conversation", "stream", "model", "background",
             "prompt", "generate", "input"],
)  # fmt: skip
def test_a_field_given_twice_is_refused_also_when_spelled_with_escapes(name: str) -> None:
    for again in (name, f"\\u{ord(name[0]):04x}{name[1:]}"):
        body = f'{{"{name}":"m","{again}":"m"}}'.encode()
        with pytest.raises(RequestFault) as refused:
            parse(body, websocket=False)
        assert (refused.value.code, refused.value.param) == ("invalid_request", name)


def test_what_cannot_be_searched_is_refused_by_name() -> None:
    deep = json.dumps({"model": "m", "image": 0}).replace("0", "[" * 500 + "]" * 500)
    with pytest.raises(RequestFault) as refused:
        parse(deep.encode(), websocket=False)
    assert (refused.value.code, refused.value.param) == ("invalid_request", "image")


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["id", "type", "x_id", "tools", "content"]), inner),
    max_leaves=8,
)  # fmt: skip
KNOWN = st.sampled_from([*UNFIT, *NULLABLE, "metadata", "unknown"])


BODIES = st.dictionaries(KNOWN, ANY).map(lambda fields: json.dumps(fields).encode())


@given(st.binary() | BODIES, st.booleans())
@example(b'{"model":"m","input":' + b'[{"a":' * 300 + b"1" + b"}]" * 300 + b"}", True)
def test_parse_gives_a_request_or_a_refusal_and_nothing_else(body: bytes, websocket: bool) -> None:
    try:
        outcome: Request | RequestFault = parse(body, websocket=websocket)
    except RequestFault as refused:
        outcome = refused
    if isinstance(outcome, Request):
        assert outcome.body is body
    else:
        assert outcome.code in ("invalid_json", "invalid_request", "unsupported_parameter")


# ---- the binding


@pytest.mark.parametrize(
    ("store", "when_omitted", "default", "stored"),
    [
        (True, "provider", False, True),
        (True, "false", False, True),
        (True, "stateless", False, True),
        (False, "provider", True, False),
        (False, "stateless", True, False),
        (None, "provider", True, True),
        (None, "provider", False, False),
        (None, "false", True, False),
        (None, "stateless", True, False),
    ],
)
def test_stored(store: bool | None, when_omitted: str, default: bool, stored: bool) -> None:
    got = binding(request(store=store), when_omitted, default)
    assert got is (Binding.STORED if stored else Binding.STATELESS)


ORIGIN = {"prompt": {"id": "p"}}
CONTINUED = {"previous_response_id": "r"}


@pytest.mark.parametrize(
    ("fields", "pinned", "wanted"),
    [
        ({}, None, Binding.STATELESS),
        ({"store": True, **CONTINUED, **ORIGIN}, "a", Binding.STORED),
        ({**CONTINUED, **ORIGIN}, "a", Binding.CONTINUATION),
        ({"conversation": "c"}, None, Binding.CONTINUATION),
        (ORIGIN, None, Binding.ORIGIN_BOUND),
        ({"background": True}, None, Binding.ORIGIN_BOUND),
        ({"input": [ENCRYPTED]}, None, Binding.ORIGIN_BOUND),
        ({}, "a", Binding.ORIGIN_BOUND),
    ],
)
def test_the_first_binding_in_order_names_the_request(
    fields: dict[str, Any], pinned: str | None, wanted: Binding
) -> None:
    assert binding(request(False, pinned, **fields)) is wanted


@pytest.mark.parametrize(
    ("fields", "pinned", "alone"),
    [
        ({"input": [ENCRYPTED]}, None, True),
        ({"input": [ENCRYPTED]}, "a", False),
        ({"input": [ENCRYPTED], **ORIGIN}, None, False),
        ({"input": [ENCRYPTED], **CONTINUED}, None, False),
        ({"input": [ENCRYPTED], "store": True}, None, False),
        ({}, None, False),
        ({}, "a", False),
        (ORIGIN, None, False),
    ],
)
def test_bound_by_encrypted_items_alone(
    fields: dict[str, Any], pinned: str | None, alone: bool
) -> None:
    got = request(False, pinned, **fields)
    assert bound_by_encrypted_only(got, store_when_omitted="false", store_default=True) is alone


def test_a_backends_own_routing_token_binds_by_header_too() -> None:
    body = body_of({})
    held = parse(body, websocket=False, headers={"x-codex-turn-state": "t"})
    assert (held.origin_field, binding(held)) == ("x-codex-turn-state", Binding.ORIGIN_BOUND)
    free = parse(body, websocket=False, headers={"x-codex-turn-state": "", "other": "x"})
    assert binding(free) is Binding.STATELESS


@pytest.mark.parametrize("sent", REAL, ids=lambda sent: sent["client"])
def test_what_real_clients_send_is_stateless_unless_stored_by_default(sent: dict[str, Any]) -> None:
    body = json.dumps(sent["body"]).encode()
    websocket = sent["transport"] == "websocket"
    if "stream_id" in sent["body"]:
        assert refusal(websocket, **sent["body"]).param == "stream_id"
        return
    got = parse(body, websocket=websocket)
    assert binding(got, "provider", default=False) is Binding.STATELESS
    omitted = "store" not in sent["body"]
    assert (binding(got, "provider", default=True) is Binding.STORED) is omitted
    assert (got.acting_tool, got.partial_input) == (None, False)
    assert got.streamed is (websocket or sent["body"].get("stream", False))


def test_the_real_clients_are_all_there() -> None:
    assert len(REAL) == 37
    assert {sent["transport"] for sent in REAL} == {"http", "websocket"}


# ---- the bytes that go upstream


def sent_up(of: Request, model: str = "m", omitted: str = "provider", *dropped: str) -> bytes:
    return upstream_body(of, model=model, store_when_omitted=omitted, drop_fields=dropped)


ODD = b' {"input" : [ 1e2, "\\u0041" ] ,\n"model":"m", "n": -0.0}\n'
"""Bytes that no writer of ours would make."""


def test_where_nothing_must_change_the_bytes_pass() -> None:
    got = parse(ODD, websocket=False)
    assert sent_up(got) is got.body
    assert sent_up(got, "m", "stateless", "not_there") is got.body


@pytest.mark.parametrize(
    ("body", "model", "omitted", "dropped", "wanted"),
    [
        (ODD, "up", "provider", (),
         b'{"input":[ 1e2, "\\u0041" ],"model":"up","n":-0.0}'),
        (ODD, "m", "false", (),
         b'{"input":[ 1e2, "\\u0041" ],"model":"m","n":-0.0,"store":false}'),
        (ODD, "m", "provider", ("n", "x"), b'{"input":[ 1e2, "\\u0041" ],"model":"m"}'),
        (b'{"store":null,"model":"m"}', "m", "false", (), b'{"store":false,"model":"m"}'),
        (b'{"store":true,"model":"m"}', "m", "false", (), b'{"store":true,"model":"m"}'),
        (b'{"model":"m"}', "m", "false", ("store",), b'{"model":"m"}'),
        (b'{"model":"m","generate":null}', "m", "provider", (), b'{"model":"m"}'),
        (b'{"generate":true,"model":"m"}', "m", "provider", (), b'{"model":"m"}'),
        (b'{"model":"m","type":"x"}', "m", "provider", (), b'{"model":"m","type":"x"}'),
        (b'{"model":"m"}', '"\xe9\n', "provider", (), '{"model":"\\"\xe9\\n"}'.encode()),
    ],
)  # fmt: skip
def test_over_http_only_what_must_change_does(
    body: bytes, model: str, omitted: str, dropped: tuple[str, ...], wanted: bytes
) -> None:
    assert sent_up(parse(body, websocket=False), model, omitted, *dropped) == wanted


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        (b'{"type":"response.create","model":"m"}', b'{"model":"m","stream":true}'),
        (b'{"stream":false,"model":"m"}', b'{"stream":true,"model":"m"}'),
        (b'{"generate":true,"model":"m","stream_id":null,"stream":true}',
         b'{"model":"m","stream":true}'),
    ],
)  # fmt: skip
def test_a_create_becomes_the_body_of_the_same_turn(message: bytes, wanted: bytes) -> None:
    assert sent_up(parse(message, websocket=True)) == wanted


VALUES = st.sampled_from(['"x"', "[ ]", '{"a" :1}', "1e2", "-0.0", '"\\u00e9\\ud83d\\ude00 é"'])


@given(
    members=st.dictionaries(st.sampled_from("abcdef"), VALUES),
    websocket=st.booleans(),
    omitted=st.sampled_from(["provider", "false", "stateless"]),
    store=st.sampled_from([None, "null", "true", "false"]),
    model=st.sampled_from(["m", "up"]),
    dropped=st.sets(st.sampled_from("abx")),
)
def test_untouched_members_keep_their_bytes_and_order(
    members: dict[str, str],
    websocket: bool,
    omitted: str,
    store: str | None,
    model: str,
    dropped: set[str],
) -> None:
    given_members = {**members, "model": '"m"'} | ({} if store is None else {"store": store})
    text = " , ".join(f'"{name}" : {value}' for name, value in given_members.items())
    wanted = {n: v.encode() for n, v in given_members.items() if n not in dropped}
    wanted["model"] = f'"{model}"'.encode()
    if omitted == "false" and store in (None, "null"):
        wanted["store"] = b"false"
    if websocket:
        wanted.setdefault("stream", b"true")
    got = parse(f"{{{text}}}".encode(), websocket=websocket)
    up = msgspec.json.decode(sent_up(got, model, omitted, *dropped), type=dict[str, msgspec.Raw])
    assert up.keys() == wanted.keys()
    assert {name: bytes(raw) for name, raw in up.items()} == wanted
    assert [name for name in up if name in given_members] == [
        name for name in given_members if name in wanted
    ]
