"""What the benchmark prints."""

from __future__ import annotations

from bench.results import Counted, Held, Run, Times, Used
from bench.table import block
from bench.workloads import SHORT

NONE = Times(0, 0.0, 0.0)


def run(subject: str, number: int, cpu: float) -> Run:
    counted = Counted(1.0, 1_000, 10_000, 0, NONE, NONE)
    used = Used(cpu, 0.25, cpu + 0.25, 0.0)
    return Run(number, "short", "http", subject, 64, counted, used, Held(0, 0, 0))


def cells(line: str) -> list[str]:
    return line.split()


def test_a_block_has_a_row_for_each_subject_and_what_failed_below() -> None:
    runs = {
        "latchway": [run("latchway", 1, 0.1), run("latchway", 2, 0.3)],
        "peer": [run("peer", 1, 0.3), run("peer", 2, 0.9)],
    }
    lines = block(SHORT, "http", runs, ["other: no result: it says nothing"]).splitlines()
    assert lines[1] == "short over http: 64 connections, 10 events a turn"
    assert cells(lines[3])[:5] == ["latchway", "2", "1.00", "200.0", "±100%"]
    assert cells(lines[4])[:5] == ["peer", "2", "3.00", "600.0", "±100%"]
    assert lines[5] == "other: no result: it says nothing"


def test_a_run_that_failed_leaves_its_pass_without_a_ratio() -> None:
    runs = {"latchway": [run("latchway", 2, 0.1)], "peer": [run("peer", 1, 0.3)]}
    lines = block(SHORT, "http", runs, []).splitlines()
    assert cells(lines[4])[:3] == ["peer", "1", "-"]
