"""What the settings hold, of what is said and of what is not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from config.files import GOOD, settings, with_part
from latchway.settings import BillingSettings, Price, Settings, TurnSettings

SMALL = """\
providers:
  p: {base_url: "http://127.0.0.1:1/v1"}
models:
  m: {price: free, routes: [{provider: p}]}
"""


def test_all_that_is_not_said_has_the_settings_own_default(tmp_path: Path) -> None:
    made = settings(tmp_path, SMALL)
    plain = Settings(models=made.models, providers=made.providers, database=made.database)
    assert made == plain


def test_a_routes_defaults(tmp_path: Path) -> None:
    (route,) = settings(tmp_path, SMALL).models["m"].routes
    assert (route.name, route.upstream_model, route.enabled) == ("p/m", "m", True)
    assert (route.store_default, route.origin, route.drop_fields) == (True, None, ())
    assert route.cost is None
    assert route.provider.api_key is None


def test_a_route_says_otherwise(tmp_path: Path) -> None:
    text = with_part(
        "{provider: backup, model: m-2, store_default: false}",
        "{provider: backup, model: m-2, name: spare, enabled: false, origin: eu,"
        " transport: http, speaks: responses, cost: {input: 1, output: 2}, hold_seconds: 0.5}",
    )
    route = settings(tmp_path, text).models["m"].routes[1]
    assert (route.name, route.upstream_model, route.enabled) == ("spare", "m-2", False)
    assert route.origin == "eu"
    assert route.cost == Price(10**9, 10**9, 10**9, 2 * 10**9, 2 * 10**9)
    assert (route.hold_seconds, route.idle_timeout_seconds) == (0.5, 300.0)


def test_a_routes_clocks_are_the_turns_where_it_says_none(tmp_path: Path) -> None:
    text = with_part("hold_seconds: 10", "idle_timeout_seconds: 7.5")
    assert settings(tmp_path, text).models["m"].routes[0].idle_timeout_seconds == 7.5


def test_prices_are_nano_dollars_and_a_class_not_said_costs_as_its_whole(tmp_path: Path) -> None:
    model = settings(tmp_path).models["m"]
    assert model.price == Price(
        input=2_500_000_000,
        cached_input=250_000_000,
        cache_write=2_500_000_000,
        output=15_000_000_000,
        reasoning=15_000_000_000,
    )
    assert (model.free, model.context_tokens, model.max_output_tokens) == (False, 400_000, 128_000)


def test_a_price_in_quotes_is_the_same_price(tmp_path: Path) -> None:
    quoted = settings(tmp_path, with_part("2.50", "'2.50'"))
    assert quoted.models["m"].price == settings(tmp_path).models["m"].price


def test_a_free_model(tmp_path: Path) -> None:
    model = settings(tmp_path, SMALL).models["m"]
    assert (model.free, model.price) == (True, Price())


def test_files_are_beside_the_configuration(tmp_path: Path) -> None:
    for name in ("cert.pem", "key.pem"):
        (tmp_path / name).touch()
    made = settings(tmp_path, GOOD + "tls: {certificate: cert.pem, key: key.pem}\n")
    assert made.database == tmp_path / "latchway.db"
    assert made.tls is not None
    assert (made.tls.certificate, made.tls.key) == (tmp_path / "cert.pem", tmp_path / "key.pem")


def test_an_absolute_database_stays_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    text = with_part("sqlite:///latchway.db", f"sqlite:///{tmp_path}/data/l.db")
    assert settings(tmp_path, text).database == tmp_path / "data" / "l.db"


def test_the_address_the_tokens_and_the_log(tmp_path: Path) -> None:
    text = with_part("127.0.0.1:8787", '"[::1]:9"').replace("keep_days: 30", "keep_days: 1.5")
    made = settings(tmp_path, text)
    assert (made.host, made.port, made.log_keep_days) == ("::1", 9, 1.5)
    assert made.admin_token is not None
    assert made.metrics_token is not None
    assert (made.admin_token.reveal(), made.metrics_token.reveal()) == (
        "admin-token",
        "metrics-token",
    )


def test_a_section_keeps_the_defaults_of_what_it_does_not_say(tmp_path: Path) -> None:
    made = settings(tmp_path, GOOD + "billing: {client_left: free}\n")
    assert made.billing == dataclasses.replace(BillingSettings(), client_left="free")
    assert made.turn == TurnSettings()
