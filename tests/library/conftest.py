"""For all tests of the library: no turn here is encrypted, so no public authority is loaded.

The OpenAI SDK reads some hundred certificates for each client that it makes, which takes longer
than the turn. One is enough; programs that are started from here inherit it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme


@pytest.fixture(autouse=True, scope="module")
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Its file, which the SDK's HTTP library is told of."""
    file = tmp_path_factory.mktemp("authority") / "ca.pem"
    trustme.CA().cert_pem.write_to_path(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield file
