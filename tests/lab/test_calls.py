"""A call is remembered whole, and told in a line."""

from __future__ import annotations

from lab.harness import running


def test_a_call_is_remembered_whole() -> None:
    with running([{"body": {}}]) as lab:
        lab.ask(model="m", input="hello")
        call = lab.over()
    assert (call.method, call.path) == ("POST", "/v1/responses")
    assert call.headers["host"] == "lab"
    assert call.json == {"stream": True, "model": "m", "input": "hello"}
    assert str(call).startswith("#1 http POST /v1/responses: [0], 1 event, clean after 0.0")
