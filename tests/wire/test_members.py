"""The members of a body: those of one without blanks are not walked along to find repeated ones."""

from __future__ import annotations

import json
from typing import Any

import pytest

from latchway.wire import members
from latchway.wire.errors import RequestFault
from latchway.wire.members import members_of


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
