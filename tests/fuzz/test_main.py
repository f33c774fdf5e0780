"""What `make fuzz` says: an input again by its file or seed, and how a finding is told and kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzz import __main__ as command
from fuzz.broken import BROKEN
from fuzz.engine import CORPUS

FILE = CORPUS / "usage" / "part-above-its-whole"
BELOW_NOTHING = b'[{"input_tokens":-1}]'


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings are kept in the working folder."""
    monkeypatch.chdir(tmp_path)


def said(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["fuzz", *words])
    return command.main()


@pytest.mark.parametrize("again", [("--file", str(FILE)), ("--seed", "7")], ids=["file", "seed"])
def test_an_input_again(
    again: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(monkeypatch, "--target", "usage", *again) == 0
    assert "usage: all holds of" in capsys.readouterr().out


def test_a_finding_is_kept_as_a_file_that_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "found"
    file.write_bytes(b" " + BELOW_NOTHING)
    with BROKEN["less than nothing is a count"][1]:
        assert said(monkeypatch, "--target", "usage", "--file", str(file)) == 1
    (kept,) = (tmp_path / "fuzz-findings").iterdir()
    assert kept.read_bytes() == BELOW_NOTHING
    assert f"make fuzz TARGET=usage FILE=fuzz-findings/{kept.name}" in capsys.readouterr().out
    assert said(monkeypatch, "--target", "usage", "--file", str(kept)) == 0


def test_a_file_needs_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit) as left:
        said(monkeypatch, "--file", str(FILE))
    assert left.value.code == 2


def test_every_input_of_a_run_is_in_one_part() -> None:
    parts = command._chunks(["sse", "usage"], 100, 9_000)
    for name in ("sse", "usage"):
        seeds = [seed for part, first, count in parts if part == name
                 for seed in range(first, first + count)]  # fmt: skip
        assert sorted(seeds) == list(range(100, 100 + len(seeds)))
    assert len(command._chunks(["sse"], 0, 9_000)) == command.CHUNKS
