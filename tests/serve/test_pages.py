"""A page, or why there is none: what every one of these answers has."""

from __future__ import annotations

import pytest

from harness.gateway import Gateway


@pytest.mark.parametrize(("path", "status"), [("/v1/models", 200), ("/v1/models/x", 404)])
def test_every_answer_has_an_id_and_an_error_says_whether_to_try_again(
    path: str, status: int
) -> None:
    page = Gateway().page(path)
    assert page.status == status
    assert page.headers["x-request-id"].startswith("req_")
    assert page.headers.get("x-should-retry") == (None if status == 200 else "false")


def test_what_asked_an_upstream_is_not_simply_asked_again() -> None:
    """`no_route_available` may be, as nothing was called; what came of a call may not."""
    gateway = Gateway()
    gateway.ask(store=True)
    gateway.finish()
    gateway.upstreams.kept = "the upstream reset the connection"
    page = gateway.page("/v1/responses/resp_1/cancel", "POST")
    assert page.headers["x-should-retry"] == "false"


def test_a_head_has_the_length_of_the_body_that_it_leaves_out() -> None:
    gateway = Gateway()
    body = gateway.page("/health/live").body
    peer = gateway.connect()
    peer.request("HEAD", "/health/live")
    assert f"content-length: {len(body)}".encode() in bytes(peer.transport.taken)
    assert bytes(peer.transport.taken).endswith(b"\r\n\r\n")


def test_behind_a_request_that_asks_for_it_the_connection_closes() -> None:
    peer = Gateway().connect()
    peer.request("GET", "/v1/models", connection="close")
    assert peer.answer.headers["connection"] == "close"
    assert peer.closed
