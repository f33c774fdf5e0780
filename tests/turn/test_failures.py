"""Which code is what, and which answer is what: line by line (R2)."""

from __future__ import annotations

import pytest

from latchway.turn import failures
from latchway.turn.failures import (
    DETERMINISTIC,
    FINAL_CODES,
    REDIRECT,
    RETRYABLE_CODES,
    RETRYABLE_EVENT,
    ROUTE_REFUSED,
    TIMED_OUT_UPSTREAM,
    Failure,
    known,
    of_answer,
    of_event,
)
from latchway.wire.frame import Answer, Kind, Note

NEVER_HEARD_OF = "never_heard_of"


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        ("server_is_overloaded", True),
        ("rate_limit_exceeded", True),
        ("overloaded_right_now", True),
        ("invalid_api_key", True),
        ("model_not_found", True),
        ("insufficient_quota", True),
        ("invalid_anything", False),
        ("image_of_no_kind", False),
        ("empty_something", False),
        ("unsupported_anything", False),
        ("failed_to_download_file", False),
        ("file_not_found", False),
        ("not_found", False),
        ("some_policy", False),
        ("new_policy_violation", False),
        ("context_length_exceeded", False),
        (NEVER_HEARD_OF, None),
        ("503", None),
        (None, None),
    ],
)
def test_what_the_table_knows_of_a_code(code: str | None, retryable: bool | None) -> None:
    assert known(code) is retryable


def test_no_code_is_both() -> None:
    assert not RETRYABLE_CODES & FINAL_CODES


@pytest.mark.parametrize(
    ("kind", "code", "mark", "failure"),
    [
        (Kind.FAILED, "server_error", None, RETRYABLE_EVENT),
        (Kind.FAILED, "invalid_prompt", None, DETERMINISTIC),
        (Kind.FAILED, NEVER_HEARD_OF, None, RETRYABLE_EVENT),
        (Kind.FAILED, None, None, RETRYABLE_EVENT),
        (Kind.FAILED, "server_error", False, DETERMINISTIC),
        (Kind.FAILED, "invalid_prompt", True, RETRYABLE_EVENT),
        (Kind.ERROR, "server_error", None, RETRYABLE_EVENT),
        (Kind.ERROR, "invalid_prompt", None, DETERMINISTIC),
        (Kind.ERROR, NEVER_HEARD_OF, None, DETERMINISTIC),
        (Kind.ERROR, None, None, DETERMINISTIC),
        (Kind.ERROR, "server_error", False, DETERMINISTIC),
        (Kind.ERROR, NEVER_HEARD_OF, True, RETRYABLE_EVENT),
    ],
)
def test_what_an_event_is(
    kind: Kind, code: str | None, mark: bool | None, failure: Failure
) -> None:
    assert of_event(kind, Note(code=code, retryable=mark)) is failure


LINES: list[tuple[int, str | None, bool | None, Failure]] = [
    # 1: somebody timed out, whatever the body
    (408, "server_error", True, TIMED_OUT_UPSTREAM),
    (504, None, None, TIMED_OUT_UPSTREAM),
    (524, "invalid_prompt", False, TIMED_OUT_UPSTREAM),
    # 2: the route's own credential, whatever the body
    (401, "invalid_prompt", False, ROUTE_REFUSED),
    # 3: a redirect, whatever the body
    (300, None, None, REDIRECT),
    (399, "invalid_prompt", False, REDIRECT),
    # 4: the mark before the code and the status
    (400, "invalid_prompt", True, RETRYABLE_EVENT),
    (500, "server_error", False, DETERMINISTIC),
    # 5: the code before the status
    (400, "server_is_overloaded", None, RETRYABLE_EVENT),
    (404, "model_not_found", None, RETRYABLE_EVENT),
    (503, "context_length_exceeded", None, DETERMINISTIC),
    # 6: these statuses
    *((status, None, None, RETRYABLE_EVENT) for status in (402, 403, 429, 500, 502, 503)),
    *((status, None, None, RETRYABLE_EVENT) for status in (520, 521, 522, 523, 525, 526)),
    *((status, NEVER_HEARD_OF, None, RETRYABLE_EVENT) for status in (529, 530)),
    # 7: anything else
    *((status, None, None, DETERMINISTIC) for status in (400, 404, 405, 409, 413, 422)),
    *((status, NEVER_HEARD_OF, None, DETERMINISTIC) for status in (418, 501, 505, 527, 599)),
    # a JSON error under 200: by its code alone
    (200, "server_error", None, RETRYABLE_EVENT),
    (200, "invalid_prompt", None, DETERMINISTIC),
    (200, NEVER_HEARD_OF, None, DETERMINISTIC),
]


@pytest.mark.parametrize(("status", "code", "mark", "failure"), LINES)
def test_what_an_answer_is(
    status: int, code: str | None, mark: bool | None, failure: Failure
) -> None:
    assert of_answer(Answer(status, note=Note(code=code, retryable=mark))) is failure


ROWS = [row for row in vars(failures).values() if isinstance(row, Failure)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_only_two_rules_can_be_replayed(row: Failure) -> None:
    assert row.replayable == (row.rule in ("R2.1", "R2.2"))


RETRYABLE = """
    server_error model_error server_is_overloaded slow_down overloaded overloaded_error
    rate_limit_exceeded too_many_requests vector_store_timeout timeout
    websocket_connection_limit_reached insufficient_quota usage_limit_reached usage_not_included
    model_not_found data_residency_mismatch invalid_api_key
"""
FINAL = """
    context_length_exceeded exceed_context_size_error bio_policy cyber_policy
    misalignment_policy_violation image_content_policy_violation content_policy_violation
    invalid_prompt invalid_request invalid_request_error invalid_encrypted_content invalid_image
    invalid_image_format invalid_base64_image invalid_image_url invalid_image_mode
    image_too_large image_too_small image_parse_error image_file_too_large image_file_not_found
    unsupported_image_media_type empty_image_file failed_to_download_image
    previous_response_not_found conversation_not_found response_not_found unsupported_parameter
    unsupported_value missing_required_parameter request_too_large string_above_max_length
    invalid_type invalid_value
"""


@pytest.mark.parametrize(
    ("table", "codes"), [(RETRYABLE_CODES, RETRYABLE), (FINAL_CODES, FINAL)], ids=["again", "final"]
)
def test_no_code_is_lost_by_a_slip_of_the_hand(table: frozenset[str], codes: str) -> None:
    assert table == set(codes.split())


def test_the_rows_name_their_own_rules() -> None:
    rows = [row for row in vars(failures).values() if isinstance(row, Failure)]
    assert [row.rule for row in rows] == [
        "R2.1", "R2.1", "R2.1", "R2.2", "R2.12", "R2.6", "R2.6", "R2.15", "R2.7", "R2.9", "R2.8",
        "R2.17",
    ]  # fmt: skip
