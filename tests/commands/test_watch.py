"""`latchway watch` sends a turn to any Responses URL and shows what comes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import SECONDS, in_process
from lab.harness import running
from latchway.commands import watch as watch_command
from latchway.lab.checked import load
from latchway.watch import recording
from serve.processes import Gateway, configure, serving, upstream
from watch.watching import WORDS, watched

DONE = {"completed": {"input": 3, "output": 2}}
SECRET = "sk-0123456789"
LEAKS = {"error": {"code": "invalid_api_key", "message": f"Wrong key: {SECRET}"}}


def url(lab: Any, transport: str = "http") -> str:
    return f"{transport}://127.0.0.1:{lab.port}/v1"


@pytest.mark.parametrize("transport", ["http", "ws"])
def test_a_table_is_shown_for_people(transport: str) -> None:
    with running([{"events": ["created", {"text": "Hi"}, DONE]}]) as lab:
        done = in_process("watch", url(lab, transport), *WORDS)

    assert done.returncode == 0
    assert "response.output_text.delta" in done.stdout
    assert "\nended          completed\n" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("transport", ["http", "ws"])
def test_the_credential_is_sent_and_neither_shown_nor_saved(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_KEY", SECRET)
    file = tmp_path / "raw.yaml"
    file.touch(0o644)
    with running([{"status": 401, "body": LEAKS}]) as lab:
        words = (*WORDS, "--key-env", "PROVIDER_KEY", "--raw", str(file))
        found = watched(url(lab, transport), *words)
        call = lab.over()

    assert call.headers["authorization"] == f"Bearer {SECRET}"
    assert found.status == 1
    assert SECRET not in found.said + found.told + file.read_text()
    assert "Wrong key: (credential)" in found.end["why"]
    assert file.stat().st_mode & 0o077 == 0


def test_the_usual_variable_is_taken_if_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with running([{"events": [DONE]}]) as lab:
        watched(url(lab))
        assert lab.over().headers["authorization"] == f"Bearer {SECRET}"


def test_a_request_is_read_from_standard_input() -> None:
    asked = {"model": "a", "input": "Hello", "store": False, "temperature": 0}
    with running([{"events": [DONE]}]) as lab:
        found = watched(url(lab), "--model", "b", said=json.dumps(asked))
        call = lab.over()

    assert found.status == 0
    assert call.json == {"stream": True, **asked, "model": "b"}


def test_what_the_gateway_would_refuse_is_sent_and_told() -> None:
    with running([{"events": [DONE]}]) as lab:
        found = watched(url(lab), "--model", "m", said='{"input": 5}')
        assert lab.over().json["input"] == 5

    assert "would refuse this request" in found.told
    assert "`input` must be" in found.told


@pytest.mark.parametrize(
    ("words", "said", "told"),
    [
        (("http://h/v1",), "", "say --model NAME"),
        (("nowhere", *WORDS), "", "URL: say an address"),
        (("http://h/v1", *WORDS, "--key-env", "NO_SUCH_VARIABLE"), "", "NO_SUCH_VARIABLE"),
        (("http://h/v1", *WORDS, "--timeout", "0"), "", "say seconds"),
        (("http://h/v1", *WORDS, "--timeout", "soon"), "", "say seconds"),
        (("http://h/v1",), "x" * 101, "over 100 bytes"),
        (("http://h/v1",), "no JSON", "the request: "),
        ((), "", "URL"),
    ],
)
def test_wrong_words_are_told(
    words: tuple[str, ...], said: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch_command, "REQUEST_BYTES", 100)
    done = in_process("watch", *words, said=said)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


def test_a_credential_that_no_header_carries_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "two\nlines")
    done = in_process("watch", "http://h/v1", *WORDS)

    assert done.returncode == 2
    assert "two" not in done.stderr


def test_where_nothing_came_nothing_is_written(tmp_path: Path) -> None:
    file = tmp_path / "raw.yaml"
    found = watched("http://127.0.0.1:1/v1", *WORDS, "--raw", str(file))

    assert found.status == 1
    assert "nothing came" in found.told
    assert not file.exists()


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with running([{"events": [DONE]}]) as lab:
        found = watched(url(lab), *WORDS, "--raw", str(tmp_path / "no" / "raw.yaml"))

    assert found.status == 1
    assert "cannot write" in found.told


def test_a_recording_that_is_cut_short_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MOST_STEPS", 1)
    with running([{"events": ["created", {"wait": 0.02}, {"text": "Hi"}, DONE]}]) as lab:
        found = watched(url(lab), *WORDS, "--raw", str(tmp_path / "raw.yaml"))

    assert found.status == 0
    assert "holds the beginning alone" in found.told


def test_ctrl_c_shows_the_table_and_saves_what_came(tmp_path: Path) -> None:
    file = tmp_path / "raw.yaml"
    with running([{"events": ["created", "silence"]}]) as lab:
        command = [sys.executable, "-m", "latchway", "watch", url(lab), *WORDS, "--raw", str(file)]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=os.environ
        ) as watch:
            assert watch.stdout is not None
            for line in watch.stdout:
                if "response.created" in line:
                    break
            watch.send_signal(signal.SIGINT)
            rest = watch.communicate(timeout=SECONDS)[0]

    assert watch.returncode == 130
    assert "ended          you stopped it before its end" in rest
    assert len(load(file).branches[0].replies[0].steps) >= 2


def test_a_reader_that_leaves_ends_it() -> None:
    events = ["created", {"text": "Hi"}, {"wait": 0.05}, {"text": "Hi"}, "silence"]
    with running([{"events": events}]) as lab:
        command = [sys.executable, "-m", "latchway", "watch", url(lab), *WORDS]
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as watch:
            assert watch.stdout is not None
            watch.stdout.readline()
            watch.stdout.close()
            assert watch.wait(SECONDS) == 141
            assert watch.stderr is not None
            assert watch.stderr.read() == b""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A gateway in front of a lab, for all that watch it."""
    folder = tmp_path_factory.mktemp("gateway")
    with upstream() as lab:
        secret = configure(folder, lab)
        with serving(folder, secret) as running_gateway:
            yield running_gateway


@pytest.mark.parametrize("transport", ["http", "ws"])
@pytest.mark.parametrize(
    ("model", "status", "outcome", "code"),
    [
        ("good", 0, "completed", None),
        ("again", 0, "completed", None),
        ("final", 1, "failed", "invalid_prompt"),
        ("nowhere", 1, "failed", "model_not_found"),
    ],
)
def test_a_gateway_can_be_watched(
    gateway: Gateway,
    transport: str,
    model: str,
    status: int,
    outcome: str,
    code: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LATCHWAY_KEY", gateway.secret)
    address = f"{transport}://127.0.0.1:{gateway.port}/v1"
    found = watched(address, "--model", model, "--input", "hi", "--key-env", "LATCHWAY_KEY")

    assert (found.status, found.end["outcome"], found.end["code"]) == (status, outcome, code)


def test_its_help_has_examples() -> None:
    assert in_process("watch", "--help").stdout.count("latchway watch") >= 4
