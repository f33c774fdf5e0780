"""What a client was told about one turn, however it asked, and in which words to say it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

DELTAS = frozenset({"response.output_text.delta", "response.function_call_arguments.delta"})
TERMINAL = ("response.completed", "response.incomplete", "response.failed", "error")
RESULTS = ("response.completed", "response.incomplete")


@dataclass(frozen=True)
class Told:
    """`types`: of the events; of an answer that is no stream, the response's status alone."""

    types: tuple[str, ...] = ()
    ending: str | None = None
    """The status of the response that the turn ended with, where the client shows it."""
    output: frozenset[str] = frozenset()
    """Types of the output's items."""
    status: int | None = None
    """The status line's; over a WebSocket the error frame's, if there is one."""
    code: str | int | None = None
    raised: str | None = None
    """By an SDK."""
    ids: tuple[str, ...] = ()
    wire: tuple[bytes, ...] = ()
    """The SSE blocks, the messages of a WebSocket, or the one body: as it came."""
    socket: bool = False

    @property
    def is_result(self) -> bool:
        return self.types[-1:] in {(each,) for each in (*RESULTS, "completed", "incomplete")}

    @property
    def had_output(self) -> bool:
        return not DELTAS.isdisjoint(self.types)

    def __str__(self) -> str:
        """In a few words, as the page has it."""
        if self.is_result:
            return self._result()
        text = "text, then " if self.had_output else ""
        last = [each.removeprefix("response.") for each in self.types if each in TERMINAL]
        raised = f", raised as `{self.raised}`" if self.raised else ""
        how = " + ".join(last) or (str(self.status) if self.status else "error")
        if self.socket and self.status:
            how = f"error {self.status}"
        return f"{text}{how}{_code(self.code)}{raised}"

    def _result(self) -> str:
        last = self.types[-1].removeprefix("response.")
        status = f" with status {self.ending}" if self.ending not in (None, last) else ""
        call = ", a function call" if "function_call" in self.output else ""
        return f"`{last}`{status}{call}"


def of_events(status: int | None, wire: list[bytes], socket: bool) -> Told:
    """From what came as events."""
    events = [json.loads(data_of(each)) for each in wire]
    responses = [event["response"] for event in events if event.get("response")]
    last = responses[-1] if responses else {}
    error = next((_error_of(each) for each in events if each["type"] == "error"), None)
    own = (error or {}).get("status") if socket else status
    return Told(
        types=tuple(event["type"] for event in events),
        ending=last.get("status"),
        output=_output(last),
        status=own,
        code=(error or last.get("error") or {}).get("code"),
        ids=tuple(dict.fromkeys(response["id"] for response in responses)),
        wire=tuple(wire),
        socket=socket,
    )


def of_body(status: int, body: bytes) -> Told:
    """From one JSON body."""
    said = json.loads(body)
    error = said.get("error")
    ending = said.get("status") if said.get("object") == "response" else None
    return Told(
        types=(ending,) if ending else (),
        ending=ending,
        output=_output(said),
        status=status,
        code=error.get("code") if isinstance(error, dict) else None,
        ids=(said["id"],) if ending else (),
        wire=(body,),
    )


def of_sdk(line: dict[str, Any]) -> Told:
    """From what the program `openai_python.py` prints."""
    return Told(
        types=tuple(line["types"]),
        status=line["status"],
        code=line["code"],
        raised=line["raised"],
        ids=tuple(line["ids"]),
    )


def data_of(event: bytes) -> bytes:
    """The data of an SSE block; a WebSocket's message is data alone."""
    lines = event.splitlines()
    return (
        b"\n".join(
            line.removeprefix(b"data:").strip() for line in lines if line.startswith(b"data:")
        )
        or event
    )


def blocks_of(stream: bytes) -> list[bytes]:
    """The events of a body of server-sent events; comments and `[DONE]` are none."""
    blocks = [each for each in stream.replace(b"\r\n", b"\n").split(b"\n\n") if each.strip()]
    events = [each for each in blocks if not each.startswith(b":")]
    return [each for each in events if data_of(each) != b"[DONE]"]


def _error_of(event: dict[str, Any]) -> dict[str, Any]:
    """The error, nested or flat, with the status that stands beside it."""
    return {"status": event.get("status"), **(event.get("error") or event)}


def _output(response: dict[str, Any]) -> frozenset[str]:
    return frozenset(item["type"] for item in response.get("output") or ())


def _code(code: str | int | None) -> str:
    if code is None:
        return ""
    return f" `{code}`" if isinstance(code, str) else f", `code` {code}"
