"""The endpoints beside the turns: who may read them, what they say, and what they do not."""

from __future__ import annotations

import sqlite3
from itertools import product
from typing import Any

import pytest

from harness.gateway import Gateway, route, settings
from harness.http import Answer
from latchway.ledger.database import LedgerFault
from latchway.serve.plain import ID, ITEM, KEPT, PATHS
from latchway.settings import Secret

ADMIN = "an-admin-token-of-some-length"
METRICS = "a-metrics-token"

OPEN = frozenset({"/health/live", "/health/ready", "/metrics"})
"""What answers without a key. Nothing else does."""


def sample(pattern: str) -> str:
    """A path that a row of the table takes."""
    for group in (ID, KEPT, ITEM, "(?P<id>.{1,200})"):
        pattern = pattern.replace(group, "m")
    return pattern


ADMIN_PATHS = [sample(row.pattern.pattern) for row in PATHS if row.admin]

EVERY = [
    (sample(row.pattern.pattern), method, key)
    for row in PATHS
    for method, key in product(row.methods, ("none", "malformed", "unknown", "revoked", "basic"))
]


def keyed(gateway: Gateway, key: str) -> str | None:
    """A value of `Authorization` that opens nothing."""
    if key == "revoked":
        gateway.ledger.revoke()
    return {
        "none": None,
        "malformed": "Bearer something",
        "unknown": f"Bearer lw_{'0' * 16}_{'0' * 64}",
        "revoked": f"Bearer {gateway.secret}",
        "basic": f"Basic {gateway.secret}",
    }[key]


@pytest.mark.parametrize(("path", "method", "key"), EVERY)
def test_no_path_answers_without_a_key_unless_it_is_listed(
    path: str, method: str, key: str
) -> None:
    gateway = Gateway(admin_token=Secret(ADMIN))
    answer = gateway.page(path, method, authorization=keyed(gateway, key))

    if path in OPEN:
        assert answer.status == 200
    else:
        assert (answer.status, answer.code) == (401, "invalid_api_key")
    assert gateway.ledger.records == []


@pytest.mark.parametrize("path", ADMIN_PATHS)
def test_without_an_admin_token_there_is_no_admin_api(path: str) -> None:
    gateway = Gateway()
    for authorization in (None, f"Bearer {gateway.secret}", "Bearer ", "Bearer"):
        assert gateway.page(path, authorization=authorization).code == "not_found"


@pytest.mark.parametrize("path", ADMIN_PATHS)
def test_a_client_key_is_no_admin_token_and_the_other_way_round(path: str) -> None:
    gateway = Gateway(admin_token=Secret(ADMIN))
    assert gateway.page(path).code == "invalid_api_key"
    assert gateway.page("/v1/models", authorization=f"Bearer {ADMIN}").code == "invalid_api_key"


def as_admin(gateway: Gateway, path: str) -> Answer:
    return gateway.page(path, authorization=f"bearer {ADMIN}")


