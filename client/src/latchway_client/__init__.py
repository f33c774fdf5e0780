"""A client of the OpenAI Responses API that owns its retry decision.

It streams a turn over HTTP or a WebSocket, tells when output has begun, takes every end without a
result for a failure, and answers in one function whether a new request is allowed.
"""

from latchway_client.calls import Call, Calls
from latchway_client.decide import Decision, Reason, Situation, decide
from latchway_client.ends import Failure, How, Result, TurnFailed
from latchway_client.events import Class, Event, class_of
from latchway_client.http import AsyncSseClient, SseClient
from latchway_client.limits import Limits
from latchway_client.reading import Reading
from latchway_client.request import State
from latchway_client.turns import AsyncTurn, Turn
from latchway_client.websocket import AsyncWebSocketClient, WebSocketClient

__all__ = [
    "AsyncSseClient",
    "AsyncTurn",
    "AsyncWebSocketClient",
    "Call",
    "Calls",
    "Class",
    "Decision",
    "Event",
    "Failure",
    "How",
    "Limits",
    "Reading",
    "Reason",
    "Result",
    "Situation",
    "SseClient",
    "State",
    "Turn",
    "TurnFailed",
    "WebSocketClient",
    "class_of",
    "decide",
]
