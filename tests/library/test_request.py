"""What a request leaves behind: only `store: false` says that nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest

from latchway_client import State
from latchway_client.request import state_of

REQUESTS: list[tuple[dict[str, Any], State]] = [
    ({}, State.STORED),
    ({"store": None}, State.STORED),
    ({"store": True}, State.STORED),
    ({"store": False}, State.NONE),
    ({"store": False, "background": True}, State.STORED),
    ({"store": False, "background": False}, State.NONE),
    ({"store": False, "previous_response_id": "resp_1"}, State.CONTINUED),
    ({"store": False, "previous_response_id": None}, State.NONE),
    ({"store": False, "conversation": {"id": "conv_1"}}, State.CONTINUED),
    ({"store": False, "conversation": "conv_1"}, State.CONTINUED),
    ({"store": True, "conversation": "conv_1"}, State.STORED),
]


@pytest.mark.parametrize(("request_", "state"), REQUESTS)
def test_the_state_that_a_request_may_leave(request_: dict[str, Any], state: State) -> None:
    assert state_of(request_) is state
