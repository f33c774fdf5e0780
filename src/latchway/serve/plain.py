"""The endpoints beside the turns: models, records, health, metrics, the admin API.

One table of paths; whatever is not in it is 404. An admin path without a configured token is 404
too: there is no admin API then.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qs, unquote

from latchway.ledger.database import LedgerFault
from latchway.log import metrics
from latchway.serve import pages, passed
from latchway.serve.answers import Page
from latchway.serve.incoming import Incoming
from latchway.settings import Secret
from latchway.wire.request import RequestFault

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.http import HttpConnection

LIST_DEFAULT = 100
LIST_MOST = 1000
"""Records in one answer of the admin API."""
LIMIT = re.compile("[1-9][0-9]{0,8}", re.ASCII)

NO_RECORD = "There is no record of such a request; records are kept for `log.keep_days`."


class Reader(Protocol):
    """Queries on the database; each may take a moment, so they run beside the loop."""

    def request(self, request_id: str, key: str | None) -> dict[str, Any] | None: ...
    def requests(self, limit: int) -> list[dict[str, Any]]: ...
    def keys(self) -> list[dict[str, Any]]: ...
    def ledger(self) -> dict[str, Any]: ...
    def healthy(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Path:
    """One row of the table. `query`: runs beside the loop, for it reads the database, or asks the
    process that owns it."""

    pattern: re.Pattern[str]
    methods: tuple[str, ...]
    page: Callable[[App, Incoming, re.Match[str]], Page] | None
    query: bool = False
    admin: bool = False
    passed: passed.Whom | None = None
    """It is passed on, to the route that this function finds."""
    hint: str = ""
    """What else is said to a request with another method."""


def as_json(value: Any, status: int = 200) -> Page:
    return Page(status, json.dumps(value, ensure_ascii=False).encode())


# ---- the pages


def models(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    return as_json({"object": "list", "data": [_model(name) for name in app.settings.models]})


def model(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    name = unquote(match["id"])
    if name not in app.settings.models:
        raise RequestFault("model_not_found", "", "model")
    return as_json(_model(name))


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "latchway"}


def own_request(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    """The record of one of the key's own turns, without the operator's costs."""
    assert incoming.key is not None
    record = app.reader.request(match["id"], incoming.key.name)
    if record is None:
        raise RequestFault("not_found", NO_RECORD)
    return as_json(as_its_key_sees(record))


def as_its_key_sees(record: dict[str, Any]) -> dict[str, Any]:
    """A record as its own key may see it: what the attempts cost, and what is wrong between here
    and an upstream, is the operator's to know."""
    attempts = [
        {k: v for k, v in each.items() if k not in ("cost", "reason")}
        for each in record["attempts"]
    ]
    billing = {k: v for k, v in record["billing"].items() if k != "operator_loss"}
    return {**record, "attempts": attempts, "billing": billing}


