"""What a turn must know of its request, its transport and the settings: one value."""

from __future__ import annotations

from latchway.settings import Settings
from latchway.turn.machine import Terms
from latchway.wire.request import Request


def terms_of(request: Request, settings: Settings) -> Terms:
    """What the turn must know of its request, its transport and the settings."""
    http = not request.websocket
    quiet = request.websocket or not request.streamed
    return Terms(
        streamed=request.streamed,
        status_line=http,
        whole_pair=http,
        acting_tools=request.acting_tool is not None and not settings.turn.replay_acting_tools,
        keepalive_seconds=0.0 if quiet else settings.turn.keepalive_seconds,
        pre_output_buffer_bytes=settings.turn.pre_output_buffer_bytes,
        whole_answer_timeout_seconds=settings.turn.whole_answer_timeout_seconds,
        client_left_pays=settings.billing.client_left == "estimate",
        upstream_broke_pays=settings.billing.upstream_broke == "estimate",
        replay_fault_code="response_failed" if http else "websocket_response_failed",
    )
