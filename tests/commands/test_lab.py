"""`latchway lab` runs a script until it is told to end."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from command import SECONDS, latchway


def test_a_shipped_script_is_served_until_sigterm() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "latchway", "lab", "healthy", "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    ) as lab:
        assert lab.stderr is not None
        url = re.search(r"http://[0-9.:]+/v1", lab.stderr.readline())
        assert url
        with urllib.request.urlopen(f"{url.group()}/models", timeout=SECONDS) as answer:
            assert answer.status == 200
        lab.send_signal(signal.SIGTERM)
        assert lab.wait(SECONDS) == 0


def test_a_script_that_is_not_there_exits_with_1() -> None:
    done = latchway("lab", "no-such-script")

    assert done.returncode == 1
    assert "no-such-script" in done.stderr


def test_a_faulty_script_names_its_line(tmp_path: Path) -> None:
    script = tmp_path / "faulty.yaml"
    script.write_text("- events:\n    - sey: hello\n")
    done = latchway("lab", str(script))

    assert done.returncode == 1
    assert "faulty.yaml:2" in done.stderr
