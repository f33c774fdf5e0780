"""Lines to paste: valid, and ready with address and key."""

from __future__ import annotations

import ast
import json
import shlex

import pytest

from latchway.demo.snippets import TITLES, ready_lines

READY = ready_lines("http://127.0.0.1:8787/v1", "lw_1_2", "demo", "Say hello.")
CURL, *PYTHON = TITLES


def test_the_curl_line_is_one_command_with_a_json_body() -> None:
    words = shlex.split(READY[CURL].replace("\\\n", ""))

    assert words[:3] == ["curl", "-N", "http://127.0.0.1:8787/v1/responses"]
    assert "Authorization: Bearer lw_1_2" in words
    body = json.loads(words[words.index("-d") + 1])
    assert body == {"model": "demo", "input": "Say hello.", "stream": True}


@pytest.mark.parametrize("title", PYTHON)
def test_the_python_snippets_are_python(title: str) -> None:
    shell, *lines, end = READY[title].splitlines()

    assert (shell, end) == ("python3 - <<'END'", "END")
    ast.parse("\n".join(lines))
    assert "lw_1_2" in READY[title]


def test_the_websocket_goes_to_the_same_gateway() -> None:
    assert '"ws://127.0.0.1:8787/v1/responses"' in READY[PYTHON[1]]


def test_no_snippet_says_store() -> None:
    assert not any("store" in text for text in READY.values())
