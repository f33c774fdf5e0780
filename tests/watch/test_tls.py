"""TLS is verified over both transports, and changes nothing of what is seen."""

from __future__ import annotations

import asyncio
import io
import ssl
from contextlib import suppress

import pytest
import trustme

from lab.harness import PATIENCE
from latchway.lab.server import Lab
from latchway.upstreams.pool import client_context
from latchway.watch.address import address_of
from latchway.watch.asking import asking, in_words
from latchway.watch.credential import Credential
from latchway.watch.run import Watch
from latchway.watch.seen import Report
from latchway.watch.show import Lines, Text

AUTHORITY = trustme.CA()
SCRIPT = [{"events": ["created", {"text": "Hi"}, {"completed": {"input": 3, "output": 2}}]}]


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """To the end of what comes."""
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.close()


async def _before(lab_port: int) -> asyncio.Server:
    """A server with a certificate, in front of a lab."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("127.0.0.1").configure_cert(context)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lab_reader, lab_writer = await asyncio.open_connection("127.0.0.1", lab_port)
        await asyncio.gather(_pass(reader, lab_writer), _pass(lab_reader, writer))

    return await asyncio.start_server(serve, "127.0.0.1", ssl=context)


def watched(scheme: str, tls: ssl.SSLContext) -> Report:
    async def main() -> Report:
        lab = Lab()
        server = await _before(await lab.start(SCRIPT))
        port = server.sockets[0].getsockname()[1]
        address = address_of(f"{scheme}://127.0.0.1:{port}/v1")
        asked = asking(in_words("m", "hi"), model=None, websocket=address.websocket, silence=None)
        show = Text(Lines(io.StringIO(), Credential(None)))
        watching = Watch(address, asked, Credential(None), show)
        report = await asyncio.wait_for(watching.run(tls), PATIENCE)
        server.close()
        await lab.stop()
        return report

    return asyncio.run(main())


@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_a_trusted_server_is_watched(scheme: str) -> None:
    trusting = client_context()
    AUTHORITY.configure_trust(trusting)
    report = watched(scheme, trusting)

    assert report.outcome == "completed"
    assert report.types.total() == 3


@pytest.mark.parametrize("scheme", ["https", "wss"])
def test_any_other_server_is_a_failure(scheme: str) -> None:
    report = watched(scheme, client_context())

    assert report.record is not None
    assert report.record.failure == "read_error"
    assert "certificate was refused" in (report.record.reason or "")
