"""The two programs of examples/: short, with the settings they must have, and true at every end."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from clients.upstreams import Nowhere
from lab.harness import Running, running
from latchway_client.events import CLASSES, Class
from library.asking import asked
from library.test_quiet import ENDS, RESULTS, End, needs_its_own
from repo.tree import ROOT, text_of

LINES = 36
"""Of code, from the first import on: what fits on a screen, and can be owned."""

CHARACTERS = 300
"""Of the event, in the error."""

PROGRAMS = {"sse": "stream_sse.py", "websocket": "stream_websocket.py"}

NEEDS = {"sse": "openai", "websocket": "websockets"}

SETTINGS = {
    "sse": (
        "with (", "OpenAI(", "max_retries=0", "timeout=30.0", "store=False", "stream=True",
        "after_output=", "[:300]", 'os.environ["LATCHWAY_KEY"]',
    ),
    "websocket": (
        "with connect(", "additional_headers=", "max_size=None", '"store": False',
        "after_output=", "[:300]", 'os.environ["LATCHWAY_KEY"]',
    ),
}  # fmt: skip

DIFFERS = {
    "output that is no JSON": "the SDK raises, and there is nothing to show",
    "completed that failed": "no server is known to end so",
}
"""Ends that a short program does not tell as the library does."""

TRIED = [end for end in ENDS if not end.impatient and end.name not in DIFFERS]
"""A silence would take the programs' own 30 and 330 seconds."""


def loaded(kind: str) -> ModuleType:
    """The program, imported; it does nothing then."""
    spec = importlib.util.spec_from_file_location(kind, ROOT / "examples" / PROGRAMS[kind])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def lab() -> Iterator[Running]:
    """A server with a model for each end."""
    routes = [
        {"when": {"model": end.name}, "calls": [end.reply]}
        for end in TRIED
        if not needs_its_own(end)
    ]
    with running({"routes": [*routes, {"calls": [{"events": []}]}]}) as lab:
        yield lab


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_is_short(kind: str) -> None:
    lines = text_of(ROOT / "examples" / PROGRAMS[kind]).splitlines()
    code = [line for line in lines if line.strip() and '"""' not in line]
    assert len(code) <= LINES


@pytest.mark.parametrize("kind", PROGRAMS)
def test_it_has_the_settings_that_matter(kind: str) -> None:
    text = text_of(ROOT / "examples" / PROGRAMS[kind])
    assert [setting for setting in SETTINGS[kind] if setting not in text] == []


@pytest.mark.parametrize("kind", PROGRAMS)
def test_it_stands_without_the_library(kind: str) -> None:
    tree = ast.parse(text_of(ROOT / "examples" / PROGRAMS[kind]))
    assert "latchway_client" not in ast.dump(tree)


@pytest.mark.parametrize("kind", PROGRAMS)
def test_it_needs_one_package(kind: str) -> None:
    """What that one needs in its turn changes: openai 3 has another HTTP library than openai 2."""
    tree = ast.parse(text_of(ROOT / "examples" / PROGRAMS[kind]))
    plain = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    }
    parts = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    needed = {name.partition(".")[0] for name in plain | parts} - sys.stdlib_module_names
    assert needed == {NEEDS[kind]}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_it_knows_what_is_no_output(kind: str) -> None:
    quiet = {name for name, each in CLASSES.items() if each in (Class.LIFECYCLE, Class.NEUTRAL)}
    assert set(loaded(kind).QUIET) == quiet


@pytest.mark.parametrize(
    ("end", "kind"),
    [(end, kind) for end in TRIED for kind in PROGRAMS if kind in end.clients],
    ids=lambda each: each.name if isinstance(each, End) else each,
)
def test_an_end_without_a_result_raises(lab: Running, end: End, kind: str) -> None:
    if needs_its_own(end):
        with running([end.reply]) as own:
            raises(own, end, kind)
    else:
        raises(lab, end, kind)


def raises(lab: Running, end: End, kind: str) -> None:
    """With the bit as it is; and nothing is sent again."""
    before = len(lab.lab.calls)
    with pytest.raises(RuntimeError) as caught:
        loaded(kind).stream(f"http://127.0.0.1:{lab.port}/v1", "key", asked({"model": end.name}))
    assert len(lab.lab.calls) == before + 1, "sent again"
    bit, _, problem = str(caught.value).partition(": ")
    assert bit == f"after_output={end.means['after_output']}"
    assert 0 < len(problem) <= CHARACTERS


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_error_has_the_start_of_the_event(kind: str) -> None:
    failed = {"type": "response.failed", "response": {"error": {"code": "x" * 400}}}
    with running([{"events": [failed]}]) as lab, pytest.raises(RuntimeError) as caught:
        loaded(kind).stream(f"http://127.0.0.1:{lab.port}/v1", "key", asked({}))
    assert re.fullmatch(r'after_output=False: \{"(type|response)".*', str(caught.value))
    assert len(str(caught.value)) == len("after_output=False: ") + CHARACTERS


@pytest.mark.parametrize("kind", PROGRAMS)
def test_nobody_there_raises(kind: str) -> None:
    nowhere = Nowhere()
    with pytest.raises(RuntimeError, match=r"^after_output=False: "):
        loaded(kind).stream(f"http://127.0.0.1:{nowhere.refusing}/v1", "key", asked({}))
    nowhere.close()


@pytest.mark.parametrize("kind", PROGRAMS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_told_with_its_reason(
    kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    steps, status, reason, text = RESULTS[name]
    with running([{"events": steps}]) as lab:
        said = loaded(kind).stream(f"http://127.0.0.1:{lab.port}/v1", "key", asked({}))
    assert said == (f"{status}: {reason}" if reason else status)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("kind", PROGRAMS)
def test_it_runs_as_a_user_starts_it(kind: str) -> None:
    with running([{"events": ["created", {"say": "Hi there"}, {"completed": {}}]}]) as lab:
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / PROGRAMS[kind]), "m", "hi"],
            env={
                **os.environ,
                "LATCHWAY_URL": f"http://127.0.0.1:{lab.port}/v1",
                "LATCHWAY_KEY": "secret",
            },
            capture_output=True,
            text=True,
            timeout=60,
        )
        (call,) = lab.lab.calls
    assert (call.headers["authorization"], call.json["store"]) == ("Bearer secret", False)
    assert (done.returncode, done.stdout) == (0, "Hi there\ncompleted\n"), done.stderr
