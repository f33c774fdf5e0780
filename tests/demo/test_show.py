"""What is told about a turn, from its record."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from latchway.demo import show
from latchway.demo.stage import Stage
from latchway.settings import Settings

FAILED: dict[str, Any] = {
    "number": 1,
    "route": "first/demo",
    "outcome": "failed",
    "failure": "retryable_event",
    "rule": "R2.1",
    "code": "server_is_overloaded",
    "verdict": "replay",
    "usage": None,
}
SERVED: dict[str, Any] = {
    **FAILED,
    "number": 2,
    "route": "second/demo",
    "outcome": "completed",
    "verdict": None,
    "usage": {"input_tokens": 10, "output_tokens": 12},
}
RECORD: dict[str, Any] = {
    "request_id": "req_1",
    "response_id": "resp_2",
    "attempts": [FAILED, SERVED],
    "billing": {"charged": "0.1", "reserved": "0.3", "refunded": "0.2"},
}


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    settings = Settings(models={}, providers={}, port=8787, database=tmp_path / "latchway.db")
    return Stage(settings, tmp_path / "latchway.yaml", "lw_1_2")


def test_each_attempt_is_told_with_its_reason(stage: Stage) -> None:
    out = io.StringIO()
    show._explain(stage, RECORD, out)

    told = out.getvalue()
    assert f"latchway requests show req_1 --config {stage.config_file}" in told
    assert "attempt 1 on first/demo" in told
    assert "failed: server_is_overloaded (R2.1) -> nobody can notice" in told
    assert "attempt 2 on second/demo" in told
    assert "completed: 10 tokens in, 12 out" in told
    assert "one answer, resp_2; one charge, 0.1 USD (0.3 reserved, 0.2 returned)" in told


def test_an_event_is_told_in_one_line() -> None:
    out = io.StringIO()

    assert show._tell({"type": "response.created", "response": {"id": "r"}}, out)
    show._tell({"type": "response.output_text.delta", "delta": "Hello "}, out)
    show._tell({"type": "response.output_item.done"}, out)
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["response.created", "r"],
        ["response.output_text.delta", "Hello"],
        ["response.output_item.done"],
    ]


def test_a_gateway_that_has_left_is_not_waited_for(stage: Stage) -> None:
    with pytest.raises(show.ShowFault, match="did not become ready"):
        show.wait_until_ready(stage, lambda: True)
