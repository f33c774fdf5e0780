"""What the configuration says, as frozen values with every default filled in. `config` makes them.

Money is whole nano-USD; prices are nano-USD per million tokens; durations are seconds (float).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


class Secret:
    """A credential that does not print, log or pickle. `reveal` is called where it is sent."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(…)"

    def __reduce__(self) -> str:
        raise TypeError("a secret is not pickled")


@dataclass(frozen=True, slots=True)
class Price:
    """nano-USD per 1,000,000 tokens of each class."""

    input: int = 0
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    base_url: str
    """Without a slash at its end; `/responses` is appended."""
    api_key: Secret | None


@dataclass(frozen=True, slots=True)
class Route:
    """One place a model can be called at. Clocks not said are the turn's."""

    name: str
    provider: Provider
    upstream_model: str
    """The model's name there."""
    enabled: bool
    store_default: bool
    origin: str | None
    drop_fields: tuple[str, ...]
    cost: Price | None
    """What it costs the operator; None: not said, the model's price stands for it."""
    hold_seconds: float
    connect_timeout_seconds: float
    first_event_timeout_seconds: float
    idle_timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Model:
    """What clients can ask for, and the places that can serve it."""

    name: str
    price: Price
    free: bool
    """`price: free`: every charge is zero."""
    context_tokens: int | None
    max_output_tokens: int | None
    routes: tuple[Route, ...]
    """In order of preference, disabled ones included."""


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Clocks and bounds of a turn; docs/configuration.md says what each is for."""

    hold_seconds: float = 10.0
    connect_timeout_seconds: float = 10.0
    first_event_timeout_seconds: float = 60.0
    idle_timeout_seconds: float = 300.0
    whole_answer_timeout_seconds: float = 600.0
    keepalive_seconds: float = 15.0
    pre_output_buffer_bytes: int = 8 << 20
    store_when_omitted: str = "provider"
    """provider | false | stateless (R3)"""
    replay_acting_tools: bool = True


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    max_share: float = 1.0
    min: int = 3


@dataclass(frozen=True, slots=True)
class HealthSettings:
    enabled: bool = True
    failures: int = 5
    set_aside_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class BillingSettings:
    upstream_broke: str = "free"
    """free | estimate"""
    client_left: str = "estimate"
    """estimate | free"""
    free_aborts_per_minute: int = 10


@dataclass(frozen=True, slots=True)
class WebsocketSettings:
    max_minutes: float = 60.0
    grace_minutes: float = 10.0
    queue: int = 8
    max_message_bytes: int = 128 << 20


@dataclass(frozen=True, slots=True)
class LimitSettings:
    request_bytes: int = 64 << 20
    event_bytes: int = 64 << 20
    write_stall_seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Tls:
    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration."""

    models: dict[str, Model]
    providers: dict[str, Provider]
    host: str = "127.0.0.1"
    port: int = 8787
    database: Path = Path("latchway.db")
    """The SQLite file."""
    admin_token: Secret | None = None
    metrics_token: Secret | None = None
    tls: Tls | None = None
    turn: TurnSettings = field(default_factory=TurnSettings)
    replay: ReplaySettings = field(default_factory=ReplaySettings)
    health: HealthSettings = field(default_factory=HealthSettings)
    billing: BillingSettings = field(default_factory=BillingSettings)
    websocket: WebsocketSettings = field(default_factory=WebsocketSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    shutdown_seconds: float = 30.0
    log_keep_days: float = 30.0
