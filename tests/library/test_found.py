"""Whatever id of a turn the library tells, `latchway requests show` finds the turn by it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clients.gateway import Gateway
from docs.stage import MODEL, serving
from latchway_client import Failure, Result, SseClient, TurnFailed, WebSocketClient
from library.asking import asked

CLIENTS = {"sse": SseClient, "websocket": WebSocketClient}

ENDS = {
    MODEL: "completed",
    "silent": "first_event_timeout",
    "breaks-after-text": "stream_read_error",
}
"""By model: the status, or the failure's code. The second tells no response id."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("found")) as gateway:
        yield gateway


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("model", ENDS)
def test_the_turn_is_found_by_each_id_that_is_told(gateway: Gateway, kind: str, model: str) -> None:
    with CLIENTS[kind](gateway.url, gateway.key("reader")) as client:
        end = ended(client, model)
    assert ENDS[model] == (end.status if isinstance(end, Result) else end.code)
    told = [*end.request_ids, *filter(None, [end.response_id])]
    assert told
    last = gateway.records()[-1]
    assert [gateway.record(each)["request_id"] for each in told] == [last["request_id"]] * len(told)


def ended(client: SseClient | WebSocketClient, model: str) -> Result | Failure:
    try:
        return client.send(**asked({"model": model}))
    except TurnFailed as failed:
        return failed.failure
