"""The table that is printed: a row for each subject, a block for each workload and transport."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.figures import COLUMNS, Column, Figure, figure, ratio
from bench.results import Run
from bench.workloads import Workload

OURS, DIRECT = "latchway", "direct"

Block = dict[str, list[Run]]
"""A subject's runs, pass by pass; a failed run is in none."""


def block(workload: Workload, transport: str, runs: Block, failures: Sequence[str]) -> str:
    """The rows of one workload over one transport, under its title."""
    rows = [_head(workload), *_rows(COLUMNS[workload.group], runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(_aligned(row, widths)) for row in rows]
    return "\n".join([_title(workload, transport), *lines, *failures])


def _title(workload: Workload, transport: str) -> str:
    pace = f", one each {workload.gap_ms} ms" if workload.gap_ms else ""
    return (
        f"\n{workload.name} over {transport}: {workload.connections} connections, "
        f"{workload.events} events a turn{pace}"
    )


def _head(workload: Workload) -> list[str]:
    columns = COLUMNS[workload.group]
    return ["subject", "runs", "ratio", *(column.title for column in columns)]


def _rows(columns: Sequence[Column], runs: Block) -> Iterator[list[str]]:
    for subject, each in runs.items():
        directs = _beside(each, runs.get(DIRECT, []))
        times = ratio(columns[0], each, _beside(each, runs.get(OURS, [])))
        cells = [_cell(figure(column, each, directs), column) for column in columns]
        yield [subject, str(len(each)), "-" if times is None else f"{times.middle:.2f}", *cells]


def _beside(runs: Sequence[Run], others: Sequence[Run]) -> list[Run | None]:
    """Of each run, the other subject's in the same pass."""
    by_pass = {other.number: other for other in others}
    return [by_pass.get(run.number) for run in runs]


def _cell(told: Figure | None, column: Column) -> str:
    """`±` is the whole spread, from the least to the most."""
    if told is None:
        return "-"
    spread = "" if column.judges else f" ±{100 * told.spread:.0f}%"
    return f"{told.middle:,.{column.digits}f}{spread}"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """Names to the left, figures to the right."""
    yield row[0].ljust(widths[0])
    yield from (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
