"""The bytes that go upstream: those that came, but for what a route or a transport asks for."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.wire.request import Request, parse, upstream_body


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


def test_a_compaction_stores_nothing_and_says_nothing_of_it() -> None:
    asked = parse(b'{"model":"m","input":"hi"}', websocket=False, compacts=True)
    assert sent_up(asked, "m", "false") is asked.body
