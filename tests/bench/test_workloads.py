"""The table of the workloads, and how some of them are chosen."""

from __future__ import annotations

import pytest

from bench.__main__ import DEFAULT_WORKLOADS, SECONDS, WARM_SECONDS
from bench.figures import COLUMNS
from bench.stage import PROBE_MODEL
from bench.workloads import SECONDS_MOST, WORKLOADS, Unknown, Workload, chosen


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_a_workload_is_bounded_and_has_its_columns(workload: Workload) -> None:
    assert workload.ramp_seconds + WARM_SECONDS + SECONDS <= SECONDS_MOST
    assert workload.group in COLUMNS
    assert workload.model != PROBE_MODEL


def test_names_differ() -> None:
    assert len({workload.name for workload in WORKLOADS}) == len(WORKLOADS)


def test_all_are_run_when_none_is_named() -> None:
    assert list(chosen(DEFAULT_WORKLOADS.split())) == list(WORKLOADS)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["bulk", "short"], ["short", "bulk"]),
        (["paced"], ["paced-50", "paced-200", "paced-1000", "paced-2000"]),
        (["paced-200", "idle-1000"], ["paced-200", "idle-1000"]),
    ],
)
def test_names_and_groups(names: list[str], expected: list[str]) -> None:
    assert [workload.name for workload in chosen(names)] == expected


def test_a_strange_name_is_told() -> None:
    with pytest.raises(Unknown, match=r"no workload slow; known: .*short"):
        chosen(["short", "slow"])
