"""The scripted pair: the first fails before output, the second answers."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from latchway.demo.labs import START_SECONDS, ScriptedPair


@pytest.fixture
def pair() -> Iterator[ScriptedPair]:
    made = ScriptedPair()
    yield made
    made.close()


def events(url: str) -> list[str]:
    address = urlsplit(url)
    connection = http.client.HTTPConnection(
        address.hostname or "", address.port, timeout=START_SECONDS
    )
    connection.request(
        "POST", f"{address.path}/responses", json.dumps({"model": "demo", "stream": True})
    )
    lines = connection.getresponse().read().splitlines()
    connection.close()
    return [json.loads(line[5:])["type"] for line in lines if line.startswith(b"data:")]


def test_the_first_fails_before_output_each_time(pair: ScriptedPair) -> None:
    for _ in range(2):
        assert events(pair.urls[0]) == [
            "response.created",
            "response.in_progress",
            "response.failed",
        ]


def test_the_second_answers(pair: ScriptedPair) -> None:
    seen = events(pair.urls[1])

    assert seen[0] == "response.created"
    assert "response.output_text.delta" in seen
    assert seen[-1] == "response.completed"


def test_nobody_listens_after_the_end(pair: ScriptedPair) -> None:
    pair.close()

    with pytest.raises(ConnectionRefusedError):
        events(pair.urls[1])
