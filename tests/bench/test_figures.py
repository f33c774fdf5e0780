"""The sums of the benchmark."""

from __future__ import annotations

import pytest

from bench import figures
from bench.figures import COLUMNS, Figure, Value
from bench.results import Counted, Held, Run, Times, Used

NONE = Times(0, 0.0, 0.0)
FAST, SLOW = Times(9, 100.0, 900.0), Times(9, 250.0, 1_000.0)


def run(
    *,
    number: int = 1,
    turns: int = 1_000,
    cpu: float = 0.1,
    first: Times = NONE,
    held: tuple[int, int, int] = (0, 0, 0),
) -> Run:
    """Two seconds of turns of ten events, on 64 connections."""
    return Run(
        number=number,
        workload="short",
        transport="http",
        subject="latchway",
        connections=64,
        counted=Counted(2.0, turns, 10 * turns, 0, first, NONE),
        used=Used(subject=cpu, load=0.3, machine=0.5, stolen=0.02),
        held=Held(*held),
    )


@pytest.mark.parametrize(
    ("values", "middle", "spread"),
    [
        ([3.0], 3.0, 0.0),
        ([4.0, 2.0, 3.0], 3.0, 2 / 3),
        ([1.0, 2.0], 1.5, 2 / 3),
        ([-4.0, -2.0, -3.0], -3.0, 2 / 3),
        ([0.0, 0.0, 9.0], 0.0, 0.0),
    ],
)
def test_the_median_and_the_whole_spread(values: list[float], middle: float, spread: float) -> None:
    figure = Figure.over(values)
    assert figure is not None
    assert (figure.middle, figure.spread) == pytest.approx((middle, spread))


@pytest.mark.parametrize("values", [[], [None], [1.0, None, 2.0]])
def test_no_figure_where_a_run_had_none(values: list[float | None]) -> None:
    assert Figure.over(values) is None


@pytest.mark.parametrize(
    ("value", "of", "expected"),
    [
        (figures.turns_a_second, run(), 500.0),
        (figures.events_a_second, run(), 5_000.0),
        (figures.cpu_of_a_turn, run(), 100.0),
        (figures.cpu_of_an_event, run(), 10.0),
        (figures.cpu_of_a_turn, run(turns=0), None),
        (figures.cpu_of_a_turn, run(cpu=0.04), None),
        (figures.kib_each, run(held=(1_000, 1_640, 2_000)), 10.0),
        (figures.kib_each, run(held=(1_000, 0, 2_000)), None),
    ],
)
def test_a_figure_of_a_run(value: Value, of: Run, expected: float | None) -> None:
    assert value(of, None) == (None if expected is None else pytest.approx(expected))


def test_what_nobody_of_the_benchmark_used_is_noise() -> None:
    assert figures.others(run()) == pytest.approx(0.1)
    assert figures.others(run(cpu=0.9)) == 0.0


@pytest.mark.parametrize(
    ("of", "direct", "expected"),
    [
        (run(first=SLOW), run(first=FAST), (150.0, 100.0)),
        (run(first=SLOW), None, (250.0, 1_000.0)),
        (run(), run(first=FAST), (None, None)),
    ],
)
def test_what_is_added_to_the_load_without_a_gateway(
    of: Run, direct: Run | None, expected: tuple[float | None, float | None]
) -> None:
    assert tuple(column.of(of, direct) for column in figures.FIRST) == expected


def test_the_load_without_a_gateway_is_told_whole() -> None:
    direct = run(first=FAST)
    assert [column.of(direct, direct) for column in figures.FIRST] == [100.0, 900.0]


def test_a_ratio_is_of_the_same_pass() -> None:
    ours = [run(number=1, cpu=0.1), run(number=2, cpu=0.2)]
    theirs = [run(number=1, cpu=0.3), run(number=2, cpu=0.6)]
    ratio = figures.ratio(figures.CPU_TURN, theirs, ours)
    assert ratio is not None
    assert (ratio.middle, ratio.spread) == pytest.approx((3.0, 0.0))
    assert figures.ratio(figures.CPU_TURN, theirs, [ours[0], None]) is None


def test_every_group_judges_its_figures() -> None:
    for columns in COLUMNS.values():
        assert not columns[0].judges
        assert [column for column in columns if column.judges] == list(figures.NOISE)
