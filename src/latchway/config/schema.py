"""The whole of `latchway.yaml` as tables: a field, the kind of its value, and what it means.

Defaults are those of `settings.py`; a field of the file has the name of the setting it fills. The
reference in the docs is printed from here, so what is not in a table can neither be said nor read.
"""

from __future__ import annotations

from pathlib import Path

from latchway.config.kinds import Field, Listing, Named, Section, WordOr
from latchway.config.values import (
    BASE_URL,
    CREDENTIAL,
    DATABASE,
    FILE,
    FLAG,
    LISTEN_ADDRESS,
    NAME,
    PRICE,
    TOKEN,
    minutes,
    number,
    one_of,
    whole,
)
from latchway.settings import (
    BillingSettings,
    HealthSettings,
    LimitSettings,
    ReplaySettings,
    TurnSettings,
    WebsocketSettings,
)

FREE = "free"
DEFAULT_DATABASE = Path("latchway.db")
"""Beside the configuration."""

DAY = 86_400.0
"""Seconds. No answer takes longer; a greater number is milliseconds by mistake."""
SHORTEST = 0.001
"""Seconds; a timeout of nothing would fail every call."""
MAX_TOKENS = 1_000_000_000
MIN_BYTES, MAX_BYTES = 1 << 10, 1 << 30
"""A request fits in the least; one that is larger than the most does not fit in memory."""

TIMEOUT = number(SHORTEST, DAY)
BYTES = whole(MIN_BYTES, MAX_BYTES, "bytes")

PRICES = Section(
    (
        Field("input", PRICE, "what an input token costs", required=True),
        Field("cached_input", PRICE, "an input token read from a cache", default="as `input`"),
        Field("cache_write", PRICE, "an input token written to a cache", default="as `input`"),
        Field("output", PRICE, "what an output token costs", required=True),
        Field("reasoning", PRICE, "an output token of reasoning", default="as `output`"),
    ),
    words="prices by class of token",
)

ROUTE_CLOCKS = (
    "hold_seconds",
    "connect_timeout_seconds",
    "first_event_timeout_seconds",
    "idle_timeout_seconds",
)
CLOCKS = (
    Field("hold_seconds", number(0, DAY), "how long events before output may be held (R4)"),
    Field("connect_timeout_seconds", TIMEOUT, "until the request can be written (R2.2)"),
    Field("first_event_timeout_seconds", TIMEOUT, "from request to first event (R2.6)"),
    Field("idle_timeout_seconds", TIMEOUT, "the longest silence between events (R2.15)"),
)

ROUTE = Section(
    (
        Field("provider", NAME, "the provider's name in `providers`", required=True),
        Field("model", NAME, "the model's name there", default="the model's name here"),
        Field("name", NAME, "the route's name in logs, metrics and `x-latchway-route`",
              default="`provider/model`"),
        Field("enabled", FLAG, "may it be called?", default="true"),
        Field("store_default", FLAG, "is a request that omits `store` stored there? (R3)",
              default="true"),
        Field("origin", NAME, "routes of one origin read each other's encrypted items (R3)",
              default="its own"),
        Field("transport", one_of("http", unbuilt="websocket"), "how it is called",
              default="http"),
        Field("speaks", one_of("responses", unbuilt="chat_completions"), "the API it has",
              default="responses"),
        Field("drop_fields", Listing(NAME, "a list of fields"),
              "fields of a request that it cannot take", default="none"),
        Field("cost", WordOr(FREE, PRICES), "what it costs the operator",
              default="the model's price"),
        *(Field(field.name, field.kind, field.meaning, default="the turn's") for field in CLOCKS),
    )
)  # fmt: skip

MODEL = Section(
    (
        Field("price", WordOr(FREE, PRICES), "what clients pay for it", required=True),
        Field("context_tokens", whole(1, MAX_TOKENS, "tokens"),
              "what bounds the input's reservation", default="the request's bytes"),
        Field("max_output_tokens", whole(1, MAX_TOKENS, "tokens"),
              "what bounds the output's reservation", default="required unless `price: free`"),
        Field("routes", Listing(ROUTE), "where it can be called, in order of preference",
              required=True),
    )
)  # fmt: skip

