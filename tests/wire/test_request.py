"""Requests: what they say, and what is refused, by field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from latchway.wire.request import NAME_CHARACTERS, Request, RequestFault, parse

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
        prompt_bytes=len(b'{"model":"m","input":"hi","store":false,"max_output_tokens":50}'),
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
    del told["body"], told["fields"], told["prompt_bytes"]
    assert told == {name: getattr(plain, name) for name in told}


ASKED = rb'"model":"m","input":"hi \u00e9","tools":[ {"type": "function"} ],"max_output_tokens":5'
WRAPPED = {
    "a body": (b"{%b}", False),
    "streamed": (b'{"stream":true,%b}', False),
    "not streamed": (b'{%b,"stream":false}', False),
    "with blanks": (b'\n{ "stream" : true ,\t%b }\r\n', False),
    "generate": (b'{%b,"generate":true}', False),
    "a create": (b'{"type":"response.create",%b}', True),
    "a create of all that it can have": (
        b'{"type":"response.create","stream_id":null,"generate":true,"stream":true,%b}', True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WRAPPED)
def test_what_counts_on_a_bill_is_the_same_however_it_is_wrapped(way: str) -> None:
    wrapping, websocket = WRAPPED[way]
    assert parse(wrapping % ASKED, websocket=websocket).prompt_bytes == len(b"{%b}" % ASKED)


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


def test_what_is_just_within_its_bound_is_taken() -> None:
    longest = "x" * NAME_CHARACTERS
    assert request(model=longest, max_output_tokens=1).max_output_tokens == 1
    assert request(previous_response_id=longest).previous_response_id == longest


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


def test_a_compaction_is_not_streamed() -> None:
    with pytest.raises(RequestFault) as refused:
        parse(body_of({"stream": True}), websocket=False, compacts=True)
    assert (refused.value.code, refused.value.param) == ("unsupported_parameter", "stream")
    assert not parse(body_of({"stream": False}), websocket=False, compacts=True).streamed


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
