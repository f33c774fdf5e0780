"""What is taken for retryable where the server does not say: codes and statuses, both sides."""

from __future__ import annotations

import pytest

from latchway_client.retryable import AGAIN, NEVER, STATUSES, by_code, by_status

CODES = {
    "server_error": True,
    "rate_limit_exceeded": True,
    "websocket_connection_limit_reached": True,
    "insufficient_quota": False,
    "context_length_exceeded": False,
    "invalid_prompt": False,
    "image_too_large": False,
    "empty_image_file": False,
    "unsupported_value": False,
    "failed_to_download_image": False,
    "model_not_found": False,
    "cyber_policy": False,
    "misalignment_policy_violation": False,
    "timeout": None,
    "stream_read_error": None,
    "something_new": None,
    "17": None,
    None: None,
}

BY_STATUS = {
    400: False,
    401: False,
    402: False,
    404: False,
    408: None,
    409: None,
    413: False,
    422: False,
    425: None,
    429: True,
    499: False,
    500: None,
    502: None,
    503: True,
    504: None,
    529: None,
    200: None,
    307: None,
    None: None,
}


@pytest.mark.parametrize("code", CODES)
def test_a_code_says(code: str | None) -> None:
    assert by_code(code) is CODES[code]


@pytest.mark.parametrize("status", BY_STATUS)
def test_a_status_says(status: int | None) -> None:
    assert by_status(status) is BY_STATUS[status]


def test_no_code_says_both() -> None:
    assert AGAIN.isdisjoint(NEVER)
    assert all(by_code(code) is True for code in AGAIN)
    assert all(by_code(code) is False for code in NEVER)


def test_every_status_of_the_table_is_tried() -> None:
    assert STATUSES.keys() <= BY_STATUS.keys()
