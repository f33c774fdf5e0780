"""The stage: a configuration that is good, a key with credit, and nothing left behind."""

from __future__ import annotations

import socket

from latchway import config
from latchway.demo import stage
from latchway.ledger import report
from latchway.ledger.database import open_reader


class Nowhere:
    """A pair of which only the addresses are asked."""

    urls = ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1")
    what = ("", "")
    prompt = ""

    def turn_sent(self) -> None: ...

    def close(self) -> None: ...


def test_the_configuration_has_two_routes_in_order_and_no_fault() -> None:
    with stage.set_up(Nowhere(), "127.0.0.1", 0) as made:
        routes = made.settings.models[stage.MODEL].routes
        faults = [each for each in config.check(made.config_file) if each.severity == "fault"]

    assert [route.provider.base_url for route in routes] == list(Nowhere.urls)
    assert not any(route.store_default for route in routes)
    assert not made.settings.health.enabled
    assert faults == []


def test_the_key_has_its_credit() -> None:
    with stage.set_up(Nowhere(), "127.0.0.1", 0) as made:
        connection = open_reader(made.settings.database)
        (row,) = report.keys(connection)
        connection.close()

    assert made.key.startswith("lw_")
    assert row["available"] == "5.000000000"


def test_the_folder_goes_when_the_stage_goes() -> None:
    with stage.set_up(Nowhere(), "127.0.0.1", 0) as made:
        assert made.config_file.stat().st_mode & 0o077 == 0

    assert not made.config_file.parent.exists()


def test_a_port_that_is_taken_is_not_chosen() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        stage_port = stage._usual_or_any_port("127.0.0.1", port)

    assert stage_port == 0


def test_ipv6_is_written_in_brackets() -> None:
    with stage.set_up(Nowhere(), "::1", 8787) as made:
        assert (made.settings.host, made.settings.port) == ("::1", 8787)
