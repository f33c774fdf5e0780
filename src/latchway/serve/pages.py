"""How an answer that is no turn's is written: a page, or why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latchway.serve import answers
from latchway.serve.answers import Page
from latchway.wire import errors
from latchway.wire.request import RequestFault

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.http import HttpConnection
    from latchway.serve.incoming import Incoming


def write(
    app: App, connection: HttpConnection, incoming: Incoming, page: Page | RequestFault
) -> None:
    """Answer with the page, or with the refusal, and let the connection take its next request."""
    if isinstance(page, RequestFault):
        incoming.refuse(page.code, page.message, page.param)
        refuse(app, connection, incoming)
        return
    headers = [("content-type", page.content_type), ("x-request-id", request_id := app.new_id())]
    if page.status >= 400:
        headers[1:] = answers.error_headers(request_id, page.retryable, page.retry_after)[1:]
    _send(connection, incoming, page.status, page.body, headers)


def refuse(app: App, connection: HttpConnection, incoming: Incoming) -> None:
    """Say why, in the shape of every error."""
    request_id = app.new_id()
    fault = incoming.refusal
    code = fault.code if fault is not None else "not_found"
    error = errors.error_object(
        code,
        str(fault) or None if fault is not None else None,
        fault.param if fault is not None else None,
        retryable=not incoming.called,
    )
    headers = answers.error_headers(request_id, error["retryable"], error["retry_after"])
    if incoming.allowed:
        headers.append(("allow", ", ".join(incoming.allowed)))
    body = errors.http_body(error, request_id)
    _send(connection, incoming, errors.status_of(code), body, headers)


def _send(
    connection: HttpConnection,
    incoming: Incoming,
    status: int,
    body: bytes,
    headers: list[answers.Header],
) -> None:
    close = not incoming.keep_alive or connection.app.draining
    data = answers.whole(status, body, headers, close=close)
    connection.write(data if incoming.method != "HEAD" else data[: -len(body) or None])
    connection.answer_ended(close)
