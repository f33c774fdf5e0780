"""Loading and checking a configuration file: the door of the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.files import ENVIRON, GOOD, findings, settings, with_part, write
from latchway.config import ConfigError, check, load

WHOLE = """\
listen: 127.0.0.1:8787
database: sqlite:///latchway.db
admin_token: "${ADMIN}"
providers:
  primary: {base_url: "https://api.openai.com/v1", api_key: "${KEY}"}
  backup:  {base_url: "http://127.0.0.1:9002/v1",  api_key: "${KEY}"}
models:
  gpt-5.6-terra:
    price: {input: 2.50, cached_input: 0.25, output: 15.00}
    context_tokens: 400000
    max_output_tokens: 128000
    routes:
      - {provider: primary, store_default: false}
      - {provider: backup, model: terra-2, store_default: false}
turn:
  hold_seconds: 10
  connect_timeout_seconds: 10
  first_event_timeout_seconds: 60
  idle_timeout_seconds: 300
  whole_answer_timeout_seconds: 600
  keepalive_seconds: 15
  pre_output_buffer_bytes: 8388608
  store_when_omitted: provider
  replay_acting_tools: true
replay: {max_share: 1.0, min: 3}
health: {enabled: true, failures: 5, set_aside_seconds: 30}
billing: {upstream_broke: free, client_left: estimate, free_aborts_per_minute: 10}
websocket: {max_minutes: 60, grace_minutes: 10, queue: 8, max_message_bytes: 134217728}
limits: {request_bytes: 67108864, event_bytes: 67108864, write_stall_seconds: 120}
shutdown_seconds: 30
log: {keep_days: 30}
"""
"""Every section; the values are the documented defaults."""


def test_the_documented_defaults_are_the_settings(tmp_path: Path) -> None:
    short = WHOLE[: WHOLE.index("turn:")]
    assert findings(tmp_path, WHOLE) == []
    whole, plain = settings(tmp_path, WHOLE), settings(tmp_path, short)
    for name in ("turn", "replay", "health", "billing", "websocket", "limits", "shutdown_seconds"):
        assert getattr(whole, name) == getattr(plain, name)
    assert whole.log_keep_days == plain.log_keep_days


def test_a_file_with_faults_is_not_loaded(tmp_path: Path) -> None:
    path = write(tmp_path, with_part("failures: 5", "failures: 0"))
    with pytest.raises(ConfigError) as refused:
        load(path, ENVIRON)
    assert str(refused.value) == (
        f"{path}:19: health.failures: must be a whole number of failures, 1 to 1000000"
    )


def test_a_file_with_advice_alone_is_loaded(tmp_path: Path) -> None:
    path = write(tmp_path, with_part("    context_tokens: 400000\n", ""))
    assert load(path, ENVIRON).models["m"].context_tokens is None
    assert [fault.severity for fault in check(path, ENVIRON)] == ["advice"]


def test_an_error_holds_the_faults_without_the_advice(tmp_path: Path) -> None:
    text = with_part("    context_tokens: 400000\n", "").replace("failures: 5", "failures: 0")
    with pytest.raises(ConfigError) as refused:
        load(write(tmp_path, text), ENVIRON)
    assert [fault.severity for fault in refused.value.faults] == ["fault"]


def test_a_file_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path / "none.yaml", {})


def test_a_relative_name_is_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, GOOD)
    monkeypatch.chdir(tmp_path)
    assert load(Path("latchway.yaml"), ENVIRON).database == tmp_path / "latchway.db"


CANARY = "canary-5f2a91"

PLACES = [
    ('"${ADMIN}"', f'"{CANARY} "'),
    ('"${KEY}"', f'"{CANARY} "'),
    ('"${KEY}"', f"[{CANARY}]"),
    ('"${KEY}"', f"!{CANARY} x"),
    ('"${KEY}"', "${OTHER}"),
    ("https://api.example.com/v1", f"https://u:{CANARY}@h/v1"),
    ("https://api.example.com/v1", "${OTHER}"),
    ("sqlite:///latchway.db", f"postgresql://u:{CANARY}@h/n"),
    ("127.0.0.1:8787", CANARY),
    ("{failures: 5}", f"{{failures: {CANARY}}}"),
    ("provider: primary", f"provider: {CANARY}"),
    ("provider: primary", "provider: ${OTHER}"),
]


@pytest.mark.parametrize(("old", "new"), PLACES)
def test_no_value_is_shown_in_a_fault(old: str, new: str, tmp_path: Path) -> None:
    found = findings(tmp_path, with_part(old, new), ENVIRON | {"OTHER": f"{CANARY} "})
    assert [fault for fault in found if fault.severity == "fault"] != []
    assert [str(fault) for fault in found if CANARY in str(fault)] == []


def test_settings_do_not_print_their_secrets(tmp_path: Path) -> None:
    made = repr(settings(tmp_path))
    assert [secret for secret in ENVIRON.values() if secret in made] == []
