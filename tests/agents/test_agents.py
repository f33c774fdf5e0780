"""The strict upstream, and one small agent against it; `make agents` tries all of them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from agents.checking import differences
from agents.origin import Behaviour, Origin
from agents.page import END, PAGE
from agents.playing import Row, play
from agents.roster import AGENTS, LOOP
from agents.run import found
from agents.stage import FIRSTS, NO_SCRIPT, Model, set_up
from agents.ways import CHAINED, CHAINED_ELSEWHERE, LOST, PLAIN, SEALED_WAY, WHOLE_ELSEWHERE, Way
from clients.environments import Unavailable
from clients.upstreams import Labs

SECONDS = 10.0
KEPT, FORGOTTEN = "kept", "forgotten"
TOOLS = [{"type": "function", "name": "look_up"}]
CALL = {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": "{}"}
SAID = {"type": "function_call_output", "call_id": "call_1", "output": "open"}
STRANGE = "made by somebody else"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    behaviours = {KEPT: Behaviour(), FORGOTTEN: Behaviour(keeps=False)}
    labs = Labs(
        NO_SCRIPT, NO_SCRIPT, (Origin("own-", {}, behaviours, set()), Origin("", {}, {}, set()))
    )
    yield labs.ports[0]
    labs.close()


def asked(port: int, **request: Any) -> tuple[int, dict[str, Any]]:
    """Status and body of a turn that is not streamed."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    body = {"model": KEPT, "tools": TOOLS, "input": "Is it open?"} | request
    connection.request("POST", "/v1/responses", json.dumps(body))
    answer = connection.getresponse()
    status, told = answer.status, json.loads(answer.read())
    connection.close()
    return status, told


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"previous_response_id": STRANGE}, 400),
        ({"input": [{"type": "item_reference", "id": STRANGE}]}, 404),
        ({"input": [{"id": STRANGE}]}, 404),
        ({"input": [{"type": "reasoning", "id": STRANGE, "summary": []}]}, 404),
        ({"input": [{"type": "reasoning", "encrypted_content": STRANGE, "summary": []}]}, 400),
        ({"input": [SAID]}, 400),
        ({"input": [CALL, SAID]}, 200),
        ({"input": [{"role": "user", "content": "Is it open?"}]}, 200),
    ],
)
def test_an_origin_takes_nothing_that_it_did_not_make(
    port: int, request_: dict[str, Any], status: int
) -> None:
    assert asked(port, **request_)[0] == status


@pytest.mark.parametrize(
    ("request_", "kept"),
    [
        ({}, True),
        ({"store": True, "model": FORGOTTEN}, True),
        ({"store": False}, False),
        ({"model": FORGOTTEN}, False),
    ],
)
def test_an_origin_keeps_what_it_is_asked_to_keep(
    port: int, request_: dict[str, Any], kept: bool
) -> None:
    _, response = asked(port, **request_)
    call = response["output"][-1]
    said = {**SAID, "call_id": call["call_id"]}
    assert asked(port, previous_response_id=response["id"], input=[said])[0] == (
        200 if kept else 400
    )
    reference = {"type": "item_reference", "id": call["id"]}
    assert asked(port, input=[reference, said])[0] == (200 if kept else 404)


def test_what_was_sealed_is_read_where_it_was_sealed(port: int) -> None:
    _, response = asked(port, store=False, include=["reasoning.encrypted_content"])
    reasoning, call = response["output"]
    assert reasoning["encrypted_content"].startswith("own-")
    said = {**SAID, "call_id": call["call_id"]}
    assert asked(port, store=False, input=[reasoning, call, said])[0] == 200


TRIED: tuple[tuple[Way, str], ...] = (
    (SEALED_WAY, "each-failed"),
    (SEALED_WAY, "reset"),
    (PLAIN, "503"),
    (LOST, "healthy"),
    (CHAINED, "failed"),
    (CHAINED_ELSEWHERE, "healthy"),
    (WHOLE_ELSEWHERE, "healthy"),
)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], list[str]]:
    """Conversations of the loop, and what was not as it should be."""
    with set_up(tmp_path_factory.mktemp("agents")) as stage:
        try:
            rows = [
                play(stage, LOOP, way, Model(word, way.keeps, way.tells)) for way, word in TRIED
            ]
        except Unavailable as reason:
            pytest.skip(f"the client is not installed: {reason}")
        return found(stage, rows)


@pytest.mark.parametrize("number", range(len(TRIED)))
def test_a_conversation_is_as_the_rules_say(held: tuple[list[Row], list[str]], number: int) -> None:
    rows, wrong = held
    assert [line for line in wrong if line.startswith(f"{rows[number]}: ")] == []


def ledger_of(row: Row) -> dict[str, str]:
    return {record["request_id"]: record["billing"]["charged"] for record in row.records}


def test_a_call_too_many_would_be_noticed(held: tuple[list[Row], list[str]]) -> None:
    row = held[0][0]
    first, second = row.calls
    changed = replace(row, calls=(first, second + 1))
    assert [line.removeprefix(f"{row}: ")[:5] for line in differences(changed, ledger_of(row))] == [
        "calls"
    ]


def test_a_replay_that_was_not_made_would_be_noticed(held: tuple[list[Row], list[str]]) -> None:
    row = held[0][0]
    record = {**row.records[0], "attempts": row.records[0]["attempts"][:1]}
    changed = replace(row, records=(record, *row.records[1:]))
    assert differences(changed, ledger_of(row))[0].startswith(f"{row}: turn 0: ")


def test_a_charge_that_the_ledger_does_not_have_would_be_noticed(
    held: tuple[list[Row], list[str]],
) -> None:
    row = held[0][0]
    assert differences(row, {})[0].startswith(f"{row}: turn 0: ")


def test_the_page_has_a_row_for_each_conversation() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for program in AGENTS:
        _, _, rest = page.partition(f"### {program.name}\n")
        table = rest.partition("\n### ")[0].partition(END)[0]
        rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
        wanted = [f"| {way.told} | {m.first.told} |" for way in program.ways for m in way.models]
        assert [row[: len(start)] for row, start in zip(rows, wanted, strict=True)] == wanted


def test_each_failure_is_one_that_is_replayed() -> None:
    assert {first.rule for first in FIRSTS.values() if first.fails} == {"R2.1", "R2.2"}


def test_each_agent_has_a_name_of_its_own() -> None:
    assert len({program.name for program in AGENTS}) == len(AGENTS)