def live(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    return as_json({"status": "live"})


def ready(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    """Able to serve: not draining, a database that answers, at least one enabled route."""
    if app.draining:
        return as_json({"status": "draining"}, 503)
    enabled = any(r.enabled for m in app.settings.models.values() for r in m.routes)
    if not enabled:
        return as_json({"status": "no route is enabled"}, 503)
    if not app.reader.healthy():
        return as_json({"status": "the database does not answer"}, 503)
    return as_json({"status": "ready"})


def figures(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    """What Prometheus reads; open unless there is a token."""
    token = app.settings.metrics_token
    if token is not None and not _bears(incoming, token):
        raise RequestFault("invalid_api_key", "The metrics token is missing or wrong.")
    return Page(200, app.figures.metrics(), metrics.CONTENT_TYPE)


def admin_requests(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    asked = parse_qs(incoming.query).get("limit", [str(LIST_DEFAULT)])[0]
    if LIMIT.fullmatch(asked) is None:
        raise RequestFault("invalid_request", f"limit: 1 to {LIST_MOST} records.", "limit")
    return as_json(app.reader.requests(min(int(asked), LIST_MOST)))


def admin_request(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    record = app.reader.request(match["id"], None)
    if record is None:
        raise RequestFault("not_found", NO_RECORD)
    return as_json(record)


def admin_keys(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    return as_json(app.reader.keys())


def admin_ledger(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    return as_json(app.reader.ledger())


def admin_routes(app: App, incoming: Incoming, match: re.Match[str]) -> Page:
    return as_json(app.figures.routes())


def _path(pattern: str, *methods: str, **more: Any) -> Path:
    page = more.pop("page", None)
    return Path(re.compile(pattern), methods, page, **more)


ID = "(?P<id>[^/]{1,200})"
KEPT = "(?P<id>(?!(?:compact|input_tokens)$)[A-Za-z0-9_.:-]{1,200})"
"""An id as providers make them: nothing in it can lead elsewhere on their side."""
ITEM = "[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,199}"
NO_UPGRADE = " A WebSocket needs HTTP/1.1 and `Upgrade: websocket`: a proxy may have changed that."
PATHS = (
    _path("/v1/responses", "POST", hint=NO_UPGRADE),
    _path("/v1/responses/compact", "POST"),
    _path("/v1/responses/input_tokens", "POST", passed=passed.counter),
    _path(f"/v1/responses/{KEPT}", "GET", "DELETE", passed=passed.teller),
    _path(f"/v1/responses/{KEPT}/input_items", "GET", passed=passed.keeper),
    _path(f"/v1/responses/{KEPT}/cancel", "POST", passed=passed.keeper),
    _path("/v1/conversations", "POST", passed=passed.founder),
    _path(f"/v1/conversations/{KEPT}", "GET", "POST", "DELETE", passed=passed.keeper),
    _path(f"/v1/conversations/{KEPT}/items", "GET", "POST", passed=passed.keeper),
    _path(f"/v1/conversations/{KEPT}/items/{ITEM}", "GET", "DELETE", passed=passed.keeper),
    _path("/v1/models", "GET", page=models),
    _path("/v1/models/(?P<id>.{1,200})", "GET", page=model),
    _path(f"/v1/requests/{ID}", "GET", page=own_request, query=True),
    _path("/health/live", "GET", "HEAD", page=live),
    _path("/health/ready", "GET", "HEAD", page=ready, query=True),
    _path("/metrics", "GET", page=figures, query=True),
    _path("/admin/requests", "GET", page=admin_requests, query=True, admin=True),
    _path(f"/admin/requests/{ID}", "GET", page=admin_request, query=True, admin=True),
    _path("/admin/keys", "GET", page=admin_keys, query=True, admin=True),
    _path("/admin/ledger", "GET", page=admin_ledger, query=True, admin=True),
    _path("/admin/routes", "GET", page=admin_routes, query=True, admin=True),
)


# ---- the door


def find(path: str) -> tuple[Path, re.Match[str]] | None:
    """The row of a path, taken as it came: no decoding, no folding of case or slashes."""
    for row in PATHS:
        match = row.pattern.fullmatch(path)
        if match is not None:
            return row, match
    return None


def check_path(incoming: Incoming) -> None:
    """Refuse what is not in the table, by path and then by method."""
    found = find(incoming.path)
    if found is None:
        incoming.refuse("not_found")
    elif incoming.method not in found[0].methods and not incoming.upgrade:
        incoming.allowed = found[0].methods
        message = f"This path takes {' and '.join(found[0].methods)}.{found[0].hint}"
        incoming.refuse("method_not_allowed", message)


def answer(app: App, connection: HttpConnection, incoming: Incoming) -> None:
    """Answer everything but a turn."""
    found = find(incoming.path)
    if incoming.refusal is not None or found is None:
        pages.refuse(app, connection, incoming)
        return None
    row, match = found
    if row.passed is not None:
        passed.answer(app, connection, incoming, row.passed, match.groupdict().get("id", ""))
        return None
    if row.admin and not _admin(app, incoming):
        return pages.refuse(app, connection, incoming)
    if row.query:
        connection.wait_for(_beside(app, connection, incoming, row, match))
        return None
    pages.write(app, connection, incoming, _made(app, incoming, row, match))
    return None


async def _beside(
    app: App, connection: HttpConnection, incoming: Incoming, row: Path, match: re.Match[str]
) -> None:
    page = await asyncio.to_thread(_made, app, incoming, row, match)
    pages.write(app, connection, incoming, page)


def _made(app: App, incoming: Incoming, row: Path, match: re.Match[str]) -> Page | RequestFault:
    """The page, or why there is none: without its frames, of which one would have it again."""
    assert row.page is not None
    try:
        return row.page(app, incoming, match)
    except RequestFault as fault:
        return fault.with_traceback(None)
    except LedgerFault as fault:
        why = f": {fault}" if row.admin else ""  # it may name a file
        return RequestFault("ledger_unavailable", f"Not known now{why}.")


def _admin(app: App, incoming: Incoming) -> bool:
    token = app.settings.admin_token
    if token is None:
        incoming.refuse("not_found")
    elif not _bears(incoming, token):
        incoming.refuse("invalid_api_key", "The admin token is missing or wrong.")
    return incoming.refusal is None


def _bears(incoming: Incoming, token: Secret) -> bool:
    return hmac.compare_digest(incoming.bearer.encode(), token.reveal().encode())
