"""One turn, as its client sees it, and then what the log says really happened."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO
from urllib.parse import urlsplit

from latchway.demo.pair import Pair
from latchway.demo.snippets import ready_lines
from latchway.demo.stage import MODEL, Stage
from latchway.ledger.database import open_reader
from latchway.log import store
from latchway.turn.decide import SENTENCE, Verdict

READY_SECONDS = 20.0
"""A gateway is ready in a fraction of a second; a busy machine may take longer."""
ANSWER_SECONDS = 120.0
"""A small model on one slow thread, its prompt read twice."""
RECORD_SECONDS = 5.0
"""The record is written behind the turn, some milliseconds after its end."""
POLL_SECONDS = 0.05


class ShowFault(Exception):
    """The demonstration did not go as it should; the text says what was seen."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client of the shown turn got."""

    request_id: str
    event_types: tuple[str, ...]


def perform(stage: Stage, pair: Pair, out: TextIO, *, leaving: Callable[[], bool]) -> None:
    """Wait for the gateway, send one turn, tell what it was. Raises ShowFault.

    `leaving`: has the gateway ended, so that there is nothing to wait for?
    """
    wait_until_ready(stage, leaving)
    _introduce(stage, pair, out)
    out.write("\nA turn, as its client sees it:\n\n")
    answer = _send(stage, pair, out)
    record = find_record(stage, answer.request_id)
    _explain(stage, record, out)
    if record["outcome"] != "completed" or not record["replayed"]:
        raise ShowFault("the shown turn was not replayed to a clean end")


def invite(stage: Stage, out: TextIO) -> None:
    """Print what can be pasted into a shell."""
    for title, text in ready_lines(stage.url, stage.key, MODEL, "Say hello.").items():
        out.write(f"\n# {title}\n{text}\n")
    out.write("\nCtrl-C ends the demonstration and deletes its folder.\n")
    out.flush()


def wait_until_ready(stage: Stage, leaving: Callable[[], bool]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not leaving() and time.monotonic() < deadline:
        if _ready(stage):
            return
        time.sleep(POLL_SECONDS)
    raise ShowFault("the gateway did not become ready")


def _ready(stage: Stage) -> bool:
    connection = _connect(stage, READY_SECONDS)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _introduce(stage: Stage, pair: Pair, out: TextIO) -> None:
    (first, second), (first_is, second_is) = pair.urls, pair.what
    out.write(
        f"the gateway   {stage.url}\n"
        f"route first   {first}   {first_is}\n"
        f"route second  {second}   {second_is}\n"
        f"its database  {stage.settings.database}\n"
    )
    out.flush()


def _send(stage: Stage, pair: Pair, out: TextIO) -> Answer:
    connection = _connect(stage, ANSWER_SECONDS)
    body = json.dumps({"model": MODEL, "input": pair.prompt, "stream": True})
    headers = {"Authorization": f"Bearer {stage.key}", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/v1/responses", body, headers)
        pair.turn_sent()
        response = connection.getresponse()
        request_id = response.headers["x-request-id"]
        return Answer(request_id, tuple(_tell(event, out) for event in _events(response)))
    except (OSError, http.client.HTTPException) as error:
        raise ShowFault(f"the turn broke: {error!r}") from None
    finally:
        connection.close()


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    if response.status != 200:
        text = response.read(10_000).decode(errors="replace")
        raise ShowFault(f"the turn was refused: {response.status} {text}")
    for line in response:
        if line.startswith(b"data:"):
            yield json.loads(line.removeprefix(b"data:"))


def _tell(event: dict[str, Any], out: TextIO) -> str:
    """Print an event: its type, and what of it a person would look at."""
    kind = str(event.get("type"))
    shown = event["delta"] if "delta" in event else event.get("response", {}).get("id", "")
    out.write(f"  {kind:<34}{shown}\n".rstrip(" \n") + "\n")
    out.flush()
    return kind


def find_record(stage: Stage, request_id: str) -> dict[str, Any]:
    """The log's record of the turn, once it is there. Raises ShowFault."""
    deadline = time.monotonic() + RECORD_SECONDS
    connection = open_reader(stage.settings.database)
    try:
        while time.monotonic() < deadline:
            record = store.find(connection, request_id)
            if record is not None:
                return record
            time.sleep(POLL_SECONDS)
    finally:
        connection.close()
    raise ShowFault(f"there is no record of {request_id}")


def _explain(stage: Stage, record: dict[str, Any], out: TextIO) -> None:
    command = f"latchway requests show {record['request_id']} --config {stage.config_file}"
    out.write(f"\nThe same turn in the log ({command}):\n\n")
    for attempt in record["attempts"]:
        out.write(f"  attempt {attempt['number']} on {attempt['route']:<14}{_fate(attempt)}\n")
    billing = record["billing"]
    out.write(
        f"\n  one answer, {record['response_id']}; one charge, {billing['charged']} USD"
        f" ({billing['reserved']} reserved, {billing['refunded']} returned)\n"
    )
    out.flush()


def _fate(attempt: dict[str, Any]) -> str:
    if attempt["verdict"] is None:
        usage = attempt["usage"] or {"input_tokens": "?", "output_tokens": "?"}
        tokens = f"{usage['input_tokens']} tokens in, {usage['output_tokens']} out"
        return f"{attempt['outcome']}: {tokens}"
    why = SENTENCE[Verdict(attempt["verdict"])]
    what = attempt["code"] or attempt["failure"]
    return f"{attempt['outcome']}: {what} ({attempt['rule']}) -> {why}"


def _connect(stage: Stage, seconds: float) -> http.client.HTTPConnection:
    address = urlsplit(stage.url)
    return http.client.HTTPConnection(address.hostname or "", address.port, timeout=seconds)