PROVIDER = Section(
    (
        Field("base_url", BASE_URL, "its URL; `/responses` is appended", required=True),
        Field("api_key", CREDENTIAL, "the credential that is sent to it", default="none is sent"),
    )
)

TURN = Section(
    (
        *CLOCKS,
        Field("whole_answer_timeout_seconds", TIMEOUT, "for an answer that is not streamed"),
        Field("keepalive_seconds", number(0, DAY),
              "between comments; 0: no early headers, no comments (R5)"),
        Field("pre_output_buffer_bytes", BYTES, "what may be held for one turn (R4)"),
        Field("store_when_omitted", one_of("provider", "false", "stateless"),
              "omitted `store`: as the route has it; sent as `false`; not stored (R3)"),
        Field("replay_acting_tools", FLAG,
              "may a request with a tool that acts be replayed on a read error?"),
    ),
    TurnSettings(),
)  # fmt: skip

REPLAY = Section(
    (
        Field("max_share", number(0, 1, "a share"),
              "replays in flight as a share of a process's active turns (R10)"),
        Field("min", whole(0, 1_000_000, "turns"), "replays that are always allowed (R10)"),
    ),
    ReplaySettings(),
)  # fmt: skip

HEALTH = Section(
    (
        Field("enabled", FLAG, "are failing routes set aside?"),
        Field("failures", whole(1, 1_000_000, "failures"), "in a row, to be set aside (R10)"),
        Field("set_aside_seconds", TIMEOUT, "for how long at first; it doubles to 120 (R10)"),
    ),
    HealthSettings(),
)

BILLING = Section(
    (
        Field("upstream_broke", one_of("free", "estimate"),
              "the bill of a turn that its upstream broke after output (R6)"),
        Field("client_left", one_of("estimate", "free"),
              "the bill of a turn that its client left after output (R6)"),
        Field("free_aborts_per_minute", whole(0, 1_000_000, "turns"),
              "turns that a key may leave before output"),
    ),
    BillingSettings(),
)  # fmt: skip

WEBSOCKET = Section(
    (
        Field("max_minutes", minutes(SHORTEST), "a connection's age (R8)"),
        Field("grace_minutes", minutes(0), "more, for a turn in flight (R8)"),
        Field("queue", whole(0, 1000, "messages"), "that wait for the active one (R8)"),
        Field("max_message_bytes", BYTES, "a larger message closes the connection (R8)"),
    ),
    WebsocketSettings(),
)

LIMITS = Section(
    (
        Field("request_bytes", BYTES, "the largest request that is taken"),
        Field("event_bytes", BYTES, "the largest event of an upstream"),
        Field("write_stall_seconds", TIMEOUT, "a client that takes no byte for it is gone"),
    ),
    LimitSettings(),
)

TLS = Section(
    (
        Field("certificate", FILE, "the certificate chain, PEM", required=True),
        Field("key", FILE, "its private key, PEM", required=True),
    )
)

DAYS = number(SHORTEST, 36_500, "a number of days")
LOG = Section((Field("keep_days", DAYS, "how long a turn's record is kept", default="30"),))

FILE_SCHEMA = Section(
    (
        Field("listen", LISTEN_ADDRESS, "the address to serve at", default="127.0.0.1:8787"),
        Field("database", DATABASE, "the ledger and the log; a relative FILE: beside this file",
              default=f"sqlite:///{DEFAULT_DATABASE}"),
        Field("admin_token", TOKEN, "opens the admin API", default="no admin API"),
        Field("metrics_token", TOKEN, "closes `/metrics`", default="`/metrics` is open"),
        Field("tls", TLS, "https and wss", default="none"),
        Field("providers", Named(PROVIDER), "where models are served", required=True),
        Field("models", Named(MODEL), "what clients can ask for", required=True),
        Field("turn", TURN, "clocks and bounds of a turn"),
        Field("replay", REPLAY, "protection of the other route (R10)"),
        Field("health", HEALTH, "routes that fail in a row (R10)"),
        Field("billing", BILLING, "who pays for a broken turn (R6)"),
        Field("websocket", WEBSOCKET, "connections of WebSocket clients (R8)"),
        Field("limits", LIMITS, "sizes, and patience with a slow client"),
        Field("shutdown_seconds", number(0, DAY), "for turns in flight at the end", default="30"),
        Field("log", LOG, "the request log"),
    )
)  # fmt: skip
