"""An upstream that keeps responses and conversations, for `programs/kept.py`."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from typing import Any

Json = dict[str, Any]

USAGE = {
    "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
}  # fmt: skip
TOLD = ("response.created", "response.in_progress", "response.completed")


class Keeper:
    """Runs from the making to `close`. `asked`: method and path of each request, in order."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[str] = []
        self.kept: dict[str, Json] = {}
        keeper = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:
                """Nobody reads it."""

            def do_GET(self) -> None:
                keeper.answer(self)

            do_POST = do_DELETE = do_GET

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """One request: the first row of PATHS that fits."""
        path, _, query = request.path.removeprefix("/v1").partition("?")
        length = int(request.headers.get("content-length", "0"))
        body = json.loads(request.rfile.read(length) or b"{}")
        self.asked.append(f"{request.command} {path}")
        for method, pattern, make in PATHS:
            match = re.fullmatch(pattern, path)
            if match and method == request.command:
                if any(part not in self.kept for part in match.groups()):
                    return self._send(request, 404, {"error": {"message": "No.", "code": None}})
                return self._send(request, 200, make(self, body, *match.groups()), query)
        return self._send(request, 404, {"error": {"message": "No such path.", "code": None}})

    def _send(
        self, request: BaseHTTPRequestHandler, status: int, made: Json, query: str = ""
    ) -> None:
        kind, data = "application/json", json.dumps(made).encode()
        if "stream=true" in query:
            kind, data = "text/event-stream", _told(made)
        request.send_response(status)
        request.send_header("content-type", kind)
        request.send_header("content-length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)

    def keep(self, prefix: str, **made: Any) -> Json:
        """Something new, with an id that nobody else has."""
        thing = {"id": f"{prefix}_{token_hex(8)}", **made}
        self.kept[thing["id"]] = thing
        return thing

    def respond(self, body: Json, kind: str = "response") -> Json:
        for said in ("previous_response_id", "conversation"):
            assert body.get(said) is None or body[said] in self.kept, f"{said} of somebody else"
        text = {"type": "output_text", "text": f"By {self.name}.", "annotations": []}
        item = self.keep("msg", type="message", role="assistant", status="completed",
                         content=[text])  # fmt: skip
        sealed = {"id": f"cmp_{token_hex(8)}", "type": "compaction", "encrypted_content": "gAAA"}
        return self.keep(
            "resp", object=kind, created_at=1, status="completed", model=body["model"],
            output=[item if kind == "response" else sealed], usage=USAGE, parallel_tool_calls=True,
            tool_choice="auto", tools=[],
        )  # fmt: skip

    def converse(self, body: Json) -> Json:
        return self.keep("conv", object="conversation", created_at=1, metadata={})

    def add(self, body: Json, conversation: str) -> Json:
        items = [self.keep("msg", type="message", status="completed", role=i["role"],
                           content=[{"type": "input_text", "text": i["content"]}])
                 for i in body["items"]]  # fmt: skip
        return _listed(items)

    def rename(self, body: Json, conversation: str) -> Json:
        self.kept[conversation]["metadata"] = body["metadata"]
        return self.kept[conversation]

    def delete(self, body: Json, *named: str) -> Json:
        self.kept.pop(named[-1])
        return {"id": named[0], "object": "deleted", "deleted": True, "created_at": 1,
                "metadata": {}}  # fmt: skip

    def show(self, body: Json, *named: str) -> Json:
        return self.kept[named[-1]]

    def nothing(self, body: Json, *named: str) -> Json:
        return _listed([])


def _listed(items: list[Json]) -> Json:
    return {"object": "list", "data": items, "first_id": None, "last_id": None, "has_more": False}


def _told(response: Json) -> bytes:
    """The events behind number 0, as `starting_after=0` asks for."""
    events = [
        {"type": name, "sequence_number": number, "response": response}
        for number, name in enumerate(TOLD)
    ]
    lines = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events[1:])
    return "".join(lines).encode()


PATHS: tuple[tuple[str, str, Callable[..., Json]], ...] = (
    ("POST", "/responses", Keeper.respond),
    ("POST", "/responses/compact", lambda k, body: k.respond(body, "response.compaction")),
    ("POST", "/responses/input_tokens",
     lambda k, body: {"object": "response.input_tokens", "input_tokens": 7}),
    ("GET", "/responses/([^/]+)", Keeper.show),
    ("DELETE", "/responses/([^/]+)", Keeper.delete),
    ("POST", "/responses/([^/]+)/cancel", Keeper.show),
    ("GET", "/responses/([^/]+)/input_items", Keeper.nothing),
    ("POST", "/conversations", Keeper.converse),
    ("GET", "/conversations/([^/]+)", Keeper.show),
    ("POST", "/conversations/([^/]+)", Keeper.rename),
    ("GET", "/conversations/([^/]+)/items", Keeper.nothing),
    ("POST", "/conversations/([^/]+)/items", Keeper.add),
    ("GET", "/conversations/([^/]+)/items/([^/]+)", Keeper.show),
    ("DELETE", "/conversations/([^/]+)/items/([^/]+)", Keeper.delete),
)  # fmt: skip