def test_what_is_wrong_with_the_database_is_told_to_the_operator_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It names a file of theirs."""

    def damaged(*asked: object) -> None:
        raise LedgerFault("cannot read the database /srv/l.db")

    gateway = Gateway(admin_token=Secret(ADMIN))
    monkeypatch.setattr(gateway.app.reader, "request", damaged)
    for answer, told in (
        (gateway.page("/v1/requests/req_1"), False),
        (as_admin(gateway, "/admin/requests/req_1"), True),
    ):
        assert (answer.status, answer.code) == (503, "ledger_unavailable")
        assert ("/srv/l.db" in answer.json["error"]["message"]) is told


# ---- paths


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/v1/models", True),
        ("/v1/models?limit=1", True),
        ("/v1/models/", False),
        ("//v1/models", False),
        ("/v1//models", False),
        ("/V1/models", False),
        ("/v1/%6dodels", False),
        ("/v1%2fmodels", False),
        ("/v1/models;a=b", False),
        ("/v1/../v1/models", False),
        ("/v1/models\\", False),
        ("/", False),
        ("*", False),
        ("http://gateway/v1/models", False),
        ("/admin", False),
    ],
)
def test_a_path_is_taken_as_it_came(path: str, found: bool) -> None:
    answer = Gateway().page(path)
    assert answer.status == (200 if found else 404)
    assert found or answer.code == "not_found"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/responses", "POST"),
        ("PUT", "/v1/responses", "POST"),
        ("OPTIONS", "/v1/responses/resp_1", "GET, DELETE"),
        ("POST", "/v1/models", "GET"),
        ("DELETE", "/health/live", "GET, HEAD"),
        ("POST", "/admin/keys", "GET"),
    ],
)
def test_a_path_takes_its_methods_alone(method: str, path: str, allowed: str) -> None:
    answer = Gateway().page(path, method)
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize(("path", "hinted"), [("/v1/responses", True), ("/v1/models", False)])
def test_who_gets_no_websocket_is_told_what_a_proxy_may_have_done(path: str, hinted: bool) -> None:
    answer = Gateway().page(path, "PUT")
    assert ("HTTP/1.1 and `Upgrade: websocket`" in answer.json["error"]["message"]) is hinted


def test_head_is_get_without_the_body() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.request("HEAD", "/health/live")
    head = bytes(peer.transport.taken)
    peer.request("GET", "/health/live")

    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert head.endswith(b"\r\n\r\n")
    assert b"content-length: 18\r\n" in head


# ---- models


def test_the_models_in_their_order() -> None:
    answer = Gateway().page("/v1/models")
    assert answer.json == {
        "object": "list",
        "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "latchway"}],
    }
    assert answer.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("written", ["org/model.1", "org%2Fmodel.1", "org%2Fmodel%2E1"])
def test_one_model_however_its_name_is_written(written: str) -> None:
    plain = settings()
    named = settings(models={"org/model.1": plain.models["m"]})
    assert Gateway(named).page(f"/v1/models/{written}").json["id"] == "org/model.1"


@pytest.mark.parametrize("name", ["other", "%", "m%00", "m/", "%F0%9F"])
def test_a_model_that_is_not_there(name: str) -> None:
    answer = Gateway().page(f"/v1/models/{name}")
    assert (answer.status, answer.code) == (404, "model_not_found")


# ---- records


def turned(**differs: Any) -> Gateway:
    """A gateway that has served one turn of `alice`."""
    gateway = Gateway(**differs)
    gateway.ask()
    gateway.finish()
    return gateway


@pytest.mark.parametrize("by", ["request_id", "response_id"])
def test_a_key_reads_its_own_record_without_the_costs(by: str) -> None:
    gateway = turned()
    answer = gateway.page(f"/v1/requests/{gateway.record[by]}")

    assert answer.json["outcome"] == "completed"
    assert answer.json["billing"]["charged"] == "0.000040000"
    assert "cost" not in answer.body.decode()
    assert "operator_loss" not in answer.body.decode()


@pytest.mark.parametrize("owner", ["alice", "bob"])
def test_nobody_reads_the_record_of_another_key(owner: str) -> None:
    gateway = turned()
    other = gateway.ledger.add_key("other", owner)
    path = f"/v1/requests/{gateway.record['request_id']}"
    foreign = gateway.page(path, authorization=f"Bearer {other}")
    unknown = gateway.page("/v1/requests/req_0", authorization=f"Bearer {other}")

    assert (foreign.status, foreign.code) == (404, "not_found")
    assert foreign.json["error"] == unknown.json["error"]


# ---- health


def test_alive_and_ready() -> None:
    gateway = Gateway()
    assert gateway.page("/health/live", authorization=None).json == {"status": "live"}
    assert gateway.page("/health/ready", authorization=None).json == {"status": "ready"}


def test_not_ready_while_draining() -> None:
    gateway = Gateway()
    gateway.app.drain()
    ready = gateway.page("/health/ready", authorization=None)
    assert (ready.status, ready.json) == (503, {"status": "draining"})
    assert gateway.page("/health/live", authorization=None).status == 200


def test_not_ready_without_a_route_or_a_database() -> None:
    assert Gateway(settings(route("a", enabled=False))).page("/health/ready").status == 503
    gateway = Gateway()
    gateway.ledger.fails.add("reserve")
    assert gateway.page("/health/ready").status == 503


# ---- metrics


def test_metrics_are_open_unless_there_is_a_token() -> None:
    gateway = turned()
    page = gateway.page("/metrics", authorization=None)
    line = 'latchway_turns_total{model="m",outcome="completed",transport="http"} 1.0'
    assert line in page.body.decode()
    assert 'latchway_route_state{route="a",state="ready"} 1.0' in page.body.decode()


@pytest.mark.parametrize(
    ("given", "status"),
    [(None, 401), ("Bearer wrong", 401), ("Bearer ", 401), (f"Bearer {METRICS}", 200)],
)
def test_metrics_with_a_token(given: str | None, status: int) -> None:
    gateway = Gateway(metrics_token=Secret(METRICS))
    assert gateway.page("/metrics", authorization=given).status == status


# ---- the admin API


def test_what_the_admin_reads() -> None:
    gateway = turned(admin_token=Secret(ADMIN))
    request_id = gateway.record["request_id"]

    assert as_admin(gateway, "/admin/requests").json == [gateway.record]
    assert as_admin(gateway, f"/admin/requests/{request_id}").json == gateway.record
    assert as_admin(gateway, "/admin/keys").json[0]["key"] == "alice"
    assert as_admin(gateway, "/admin/ledger").json["entries"][-1]["kind"] == "release"
    assert [each["route"] for each in as_admin(gateway, "/admin/routes").json] == ["a", "b"]
    assert as_admin(gateway, "/admin/requests/req_0").code == "not_found"


@pytest.mark.parametrize(
    ("limit", "count"), [("", 3), ("?limit=2", 2), ("?limit=999999", 3), ("?limit=1&limit=2", 1)]
)
def test_the_newest_records(limit: str, count: int) -> None:
    gateway = Gateway(admin_token=Secret(ADMIN))
    for _ in range(3):
        gateway.ask(model="none")
    assert len(as_admin(gateway, f"/admin/requests{limit}").json) == count


@pytest.mark.parametrize("limit", ["0", "-1", "many", "1.5", "%C2%B2", "9" * 5000, "+1", "1_0"])
def test_a_limit_that_is_none(limit: str) -> None:
    answer = as_admin(Gateway(admin_token=Secret(ADMIN)), f"/admin/requests?limit={limit}")
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert answer.json["error"]["param"] == "limit"


# ---- faults


def test_a_page_that_cannot_be_made_says_so(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway(admin_token=Secret(ADMIN))

    def broken() -> list[dict[str, Any]]:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(gateway.app.reader, "keys", broken)
    answer = as_admin(gateway, "/admin/keys")

    assert (answer.status, answer.code) == (500, "internal_error")
    assert answer.headers["connection"] == "close"
    assert "disk I/O error" in caplog.text
    assert "disk" not in answer.body.decode()
