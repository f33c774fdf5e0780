"""What fields must be to each other: one faulty configuration for each rule, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.files import ENVIRON, GOOD, findings, settings, with_part, write
from latchway.config import check
from latchway.config.rules import NEVER_DROPPED

BACKUP = "{provider: backup, model: m-2, store_default: false}"
SECOND = "models.m.routes[1]"

FAULTS = {
    "an unknown provider": (BACKUP, "{provider: bakcup, store_default: false}", 15,
                            f"{SECOND}.provider", "did you mean `backup`?"),
    "no provider": (BACKUP, "{store_default: false}", 15, f"{SECOND}.provider", "is missing"),
    "a name twice": (BACKUP, "{provider: primary, store_default: false}", 15, f"{SECOND}.name",
                     "is the name of routes[0], too"),
    "a given name twice": (BACKUP, "{provider: backup, name: primary/m, store_default: false}", 15,
                           f"{SECOND}.name", "is the name of routes[0], too"),
    "no price": ("    price: {input: 2.50, cached_input: 0.25, output: 15}\n", "", 9,
                 "models.m.price", "is missing; say what clients pay for it"),
    "half a price": (", output: 15}", "}", 10, "models.m.price.output", "is missing"),
    "another word for free": ("{input: 2.50, cached_input: 0.25, output: 15}", "gratis", 10,
                              "models.m.price", "or the word `free`"),
    "no bound of the output": ("    max_output_tokens: 128000\n", "", 9,
                               "models.m.max_output_tokens", "or `price: free`"),
    "no routes": (GOOD[GOOD.index("    routes:"):GOOD.index("turn:")], "    routes: []\n", 13,
                  "models.m.routes", "at least one route"),
    "routes not said": (GOOD[GOOD.index("    routes:"):GOOD.index("turn:")], "", 9,
                        "models.m.routes", "is missing"),
    "a dropped model": (BACKUP, "{provider: backup, store_default: false, drop_fields: [model]}",
                        15, f"{SECOND}.drop_fields[0]", "cannot be dropped"),
    "store dropped where it counts": (
        BACKUP, "{provider: backup, drop_fields: [user, store]}", 15,
        f"{SECOND}.drop_fields[1]", "store_default: false"),
    "WebSocket upstream": (BACKUP, "{provider: backup, store_default: false, transport: websocket}",
                           15, f"{SECOND}.transport", "`websocket` is not built yet"),
    "Chat Completions": (
        BACKUP, "{provider: backup, store_default: false, speaks: chat_completions}", 15,
        f"{SECOND}.speaks", "`chat_completions` is not built yet"),
    "PostgreSQL": ("sqlite:///latchway.db", "postgresql://u:p@h/n", 2, "database", "not built yet"),
    "a database without a folder": ("sqlite:///latchway.db", "sqlite:///none/latchway.db", 2,
                                    "database", "its folder does not exist"),
    "TLS without files": ("log:", "tls: {certificate: none.pem, key: none.key}\nlog:", 20,
                          "tls.certificate", "there is no such file"),
    "TLS without a key": ("log:", "tls: {certificate: latchway.yaml}\nlog:", 20, "tls.key",
                          "is missing"),
    "a short token": ('"${ADMIN}"', '"${SHORT}"', 3, "admin_token", "8 characters"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_rule(name: str, tmp_path: Path) -> None:
    old, new, line, path, message = FAULTS[name]
    found = findings(tmp_path, with_part(old, new), ENVIRON | {"SHORT": "1234567"})
    told = [fault for fault in found if fault.path == path]
    assert [(fault.line, fault.severity) for fault in told] == [(line, "fault")]
    assert message in told[0].message


def test_the_good_file_is_good(tmp_path: Path) -> None:
    assert findings(tmp_path, GOOD) == []


@pytest.mark.parametrize("field", NEVER_DROPPED)
def test_what_makes_it_another_request_is_never_dropped(field: str, tmp_path: Path) -> None:
    route = f"{{provider: backup, store_default: false, drop_fields: [{field}]}}"
    (fault,) = findings(tmp_path, with_part(BACKUP, route))
    assert fault.path == f"{SECOND}.drop_fields[0]"


def test_other_fields_may_be_dropped_and_store_where_nothing_is_stored(tmp_path: Path) -> None:
    route = "{provider: backup, store_default: false, drop_fields: [store, client_metadata]}"
    made = settings(tmp_path, with_part(BACKUP, route))
    assert made.models["m"].routes[1].drop_fields == ("store", "client_metadata")


def _with_second_model(route: str) -> str:
    model = f"models:\n  other:\n    price: free\n    routes: [{route}]\n"
    return with_part("models:\n", model)


def test_a_route_name_means_one_provider_in_all_models(tmp_path: Path) -> None:
    text = _with_second_model("{provider: backup, name: primary/m, store_default: false}")
    (fault,) = findings(tmp_path, text)
    assert (fault.line, fault.path) == (17, "models.m.routes[0].name")
    assert "is a route of other at another provider" in fault.message


def test_a_route_name_may_be_shared_at_one_provider(tmp_path: Path) -> None:
    text = _with_second_model("{provider: primary, name: primary/m, store_default: false}")
    assert findings(tmp_path, text) == []


def test_a_free_model_needs_no_bounds(tmp_path: Path) -> None:
    text = _with_second_model("{provider: primary, store_default: false}")
    assert findings(tmp_path, text) == []


# ---- advice


def test_advice_for_a_route_whose_store_default_is_not_said(tmp_path: Path) -> None:
    (advice,) = findings(tmp_path, with_part(BACKUP, "{provider: backup}"))
    assert (advice.line, advice.path) == (15, f"{SECOND}.store_default")
    assert advice.severity == "advice"


@pytest.mark.parametrize("setting", ["false", "stateless"])
def test_no_such_advice_where_the_default_is_not_asked(setting: str, tmp_path: Path) -> None:
    text = with_part(BACKUP, "{provider: backup}")
    text = text.replace("hold_seconds: 10", f"store_when_omitted: {setting}")
    assert findings(tmp_path, text) == []


def test_advice_for_a_priced_model_without_context_tokens(tmp_path: Path) -> None:
    (advice,) = findings(tmp_path, with_part("    context_tokens: 400000\n", ""))
    assert (advice.line, advice.path) == (9, "models.m.context_tokens")
    assert advice.severity == "advice"


LITERAL = with_part('"${KEY}"', "sk-literal")


def test_advice_for_a_literal_credential_that_others_can_read(tmp_path: Path) -> None:
    path = write(tmp_path, LITERAL)
    path.chmod(0o644)
    (advice,) = check(path, ENVIRON)
    assert (advice.line, advice.path) == (6, "providers.primary.api_key")
    assert advice.severity == "advice"
    assert "literal" not in advice.message


@pytest.mark.parametrize(("mode", "text"), [(0o600, LITERAL), (0o644, GOOD)])
def test_no_such_advice_for_what_is_closed(mode: int, text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    path.chmod(mode)
    assert check(path, ENVIRON) == []
