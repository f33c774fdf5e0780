"""A body as its members: values keep their bytes, what can be read in two ways is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.wire import members
from latchway.wire.errors import RequestFault
from latchway.wire.members import MEMBERS_MAX, NAME_CHARACTERS, members_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\"\\,:{}é"), inner),
    max_leaves=12,
)  # fmt: skip
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n\t", " : "), (",\r\n", ":")])


def refusal(body: bytes) -> RequestFault:
    with pytest.raises(RequestFault) as refused:
        members_of(body)
    return refused.value


@given(st.dictionaries(st.text('ab"\\,:{}é'), JSON), SEPARATORS, st.booleans())
def test_every_object_is_read_and_each_value_keeps_its_bytes(
    fields: dict[str, object], separators: tuple[str, str], ascii_only: bool
) -> None:
    def said(value: object) -> bytes:
        return json.dumps(value, separators=separators, ensure_ascii=ascii_only).encode()

    members = members_of(b" " + said(fields) + b"\n")
    assert list(members) == list(fields)
    assert [bytes(raw) for raw in members.values()] == [said(value) for value in fields.values()]


@pytest.mark.parametrize(
    ("body", "position"),
    [
        (b"", "byte 0"),
        (b"{nonsense", "byte 1"),
        (b'{"model":"m"', "byte 12"),
        (b'{"model":"m"}x', "byte 14"),
        (b'{"model":"m",}', "byte 13"),
        (b'{"a":NaN}', "byte 5"),
        (b'{"a":"\xff"}', "byte 6"),
        (b'{"a":"\xed\xa0\x80"}', "byte 6"),
        (b'{"a":"\\ud800"}', "byte 14"),
        (b'{"a":"\\udc00"}', "byte 12"),
        (b'{"a":"\n"}', "byte 6"),
        (b"\xef\xbb\xbf{}", "byte 0"),
    ],
)
def test_what_is_no_json_is_refused_with_its_position(body: bytes, position: str) -> None:
    fault = refusal(body)
    assert fault.code == "invalid_json"
    assert position in fault.message


@pytest.mark.parametrize("body", [b"[]", b"null", b'"{}"', b"1", b"true"])
def test_json_that_is_no_object_is_refused(body: bytes) -> None:
    assert refusal(body).code == "invalid_request"


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_bottomless_nesting_is_refused_without_harm(opening: bytes) -> None:
    body = b'{"model":"m","metadata":' + opening * 100_000
    assert refusal(body).code == "invalid_request"


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"store":false,"store":true}', "store"),
        (b'{"store":true,"x":1,"store":true}', "store"),
        (b'{"store":true,"\\u0073tore":false}', "store"),
        (b'{"x":[],"model":"a" , "model":"ab"}', "model"),
        (b'{"n":12,"n":1}', "n"),
        (b'{"n":1,"n":12,"m":0}', "n"),
        (b'{"n":1,"m":0,"n":1.5e1}', "n"),
        (b'{"a":"x","a":"x\\",\\"b\\":1","b":1}', "a"),
        (b'{"":0,"":0}', ""),
    ],
)
def test_a_repeated_member_is_refused_by_name(body: bytes, name: str) -> None:
    fault = refusal(body)
    assert (fault.code, fault.param) == ("invalid_request", name)
    assert f"`{name}`" in fault.message


@given(st.lists(st.tuples(st.sampled_from("abc"), JSON), max_size=5), SEPARATORS)
def test_repeated_is_told_from_not_repeated(
    pairs: list[tuple[str, object]], separators: tuple[str, str]
) -> None:
    comma, colon = separators
    body = comma.join(f'"{name}"{colon}{json.dumps(value)}' for name, value in pairs)
    names = [name for name, _ in pairs]
    if len(set(names)) == len(names):
        assert list(members_of(f"{{{body}}}".encode())) == names
        return
    repeated = refusal(f"{{{body}}}".encode()).param
    assert repeated is not None
    assert names.count(repeated) > 1


def test_a_repeated_name_is_shown_in_bounds() -> None:
    name = "x" * 10_000
    fault = refusal(f'{{"{name}":1,"{name}":2}}'.encode())
    assert fault.param == name[:NAME_CHARACTERS]


def test_members_are_counted() -> None:
    assert len(members_of(json.dumps({f"f{n}": n for n in range(MEMBERS_MAX)}).encode())) == 256
    fault = refusal(json.dumps({f"f{n}": n for n in range(MEMBERS_MAX + 1)}).encode())
    assert fault.code == "invalid_request"


@pytest.mark.parametrize("count", range(4))
@pytest.mark.parametrize("value", [1, "text", {"a": [1, 2]}, None])
def test_a_body_without_room_for_another_member_is_not_walked_along(
    value: Any, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(members, "_name_at")
    fields = {"name" * (1 + number): value for number in range(count)}
    found = members_of(json.dumps(fields, separators=(",", ":")).encode())
    assert {name: json.loads(bytes(raw)) for name, raw in found.items()} == fields


@pytest.mark.parametrize("body", [b'{"a":1,"a":1}', b'{"a":1,"b":2,"a":1}', b'{"":1,"":1}'])
def test_the_shortest_body_that_repeats_a_member_is_refused(body: bytes) -> None:
    with pytest.raises(RequestFault, match="twice"):
        members_of(body)
