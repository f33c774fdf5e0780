"""What is told about a turn, from its record."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from latchway.demo import show
from latchway.demo.stage import Stage
from latchway.ledger.control import Store
from latchway.settings import Settings

FAILED: dict[str, Any] = {
    "number": 1,
    "route": "first/demo",
    "outcome": "failed",
    "failure": "retryable_event",
    "rule": "R2.1",
    "code": "server_is_overloaded",
    "verdict": "replay",
    "response_id": "resp_1",
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


def test_each_attempt_is_told_with_its_reason() -> None:
    out = io.StringIO()
    show._explain(RECORD, out)

    told = out.getvalue()
    assert "attempt 1 on first/demo" in told
    assert "failed: server_is_overloaded (R2.1); resp_1 was held back and dropped" in told
    assert "nobody can notice" in told
    assert "attempt 2 on second/demo" in told
    assert "completed: 10 tokens in, 12 out" in told
    assert "one answer, resp_2; one charge, 0.1 USD (0.3 reserved, 0.2 returned)" in told


def test_an_event_is_told_in_one_line() -> None:
    out = io.StringIO()

    show._tell({"type": "response.created", "response": {"id": "r"}}, out)
    show._tell({"type": "response.output_text.delta", "delta": "Hello "}, out)
    show._tell({"type": "response.output_item.done"}, out)
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["response.created", "r"],
        ["response.output_text.delta", "Hello"],
        ["response.output_item.done"],
    ]


def test_what_can_be_pasted_names_the_gateway_and_its_configuration(tmp_path: Path) -> None:
    settings = Settings(models={}, providers={}, database=tmp_path / "latchway.db")
    stage = Stage(settings, tmp_path / "latchway.yaml", "lw_1_2", "http://127.0.0.1:8787/v1")
    out = io.StringIO()
    show.invite(stage, out)

    assert "curl -N http://127.0.0.1:8787/v1/responses" in out.getvalue()
    assert f"latchway requests list --config {stage.config_file}" in out.getvalue()


@pytest.mark.parametrize(
    ("found", "program"), [("bin/latchway", "latchway"), (None, f"{sys.executable} -m latchway")]
)
def test_what_can_be_pasted_starts_also_where_no_path_leads_to_it(
    monkeypatch: pytest.MonkeyPatch, found: str | None, program: str
) -> None:
    monkeypatch.setattr(show.shutil, "which", lambda name: found)
    assert show._program() == program


def test_a_record_that_does_not_come_is_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "latchway.db"
    with Store.open(database) as store:
        store.create("alice")
    monkeypatch.setattr(show, "RECORD_SECONDS", 0.0)
    stage = Stage(Settings(models={}, providers={}, database=database), tmp_path, "lw_1_2")

    with pytest.raises(show.ShowFault, match="no record of req_1"):
        show.find_record(stage, "req_1")
