"""One turn, as its client sees it, and then what the log says really happened."""

from __future__ import annotations

import http.client
import json
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any, TextIO
from urllib.parse import urlsplit

from latchway.demo.pair import Pair
from latchway.demo.snippets import ready_lines
from latchway.demo.stage import MODEL, Stage
from latchway.ledger.database import open_reader
from latchway.log import store
from latchway.turn.decide import SENTENCE, Verdict

ANSWER_SECONDS = 120.0
"""A small model on one slow thread, its prompt read twice."""
RECORD_SECONDS = 5.0
"""The record is written behind the turn, some milliseconds after its end."""
POLL_SECONDS = 0.05


class ShowFault(Exception):
    """The demonstration did not go as it should; the text says what was seen."""


def perform(stage: Stage, pair: Pair, out: TextIO) -> None:
    """Send one turn through a gateway that listens, and tell what it was. Raises ShowFault."""
    _introduce(stage, pair, out)
    out.write("\nA turn, as its client sees it:\n\n")
    request_id = _send(stage, pair, out)
    record = find_record(stage, request_id)
    _explain(record, out)
    if record["outcome"] != "completed" or not record["replayed"]:
        raise ShowFault("the shown turn was not replayed to a clean end")


def invite(stage: Stage, out: TextIO) -> None:
    """Print what can be pasted into a shell."""
    for title, text in ready_lines(stage.url, stage.key, MODEL, "Say hello.").items():
        out.write(f"\n# {title}\n{text}\n")
    out.write(f"\n# what happened\n{_program()} requests list --config {stage.config_file}\n")
    out.write("\nCtrl-C ends the demonstration and deletes its folder.\n")
    out.flush()


def _program() -> str:
    """How a shell starts the command line: after `make demo` it is on nobody's path."""
    return "latchway" if shutil.which("latchway") else f"{sys.executable} -m latchway"


def _introduce(stage: Stage, pair: Pair, out: TextIO) -> None:
    (first, second), (first_is, second_is) = pair.urls, pair.what
    out.write(
        f"the gateway   {stage.url}\n"
        f"route first   {first}   {first_is}\n"
        f"route second  {second}   {second_is}\n"
        f"its database  {stage.settings.database}\n"
    )
    out.flush()


def _send(stage: Stage, pair: Pair, out: TextIO) -> str:
    """Send the turn and print each of its events; its request id."""
    address = urlsplit(stage.url)
    connection = http.client.HTTPConnection(
        address.hostname or "", address.port, timeout=ANSWER_SECONDS
    )
    body = json.dumps({"model": MODEL, "input": pair.prompt, "stream": True})
    headers = {"Authorization": f"Bearer {stage.key}", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/v1/responses", body, headers)
        pair.turn_sent()
        response = connection.getresponse()
        for event in _events(response):
            _tell(event, out)
        return response.headers["x-request-id"]
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


def _tell(event: dict[str, Any], out: TextIO) -> None:
    """Print an event: its type, and what of it a person would look at."""
    shown = event["delta"] if "delta" in event else event.get("response", {}).get("id", "")
    out.write(f"  {event.get('type')!s:<34}{shown}".rstrip() + "\n")
    out.flush()


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


def _explain(record: dict[str, Any], out: TextIO) -> None:
    out.write("\nThe same turn in the log:\n\n")
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
    what = f"{attempt['code'] or attempt['failure']} ({attempt['rule']})"
    held = f"; {attempt['response_id']} was held back and dropped" if attempt["response_id"] else ""
    return f"{attempt['outcome']}: {what}{held}\n{'':<29}{why}"
