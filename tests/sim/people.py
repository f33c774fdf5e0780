"""Who is there: the configuration, the keys, and what the clients of a world will ask."""

from __future__ import annotations

import ssl
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from latchway.settings import (
    BillingSettings,
    HealthSettings,
    LimitSettings,
    Model,
    Price,
    Provider,
    ReplaySettings,
    Route,
    Settings,
    TurnSettings,
    WebsocketSettings,
)
from sim.cases import Asked, Case
from sim.clients import Client, HttpClient, SocketClient
from sim.rude import RudeClient

if TYPE_CHECKING:
    from sim.world import World

PRICE = Price(input=2_000_000_000, cached_input=500_000_000, cache_write=2_000_000_000,
              output=4_000_000_000, reasoning=3_000_000_000)  # fmt: skip
KEYS = {"alice": 10**14, "poor": 1_700_000}
"""Name and grant, in nano-USD; the second has enough for two turns at a time."""

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
WRITE_BYTES = 1500
"""Of a request in one write, so that short ones are written in parts, too."""

BUSY_SECONDS = 90.0
CONNECTIONS = (25, 45)


def settings(random: Random) -> Settings:
    """A configuration; each of its values is one that somebody may have."""
    providers = [Provider(f"p{n}", f"http://up{n}.test:80/v1", None) for n in range(3)]
    routes = tuple(_route(random, number, providers) for number in range(random.choice((2, 2, 3))))
    model = Model("m", PRICE, False, 1000, 100, routes)
    return Settings(
        models={"m": model},
        providers={provider.name: provider for provider in providers},
        database=Path("sim.db"),
        turn=_turn(random),
        replay=ReplaySettings(random.choice((1.0, 1.0, 1.0, 0.2)), random.choice((3, 3, 1))),
        health=HealthSettings(random.random() < 0.8),
        billing=BillingSettings(
            random.choice(("free", "estimate")),
            random.choice(("free", "estimate")),
            random.choice((1000, 1000, 10)),
        ),
        websocket=WebsocketSettings(random.choice((60.0, 60.0, 0.2)), random.choice((10.0, 0.1))),
        limits=LimitSettings(1 << 20, 20_000, 120.0),
    )


def _route(random: Random, number: int, providers: list[Provider]) -> Route:
    provider = providers[number] if random.random() < 0.8 else providers[0]
    return Route(
        name=f"r{number}",
        provider=provider,
        upstream_model=f"u{number}",
        enabled=random.random() < 0.95 or number == 0,
        store_default=random.random() < 0.1,
        origin="o" if random.random() < 0.5 else None,
        drop_fields=(),
        cost=None,
        hold_seconds=random.choice((2.0, 10.0)),
        connect_timeout_seconds=random.choice((2.0, 10.0)),
        first_event_timeout_seconds=random.choice((5.5, 60.0)),
        idle_timeout_seconds=random.choice((21.0, 300.0)),
    )


def _turn(random: Random) -> TurnSettings:
    return TurnSettings(
        whole_answer_timeout_seconds=random.choice((30.0, 600.0)),
        keepalive_seconds=random.choice((15.0, 0.0, 1.0)),
        pre_output_buffer_bytes=random.choice((3000, 8 << 20)),
        store_when_omitted=random.choice(("provider", "provider", "false", "stateless")),
        replay_acting_tools=random.random() < 0.5,
    )


# ---- what is asked


def invite(world: World) -> None:
    """All clients of this world, each at its own time."""
    random = world.random
    for _ in range(random.randint(*CONNECTIONS)):
        kind = random.random()
        key = "alice" if random.random() < 0.93 else "poor"
        pinned = f"r{random.randrange(3)}" if random.random() < 0.04 else None
        sort = "websocket" if kind < 0.35 else "http"
        cases = [_case(world, sort, key, pinned) for _ in range(random.choice((1, 2, 3, 5)))]
        world.universe.after(random.random() * BUSY_SECONDS, _arrival(world, sort, cases))
    for _ in range(random.choice((0, 2, 5))):
        world.universe.after(random.random() * BUSY_SECONDS, lambda: _intrude(world))


def _intrude(world: World) -> None:
    if world.universe.process is not None and not world.ended:
        client = RudeClient(world)
        world.connect(client)
        world.universe.after(0.01, client.begin)


def _arrival(world: World, sort: str, cases: list[Case]) -> Any:
    def arrive() -> None:
        if world.universe.process is None:
            if not world.ended:
                world.universe.after(1.0, arrive)
            return
        client = SocketClient(world, cases) if sort == "websocket" else HttpClient(world, cases)
        world.connect(client)
        world.universe.after(0.01, begin(client))

    return arrive


def begin(client: Client) -> Any:
    return client.handshake if isinstance(client, SocketClient) else client.ask_next


def _case(world: World, sort: str, key: str, pinned: str | None) -> Case:
    random = world.random
    transport = sort if sort == "websocket" else ("sse" if random.random() < 0.75 else "json")
    said: dict[str, Any] = {"store": random.choice((False, False, None))}
    draw = random.random()
    for below, features in FEATURES:
        if draw < below:
            said |= features
            break
    asked = Asked(
        transport, key=key, pinned=pinned, acts=random.random() < 0.1,
        padding=random.choice((0, 0, 6000)), **said,
    )  # fmt: skip
    case = Case(world, len(world.cases), asked)
    world.cases.append(case)
    return case


FEATURES: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.05, {"store": True}),
    (0.10, {"continues": "known"}),
    (0.12, {"continues": "unknown"}),
    (0.15, {"bound": True}),
    (0.22, {"encrypted": True}),
)


def body(case: Case) -> bytes:
    """The request's JSON; what it continues is chosen now."""
    asked, world = case.asked, case.world
    members = ['"model":"m"', f'"input":"turn {case.number} {"x" * asked.padding}"']
    if asked.transport == "websocket":
        members.append('"type":"response.create"')
    else:
        members.append(f'"stream":{"true" if asked.transport == "sse" else "false"}')
    if asked.store is not None:
        members.append(f'"store":{"true" if asked.store else "false"}')
    if asked.continues is not None:
        made = world.made[asked.key] if asked.continues == "known" else []
        case.continued = world.random.choice(made) if made else None
        response_id = case.continued[0] if case.continued else "resp_of_nobody"
        members.append(f'"previous_response_id":"{response_id}"')
    if asked.bound:
        members.append('"prompt":{"id":"pmpt_1"}')
    if asked.encrypted:
        members.append('"reasoning":{"encrypted_content":"gAAA"}')
    if asked.acts:
        members.append('"tools":[{"type":"shell"}]')
    return ("{" + ",".join(members) + "}").encode()
