"""The table in docs/clients.md, a row for each way; `python -m clients.page` prints it."""

from __future__ import annotations

from clients.outcome import Kind, Outcome, Wire, as_body, over_http, over_websocket
from clients.table import WAYS
from clients.way import HALF, Way

HEAD = "| the first route's upstream | rule | calls | SSE | WebSocket | not streamed | charge |"
LINE = "|---|---|---|---|---|---|---|"


def table() -> list[str]:
    """The lines of the table."""
    return [HEAD, LINE, *(row(way) for way in WAYS)]


def row(way: Way) -> str:
    """One way, and what R2 says about it."""
    first, second = way.streamed.calls
    body = _told(as_body(way.body), way.body) if way.body is not None else ""
    cells = (
        f"`{way.name}`",
        way.rule,
        f"{first} + {second}",
        _told(over_http(way.streamed), way.streamed),
        _told(over_websocket(way.streamed), way.streamed),
        body,
        f"{float(way.streamed.charge) * 1e6:.0f}",
    )
    return f"| {' | '.join(cells)} |"


def _told(wire: Wire, outcome: Outcome) -> str:
    """In a few words, what goes over the wire."""
    if outcome.end.kind is Kind.RESULT:
        return f"“{outcome.text}”" if outcome.text else "a whole answer without text"
    if wire.status is not None and wire.status >= 400 and not wire.types:
        return f"{wire.status} `{wire.code}`"
    before = "text, " if outcome.before == HALF and outcome.text else ""
    last = [each.removeprefix("response.") for each in wire.types if each in ENDS]
    return f"{before}{' + '.join(last)} `{wire.code}`"


ENDS = ("error", "failed", "response.failed")

if __name__ == "__main__":
    print("\n".join(table()))
