"""The library and both examples against every way of R2, through `latchway serve`.

What is told, `after_output`, the partial text, the calls that were made and the bill: as R2 says.
All programs run at once, each on its own turns, because most of the time goes into silences.
`make clients` tries all four clients, with the oldest and the newest versions of what they stand
on.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clients.checking import differences
from clients.playing import Run, job, outcome, printed, start
from clients.roster import OF_THIS_PLACE, Client
from clients.stage import Stage, set_up
from clients.stopping import STOPS
from clients.table import WAYS
from library.asking import EVERY, kinds

NAMES = [client.name for client in OF_THIS_PLACE]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What was not as R2 says, over all turns of all programs."""
    with set_up(WAYS, tmp_path_factory.mktemp("library")) as stage:
        jobs = {client: list(jobs_of(stage, client)) for client in OF_THIS_PLACE}
        with ThreadPoolExecutor(len(jobs)) as pool:
            runs = [
                run for each in pool.map(play, *zip(*jobs.items(), strict=True)) for run in each
            ]
        assert len(runs) == len(OF_THIS_PLACE) * len(WAYS)
        return differences(stage, runs)


Asked = tuple[Run, str]


def jobs_of(stage: Stage, client: Client) -> Iterator[Asked]:
    """Made one after the other: a gateway is started when it is asked for first."""
    for way in WAYS:
        said = outcome(client, way)
        assert said is not None
        yield Run(client, way, said, {}), job(stage, client, way)


def play(client: Client, jobs: list[Asked]) -> list[Run]:
    lines = printed(start(client, [line for _, line in jobs]))
    return [
        Run(client, run.way, run.outcome, line) for (run, _), line in zip(jobs, lines, strict=True)
    ]


@pytest.mark.parametrize("client", NAMES)
@pytest.mark.parametrize("way", [way.name for way in WAYS])
def test_a_program_tells_what_r2_says(found: list[str], client: str, way: str) -> None:
    assert [line for line in found if line.startswith(f"{client} / {way} ")] == []


@pytest.mark.parametrize("amid", [amid for amid, stop in STOPS.items() if stop.told])
def test_a_gateway_that_leaves_says_so(tmp_path: Path, amid: str) -> None:
    """R2.17, each client with a turn in flight."""
    way = STOPS[amid].way
    said = way.streamed
    with (
        set_up((way,), tmp_path, **STOPS[amid].settings) as stage,
        ThreadPoolExecutor(len(EVERY)) as pool,
    ):
        gateway = stage.gateway(way, "")
        key = gateway.key("library")
        asked = [pool.submit(kinds(key)[kind], gateway.url, model=way.name) for kind in EVERY]
        stage.labs.wait_for(0, len(EVERY), "")
        gateway.terminate()
        failures = [each.result().failure for each in asked]
        assert [len(calls) for calls in stage.labs.calls("")] == [len(EVERY), 0]
    for failure in failures:
        assert failure is not None
        assert (failure.code, failure.text) == (said.end.code, said.text)
        assert failure.after_output == bool(said.text)
        assert failure.retryable is False
